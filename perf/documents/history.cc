#include "perf/documents/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "perf/documents/json_archive.h"
#include "perf/documents/json_text.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

// Calls `read` with each line that is not empty and its number, until it returns an error.
template <typename Read>
Status ForEachLine(std::string_view text, Read read) {
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (Status status = read(line, number); !status) return status;
  }
  return Status::Ok();
}

Error At(const std::string& name, uint64_t number, const std::string& what) {
  return Error(fmt::format("{}:{}: {}", name, number, what));
}

// A cell as it stands in a CSV file: in quotes where it holds what would end it.
std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char letter : text)
    cell += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return cell + '"';
}

// nullopt: a quote has no end.
std::optional<std::vector<std::string>> CsvCells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (is_quoted && letter == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (letter == '"') {
      is_quoted = !is_quoted;
    } else if (letter == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += letter;
    }
  }
  if (is_quoted) return std::nullopt;
  return cells;
}

constexpr const char* kTime = "time";
constexpr const char* kCommit = "commit";

// The columns of a CSV file.
struct CsvColumns {
  std::vector<std::string> names;
  std::optional<size_t> time;
  std::optional<size_t> commit;

  Status Read(std::vector<std::string> cells) {
    names = std::move(cells);
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == kTime || names[i] == "timestamp") time = i;
      if (names[i] == kCommit) commit = i;
    }
    const std::set<std::string> unique(names.begin(), names.end());
    if (!time || !commit) return Error("expected the columns time and commit");
    if (unique.size() != names.size()) return Error("expected each column once");
    return Status::Ok();
  }
};

// Holds the lock of a file for as long as it lives.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path)
      : file_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
    while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() {
    if (file_ >= 0) close(file_);
  }

  // Nothing of the text stays where not all of it could be written.
  Status Append(std::string_view text) const {
    const off_t before = file_ < 0 ? -1 : lseek(file_, 0, SEEK_END);
    if (before < 0) return Error(std::strerror(errno));
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t count = write(file_, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        const std::string reason = std::strerror(errno);
        if (ftruncate(file_, before) != 0) return Error(reason + ", and a part of it stays");
        return Error(reason);
      }
      rest.remove_prefix(static_cast<size_t>(count));
    }
    return fsync(file_) == 0 ? Status::Ok() : Status(Error(std::strerror(errno)));
  }

 private:
  const int file_;
};

}  // namespace

Result<std::string> HistoryLine(const HistoryRun& run) {
  for (const auto& [name, value] : run.series) {
    if (!std::isfinite(value.value)) return Error(name + ": expected a finite number");
  }
  return json::Encode(run).dump();
}

Result<std::vector<HistoryRun>> ParseHistory(std::string_view text, const std::string& name) {
  std::vector<HistoryRun> runs;
  const Status status = ForEachLine(text, [&](std::string_view line, uint64_t number) -> Status {
    std::variant<json::Json, JsonProblem> parsed = ParseJsonText<json::Json>(line);
    if (const auto* problem = std::get_if<JsonProblem>(&parsed)) {
      return At(name, number, problem->what);
    }
    json::Cursor cursor;
    json::Decode(cursor, std::get<json::Json>(parsed), runs.emplace_back());
    return cursor.failed() ? Status(At(name, number, *cursor.error())) : Status::Ok();
  });
  if (!status) return status.error();
  return runs;
}

std::string OtavaCsv(const std::vector<HistoryRun>& runs) {
  std::set<std::string> names;
  for (const HistoryRun& run : runs) {
    for (const auto& [name, value] : run.series) names.insert(name);
  }
  std::string text = fmt::format("{},{}", kTime, kCommit);
  for (const std::string& name : names) text += ',' + CsvCell(name);
  text += '\n';
  for (const HistoryRun& run : runs) {
    text += CsvCell(run.time) + ',' + CsvCell(run.commit);
    for (const std::string& name : names) {
      const auto found = run.series.find(name);
      text += ',' + (found == run.series.end() ? "" : fmt::format("{}", found->second.value));
    }
    text += '\n';
  }
  return text;
}

Result<std::vector<HistoryRun>> ParseOtavaCsv(std::string_view text, const std::string& name) {
  std::vector<HistoryRun> runs;
  std::optional<CsvColumns> columns;
  const Status status = ForEachLine(text, [&](std::string_view line, uint64_t number) -> Status {
    std::optional<std::vector<std::string>> cells = CsvCells(line);
    if (!cells) return At(name, number, "a quote has no end");
    if (!columns) {
      columns.emplace();
      const Status read = columns->Read(std::move(*cells));
      return read ? read : Status(At(name, number, read.error().message()));
    }
    if (cells->size() != columns->names.size()) {
      return At(name, number,
                fmt::format("has {} cells, expected {}", cells->size(), columns->names.size()));
    }
    HistoryRun& run = runs.emplace_back();
    run.time = (*cells)[*columns->time];
    run.commit = (*cells)[*columns->commit];
    for (size_t i = 0; i < cells->size(); ++i) {
      if (i == *columns->time || i == *columns->commit || (*cells)[i].empty()) continue;
      // A column of texts, such as a version, is an attribute and no series.
      const std::optional<double> value = ParseFiniteNumber((*cells)[i]);
      if (value) run.series[columns->names[i]] = {*value, ""};
    }
    return Status::Ok();
  });
  if (!status) return status.error();
  if (!columns) return Error(name + ": is empty, expected a line with the names of columns");
  return runs;
}

Status AppendToHistory(const std::string& folder, const std::vector<HistoryRun>& runs) {
  std::string text;
  for (const HistoryRun& run : runs) {
    const Result<std::string> line = HistoryLine(run);
    if (!line) return line.error();
    text += *line + '\n';
  }
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return Error(folder + ": cannot be made: " + code.message());
  const std::string path = folder + '/' + kHistoryFile;
  const Status appended = LockedFile(path).Append(text);
  return appended ? appended : Status(Error(path + ": " + appended.error().message()));
}

}  // namespace schedq

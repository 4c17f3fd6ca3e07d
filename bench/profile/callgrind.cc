#include "bench/profile/callgrind.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "bench/profile/symbols.h"
#include "bench/profile/time_sampler.h"
#include "perf/file_io.h"

namespace schedq {
namespace {

// The last number of a line; nothing when it ends otherwise.
std::optional<uint64_t> LastNumber(std::string_view line) {
  const std::string_view word = line.substr(line.rfind(' ') + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// Callgrind's format: "fn=(1) name" starts a function, later "fn=(1)"; a line of a position and a
// cost is its own; the one after "calls=" is a callee's inclusive cost.
class CallgrindReader {
 public:
  void ReadLine(std::string_view line) {
    if (line.starts_with("fn=")) {
      function_ = NameOf(line.substr(3));
    } else if (line.starts_with("cfn=")) {
      NameOf(line.substr(4));
    } else if (line.starts_with("calls=")) {
      is_call_ = true;
    } else if (!line.empty() && IsPosition(line[0])) {
      const uint64_t cost = LastNumber(line).value_or(0);
      inclusive_[function_] += cost;
      if (!is_call_) self_[function_] += cost;
      if (!is_call_) total_ += cost;
      is_call_ = false;
    }
  }

  InstructionCount Take() const {
    InstructionCount count;
    count.instructions = total_;
    count.spots.method = "callgrind";
    count.spots.samples = total_;
    // A recursive function counts its own calls again: at most the whole.
    std::map<std::string, uint64_t> inclusive = inclusive_;
    for (auto& [name, cost] : inclusive) cost = std::min(cost, total_);
    count.spots.functions = RankHotSpots(self_, inclusive, total_);
    return count;
  }

 private:
  static bool IsPosition(char first) {
    return (first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*';
  }

  const std::string& NameOf(std::string_view text) {
    const size_t bracket = text.find(')');
    const std::string number(text.substr(0, bracket + 1));
    std::string& name = names_[number];
    if (bracket + 2 < text.size()) name = ShortFunctionName(text.substr(bracket + 2));
    return name;
  }

  std::map<std::string, std::string> names_;
  std::map<std::string, uint64_t> self_;
  std::map<std::string, uint64_t> inclusive_;
  std::string function_;
  uint64_t total_ = 0;
  bool is_call_ = false;
};

// A folder that goes when the run is over.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "schedq-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  bool exists() const { return !path_.empty(); }

 private:
  std::string path_;
};

// Runs to the end with stdout and stderr in files. The exit code, 127 when there is no such
// program, 128 + the signal's number when one ended it.
int RunToEnd(const std::vector<std::string>& command, const std::string& out,
             const std::string& err) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kFlags, 0600);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "it said nothing";
  const size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1, end - start);
}

}  // namespace

Result<InstructionCount> ParseCallgrind(std::string_view text, const std::string& name) {
  if (text.find("events: Ir\n") == std::string_view::npos) {
    return Error(name + ": expected callgrind's output with the one event Ir");
  }
  CallgrindReader reader;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    reader.ReadLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.Take();
}

Result<InstructionCount> CountInstructions(const std::vector<std::string>& program,
                                           std::string* output) {
  const TemporaryFolder folder;
  if (!folder.exists()) return Error("callgrind: expected a temporary folder that can be written");
  const std::string counts = folder.File("callgrind.out");
  std::vector<std::string> command = {"valgrind", "--tool=callgrind", "--instr-atstart=no",
                                      "--callgrind-out-file=" + counts};
  command.insert(command.end(), program.begin(), program.end());
  const int code = RunToEnd(command, folder.File("out"), folder.File("err"));
  if (code == 127) return Error("callgrind: expected valgrind to be installed");
  if (code != 0) {
    const Result<std::string> said = ReadWholeFile(folder.File("err"));
    return Error(fmt::format("callgrind: valgrind ended with {}: {}", code,
                             said.ok() ? LastLine(*said) : "it said nothing"));
  }
  const Result<std::string> printed = ReadWholeFile(folder.File("out"));
  if (!printed.ok()) return printed.error();
  *output = *printed;
  const Result<std::string> text = ReadWholeFile(counts);
  if (!text.ok()) return text.error();
  return ParseCallgrind(*text, "callgrind's output");
}

void RunCounted(MeasuredPath& path) {
  CALLGRIND_START_INSTRUMENTATION;
  path.Run();
  CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace schedq

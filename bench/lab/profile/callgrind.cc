#include "bench/lab/profile/callgrind.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/lab/profile/symbols.h"
#include "bench/lab/profile/time_sampler.h"
#include "bench/run_program.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"

namespace schedq {
namespace {

// The number at the end of a line; nullopt where the line ends otherwise.
std::optional<uint64_t> LastNumber(std::string_view line) {
  const std::string_view word = line.substr(line.rfind(' ') + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// Reads callgrind's format. "fn=(1) name" starts a function, and later "fn=(1)" alone. A line with
// a position and a cost is the function's own cost; the line after "calls=" is a callee's inclusive
// cost.
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

  InstructionCount Finish() const {
    InstructionCount count;
    count.instructions = total_;
    count.by_function = self_;
    count.spots.method = "callgrind";
    count.spots.samples = total_;
    // A recursive function counts its own calls again, so its share is bounded by the whole.
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

constexpr const char* kToolPath = "/usr/local/bin:/usr/bin:/bin";

// The first file of that name in the folders; the name alone where none is there.
std::string ValgrindIn(const std::string& path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    std::string file = path.substr(begin, end - begin) + "/valgrind";
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "valgrind";
}

// `before` ends with valgrind, or is empty.
Result<InstructionCount> CountUnder(std::vector<std::string> before,
                                    const std::vector<std::string>& program, std::string* output) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Make();
  if (!folder) return folder.error();
  const std::string counts = folder->File("callgrind.out");
  std::vector<std::string> command = std::move(before);
  if (command.empty()) command.emplace_back("valgrind");
  command.insert(command.end(),
                 {"--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=" + counts});
  command.insert(command.end(), program.begin(), program.end());
  const Result<ProgramEnd> end = RunProgram(command);
  if (!end) {
    return Error(fmt::format("callgrind: {}; expected valgrind to be installed and to end",
                             end.error().message()));
  }
  if (end->exit_code != 0) {
    return Error(
        fmt::format("callgrind: valgrind ended with {}: {}", end->exit_code, end->LastLine()));
  }
  *output = end->out;
  const Result<std::string> text = ReadWholeFile(counts);
  if (!text.ok()) return text.error();
  return ParseCallgrind(*text, "callgrind's output");
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
  return reader.Finish();
}

Result<InstructionCount> CountInstructions(const std::vector<std::string>& program,
                                           std::string* output) {
  return CountUnder({}, program, output);
}

Result<InstructionCount> CountInstructionsSteadily(const std::vector<std::string>& program,
                                                   std::string* output) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int processor = 0;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    while (processor + 1 < CPU_SETSIZE && !CPU_ISSET(processor, &allowed)) ++processor;
  }
  const char* const path = std::getenv("PATH");
  return CountUnder({"taskset", "--cpu-list", std::to_string(processor), "env",
                     "--ignore-environment", std::string("PATH=") + kToolPath, "LC_ALL=C",
                     "MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1,background_thread:false",
                     ValgrindIn(path == nullptr ? kToolPath : path)},
                    program, output);
}

void RunCounted(MeasuredPath& path) {
  CALLGRIND_START_INSTRUMENTATION;
  path.Run();
  CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace schedq

#include "bench/program/gate/built_alike.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "bench/run_program.h"

namespace schedq {

Status CheckBuiltAlike(const std::string& base, const std::string& next) {
  std::vector<std::set<std::string>> facts;
  for (const std::string& program : {base, next}) {
    const Result<ProgramEnd> end = RunProgram({program, "version"});
    if (!end) return end.error();
    if (end->exit_code != 0) return Error(program + " version: " + end->LastLine());
    std::set<std::string>& lines = facts.emplace_back();
    for (size_t begin = 0; begin < end->out.size();) {
      const size_t stop = std::min(end->out.find('\n', begin), end->out.size());
      const std::string line = end->out.substr(begin, stop - begin);
      for (const char* fact : {"compiler: ", "flags: ", "build type: ", "allocator: "}) {
        if (line.starts_with(fact)) lines.insert(line);
      }
      begin = stop + 1;
    }
  }
  for (const std::string& line : facts[0]) {
    if (facts[1].contains(line)) continue;
    return Error(
        fmt::format("{} and {} are built in two ways: only the first has \"{}\", expected "
                    "one compiler and the same flags",
                    base, next, line));
  }
  return facts[0].empty() ? Error(base + " version: does not say how it was built") : Status::Ok();
}

}  // namespace schedq

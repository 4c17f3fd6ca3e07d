#include <cstdio>
#include <cstdlib>

#include "bench/program/command_line.h"
#include "engine/base/log.h"
#include "engine/base/names/name_key.h"
#include "engine/base/result.h"

int main(int argument_count, char** arguments) {
  // A simulated server fails calls where a workload says so. That is a result of the run, so
  // without another wish of the user's only errors are logged.
  if (std::getenv("SCHEDQ_LOG") == nullptr) {
    schedq::SetLogLevel(schedq::LogLevel::kError);
  } else if (const schedq::Status level = schedq::SetLogLevelFromEnvironment(); !level.ok()) {
    std::fprintf(stderr, "schedq: %s\n", level.error().message().c_str());
    return 2;
  }
  // The laboratory's runs are compared with each other, to the instruction.
  schedq::NameKey::FixForProcess(1);
  return schedq::RunCommandLine(argument_count, arguments);
}

// From the arguments of main to an exit code: parses, finds the command, runs it, and keeps the
// promises of docs/formats.md about errors, interruption and bugs.
#pragma once

#include <string>

namespace schedq {

// What was typed, from the command's name on: "schedq floor --quick". For results' environment.
const std::string& CommandLineText();

// To be called once, from main.
int RunCommandLine(int argument_count, const char* const* arguments);

}  // namespace schedq

// Turns wrong usage into one line that says what is wrong, where, and what was expected.
// Threads: pure functions.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <string>
#include <vector>

namespace schedq {

// "did you mean 'x'? expected one of: w, x, y"; without the question when nothing is near.
std::string ExpectedOneOf(const std::string& word, const std::vector<std::string>& candidates);

// For a first argument that names no command.
std::string UnknownCommandLine(const CLI::App& program, const std::string& word);

// For an argument that `command` does not know: a flag or a surplus word. Goes after its name.
std::string UnknownArgument(const CLI::App& command, const std::string& argument);

// For anything that CLI11 refused while parsing `program`'s arguments.
std::string UsageErrorLine(const CLI::App& program, const CLI::ParseError& error);

// The text as one line: what is on several lines is joined by blanks, control characters
// become visible, and what is too long for a screen is left out.
std::string OneLine(const std::string& text);

}  // namespace schedq

// What the program's commands say of themselves, as data.
//
// Purpose: help, man pages and completions of shells are written from this one model, which is read
// from the commands' own declarations; so none of them can go stale.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/program/command.h"
#include "engine/base/result.h"

namespace schedq {

struct ManualFlag {
  std::vector<std::string> names;    // "-h", "--help"; one name without dashes: a positional.
  std::string value;                 // "FILE", "table|json"; empty: it takes none.
  std::vector<std::string> choices;  // The values, where they are a list.
  std::string about;
  std::string standard;  // The value that it has by default; empty: none, or not worth telling.
  bool is_required = false;

  // "-h, --help", "--format table|json", "FILE.yaml..."
  std::string Usage() const;
};

struct ManualPage {
  CommandText text;
  std::vector<ManualFlag> positionals;
  std::vector<ManualFlag> flags;

  std::string FullName() const { return "schedq " + text.name; }
  // "schedq run [flags] [FILE.yaml...]"
  std::string Synopsis() const;
};

struct ExitCodeText {
  int code;
  std::string meaning;
};

// In the order of `schedq --help`.
std::vector<ManualPage> ReadManual();

std::string ProgramPurpose();

// What the exit codes of a command mean.
std::vector<ExitCodeText> ExitCodesOf(const CommandText& text);

// The page of the command; an error names the nearest one.
Result<ManualPage> FindPage(const std::string& name);

}  // namespace schedq

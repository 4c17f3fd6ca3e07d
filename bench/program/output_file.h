// Files that a command writes at its end.
// Threads: the main thread only.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

// A file that a command reads or writes, and the flag or positional that names it.
struct NamedFile {
  std::string flag;  // "--json"
  std::string path;  // Empty: the flag was not given.
};

// Whether the outputs can probably be written, asked before minutes of work go into them. No two of
// them may be one file, and none may be an input: the later one would replace the earlier. A device
// or a pipe replaces nothing, so that it may be named twice. An input that is a folder stands for
// the results in it.
Status CheckFiles(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

// The same question for a folder of files that have no names yet.
Status CheckFolder(const NamedFile& folder);

// Where a result that was asked for at `path` goes: there, but a result that is not whole does not
// replace a file; it goes beside it. Says so on stderr.
std::string ResultPath(const std::string& path, bool is_whole);

// Whether there is a result for `path`. Work may end early before anything is measured; then
// nothing is written, and stderr says so.
bool HasResultFor(const std::string& path, bool has_measured, bool is_whole);

// "bench.partial.json" for "bench.json".
std::string PartialPath(const std::string& path);

}  // namespace schedq

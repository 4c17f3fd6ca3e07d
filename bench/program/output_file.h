// Files that a command writes at its end.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace schedq {

// Whether a file at `path` can probably be written, asked before minutes of work go into it.
Status CheckWritable(const std::string& flag, const std::string& path);

// Where a result that was asked for at `path` goes: there, but a result that is not whole does not
// replace a file; it goes beside it. Says so on stderr.
std::string ResultPath(const std::string& path, bool is_whole);

// "bench.partial.json" for "bench.json".
std::string PartialPath(const std::string& path);

}  // namespace schedq

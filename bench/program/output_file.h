// Files that a command writes at its end.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace schedq {

// Whether a file at `path` can probably be written, asked before minutes of work go into it.
Status CheckWritable(const std::string& flag, const std::string& path);

}  // namespace schedq

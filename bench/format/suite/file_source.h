// Where workload files and their templates come from: the disk, or the suite inside the program.
#pragma once

#include <functional>
#include <string>

#include "engine/base/result.h"

namespace schedq {

// The whole text of a file. The error says only why ("does not exist"); the caller knows where the
// name stands.
using FileSource = std::function<Result<std::string>(const std::string& path)>;

// Reads regular files of bounded size; a pipe or a device is refused, so that nothing hangs.
Result<std::string> ReadDiskFile(const std::string& path);

// `path` as seen from the folder of `from`, without needless dots.
std::string PathBeside(const std::string& from, const std::string& path);

}  // namespace schedq

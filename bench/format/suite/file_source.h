// Sources of workload files and their templates: the disk, or the suite inside the program.
#pragma once

#include <functional>
#include <string>

#include "engine/base/result.h"

namespace schedq {

// Returns the whole text of a file. The error holds only the reason ("does not exist"), because the
// caller knows the place that names the file.
using FileSource = std::function<Result<std::string>(const std::string& path)>;

// Reads a regular file of bounded size, or standard input by the name "-".
Result<std::string> ReadDiskFile(const std::string& path);

// Resolves `path` against the folder of `from` and removes needless dots. Never gives "-".
std::string PathBeside(const std::string& from, const std::string& path);

}  // namespace schedq

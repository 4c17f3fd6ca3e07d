// Reads and writes whole files. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {

// Reads a regular file through input_file.h. An error begins with the path.
Result<std::string> ReadWholeFile(const std::string& path);

// Writes a whole file or none; perf/files/file_writer.h says how. A symbolic link is followed, a
// device or pipe is written as it is. Makes the folder if it is missing.
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace schedq

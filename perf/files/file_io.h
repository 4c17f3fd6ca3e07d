// Reads and writes whole files. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {

// Reads a regular file through input_file.h. An error begins with the path.
Result<std::string> ReadWholeFile(const std::string& path);

// Writes a temporary file in the same folder, flushes it to the disk and renames it to `path`. A
// reader sees the whole old content or the whole new one. Makes the folder if it is missing.
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace schedq

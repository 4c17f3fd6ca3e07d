// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {

Result<std::string> ReadWholeFile(const std::string& path);

// Writes a temporary file in the same folder (made if missing), flushes it to the disk and renames
// it: a reader sees the old content or the new one, never half of it.
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace schedq

// How a file is written: whole or not at all, at the place that its path means.
//
// Purpose: WriteFileAtomically (perf/files/file_io.h) in its two ways. A regular file is written
// under a temporary name in its folder, flushed to the disk and renamed. What cannot be renamed to
// (a device, a pipe, this process's own stdout) is written as it is.
// Threads: any; ReplaceFile and WriteInto work on one file of their own.
// Invariants:
//  1. A reader of a regular file sees the whole old content or the whole new one.
//  2. A symbolic link stays; what it points to is replaced, or made.
//  3. A device, a pipe and a socket are never replaced.
//  4. A new file has the permissions that the umask leaves, a replaced one keeps its own.
//  5. After a failure no temporary file stays, and no folder that was made for it.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {

enum class OutputKind {
  kFile,    // To be written beside and renamed.
  kStream,  // To be written as it is.
};

struct OutputPlace {
  OutputKind kind = OutputKind::kFile;
  std::string path;  // Without symbolic links in its last component.
};

// What `path` means. An error: links without end, or a path that the system refuses.
Result<OutputPlace> FindOutputPlace(const std::string& path);

// Replaces or makes the regular file at `path`, and the folders that it lacks.
Status ReplaceFile(const std::string& path, std::string_view content);

// Writes into a device, a pipe or a stream. A pipe that nobody reads for ten seconds is an error.
Status WriteInto(const std::string& path, std::string_view content);

}  // namespace schedq

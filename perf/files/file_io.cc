#include "perf/files/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "perf/files/file_writer.h"

namespace schedq {
namespace {

Error SystemError(const std::string& path, const char* what) {
  return Error(path + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(path, "cannot be opened");
  std::string content;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const Error error = SystemError(path, "cannot be read");
      close(descriptor);
      return error;
    }
    content.append(buffer.data(), static_cast<size_t>(count));
  }
  close(descriptor);
  return content;
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  const Result<OutputPlace> place = FindOutputPlace(path);
  if (!place) return place.error();
  return place->kind == OutputKind::kStream ? WriteInto(place->path, content)
                                            : ReplaceFile(place->path, content);
}

}  // namespace schedq

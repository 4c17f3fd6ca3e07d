#include "perf/files/file_io.h"

#include "perf/files/file_writer.h"
#include "perf/files/input_file.h"

namespace schedq {

Result<std::string> ReadWholeFile(const std::string& path) {
  Result<std::string> text = ReadInput(path, InputFrom::kFile);
  if (!text) return Error(path + ": " + text.error().message());
  return text;
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  const Result<OutputPlace> place = FindOutputPlace(path);
  if (!place) return place.error();
  return place->kind == OutputKind::kStream ? WriteInto(place->path, content)
                                            : ReplaceFile(place->path, content);
}

}  // namespace schedq

#include "tests/fuzz/corpus.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "perf/files/file_io.h"

namespace schedq {

std::vector<CorpusFile> ReadCorpus(const std::string& reader) {
  std::vector<CorpusFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(SCHEDQ_CORPUS)) {
    if (!entry.path().filename().string().starts_with(reader + "-")) continue;
    Result<std::string> text = ReadWholeFile(entry.path().string());
    SCHEDQ_CHECK(text.ok(), "a file of the corpus can be read");
    files.push_back({entry.path().filename().string(), std::move(*text)});
  }
  SCHEDQ_CHECK(!files.empty(), "the corpus holds files of each reader");
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return files;
}

void FeedChanges(std::string_view text, std::string_view marks, size_t step, int changes,
                 uint64_t seed, const std::function<void(const std::string&)>& feed) {
  for (size_t size = 0; size < text.size(); size += step) feed(std::string(text.substr(0, size)));
  if (text.empty()) return;
  constexpr uint64_t kBytesChangedMax = 3;
  Random random(seed);
  for (int i = 0; i < changes; ++i) {
    std::string changed(text);
    for (uint64_t j = random.Below(kBytesChangedMax); j < kBytesChangedMax; ++j) {
      changed[random.Below(changed.size())] = marks[random.Below(marks.size())];
    }
    feed(changed);
  }
}

}  // namespace schedq

// The committed inputs of the fuzzed functions, and seeded changes of them.
//
// A file of tests/fuzz/corpus is called READER-NAME.input. It is good, or broken, or was found by a
// search: then NAME begins with found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

struct CorpusFile {
  std::string name;
  std::string text;
};

// The files of one reader, by name. Aborts where there is none.
std::vector<CorpusFile> ReadCorpus(const std::string& reader);

// Calls `feed` with the text cut at lengths that are `step` apart, and with `changes` texts in
// which some bytes are those of `marks`. Equal seeds give equal texts.
void FeedChanges(std::string_view text, std::string_view marks, size_t step, int changes,
                 uint64_t seed, const std::function<void(const std::string&)>& feed);

}  // namespace schedq

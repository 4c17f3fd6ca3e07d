// Goal: no bytes crash or hang the readers of results, what compares them, or the matcher of names.
// Method: the functions that libFuzzer drives get the committed corpus: whole, cut, and with single
// bytes changed (seeded, so the same in every run).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/results_fuzz.h"

namespace schedq {
namespace {

constexpr std::string_view kJsonMarks = "{}[]\",:-.0123456789eaz/\\\n \x80";
constexpr std::string_view kPatternMarks = "()[]{}|*+?^$.\\dbpQE-,:09az\n\x80";
constexpr int kChanges = 200;
constexpr uint64_t kSeed = 20251120;

const uint8_t* BytesOf(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Feeds the corpus of a reader, and returns how many of its files the reader accepted.
size_t FeedAll(const std::string& reader, bool (*fuzz)(const uint8_t*, size_t), size_t step,
               std::string_view marks) {
  size_t accepted = 0;
  for (const CorpusFile& file : ReadCorpus(reader)) {
    SCOPED_TRACE(file.name);
    if (fuzz(BytesOf(file.text), file.text.size())) ++accepted;
    FeedChanges(file.text, marks, step, kChanges, kSeed,
                [fuzz](const std::string& text) { fuzz(BytesOf(text), text.size()); });
  }
  return accepted;
}

TEST(ResultsCorpus, Returns) {
  constexpr size_t kStep = 37;
  EXPECT_EQ(FeedAll("results", FuzzResults, kStep, kJsonMarks), 6u)
      << "one of each kind, and hostile names";
}

TEST(DataItemsCorpus, Returns) {
  EXPECT_EQ(FeedAll("data_items", FuzzDataItems, 1, kJsonMarks), 2u);
}

TEST(PatternCorpus, Returns) { EXPECT_EQ(FeedAll("pattern", FuzzPattern, 7, kPatternMarks), 4u); }

}  // namespace
}  // namespace schedq

// Goal: no text crashes or hangs the reader and the evaluator of selectors.
// Method: the function that libFuzzer drives gets the committed corpus: whole, cut, and with single
// bytes changed (seeded, so the same in every run).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/cel_fuzz.h"
#include "tests/fuzz/corpus.h"

namespace schedq {
namespace {

constexpr std::string_view kMarks = "()[]{}.,?:!-+*/%<>=&|'\"`\\0123456789abdeilqrsuvx_ \n\x80";
constexpr int kChanges = 400;
constexpr uint64_t kSeed = 20261120;

TEST(CelCorpus, Returns) {
  size_t accepted = 0;
  for (const CorpusFile& file : ReadCorpus("cel")) {
    SCOPED_TRACE(file.name);
    const auto feed = [](const std::string& text) {
      return FuzzCelSelector(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    };
    if (feed(file.text)) ++accepted;
    FeedChanges(file.text, kMarks, 1, kChanges, kSeed, feed);
  }
  EXPECT_EQ(accepted, 9u);
}

}  // namespace
}  // namespace schedq

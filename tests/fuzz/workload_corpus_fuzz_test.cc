// Goal: no bytes crash or hang the parser of YAML, workload decoding, templates or cost models.
// Method: the functions that libFuzzer drives get the committed corpus of good and broken files:
// whole, cut at every length, and with single bytes changed (seeded, so the same in every run).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/workload_fuzz.h"

namespace schedq {
namespace {

const uint8_t* BytesOf(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

void Feed(const std::string& text) {
  FuzzYaml(BytesOf(text), text.size());
  FuzzWorkloadFile(BytesOf(text), text.size());
  FuzzTemplate(BytesOf(text), text.size());
}

// A corpus of which nothing is accepted would reach little code.
TEST(WorkloadCorpus, HasWhatEachReaderAccepts) {
  const auto accepted = [](const std::string& reader, bool (*fuzz)(const uint8_t*, size_t)) {
    std::vector<std::string> names;
    for (const CorpusFile& file : ReadCorpus(reader)) {
      if (fuzz(BytesOf(file.text), file.text.size())) names.push_back(file.name);
    }
    return names;
  };
  EXPECT_THAT(accepted("yaml", FuzzYaml), testing::Contains("yaml-costs.input"));
  EXPECT_THAT(accepted("workload", FuzzWorkloadFile),
              testing::Contains("workload-all-operations.input"));
  EXPECT_THAT(accepted("template", FuzzTemplate),
              testing::IsSupersetOf({"template-claims.input", "template-pod.input"}));
}

class WorkloadCorpusFiles : public testing::TestWithParam<const char*> {};

TEST_P(WorkloadCorpusFiles, Return) {
  constexpr size_t kShort = 600;  // Longer texts are cut at fewer lengths.
  constexpr int kChanges = 200;
  constexpr std::string_view kMarks = "{}[]$.|:-\"'`&*\n %()0\x80";
  for (const CorpusFile& file : ReadCorpus(GetParam())) {
    SCOPED_TRACE(file.name);
    Feed(file.text);
    FeedChanges(file.text, kMarks, file.text.size() < kShort ? 1 : 11, kChanges, 20251118, Feed);
  }
}
INSTANTIATE_TEST_SUITE_P(Readers, WorkloadCorpusFiles,
                         testing::Values("yaml", "workload", "template"));

}  // namespace
}  // namespace schedq

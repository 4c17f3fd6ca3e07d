// Goal: documents are the same bytes after writing, reading and writing again. Equal content gives
// equal bytes, a file is replaced whole or not at all, and each kind of malformed input gives one
// line with its place.
// Method: full sample documents of every kind; mutations of their text.
#include "perf/documents/document.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/floor_document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "tests/unit/perf/documents/sample_documents.h"

namespace schedq {
namespace {

template <typename Document>
std::string TextOfDocument(const Document& document) {
  Result<std::string> text = DocumentText(document);
  EXPECT_TRUE(text.ok()) << text.error().message();
  return *text;
}

template <typename Document>
void ExpectRoundTrip(const Document& document) {
  const std::string text = TextOfDocument(document);
  EXPECT_EQ(text, TextOfDocument(document));
  const Result<Document> read = ParseDocument<Document>(text, "sample.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(TextOfDocument(*read), text);
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

template <typename Document>
std::string ErrorOf(const std::string& text) {
  const Result<Document> read = ParseDocument<Document>(text, "f.json");
  return read.ok() ? "accepted" : read.error().message();
}

size_t Entries(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator begin(folder.path());
  return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

TEST(PerfDocument, EveryKindSurvivesTheRoundTrip) {
  ExpectRoundTrip(SampleRun());
  ExpectRoundTrip(SampleBench());
  ExpectRoundTrip(SampleFloor());
  ExpectRoundTrip(SampleProfile());
  ExpectRoundTrip(SampleBars());
  ExpectRoundTrip(SampleScale());
  ExpectRoundTrip(SampleDataItems());
  ExpectRoundTrip(RunDocument{});
  ExpectRoundTrip(BenchDocument{});
}

TEST(PerfDocument, FieldsComeBack) {
  const Result<RunDocument> read =
      ParseDocument<RunDocument>(TextOfDocument(SampleRun()), "sample.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->seed, UINT64_MAX);
  EXPECT_EQ(read->workloads[1].outcome, WorkloadOutcome::kSkipped);
  EXPECT_EQ(read->workloads[0].repetitions[1].latencies.at("add").p50_ns, 8u);
  EXPECT_EQ(read->workloads[0].repetitions[0].metrics[0].data.at("Perc99"), 1e-7);
  EXPECT_EQ(read->environment.costs[0].bytes_per_pod, 160.5);
  EXPECT_EQ(read->environment.machine.cpu_model, "AMD EPYC \"Genoa\"");
}

TEST(PerfDocument, TheEnvironmentIsTheLastKeyAndHoldsWhatMayDiffer) {
  RunDocument other = SampleRun();
  other.environment = RunEnvironment{};
  const std::string one = TextOfDocument(SampleRun());
  const std::string two = TextOfDocument(other);
  const std::string key = "\n  \"environment\": {";
  EXPECT_NE(one, two);
  EXPECT_EQ(one.substr(0, one.find(key)), two.substr(0, two.find(key)));
}

TEST(PerfDocument, KeysAndNumbersHaveOneForm) {
  FloorDocument document;
  document.measurements = {{.name = "m",
                            .about = "",
                            .unit = "ns",
                            .parameters = {{"b", 2}, {"a", 1}},
                            .repetitions = {0.1, 100, 1.0 / 3}}};
  const std::string text = TextOfDocument(document);
  const std::string expected =
      "{\n  \"schedq_floor\": 1,\n  \"measurements\": [\n    {\n      \"name\": \"m\",\n"
      "      \"unit\": \"ns\",\n      \"parameters\": {\n        \"a\": 1,\n        \"b\": 2\n"
      "      },\n      \"repetitions\": [\n        0.1,\n        100.0,\n"
      "        0.3333333333333333\n      ],\n";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(PerfDocument, EachMalformedInputGivesOneLine) {
  const std::string good = TextOfDocument(SampleRun());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "f.json:1:1: expected valid JSON"},
      {good.substr(0, good.size() / 2) + "\x01", "expected valid JSON"},
      {Replaced(good, "\"engine\": \"lockfree\",", "\"engine\": \"lockfree\",,"),
       "f.json:4:24: expected valid JSON"},
      {"[]", "f.json: the document: expected an object, got an array"},
      {Replaced(good, "\"schedq_results\": 1", "\"schedq_results\": 2"),
       "f.json: schedq_results: expected version 1, got 2"},
      {Replaced(good, "\"engine\": \"lockfree\",", ""),
       "f.json: the document: expected the key \"engine\", which is missing"},
      {Replaced(good, "\"engine\": \"lockfree\"", "\"engine\": 7"),
       "f.json: engine: expected a string, got 7"},
      {Replaced(good, "\"engine\":", "\"Engine\": \"x\", \"engine\":"),
       "f.json: Engine: unknown key, expected one of clock, cost_model, engine, environment, "
       "gates, reference, scenarios, schedq_results, seed, status_model, verdicts, workloads"},
      {Replaced(good, "\"engine\":", "\"engine\": \"x\", \"engine\":"),
       "f.json: expected every key once, got \"engine\" twice"},
      {Replaced(good, "\"clock\": \"virtual\"", "\"clock\": \"sundial\""),
       "f.json: clock: expected one of virtual, real, got \"sundial\""},
      {Replaced(good, "\"seed\": 42", "\"seed\": -42"),
       "f.json: workloads[0].repetitions[0].seed: expected a whole number from 0, got -42"},
      {Replaced(good, "\"seconds\": 12.5", "\"seconds\": null"),
       "f.json: workloads[0].repetitions[0].seconds: expected a number, got null"},
      {Replaced(good, "\"seconds\": 12.5", "\"seconds\": 1e999"),
       "f.json: expected numbers within the range of a double"},
      {Replaced(good, "\"performance\"", "{}"),
       "f.json: workloads[0].labels[0]: expected a string, got an object"},
      {Replaced(good, "\"SchedulerPopFromBackoffQ\": true", "\"a\\nb\": 1"),
       "f.json: gates.a\\nb: expected true or false, got 1"},
      {Replaced(good, "\"thresholds\": [", "\"thresholds\": 3, \"labels2\": ["),
       "f.json: workloads[0].thresholds: expected an array, got 3"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = ErrorOf<RunDocument>(text);
    EXPECT_NE(error.find(expected), std::string::npos) << error << "\nexpected: " << expected;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// Each key was looked for among all before it: minutes for a file of a few megabytes.
TEST(PerfDocument, ManyKeysAreReadInTimeThatGrowsWithTheText) {
  constexpr int kKeys = 400'000;
  std::string keys = "\"counters\": {";
  for (int i = 0; i < kKeys; ++i) keys += "\"key-" + std::to_string(i) + "\": 1, ";
  const std::string text = Replaced(TextOfDocument(SampleRun()), "\"counters\": {", keys);
  const Result<RunDocument> read = ParseDocument<RunDocument>(text, "f.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->workloads[0].repetitions[0].counters.size(), kKeys + 1u);
}

TEST(PerfDocument, AnyTruncationIsAnError) {
  const std::string good = TextOfDocument(SampleFloor());
  for (size_t length = 0; length + 2 < good.size(); length += 7) {
    const std::string error = ErrorOf<FloorDocument>(good.substr(0, length));
    ASSERT_NE(error.find("expected valid JSON"), std::string::npos) << length;
  }
}

TEST(PerfDocument, ADerivedSummaryIsComputedNotRead) {
  const std::string text =
      Replaced(TextOfDocument(SampleFloor()), "\"median\": 4.75", "\"median\": 1.0");
  const Result<FloorDocument> read = ParseDocument<FloorDocument>(text, "f.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(TextOfDocument(*read), TextOfDocument(SampleFloor()));
}

TEST(PerfDocument, WhatJsonCannotCarryIsNotWritten) {
  RunDocument document = SampleRun();
  document.workloads[0].repetitions[1].seconds = std::numeric_limits<double>::infinity();
  const Result<std::string> text = DocumentText(document);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message(),
            "workloads[0].repetitions[1].seconds: expected a finite number");
}

TEST(PerfDocument, BytesThatAreNotUtf8AreReplaced) {
  FloorDocument document = SampleFloor();
  document.environment.command = "schedq \xff";
  ExpectRoundTrip(document);
}

TEST(PerfDocument, FilesAreReplacedWholeOrNotAtAll) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string path = folder.File("deep/results.json");
  ASSERT_TRUE(WriteDocument(SampleRun(), path).ok());
  RunDocument broken = SampleRun();
  broken.environment.wall_seconds = std::numeric_limits<double>::quiet_NaN();
  const Status status = WriteDocument(broken, path);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            path + ": environment.wall_seconds: expected a finite number");
  const Result<RunDocument> read = ReadDocument<RunDocument>(path);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(TextOfDocument(*read), TextOfDocument(SampleRun()));
}

TEST(PerfDocument, AFailedWriteLeavesNothingBehind) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  std::filesystem::create_directory(folder.File("taken"));
  const Status status = WriteFileAtomically(folder.File("taken"), "text");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("cannot be replaced"), std::string::npos);
  EXPECT_EQ(Entries(folder), 1u);
  ASSERT_TRUE(WriteFileAtomically(folder.File("file"), "text").ok());
  EXPECT_FALSE(WriteFileAtomically(folder.File("file/below"), "text").ok());
  EXPECT_EQ(Entries(folder), 2u);
}

TEST(PerfDocument, AMissingFileIsOneLine) {
  const Result<BenchDocument> read = ReadDocument<BenchDocument>("/nonexistent/bench.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message(),
            "/nonexistent/bench.json: does not exist, expected a readable file");
}

}  // namespace
}  // namespace schedq

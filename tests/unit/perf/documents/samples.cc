// Writes files for the schema test into the given folder: schemas/, a document of every kind in
// good/, and in bad/ documents with one error each, which the reader must reject. Exits with 1 when
// the reader accepts a bad one.
#include <cstdio>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/document.h"
#include "perf/files/file_io.h"
#include "tests/unit/perf/documents/sample_documents.h"

namespace schedq {
namespace {

struct Mutation {
  std::string name;
  std::string from;
  std::string to;
};

bool Write(const std::string& path, const std::string& text) {
  const Status status = WriteFileAtomically(path, text);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message().c_str());
  return status.ok();
}

template <typename Document>
bool WriteKind(const std::string& folder, const std::string& kind, const Document& sample,
               const std::vector<Mutation>& mutations) {
  const Result<std::string> good = DocumentText(sample);
  if (!good.ok()) return false;
  bool right = Write(folder + "/schemas/" + kind + ".schema.json", DocumentSchema<Document>()) &&
               Write(folder + "/good/" + kind + ".full.json", *good) &&
               Write(folder + "/good/" + kind + ".empty.json", *DocumentText(Document{}));
  for (const Mutation& mutation : mutations) {
    std::string bad = *good;
    const size_t place = bad.find(mutation.from);
    if (place == std::string::npos) {
      std::fprintf(stderr, "%s: no place for mutation %s\n", kind.c_str(), mutation.name.c_str());
      return false;
    }
    bad.replace(place, mutation.from.size(), mutation.to);
    if (ParseDocument<Document>(bad, kind).ok()) {
      std::fprintf(stderr, "%s: the reader accepts %s\n", kind.c_str(), mutation.name.c_str());
      right = false;
    }
    right = Write(folder + "/bad/" + kind + "." + mutation.name + ".json", bad) && right;
  }
  return right;
}

int WriteAll(const std::string& folder) {
  const bool right =
      WriteKind(folder, "results", SampleRun(),
                {{"version", "\"schedq_results\": 1", "\"schedq_results\": 2"},
                 {"unknown-key", "\"engine\":", "\"motor\": 1, \"engine\":"},
                 {"missing-key", "\"engine\": \"lockfree\",", ""},
                 {"wrong-type", "\"engine\": \"lockfree\"", "\"engine\": []"},
                 {"not-one-of", "\"virtual\"", "\"sundial\""},
                 {"negative", "\"seed\": 42", "\"seed\": -1"},
                 {"deep", "\"p50_ns\": 8", "\"p50_ns\": \"8\""},
                 {"environment", "\"allocator\":", "\"allocate\":"}}) &&
      WriteKind(folder, "bench", SampleBench(),
                {{"version", "\"schedq_bench\": 1", "\"schedq_bench\": 0"},
                 {"role", "\"rival\"", "\"enemy\""},
                 {"repetitions", "21.5", "\"21.5\""},
                 {"summary", "\"summary\":", "\"sum\":"}}) &&
      WriteKind(folder, "floor", SampleFloor(),
                {{"version", "\"schedq_floor\": 1", "\"schedq_floor\": \"1\""},
                 {"parameters", "\"bytes\": 1048576", "\"bytes\": 0.5"},
                 {"summary-field", "\"median\": 4.75,", ""}}) &&
      WriteKind(folder, "bars", SampleBars(),
                {{"version", "\"schedq_bars\": 1", "\"schedq_bars\": 2"},
                 {"verdict", "\"short\"", "\"nearly\""},
                 {"measured", "\"measured\": 400", "\"measured\": [], \"more\": 400"}}) &&
      WriteKind(folder, "scale", SampleScale(),
                {{"version", "\"schedq_scale\": 1", "\"schedq_scale\": 2"},
                 {"threads", "\"threads\": 2", "\"threads\": -2"},
                 {"transfers", "\"transfers\": 2.5", "\"transfers\": \"2.5\""},
                 {"predicted", "\"predicted_ns\": 150.0,", ""}}) &&
      WriteKind(folder, "profile", SampleProfile(),
                {{"version", "\"schedq_profile\": 1", "\"schedq_profile\": 2"},
                 {"size", "\"size\": 1000", "\"size\": -1000"},
                 {"exponent", "\"exponent\":", "\"power\":"},
                 {"functions", "\"functions\": [", "\"functions\": [5, "}}) &&
      WriteKind(folder, "dataitems", SampleDataItems(),
                {{"label", "\"Basic/500Nodes/ns\"", "5"}, {"data", "336.25", "null"}});
  return right ? 0 : 1;
}

}  // namespace
}  // namespace schedq

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: perf_samples FOLDER\n");
    return 2;
  }
  return schedq::WriteAll(argv[1]);
}

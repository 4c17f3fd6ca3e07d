// Goal: no bytes crash or hang workload decoding.
// Method: the functions that libFuzzer drives get a small corpus of good and broken files: whole,
// cut at every length, and with single bytes changed (seeded, so the same in every run).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/workload_fuzz.h"

namespace schedq {
namespace {

constexpr std::string_view kCorpus[] = {
    "- name: C\n  labels: [a]\n  featureGates: {X: true}\n  workloadTemplate:\n"
    "  - {opcode: createNodes, countParam: $n}\n  - &p {opcode: createPods, count: 1e1, "
    "collectMetrics: true, templateParams: {a: '$a|[1]'}}\n  - {<<: *p, collectMetrics: false}\n"
    "  - opcode: churn\n    mode: create\n    templatePaths: [x]\n  workloads:\n  - name: W\n"
    "    threshold: {dra: 5}\n    params: {n: 3}\n",
    "apiVersion: v1\nkind: Pod\nspec:\n  priority: {{Mod .Index 3}}\n  containers:\n  - name: c\n"
    "    resources: {requests: {cpu: {{DivideInt 1000 .Count}}m}}\n",
    "{{- range $i, $e := .l -}}{{if eq $i 1}}{{continue}}{{else if .}}{{printf \"%5.2f|%q\" .x .y}}"
    "{{end}}{{end}}{{with $x := .m}}{{$x.k | AddInt 1 | JSON}}{{else}}`{{end}}{{/* c */}}",
    "{{(index .l 0) | printf \"%v %T %x\" 1 `a` 'b'}}{{and .b (or .f .s) | not}}{{len .s}}",
    "kind: ResourceSlice\napiVersion: v1\nspec: {driver: d, pool: {name: p}, devices: [{name: a}]}",
    "? [a]\n: {b: !!set {c}}\n--- |\n x\n...\n%TAG ! y\n",
};

void Feed(const std::string& text) {
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  FuzzWorkloadFile(data, text.size());
  FuzzTemplate(data, text.size());
}

TEST(WorkloadCorpus, Returns) {
  for (std::string_view text : kCorpus) {
    for (size_t size = 0; size <= text.size(); ++size) Feed(std::string(text.substr(0, size)));
  }
}

TEST(WorkloadCorpus, ReturnsWhenChanged) {
  std::mt19937 random(20251118);
  constexpr int kChangesPerText = 200;
  constexpr std::string_view kMarks = "{}[]$.|:-\"'`&*\n %()0\x80";
  for (std::string_view text : kCorpus) {
    for (int i = 0; i < kChangesPerText; ++i) {
      std::string changed(text);
      for (int j = 0; j < 3; ++j) {
        changed[random() % changed.size()] = kMarks[random() % kMarks.size()];
      }
      Feed(changed);
    }
  }
}

}  // namespace
}  // namespace schedq

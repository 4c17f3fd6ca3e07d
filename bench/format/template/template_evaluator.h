// Runs a template's tree.
//
// Bounded, so that an endless template ends with an error: steps, output, the length of a range and
// the size of any string in between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/template/template_lexer.h"
#include "bench/format/template/template_node.h"

namespace schedq {

inline constexpr int64_t kTemplateStepCountMax = 1'000'000;
inline constexpr size_t kTemplateOutputBytesMax = 4u << 20;
inline constexpr int64_t kTemplateRangeMax = 100'000;
inline constexpr size_t kTemplateStringBytesMax = 1u << 20;

// A piece of the output and where in the source it came from; pieces in order cover the output.
struct TemplateOrigin {
  size_t output_offset = 0;
  size_t source_offset = 0;
  bool is_text = false;  // Copied: offsets advance together. Else: the value of one action.
};

struct TemplateOutput {
  std::string text;
  std::vector<TemplateOrigin> origins;
};

// Appends to `output`; `data` is what `.` and `$` are. Origins are kept when `keep_origins`.
std::optional<TemplateProblem> EvaluateTemplate(const std::vector<TemplateNode>& nodes,
                                                const Value& data, bool keep_origins,
                                                TemplateOutput* output);

}  // namespace schedq

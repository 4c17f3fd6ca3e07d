// Evaluates a template's tree.
//
// The limits below bound steps, output, ranges and strings, so that an endless template ends with
// an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/template/template_lexer.h"
#include "bench/format/template/template_node.h"
#include "bench/format/template/value.h"

namespace schedq {

inline constexpr int64_t kTemplateStepCountMax = 1'000'000;
inline constexpr size_t kTemplateOutputBytesMax = 4u << 20;
inline constexpr int64_t kTemplateRangeMax = 100'000;
inline constexpr size_t kTemplateStringBytesMax = 1u << 20;

// A piece of the output, and the place in the source that it came from. The pieces in order cover
// the whole output.
struct TemplateOrigin {
  size_t output_offset = 0;
  size_t source_offset = 0;
  bool is_text = false;  // True: copied text. False: the value of the action at source_offset.
};

struct TemplateOutput {
  std::string text;
  std::vector<TemplateOrigin> origins;
};

// Appends to `output`. `data` is the value of `.` and `$`. Records origins if `keep_origins`.
std::optional<TemplateProblem> EvaluateTemplate(const std::vector<TemplateNode>& nodes,
                                                const Value& data, bool keep_origins,
                                                TemplateOutput* output);

}  // namespace schedq

#include "bench/format/suite/label_filter.h"

#include <algorithm>
#include <cstddef>

namespace schedq {

LabelFilter::LabelFilter(std::string_view text) {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view label = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (label.empty()) continue;
    const bool wanted = label[0] != '-';
    if (label[0] == '-' || label[0] == '+') label.remove_prefix(1);
    terms_.push_back({std::string(label), wanted});
  }
}

bool LabelFilter::Accepts(const std::vector<std::string>& labels) const {
  return std::all_of(terms_.begin(), terms_.end(), [&labels](const Term& term) {
    const bool has = std::find(labels.begin(), labels.end(), term.label) != labels.end();
    return has == term.wanted;
  });
}

}  // namespace schedq

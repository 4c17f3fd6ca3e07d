#include "perf/text/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace schedq {
namespace {

// Levenshtein's distance: insertions, deletions and substitutions of one character. Exact below
// `limit`; from there on any number from `limit` up.
size_t EditDistance(const std::string& from, const std::string& to, size_t limit,
                    std::vector<size_t>& row) {
  const size_t least = from.size() > to.size() ? from.size() - to.size() : to.size() - from.size();
  if (least >= limit) return least;
  row.resize(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= from.size(); ++i) {
    // No later row has a smaller number than the least of this one.
    if (*std::min_element(row.begin(), row.end()) >= limit) return limit;
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t substitution = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestWord(const std::string& word, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong, or one; beyond that a hint misleads.
  size_t best_distance = std::max<size_t>(word.size() / 3, 1) + 1;
  std::string best;
  std::vector<size_t> row;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate, best_distance, row);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

}  // namespace schedq

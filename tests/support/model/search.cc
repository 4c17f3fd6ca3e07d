#include "tests/support/model/search.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

namespace schedq::model {

namespace {

constexpr char kVariable[] = "SCHEDQ_MODEL_SEARCH";

uint64_t counted = 0;

Search Parse(const char* value) {
  Search search;
  if (value == nullptr) return search;
  const std::string text = value;
  if (text == "bounded") {
    search.way = Search::Way::kBounded;
    return search;
  }
  unsigned long long seed = 0;
  unsigned long long schedules = 0;
  if (std::sscanf(value, "random:%llu:%llu", &seed, &schedules) == 2) {
    search.way = Search::Way::kRandom;
  } else if (std::sscanf(value, "priorities:%llu:%llu", &seed, &schedules) == 2) {
    search.way = Search::Way::kPriorities;
  } else {
    std::cerr << kVariable << ": expected bounded, random:SEED:SCHEDULES or "
              << "priorities:SEED:SCHEDULES, found '" << value << "'\n";
    std::exit(2);
  }
  search.first_seed = seed;
  search.schedules = schedules;
  return search;
}

}  // namespace

const Search& Search::Wanted() {
  static const Search search = [] {
    const Search parsed = Parse(std::getenv(kVariable));
    if (parsed.way != Way::kNone) {
      std::atexit([] { std::cerr << "searched " << counted << " schedules, found nothing\n"; });
    }
    return parsed;
  }();
  return search;
}

void Search::Count(bool has_failed) const {
  if (way == Way::kNone) return;
  ++counted;
  if (!has_failed) return;
  std::cerr << "searched " << counted << " schedules, found a fault\n";
  std::_Exit(kExitFound);
}

}  // namespace schedq::model

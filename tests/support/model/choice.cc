#include "tests/support/model/choice.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace schedq::model {

uint32_t DepthFirst::Choose(const ChoicePoint& point) {
  if (depth_ == path_.size()) path_.push_back({0, static_cast<uint8_t>(point.count)});
  const Taken& taken = path_[depth_++];
  return taken.count == point.count ? taken.index : kNever;
}

bool DepthFirst::Next() {
  while (!path_.empty() && path_.back().index + 1 == path_.back().count) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().index;
  return true;
}

uint64_t Draw::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

void Seeded::Begin() {
  draw_ = Draw(seed_);
  walks_ = seed_ % 2 == 1;
  switch_one_in_ = 2U << draw_.Below(4);
  stale_one_in_ = 2U << draw_.Below(4);
  points_ = 0;
  lowest_ = kFibersMax;
  for (uint32_t i = 0; i < kFibersMax; ++i) {
    priorities_[i] = lowest_ + 1 + i;
    std::swap(priorities_[i], priorities_[draw_.Below(i + 1)]);
  }
  const uint32_t points_expected = 8U << draw_.Below(5);
  for (uint32_t& point : change_points_) point = draw_.Below(points_expected);
}

uint32_t Seeded::Walk(const ChoicePoint& point) {
  if (!point.continues) return draw_.Below(point.count);
  return draw_.Below(switch_one_in_) != 0 ? 0 : 1 + draw_.Below(point.count - 1);
}

uint32_t Seeded::Highest(const ChoicePoint& point) {
  if (point.continues) {
    for (uint32_t change : change_points_) {
      if (change == points_) priorities_[point.threads[0] % kFibersMax] = lowest_--;
    }
  }
  uint32_t best = 0;
  for (uint32_t i = 1; i < point.count; ++i) {
    if (priorities_[point.threads[i] % kFibersMax] >
        priorities_[point.threads[best] % kFibersMax]) {
      best = i;
    }
  }
  return best;
}

uint32_t Seeded::Choose(const ChoicePoint& point) {
  switch (point.kind) {
    case ChoiceKind::kThread:
      ++points_;
      return walks_ ? Walk(point) : Highest(point);
    case ChoiceKind::kVersion:
      return draw_.Below(stale_one_in_) != 0 ? 0 : draw_.Below(point.count);
    case ChoiceKind::kWake:
    case ChoiceKind::kWeak:
      break;
  }
  return draw_.Below(point.count);
}

bool Seeded::Next() {
  seed_ += stride_;
  return true;
}

uint32_t Replay::Choose(const ChoicePoint& point) {
  const uint32_t index = depth_ < choices_.size() ? choices_[depth_] : 0;
  ++depth_;
  return index < point.count ? index : kNever;
}

std::string FormatChoices(const std::vector<uint8_t>& choices) {
  std::string text;
  size_t end = choices.size();
  while (end > 0 && choices[end - 1] == 0) --end;
  for (size_t i = 0; i < end;) {
    size_t run = 1;
    while (choices[i] == 0 && i + run < end && choices[i + run] == 0) ++run;
    if (!text.empty()) text += ',';
    text += std::to_string(choices[i]);
    if (run > 1) text += 'x' + std::to_string(run);
    i += run;
  }
  return text.empty() ? "0" : text;
}

bool ParseChoices(std::string_view text, std::vector<uint8_t>& choices) {
  choices.clear();
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    uint8_t value = 0;
    uint32_t run = 1;
    auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc()) return false;
    at = parsed.ptr;
    if (at != end && *at == 'x') {
      parsed = std::from_chars(at + 1, end, run);
      if (parsed.ec != std::errc() || run > 1'000'000) return false;
      at = parsed.ptr;
    }
    choices.insert(choices.end(), run, value);
    if (at != end && *at++ != ',') return false;
  }
  return true;
}

}  // namespace schedq::model

#include "bench/format/workload/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <set>
#include <system_error>
#include <vector>

#include "bench/format/workload/go_duration.h"

namespace schedq {
namespace {

constexpr std::array kLaggingKinds = {Resource::kPod,
                                      Resource::kNode,
                                      Resource::kPersistentVolume,
                                      Resource::kPersistentVolumeClaim,
                                      Resource::kStorageClass,
                                      Resource::kCSINode,
                                      Resource::kResourceClaim,
                                      Resource::kResourceSlice,
                                      Resource::kDeviceClass,
                                      Resource::kPodGroup,
                                      Resource::kCompositePodGroup};

constexpr Duration kFaultTimeMax = std::chrono::hours(24);

template <size_t N>
std::string Names(const std::array<std::string_view, N>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

Result<Duration> ReadTime(const std::string& key, const std::string& value) {
  const std::optional<Duration> time = ParseGoDuration(value);
  if (!time || *time < Duration(0) || *time > kFaultTimeMax) {
    return Error(fmt::format("{}={}: expected a time up to 24h, such as 50ms or 10s", key, value));
  }
  return *time;
}

Status ReadCalls(const std::string& value, Fault* fault) {
  for (const std::string& name : Split(value, '+')) {
    const std::optional<uint32_t> bit = ParseCallKind(name);
    if (!bit) {
      return Error(fmt::format("calls={}: expected some of {}, with + between", value,
                               Names(kCallKindNames)));
    }
    fault->calls |= *bit;
  }
  return Status::Ok();
}

Status ReadPercent(const std::string& value, Fault* fault) {
  int64_t percent = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), percent);
  const bool is_number = error == std::errc() && end == value.data() + value.size() &&
                         !value.empty() && value[0] != '-' && (value[0] != '0' || value == "0");
  if (!is_number) return Error(fmt::format("percent={}: expected a number from 1 to 100", value));
  fault->percent = percent;
  return Status::Ok();
}

Status ReadField(const std::string& key, const std::string& value, Fault* fault) {
  if (key == "percent") return ReadPercent(value, fault);
  if (key == "calls") return ReadCalls(value, fault);
  if (key == "of") {
    const std::optional<Resource> of = ParseLaggingKind(value);
    if (!of) return Error(fmt::format("of={}: expected one of {}", value, LaggingKindNames()));
    fault->of = *of;
    return Status::Ok();
  }
  Duration* const time = key == "after"      ? &fault->after
                         : key == "duration" ? &fault->duration
                         : key == "delay"    ? &fault->delay
                         : key == "jitter"   ? &fault->jitter
                                             : nullptr;
  if (time == nullptr) {
    return Error(fmt::format(
        "unknown field '{}', expected percent, calls, of, delay, jitter, after or duration", key));
  }
  const Result<Duration> read = ReadTime(key, value);
  if (!read) return read.error();
  *time = *read;
  return Status::Ok();
}

}  // namespace

std::optional<FaultKind> ParseFaultKind(std::string_view name) {
  const auto found = std::find(kFaultKindNames.begin(), kFaultKindNames.end(), name);
  if (found == kFaultKindNames.end()) return std::nullopt;
  return static_cast<FaultKind>(found - kFaultKindNames.begin());
}

std::optional<uint32_t> ParseCallKind(std::string_view name) {
  const auto found = std::find(kCallKindNames.begin(), kCallKindNames.end(), name);
  if (found == kCallKindNames.end()) return std::nullopt;
  return 1u << static_cast<uint32_t>(found - kCallKindNames.begin());
}

std::optional<Resource> ParseLaggingKind(std::string_view name) {
  const std::optional<Resource> kind = ParseResource(name);
  const bool lags =
      kind && std::find(kLaggingKinds.begin(), kLaggingKinds.end(), *kind) != kLaggingKinds.end();
  return lags ? kind : std::nullopt;
}

std::string LaggingKindNames() {
  std::vector<std::string_view> names;
  for (const Resource kind : kLaggingKinds) names.push_back(ResourceName(kind));
  return fmt::format("{}", fmt::join(names, ", "));
}

Status CheckFault(const Fault& fault) {
  const bool is_lag = fault.kind == FaultKind::kLag;
  if (fault.kind == FaultKind::kErrors) {
    if (fault.percent < 1 || fault.percent > 100) {
      return Error(fmt::format("percent is {}, expected 1 to 100", fault.percent));
    }
    if (fault.delay != Duration(0)) return Error("delay: errors have none");
  } else {
    if (fault.calls != 0) return Error("calls: only errors have them");
    if (fault.percent != Fault().percent) return Error("percent: only errors have one");
    if (fault.delay + fault.jitter <= Duration(0)) {
      return Error("delay is 0 or missing, expected a time such as 50ms");
    }
  }
  if (is_lag && fault.of == Resource::kWildcard) {
    return Error("of is missing, expected one of " + LaggingKindNames());
  }
  if (!is_lag && fault.of != Resource::kWildcard) return Error("of: only a lag has it");
  if (!is_lag && fault.jitter != Duration(0)) return Error("jitter: only a lag has one");
  return Status::Ok();
}

Result<Fault> ParseFault(const std::string& text) {
  const std::vector<std::string> parts = Split(text, ',');
  Fault fault;
  const std::optional<FaultKind> kind = ParseFaultKind(parts[0]);
  if (!kind) {
    return Error(fmt::format("'{}': expected one of {}", parts[0], Names(kFaultKindNames)));
  }
  fault.kind = *kind;
  std::set<std::string> named;
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos) {
      return Error(fmt::format("'{}': expected FIELD=VALUE", parts[i]));
    }
    const std::string key = parts[i].substr(0, equals);
    if (!named.insert(key).second) return Error(key + " is said twice");
    if (Status read = ReadField(key, parts[i].substr(equals + 1), &fault); !read) {
      return read.error();
    }
  }
  if (Status checked = CheckFault(fault); !checked) return checked.error();
  return fault;
}

}  // namespace schedq

// The functions of schedq/schedq.h that take an attempt.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/plugin.h"
#include "engine/pod_group.h"
#include "schedq/assembled_queue.h"
#include "schedq/attempt.h"
#include "schedq/c_interface/failure.h"
#include "schedq/c_interface/handles.h"
#include "schedq/c_interface/objects.h"
#include "schedq/c_interface/versioned.h"
#include "schedq/schedq.h"

namespace schedq {
namespace {

static_assert(static_cast<int>(GroupKind::kPodGroup) == SCHEDQ_GROUP_POD_GROUP &&
                  static_cast<int>(GroupKind::kComposite) == SCHEDQ_GROUP_COMPOSITE &&
                  static_cast<int>(GroupStatus::kSuccess) == SCHEDQ_GROUP_SUCCESS &&
                  static_cast<int>(GroupStatus::kUnschedulable) == SCHEDQ_GROUP_UNSCHEDULABLE &&
                  static_cast<int>(GroupStatus::kError) == SCHEDQ_GROUP_ERROR,
              "kinds and ends of groups have the numbers of the C interface");

Result<PluginSet> PluginsNamed(const AssembledQueue& queue, const char* what,
                               const char* const* names, size_t count) {
  const auto list = ListOf(what, names, count);
  if (!list) return list.error();
  std::vector<std::string_view> texts;
  for (const char* name : *list) texts.emplace_back(TextOf(name));
  return queue.Plugins(texts);
}

// How the attempt took it. A group's that is open refuses what is for pods.
schedq_status Ended(const schedq_attempt& attempt, const Status& status) {
  if (status) return SCHEDQ_OK;
  const bool is_open_group = attempt.attempt.is_group() && !attempt.attempt.is_ended();
  return Fail(is_open_group ? SCHEDQ_INVALID : SCHEDQ_ENDED, status.error().message());
}

schedq_status NotOfAGroup() {
  return Fail(SCHEDQ_INVALID, "the attempt is that of a pod, expected one of a group");
}

schedq_status TakeMember(schedq_attempt* attempt, size_t i, schedq_attempt** member) {
  *member = nullptr;
  if (!attempt->attempt.is_group()) return NotOfAGroup();
  const size_t count = attempt->attempt.group().members.size();
  if (i >= count) {
    return Fail(SCHEDQ_INVALID, "member " + std::to_string(i) + ": the group has " +
                                    std::to_string(count) + " of them, counted from 0");
  }
  if (attempt->attempt.is_ended()) {
    return Fail(SCHEDQ_ENDED, "member " + std::to_string(i) + ": the cycle has ended already");
  }
  Attempt& held = attempt->members[i];
  if (held.is_ended()) return SCHEDQ_NOTHING;
  *member = new schedq_attempt(std::move(held));
  return SCHEDQ_OK;
}

}  // namespace
}  // namespace schedq

using schedq::Fail;
using schedq::Guarded;
using schedq::IsNull;

const schedq_pod_view* schedq_attempt_pod(const schedq_attempt* attempt) {
  return attempt->attempt.is_group() ? nullptr : &attempt->pod;
}
uint32_t schedq_attempt_count(const schedq_attempt* attempt) { return attempt->attempt.attempts(); }

schedq_status schedq_attempt_fail(schedq_attempt* attempt, const char* const* unschedulable,
                                  size_t unschedulable_count, const char* const* pending,
                                  size_t pending_count) {
  return Guarded([&] {
    if (attempt == nullptr) return IsNull("attempt");
    if (attempt->attempt.is_ended() || attempt->attempt.is_group()) {
      return schedq::Ended(*attempt, attempt->attempt.Fail({}));
    }
    const schedq::AssembledQueue& queue = attempt->attempt.queue();
    const auto reasons =
        schedq::PluginsNamed(queue, "unschedulable", unschedulable, unschedulable_count);
    if (!reasons) return Fail(SCHEDQ_NOT_FOUND, reasons.error().message());
    const auto waits_for = schedq::PluginsNamed(queue, "pending", pending, pending_count);
    if (!waits_for) return Fail(SCHEDQ_NOT_FOUND, waits_for.error().message());
    return schedq::Ended(*attempt, attempt->attempt.Fail(*reasons, *waits_for));
  });
}

schedq_status schedq_attempt_done(schedq_attempt* attempt) {
  return Guarded([&] {
    if (attempt == nullptr) return IsNull("attempt");
    return schedq::Ended(*attempt, attempt->attempt.Done());
  });
}

schedq_status schedq_attempt_bind(schedq_attempt* attempt) {
  return Guarded([&] {
    if (attempt == nullptr) return IsNull("attempt");
    return schedq::Ended(*attempt, attempt->attempt.Bind());
  });
}

void schedq_attempt_release(schedq_attempt* attempt) {
  static_cast<void>(Guarded([&] {
    delete attempt;
    return SCHEDQ_OK;
  }));
}

schedq_status schedq_attempt_group(const schedq_attempt* attempt, schedq_group* group) {
  return Guarded([&] {
    if (attempt == nullptr) return IsNull("attempt");
    if (!attempt->attempt.is_group()) return schedq::NotOfAGroup();
    const schedq::GroupKey& root = attempt->attempt.group().root;
    const schedq_group written = {
        .size = sizeof(schedq_group),
        .kind = static_cast<int32_t>(root.kind),
        .priority = 0,
        .namespace_name = root.namespace_name.c_str(),
        .name = root.name.c_str(),
        .min_count = 0,
        .parent = nullptr,
    };
    const schedq::Status status = schedq::WriteVersioned("group", written, group);
    return status ? SCHEDQ_OK : schedq::Invalid(status.error());
  });
}

size_t schedq_attempt_member_count(const schedq_attempt* attempt) {
  return attempt->attempt.is_group() ? attempt->attempt.group().members.size() : 0;
}

schedq_status schedq_attempt_take_member(schedq_attempt* attempt, size_t i,
                                         schedq_attempt** member) {
  return Guarded([&] {
    if (attempt == nullptr) return IsNull("attempt");
    if (member == nullptr) return IsNull("member");
    return schedq::TakeMember(attempt, i, member);
  });
}

schedq_status schedq_attempt_end_group(schedq_attempt* attempt, schedq_group_status status) {
  return Guarded([&] {
    if (attempt == nullptr) return IsNull("attempt");
    if (!attempt->attempt.is_group()) return schedq::NotOfAGroup();
    if (static_cast<uint32_t>(status) > SCHEDQ_GROUP_ERROR) {
      return Fail(SCHEDQ_INVALID, "status is " + std::to_string(static_cast<int>(status)) +
                                      ", expected one of schedq_group_status");
    }
    attempt->members.clear();
    return schedq::Ended(*attempt,
                         attempt->attempt.EndGroup(static_cast<schedq::GroupStatus>(status)));
  });
}

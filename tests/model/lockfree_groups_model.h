// What the model of groups is judged by: one queue with one group of two members, and a pod without
// a group that may take the name of one of them.
//
// Threads: one.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/place.h"

namespace schedq {

enum class GroupDeed : uint8_t {
  kAdd,
  kDelete,
  kFail,
  kDone,
  kActivate,
  kGroupAdd,
  kGroupDelete,
  kGroupDone,
  kClose,
  kOpen,
  kPop,
  // Of a pod without a group that has the name of member 0.
  kAddSingle,
  kDeleteSingle,
  kTakeName  // As kAdd of member 0: the name may be the single pod's.
};

// One queue with one group of two members, one operation after another. There is no backoff.
struct GroupSpec {
  struct Operation {
    GroupDeed deed = GroupDeed::kPop;
    uint8_t pod = 0;
  };
  struct Member {
    Place stands = Place::kAbsent;  // kActive: with the group, wherever that is.
    bool is_live = false;
    bool is_in_flight = false;
    auto operator<=>(const Member&) const = default;
  };
  struct State {
    std::array<Member, 2> members;
    Member single;
    Place group = Place::kAbsent;  // kPending: it is in its cycle.
    bool is_known = false;
    bool is_closed = false;  // PreEnqueue rejects.
    auto operator<=>(const State&) const = default;
  };
  // The members that were popped, as bits; or that a Fail was refused.
  using Result = int;
  static constexpr Result kNothing = 0;
  static constexpr Result kRefused = 8;
  static constexpr Result kSingle = 4;
  // The other pod of the name is still there: the step that takes it away comes first.
  static constexpr Result kNotYet = 16;

  static Result Apply(State& state, const Operation& operation) {
    Member& member = state.members[operation.pod];
    switch (operation.deed) {
      case GroupDeed::kTakeName:
        if (state.single.is_live) return kNotYet;
        [[fallthrough]];
      case GroupDeed::kAdd:
        member.is_live = true;
        if (member.stands == Place::kAbsent) Join(state, member);
        break;
      case GroupDeed::kDelete:
        Delete(state, member);
        break;
      case GroupDeed::kFail: {
        const bool is_queued = member.stands != Place::kAbsent;
        member.is_in_flight = false;
        if (is_queued) return kRefused;
        if (member.is_live) Join(state, member);
        break;
      }
      case GroupDeed::kDone:
        member.is_in_flight = false;
        break;
      case GroupDeed::kActivate:
        if (state.is_known && state.group == Place::kGated) state.group = Entered(state);
        break;
      case GroupDeed::kGroupAdd:
        state.is_known = true;
        for (Member& each : state.members) {
          if (each.stands == Place::kIncomplete) Join(state, each);
        }
        break;
      case GroupDeed::kGroupDelete:
        DeleteGroup(state);
        break;
      case GroupDeed::kGroupDone:
        EndCycle(state);
        break;
      case GroupDeed::kClose:
        state.is_closed = true;
        break;
      case GroupDeed::kOpen:
        state.is_closed = false;
        if (state.group == Place::kGated) state.group = Place::kActive;
        if (state.single.stands == Place::kGated) state.single.stands = Place::kActive;
        break;
      case GroupDeed::kPop:
        return Pop(state);
      case GroupDeed::kAddSingle:
        if (state.members[0].is_live) return kNotYet;
        state.single.is_live = true;
        if (state.single.stands == Place::kAbsent) state.single.stands = Entered(state);
        break;
      case GroupDeed::kDeleteSingle:
        state.single.is_live = false;
        state.single.stands = Place::kAbsent;
        break;
    }
    return kNothing;
  }

  static Place Entered(const State& state) {
    return state.is_closed ? Place::kGated : Place::kActive;
  }
  static bool IsQueued(const State& state) {
    return state.group == Place::kActive || state.group == Place::kGated;
  }
  // Active members are asked again; of a gated group nobody is.
  static void AskRest(State& state) {
    if (state.group == Place::kActive) state.group = Entered(state);
  }
  static void Join(State& state, Member& member) {
    if (!state.is_known) {
      member.stands = Place::kIncomplete;
    } else if (state.group == Place::kPending) {
      member.stands = Place::kPending;
    } else {
      member.stands = Place::kActive;
      if (state.group == Place::kAbsent) state.group = Place::kActive;
      AskRest(state);
    }
  }
  static void Delete(State& state, Member& member) {
    if (!member.is_live) return;
    member.is_live = false;
    const bool waits = member.stands == Place::kIncomplete || member.stands == Place::kPending;
    member.stands = Place::kAbsent;
    if (waits || !state.is_known || !IsQueued(state)) return;
    const bool is_empty =
        state.members[0].stands != Place::kActive && state.members[1].stands != Place::kActive;
    if (is_empty) state.group = Place::kAbsent;
    AskRest(state);
  }
  static void DeleteGroup(State& state) {
    state.is_known = false;
    const bool is_queued = IsQueued(state);
    for (Member& member : state.members) {
      if (member.stands != Place::kAbsent) member.stands = Place::kIncomplete;
    }
    if (is_queued) state.group = Place::kAbsent;
  }
  static void EndCycle(State& state) {
    if (state.group != Place::kPending) return;
    state.group = Place::kAbsent;
    for (Member& member : state.members) {
      if (member.stands != Place::kPending) continue;
      member.stands = Place::kActive;
      state.group = Place::kActive;
    }
    AskRest(state);
  }
  static Result Pop(State& state) {
    if (state.group != Place::kActive) return PopSingle(state.single);
    Result popped = kNothing;
    for (int i = 0; i < 2; ++i) {
      Member& member = state.members[static_cast<size_t>(i)];
      if (member.stands != Place::kActive) continue;
      member.stands = Place::kAbsent;
      if (!member.is_in_flight) popped |= 1 << i;
      member.is_in_flight = true;
    }
    state.group = popped == kNothing ? Place::kAbsent : Place::kPending;
    return popped == kNothing ? PopSingle(state.single) : popped;
  }
  // Of a lower priority than the group.
  static Result PopSingle(Member& single) {
    if (single.stands != Place::kActive) return kNothing;
    single.stands = Place::kAbsent;
    return std::exchange(single.is_in_flight, true) ? kNothing : kSingle;
  }

  static std::string Describe(const Operation& operation) {
    static constexpr std::array<const char*, 14> kNames = {
        "add",        "delete", "fail", "done", "activate",   "group add",     "group delete",
        "group done", "close",  "open", "pop",  "add single", "delete single", "take the name"};
    const std::string name = kNames[static_cast<size_t>(operation.deed)];
    const bool is_of_a_pod = operation.deed < GroupDeed::kGroupAdd;
    return is_of_a_pod ? name + " " + std::to_string(operation.pod) : name;
  }
  static std::string Describe(const Result& result) { return std::to_string(result); }
};

}  // namespace schedq

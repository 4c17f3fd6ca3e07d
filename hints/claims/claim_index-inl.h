// The operations of BasicClaimIndex, for its instantiation and for tests with another Atom.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/inline_vector.h"
#include "engine/base/names/interner-inl.h"
#include "hints/claims/claim_index.h"

namespace schedq {
namespace internal {

// The i-th claim that the pod names; entries that need no claim are empty.
inline const std::string& ClaimAt(const Pod& pod, size_t i) {
  const size_t in_spec = pod.claims.size();
  return i < in_spec ? pod.claims[i] : pod.generated_claims[i - in_spec].claim_name;
}

// Whether one of the first `count` claims has this name.
inline bool NamesAmong(const Pod& pod, size_t count, const std::string& name) {
  for (size_t i = 0; i < count; ++i) {
    if (ClaimAt(pod, i) == name) return true;
  }
  return false;
}

inline size_t ClaimCount(const Pod* pod) {
  return pod == nullptr ? 0 : pod->claims.size() + pod->generated_claims.size();
}

// Calls `visit(name)` for each claim that `pod` uses and `other` does not, each once.
template <typename Visit>
void ForEachClaimBeyond(const Pod* pod, const Pod* other, Visit visit) {
  for (size_t i = 0; i < ClaimCount(pod); ++i) {
    const std::string& name = ClaimAt(*pod, i);
    if (name.empty() || NamesAmong(*pod, i, name)) continue;
    if (other == nullptr || !NamesAmong(*other, ClaimCount(other), name)) visit(name);
  }
}

}  // namespace internal

template <template <typename> class Atom>
BasicClaimIndex<Atom>::~BasicClaimIndex() {
  for (uint32_t claim = 0; claim < claim_names_.id_limit(); ++claim) {
    Record* record = records_.Find(claim);
    if (record == nullptr) continue;
    std::array<PodId, Record::kOwnPlaces> own;
    const uint32_t count = record->CopyOwn(&own);
    for (uint32_t i = 0; i < count; ++i) pod_names_->Release(own[i]);
    record->ForEachInBlocks([this](PodId pod) { pod_names_->Release(pod); });
    record->DeleteBlocks();
  }
}

template <template <typename> class Atom>
auto BasicClaimIndex<Atom>::Hold(std::string_view namespace_name, std::string_view claim) -> Held {
  const uint32_t number = claim_names_.Acquire(namespace_name, claim);
  if (number == kNoName) return {number, nullptr};
  records_.ReserveThrough(number);
  return {number, &records_[number]};
}

template <template <typename> class Atom>
void BasicClaimIndex<Atom>::Insert(std::string_view namespace_name, std::string_view claim) {
  const Held held = Hold(namespace_name, claim);
  if (held.record == nullptr) return;
  // It existed before: the reference that says so is there already.
  if (!held.record->SetExists(true)) claim_names_.Release(held.claim);
}

template <template <typename> class Atom>
void BasicClaimIndex<Atom>::Erase(std::string_view namespace_name, std::string_view claim) {
  const std::optional<uint32_t> known = claim_names_.AcquireKnown(namespace_name, claim);
  if (!known) return;
  Record* const record = records_.Find(*known);
  // It existed before: two references go, this call's and the one that said so.
  if (record != nullptr && record->SetExists(false)) claim_names_.Release(*known);
  claim_names_.Release(*known);
}

template <template <typename> class Atom>
template <typename Read>
bool BasicClaimIndex<Atom>::ReadRecord(std::string_view namespace_name, std::string_view claim,
                                       Read read) const {
  // Name and record are two cache misses; a prefetch makes them cost little more than one.
  const auto fetch = [this](uint32_t number) { __builtin_prefetch(records_.Find(number)); };
  return claim_names_.ReadKnown(namespace_name, claim, fetch,
                                [&](uint32_t number) { read(number, records_.Find(number)); });
}

template <template <typename> class Atom>
bool BasicClaimIndex<Atom>::Exists(std::string_view namespace_name, std::string_view claim) const {
  bool exists = false;
  const bool is_known = ReadRecord(namespace_name, claim, [&](uint32_t, const Record* record) {
    exists = record != nullptr && record->Exists();
  });
  return is_known && exists;
}

template <template <typename> class Atom>
void BasicClaimIndex<Atom>::Lookup(std::string_view namespace_name, std::string_view claim,
                                   PodList* pods) const {
  std::array<PodId, Record::kOwnPlaces> own;
  uint32_t count = 0;
  uint32_t number = 0;
  bool has_blocks = false;
  const bool is_known =
      ReadRecord(namespace_name, claim, [&](uint32_t known, const Record* record) {
        number = known;
        count = record == nullptr ? 0 : record->CopyOwn(&own);
        has_blocks = record != nullptr && record->HasBlocks();
      });
  if (!is_known) return;
  pods->insert(pods->end(), own.begin(), own.begin() + count);
  // The blocks belong to the number, and the number may stand for another claim by now. Then these
  // pods are too many, and their hints answer Skip.
  if (has_blocks) {
    records_[number].ForEachInBlocks([pods](PodId pod) { pods->push_back(pod); });
  }
}

template <template <typename> class Atom>
bool BasicClaimIndex<Atom>::Update(const Pod* before, const Pod* after) {
  if (internal::ClaimCount(before) == 0 && internal::ClaimCount(after) == 0) return true;
  const Pod& pod = after != nullptr ? *after : *before;
  if (before != nullptr && after != nullptr &&
      (before->name != after->name || before->namespace_name != after->namespace_name)) {
    return Update(nullptr, after) && Update(before, nullptr);
  }
  // Held during this call, so that the number stays the pod's.
  const PodId id = pod_names_->Acquire(pod.namespace_name, pod.name);
  if (id == kNoName) return false;
  const bool is_listed = ListBeyond(before, after, id);
  if (is_listed) {
    internal::ForEachClaimBeyond(
        before, after, [&](const std::string& claim) { Unlist(pod.namespace_name, claim, id); });
  }
  pod_names_->Release(id);
  return is_listed;
}

template <template <typename> class Atom>
bool BasicClaimIndex<Atom>::ListBeyond(const Pod* before, const Pod* after, PodId pod) {
  constexpr size_t kMostHaveFewer = 8;
  InlineVector<std::string_view, kMostHaveFewer> listed;
  bool is_refused = false;
  internal::ForEachClaimBeyond(after, before, [&](const std::string& claim) {
    if (is_refused) return;
    const Listing listing = List(after->namespace_name, claim, pod);
    if (listing == Listing::kNew) listed.push_back(claim);
    is_refused = listing == Listing::kRefused;
  });
  if (is_refused) {
    for (const std::string_view claim : listed) Unlist(after->namespace_name, claim, pod);
  }
  return !is_refused;
}

template <template <typename> class Atom>
auto BasicClaimIndex<Atom>::List(std::string_view namespace_name, std::string_view claim, PodId pod)
    -> Listing {
  const Held held = Hold(namespace_name, claim);
  if (held.record == nullptr) return Listing::kRefused;
  if (held.record->Lists(pod)) {
    claim_names_.Release(held.claim);  // `before` did not say so.
    return Listing::kThereAlready;
  }
  pod_names_->Retain(pod);
  held.record->Add(pod);  // The references to both names are the entry's.
  return Listing::kNew;
}

template <template <typename> class Atom>
void BasicClaimIndex<Atom>::Unlist(std::string_view namespace_name, std::string_view claim,
                                   PodId pod) {
  // Known: the entry that goes holds the name. If there is no entry, the number may be that of
  // another claim by now, where the pod is not listed either: its updates come one after the other.
  const std::optional<uint32_t> number = claim_names_.Find(namespace_name, claim);
  Record* const record = number ? records_.Find(*number) : nullptr;
  if (record == nullptr || !record->Remove(pod)) return;  // `before` was wrong.
  claim_names_.Release(*number);
  pod_names_->Release(pod);
}

}  // namespace schedq

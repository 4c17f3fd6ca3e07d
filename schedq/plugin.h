// Plugins from outside, in C++: a library of them with no more than the C interface between it and
// the program that loads it.
//
// Purpose: an author writes a class and names its functions; nothing that they throw leaves the
// library. Nothing of schedq is linked.
// When not to use it: a plugin that is built into a program is a value of hints/plugin.h.
// Example: examples/plugin.cc.
//
// Threads: each queue has an object of its own, made by its default constructor and destroyed with
// the queue. The functions are const and called from any thread, also concurrently; they must
// neither block nor call the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "schedq/schedq.h"

namespace schedq::outside {

// A pod as the call shows it; lives as long as the call.
class Pod {
 public:
  explicit Pod(const schedq_pod_view* view) : view_(*view) {}

  std::string_view namespace_name() const { return Text(SCHEDQ_POD_NAMESPACE); }
  std::string_view name() const { return Text(SCHEDQ_POD_NAME); }
  std::string_view uid() const { return Text(SCHEDQ_POD_UID); }
  std::string_view node_name() const { return Text(SCHEDQ_POD_NODE_NAME); }
  std::string_view group() const { return Text(SCHEDQ_POD_GROUP); }  // Empty: none.
  int32_t priority() const { return view_.functions->priority(&view_); }
  // "" when absent.
  std::string_view Label(const char* key) const { return view_.functions->label(&view_, key); }
  int64_t Request(const char* name) const { return view_.functions->request(&view_, name); }
  size_t Count(schedq_pod_list list) const { return view_.functions->count(&view_, list); }
  std::string_view Item(schedq_pod_list list, size_t i) const {
    return view_.functions->item(&view_, list, i);
  }
  std::string_view ItemValue(schedq_pod_list list, size_t i) const {
    return view_.functions->item_value(&view_, list, i);
  }

 private:
  std::string_view Text(schedq_pod_text field) const {
    return view_.functions->text(&view_, field);
  }
  schedq_pod_view view_;
};

// One version of the object that an event is about; lives as long as the call.
class Object {
 public:
  explicit Object(const schedq_object_view* view) : view_(*view) {}

  std::string_view resource() const { return Text(SCHEDQ_OBJECT_RESOURCE); }
  std::string_view namespace_name() const { return Text(SCHEDQ_OBJECT_NAMESPACE); }
  std::string_view name() const { return Text(SCHEDQ_OBJECT_NAME); }
  std::string_view uid() const { return Text(SCHEDQ_OBJECT_UID); }
  std::string_view Label(const char* key) const { return view_.functions->label(&view_, key); }
  bool allocated() const { return view_.functions->allocated(&view_) != 0; }
  bool unschedulable() const { return view_.functions->unschedulable(&view_) != 0; }
  uint64_t status_version() const { return view_.functions->status_version(&view_); }
  int64_t Allocatable(const char* name) const { return view_.functions->allocatable(&view_, name); }
  // Of AssignedPod and other kinds of pods.
  std::optional<Pod> pod() const {
    schedq_pod_view pod;
    if (view_.functions->pod(&view_, &pod) == 0) return std::nullopt;
    return Pod(&pod);
  }

 private:
  std::string_view Text(schedq_object_text field) const {
    return view_.functions->text(&view_, field);
  }
  schedq_object_view view_;
};

// What happened. Add has no `before`, Delete no `after`; both may be unknown.
class Change {
 public:
  explicit Change(const schedq_change* change) : change_(change) {}
  std::optional<Object> before() const { return Of(change_->before); }
  std::optional<Object> after() const { return Of(change_->after); }
  // The new version, else the old one.
  std::optional<Object> latest() const { return Of(schedq_change_latest(change_)); }

 private:
  static std::optional<Object> Of(const schedq_object_view* view) {
    if (view == nullptr) return std::nullopt;
    return Object(view);
  }
  const schedq_change* change_;
};

// Where a pre-queueing hint lists pods.
class PodList {
 public:
  explicit PodList(schedq_pods* pods) : pods_(pods) {}
  void Add(const char* namespace_name, const char* name) {
    pods_->functions->add(pods_, namespace_name, name);
  }
  // Every live pod that uses the claim.
  void AddUsersOfClaim(std::string_view namespace_name, std::string_view claim) {
    pods_->functions->add_users_of_claim(pods_, std::string(namespace_name).c_str(),
                                         std::string(claim).c_str());
  }

 private:
  schedq_pods* pods_;
};

// Other pods that wait for the plugin at Permit, by uid. Nothing happens where there is none.
class Waiting {
 public:
  explicit Waiting(schedq_waiting* waiting) : waiting_(waiting) {}
  void Allow(const std::string& uid) { waiting_->functions->allow(waiting_, uid.c_str()); }
  void Reject(const std::string& uid) { waiting_->functions->reject(waiting_, uid.c_str()); }

 private:
  schedq_waiting* waiting_;
};

// May a pod that has a node go there?
struct PermitAnswer {
  schedq_permit answer = SCHEDQ_PERMIT_ALLOW;
  int64_t timeout_ms = 0;

  static PermitAnswer Allow() { return {}; }
  static PermitAnswer Reject() { return {SCHEDQ_PERMIT_REJECT, 0}; }
  static PermitAnswer WaitFor(int64_t timeout_ms) { return {SCHEDQ_PERMIT_WAIT, timeout_ms}; }
};

enum class Hint : int32_t {
  kQueue = SCHEDQ_HINT_QUEUE,
  kSkip = SCHEDQ_HINT_SKIP,
  kError = SCHEDQ_HINT_ERROR,
};
enum class PreHint : int32_t {
  kAllPods = SCHEDQ_PRE_HINT_ALL_PODS,
  kListed = SCHEDQ_PRE_HINT_LISTED,
  kError = SCHEDQ_PRE_HINT_ERROR,
};

// The callbacks of class T. An exception is an error's answer.
template <typename T>
struct Callbacks {
  static void* Create(void*) noexcept {
    try {
      return new T();
    } catch (...) {
      return nullptr;
    }
  }
  static void Destroy(void* state) noexcept { delete static_cast<T*>(state); }

  // bool (const Pod&, std::string* message) const.
  template <auto kFunction>
  static int32_t PreEnqueue(void* state, const schedq_pod_view* pod,
                            schedq_message* message) noexcept {
    try {
      std::string text;
      const bool may_enter = (static_cast<const T*>(state)->*kFunction)(Pod(pod), &text);
      if (!may_enter) message->functions->write(message, text.c_str());
      return may_enter ? 1 : 0;
    } catch (...) {
      message->functions->write(message, "the plugin failed");
      return 0;
    }
  }
  // Hint (const Pod&, const Change&) const.
  template <auto kFunction>
  static schedq_hint QueueingHint(void* state, const schedq_pod_view* pod,
                                  const schedq_change* change) noexcept {
    try {
      return static_cast<schedq_hint>(
          (static_cast<const T*>(state)->*kFunction)(Pod(pod), Change(change)));
    } catch (...) {
      return SCHEDQ_HINT_ERROR;
    }
  }
  // PermitAnswer (const Pod&, std::string_view node, Waiting*) const.
  template <auto kFunction>
  static schedq_permit Permit(void* state, const schedq_pod_view* pod, const char* node,
                              schedq_waiting* waiting, int64_t* timeout_ms) noexcept {
    try {
      Waiting others(waiting);
      const PermitAnswer answer =
          (static_cast<const T*>(state)->*kFunction)(Pod(pod), std::string_view(node), &others);
      *timeout_ms = answer.timeout_ms;
      return answer.answer;
    } catch (...) {
      return SCHEDQ_PERMIT_REJECT;
    }
  }
  // void (const Pod&) const.
  template <auto kFunction>
  static void Unreserve(void* state, const schedq_pod_view* pod) noexcept {
    try {
      (static_cast<const T*>(state)->*kFunction)(Pod(pod));
    } catch (...) {
      // There is nobody to tell.
    }
  }
  // PreHint (const Change&, PodList*) const.
  template <auto kFunction>
  static schedq_pre_hint PreQueueingHint(void* state, const schedq_change* change,
                                         schedq_pods* pods) noexcept {
    try {
      PodList list(pods);
      return static_cast<schedq_pre_hint>(
          (static_cast<const T*>(state)->*kFunction)(Change(change), &list));
    } catch (...) {
      return SCHEDQ_PRE_HINT_ERROR;
    }
  }
};

// A plugin's name, functions and events. Text that is given lives as long as the library.
template <typename T>
class Describe {
 public:
  explicit Describe(const char* name) {
    plugin_.size = sizeof(plugin_);
    plugin_.name = name;
    plugin_.create = Callbacks<T>::Create;
    plugin_.destroy = Callbacks<T>::Destroy;
  }

  // What the owner of a pod reads when the plugin rejected it in an attempt.
  Describe& Rejecting(const char* message) {
    plugin_.rejection_message = message;
    return *this;
  }
  template <auto kFunction>
  Describe& BeforeEnqueue() {
    plugin_.pre_enqueue = Callbacks<T>::template PreEnqueue<kFunction>;
    return *this;
  }
  // What the scheduler asks when the pod has a node, and tells where it does not go there.
  template <auto kPermit, auto kUnreserve>
  Describe& AtPermit() {
    plugin_.permit = Callbacks<T>::template Permit<kPermit>;
    plugin_.unreserve = Callbacks<T>::template Unreserve<kUnreserve>;
    return *this;
  }
  template <auto kHint>
  Describe& On(const char* resource, const char* actions) {
    return Add({sizeof(schedq_registration), resource, actions,
                Callbacks<T>::template QueueingHint<kHint>, nullptr});
  }
  template <auto kHint, auto kPreHint>
  Describe& On(const char* resource, const char* actions) {
    return Add({sizeof(schedq_registration), resource, actions,
                Callbacks<T>::template QueueingHint<kHint>,
                Callbacks<T>::template PreQueueingHint<kPreHint>});
  }

  const schedq_plugin* Plugin() {
    pointers_.clear();
    for (const schedq_registration& each : registrations_) pointers_.push_back(&each);
    plugin_.registrations = pointers_.data();
    plugin_.registration_count = pointers_.size();
    return &plugin_;
  }

 private:
  Describe& Add(const schedq_registration& registration) {
    registrations_.push_back(registration);
    return *this;
  }

  schedq_plugin plugin_ = {};
  std::deque<schedq_registration> registrations_;
  std::vector<const schedq_registration*> pointers_;
};

// Keeps the descriptions as long as the library lives. Null when there is no memory.
template <typename... Descriptions>
const schedq_plugin_library* Library(Descriptions&&... descriptions) {
  static auto kept = std::make_tuple(std::forward<Descriptions>(descriptions)...);
  static const std::vector<const schedq_plugin*> plugins = std::apply(
      [](auto&... each) { return std::vector<const schedq_plugin*>{each.Plugin()...}; }, kept);
  static const schedq_plugin_library library = {sizeof(schedq_plugin_library), SCHEDQ_ABI_VERSION,
                                                static_cast<uint32_t>(plugins.size()),
                                                plugins.data()};
  return &library;
}

}  // namespace schedq::outside

// The library's entry symbol. The arguments are descriptions, one a plugin.
#define SCHEDQ_PLUGIN_LIBRARY(...)                                         \
  extern "C" const schedq_plugin_library* schedq_plugin_library_v1(void) { \
    try {                                                                  \
      return schedq::outside::Library(__VA_ARGS__);                        \
    } catch (...) {                                                        \
      return nullptr;                                                      \
    }                                                                      \
  }                                                                        \
  static_assert(SCHEDQ_ABI_VERSION == 1, "the entry symbol names the version")

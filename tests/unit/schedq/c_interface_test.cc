// Goal: the C interface does what the assembled queue does, takes other versions' structs, refuses
// what is wrong with a status and a message, and lets no exception out. Method: each function, and
// plugins of callbacks that note what they see or throw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/names/interner.h"
#include "schedq/schedq.h"

namespace schedq {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

schedq_pod PodNamed(const char* name) {
  schedq_pod pod = {};
  pod.size = sizeof(pod);
  pod.namespace_name = "ns";
  pod.name = name;
  return pod;
}

schedq_object ObjectNamed(const char* name) {
  schedq_object object = {};
  object.size = sizeof(object);
  object.namespace_name = "ns";
  object.name = name;
  return object;
}

// A plugin without state; its callbacks write into `seen`.
struct Seen {
  std::vector<std::string> texts;
  int states = 0;
  bool throws = false;
  bool may_enter = true;
};

schedq_hint ClaimHint(void* state, const schedq_pod_view* pod, const schedq_change* change) {
  auto* const seen = static_cast<Seen*>(state);
  if (seen->throws) throw std::runtime_error("hint");
  const schedq_object_view* const claim = schedq_change_latest(change);
  seen->texts.push_back(std::string("hint ") + schedq_pod_name_of(pod) + " " +
                        schedq_object_name(claim));
  return strcmp(pod->functions->item(pod, SCHEDQ_POD_CLAIMS, 0), schedq_object_name(claim)) == 0
             ? SCHEDQ_HINT_QUEUE
             : SCHEDQ_HINT_SKIP;
}

schedq_pre_hint ClaimPreHint(void* state, const schedq_change* change, schedq_pods* pods) {
  auto* const seen = static_cast<Seen*>(state);
  if (seen->throws) throw 1;
  const schedq_object_view* const claim = schedq_change_latest(change);
  pods->functions->add_users_of_claim(pods, schedq_object_namespace(claim),
                                      schedq_object_name(claim));
  pods->functions->add(pods, "ns", "not there");
  return SCHEDQ_PRE_HINT_LISTED;
}

int32_t MayEnter(void* state, const schedq_pod_view*, schedq_message* message) {
  auto* const seen = static_cast<Seen*>(state);
  if (seen->throws) throw std::runtime_error("pre-enqueue");
  if (seen->may_enter) return 1;
  message->functions->write(message, "not");
  message->functions->write(message, " yet");
  return 0;
}

class CInterface : public testing::TestWithParam<const char*> {
 protected:
  CInterface() {
    registration_.size = sizeof(registration_);
    registration_.resource = "ResourceClaim";
    registration_.actions = "Add,Update";
    registration_.hint = ClaimHint;
    registration_.pre_hint = ClaimPreHint;
    plugin_.size = sizeof(plugin_);
    plugin_.name = "Outside";
    plugin_.user_data = &seen_;
    plugin_.pre_enqueue = MayEnter;
    plugin_.registrations = &registrations_;
    plugin_.registration_count = 1;
    options_.size = sizeof(options_);
    options_.engine = GetParam();
    options_.backoff_ms_max = -1;
    options_.leaves_out_builtin_plugins = 1;
    options_.plugins = &plugins_;
    options_.plugin_count = 1;
  }
  ~CInterface() override { schedq_queue_destroy(queue_); }

  void Create() { ASSERT_EQ(schedq_queue_create(&options_, &queue_), SCHEDQ_OK) << Why(); }
  // "" when a queue can be made.
  std::string Refusal() {
    schedq_queue* queue = nullptr;
    const schedq_status status = schedq_queue_create(&options_, &queue);
    if (status == SCHEDQ_OK) {
      schedq_queue_destroy(queue);
      return "";
    }
    EXPECT_EQ(status, SCHEDQ_INVALID);
    EXPECT_EQ(queue, nullptr);
    return Why();
  }
  static std::string Why() { return schedq_last_error(); }

  schedq_place PlaceOf(const char* name) {
    schedq_place place = SCHEDQ_PLACE_ABSENT;
    EXPECT_EQ(schedq_queue_where(queue_, "ns", name, &place), SCHEDQ_OK);
    return place;
  }
  schedq_attempt* Pop() {
    schedq_attempt* attempt = nullptr;
    EXPECT_EQ(schedq_queue_try_pop(queue_, &attempt), SCHEDQ_OK);
    return attempt;
  }
  void AddRejected(const char* name, const char* claim) {
    schedq_pod pod = PodNamed(name);
    pod.claims = &claim;
    pod.claim_count = 1;
    ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK) << Why();
    schedq_attempt* const attempt = Pop();
    const char* const plugin = "Outside";
    ASSERT_EQ(schedq_attempt_fail(attempt, &plugin, 1, nullptr, 0), SCHEDQ_OK) << Why();
    schedq_attempt_release(attempt);
  }

  Seen seen_;
  schedq_registration registration_ = {};
  const schedq_registration* registrations_ = &registration_;
  schedq_plugin plugin_ = {};
  const schedq_plugin* plugins_ = &plugin_;
  schedq_queue_options options_ = {};
  schedq_queue* queue_ = nullptr;
};

TEST_P(CInterface, SaysItsVersion) {
  EXPECT_THAT(schedq_version(), HasSubstr("."));
  EXPECT_EQ(schedq_abi_version(), SCHEDQ_ABI_VERSION);
}

TEST_P(CInterface, HasDefaults) {
  schedq_queue* queue = nullptr;
  ASSERT_EQ(schedq_queue_create(nullptr, &queue), SCHEDQ_OK) << Why();
  schedq_queue_destroy(queue);
}

TEST_P(CInterface, LeadsAPodThroughItsLife) {
  Create();
  schedq_pod pod = PodNamed("a");
  const std::array<schedq_label, 2> labels = {{{"zone", "z"}, {"app", "web"}}};
  pod.labels = labels.data();
  pod.label_count = labels.size();
  const char* const claim = "c";
  pod.claims = &claim;
  pod.claim_count = 1;
  pod.priority = 7;
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK) << Why();
  pod.priority = 8;
  ASSERT_EQ(schedq_queue_pod_update(queue_, nullptr, &pod), SCHEDQ_OK) << Why();

  schedq_attempt* attempt = Pop();
  const schedq_pod_view* const view = schedq_attempt_pod(attempt);
  EXPECT_THAT(schedq_pod_name_of(view), StrEq("a"));
  EXPECT_THAT(schedq_pod_namespace(view), StrEq("ns"));
  EXPECT_EQ(schedq_pod_priority(view), 8);
  EXPECT_THAT(schedq_pod_label(view, "app"), StrEq("web"));
  EXPECT_THAT(schedq_pod_label(view, "none"), StrEq(""));
  EXPECT_EQ(view->functions->count(view, SCHEDQ_POD_LABELS), 2u);
  EXPECT_THAT(view->functions->item(view, SCHEDQ_POD_LABELS, 0), StrEq("app"));
  EXPECT_THAT(view->functions->item_value(view, SCHEDQ_POD_LABELS, 0), StrEq("web"));
  EXPECT_THAT(view->functions->item(view, SCHEDQ_POD_CLAIMS, 1), StrEq(""));
  EXPECT_EQ(schedq_attempt_count(attempt), 1u);

  const char* const plugin = "Outside";
  EXPECT_EQ(schedq_attempt_fail(attempt, &plugin, 1, nullptr, 0), SCHEDQ_OK);
  EXPECT_EQ(schedq_attempt_fail(attempt, &plugin, 1, nullptr, 0), SCHEDQ_ENDED);
  EXPECT_THAT(Why(), HasSubstr("ended already"));
  schedq_attempt_release(attempt);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_UNSCHEDULABLE);

  const schedq_pod_name name = {"ns", "a"};
  EXPECT_EQ(schedq_queue_activate(queue_, &name, 1), SCHEDQ_OK);
  attempt = Pop();
  EXPECT_EQ(schedq_attempt_done(attempt), SCHEDQ_OK);
  EXPECT_EQ(schedq_attempt_bind(attempt), SCHEDQ_OK);
  schedq_attempt_release(attempt);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_ABSENT);
}

TEST_P(CInterface, HearsOfClaimsThroughItsNarrowing) {
  Create();
  AddRejected("a", "c1");
  AddRejected("b", "c2");
  const schedq_object claim = ObjectNamed("c2");
  ASSERT_EQ(schedq_queue_claim_changed(queue_, nullptr, &claim), SCHEDQ_OK) << Why();
  EXPECT_THAT(seen_.texts, testing::ElementsAre("hint b c2"));
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_UNSCHEDULABLE);
  EXPECT_EQ(PlaceOf("b"), SCHEDQ_PLACE_ACTIVE);
  EXPECT_EQ(schedq_queue_event(queue_, "ResourceClaim", "Add", nullptr, &claim), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_event(queue_, "PersistentVolume", "Delete", &claim, nullptr),
            SCHEDQ_NOTHING);
}

TEST_P(CInterface, TakesACallbackThatThrowsForAnError) {
  Create();
  AddRejected("a", "c1");
  seen_.throws = true;
  const schedq_object claim = ObjectNamed("c9");
  ASSERT_EQ(schedq_queue_claim_changed(queue_, nullptr, &claim), SCHEDQ_OK) << Why();
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_GATED);  // PreEnqueue failed when it was to come back.
  seen_.throws = false;
  const schedq_pod_name name = {"ns", "a"};
  EXPECT_EQ(schedq_queue_activate(queue_, &name, 1), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_ACTIVE);
}

TEST_P(CInterface, GatesWhatMayNotEnter) {
  Create();
  seen_.may_enter = false;
  const schedq_pod pod = PodNamed("a");
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_GATED);
  schedq_counts counts = {};
  counts.size = sizeof(counts);
  ASSERT_EQ(schedq_queue_counts(queue_, &counts), SCHEDQ_OK);
  EXPECT_EQ(counts.gated, 1u);
}

TEST_P(CInterface, BindsDeletesAndNominates) {
  Create();
  const schedq_pod pod = PodNamed("a");
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_nominate(queue_, "ns", "a", "node"), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_pod_bound(queue_, "ns", "a", ""), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_queue_pod_bound(queue_, "ns", "a", "node"), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_pod_bound(queue_, "ns", "a", "node"), SCHEDQ_NOT_FOUND);
  EXPECT_EQ(Why(), "there is no pod ns/a in the queue");
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_pod_delete(queue_, &pod), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_pod_delete(queue_, &pod), SCHEDQ_NOT_FOUND);
  EXPECT_EQ(schedq_queue_nominate(queue_, "ns", "a", "node"), SCHEDQ_NOT_FOUND);
}

TEST_P(CInterface, ReleasesAnOpenAttemptAsAnError) {
  Create();
  const schedq_pod pod = PodNamed("a");
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK);
  schedq_attempt_release(Pop());
  schedq_counts counts = {};
  counts.size = sizeof(counts);
  ASSERT_EQ(schedq_queue_counts(queue_, &counts), SCHEDQ_OK);
  EXPECT_EQ(counts.in_flight, 0u);
  EXPECT_NE(PlaceOf("a"), SCHEDQ_PLACE_ABSENT);
}

TEST_P(CInterface, NothingToPopIsNoError) {
  Create();
  schedq_attempt* attempt = nullptr;
  EXPECT_EQ(schedq_queue_try_pop(queue_, &attempt), SCHEDQ_NOTHING);
  EXPECT_EQ(schedq_queue_pop(queue_, 1000, &attempt), SCHEDQ_NOTHING);
  ASSERT_EQ(schedq_queue_close(queue_), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_pop(queue_, -1, &attempt), SCHEDQ_NOTHING);
  EXPECT_EQ(attempt, nullptr);
}

TEST_P(CInterface, RunsFlushesAndShowsMetrics) {
  Create();
  EXPECT_EQ(schedq_queue_run(queue_), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_flush_backoff(queue_), SCHEDQ_OK);
  EXPECT_EQ(schedq_queue_flush_unschedulable(queue_), SCHEDQ_OK);
  char* text = nullptr;
  ASSERT_EQ(schedq_queue_metrics(queue_, &text), SCHEDQ_OK);
  EXPECT_THAT(text, HasSubstr("scheduler_pending_pods"));
  schedq_text_free(text);
}

// A struct as a later version has it.
template <typename T>
struct Later {
  T now;
  uint64_t further;
};

TEST_P(CInterface, TakesStructsOfOtherVersions) {
  Later<schedq_queue_options> later = {options_, 0};
  later.now.size = sizeof(later);
  schedq_queue* queue = nullptr;
  ASSERT_EQ(schedq_queue_create(&later.now, &queue), SCHEDQ_OK) << Why();
  schedq_queue_destroy(queue);
  later.further = 1;
  EXPECT_EQ(schedq_queue_create(&later.now, &queue), SCHEDQ_INVALID);
  EXPECT_THAT(Why(),
              HasSubstr("options: it is of a later version and asks for what this one lacks"));

  Create();
  schedq_pod pod = PodNamed("a");
  pod.size = offsetof(schedq_pod, priority);
  pod.priority = 7;  // Not there for this caller.
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK) << Why();
  schedq_attempt* const attempt = Pop();
  EXPECT_EQ(schedq_pod_priority(schedq_attempt_pod(attempt)), 0);
  schedq_attempt_release(attempt);

  Later<schedq_counts> counts = {{}, 5};
  counts.now.size = sizeof(counts);
  ASSERT_EQ(schedq_queue_counts(queue_, &counts.now), SCHEDQ_OK);
  EXPECT_EQ(counts.further, 0u);
  schedq_counts first = {};
  first.size = offsetof(schedq_counts, backoff);
  first.backoff = 99;
  ASSERT_EQ(schedq_queue_counts(queue_, &first), SCHEDQ_OK);
  EXPECT_EQ(first.backoff, 99u);
  for (const size_t size : {size_t{0}, size_t{4}, size_t{1} << 20}) {
    first.size = size;
    EXPECT_EQ(schedq_queue_counts(queue_, &first), SCHEDQ_INVALID);
    EXPECT_EQ(Why(), "counts: size is " + std::to_string(size) + ", expected sizeof its type, 72");
  }
}

TEST_P(CInterface, RefusesWrongOptions) {
  options_.engine = "diesel";
  EXPECT_EQ(Refusal(), "engine: unknown engine 'diesel', expected lockfree or classic");
  options_.engine = nullptr;
  const schedq_gate gate = {"Nope", 1};
  options_.gates = &gate;
  options_.gate_count = 1;
  EXPECT_EQ(Refusal(), "there is no gate 'Nope'");
  options_.gates = nullptr;
  EXPECT_EQ(Refusal(), "gates is null, expected 1 of them");
  options_.gate_count = 0;
  options_.backoff_ms_initial = -1;
  EXPECT_EQ(Refusal(), "backoff_ms_initial is -1, expected 0 or more");
  options_.backoff_ms_initial = 0;
  const char* const file = "/nowhere/plugin.so";
  options_.plugin_files = &file;
  options_.plugin_file_count = 1;
  EXPECT_THAT(Refusal(), HasSubstr("/nowhere/plugin.so: there is no such file, expected"));
}

TEST_P(CInterface, RefusesWrongPlugins) {
  plugin_.name = "";
  EXPECT_EQ(Refusal(), "plugin: name is empty");
  plugin_.name = "NodeAffinity";
  options_.leaves_out_builtin_plugins = 0;
  EXPECT_THAT(Refusal(), HasSubstr("NodeAffinity"));
  plugin_.name = "Outside";
  registration_.resource = "Nod";
  EXPECT_EQ(Refusal(),
            "plugin Outside: registration 0: unknown resource 'Nod', expected one such as Node, "
            "AssignedPod, ResourceClaim or *");
  registration_.resource = "Node";
  registration_.actions = "Add,,Delete";
  EXPECT_THAT(Refusal(), HasSubstr("registration 0: unknown action ''"));
  registration_.actions = "Add";
  plugin_.create = [](void*) -> void* { return nullptr; };
  EXPECT_EQ(Refusal(), "plugin Outside: create returned nothing, expected a state");
  plugin_.create = [](void*) -> void* { throw std::runtime_error("no\nroom"); };
  EXPECT_EQ(Refusal(), "plugin Outside: create threw 'no room', expected a state");
}

TEST_P(CInterface, SaysWhenThereIsNoRoom) {
  options_.pods_max = 1;
  Create();
  schedq_pod pod = PodNamed("a");
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK) << Why();
  schedq_pod other = PodNamed("b");
  EXPECT_EQ(schedq_queue_pod_add(queue_, &other), SCHEDQ_FULL);
  EXPECT_THAT(Why(),
              StrEq("add: pod ns/b: the queue is full, expected at most 1 pods at one time"));
  EXPECT_EQ(PlaceOf("b"), SCHEDQ_PLACE_ABSENT);
  ASSERT_EQ(schedq_queue_pod_delete(queue_, &pod), SCHEDQ_OK) << Why();
  EXPECT_EQ(schedq_queue_pod_add(queue_, &other), SCHEDQ_OK) << Why();

  const std::string long_name(Interner::kTextBytesMax + 1, 'x');
  EXPECT_EQ(schedq_queue_nominate(queue_, "ns", "b", long_name.c_str()), SCHEDQ_INVALID);
  const char* const claim = long_name.c_str();
  pod.claims = &claim;
  pod.claim_count = 1;
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  pod.name = long_name.c_str();
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_THAT(Why(), HasSubstr("expected at most 16777215"));
}

TEST_P(CInterface, TakesTheLongestTimes) {
  options_.backoff_ms_initial = INT64_MAX;
  options_.backoff_ms_max = INT64_MAX;
  options_.in_unschedulable_ms_max = INT64_MAX;
  Create();
  AddRejected("a", "c1");
  ASSERT_EQ(schedq_queue_flush_unschedulable(queue_), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_UNSCHEDULABLE);
}

TEST_P(CInterface, GivesEachQueueAStateOfItsOwn) {
  plugin_.create = [](void* user_data) -> void* {
    ++static_cast<Seen*>(user_data)->states;
    return user_data;
  };
  plugin_.destroy = [](void* state) { --static_cast<Seen*>(state)->states; };
  Create();
  schedq_queue* second = nullptr;
  ASSERT_EQ(schedq_queue_create(&options_, &second), SCHEDQ_OK);
  EXPECT_EQ(seen_.states, 2);
  schedq_queue_destroy(second);
  EXPECT_EQ(seen_.states, 1);
}

TEST_P(CInterface, RefusesWhatIsNotThere) {
  Create();
  schedq_pod pod = PodNamed("a");
  schedq_attempt* attempt = nullptr;
  EXPECT_EQ(schedq_queue_pod_add(nullptr, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "queue is null");
  EXPECT_EQ(schedq_queue_pod_add(queue_, nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod is null");
  EXPECT_EQ(schedq_queue_try_pop(queue_, nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_attempt_bind(nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_queue_pod_update(queue_, nullptr, &pod), SCHEDQ_NOT_FOUND);
  pod.label_count = 2;
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod ns/a: labels is null, expected 2 of them");
  pod = PodNamed("");
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod: name is empty");
  pod = PodNamed("a");
  pod.namespace_name = nullptr;
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod a: namespace_name is empty, expected one such as default");
  EXPECT_EQ(schedq_queue_event(queue_, "Nod", "Add", nullptr, nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_queue_event(queue_, "Node", "Ad", nullptr, nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_queue_node_changed(queue_, nullptr, nullptr), SCHEDQ_INVALID);
  pod = PodNamed("a");
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK);
  schedq_pod other = pod;
  other.uid = "2";
  EXPECT_EQ(schedq_queue_pod_update(queue_, nullptr, &other), SCHEDQ_INVALID);
  attempt = Pop();
  const char* const nobody = "Nobody";
  EXPECT_EQ(schedq_attempt_fail(attempt, &nobody, 1, nullptr, 0), SCHEDQ_NOT_FOUND);
  EXPECT_THAT(Why(), HasSubstr("Nobody"));
  EXPECT_EQ(schedq_attempt_bind(attempt), SCHEDQ_OK);  // It was still open.
  schedq_attempt_release(attempt);
  schedq_attempt_release(nullptr);
  schedq_queue_destroy(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Engines, CInterface, testing::Values("lockfree", "classic"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace schedq

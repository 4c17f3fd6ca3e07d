/* The C interface of schedq: a scheduling queue to embed, and what plugins of it are made of.
 *
 * Purpose: programs and plugins in C, and in every language that can call C. C++ programs may use
 * schedq/assembled_queue.h instead, C++ plugins schedq/plugin.h.
 * Examples: examples/embed_c.c, examples/plugin_c.c.
 *
 * Threads: every function that takes a queue may be called from any thread at any time, but for
 * schedq_queue_destroy. Two changes of one pod, one claim or one group must come in their order. An
 * attempt belongs to one thread at a time. With the lock-free engine no function but
 * schedq_queue_pop, schedq_queue_run and schedq_queue_close waits for another thread.
 * Lifetime: what is given to a function is copied before it returns, unless its comment says
 * otherwise. Text ends with a zero byte and is UTF-8; a null pointer stands for "".
 * Failures: a schedq_status, and the reason in schedq_last_error. No exception leaves a function.
 * Versions: each struct that may grow begins with its size, which the caller sets to sizeof its
 * type. A function takes smaller ones (what they lack counts as 0) and larger ones whose further
 * bytes are 0, and refuses others with SCHEDQ_INVALID. 0 always stands for the default. */
#ifndef SCHEDQ_SCHEDQ_H
#define SCHEDQ_SCHEDQ_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "schedq runs on Linux"
#endif
#define SCHEDQ_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Names are those of C. NOLINTBEGIN(readability-identifier-naming) */

/* The version of this interface. Another one is another symbol of plugin libraries. */
#define SCHEDQ_ABI_VERSION 1u

typedef enum schedq_status {
  SCHEDQ_OK = 0,
  SCHEDQ_NOTHING = 1,   /* Nothing to give, or nobody who wants it; no error. */
  SCHEDQ_INVALID = 2,   /* An argument is wrong. */
  SCHEDQ_NOT_FOUND = 3, /* There is no such pod or plugin. */
  SCHEDQ_ENDED = 4,     /* The attempt has ended, or has gone further than this function allows. */
  SCHEDQ_NO_MEMORY = 5,
  SCHEDQ_INTERNAL = 6, /* A bug in schedq. */
  SCHEDQ_FULL = 7      /* There is no room for what is new; nothing has changed. Try again later. */
} schedq_status;

/* "0.1.0". Any thread; the text lives as long as the program. */
SCHEDQ_EXPORT const char* schedq_version(void);
/* SCHEDQ_ABI_VERSION of the library that runs. Any thread. */
SCHEDQ_EXPORT uint32_t schedq_abi_version(void);
/* Why this thread's last call that failed did so, in one line; "" before the first. The text lives
 * until the thread's next call of the library. */
SCHEDQ_EXPORT const char* schedq_last_error(void);
/* Frees text that a function gave as `char**`. Null is allowed. Any thread. */
SCHEDQ_EXPORT void schedq_text_free(char* text);

/* --- Objects of the cluster, as they are given to a queue. */

typedef struct schedq_label {
  const char* key;
  const char* value;
} schedq_label;

/* cpu in millicores, memory in bytes, others in units. */
typedef struct schedq_quantity {
  const char* name;
  int64_t amount;
} schedq_quantity;

typedef struct schedq_taint {
  const char* key;
  const char* value;
  const char* effect;
} schedq_taint;

typedef struct schedq_toleration {
  const char* key; /* "" with `exists`: every taint. */
  const char* value;
  const char* effect; /* "": every effect. */
  int32_t exists;     /* Not 0: operator Exists instead of Equal. */
} schedq_toleration;

/* A claim that the control plane generated from a template of the pod. */
typedef struct schedq_generated_claim {
  const char* pod_claim_name;
  const char* claim_name; /* "": none was needed. */
} schedq_generated_claim;

typedef struct schedq_condition {
  const char* type;
  const char* status;
  const char* reason;
  const char* message;
} schedq_condition;

/* The node's label `key` has one of `values`. */
typedef struct schedq_affinity_term {
  const char* key;
  const char* const* values;
  size_t value_count;
} schedq_affinity_term;

/* One version of a pod. Lists need no order. */
typedef struct schedq_pod {
  size_t size;
  const char* namespace_name; /* Required, as is the name. */
  const char* name;
  const char* uid;
  const char* node_name; /* Not "": it is assigned to this node. */
  const char* nominated_node_name;
  int32_t priority;
  int32_t reserved; /* 0. */
  const schedq_label* labels;
  size_t label_count;
  const char* const* scheduling_gates;
  size_t scheduling_gate_count;
  const char* const* claims; /* ResourceClaims that its spec names, of its namespace. */
  size_t claim_count;
  const char* const* claim_templates; /* Entries of its spec whose claims are generated. */
  size_t claim_template_count;
  const schedq_generated_claim* generated_claims;
  size_t generated_claim_count;
  const schedq_toleration* tolerations;
  size_t toleration_count;
  const schedq_affinity_term* node_affinity; /* All must hold. */
  size_t node_affinity_count;
  const schedq_label* node_selector;
  size_t node_selector_count;
  const schedq_quantity* requests;
  size_t request_count;
  const schedq_condition* conditions;
  size_t condition_count;
  const char* group; /* Not "": the PodGroup of its namespace whose member it is; needs a uid. */
} schedq_pod;

typedef enum schedq_group_kind {
  SCHEDQ_GROUP_POD_GROUP = 0,
  SCHEDQ_GROUP_COMPOSITE = 1 /* CompositePodGroup: its groups and composites name it as parent. */
} schedq_group_kind;

/* One version of a group of pods. Only min_count changes. */
typedef struct schedq_group {
  size_t size;
  int32_t kind; /* Of schedq_group_kind. */
  int32_t priority;
  const char* namespace_name; /* Required, as is the name. */
  const char* name;
  int64_t min_count;  /* 0: not a gang. A composite has none. */
  const char* parent; /* Not "": a composite of its namespace. */
} schedq_group;

/* One version of any other object. */
typedef struct schedq_object {
  size_t size;
  const char* namespace_name;
  const char* name;
  const char* uid;
  const schedq_label* labels;
  size_t label_count;
  int32_t allocated;       /* ResourceClaim: not 0 when it has an allocation. */
  int32_t unschedulable;   /* Node: not 0 when it takes no pods. */
  uint64_t status_version; /* ResourceClaim: another number when its status is another. */
  const schedq_quantity* allocatable; /* Node. */
  size_t allocatable_count;
  const schedq_taint* taints; /* Node. */
  size_t taint_count;
  const schedq_pod* pod; /* AssignedPod and other kinds of pods. */
} schedq_object;

typedef struct schedq_pod_name {
  const char* namespace_name;
  const char* name;
} schedq_pod_name;

/* --- What callbacks see. A view and what it gives live until the callback returns, one of an
 * attempt until the attempt is released. Any thread may read one. Use the functions below, which
 * need no library at link time. */

typedef enum schedq_pod_text {
  SCHEDQ_POD_NAMESPACE = 0,
  SCHEDQ_POD_NAME = 1,
  SCHEDQ_POD_UID = 2,
  SCHEDQ_POD_NODE_NAME = 3,
  SCHEDQ_POD_NOMINATED_NODE_NAME = 4,
  SCHEDQ_POD_GROUP = 5
} schedq_pod_text;

typedef enum schedq_pod_list {
  SCHEDQ_POD_SCHEDULING_GATES = 0,
  SCHEDQ_POD_CLAIMS = 1,
  SCHEDQ_POD_CLAIM_TEMPLATES = 2,
  SCHEDQ_POD_GENERATED_CLAIMS = 3, /* The claims' names. */
  SCHEDQ_POD_LABELS = 4,           /* Pairs. */
  SCHEDQ_POD_NODE_SELECTOR = 5     /* Pairs. */
} schedq_pod_list;

typedef enum schedq_object_text {
  SCHEDQ_OBJECT_NAMESPACE = 0,
  SCHEDQ_OBJECT_NAME = 1,
  SCHEDQ_OBJECT_UID = 2,
  SCHEDQ_OBJECT_RESOURCE = 3 /* "Node", "ResourceClaim", ... */
} schedq_object_text;

typedef struct schedq_pod_view schedq_pod_view;
typedef struct schedq_object_view schedq_object_view;
typedef struct schedq_message schedq_message;
typedef struct schedq_pods schedq_pods;

/* Unknown fields and lists, and items beyond a list's end, are "" and 0. */
typedef struct schedq_pod_functions {
  size_t size;
  const char* (*text)(const schedq_pod_view* pod, int32_t field);
  int32_t (*priority)(const schedq_pod_view* pod);
  size_t (*count)(const schedq_pod_view* pod, int32_t list);
  const char* (*item)(const schedq_pod_view* pod, int32_t list, size_t i);
  const char* (*item_value)(const schedq_pod_view* pod, int32_t list, size_t i); /* Of pairs. */
  const char* (*label)(const schedq_pod_view* pod, const char* key);
  int64_t (*request)(const schedq_pod_view* pod, const char* name);
} schedq_pod_functions;
struct schedq_pod_view {
  const schedq_pod_functions* functions;
  const void* content;
};

typedef struct schedq_object_functions {
  size_t size;
  const char* (*text)(const schedq_object_view* object, int32_t field);
  const char* (*label)(const schedq_object_view* object, const char* key);
  int32_t (*allocated)(const schedq_object_view* object);
  int32_t (*unschedulable)(const schedq_object_view* object);
  uint64_t (*status_version)(const schedq_object_view* object);
  int64_t (*allocatable)(const schedq_object_view* object, const char* name);
  /* Not 0: the object is a pod, which `*pod` shows now. */
  int32_t (*pod)(const schedq_object_view* object, schedq_pod_view* pod);
} schedq_object_functions;
struct schedq_object_view {
  const schedq_object_functions* functions;
  const void* content;
};

/* The old and the new version of the object that an event is about. No `before` when it was added,
 * no `after` when it was deleted; both may be unknown. */
typedef struct schedq_change {
  size_t size;
  const schedq_object_view* before;
  const schedq_object_view* after;
} schedq_change;

/* Where a callback writes text. */
typedef struct schedq_message_functions {
  size_t size;
  void (*write)(schedq_message* message, const char* text); /* Appends. */
} schedq_message_functions;
struct schedq_message {
  const schedq_message_functions* functions;
  void* content;
};

/* Where a pre-queueing hint lists pods. Pods that are not queued do no harm. */
typedef struct schedq_pods_functions {
  size_t size;
  void (*add)(schedq_pods* pods, const char* namespace_name, const char* name);
  /* Every live pod that uses the claim. */
  void (*add_users_of_claim)(schedq_pods* pods, const char* namespace_name, const char* claim);
} schedq_pods_functions;
struct schedq_pods {
  const schedq_pods_functions* functions;
  void* content;
};

/* Pods that wait for the plugin at Permit, by their uids. Nothing happens where there is none. */
typedef struct schedq_waiting schedq_waiting;
typedef struct schedq_waiting_functions {
  size_t size;
  void (*allow)(schedq_waiting* waiting, const char* uid);
  void (*reject)(schedq_waiting* waiting, const char* uid);
} schedq_waiting_functions;
struct schedq_waiting {
  const schedq_waiting_functions* functions;
  void* content;
};

static inline const char* schedq_pod_namespace(const schedq_pod_view* pod) {
  return pod->functions->text(pod, SCHEDQ_POD_NAMESPACE);
}
static inline const char* schedq_pod_name_of(const schedq_pod_view* pod) {
  return pod->functions->text(pod, SCHEDQ_POD_NAME);
}
static inline int32_t schedq_pod_priority(const schedq_pod_view* pod) {
  return pod->functions->priority(pod);
}
/* "" when absent. */
static inline const char* schedq_pod_label(const schedq_pod_view* pod, const char* key) {
  return pod->functions->label(pod, key);
}
static inline int64_t schedq_pod_request(const schedq_pod_view* pod, const char* name) {
  return pod->functions->request(pod, name);
}
static inline const char* schedq_object_name(const schedq_object_view* object) {
  return object->functions->text(object, SCHEDQ_OBJECT_NAME);
}
static inline const char* schedq_object_namespace(const schedq_object_view* object) {
  return object->functions->text(object, SCHEDQ_OBJECT_NAMESPACE);
}
static inline const char* schedq_object_label(const schedq_object_view* object, const char* key) {
  return object->functions->label(object, key);
}
/* The new version, else the old one; may be null. */
static inline const schedq_object_view* schedq_change_latest(const schedq_change* change) {
  return change->after != NULL ? change->after : change->before;
}

/* --- Plugins. Callbacks are called from any thread, also concurrently, and must neither block nor
 * call the queue. One that throws (it was written in C++) counts as one that answers an error. */

typedef enum schedq_hint {
  SCHEDQ_HINT_QUEUE = 0,
  SCHEDQ_HINT_SKIP = 1,
  SCHEDQ_HINT_ERROR = 2 /* Counts as QUEUE. */
} schedq_hint;

typedef enum schedq_pre_hint {
  SCHEDQ_PRE_HINT_ALL_PODS = 0,
  SCHEDQ_PRE_HINT_LISTED = 1,
  SCHEDQ_PRE_HINT_ERROR = 2 /* Counts as ALL_PODS. */
} schedq_pre_hint;

/* May the pod enter the queue? 0: no, and `message` says why, in words for its owner. */
typedef int32_t (*schedq_pre_enqueue_function)(void* state, const schedq_pod_view* pod,
                                               schedq_message* message);
/* Could the change make `pod` schedulable, which this plugin rejected? May answer SKIP only if it
 * cannot. */
typedef schedq_hint (*schedq_hint_function)(void* state, const schedq_pod_view* pod,
                                            const schedq_change* change);
/* Which pods should the hint be asked about? Asked once an event. May leave a pod out only if the
 * hint beside it would answer SKIP for it. */
typedef schedq_pre_hint (*schedq_pre_hint_function)(void* state, const schedq_change* change,
                                                    schedq_pods* pods);

typedef enum schedq_permit {
  SCHEDQ_PERMIT_ALLOW = 0,
  SCHEDQ_PERMIT_REJECT = 1,
  SCHEDQ_PERMIT_WAIT = 2 /* For `*timeout_ms`, at most 15 minutes; afterwards it is rejected. */
} schedq_permit;

/* The pod has a node: may it go there? Asked by a scheduler around the queue, such as that of
 * `schedq run`, not by the queue. `waiting` is for other pods, and valid during the call. */
typedef schedq_permit (*schedq_permit_function)(void* state, const schedq_pod_view* pod,
                                                const char* node, schedq_waiting* waiting,
                                                int64_t* timeout_ms);
/* A pod for which permit was asked does not go to its node after all. */
typedef void (*schedq_unreserve_function)(void* state, const schedq_pod_view* pod);

typedef struct schedq_registration {
  size_t size;
  const char* resource;              /* "Node", "AssignedPod", "ResourceClaim", ..., "*". */
  const char* actions;               /* "Add,UpdateNodeLabel"; "Update", "All". */
  schedq_hint_function hint;         /* Null: QUEUE. */
  schedq_pre_hint_function pre_hint; /* Null: all pods. */
} schedq_registration;

typedef struct schedq_plugin {
  size_t size;
  const char* name; /* Required; no other plugin of the queue has it. */
  /* What the owner of a pod reads when this plugin rejected it in an attempt. */
  const char* rejection_message;
  void* user_data;
  /* Makes what the callbacks of one queue are given as `state`; a null answer refuses the queue.
   * Null: they are given user_data. */
  void* (*create)(void* user_data);
  void (*destroy)(void* state); /* Of what create made, when the queue is gone. May be null. */
  schedq_pre_enqueue_function pre_enqueue; /* Null: every pod may enter. */
  const schedq_registration* const* registrations;
  size_t registration_count;
  /* Not known to libraries that were built before they came. */
  schedq_permit_function permit;       /* Null: every pod may go to its node. */
  schedq_unreserve_function unreserve; /* Null: there is nothing to forget. */
} schedq_plugin;

/* What a plugin library tells of itself. It lives as long as the library, which is never closed. */
typedef struct schedq_plugin_library {
  size_t size;
  uint32_t abi_version; /* SCHEDQ_ABI_VERSION. */
  uint32_t plugin_count;
  const schedq_plugin* const* plugins;
} schedq_plugin_library;

/* The one symbol of a plugin library, which its author defines. Called once, by the thread that
 * loads it. Null: it refuses to be loaded. */
SCHEDQ_EXPORT const schedq_plugin_library* schedq_plugin_library_v1(void);

/* --- A queue. */

typedef struct schedq_queue schedq_queue;
typedef struct schedq_attempt schedq_attempt;

typedef struct schedq_gate {
  const char* name; /* "SchedulerPopFromBackoffQ", ... */
  int32_t on;
} schedq_gate;

typedef struct schedq_queue_options {
  size_t size;
  const char* engine;       /* "lockfree", the default, or "classic". */
  const schedq_gate* gates; /* Others have their defaults: on, but for those of groups. */
  size_t gate_count;
  int64_t backoff_ms_initial;         /* 0: 1,000. */
  int64_t backoff_ms_max;             /* 0: 10,000; -1: no backoff. */
  int64_t in_unschedulable_ms_max;    /* 0: 300,000. */
  int32_t leaves_out_builtin_plugins; /* Not 0: only the plugins given here. */
  int32_t judges_on_callers_thread;   /* Not 0: also very many pods. */
  const schedq_plugin* const* plugins;
  size_t plugin_count;
  const char* const* plugin_files; /* Plugin libraries. */
  size_t plugin_file_count;
  uint64_t pods_max; /* Further pods are refused with SCHEDQ_FULL. 0: as many as it can hold. */
} schedq_queue_options;

/* How many pods are where. */
typedef struct schedq_counts {
  size_t size;
  uint64_t active;
  uint64_t backoff;
  uint64_t error_backoff;
  uint64_t unschedulable;
  uint64_t gated;
  uint64_t in_flight;
  uint64_t incomplete; /* Members of groups that are not known. */
  uint64_t pending;    /* Members that wait for the end of their group's cycle. */
} schedq_counts;

typedef enum schedq_place {
  SCHEDQ_PLACE_ABSENT = 0,
  SCHEDQ_PLACE_ACTIVE = 1,
  SCHEDQ_PLACE_BACKOFF = 2,
  SCHEDQ_PLACE_ERROR_BACKOFF = 3,
  SCHEDQ_PLACE_UNSCHEDULABLE = 4,
  SCHEDQ_PLACE_GATED = 5,
  SCHEDQ_PLACE_IN_FLIGHT = 6,
  SCHEDQ_PLACE_INCOMPLETE = 7,
  SCHEDQ_PLACE_PENDING = 8
} schedq_place;

/* Makes a queue, which the caller destroys. `options` may be null: all defaults. Any thread. */
SCHEDQ_EXPORT schedq_status schedq_queue_create(const schedq_queue_options* options,
                                                schedq_queue** queue);
/* Closes and frees it. No other thread may be in a call with it, and every attempt of it must have
 * been released. Null is allowed. */
SCHEDQ_EXPORT void schedq_queue_destroy(schedq_queue* queue);

/* What happened in the cluster. Plugins' world, queue and the events that follow are told in the
 * right order. */

/* A pod came. One with a node name was assigned by somebody else. */
SCHEDQ_EXPORT schedq_status schedq_queue_pod_add(schedq_queue* queue, const schedq_pod* pod);
/* Another version of a pod. `before` may be null for one without a node: the queue's own version.
 * `after` may have a node name that `before` has not: the pod is bound. */
SCHEDQ_EXPORT schedq_status schedq_queue_pod_update(schedq_queue* queue, const schedq_pod* before,
                                                    const schedq_pod* after);
/* A pod is gone. Of one without a node namespace and name are enough. */
SCHEDQ_EXPORT schedq_status schedq_queue_pod_delete(schedq_queue* queue, const schedq_pod* pod);
/* The pod is bound to `node`: it leaves the queue, and others hear of an assigned pod. */
SCHEDQ_EXPORT schedq_status schedq_queue_pod_bound(schedq_queue* queue, const char* namespace_name,
                                                   const char* name, const char* node);
/* `before` is null when the object came, `after` when it went. */
SCHEDQ_EXPORT schedq_status schedq_queue_node_changed(schedq_queue* queue,
                                                      const schedq_object* before,
                                                      const schedq_object* after);
SCHEDQ_EXPORT schedq_status schedq_queue_claim_changed(schedq_queue* queue,
                                                       const schedq_object* before,
                                                       const schedq_object* after);
/* A PodGroup or a CompositePodGroup. Nothing happens while the gate GenericWorkload, for a
 * composite CompositePodGroup, is off. */
SCHEDQ_EXPORT schedq_status schedq_queue_group_changed(schedq_queue* queue,
                                                       const schedq_group* before,
                                                       const schedq_group* after);
/* Any other event: a resource and one action, by name. SCHEDQ_NOTHING: no plugin asked for it. */
SCHEDQ_EXPORT schedq_status schedq_queue_event(schedq_queue* queue, const char* resource,
                                               const char* action, const schedq_object* before,
                                               const schedq_object* after);

/* Scheduling. */

/* Waits until there is a pod, the time is over (below 0: never), or the queue is closed; the latter
 * two are SCHEDQ_NOTHING. The caller releases the attempt. */
SCHEDQ_EXPORT schedq_status schedq_queue_pop(schedq_queue* queue, int64_t timeout_ns,
                                             schedq_attempt** attempt);
/* Waits for nobody. */
SCHEDQ_EXPORT schedq_status schedq_queue_try_pop(schedq_queue* queue, schedq_attempt** attempt);
SCHEDQ_EXPORT schedq_status schedq_queue_activate(schedq_queue* queue, const schedq_pod_name* pods,
                                                  size_t count);
/* In memory only. A node "" clears. */
SCHEDQ_EXPORT schedq_status schedq_queue_nominate(schedq_queue* queue, const char* namespace_name,
                                                  const char* name, const char* node);

/* The pod of an attempt; lives until the attempt is released. Null: it is that of a group. */
SCHEDQ_EXPORT const schedq_pod_view* schedq_attempt_pod(const schedq_attempt* attempt);
/* How many attempts there were, with this one. */
SCHEDQ_EXPORT uint32_t schedq_attempt_count(const schedq_attempt* attempt);
/* The pod cannot be scheduled, for which these plugins are the reason; none: an error. `pending`
 * are plugins that wait for something and want the pod back at once. Ends the attempt. */
SCHEDQ_EXPORT schedq_status schedq_attempt_fail(schedq_attempt* attempt,
                                                const char* const* unschedulable,
                                                size_t unschedulable_count,
                                                const char* const* pending, size_t pending_count);
/* The pod has a node and its binding begins: it is not in flight any more. */
SCHEDQ_EXPORT schedq_status schedq_attempt_done(schedq_attempt* attempt);
/* The pod is bound and leaves the queue. Ends the attempt. */
SCHEDQ_EXPORT schedq_status schedq_attempt_bind(schedq_attempt* attempt);
/* Frees the handle. An attempt that has neither ended nor is done fails as an error, so that no pod
 * is lost. Null is allowed. */
SCHEDQ_EXPORT void schedq_attempt_release(schedq_attempt* attempt);

/* An attempt of a group is one cycle of all its members. Fail, done and bind refuse it with
 * SCHEDQ_INVALID, and so do the functions below with a pod's. */

typedef enum schedq_group_status {
  SCHEDQ_GROUP_SUCCESS = 0, /* At least as many members as it needs go to nodes. */
  SCHEDQ_GROUP_UNSCHEDULABLE = 1,
  SCHEDQ_GROUP_ERROR = 2
} schedq_group_status;

/* Fills kind, namespace and name of the group, as far as group->size says that there is room; what
 * else it has is 0. The texts live until the attempt is released. */
SCHEDQ_EXPORT schedq_status schedq_attempt_group(const schedq_attempt* attempt,
                                                 schedq_group* group);
/* 0 for a pod's. */
SCHEDQ_EXPORT size_t schedq_attempt_member_count(const schedq_attempt* attempt);
/* The attempt of the member `i`, in the order in which a cycle looks at them. Each is given once,
 * then SCHEDQ_NOTHING. The caller ends it as any other attempt, before the cycle ends unless the
 * member goes to a node, and releases it. SCHEDQ_ENDED: the cycle has ended. */
SCHEDQ_EXPORT schedq_status schedq_attempt_take_member(schedq_attempt* attempt, size_t i,
                                                       schedq_attempt** member);
/* Ends the cycle and the attempt. Members that were not taken fail first, as errors; so they do
 * when the attempt is released before, and then the cycle ends with SCHEDQ_GROUP_ERROR. */
SCHEDQ_EXPORT schedq_status schedq_attempt_end_group(schedq_attempt* attempt,
                                                     schedq_group_status status);

/* Time. schedq_queue_run starts the threads that flush; without them the caller flushes. After
 * schedq_queue_close every pop that waits returns. */

SCHEDQ_EXPORT schedq_status schedq_queue_run(schedq_queue* queue);
SCHEDQ_EXPORT schedq_status schedq_queue_flush_backoff(schedq_queue* queue);
SCHEDQ_EXPORT schedq_status schedq_queue_flush_unschedulable(schedq_queue* queue);
SCHEDQ_EXPORT schedq_status schedq_queue_close(schedq_queue* queue);

/* To look at. */

/* Fills what counts->size says that there is room for. */
SCHEDQ_EXPORT schedq_status schedq_queue_counts(const schedq_queue* queue, schedq_counts* counts);
SCHEDQ_EXPORT schedq_status schedq_queue_where(const schedq_queue* queue,
                                               const char* namespace_name, const char* name,
                                               schedq_place* place);
/* All metrics in Prometheus' text format. The caller frees it. */
SCHEDQ_EXPORT schedq_status schedq_queue_metrics(const schedq_queue* queue, char** text);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* SCHEDQ_SCHEDQ_H */

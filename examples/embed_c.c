/* A pod's life in a queue, from C: it is added, popped, fails, an event brings it back, and it is
 * bound. */
#include <schedq/schedq.h>
#include <stdio.h>
#include <stdlib.h>

static void check(schedq_status status) {
  if (status == SCHEDQ_OK) return;
  fprintf(stderr, "%s\n", schedq_last_error());
  exit(1);
}

static schedq_counts counts_of(const schedq_queue* queue) {
  schedq_counts counts = {.size = sizeof(counts)};
  check(schedq_queue_counts(queue, &counts));
  return counts;
}

static schedq_attempt* pop(schedq_queue* queue) {
  schedq_attempt* attempt = NULL;
  check(schedq_queue_try_pop(queue, &attempt));
  printf("popped: %s, attempt %u\n", schedq_pod_name_of(schedq_attempt_pod(attempt)),
         (unsigned)schedq_attempt_count(attempt));
  return attempt;
}

int main(void) {
  /* Every struct that may grow says how large it is; the rest may stay 0. */
  const schedq_queue_options options = {.size = sizeof(options), .backoff_ms_max = -1};
  schedq_queue* queue = NULL;
  check(schedq_queue_create(&options, &queue));

  const schedq_quantity half_a_core = {"cpu", 500};
  const schedq_pod pod = {.size = sizeof(pod),
                          .namespace_name = "default",
                          .name = "web",
                          .uid = "1",
                          .requests = &half_a_core,
                          .request_count = 1};
  check(schedq_queue_pod_add(queue, &pod));
  printf("added: %d active\n", (int)counts_of(queue).active);

  schedq_attempt* attempt = pop(queue);
  const char* const rejectors[] = {"NodeResourcesFit"};
  check(schedq_attempt_fail(attempt, rejectors, 1, NULL, 0));
  schedq_attempt_release(attempt);
  printf("failed: %d unschedulable\n", (int)counts_of(queue).unschedulable);

  const schedq_quantity room[] = {{"cpu", 4000}, {"pods", 110}};
  const schedq_object node = {
      .size = sizeof(node), .name = "node-1", .allocatable = room, .allocatable_count = 2};
  check(schedq_queue_node_changed(queue, NULL, &node));
  printf("a node with room: %d active\n", (int)counts_of(queue).active);

  attempt = pop(queue);
  check(schedq_attempt_bind(attempt));
  printf("bound: %d in flight\n", (int)counts_of(queue).in_flight);
  if (schedq_attempt_bind(attempt) == SCHEDQ_ENDED) {
    printf("bound again: %s\n", schedq_last_error());
  }
  schedq_attempt_release(attempt);
  schedq_queue_destroy(queue);
  return 0;
}

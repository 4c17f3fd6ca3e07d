/* The two-sided rule of event and failing pod (engine/lockfree/log/event_log.h, "No lost wake-up").
 *
 * Claim: once an event's thread and a failing pod's thread have both returned, and the event was
 * logged after the pod's attempt began, the pod is not in the pool. It does not matter which other
 * thread has stopped for ever, and where: the monitor asks in every state that can be reached.
 * Form: a process is a thread, and a statement is one atomic step. All steps are sequentially
 * consistent in the code. A pod that reads the log, in any number of steps, is one that reads its
 * length: what is behind it is what it will look at next.
 * Planted faults, which the checker must find: READS_ONCE (the failing pod does not read the log
 * again once it is in the pool), ENTERS_LAST (it reads the log to its end and then enters the
 * pool), SCANS_FIRST (the event scans the pool before it is logged).
 */
#define PODS 2
#define EVENTS 2

byte logged;            /* How many events the log has. */
byte place_of[EVENTS];  /* Where in the log the event is, counted from 1. */
bool event_returned[EVENTS];

bool in_pool[PODS];
byte began_at[PODS];    /* The log's length when the pod's attempt began. */
bool pod_returned[PODS];

/* Takes the pod out of the pool, as the exchange of its slot does. A thread that comes second
 * loses, and the pod has been moved all the same. */
inline Move(pod) { in_pool[pod] = false }

inline Append(event) { atomic { logged++; place_of[event] = logged } }

proctype Event(byte me) {
  byte pod = 0;
#ifndef SCANS_FIRST
  Append(me);
#endif
  do
  :: pod < PODS -> Move(pod); pod++
  :: pod == PODS -> break
  od;
#ifdef SCANS_FIRST
  Append(me);
#endif
  event_returned[me] = true
}

proctype FailingPod(byte me) {
  byte read;
  read = began_at[me];
  /* Judges what was logged since the attempt began. An event that it finds sends it to backoff. */
  if
  :: logged > read -> goto finished
  :: logged == read
  fi;
#ifdef ENTERS_LAST
  if
  :: logged > read -> goto finished
  :: logged == read
  fi;
#endif
  in_pool[me] = true;
#if !defined(READS_ONCE) && !defined(ENTERS_LAST)
  if
  :: logged > read -> Move(me)
  :: logged == read
  fi;
#endif
finished:
  pod_returned[me] = true
}

/* An attempt begins anywhere in time. */
proctype Attempt(byte me) {
  began_at[me] = logged;
  run FailingPod(me)
}

#define Lost(pod, event)                                             \
  (pod_returned[pod] && event_returned[event] && in_pool[pod] &&     \
   place_of[event] > began_at[pod])

active proctype Monitor() {
end:
  atomic { (Lost(0, 0) || Lost(0, 1) || Lost(1, 0) || Lost(1, 1)) -> assert(false) }
}

init {
  atomic { run Event(0); run Event(1); run Attempt(0); run Attempt(1) }
}

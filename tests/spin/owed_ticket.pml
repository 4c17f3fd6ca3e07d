/* The owed ticket (engine/lockfree/README.md): a thread that moves a pod to active may stop before
 * it has pushed the ticket by which the pod is found.
 *
 * The thread announces the move in its cell, exchanges the slot, pushes the ticket and clears the
 * cell. A thread that sees the pod active, or finds the queue empty, reads the cells. It pushes the
 * ticket of a move that has happened, and clears the cell by compare-and-exchange. A pop takes the
 * pod by an exchange of its slot, and only then the ticket.
 *
 * Claims, whichever threads have stopped for ever, and where (they hold in every state that can be
 * reached): (1) a pop that finds nothing has not begun after an operation returned that saw the pod
 * active, unless the pod was popped; (2) nor after the pod became active, unless a ticket was pushed
 * meanwhile; (3) each time that the pod becomes active it is popped at most once.
 * Form: one pod, which becomes active twice. A process is a thread, and a statement or an atomic
 * block is one atomic step. Tickets of old versions may lie in the queue in any order.
 * Planted faults, which the checker must find: ANNOUNCES_LATE (after the exchange), CLEARS_EARLY
 * (before the push), SEES_WITHOUT_HELP (an operation that sees the pod active pushes nothing),
 * EMPTY_WITHOUT_HELP (a pop that finds the queue empty does not read the cells),
 * TAKES_TICKET_FIRST (a pop takes the ticket and then the pod), CLEARS_BLINDLY (a helper clears
 * by a store), CLEARS_TOO_SOON (a helper clears a move that has not happened yet), POPS_BLINDLY (a
 * pop takes the pod by a store).
 */
#define POPPERS 2
#define VERSIONS 2

/* The slot: what the version's pod is. */
#define Active(version) (2 * (version) - 1)
#define InFlight(version) (2 * (version))

byte slot;                   /* 0 at first: the pod is nowhere. */
byte cell;                   /* The version whose move to active is under way; 0: none. */
byte tickets[VERSIONS + 1];  /* How often each version's ticket is in the queue. */
bool pushed[POPPERS];        /* A ticket was pushed since the popper looked last, */
bool ever_pushed[POPPERS];   /* or since its pop began. */
byte popped[VERSIONS + 1];
byte known;                  /* The version that an operation which has returned saw active. */

inline Push(version) {
  atomic {
    tickets[version]++;
    pushed[0] = true;
    pushed[1] = true;
    ever_pushed[0] = true;
    ever_pushed[1] = true
  }
}

inline Know(version) {
  atomic {
    if
    :: version > known -> known = version
    :: version <= known
    fi
  }
}

/* Finishes the move that the cell announces, if it has happened, and says so in `helped`. */
inline Help(name, owes, helped) {
  if
  :: cell == 0
  :: atomic { cell != 0 -> name = cell };
    owes = (slot == Active(name));
    atomic {
      if
      :: owes -> Push(name)
      :: !owes
      fi
    };
    atomic {
      helped = owes;
#ifdef CLEARS_BLINDLY
      if
      :: owes -> cell = 0
      :: !owes
      fi;
#else
#ifdef CLEARS_TOO_SOON
      owes = true;
#endif
      if
      :: owes && cell == name -> cell = 0
      :: !owes || cell != name
      fi;
#endif
      name = 0;
      owes = false
    }
  fi
}

/* Moves the pod from `before` to active, if it still is there. */
inline Activate(before, version) {
#ifndef ANNOUNCES_LATE
  cell = version;
#endif
  atomic { slot == before -> slot = Active(version) };
#ifdef ANNOUNCES_LATE
  cell = version;
#endif
#ifdef CLEARS_EARLY
  cell = 0;
#endif
  Push(version);
  cell = 0;
  Know(version)
}

/* Adds the pod, and makes it active again after its first attempt has failed. */
proctype Owner() {
  Activate(0, 1);
  slot == InFlight(1);
  Activate(InFlight(1), 2)
}

/* An operation for which an active pod stays as it is. */
proctype Seer() {
  bool owes, helped;
  byte name, seen;
  atomic { slot % 2 == 1 -> seen = (slot + 1) / 2 };
#ifndef SEES_WITHOUT_HELP
  Help(name, owes, helped);
#endif
  Know(seen)
}

/* Pops, one after the other. */
proctype Popper(byte me; byte pops) {
  bool owes, took, helped;
  byte name, ticket, known_before, active_before;
next:
  atomic {
    pops--;
    known_before = known;
    active_before = (slot % 2 == 1 -> (slot + 1) / 2 : 0);
    ever_pushed[me] = false
  };
again:
  /* The count of pushes is read, and then the queue. */
  pushed[me] = false;
  atomic {
    if
    :: tickets[1] > 0 -> ticket = 1
    :: tickets[2] > 0 -> ticket = 2
    :: tickets[1] == 0 && tickets[2] == 0 -> goto found_none
    fi;
#ifdef TAKES_TICKET_FIRST
    tickets[ticket]--
#endif
  };
#ifdef POPS_BLINDLY
  took = (slot == Active(ticket));
#endif
  atomic {
#ifndef POPS_BLINDLY
    took = (slot == Active(ticket));
#endif
    if
    :: took -> slot = InFlight(ticket); popped[ticket]++
    :: !took
    fi;
    assert(popped[ticket] <= 1)
  };
  atomic {
#ifndef TAKES_TICKET_FIRST
    /* The pod is popped, or is not what the ticket says and never will be again. Another pop may
     * have dropped the ticket meanwhile. */
    if
    :: tickets[ticket] > 0 -> tickets[ticket]--
    :: tickets[ticket] == 0
    fi;
#endif
    ticket = 0;
    if
    :: took -> took = false; goto finished
    :: !took -> goto again
    fi
  };
found_none:
  if
  :: pushed[me] -> goto again
  :: !pushed[me]
  fi;
#ifndef EMPTY_WITHOUT_HELP
  Help(name, owes, helped);
#endif
  atomic {
    if
    :: helped -> helped = false; goto again
    :: !helped ->
      assert(known_before == 0 || slot != Active(known_before));
      assert(active_before == 0 || slot != Active(active_before) || ever_pushed[me])
    fi
  };
finished:
  atomic {
    known_before = 0;
    active_before = 0;
    if
    :: pops > 0 -> goto next
    :: pops == 0
    fi
  }
}

init {
  atomic { run Owner(); run Seer(); run Popper(0, 1); run Popper(1, 2) }
}

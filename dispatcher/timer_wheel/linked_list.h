// Doubly linked lists whose nodes live in somebody else's array and name each other by number.
//
// Purpose: a node can leave the middle of a list in constant time, and joins one without an
// allocation. Threads: one at a time. Memory: 12 bytes a node, 8 a list.
// Invariant: a node is in at most one list; its `home` says which, in the owner's code.
#pragma once

#include <cstdint>

namespace schedq {

// Nobody, as a number of a node. Zero, so that zeroed memory is an empty list.
inline constexpr uint32_t kNoNode = 0;

struct ListLink {
  uint32_t next = kNoNode;
  uint32_t previous = kNoNode;
  uint32_t home = 0;
};

struct LinkedList {
  uint32_t first = kNoNode;
  uint32_t last = kNoNode;

  bool is_empty() const { return first == kNoNode; }
};

// `links(node)` is a reference to the node's ListLink.
template <typename Links>
void PushBack(LinkedList& list, uint32_t node, uint32_t home, const Links& links) {
  links(node) = {kNoNode, list.last, home};
  if (list.last == kNoNode) {
    list.first = node;
  } else {
    links(list.last).next = node;
  }
  list.last = node;
}

template <typename Links>
void Remove(LinkedList& list, uint32_t node, const Links& links) {
  ListLink& link = links(node);
  (link.previous == kNoNode ? list.first : links(link.previous).next) = link.next;
  (link.next == kNoNode ? list.last : links(link.next).previous) = link.previous;
  link = {};
}

}  // namespace schedq

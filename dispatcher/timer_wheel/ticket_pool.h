// Lists of tickets, first come first served, in chunks of one pool.
//
// Purpose: buckets and lanes that hold millions of tickets, each walked from its front. A walk
// reads memory in order, and the timers of the next tickets can be prefetched.
// When not to use it: where a ticket has to leave the middle of a list at once.
// Threads: one at a time.
// Invariant: no chunk of a list is empty, and a list of no tickets has no chunk.
// Memory: 128 bytes for each fifteen tickets of a list, and for its first and last ones. Chunks are
// used again and never freed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "dispatcher/timer_wheel/ticket.h"
#include "engine/base/segmented_array.h"

namespace schedq {

// All zeroes: empty.
struct TicketList {
  uint32_t first = 0;
  uint32_t last = 0;

  bool is_empty() const { return first == 0; }
};

class TicketPool {
 public:
  // Tickets in all lists.
  uint64_t size() const { return size_; }

  void PushBack(TicketList& list, Ticket ticket) {
    if (list.is_empty() || ChunkOf(list.last).end == kTicketsOfChunk) AddChunk(list);
    Chunk& chunk = ChunkOf(list.last);
    chunk.tickets[chunk.end++] = ticket;
    ++size_;
  }

  // The list must not be empty.
  Ticket PopFront(TicketList& list) {
    Chunk& chunk = ChunkOf(list.first);
    const Ticket ticket = chunk.tickets[chunk.begin++];
    if (chunk.begin == chunk.end) FreeFirst(list);
    --size_;
    return ticket;
  }

  // The ticket that PopFront gives after `distance` others, if it lies in the first two chunks.
  std::optional<Ticket> PeekFront(const TicketList& list, uint32_t distance) const {
    const Chunk* chunk = &ChunkOf(list.first);
    const uint32_t in_first = static_cast<uint32_t>(chunk->end - chunk->begin);
    if (distance >= in_first) {
      if (chunk->next == 0) return std::nullopt;
      chunk = &ChunkOf(chunk->next);
      distance -= in_first;
    }
    const uint32_t at = chunk->begin + distance;
    if (at >= chunk->end) return std::nullopt;
    return chunk->tickets[at];
  }

  // Empties the list in groups of a few tickets: announce(ticket) for each of a group, then
  // visit(ticket) for each of it. `visit` may add to other lists.
  template <typename Announce, typename Visit>
  void Drain(TicketList& list, const Announce& announce, const Visit& visit) {
    TicketList rest = std::exchange(list, {});
    while (!rest.is_empty()) {
      const Chunk& chunk = ChunkOf(rest.first);
      for (uint32_t at = chunk.begin; at < chunk.end; ++at) announce(chunk.tickets[at]);
      for (uint32_t at = chunk.begin; at < chunk.end; ++at) visit(chunk.tickets[at]);
      size_ -= static_cast<uint64_t>(chunk.end - chunk.begin);
      FreeFirst(rest);
    }
  }

  // Drops the tickets for which keep(ticket) is false; returns how many there were.
  template <typename Announce, typename Keep>
  uint64_t Filter(TicketList& list, const Announce& announce, const Keep& keep) {
    TicketList kept;
    uint64_t looked = 0;
    Drain(list, announce, [&](Ticket ticket) {
      ++looked;
      if (keep(ticket)) PushBack(kept, ticket);
    });
    list = kept;
    return looked;
  }

 private:
  static constexpr uint32_t kTicketsOfChunk = 15;
  static constexpr uint32_t kFirstChunksBits = 6;  // The first allocation, in chunks.

  struct Chunk {
    uint32_t next;
    uint16_t begin;
    uint16_t end;
    std::array<Ticket, kTicketsOfChunk> tickets;
  };
  static_assert(sizeof(Chunk) == 128, "a chunk fills two cache lines");

  Chunk& ChunkOf(uint32_t number) const { return chunks_[number - 1]; }

  void AddChunk(TicketList& list) {
    const uint32_t number = free_ != 0 ? free_ : ++made_;
    if (free_ != 0) {
      free_ = ChunkOf(free_).next;
    } else {
      chunks_.Reserve(number - 1);
    }
    Chunk& chunk = ChunkOf(number);
    chunk.next = 0;
    chunk.begin = 0;
    chunk.end = 0;
    (list.is_empty() ? list.first : ChunkOf(list.last).next) = number;
    list.last = number;
  }

  void FreeFirst(TicketList& list) {
    const uint32_t number = list.first;
    Chunk& chunk = ChunkOf(number);
    list.first = chunk.next;
    if (list.first == 0) list.last = 0;
    chunk.next = free_;
    free_ = number;
  }

  // Of std::atomic also in models: one thread at a time uses the pool.
  SegmentedArray<Chunk> chunks_{kFirstChunksBits};
  uint32_t made_ = 0;
  uint32_t free_ = 0;  // The first of a list through `next`.
  uint64_t size_ = 0;
};

}  // namespace schedq

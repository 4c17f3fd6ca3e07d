// Goal: one thread at a time is inside the door, sees what all before it did there, and carries out
// every note once, those of one thread in their order.
// Method: two threads with notes and one that only looks in, exhaustive to three preemptions. What
// is inside and what the notes say are plain cells, so an access that nothing orders is a failure.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "dispatcher/call_door.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

struct Note {
  explicit Note(int text) : text(text) {}

  Note* below = nullptr;
  model::CheckedCell<int> text;
};

struct Room {
  CallDoor<Note, model::Atomic> door;
  model::CheckedCell<std::vector<int>> inside;

  void CarryOut(const Note& note) { inside.Mutable().push_back(note.text.Read()); }
  void Leave() {
    door.Leave([this](const Note& note) { CarryOut(note); });
  }
  void Bring(int text) {
    auto note = std::make_unique<Note>(text);
    if (!door.EnterOrLeave(note)) return;
    CarryOut(*note);
    Leave();
  }
  void LookIn() {
    if (!door.TryEnter()) return;
    MODEL_CHECK(inside.Read().size() <= 3, "there are three notes");
    Leave();
  }
};

void NotesMeet(model::Trial& trial) {
  Room room;
  trial.Thread([&] {
    room.Bring(1);
    room.Bring(2);
  });
  trial.Thread([&] { room.Bring(3); });
  trial.Thread([&] { room.LookIn(); });
  trial.Join();
  const std::vector<int>& carried_out = room.inside.Read();
  trial.Observe(std::vector<int64_t>(carried_out.begin(), carried_out.end()));
}

TEST(CallDoorModel, NotesMeet) {
  const model::Report report = model::Exhaust({.name = "notes meet"}, NotesMeet);
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_GT(report.schedules, 1000u) << report;
  // Every order that keeps that of the first thread, and no other.
  std::vector<std::vector<int64_t>> orders;
  for (const auto& [order, schedules] : report.observations) orders.push_back(order);
  EXPECT_EQ(orders, (std::vector<std::vector<int64_t>>{{1, 2, 3}, {1, 3, 2}, {3, 1, 2}}));
}

TEST(CallDoorModel, FrozenThreadStopsNobody) {
  const model::Report report =
      model::ExhaustStalls({.name = "frozen", .preemptions_max = 1}, [](model::Trial& trial) {
        Room room;
        trial.Thread([&] { room.Bring(1); });
        trial.Thread([&] { room.Bring(2); });
        trial.Thread([&] { room.LookIn(); });
        trial.Join();
        MODEL_CHECK(room.inside.Read().size() == 2, "both notes were carried out");
      });
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_GT(report.freezes, 5u) << report;
}

}  // namespace
}  // namespace schedq

// Goal: one thread at a time has the turn, sees what all threads before it did in theirs, and
// carries out every operation once, those of one thread in their order.
// Method: two threads with operations and one that only reads, exhaustive to three preemptions. The
// object's state and the operations' numbers are plain cells, so an access that nothing orders is a
// failure.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "dispatcher/object_turn.h"
#include "tests/support/model/atomic.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

struct Operation {
  explicit Operation(int number) : number(number) {}

  Operation* next = nullptr;
  model::CheckedCell<int> number;
};

struct Object {
  ObjectTurn<Operation, model::Atomic> turn;
  model::CheckedCell<std::vector<int>> carried_out;

  void CarryOut(const Operation& operation) {
    carried_out.Mutable().push_back(operation.number.Read());
  }
  void EndTurn() {
    turn.End([this](const Operation& operation) { CarryOut(operation); });
  }
  void Do(int number) {
    auto operation = std::make_unique<Operation>(number);
    if (!turn.BeginOrHandOver(operation)) return;
    CarryOut(*operation);
    EndTurn();
  }
  void Read() {
    if (!turn.TryBegin()) return;
    MODEL_CHECK(carried_out.Read().size() <= 3, "there are three operations");
    EndTurn();
  }
};

void OperationsMeet(model::Trial& trial) {
  Object object;
  trial.Thread([&] {
    object.Do(1);
    object.Do(2);
  });
  trial.Thread([&] { object.Do(3); });
  trial.Thread([&] { object.Read(); });
  trial.Join();
  const std::vector<int>& carried_out = object.carried_out.Read();
  trial.Observe(std::vector<int64_t>(carried_out.begin(), carried_out.end()));
}

TEST(ObjectTurnModel, OperationsMeet) {
  const model::Report report = model::Exhaust({.name = "operations meet"}, OperationsMeet);
  model::ExpectExhausted(report, 1000);
  // Every order that keeps that of the first thread, and no other.
  std::vector<std::vector<int64_t>> orders;
  for (const auto& [order, schedules] : report.observations) orders.push_back(order);
  EXPECT_EQ(orders, (std::vector<std::vector<int64_t>>{{1, 2, 3}, {1, 3, 2}, {3, 1, 2}}));
}

TEST(ObjectTurnModel, AFreeTurnHasCarriedOutWhatWasHandedOver) {
  const model::Report report = model::Exhaust({.name = "handed over"}, [](model::Trial& trial) {
    Object object;
    trial.Thread([&] { object.Do(1); });
    trial.Thread([&] {
      auto operation = std::make_unique<Operation>(2);
      if (object.turn.BeginOrHandOver(operation)) {
        object.CarryOut(*operation);
        object.EndTurn();
      } else if (object.turn.IsFree()) {
        MODEL_CHECK(object.carried_out.Read().size() == 2, "the other thread's turn is over");
        trial.Observe({1});
      }
    });
    trial.Join();
  });
  model::ExpectExhausted(report, 20);
  EXPECT_EQ(report.observations.count({1}), 1u);
}

TEST(ObjectTurnModel, FrozenThreadStopsNoOther) {
  const model::Report report =
      model::ExhaustStalls({.name = "frozen", .preemptions_max = 1}, [](model::Trial& trial) {
        Object object;
        trial.Thread([&] { object.Do(1); });
        trial.Thread([&] { object.Do(2); });
        trial.Thread([&] { object.Read(); });
        trial.Join();
        MODEL_CHECK(object.carried_out.Read().size() == 2, "both operations were carried out");
      });
  model::ExpectNoStall(report, 5);
}

}  // namespace
}  // namespace schedq

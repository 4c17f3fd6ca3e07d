// Goal: whatever short programs threads run on the assembled engine, what their operations return
// is what one queue behind a lock would have returned.
// Method: all clients of a form (so many threads of so many operations each) from every beginning
// of lockfree_history_model.h, two pods, each client under every schedule within a bound; histories
// are judged against the sequential queue when all threads are over and what is left has been
// popped. Clients that differ only in the names of their threads count once.
//
// The bounds of the long form (SCHEDQ_MODEL_ALL_CLIENTS=1), in preemptions and stale accesses:
//   2 threads of 1 operation    3 preemptions; also 2 with 1 stale access
//   3 threads of 1 operation    2 preemptions
//   2 threads of 2 operations   2 preemptions
//   3 threads of 2 operations   1 preemption
//   2 threads of 3 operations   1 preemption
// SCHEDQ_MODEL_PREEMPTIONS replaces the number of preemptions. The operations of a beginning and
// the pops at the end come on top. Continuous integration takes a few clients of each form, evenly
// spread, with these bounds or lower ones. Left out: a third pod, because the operations that look
// at all pods grow with it and so does each schedule; and stale accesses in longer clients, of
// which a schedule has some forty places for one.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/model/lockfree_history_model.h"
#include "tests/model/lockfree_queue_model.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using model::Report;

bool TakesAllClients() { return std::getenv("SCHEDQ_MODEL_ALL_CLIENTS") != nullptr; }

struct Form {
  const char* name;
  uint32_t threads;
  uint32_t operations;  // Of each thread.
  uint32_t preemptions_max;
  uint32_t stale_reads_max;
  // Of continuous integration, which takes so many clients.
  uint32_t usual_preemptions_max;
  uint64_t usual_clients;

  friend std::ostream& operator<<(std::ostream& out, const Form& form) { return out << form.name; }
};

constexpr Form kForms[] = {
    {"TwoOfOne", 2, 1, 3, 0, 2, 1},   {"TwoOfOneStale", 2, 1, 2, 1, 1, 2},
    {"ThreeOfOne", 3, 1, 2, 0, 1, 3}, {"TwoOfTwo", 2, 2, 2, 0, 1, 5},
    {"ThreeOfTwo", 3, 2, 1, 0, 1, 2}, {"TwoOfThree", 2, 3, 1, 0, 1, 3},
};

// The client of this number, whose digits to the base of the deeds are its operations; none if it
// is one of another number with its threads renamed.
std::vector<Steps> ClientOf(const Form& form, const Steps& deeds, uint64_t number) {
  std::vector<Steps> threads;
  uint64_t before = 0;
  uint64_t programs = 1;
  for (uint32_t i = 0; i < form.operations; ++i) programs *= deeds.size();
  for (uint32_t thread = 0; thread < form.threads; ++thread) {
    uint64_t program = number % programs;
    number /= programs;
    if (program < before) return {};
    before = program;
    Steps& steps = threads.emplace_back();
    for (uint32_t i = 0; i < form.operations; ++i) {
      steps.push_back(deeds[program % deeds.size()]);
      program /= deeds.size();
    }
  }
  return threads;
}

class LockfreeClientsModel : public testing::TestWithParam<std::tuple<size_t, Form>> {};
INSTANTIATE_TEST_SUITE_P(From, LockfreeClientsModel,
                         testing::Combine(testing::Range<size_t>(0, Beginnings().size()),
                                          testing::ValuesIn(kForms)),
                         [](const auto& info) {
                           return std::string(std::get<1>(info.param).name) + "From" +
                                  std::to_string(std::get<0>(info.param));
                         });

// All clients of a form, or as many of them as are wanted, evenly spread.
std::vector<std::vector<Steps>> ClientsOf(const Form& form, const Steps& deeds, bool all) {
  uint64_t numbers = 1;
  for (uint32_t i = 0; i < form.threads * form.operations; ++i) numbers *= deeds.size();
  std::vector<std::vector<Steps>> clients;
  for (uint64_t number = 0; number < numbers; ++number) {
    std::vector<Steps> client = ClientOf(form, deeds, number);
    if (!client.empty()) clients.push_back(std::move(client));
  }
  if (all || clients.size() <= form.usual_clients) return clients;
  std::vector<std::vector<Steps>> chosen;
  for (uint64_t i = 0; i < form.usual_clients; ++i) {
    chosen.push_back(clients[(2 * i + 1) * clients.size() / (2 * form.usual_clients)]);
  }
  return chosen;
}

TEST_P(LockfreeClientsModel, AreLinearizable) {
  const Beginning& beginning = Beginnings()[std::get<0>(GetParam())];
  const Form& form = std::get<1>(GetParam());
  const bool all = TakesAllClients();
  const auto clients = ClientsOf(form, beginning.deeds, all);
  uint64_t schedules = 0;
  for (const std::vector<Steps>& threads : clients) {
    std::string text;
    for (const Steps& steps : threads) text += (text.empty() ? "" : "meets ") + TextOf(steps);
    const uint32_t bound = all ? form.preemptions_max : form.usual_preemptions_max;
    model::Options options = Named(" " + text, model::PreemptionsOr(bound));
    options.stale_reads_max = form.stale_reads_max;
    const model::Body body = BodyOf<ModelQueueShape>(beginning, threads, Judged::kAtTheEnd);
    const Report report = model::Exhaust(options, body);
    ASSERT_TRUE(report.passed() && report.complete) << beginning.name << ": " << text << "\n"
                                                    << report;
    schedules += report.schedules;
  }
  EXPECT_GT(schedules, 10 * clients.size());
  RecordProperty("clients", std::to_string(clients.size()));
  RecordProperty("schedules", std::to_string(schedules));
}

}  // namespace
}  // namespace schedq

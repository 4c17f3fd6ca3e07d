// The threads of a run: their start, their switches and waits, and the end. Steps are in steps.cc.
#include "tests/support/model/runtime.h"

#include <cstdio>
#include <exception>
#include <utility>

namespace schedq::model {

Runtime* Runtime::current_ = nullptr;
uint32_t Runtime::generation_ = 0;

std::string_view FailureName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kCheck:
      return "failed check";
    case FailureKind::kDataRace:
      return "data race";
    case FailureKind::kDeadlock:
      return "deadlock";
    case FailureKind::kLivelock:
      return "livelock";
    case FailureKind::kStalled:
      return "blocked by a stalled thread";
    case FailureKind::kLeak:
      return "leak";
    case FailureKind::kUseAfterFree:
      return "use after free";
    case FailureKind::kBadFree:
      return "bad free";
    case FailureKind::kNotRepeatable:
      return "not repeatable";
  }
  return "unknown";
}

Outcome Runtime::Execute(const Body& body, Chooser& chooser, const Budgets& budgets, Freeze freeze,
                         HeapPolicy heap_policy, bool traces) {
  ++generation_;
  body_ = &body;
  chooser_ = &chooser;
  left_ = budgets;
  freeze_ = freeze;
  victim_released_ = false;
  traces_ = traces;
  outcome_ = Outcome{};
  choices_.clear();
  trace_.clear();
  for (Thread& thread : threads_) {
    thread.state = ThreadState::kFinished;
    thread.steps = 0;
  }
  memory_.Begin(budgets.stale_reads_max > 0);
  Heap::Get().Begin(heap_policy, this);
  chooser.Begin();

  threads_[0].state = ThreadState::kReady;
  threads_[0].fresh = true;
  threads_[0].fiber.Prepare(&RunThread, this);
  threads_used_ = 1;
  unfinished_ = 1;
  running_ = 0;
  steps_ = 0;
  outcome_.threads = 1;
  current_ = this;
  Fiber::Switch(host_, threads_[0].fiber);
  SetHeapTracks(false);
  current_ = nullptr;
  Heap::Get().End();
  outcome_.steps = steps_;
  if (!outcome_.failed && !chooser.UsedAllChoices()) {
    outcome_.failed = true;
    outcome_.kind = FailureKind::kNotRepeatable;
    outcome_.message = "the same choices led to an earlier end than before";
  }
  if (!outcome_.failed && Heap::Get().live_blocks() > 0) {
    outcome_.failed = true;
    outcome_.kind = FailureKind::kLeak;
    outcome_.message = Heap::Get().DescribeLive();
  }
  return outcome_;
}

void Runtime::RunThread(void* runtime) {
  SetHeapTracks(true);
  static_cast<Runtime*>(runtime)->RunBody();
}

void Runtime::RunBody() {
  Thread& self = threads_[running_];
  try {
    if (running_ == 0) {
      (*body_)();
    } else {
      (*self.body)();
    }
  } catch (const std::exception& error) {
    Fail(FailureKind::kCheck, std::string("an exception left the thread: ") + error.what());
  } catch (...) {
    Fail(FailureKind::kCheck, "an exception left the thread");
  }
  if (running_ != 0) delete self.body;
  Finish();
}

void Runtime::Finish() {
  Thread& self = threads_[running_];
  if (running_ == 0) {
    if (unfinished_ > 1) Fail(FailureKind::kCheck, "the body returned before it joined");
    self.state = ThreadState::kFinished;
    Fiber::Switch(self.fiber, host_);
  }
  NoteThread("ends");
  self.state = ThreadState::kFinished;
  --unfinished_;
  if (unfinished_ == 1 && threads_[0].state == ThreadState::kJoining) {
    threads_[0].state = ThreadState::kReady;
  }
  SwitchAway();
}

void Runtime::Fail(FailureKind kind, std::string message) {
  SetHeapTracks(false);
  outcome_.failed = true;
  outcome_.kind = kind;
  outcome_.message.assign(message);
  NoteThread(outcome_.message.c_str());
  // The fiber never runs again, so the message must be freed here.
  std::string().swap(message);
  Fiber::Switch(threads_[running_].fiber, host_);
  std::terminate();
}

void Runtime::OnHeapError(const char* what, const void* address) {
  char message[120];
  std::snprintf(message, sizeof(message), "%s (%p)", what, address);
  Fail(FailureKind::kBadFree, message);
}

const View& Runtime::Knowledge() {
  memory_.Tick(running_);
  return memory_.Now(running_);
}

void Runtime::Spawn(std::function<void()> body) {
  if (running_ != 0) Fail(FailureKind::kCheck, "only the body's own thread may start threads");
  if (threads_used_ == kFibersMax) Fail(FailureKind::kCheck, "too many threads for the model");
  const uint32_t child = threads_used_++;
  if (outcome_.threads < threads_used_) outcome_.threads = threads_used_;
  ++unfinished_;
  Thread& thread = threads_[child];
  thread.body = new std::function<void()>(std::move(body));
  thread.state = ThreadState::kReady;
  thread.fresh = true;
  thread.yielded = false;
  thread.fiber.Prepare(&RunThread, this);
  memory_.Spawn(0, child);
}

void Runtime::JoinAll() {
  if (running_ != 0) Fail(FailureKind::kCheck, "only the body's own thread may join");
  if (unfinished_ > 1) {
    threads_[0].state = ThreadState::kJoining;
    SwitchAway();
  }
  for (uint32_t thread = 1; thread < threads_used_; ++thread) memory_.Join(0, thread);
  memory_.BeAlone();
  threads_used_ = 1;
}

void Runtime::Observe(std::vector<int64_t> values) {
  const Untracked untracked;
  ++observations_[values];
}

uint32_t Runtime::Choose(ChoiceKind kind, uint32_t count, const uint8_t* threads, bool continues) {
  if (count == 1) return 0;
  const Untracked untracked;
  const uint32_t index = chooser_->Choose({kind, continues, count, threads});
  if (index == kNever) {
    Fail(FailureKind::kNotRepeatable, "the same choices led to another point than before");
  }
  choices_.push_back(static_cast<uint8_t>(index));
  return index;
}

uint32_t Runtime::AddReady(Options& options, uint32_t count, bool yielded_too) const {
  for (uint32_t id = 0; id < threads_used_; ++id) {
    const Thread& thread = threads_[id];
    if (id == running_ || thread.state != ThreadState::kReady) continue;
    if (thread.yielded && !yielded_too) continue;
    options[count++] = static_cast<uint8_t>(id);
  }
  return count;
}

uint32_t Runtime::AddEarly(Options& options, uint32_t count) const {
  for (uint32_t id = 0; id < threads_used_; ++id) {
    if (id == running_ || threads_[id].state != ThreadState::kWaiting) continue;
    options[count++] = static_cast<uint8_t>(id | kEarly);
  }
  return count;
}

void Runtime::BeforeStep() {
  Thread& self = threads_[running_];
  CheckSteps();
  ++self.steps;
  if (self.steps == freeze_.step && running_ == freeze_.thread) {
    self.state = ThreadState::kFrozen;
    outcome_.froze = true;
    NoteThread("is frozen");
    SwitchAway();
  } else if (!self.fresh && unfinished_ > 1) {
    Options options;
    options[0] = static_cast<uint8_t>(running_);
    uint32_t count = left_.preemptions_max > 0 ? AddReady(options, 1, true) : 1;
    if (left_.early_returns_max > 0) count = AddEarly(options, count);
    const uint32_t index = Choose(ChoiceKind::kThread, count, options.data(), true);
    if (index > 0) {
      if (left_.preemptions_max > 0) --left_.preemptions_max;
      SwitchTo(options[index]);
    }
  }
  self.fresh = false;
  ++steps_;
  memory_.Tick(running_);
}

void Runtime::CheckSteps() {
  if (steps_ < left_.steps_max) return;
  const bool frozen = outcome_.froze && !victim_released_;
  Fail(frozen ? FailureKind::kStalled : FailureKind::kLivelock,
       "no end within " + std::to_string(left_.steps_max) + " steps;" + DescribeThreads());
}

void Runtime::SwitchAway() {
  Options options;
  uint32_t count = AddReady(options, 0, false);
  if (count == 0) count = AddReady(options, 0, true);
  const bool may_stay = threads_[running_].state == ThreadState::kReady;
  if (count == 0 && may_stay) return;
  if (count == 0) return Unblock();
  if (left_.early_returns_max > 0) count = AddEarly(options, count);
  SwitchTo(options[Choose(ChoiceKind::kThread, count, options.data(), false)]);
}

void Runtime::Unblock() {
  // No thread is ready. A deadline may pass; else the frozen thread continues once all others have
  // finished.
  Options options;
  uint32_t count = 0;
  bool others_finished = true;
  for (uint32_t id = 1; id < threads_used_; ++id) {
    const Thread& thread = threads_[id];
    if (thread.state == ThreadState::kWaiting && thread.has_deadline) {
      options[count++] = static_cast<uint8_t>(id);
    }
    others_finished &= id == freeze_.thread || thread.state == ThreadState::kFinished;
  }
  Thread& victim = threads_[freeze_.thread];
  if (count > 0) {
    const uint8_t id = options[Choose(ChoiceKind::kThread, count, options.data(), false)];
    threads_[id].timed_out = true;
    threads_[id].state = ThreadState::kReady;
    if (id != running_) SwitchTo(id);
    return;
  }
  const bool frozen = victim.state == ThreadState::kFrozen;
  if (!frozen || !others_finished) {
    Fail(frozen ? FailureKind::kStalled : FailureKind::kDeadlock,
         "no thread can continue;" + DescribeThreads());
  }
  victim.state = ThreadState::kReady;
  victim_released_ = true;
  if (freeze_.thread != running_) SwitchTo(static_cast<uint8_t>(freeze_.thread));
}

void Runtime::SwitchTo(uint8_t option) {
  const uint32_t next = option & ~kEarly;
  Thread& thread = threads_[next];
  if (option & kEarly) {
    --left_.early_returns_max;
    thread.timed_out = thread.has_deadline;
    thread.state = ThreadState::kReady;
  }
  thread.yielded = false;
  thread.fresh = true;
  const bool tracks = HeapTracks();
  Fiber& from = threads_[running_].fiber;
  running_ = next;
  Fiber::Switch(from, thread.fiber);
  SetHeapTracks(tracks);
}

void Runtime::Yield() {
  // A pause changes nothing for other threads, so it is no choice: another thread continues.
  CheckSteps();
  ++steps_;
  NoteThread("pauses");
  threads_[running_].yielded = true;
  SwitchAway();
  threads_[running_].yielded = false;
}

std::string Runtime::DescribeThreads() const {
  std::string text;
  for (uint32_t id = 0; id < threads_used_; ++id) {
    const Thread& thread = threads_[id];
    text += " thread " + std::to_string(id);
    switch (thread.state) {
      case ThreadState::kReady:
        text += " could go on";
        break;
      case ThreadState::kWaiting:
        text += " waits on a word";
        break;
      case ThreadState::kJoining:
        text += " joins the others";
        break;
      case ThreadState::kFrozen:
        text += " is frozen before its step " + std::to_string(freeze_.step);
        break;
      case ThreadState::kFinished:
        text += " has ended";
        break;
    }
    text += ';';
  }
  return text;
}

}  // namespace schedq::model

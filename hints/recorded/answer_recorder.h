// Records what plugins answer, so that a run can be replayed without them.
//
// Purpose: the recorder of a trace wraps each plugin before it is registered. After each operation
// of the queue it takes the answers given during the operation and writes them into the operation's
// `rejected` and `verdicts` (recorded_answers.h). In the trace, the kinds of such a plugin are all
// `recorded`.
// When not to use it: in a measured run; every answer that matters takes a lock.
// Threads: plugins may answer from any thread; operations must not overlap.
// Memory: the answers since the last TakeAnswers.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "engine/pod.h"
#include "hints/plugin.h"

namespace schedq {

class AnswerRecorder {
 public:
  // Pods are written "namespace/name".
  struct Answers {
    std::map<std::string, std::string> rejected;            // Pod to plugin.
    std::map<std::string, std::set<std::string>> verdicts;  // Plugin to pods that it would queue.
  };

  // The same plugin, whose rejections and Queues (and errors, which count as Queue) are recorded.
  // This recorder must outlive it.
  Plugin Record(Plugin plugin);

  // What was answered since the last call.
  Answers TakeAnswers();

 private:
  void NoteRejection(const Pod& pod, const std::string& plugin);
  void NoteQueue(const Pod& pod, const std::string& plugin);

  std::mutex mutex_;
  Answers answers_;  // Guarded by mutex_.
};

}  // namespace schedq

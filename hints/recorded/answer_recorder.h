// Writes down what plugins answer, so that a run can be replayed without them.
//
// Purpose: wrap each plugin before it is registered; after each operation of the queue take what
// was answered during it and write it into the operation's `rejected` and `verdicts`
// (recorded_answers.h). In the trace, such a plugin's kinds are all `recorded`.
// When not to use it: in a measured run; every answer that matters takes a lock.
// Threads: plugins may answer from any thread; operations must not overlap.
// Memory: the answers since the last Take.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "hints/plugin.h"

namespace schedq {

class AnswerRecorder {
 public:
  // Pods are written "namespace/name".
  struct Answers {
    std::map<std::string, std::string> rejected;            // Pod to plugin.
    std::map<std::string, std::set<std::string>> verdicts;  // Plugin to pods that it would queue.
  };

  // The same plugin, whose rejections and Queues (and errors, which count as Queue) are written
  // down. This recorder must outlive it.
  Plugin Record(Plugin plugin);

  // What was answered since the last call.
  Answers Take();

 private:
  void NoteRejection(const Pod& pod, const std::string& plugin);
  void NoteQueue(const Pod& pod, const std::string& plugin);

  std::mutex mutex_;
  Answers answers_;  // Guarded by mutex_.
};

}  // namespace schedq

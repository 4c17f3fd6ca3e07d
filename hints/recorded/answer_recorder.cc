#include "hints/recorded/answer_recorder.h"

#include <utility>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {
namespace {

std::string NameOf(const Pod& pod) { return pod.namespace_name + "/" + pod.name; }

}  // namespace

Plugin AnswerRecorder::Record(Plugin plugin) {
  if (plugin.pre_enqueue) {
    plugin.pre_enqueue = [this, name = plugin.name, ask = std::move(plugin.pre_enqueue)](
                             const Pod& pod, std::string* message) {
      const bool may_enter = ask(pod, message);
      if (!may_enter) NoteRejection(pod, name);
      return may_enter;
    };
  }
  for (EventRegistration& registration : plugin.events) {
    registration.hint = [this, name = plugin.name, ask = std::move(registration.hint)](
                            const Pod& pod, const ObjectChange& change) {
      const Hint answer = ask ? ask(pod, change) : Hint::kQueue;
      if (answer != Hint::kSkip) NoteQueue(pod, name);
      return answer;
    };
  }
  return plugin;
}

AnswerRecorder::Answers AnswerRecorder::TakeAnswers() {
  std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void AnswerRecorder::NoteRejection(const Pod& pod, const std::string& plugin) {
  std::lock_guard lock(mutex_);
  answers_.rejected.insert_or_assign(NameOf(pod), plugin);
}

void AnswerRecorder::NoteQueue(const Pod& pod, const std::string& plugin) {
  std::lock_guard lock(mutex_);
  answers_.verdicts[plugin].insert(NameOf(pod));
}

}  // namespace schedq

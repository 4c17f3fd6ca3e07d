#include "hints/recorded/recorded_answers.h"

#include <utility>

namespace schedq {

void RecordedAnswers::BeginOperation(ObjectRef object) {
  rejected_.clear();
  operation_verdicts_.clear();
  object_ = std::move(object);
}

void RecordedAnswers::Reject(std::string_view namespace_name, std::string_view pod,
                             std::string_view plugin) {
  rejected_.insert_or_assign(ObjectName({namespace_name, pod}), std::string(plugin));
}

void RecordedAnswers::Queue(std::string_view namespace_name, std::string_view pod,
                            std::string_view plugin) {
  Verdicts* verdicts = &operation_verdicts_;
  if (object_ != nullptr) {
    EventAnswers& answers = by_object_[object_.get()];
    answers.object = object_;
    verdicts = &answers.verdicts;
  }
  (*verdicts)[std::string(plugin)].insert(ObjectName({namespace_name, pod}));
}

void RecordedAnswers::Clear() {
  BeginOperation();
  by_object_.clear();
}

bool RecordedAnswers::Rejects(std::string_view plugin, const Pod& pod) const {
  const auto found = rejected_.find(ObjectNameView{pod.namespace_name, pod.name});
  return found != rejected_.end() && found->second == plugin;
}

bool RecordedAnswers::Queues(std::string_view plugin, const Pod& pod,
                             const ObjectView* object) const {
  const ObjectNameView name{pod.namespace_name, pod.name};
  for (const Verdicts* verdicts : {&operation_verdicts_, Of(object)}) {
    if (verdicts == nullptr) continue;
    const auto found = verdicts->find(std::string(plugin));
    if (found != verdicts->end() && found->second.find(name) != found->second.end()) return true;
  }
  return false;
}

const RecordedAnswers::Verdicts* RecordedAnswers::Of(const ObjectView* object) const {
  const auto found = by_object_.find(object);
  return found == by_object_.end() ? nullptr : &found->second.verdicts;
}

}  // namespace schedq

// Add, Pop, Fail and Event through the assembled queue, and the same wired by hand.
//
// Purpose: what assembling costs an operation: the two ways differ in nothing else. By hand the
// caller tells the plugins' world and then the engine, and holds what a Pop gives; assembled, the
// assembled queue does both, and gives attempts that end once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "schedq/attempt.h"

namespace schedq {

enum class Wiring : uint8_t { kByHand, kAssembled };
enum class QueueOperation : uint8_t { kAdd, kPop, kFail, kEvent };
inline constexpr QueueOperation kQueueOperations[] = {
    QueueOperation::kAdd, QueueOperation::kPop, QueueOperation::kFail, QueueOperation::kEvent};
// "add", ...
std::string_view QueueOperationName(QueueOperation operation);

// Every pod has a claim of its own; an Event updates one claim and requeues one pod. Answer: every
// pod is where the operation puts it.
class AssemblyPath final : public MeasuredPath {
 public:
  AssemblyPath(Wiring wiring, QueueOperation operation, int64_t pods);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  void Add();
  void Pop();
  void Fail();
  void SendEvents();

  const bool is_by_hand_;
  const QueueOperation operation_;
  const std::vector<PodRef> pods_;
  const ClusterEvent event_;
  EngineStage stage_;
  const PluginSet rejector_;
  std::vector<ObjectChange> changes_;
  // After the stage, which attempts need when they end.
  std::vector<PoppedPod> popped_;
  std::vector<Attempt> attempts_;
};

}  // namespace schedq

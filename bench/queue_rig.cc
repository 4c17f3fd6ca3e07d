#include "bench/queue_rig.h"

namespace schedq {

Result<std::unique_ptr<QueueRig>> QueueRig::Create(const QueueRigOptions& options) {
  std::unique_ptr<QueueRig> rig(new QueueRig);
  Result<std::vector<Plugin>> plugins = options.make_plugins(&rig->world_);
  if (!plugins) return plugins.error();
  Result<PluginRegistry> registry = PluginRegistry::Build(std::move(*plugins));
  if (!registry) return registry.error();
  rig->plugins_ = std::make_unique<PluginRegistry>(std::move(*registry));
  rig->pre_enqueue_ = std::make_unique<PluginPreEnqueue>(
      *rig->plugins_, PreEnqueueOptions{.metrics = &rig->metrics_});
  JudgeOptions judge;
  judge.metrics = &rig->metrics_;
  if (!options.judges_in_parallel) judge.parallel_from = JudgeOptions::kNeverParallel;
  rig->judge_ = std::make_unique<PluginJudge>(*rig->plugins_, judge);

  QueueOptions queue;
  queue.clock = options.clock;
  queue.pod_names = &rig->pod_names_;
  queue.pre_enqueue = rig->pre_enqueue_.get();
  queue.judge = rig->judge_.get();
  queue.observers = options.observers;
  queue.metrics = &rig->metrics_;
  queue.plugin_names = rig->plugins_->Names();
  queue.gates = options.gates;
  queue.backoff = options.backoff;
  queue.max_in_unschedulable = options.max_in_unschedulable;
  rig->queue_ = options.make_queue ? options.make_queue(std::move(queue))
                                   : MakeQueue(options.engine, std::move(queue));
  return rig;
}

}  // namespace schedq

#include "tests/support/queue/queue_bench.h"

namespace schedq {
namespace {

PluginRegistry MustBuild(std::vector<Plugin> plugins) {
  Result<PluginRegistry> registry = PluginRegistry::Build(std::move(plugins));
  SCHEDQ_CHECK(registry.ok(), "a test's plugins are well-formed");
  return std::move(*registry);
}

Gates MustResolve(const GateRequest& request) {
  Result<Gates> gates = Gates::Resolve(request);
  SCHEDQ_CHECK(gates.ok(), "a test's gates do not conflict");
  return *gates;
}

}  // namespace

Gates GatesWith(Gate gate, bool on) {
  GateRequest request;
  request.Set(gate, on);
  return MustResolve(request);
}

Gates GatesWith(Gate first, bool first_on, Gate second, bool second_on) {
  GateRequest request;
  request.Set(first, first_on);
  request.Set(second, second_on);
  return MustResolve(request);
}

std::shared_ptr<Pod> MakePod(const std::string& name, int32_t priority) {
  auto pod = std::make_shared<Pod>();
  pod->namespace_name = "ns";
  pod->name = name;
  pod->uid = "uid-" + name;
  pod->priority = priority;
  return pod;
}

QueueBench::QueueBench(QueueBenchOptions options)
    : start_(options.start),
      world_(&pod_names_),
      clock_(options.start),
      registry_(MustBuild(std::move(options.plugins))),
      pre_enqueue_(registry_, PreEnqueueOptions{.metrics = &metrics_}),
      judge_(registry_, JudgeOptions{.metrics = &metrics_}) {
  QueueOptions queue_options;
  queue_options.clock = &clock_;
  queue_options.pod_names = &pod_names_;
  queue_options.pre_enqueue = &pre_enqueue_;
  queue_options.judge = &judge_;
  queue_options.observers = std::move(options.observers);
  queue_options.metrics = &metrics_;
  queue_options.plugin_names = registry_.Names();
  queue_options.gates = options.gates;
  queue_options.backoff = options.backoff;
  queue_ = MakeQueue(options.engine, std::move(queue_options));
}

PluginId QueueBench::PluginNamed(const std::string& name) const {
  const std::optional<PluginId> plugin = registry_.Find(name);
  SCHEDQ_CHECK(plugin.has_value(), "a test names its own plugins");
  return *plugin;
}

PluginSet QueueBench::Plugins(const std::vector<std::string>& names) const {
  PluginSet plugins;
  for (const std::string& name : names) plugins.Insert(PluginNamed(name));
  return plugins;
}

int64_t QueueBench::ElapsedMs() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - start_).count();
}

void QueueBench::Add(const PodRef& pod) {
  world_.PodChanged(nullptr, pod.get());
  queue_->Add(pod);
}

void QueueBench::Update(const PodRef& before, const PodRef& after) {
  world_.PodChanged(before.get(), after.get());
  queue_->Update(before, after);
}

void QueueBench::Delete(const PodRef& pod) {
  world_.PodChanged(pod.get(), nullptr);
  queue_->Delete(*pod);
}

void QueueBench::Bind(const PoppedPod& popped) {
  world_.PodChanged(popped.pod.get(), nullptr);
  queue_->Bind(popped.key);
}

PoppedPod QueueBench::MustPop() {
  std::optional<PoppedPod> popped = queue_->TryPop();
  SCHEDQ_CHECK(popped.has_value(), "the test put a pod where Pop finds it");
  return *popped;
}

Status QueueBench::Fail(const PoppedPod& popped, const std::vector<std::string>& unschedulable,
                        const std::vector<std::string>& pending) {
  return queue_->Fail(popped.key, Plugins(unschedulable), Plugins(pending));
}

void QueueBench::AddRejected(const PodRef& pod, const std::vector<std::string>& unschedulable,
                             const std::vector<std::string>& pending) {
  Add(pod);
  const PoppedPod popped = MustPop();
  SCHEDQ_CHECK(popped.pod->name == pod->name, "nothing else was active");
  SCHEDQ_CHECK(Fail(popped, unschedulable, pending).ok(), "a popped pod can fail");
}

std::string QueueBench::PlaceOf(const std::string& name) const {
  const PodWhereabouts where = queue_->Where("ns/" + name);
  std::string text(PlaceName(where.place));
  if (InBackoff(where.place)) {
    const auto since =
        std::chrono::floor<std::chrono::milliseconds>(*where.fields.backoff_expiration - start_);
    text += "@" + std::to_string(since.count());
  } else if (where.place == Place::kGated) {
    text += ":" + registry_.plugin(where.fields.gating_plugin).name;
  }
  return text;
}

QueueingFields QueueBench::FieldsOf(const std::string& name) const {
  return queue_->Where("ns/" + name).fields;
}

}  // namespace schedq

#include "tests/support/queue/queue_bench.h"

#include <optional>

#include "engine/base/result.h"
#include "schedq/assembly_options.h"

namespace schedq {
namespace {

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

QueueBench::QueueBench(QueueBenchOptions options) : start_(options.start), clock_(options.start) {
  AssemblyOptions assembly;
  assembly.engine = options.engine;
  assembly.clock = &clock_;
  assembly.plugins = [&](World*) -> Result<std::vector<Plugin>> {
    return std::move(options.plugins);
  };
  assembly.gates = options.gates;
  assembly.backoff = options.backoff;
  assembly.pods_max = options.pods_max;
  assembly.observers = std::move(options.observers);
  Result<std::unique_ptr<AssembledQueue>> assembled = AssembledQueue::Create(std::move(assembly));
  SCHEDQ_CHECK(assembled.ok(), "a test's plugins are well-formed");
  assembled_ = std::move(*assembled);
}

PluginId QueueBench::PluginNamed(const std::string& name) const {
  const std::optional<PluginId> plugin = assembled_->plugins().Find(name);
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

void QueueBench::Add(const PodRef& pod) { MustSucceed(assembled_->PodAdded(pod)); }

void QueueBench::Update(const PodRef& before, const PodRef& after) {
  MustSucceed(assembled_->PodUpdated(before, after));
}

void QueueBench::Delete(const PodRef& pod) { assembled_->PodDeleted(pod); }

void QueueBench::Bind(const PoppedPod& popped) { assembled_->PodBound(popped.pod); }

PoppedPod QueueBench::MustPop() {
  std::optional<PoppedPod> popped = queue().TryPop();
  SCHEDQ_CHECK(popped.has_value(), "the test put a pod where Pop finds it");
  return *popped;
}

Status QueueBench::Fail(const PoppedPod& popped, const std::vector<std::string>& unschedulable,
                        const std::vector<std::string>& pending) {
  return assembled_->queue().Fail(popped.key, Plugins(unschedulable), Plugins(pending));
}

void QueueBench::AddRejected(const PodRef& pod, const std::vector<std::string>& unschedulable,
                             const std::vector<std::string>& pending) {
  Add(pod);
  const PoppedPod popped = MustPop();
  SCHEDQ_CHECK(popped.pod->name == pod->name, "nothing else was active");
  SCHEDQ_CHECK(Fail(popped, unschedulable, pending).ok(), "a popped pod can fail");
}

std::string QueueBench::PlaceOf(const std::string& name) const {
  const PodWhereabouts where = assembled_->Where("ns/" + name);
  std::string text(PlaceName(where.place));
  if (InBackoff(where.place)) {
    const auto since =
        std::chrono::floor<std::chrono::milliseconds>(*where.fields.backoff_expiration - start_);
    text += "@" + std::to_string(since.count());
  } else if (where.place == Place::kGated) {
    text += ":" + assembled_->plugins().plugin(where.fields.gating_plugin).name;
  }
  return text;
}

QueueingFields QueueBench::FieldsOf(const std::string& name) const {
  return assembled_->Where("ns/" + name).fields;
}

}  // namespace schedq

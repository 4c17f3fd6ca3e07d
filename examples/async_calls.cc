// The dispatcher attached: what the queue and its attempts decide becomes calls to an API server,
// which a sink of this program plays.
#include <dispatcher/api_sink.h>
#include <schedq/assembled_queue.h>

#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// Executes calls; the dispatcher's thread calls it. A real one would start a request and answer
// when the reply is there.
class PrintingSink : public schedq::ApiSink {
 public:
  void Execute(const schedq::ApiCall& call,
               std::function<void(const schedq::Status&)> done) override {
    std::printf("call: %s of %s", std::string(CallTypeName(call.type)).c_str(),
                call.pod->name.c_str());
    if (call.nomination() != nullptr) std::printf(", nominated %s", call.nomination()->c_str());
    if (!call.node().empty()) std::printf(", to %s", std::string(call.node()).c_str());
    std::printf("\n");
    done(schedq::Status::Ok());
    if (call.type == schedq::CallType::kStatusPatch) patched_.set_value();
  }
  void WaitForPatch() { patched_.get_future().wait(); }

 private:
  std::promise<void> patched_;
};

int main() {
  PrintingSink sink;
  schedq::AssemblyOptions options;
  options.api_calls.emplace();
  options.api_calls->sink = &sink;
  auto made = schedq::AssembledQueue::Create(std::move(options));
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message().c_str());
    return 1;
  }
  schedq::AssembledQueue& queue = **made;

  auto pod = std::make_shared<schedq::Pod>();
  pod->namespace_name = "default";
  pod->name = "web";
  pod->uid = "1";
  if (!queue.PodChanged(nullptr, pod)) return 1;  // There is no room for it.

  std::optional<schedq::Attempt> attempt = queue.Pop();
  // A plugin has work to do before the pod is bound, so others should see where it is going.
  schedq::BindingPlan plan;
  plan.node = "node-1";
  plan.pre_flights = {schedq::PreFlight::kSuccess};
  if (!attempt->BeginBinding(plan)) return 1;
  sink.WaitForPatch();  // Here that plugin would work.

  std::promise<bool> bound;
  const schedq::Status sent = attempt->SendBinding(
      "node-1", [&bound](const schedq::Status& status) { bound.set_value(status.ok()); });
  if (!sent) return 1;
  std::printf("bound: %s\n", bound.get_future().get() ? "yes" : "no");

  // The cluster's informer tells of the bound pod.
  auto assigned = std::make_shared<schedq::Pod>(*pod);
  assigned->node_name = "node-1";
  if (!queue.PodChanged(pod, assigned)) return 1;
  queue.Close();
}

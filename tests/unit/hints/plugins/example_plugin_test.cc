// Goal: a plugin written outside the tree works beside the built-in ones.
// Method: example_plugin.cc includes nothing but hints/plugin.h; here it is registered and asked.
#include "tests/unit/hints/plugins/example_plugin.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/base/names/interner.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/pre_enqueue.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

TEST(HintsExamplePluginTest, GatesAndWakesBesideTheBuiltinPlugins) {
  Interner names;
  const World world(&names);
  const example::QuotaByNamespace quota = {{"ns", 0}};
  std::vector<Plugin> plugins = BuiltinPlugins(&world);
  plugins.push_back(example::NamespaceQuotaPlugin(&quota));
  const PluginRegistry registry = BuildOrDie(plugins);
  const PluginId id = *registry.Find("NamespaceQuota");

  const Pod pod = MakePod("p");
  const PluginPreEnqueue check(registry);
  EXPECT_EQ(check.Check(pod, kNoPlugin), id);
  EXPECT_EQ(check.Explain(pod, id), "waiting for a pod of namespace \"ns\" to end");
  Pod elsewhere = pod;
  elsewhere.namespace_name = "other";
  EXPECT_EQ(check.Check(elsewhere, kNoPlugin), kNoPlugin);

  const PluginJudge judge(registry);
  const ClusterEvent gone = MakeEvent(Resource::kAssignedPod, Action::kDelete);
  const ObjectChange change{ViewOfPod(MakePod("gone")), nullptr};
  const JudgedPod here{&pod, 0, PluginSet::Of(id), {}};
  const JudgedPod there{&elsewhere, 1, PluginSet::Of(id), {}};
  EXPECT_EQ(JudgeOne(judge, here, gone, change), Verdict::kAfterBackoff);
  EXPECT_EQ(JudgeOne(judge, there, gone, change), Verdict::kSkip);
}

}  // namespace
}  // namespace schedq::hints_test

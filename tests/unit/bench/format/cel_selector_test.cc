// Goal: selectors match the devices that they describe, cost what upstream counts, and allocate
// nothing.
// Method: a device with attributes of every type, and tables of expressions.
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/cel/cel_checker.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/device_selector.h"
#include "bench/format/cel/device_view.h"
#include "bench/format/cel/selector_program.h"
#include "bench/format/cel/semantic_version.h"
#include "tests/support/failing_new.h"

namespace schedq {
namespace {

DeviceView Gpu() {
  DeviceView device("gpu.example.com");
  device.AllowMultipleAllocations(true);
  device.SetAttribute("model", std::string("a100"));
  device.SetAttribute("cores", int64_t{6912});
  device.SetAttribute("ecc", true);
  device.SetAttribute("driverVersion", *SemanticVersion::Parse("12.4.1"));
  device.SetAttribute("pci.example.org/root", std::string("pci0000:00"));
  device.SetAttribute("links", std::vector<int64_t>{1, 2, 4});
  device.SetAttribute("names", std::vector<std::string>{"one", "two"});
  device.SetAttribute("flags", std::vector<bool>{true, false});
  device.SetAttribute("firmwares", std::vector<SemanticVersion>{*SemanticVersion::Parse("1.0.0"),
                                                                *SemanticVersion::Parse("2.0.0")});
  device.SetCapacity("memory", *ExactQuantity::Parse("80Gi"));
  device.SetCapacity("net.example.org/bandwidth", *ExactQuantity::Parse("400G"));
  return device;
}

// "match", "no match", or the error; what is refused begins with "refused".
std::string ResultOf(const std::string& expression, const DeviceView& device = Gpu()) {
  const auto selector = DeviceSelector::Parse(expression);
  if (!selector.ok()) return "refused: " + selector.error().message();
  std::string error;
  switch (selector->Evaluate(device, &error)) {
    case SelectorResult::kMatch:
      return "match";
    case SelectorResult::kNoMatch:
      return "no match";
    default:
      return error;
  }
}

const std::string kGpu = R"(device.attributes["gpu.example.com"])";

TEST(DeviceSelector, SeesTheWholeDevice) {
  const std::pair<std::string, std::string> rows[] = {
      {R"(device.driver == "gpu.example.com")", "match"},
      {R"(device.driver == "other")", "no match"},
      {"device.allowMultipleAllocations", "match"},
      {kGpu + ".model == 'a100'", "match"},
      {kGpu + "['model'].startsWith('h')", "no match"},
      {kGpu + ".cores >= 6000 && " + kGpu + ".ecc", "match"},
      {kGpu + ".ecc", "match"},
      {kGpu + ".driverVersion.isGreaterThan(semver('12.0.0'))", "match"},
      {kGpu + ".driverVersion.major() == 12", "match"},
      {R"(device.attributes["pci.example.org"].root.matches('^pci'))", "match"},
      {R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) == 0)", "match"},
      {R"(device.capacity["net.example.org"].bandwidth.isLessThan(quantity("1G")))", "no match"},
      {kGpu + ".links.exists(x, x == 4)", "match"},
      {kGpu + ".names.includes('two') && " + kGpu + ".model.includes('a100')", "match"},
      {kGpu + ".flags.all(x, x)", "no match"},
      {kGpu + ".firmwares.exists_one(v, v.major() == 2)", "match"},
      {kGpu + ".names.join('+') == 'one+two'", "match"},
      {"cel.bind(gpu, " + kGpu + ", gpu.ecc && gpu.cores > 1)", "match"},
      {R"("gpu.example.com" in device.attributes && !("x" in device.capacity))", "match"},
      {kGpu + ".exists(name, name == 'ecc')", "match"},
      {"'ecc' in " + kGpu + " && !('x' in " + kGpu + ")", "match"},
      {"has(" + kGpu + ".ecc) && !has(" + kGpu + ".x)", "match"},
      {"size(device.attributes) == 2 && size(device.attributes['x']) == 0", "match"},
      {"device.capacity.all(domain, domain.endsWith('.com') || domain.endsWith('.org'))", "match"}};
  for (const auto& [expression, result] : rows)
    EXPECT_EQ(ResultOf(expression), result) << expression;
}

TEST(DeviceSelector, SaysWhatIsMissing) {
  const std::pair<std::string, std::string> rows[] = {
      {R"(device.attributes["none"].name == 1)", "no such key: name"},
      {kGpu + ".name == 1", "no such key: name"},
      {kGpu + ".name == 1 || true", "match"},
      {R"(device.capacity["none"]["name"] == quantity("1"))", "no such key: name"},
      {kGpu + ".names", "CEL result of type list could not be converted to bool"},
      {kGpu + ".cores.exists(x, true)", "expected a list or a map to iterate over, got int"},
      {kGpu + ".model > 1", "no such overload: _>_(string, int)"},
      {kGpu + ".model.major() == 1", "no such overload: major(string)"},
      {"device.vendor", "refused: 1:7: undefined field 'vendor'"},
      {"device.driver > 1",
       "refused: 1:15: found no matching overload for '_>_' applied to '(string, int)'"},
      {"device.driver", "refused: 1:1: must evaluate to bool or the unknown type, not string"},
      {"1", "refused: 1:1: must evaluate to bool or the unknown type, not int"},
      {"devise.driver == ''", "refused: 1:1: undeclared reference to 'devise'"}};
  for (const auto& [expression, result] : rows)
    EXPECT_EQ(ResultOf(expression), result) << expression;
}

TEST(DeviceSelector, KnowsTheOneDriver) {
  const auto driver = [](const std::string& expression) {
    const auto selector = DeviceSelector::Parse(expression);
    EXPECT_TRUE(selector.ok()) << expression;
    return std::string(selector->RequiredDriver().value_or("any"));
  };
  EXPECT_EQ(driver("device.driver == 'a'"), "a");
  EXPECT_EQ(driver("'a' == device.driver && " + kGpu + ".ecc"), "a");
  EXPECT_EQ(driver("(device.driver == 'a' && true) && false"), "a");
  EXPECT_EQ(driver("device.driver == 'a' || " + kGpu + ".ecc"), "any");
  EXPECT_EQ(driver(kGpu + ".ecc && device.driver == 'a'"), "any");
  EXPECT_EQ(driver("device.driver != 'a'"), "any");
}

// What an evaluation costs by upstream's cost tracker.
uint64_t CostOf(const std::string& expression) {
  const auto program = SelectorProgram::Compile(expression, CelRules{});
  EXPECT_TRUE(program.ok()) << expression;
  if (!program.ok()) return 0;
  const DeviceView device = Gpu();
  CelRun run((*program)->tree(), (*program)->constants().patterns, &device);
  run.Run();
  return run.cost();
}

TEST(DeviceSelector, CostsWhatUpstreamCounts) {
  const std::pair<std::string, uint64_t> rows[] = {
      {"true", 0},
      // Each name, field and constant index costs one; texts a tenth of their code points.
      {"device.driver == 'gpu.example.com'", 2 + 2},
      {kGpu + ".ecc", 4},
      {kGpu + ".model == 'a100'", 5},
      {kGpu + ".cores > 1", 5},
      {"true || " + kGpu + ".ecc", 0},
      {"1 in [1, 2, 3]", 3},
      {kGpu + ".model.contains('10')", 4 + 1},
      {kGpu + ".model.matches('a+b+c+d+e')", 4 + 3},
      {R"(device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Gi")))", 4 + 1 + 1},
      // Of each item: the question whether to go on, the result so far, the item, the comparison.
      {"[1, 2].all(x, x > 0)", 2 * (2 + 1 + 2) + 1},
      {"[1, 2].exists(x, x > 0)", (3 + 1 + 2) + 3 + 1},
      {"[1, 2].map(x, x).size() == 2", 2 * (1 + 12) + 1 + 1 + 1}};
  for (const auto& [expression, cost] : rows) EXPECT_EQ(CostOf(expression), cost) << expression;
}

TEST(DeviceSelector, AllocatesNothing) {
  const DeviceView device = Gpu();
  const std::string expressions[] = {
      "device.driver == 'gpu.example.com' && " + kGpu + ".model.startsWith('a')",
      kGpu +
          ".driverVersion.major() >= 1 && device.capacity['gpu.example.com'].memory"
          ".isGreaterThan(quantity('1Mi'))",
      kGpu + ".links.exists(x, x in [3, 4]) && " + kGpu + ".names.includes('two')",
      kGpu + ".model.matches('^a[0-9]+$') && !has(" + kGpu + ".missing)",
      kGpu + ".missing == 1 || true"};
  for (const std::string& expression : expressions) {
    const auto selector = DeviceSelector::Parse(expression);
    ASSERT_TRUE(selector.ok()) << expression;
    // RE2 builds what it needs during the first searches.
    for (int i = 0; i < 3; ++i) selector->Evaluate(device);
    SelectorResult result = SelectorResult::kError;
    bool allocated = false;
    {
      const FailingNew first_fails(1);
      result = selector->Evaluate(device);
      allocated = first_fails.has_failed();
    }
    EXPECT_EQ(result, SelectorResult::kMatch) << expression;
    EXPECT_FALSE(allocated) << expression;
  }
}

// The checker of the test above can fail: a text that is built from many parts takes a block.
TEST(DeviceSelector, AllocationsAreSeen) {
  const auto selector = DeviceSelector::Parse(
      "cel.bind(s, 'abcdefghijklmnopqrstuvwxyz', cel.bind(t, s+s+s+s, (t+t+t+t+t).size() == 520))");
  ASSERT_TRUE(selector.ok());
  const DeviceView device = Gpu();
  bool allocated = false;
  try {
    const FailingNew first_fails(1);
    selector->Evaluate(device);
    allocated = first_fails.has_failed();
  } catch (const std::bad_alloc&) {
    allocated = true;
  }
  EXPECT_TRUE(allocated);
}

}  // namespace
}  // namespace schedq

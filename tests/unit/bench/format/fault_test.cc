// Goal: a fault says exactly what goes wrong, in a file and on the command line; anything else is
// refused with what was expected.
// Method: good texts against their fields, bad ones against a part of their line.
#include "bench/format/workload/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(FaultTest, TheCommandLineNamesEveryField) {
  const Result<Fault> errors =
      ParseFault("errors,percent=20,calls=bind+patch,after=2s,duration=10s");
  ASSERT_TRUE(errors) << errors.error().message();
  EXPECT_EQ(errors->kind, FaultKind::kErrors);
  EXPECT_EQ(errors->percent, 20);
  EXPECT_TRUE(errors->Hits(CallKind::kBind));
  EXPECT_TRUE(errors->Hits(CallKind::kPatch));
  EXPECT_FALSE(errors->Hits(CallKind::kClaim));
  EXPECT_EQ(errors->after, Duration(seconds(2)));
  EXPECT_EQ(errors->duration, Duration(seconds(10)));

  const Result<Fault> all = ParseFault("errors");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->percent, 100);
  EXPECT_TRUE(all->Hits(CallKind::kGroup));

  const Result<Fault> lag = ParseFault("lag,of=ResourceClaim,delay=50ms,jitter=20ms");
  ASSERT_TRUE(lag) << lag.error().message();
  EXPECT_EQ(lag->of, Resource::kResourceClaim);
  EXPECT_EQ(lag->delay, Duration(milliseconds(50)));
  EXPECT_EQ(lag->jitter, Duration(milliseconds(20)));

  const Result<Fault> slow = ParseFault("controllers,delay=1s");
  ASSERT_TRUE(slow) << slow.error().message();
  EXPECT_EQ(slow->kind, FaultKind::kControllers);
}

TEST(FaultTest, WhatIsWrongIsRefusedWithWhatWasExpected) {
  const std::pair<const char*, const char*> kBad[] = {
      {"", "expected one of errors, lag, controllers"},
      {"outage", "'outage': expected one of"},
      {"errors,", "'': expected FIELD=VALUE"},
      {"errors,percent", "'percent': expected FIELD=VALUE"},
      {"errors,percent=0", "percent is 0, expected 1 to 100"},
      {"errors,percent=101", "percent is 101"},
      {"errors,percent=020", "percent=020: expected a number"},
      {"errors,percent=-1", "expected a number from 1 to 100"},
      {"errors,percent=1,percent=2", "percent is said twice"},
      {"errors,calls=get", "expected some of bind, patch"},
      {"errors,calls=", "expected some of bind, patch"},
      {"errors,rate=1", "unknown field 'rate'"},
      {"errors,after=soon", "after=soon: expected a time"},
      {"errors,duration=-1s", "expected a time up to 24h"},
      {"errors,delay=1s", "delay: errors have none"},
      {"errors,of=Pod", "of: only a lag has it"},
      {"lag,delay=1s", "of is missing, expected one of Pod, Node"},
      {"lag,of=Pods,delay=1s", "of=Pods: expected one of Pod"},
      {"lag,of=AssignedPod,delay=1s", "expected one of Pod"},
      {"lag,of=Pod", "delay is 0 or missing"},
      {"lag,of=Pod,delay=1s,calls=bind", "calls: only errors have them"},
      {"controllers", "delay is 0 or missing"},
      {"controllers,delay=1s,jitter=1s", "jitter: only a lag has one"},
      {"controllers,delay=1s,percent=5", "percent: only errors have one"},
  };
  for (const auto& [text, message] : kBad) {
    const Result<Fault> fault = ParseFault(text);
    ASSERT_FALSE(fault) << text;
    EXPECT_THAT(fault.error().message(), HasSubstr(message)) << text;
  }
}

TEST(FaultTest, AFileSaysTheSame) {
  const auto cases = DecodeText(
      CaseOf("  - {opcode: injectFault, fault: errors, percentParam: $p, calls: [claim, volume], "
             "durationParam: $d}\n"
             "  - {opcode: injectFault, fault: lag, of: Pod, delay: 5ms, jitter: 1ms, after: 1s}\n"
             "  - {opcode: createPods, count: 1, collectMetrics: true}\n",
             "p: 30, d: 3s"),
      {});
  ASSERT_TRUE(cases) << cases.error().message();
  const auto& ops = (*cases)[0].workloads[0].ops;
  const Fault& errors = std::get<InjectFaultOp>(ops[0].action).fault;
  EXPECT_EQ(errors.percent, 30);
  EXPECT_TRUE(errors.Hits(CallKind::kVolume));
  EXPECT_FALSE(errors.Hits(CallKind::kBind));
  EXPECT_EQ(errors.duration, Duration(seconds(3)));
  const Fault& lag = std::get<InjectFaultOp>(ops[1].action).fault;
  EXPECT_EQ(lag.of, Resource::kPod);
  EXPECT_EQ(lag.after, Duration(seconds(1)));
}

TEST(FaultTest, AFileIsRefusedAtItsLine) {
  const std::pair<const char*, const char*> kBad[] = {
      {"{opcode: injectFault}", "no fault"},
      {"{opcode: injectFault, fault: fire}", "fault is \"fire\", expected one of errors, lag"},
      {"{opcode: injectFault, fault: errors, calls: [get]}", "calls has \"get\""},
      {"{opcode: injectFault, fault: lag, of: Service, delay: 1s}", "of is \"Service\""},
      {"{opcode: injectFault, fault: lag, delay: 1s}", "of is missing"},
      {"{opcode: injectFault, fault: errors, percent: 200}", "percent is 200, expected 1 to 100"},
      {"{opcode: injectFault, fault: errors, rate: 1}", "rate"},
  };
  for (const auto& [op, message] : kBad) {
    const auto cases =
        DecodeText(CaseOf("  - " + std::string(op) +
                          "\n  - {opcode: createPods, count: 1, collectMetrics: true}\n"),
                   {});
    ASSERT_FALSE(cases) << op;
    EXPECT_THAT(cases.error().message(), HasSubstr("w.yaml:3:")) << op;
    EXPECT_THAT(cases.error().message(), HasSubstr(message)) << op;
  }
}

}  // namespace
}  // namespace schedq

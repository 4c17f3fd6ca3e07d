// Goal: a run on the real clock can be watched: metrics and state over HTTP, on loopback only
// unless more is asked for, and the progress line says rate and depths.
// Method: the parts alone, with sockets of the test's own; then the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/program/live/http_server.h"
#include "bench/program/live/listen_address.h"
#include "bench/program/reports/real_progress.h"
#include "bench/sim/run/run_progress.h"
#include "tests/support/child_process.h"
#include "tests/support/http_client.h"

namespace schedq {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

std::string Get(uint16_t port, const std::string& path) {
  return AnswerTo(port,
                  "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

// A port that was free a moment ago.
uint16_t FreePort() {
  const auto server = HttpServer::Start("127.0.0.1:0", {});
  return (*server)->port();
}

TEST(ListenAddress, OnlyNumbersAndLocalhost) {
  const auto parse = [](const std::string& text) { return *ParseListenAddress(text); };
  EXPECT_TRUE(parse("127.0.0.1:9090").is_loopback);
  EXPECT_TRUE(parse("127.1.2.3:0").is_loopback);
  EXPECT_TRUE(parse("[::1]:65535").is_loopback);
  EXPECT_EQ(parse("localhost:80").Text(), "127.0.0.1:80");
  EXPECT_FALSE(parse("0.0.0.0:80").is_loopback);
  EXPECT_FALSE(parse("[::]:80").is_loopback);
  for (const char* bad : {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                          "127.0.0.1:080", "127.0.0.1:8x", "127.1:80", "example.com:80", "::1:80",
                          "[]:80", "127.0.0.1,0.0.0.0:80", "127.0.0.1:80s"}) {
    EXPECT_FALSE(ParseListenAddress(bad).ok()) << bad;
  }
}

TEST(HttpServer, AnswersItsPagesAndNothingElse) {
  const auto server =
      HttpServer::Start("127.0.0.1:0", {{"/one", "text/plain", [] { return "first"; }}});
  ASSERT_TRUE(server.ok()) << server.error().message();
  const uint16_t port = (*server)->port();
  EXPECT_GT(port, 0);
  EXPECT_THAT(Get(port, "/one"), StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"));
  EXPECT_EQ(BodyOf(Get(port, "/one")), "first");
  EXPECT_EQ(BodyOf(Get(port, "/one?query=1")), "first");
  for (const char* path : {"/", "/two", "/one/more", "/../etc/passwd"}) {
    EXPECT_THAT(Get(port, path), HasSubstr(" 404 ")) << path;
  }
  EXPECT_THAT(AnswerTo(port, "POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
              HasSubstr(" 405 "));
  EXPECT_EQ(BodyOf(AnswerTo(port, "HEAD /one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")),
            "");
}

TEST(HttpServer, APortThatIsTakenIsAnError) {
  const auto first = HttpServer::Start("127.0.0.1:0", {});
  ASSERT_TRUE(first.ok());
  const auto second = HttpServer::Start("127.0.0.1:" + std::to_string((*first)->port()), {});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message(), HasSubstr("expected a free port"));
}

// A reader that goes away must not end the run as a closed stdout does.
TEST(HttpServer, LeavesTheSignalOfPipesAlone) {
  struct sigaction before {};
  sigaction(SIGPIPE, nullptr, &before);
  std::string large(1 << 24, 'x');
  const auto server =
      HttpServer::Start("127.0.0.1:0", {{"/large", "text/plain", [&large] { return large; }}});
  struct sigaction after {};
  sigaction(SIGPIPE, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  for (int i = 0; i < 20; ++i) {
    const int connection = ConnectTo((*server)->port());
    ASSERT_GE(connection, 0);
    const std::string request = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_GT(write(connection, request.data(), request.size()), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    close(connection);
  }
  EXPECT_EQ(BodyOf(Get((*server)->port(), "/large")).size(), large.size());
}

TEST(RealProgress, SaysTheRateOfTheLastHalfSecond) {
  RealProgress progress;
  RunProgress run;
  run.queue.active = 1203;
  run.queue.error_backoff = 2;
  EXPECT_EQ(progress.Text(run),
            "0.0 s, 0 pods/s, active 1,203, backoff 2, unschedulable 0, gated 0");
  run.elapsed = std::chrono::seconds(2);
  run.bound = 3000;
  EXPECT_THAT(progress.Text(run), StartsWith("2.0 s, 1,500 pods/s, "));
  run.elapsed += std::chrono::milliseconds(100);
  run.bound += 5000;
  EXPECT_THAT(progress.Text(run), HasSubstr(" 1,500 pods/s, "));
  run.elapsed += std::chrono::milliseconds(400);
  EXPECT_THAT(progress.Text(run), HasSubstr(" 10,000 pods/s, "));
  run = {};
  run.elapsed = std::chrono::seconds(1);
  run.bound = 10;
  EXPECT_THAT(progress.Text(run), HasSubstr(" 10 pods/s, ")) << "another run";
}

std::vector<std::string> ChurnFor(const std::string& duration, const std::string& listen) {
  return {SCHEDQ_PROGRAM, "run",      "--clock",    "real",
          "--suite",      "storms",   "--name",     "^EndlessChurn/10Nodes$",
          "--engine",     "lockfree", "--duration", duration,
          "--listen",     listen};
}

TEST(Listen, ARunShowsItsMetricsAndItsState) {
  const uint16_t port = FreePort();
  ChildProcess child(ChurnFor("60s", "127.0.0.1:" + std::to_string(port)));
  nlohmann::json state;
  // Until the churn's pods that fit nowhere wait.
  for (int i = 0; i < 300; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    state = nlohmann::json::parse(BodyOf(Get(port, "/state")), nullptr, false);
    if (state.contains("places") && state["places"]["unschedulable"].contains("oldest")) break;
  }
  ASSERT_TRUE(state.contains("places")) << state.dump();
  EXPECT_EQ(state["running"], true);
  EXPECT_EQ(state["workload"], "EndlessChurn/10Nodes");
  EXPECT_EQ(state["engine"], "lockfree");
  const nlohmann::json& waiting = state["places"]["unschedulable"];
  EXPECT_GT(waiting["count"].get<int>(), 0);
  EXPECT_THAT(waiting["oldest"]["pod"].get<std::string>(), HasSubstr("/huge-"));
  EXPECT_GT(waiting["oldest"]["age_seconds"].get<double>(), 0);
  EXPECT_TRUE(state.contains("calls_waiting"));
  const std::string metrics = Get(port, "/metrics");
  EXPECT_THAT(metrics, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(metrics, HasSubstr("\n# TYPE scheduler_schedule_attempts_total counter\n"));
  EXPECT_THAT(metrics, ContainsRegex("scheduler_pending_pods.queue=\"unschedulable\"."));
  child.Signal(SIGINT);
  EXPECT_EQ(child.Wait().exit_code, 130);
  EXPECT_EQ(Get(port, "/state"), "") << "it ends with the run";
}

TEST(Listen, PortZeroIsSaidAndABusyPortIsOneLine) {
  const ChildProcess::Ended ended = RunProgram(ChurnFor("200ms", "127.0.0.1:0"));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("http://127.0.0.1:[1-9][0-9]*/metrics and /state\n"));
  const auto taken = HttpServer::Start("127.0.0.1:0", {});
  const std::string address = "127.0.0.1:" + std::to_string((*taken)->port());
  const ChildProcess::Ended refused = RunProgram(ChurnFor("200ms", address));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, StartsWith("schedq run: --listen " + address + ": nobody can listen"));
  EXPECT_EQ(refused.err.find('\n'), refused.err.size() - 1) << refused.err;
  EXPECT_EQ(refused.out, "");
}

TEST(Listen, OthersCanReadOnlyWhereThatIsAskedFor) {
  const ChildProcess::Ended refused = RunProgram(ChurnFor("200ms", "0.0.0.0:0"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--listen 0.0.0.0:0: others could read there too"));
  std::vector<std::string> asked = ChurnFor("200ms", "0.0.0.0:0");
  asked.emplace_back("--listen-anywhere");
  EXPECT_EQ(RunProgram(asked).exit_code, 0);
  const ChildProcess::Ended alone =
      RunProgram({SCHEDQ_PROGRAM, "run", "--clock", "real", "--listen-anywhere"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--listen-anywhere: expected --listen beside it"));
  const ChildProcess::Ended on_virtual =
      RunProgram({SCHEDQ_PROGRAM, "run", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(on_virtual.exit_code, 2);
  EXPECT_THAT(on_virtual.err, HasSubstr("--listen: expected --clock real"));
}

}  // namespace
}  // namespace schedq

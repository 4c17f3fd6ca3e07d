// Goal: no client of --listen, and no number of them, hurts the run that it watches: neither one
// that never reads, nor one that never asks to the end, nor one that sends anything else.
// Method: sockets that misbehave against a server of the test's own, and against the program, which
// must still answer, show what it measured, and end in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/program/live/http_server.h"
#include "engine/base/random.h"
#include "tests/support/child_process.h"
#include "tests/support/http_client.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr const char* kRequest = "GET /page HTTP/1.1\r\nHost: a\r\n\r\n";

// Connections that close with their owner.
class Clients {
 public:
  Clients() = default;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  ~Clients() {
    for (const int connection : connections_) close(connection);
  }
  // Returns whether somebody listens. What the server does not take is the client's loss.
  bool Say(uint16_t port, const std::string& text) {
    const int connection = ConnectTo(port);
    if (connection < 0) return false;
    connections_.push_back(connection);
    send(connection, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return true;
  }

 private:
  std::vector<int> connections_;
};

std::unique_ptr<HttpServer> ServerOf(const std::string& text) {
  auto server =
      HttpServer::Start("127.0.0.1:0", {{"/page", "text/plain", [text] { return text; }}});
  return server.ok() ? std::move(*server) : nullptr;
}

TEST(ListenAttack, WhatIsNoRequestIsRefusedAndTheNextOneAnswered) {
  const auto server = ServerOf("text");
  ASSERT_NE(server, nullptr);
  Random random(20251119);
  std::string noise(4096, ' ');
  for (char& letter : noise) letter = static_cast<char>(random.Below(256));
  const std::string long_line(1 << 20, 'a');
  const std::string texts[] = {
      "\r\n\r\n",
      noise + "\r\n\r\n",
      std::string(64, '\0'),
      "GET\r\n\r\n",
      "GET /page\r\n\r\n",
      "GET /page HTTP/9.9\r\n\r\n",
      "GET http://[::1/page HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /%zz%00%0a HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /" + long_line + " HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /page HTTP/1.1\r\nHost: " + long_line + "\r\n\r\n",
      "GET /page HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "GET /page HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "GET /page HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
      "GET /page HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
      "PUT /page HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\ntext",
      "DELETE /page HTTP/1.1\r\nHost: a\r\n\r\n",
      "PROPFIND /page HTTP/1.1\r\nHost: a\r\n\r\n",
      "CONNECT a:1 HTTP/1.1\r\n\r\n",
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text.substr(0, 60));
    const std::string answer = AnswerTo(server->port(), text);
    EXPECT_EQ(answer.find("root:"), std::string::npos);
    EXPECT_THAT(AnswerTo(server->port(), kRequest), HasSubstr("\r\n\r\ntext"));
  }
}

TEST(ListenAttack, AThousandClientsAtOnceAreEachAnsweredOrTurnedAway) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto server = ServerOf("text");
  ASSERT_NE(server, nullptr);
  {
    Clients clients;
    for (int i = 0; i < 1000; ++i) clients.Say(server->port(), kRequest);
  }
  EXPECT_THAT(AnswerTo(server->port(), kRequest), HasSubstr("\r\n\r\ntext"));
}

// They hold both threads of the server until its time limit.
TEST(ListenAttack, TheEndWaitsForNoClient) {
  auto server = ServerOf(std::string(1 << 26, 'x'));
  ASSERT_NE(server, nullptr);
  Clients clients;
  for (int i = 0; i < 10; ++i) clients.Say(server->port(), kRequest);  // And never reads.
  for (int i = 0; i < 10; ++i) clients.Say(server->port(), "GET /page HT");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// The server ended before the results were shown, and a client could hold it up until the time that
// a signal leaves was over.
TEST(ListenAttack, ARunThatIsInterruptedShowsItsResultsWhateverItsClientsDo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const uint16_t port = ServerOf("")->port();
    ChildProcess run({SCHEDQ_PROGRAM, "run", "--clock", "real", "--suite", "storms", "--name",
                      "^EndlessChurn/10Nodes$", "--engine", "lockfree", "--duration", "60s",
                      "--listen", "127.0.0.1:" + std::to_string(port)});
    for (int i = 0; i < 200 && AnswerTo(port, kRequest).empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    Clients clients;
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(clients.Say(port, "GET /state HT"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto begin = std::chrono::steady_clock::now();
    run.Signal(signal);
    const ChildProcess::Ended ended = run.Wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 2.0);
    EXPECT_EQ(ended.exit_code, 128 + signal) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("EndlessChurn/10Nodes"));
  }
}

}  // namespace
}  // namespace schedq

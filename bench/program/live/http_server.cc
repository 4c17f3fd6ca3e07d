#include "bench/program/live/http_server.h"

#include <civetweb.h>
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace schedq {
namespace {

constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr const char* kPlainText = "text/plain; charset=utf-8";

// civetweb ignores SIGPIPE for the whole process, which is not its to decide: its own writes do not
// raise the signal.
class KeepSignalOfPipes {
 public:
  KeepSignalOfPipes() { sigaction(SIGPIPE, nullptr, &before_); }
  ~KeepSignalOfPipes() { sigaction(SIGPIPE, &before_, nullptr); }
  KeepSignalOfPipes(const KeepSignalOfPipes&) = delete;
  KeepSignalOfPipes& operator=(const KeepSignalOfPipes&) = delete;

 private:
  struct sigaction before_ {};
};

std::string_view Reason(int status) {
  if (status == kOk) return "OK";
  return status == kNotFound ? "Not Found" : "Method Not Allowed";
}

// Returns what civetweb wants of a handler: the status that was sent.
int Send(mg_connection* connection, int status, const std::string& content_type,
         const std::string& text) {
  const std::string_view method = mg_get_request_info(connection)->request_method;
  std::string answer = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Connection: close\r\n\r\n",
      status, Reason(status), content_type, text.size());
  if (method != "HEAD") answer += text;
  mg_write(connection, answer.data(), answer.size());
  return status;
}

// The run's own lines go to stderr, and nothing else.
int KeepSilent(const mg_connection*, const char*) { return 1; }

}  // namespace

HttpServer::HttpServer(std::vector<Page> pages) : pages_(std::move(pages)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                      std::vector<Page> pages) {
  const KeepSignalOfPipes keep;
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(pages)));
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           "2",
                           "request_timeout_ms",
                           "2000",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = KeepSilent;
  callbacks.log_access = KeepSilent;
  mg_init_data start{
      .callbacks = &callbacks, .user_data = nullptr, .configuration_options = options};
  std::array<char, 256> why{};
  unsigned code = 0;
  mg_error_data error{.code = &code, .text = why.data(), .text_buffer_size = why.size()};
  server->context_ = mg_start2(&start, &error);
  if (server->context_ == nullptr) {
    return Error(
        fmt::format("{}: nobody can listen there, expected a free port of this machine; "
                    "port 0 takes one that is free",
                    address));
  }
  mg_server_port port{};
  if (mg_get_server_ports(server->context_, 1, &port) == 1) {
    server->port_ = static_cast<uint16_t>(port.port);
  }
  // The first pattern that matches answers.
  for (Page& page : server->pages_) {
    mg_set_request_handler(server->context_, (page.path + "$").c_str(), Answer, &page);
  }
  mg_set_request_handler(server->context_, "**", Refuse, server.get());
  return server;
}

HttpServer::~HttpServer() {
  if (context_ != nullptr) mg_stop(context_);
}

int HttpServer::Answer(mg_connection* connection, void* page) {
  const std::string_view method = mg_get_request_info(connection)->request_method;
  if (method != "GET" && method != "HEAD") {
    return Send(connection, kMethodNotAllowed, kPlainText, "expected GET\n");
  }
  const Page& wanted = *static_cast<const Page*>(page);
  return Send(connection, kOk, wanted.content_type, wanted.text());
}

int HttpServer::Refuse(mg_connection* connection, void* server) {
  std::string known;
  for (const Page& page : static_cast<const HttpServer*>(server)->pages_) {
    known += (known.empty() ? "" : " or ") + page.path;
  }
  return Send(connection, kNotFound, kPlainText, "expected " + known + "\n");
}

}  // namespace schedq

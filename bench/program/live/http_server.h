// Answers GET requests with the texts of functions.
//
// Purpose: a run on the real clock can be watched by Prometheus, by curl, by a browser.
// When not to use it: for anything that a request could change. There is no authentication.
// Threads: Start and the destructor by one thread. The pages' functions run on the server's own
// threads, several at the same time.
// Invariants:
//  1. No page's function runs once the destructor has returned.
//  2. What SIGPIPE does is as it was before.
// Memory: two threads, and a text for each request under way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"

// civetweb's.
struct mg_context;
struct mg_connection;

namespace schedq {

class HttpServer {
 public:
  struct Page {
    std::string path;
    std::string content_type;
    std::function<std::string()> text;
  };

  // `address` is ADDRESS:PORT; port 0: one that is free. An error says why nobody can listen there.
  static Result<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                   std::vector<Page> pages);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }

 private:
  explicit HttpServer(std::vector<Page> pages);

  static int Answer(mg_connection* connection, void* page);
  static int Refuse(mg_connection* connection, void* server);

  std::vector<Page> pages_;
  mg_context* context_ = nullptr;
  uint16_t port_ = 0;
};

}  // namespace schedq

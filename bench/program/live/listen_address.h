// The value of --listen: an address of this machine and a port.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"

namespace schedq {

struct ListenAddress {
  std::string host;  // A numeric address, a version 6 one in brackets.
  uint16_t port = 0;
  bool is_loopback = false;

  std::string Text() const;
};

// "127.0.0.1:9090", "localhost:0", "[::1]:80". Only numeric addresses and localhost, so that no
// name leads elsewhere than it says.
Result<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace schedq

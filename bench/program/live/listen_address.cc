#include "bench/program/live/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace schedq {
namespace {

std::optional<uint16_t> ParsePort(const std::string& text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, port);
  const bool has_zeros = text.size() > 1 && text[0] == '0';
  if (parsed.ec != std::errc() || parsed.ptr != end || has_zeros) return std::nullopt;
  return port;
}

}  // namespace

std::string ListenAddress::Text() const { return fmt::format("{}:{}", host, port); }

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  const auto refuse = [&text] {
    return Error(fmt::format("'{}': expected ADDRESS:PORT, such as 127.0.0.1:9090", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return refuse();
  const std::optional<uint16_t> port = ParsePort(text.substr(colon + 1));
  if (!port) return refuse();
  ListenAddress address;
  address.host = text.substr(0, colon);
  address.port = *port;
  if (address.host == "localhost") address.host = "127.0.0.1";
  constexpr uint32_t kLoopbackNet = 127;
  constexpr int kNetShift = 24;
  in_addr version_4{};
  if (inet_pton(AF_INET, address.host.c_str(), &version_4) == 1) {
    address.is_loopback = ntohl(version_4.s_addr) >> kNetShift == kLoopbackNet;
    return address;
  }
  const std::string& host = address.host;
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return refuse();
  in6_addr version_6{};
  if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &version_6) != 1) {
    return refuse();
  }
  address.is_loopback = IN6_IS_ADDR_LOOPBACK(&version_6);
  return address;
}

}  // namespace schedq

// A client of HTTP for tests, which says what it is told and nothing else.
//
// Purpose: requests that no library would send.
// Threads: any.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace schedq {

// A connection to a port of this machine; -1: nobody listens.
inline int ConnectTo(uint16_t port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return connection;
  }
  close(connection);
  return -1;
}

// The whole answer to these bytes; empty: nobody listens, or nobody answered within ten seconds.
inline std::string AnswerTo(uint16_t port, const std::string& request) {
  const int connection = ConnectTo(port);
  if (connection < 0) return "";
  timeval limit{};
  limit.tv_sec = 10;
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  // A server may close before it has read all.
  send(connection, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  std::array<char, 4096> part;
  ssize_t size = 0;
  while ((size = read(connection, part.data(), part.size())) > 0) {
    answer.append(part.data(), static_cast<size_t>(size));
  }
  close(connection);
  return answer;
}

}  // namespace schedq

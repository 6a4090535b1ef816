// The wrapper around an ORB's stubs: calls go past CORBA where the agent knows a way and both ends are alike, and through the stub
// otherwise. It uses the stubs of as_needed.idl, in standard C++ of CORBA, and POSIX sockets: nothing of the ORB is changed.
#pragma once
#include "as_needed.hh"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace as_needed {

constexpr uint32_t MAX_OCTETS = 64u << 20;

// What this program is: the line of `as_needed::platform` in src/lib.rs. `code_set` is the one that the program's strings are in.
inline std::string platform(const char *code_set) {
  const uint16_t one = 1;
  bool is_little = *reinterpret_cast<const uint8_t *>(&one) == 1;
  char line[256];
  snprintf(line, sizeof line, "zorb-raw/1 %s p%zu a%zu.%zu.%zu.%zu %s", is_little ? "little" : "big", sizeof(void *),
           alignof(uint16_t), alignof(uint32_t), alignof(uint64_t), alignof(double), code_set);
  return line;
}

// A connection to the raw socket of an alike server: see src/raw.rs.
class RawConnection {
public:
  enum Outcome { DONE = 0, FAILED = 1, NOT_BEGUN = 2, LOST = 3 };

  RawConnection() = default;
  RawConnection(const RawConnection &) = delete;
  RawConnection &operator=(const RawConnection &) = delete;
  ~RawConnection() { close(); }

  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  // Whether the server of that run is there still and takes this platform for alike. It has a second to say so.
  bool connect(const AsNeeded::Bypass &way, const std::string &platform) {
    close();
    std::string endpoint = way.endpoint.in();
    size_t colon = endpoint.rfind(':');
    if (colon == std::string::npos) return false;
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(endpoint.substr(0, colon).c_str(), endpoint.c_str() + colon + 1, &hints, &found) != 0) return false;
    for (addrinfo *at = found; at && fd < 0; at = at->ai_next) {
      fd = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
      if (fd < 0) continue;
      limit(1);
      if (::connect(fd, at->ai_addr, at->ai_addrlen) != 0) close();
    }
    freeaddrinfo(found);
    if (fd < 0) return false;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char line[320], answer[4];
    int length = snprintf(line, sizeof line, "%016llx %s\n", static_cast<unsigned long long>(way.run), platform.c_str());
    bool is_meant = send(line, size_t(length)) && receive(answer, sizeof answer) && memcmp(answer, "yes\n", 4) == 0;
    if (!is_meant) {
      close();
      return false;
    }
    limit(0);
    return true;
  }

  // Whether there is no connection, or the server has closed it.
  bool is_over() const {
    char octet;
    return fd < 0 || recv(fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  Outcome call(uint32_t operation, const char *arguments, size_t length, std::string &results) {
    if (length > MAX_OCTETS) return NOT_BEGUN;
    uint32_t header[2] = {uint32_t(length), operation};
    message.assign(reinterpret_cast<const char *>(header), sizeof header);
    message.append(arguments, length);
    // A server begins no operation whose arguments it does not have.
    if (!send(message.data(), message.size())) return NOT_BEGUN;
    if (!receive(header, sizeof header) || header[0] > MAX_OCTETS || header[1] > NOT_BEGUN) return LOST;
    results.resize(header[0]);
    if (!receive(&results[0], results.size())) return LOST;
    return Outcome(header[1]);
  }

private:
  int fd = -1;
  std::string message;

  void limit(long seconds) {
    timeval time{seconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  }

  bool send(const char *octets, size_t left) {
    while (left > 0) {
      ssize_t sent = ::send(fd, octets, left, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      octets += sent, left -= size_t(sent);
    }
    return true;
  }

  bool receive(void *to, size_t left) {
    char *octets = static_cast<char *>(to);
    while (left > 0) {
      ssize_t received = recv(fd, octets, left, 0);
      if (received < 0 && errno == EINTR) continue;
      if (received <= 0) return false;
      octets += received, left -= size_t(received);
    }
    return true;
  }
};

// The calls of an object that go past CORBA, one at a time.
class Shortcut {
public:
  using Clock = std::chrono::steady_clock;

  // The agent is asked with the first call, and again when an object has been called by CORBA for that long. Nil: no agent.
  Shortcut(CORBA::Object_ptr object, AsNeeded::Agent_ptr agent, std::string platform,
           Clock::duration ask_again_after = std::chrono::seconds(5))
      : object(CORBA::Object::_duplicate(object)), agent(AsNeeded::Agent::_duplicate(agent)), self(std::move(platform)),
        ask_again_after(ask_again_after) {}

  // Whether the operation was called natively. If not, it was not begun, and is to be called through the stub.
  bool call(uint32_t operation, const char *arguments, size_t length, std::string &results) {
    if (CORBA::is_nil(agent)) return false;
    std::lock_guard<std::mutex> one_at_a_time(mutex);
    // A server that has ended since may have come back as something else, so the agent is asked once more.
    for (int attempt = 0; attempt < 2; attempt++) {
      if (connection.is_over() && (Clock::now() < by_corba_until || !find())) break;
      switch (connection.call(operation, arguments, length, results)) {
      case RawConnection::DONE: return is_native = true;
      case RawConnection::FAILED: throw CORBA::UNKNOWN(0, CORBA::COMPLETED_MAYBE);
      case RawConnection::NOT_BEGUN: connection.close(); break;
      case RawConnection::LOST: connection.close(); throw CORBA::COMM_FAILURE(0, CORBA::COMPLETED_MAYBE);
      }
    }
    connection.close();
    return is_native = false;
  }

  // Whether the last call went natively.
  bool was_native() const { return is_native; }

private:
  std::mutex mutex;
  CORBA::Object_var object;
  AsNeeded::Agent_var agent;
  std::string self;
  Clock::duration ask_again_after;
  Clock::time_point by_corba_until{};
  RawConnection connection;
  bool is_native = false;

  // Asks the agent, and connects. The time of an agent that does not answer is limited as the ORB's calls are.
  bool find() {
    try {
      AsNeeded::Bypass_var way = agent->find(object, self.c_str());
      if (connection.connect(way, self)) return true;
    } catch (const CORBA::Exception &) {
      // No way, not alike, or no agent.
    }
    by_corba_until = Clock::now() + ask_again_after;
    return false;
  }
};

// The application's stub with the wrapper around it: used as the stub is.
class Echo {
public:
  Echo(AsNeeded::Echo_ptr stub, AsNeeded::Agent_ptr agent, std::string platform,
       Shortcut::Clock::duration ask_again_after = std::chrono::seconds(5))
      : stub(AsNeeded::Echo::_duplicate(stub)), shortcut(stub, agent, std::move(platform), ask_again_after) {}

  char *echoString(const char *text) {
    std::string results;
    if (shortcut.call(0, text, strlen(text), results)) return CORBA::string_dup(results.c_str());
    return stub->echoString(text);
  }

  bool was_native() const { return shortcut.was_native(); }

private:
  AsNeeded::Echo_var stub;
  Shortcut shortcut;
};

} // namespace as_needed

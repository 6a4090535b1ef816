// omniORB has an option for the send queue of its sockets (socketSendBuffer), and none for the other. So a program that
// wants both stands in for socket(2): what the linker finds here, the library calls. Included once in a program.
#pragma once
#include <cstdlib>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int socket(int domain, int type, int protocol) noexcept {
  int made = int(syscall(SYS_socket, domain, type, protocol));
  const char *told = getenv("BENCH_QUEUE"); // octets; what is accepted inherits it over TCP
  int octets = told ? atoi(told) : 0;
  if (made >= 0 && octets > 0) {
    setsockopt(made, SOL_SOCKET, SO_SNDBUF, &octets, sizeof octets);
    setsockopt(made, SOL_SOCKET, SO_RCVBUF, &octets, sizeof octets);
  }
  return made;
}

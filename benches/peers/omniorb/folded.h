// The account of a server: how often its servants were called, and the digest of what they were sent.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdio>

struct Folded {
  std::atomic<uint64_t> calls{0}, digest{0};

  void operator()(uint64_t one) {
    calls.fetch_add(1, std::memory_order_relaxed);
    digest.fetch_add(one, std::memory_order_relaxed);
  }

  // For after ORB::destroy, which waits for all upcalls: omniORB may run one-ways that it has read together with a later
  // request on threads of their own, so that the later one may be answered first.
  void farewell() const {
    printf("{\"calls\":%llu,\"digest\":\"%016llx\"}\n", (unsigned long long)calls, (unsigned long long)digest);
    fflush(stdout);
  }
};

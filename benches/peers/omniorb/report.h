// The one line of JSON that a client prints; benches/peers/floor/src/report.rs says what is in it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

inline uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

struct Measured { // by one thread
  std::vector<uint64_t> latencies; // none if only the whole was timed
  uint64_t start = 0, end = 0;
};

struct Asked {
  std::string peer, op;
  size_t size, octets, iters, warmup, threads;
  uint64_t digest; // of one call
};

inline void report(const Asked &asked, const std::vector<Measured> &measured) {
  std::vector<uint64_t> all;
  uint64_t start = UINT64_MAX, end = 0;
  for (const Measured &each : measured) {
    all.insert(all.end(), each.latencies.begin(), each.latencies.end());
    start = std::min(start, each.start);
    end = std::max(end, each.end);
  }
  std::sort(all.begin(), all.end());
  double wall = double(end - start);
  double calls = double(asked.iters * asked.threads) * 1e9 / wall;
  double sum = 0;
  for (uint64_t ns : all) sum += double(ns);
  double mean = all.empty() ? wall / double(asked.iters) : sum / double(all.size());
  auto at = [&](size_t thousandths) -> unsigned long long {
    if (all.empty()) return (unsigned long long)mean;
    return all[std::min(all.size() - 1, all.size() * thousandths / 1000)];
  };
  unsigned long long folded = (asked.iters + asked.warmup) * asked.threads;
  printf("{\"peer\":\"%s\",\"op\":\"%s\",\"size\":%zu,\"iters\":%zu,\"threads\":%zu,\"min_ns\":%llu,\"p50_ns\":%llu,"
         "\"p99_ns\":%llu,\"p999_ns\":%llu,\"mean_ns\":%.0f,\"calls_per_s\":%.1f,\"mbytes_per_s\":%.2f,"
         "\"calls\":%llu,\"digest\":\"%016llx\"}\n",
         asked.peer.c_str(), asked.op.c_str(), asked.size, asked.iters, asked.threads, at(0), at(500), at(990),
         at(999), mean, calls, calls * double(asked.octets) / 1e6, folded,
         (unsigned long long)asked.digest * folded);
  fflush(stdout);
}

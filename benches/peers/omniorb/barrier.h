// Nobody goes on before everybody is there.
#pragma once
#include <condition_variable>
#include <mutex>

class Barrier {
  std::mutex lock;
  std::condition_variable all;
  size_t missing;

public:
  explicit Barrier(size_t threads) : missing(threads) {}
  void wait() {
    std::unique_lock<std::mutex> held(lock);
    if (--missing == 0) all.notify_all();
    all.wait(held, [&] { return missing == 0; });
  }
};

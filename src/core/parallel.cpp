// SPDX-License-Identifier: Apache-2.0
#include "kith/core/parallel.hpp"

#include <sched.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace kith {
namespace {

/// Keeps the exception of the lowest index, so that which error a user sees does not depend on
/// timing more than it must.
class FirstError {
 public:
  void keep(std::size_t index) {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr || index < index_) {
      error_ = std::current_exception();
      index_ = index;
    }
  }
  [[nodiscard]] bool any() {
    const std::lock_guard lock(mutex_);
    return error_ != nullptr;
  }
  void rethrow() {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t index_ = 0;
};

}  // namespace

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  parallel_chunks(count, 1, threads, [&](std::size_t begin, std::size_t) { body(begin); });
}

void parallel_chunks(std::size_t count, std::size_t grain, int threads,
                     const std::function<void(std::size_t begin, std::size_t end)>& body) {
  if (count == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t chunks = (count + grain - 1) / grain;
  const auto run = [&](std::size_t chunk) {
    const std::size_t begin = chunk * grain;
    body(begin, std::min(begin + grain, count));
  };
  if (threads <= 1 || chunks == 1) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
    return;
  }
  FirstError error;
  const auto guarded = [&](std::size_t chunk) {
    if (error.any()) return;
    try {
      run(chunk);
    } catch (...) {
      error.keep(chunk);
    }
  };
  const auto all = [&] {
    tbb::parallel_for(std::size_t{0}, chunks, std::size_t{1}, guarded, tbb::simple_partitioner());
  };
  if (tbb::this_task_arena::current_thread_index() != tbb::task_arena::not_initialized &&
      tbb::this_task_arena::max_concurrency() <= threads) {
    all();  // nested: share the outer call's threads
  } else {
    tbb::task_arena arena(threads);
    arena.execute(all);
  }
  error.rethrow();
}

}  // namespace kith

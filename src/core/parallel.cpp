// SPDX-License-Identifier: Apache-2.0
#include "kith/core/parallel.hpp"

#include <sched.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#ifdef KITH_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

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
    any_.store(true, std::memory_order_relaxed);
  }
  /// Without a lock: asked before every unit, and a late answer only costs the work of a unit.
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  void rethrow() {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::exception_ptr error_;
  std::size_t index_ = 0;
};

/// What ThreadSanitizer cannot see in the uninstrumented oneTBB: units start after the call began,
/// and the call returns after its units ended. Nothing is said about two units, so a race between
/// them is found.
class ForkAndJoin {
 public:
#ifdef KITH_THREAD_SANITIZER
  ForkAndJoin() { __tsan_release(&fork_); }
  void unit_begins() { __tsan_acquire(&fork_); }
  void unit_ends() { __tsan_release(&join_); }
  void all_ended() { __tsan_acquire(&join_); }

 private:
  char fork_ = 0;
  char join_ = 0;
#else
  void unit_begins() {}
  void unit_ends() {}
  void all_ended() {}
#endif
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
  // oneTBB never runs more threads than cores, and prints a warning where more are asked for.
  threads = std::min(threads, tbb::info::default_concurrency());
  if (threads <= 1 || chunks == 1) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
    return;
  }
  FirstError error;
  ForkAndJoin order;
  const auto guarded = [&](std::size_t chunk) {
    if (error.any()) return;
    order.unit_begins();
    try {
      run(chunk);
    } catch (...) {
      error.keep(chunk);
    }
    order.unit_ends();
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
  order.all_ended();
  error.rethrow();
}

}  // namespace kith

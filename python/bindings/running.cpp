// SPDX-License-Identifier: Apache-2.0
#include "running.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/numerics/blas.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

/// How long a signal waits at most before it is seen.
constexpr std::chrono::milliseconds kLookEvery{50};

/// The threads of BLAS are a setting of the process. Runs that want the same number share it; a run
/// that wants another waits, so that no result depends on what else runs.
class BlasLease {
 public:
  explicit BlasLease(int threads) {
    std::unique_lock lock(mutex());
    changed().wait(lock, [&] { return users() == 0 || current() == threads; });
    if (users()++ > 0) return;
    current() = threads;
    setting() = std::make_unique<BlasThreads>(threads);
  }
  ~BlasLease() {
    const std::lock_guard lock(mutex());
    if (--users() == 0) setting().reset();
    changed().notify_all();
  }
  BlasLease(const BlasLease&) = delete;
  BlasLease& operator=(const BlasLease&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::condition_variable& changed() {
    static std::condition_variable one;
    return one;
  }
  static int& users() {
    static int count = 0;
    return count;
  }
  static int& current() {
    static int threads = 0;
    return threads;
  }
  static std::unique_ptr<BlasThreads>& setting() {
    static std::unique_ptr<BlasThreads> one;
    return one;
  }
};

/// Keeps the latest progress until the thread that holds the GIL asks for it.
class Mailbox : public ProgressSink {
 public:
  void progress(std::string_view stage, double done, double total,
                std::string_view at_hand) override {
    const std::lock_guard lock(mutex_);
    latest_ = {std::string(stage), done, total, std::string(at_hand)};
    fresh_ = true;
  }
  void message(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(text);
  }

  /// Hands over what has come since the last call. With the GIL.
  void deliver(const RunOptions& options) {
    Progress latest;
    std::vector<std::string> messages;
    bool fresh = false;
    {
      const std::lock_guard lock(mutex_);
      std::swap(fresh, fresh_);
      if (fresh) latest = latest_;
      messages.swap(messages_);
    }
    if (fresh && !options.progress.is_none()) {
      options.progress(latest.stage, latest.done, latest.total, latest.at_hand);
    }
    if (options.message.is_none()) return;
    for (const std::string& text : messages) options.message(text);
  }

 private:
  struct Progress {
    std::string stage;
    double done = 0;
    double total = 0;
    std::string at_hand;
  };
  std::mutex mutex_;
  Progress latest_;
  bool fresh_ = false;
  std::vector<std::string> messages_;
};

}  // namespace

void bind_run_options(py::module_& module) {
  py::class_<RunOptions>(module, "RunOptions")
      .def(
          py::init([](int threads, int blas_threads, std::uint64_t seed, py::object progress,
                      py::object message) {
            return RunOptions{threads, blas_threads, seed, std::move(progress), std::move(message)};
          }),
          py::arg("threads") = 0, py::arg("blas_threads") = 0, py::arg("seed") = 1,
          py::arg("progress") = py::none(), py::arg("message") = py::none());
}

void run_in_background(const RunOptions& options, Index n,
                       const std::function<void(RunContext&)>& work) {
  StopSource stop;
  Mailbox mailbox;
  RunContext ctx;
  ctx.threads = options.threads > 0 ? options.threads : available_cores();
  ctx.blas_threads = options.blas_threads > 0 ? options.blas_threads : usual_blas_threads(n);
  ctx.rng = RngStreams(options.seed);
  ctx.sink = &mailbox;
  ctx.stop = StopToken(stop);

  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      const BlasLease lease(ctx.blas_threads);
      work(ctx);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_one();
  });

  std::exception_ptr from_python;  // of a signal handler or a callback
  for (bool over = false; !over;) {
    {
      const py::gil_scoped_release release;
      std::unique_lock lock(mutex);
      over = ended.wait_for(lock, kLookEvery, [&] { return done; });
    }
    if (from_python) continue;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      mailbox.deliver(options);
    } catch (...) {
      from_python = std::current_exception();
      stop.request_stop();
    }
  }
  worker.join();
  if (from_python) std::rethrow_exception(from_python);
  if (failure) std::rethrow_exception(failure);
}

void translate_errors() {
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Error& one) {
      PyObject* type = PyExc_ValueError;
      if (one.code() == ErrorCode::kIo) type = PyExc_OSError;
      if (one.code() == ErrorCode::kInterrupted) type = PyExc_KeyboardInterrupt;
      if (one.code() == ErrorCode::kInternal) type = PyExc_RuntimeError;
      PyErr_SetString(type, one.what());
    }
  });
}

}  // namespace kith::python

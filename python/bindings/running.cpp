// SPDX-License-Identifier: Apache-2.0
#include "running.hpp"

#include <stdlib.h>  // on_exit, which the C++ header need not have
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kith/condition/input_settings.hpp"
#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/settings.hpp"
#include "kith/numerics/blas.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

/// How long a signal waits at most before it is seen.
constexpr std::chrono::milliseconds kLookEvery{50};
/// How long work that was asked to stop may take to do so before it is left behind.
constexpr std::chrono::milliseconds kPatience{400};

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
    messages_.push_back(spelled(text, as_keyword));
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

/// What a run and its caller share. Whoever ends last frees it.
class Errand {
 public:
  StopSource stop;
  Mailbox mailbox;
  RunContext ctx;
  std::function<void(RunContext&)> work;
  std::exception_ptr failure;  ///< to be read when it is over

  void run() {
    try {
      const BlasLease lease(ctx.blas_threads);
      ctx.check_stop();
      work(ctx);
    } catch (...) {
      failure = std::current_exception();
    }
    work = nullptr;  // what it held is free before anybody hears of its end
    const std::lock_guard lock(mutex_);
    over_ = true;
    if (left_behind_) --left_behind();
    ended_.notify_one();
  }

  /// True when it is over.
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, most, [&] { return over_; });
  }

  /// Its end is nobody's concern any more.
  void leave() {
    const std::lock_guard lock(mutex_);
    if (over_ || std::exchange(left_behind_, true)) return;
    ++left_behind();
  }

  /// Errands of this process that were left behind and still run.
  static std::atomic<int>& left_behind() {
    static std::atomic<int> count{0};
    return count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  bool left_behind_ = false;
};

/// Destructors at the end of a process would take BLAS away from under an errand that still runs:
/// the process ends without them. Python has ended by then.
void end_at_once(int status, void* process) {
  if (Errand::left_behind() == 0 || process != reinterpret_cast<void*>(std::intptr_t{getpid()})) {
    return;
  }
  std::fflush(nullptr);
  _exit(status);
}

void leave_behind(Errand& errand) {
  static std::once_flag once;
  std::call_once(once,
                 [] { on_exit(&end_at_once, reinterpret_cast<void*>(std::intptr_t{getpid()})); });
  errand.leave();
}

/// Python objects that were let go of without the GIL.
class Dropped {
 public:
  void add(PyObject* one) {
    const std::lock_guard lock(mutex_);
    objects_.push_back(one);
  }
  /// With the GIL.
  void free_all() {
    std::vector<PyObject*> mine;
    {
      const std::lock_guard lock(mutex_);
      mine.swap(objects_);
    }
    for (PyObject* one : mine) Py_DECREF(one);
  }

 private:
  std::mutex mutex_;
  std::vector<PyObject*> objects_;
};

/// Never destroyed: an errand may outlive everything.
Dropped& dropped() {
  static auto* one = new Dropped;
  return *one;
}

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

std::shared_ptr<const void> keep(py::object object) {
  return {object.release().ptr(), [](const void* held) {
            auto* one = static_cast<PyObject*>(const_cast<void*>(held));
            if (PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0) {
              Py_XDECREF(one);
            } else {
              dropped().add(one);
            }
          }};
}

void run_in_background(const RunOptions& options, Index n, std::function<void(RunContext&)> work) {
  dropped().free_all();
  const auto errand = std::make_shared<Errand>();
  RunContext& ctx = errand->ctx;
  ctx.threads = options.threads > 0 ? options.threads : available_cores();
  ctx.blas_threads = options.blas_threads > 0 ? options.blas_threads : usual_blas_threads(n);
  ctx.rng = RngStreams(options.seed);
  ctx.sink = &errand->mailbox;
  ctx.stop = StopToken(errand->stop);
  errand->work = std::move(work);

  std::thread worker([errand] { errand->run(); });
  std::exception_ptr from_python;  // of a signal handler or a callback
  bool over = false;
  for (auto patience = kPatience; !over && patience.count() > 0;) {
    {
      const py::gil_scoped_release release;
      over = errand->wait(kLookEvery);
    }
    if (from_python) {
      patience -= kLookEvery;
      continue;
    }
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      errand->mailbox.deliver(options);
    } catch (...) {
      from_python = std::current_exception();
      errand->stop.request_stop();
    }
  }
  if (over) {
    worker.join();
  } else {
    leave_behind(*errand);
    worker.detach();
  }
  dropped().free_all();
  if (from_python) std::rethrow_exception(from_python);
  if (errand->failure) std::rethrow_exception(errand->failure);
}

std::string as_keyword(std::string_view id, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kOwnWords = {
      {{"among", "among"},
       {"append", "append=True"},
       {"distance", "distance=True"},
       {"distance-from", "from_training"},
       {"grid", "grids"},
       {"groups", "groups"},
       {"json", "facts"},
       {"labels", "y"},
       {"self", "self_similarity"},
       {"similarity", "X"},
       {"similarity-from", "from_training"},
       {"sizes", "sizes"},
       {"transpose", "the transpose"}}};
  if (id == "distance" && value == "no") return "distance=False";
  for (const auto& [mentioned, word] : kOwnWords) {
    if (mentioned == id) return std::string(word);
  }
  if (id == "set") {  // a setting of a method and its value
    id = value.substr(0, value.find('='));
    value.remove_prefix(id.size() + 1);
  }
  std::string key(id);
  std::replace(key.begin(), key.end(), '-', '_');
  const std::string given = value.empty() ? "..." : "'" + std::string(value) + "'";
  const std::vector<FieldInfo> rules = fields<InputSettings>();
  const bool rule = std::any_of(rules.begin(), rules.end(),
                                [&](const FieldInfo& field) { return field.name == id; });
  return rule ? "input={'" + key + "': " + given + "}" : key + "=" + given;
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
      const std::string text =
          spelled(one.what(), as_keyword);  // may quote a path or a cell that is no UTF-8
      const auto message = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
          text.data(), static_cast<py::ssize_t>(text.size()), "backslashreplace"));
      PyErr_SetObject(type, message.ptr());
    }
  });
}

}  // namespace kith::python

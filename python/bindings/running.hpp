// SPDX-License-Identifier: Apache-2.0
// Work of the library on a thread of its own: Python goes on handling signals meanwhile, so Ctrl-C
// ends a fit, and other Python threads run.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith::python {

/// How a call is to be run, as every Python function takes it.
struct RunOptions {
  int threads = 0;       ///< 0: all cores
  int blas_threads = 0;  ///< 0: chosen from the size of the problem, as the command line does
  std::uint64_t seed = 1;
  /// Called with (stage, done, total, at hand) and with (message); None: neither is wanted.
  pybind11::object progress;
  pybind11::object message;
};
void bind_run_options(pybind11::module_& module);

/// Runs `work` without the GIL, for a problem of n samples. Throws what it throws, and
/// KeyboardInterrupt (or what a signal handler or `progress` raised) after `work` has ended.
void run_in_background(const RunOptions& options, Index n,
                       const std::function<void(RunContext&)>& work);

/// What `work` returns.
template <class Work>
auto run(const RunOptions& options, Index n, Work&& work) {
  std::optional<std::invoke_result_t<Work, RunContext&>> result;
  run_in_background(options, n, [&](RunContext& ctx) { result.emplace(work(ctx)); });
  return std::move(*result);
}

/// kith::Error as ValueError, OSError, KeyboardInterrupt or RuntimeError, with the same message.
void translate_errors();

}  // namespace kith::python

// SPDX-License-Identifier: Apache-2.0
// Work of the library on a thread of its own: Python goes on handling signals meanwhile, so Ctrl-C
// ends a fit, and other Python threads run.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "kith/core/context.hpp"
#include "kith/core/mention.hpp"
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

/// Keeps a Python object alive from C++, whoever lets go of it last. Nobody waits for the GIL: an
/// object that is let go of without it is freed by the next run, or with the process.
[[nodiscard]] std::shared_ptr<const void> keep(pybind11::object object);

/// Runs `work` without the GIL, for a problem of n samples. Throws what it throws, and
/// KeyboardInterrupt (or what a signal handler or `progress` raised). Work that does not look at
/// its stop token soon after is then left behind: it ends in the background, where nobody waits for
/// it, at the end of the process neither. It must therefore own all that it touches, Python objects
/// by `keep`, and call no Python but a loss that the user gave, with the GIL for that call alone.
void run_in_background(const RunOptions& options, Index n, std::function<void(RunContext&)> work);

/// What `work` returns.
template <class Work>
auto run(const RunOptions& options, Index n, Work work) {
  using Result = std::invoke_result_t<Work&, RunContext&>;
  const auto result = std::make_shared<std::optional<Result>>();
  const auto own = std::make_shared<Work>(std::move(work));  // may hold what cannot be copied
  run_in_background(options, n, [own, result](RunContext& ctx) { result->emplace((*own)(ctx)); });
  return std::move(**result);
}

/// How Python spells what texts of the library mention: "input={'missing': 'zero'}".
[[nodiscard]] std::string as_keyword(std::string_view id, std::string_view value);

/// kith::Error as ValueError, OSError, KeyboardInterrupt or RuntimeError, with its message.
void translate_errors();

}  // namespace kith::python

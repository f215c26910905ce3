// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/core/types.hpp"

namespace kith {

/// The BLAS this process runs on, as it describes itself ("OpenBLAS 0.3.21 ... SkylakeX").
[[nodiscard]] std::string blas_description();

/// Where OpenBLAS does not know this processor and fell back to kernels without AVX, gives it the
/// kernels that suit. The first call decides; the library makes it before main
/// (numerics/lapack.hpp) since no BLAS call may run meanwhile. OPENBLAS_CORETYPE, where set, is
/// obeyed. True if it changed something.
bool ensure_blas_kernels();

/// Threads a BLAS or LAPACK call uses at present; 0 if this BLAS does not say.
[[nodiscard]] int blas_threads();

/// What a fit of n samples uses unless the user says otherwise: 1 below 2,000, where one call gains
/// nothing from a second thread, else all cores.
[[nodiscard]] int usual_blas_threads(Index n);

/// Holds BLAS and LAPACK to `threads` for as long as it lives, then restores what was before. The
/// setting is process-wide: only the outermost code of a run makes one; units of a parallel_for
/// never do.
class BlasThreads {
 public:
  /// Throws kInvalidArgument unless threads >= 1. No effect on a BLAS other than OpenBLAS.
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kith {

/// The BLAS this process runs on, as it describes itself ("OpenBLAS 0.3.21 ... SkylakeX").
[[nodiscard]] std::string blas_description();

/// Holds BLAS and LAPACK to `threads` for as long as it lives, then restores what was before. The
/// setting is process-wide: only the outermost code of a run makes one; units of a parallel_for
/// never do.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/errors.hpp"
#include "kith/core/parallel.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

// Debian chooses the BLAS at run time by alternatives, so OpenBLAS's own functions are looked up,
// not linked: with another BLAS the program still runs, and says so.
template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

struct OpenBlas {
  char* (*config)() = find<char* (*)()>("openblas_get_config");
  char* (*corename)() = find<char* (*)()>("openblas_get_corename");
  int (*get_threads)() = find<int (*)()>("openblas_get_num_threads");
  void (*set_threads)(int) = find<void (*)(int)>("openblas_set_num_threads");
  void (*forget_kernels)() = find<void (*)()>("gotoblas_dynamic_quit");
  void (*find_kernels)() = find<void (*)()>("gotoblas_dynamic_init");
};

const OpenBlas& open_blas() {
  static const OpenBlas functions;
  return functions;
}

/// The name of kernels that use what this processor has; empty where it has no AVX2.
std::string_view suitable_kernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return {};
}

/// OpenBLAS knows processors by their numbers. It takes one that is newer than itself for the
/// oldest of all, whose kernels are several times slower. A user's own choice is left alone.
bool choose_kernels() {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  constexpr std::array<std::string_view, 6> kWithoutAvx = {"Prescott",   "Core2",   "Penryn",
                                                           "Dunnington", "Nehalem", "Generic"};
  const OpenBlas& blas = open_blas();
  if (blas.corename == nullptr || blas.forget_kernels == nullptr || blas.find_kernels == nullptr) {
    return false;
  }
  const std::string_view wanted = suitable_kernels();
  if (wanted.empty() || std::getenv(kVariable) != nullptr ||
      std::ranges::find(kWithoutAvx, blas.corename()) == kWithoutAvx.end()) {
    return false;
  }
  setenv(kVariable, std::string(wanted).c_str(), 1);
  blas.forget_kernels();
  blas.find_kernels();
  unsetenv(kVariable);  // programs that this one starts choose for themselves
  return true;
}

}  // namespace

bool ensure_blas_kernels() {
  static const bool chosen = choose_kernels();
  return chosen;
}

std::string blas_description() {
  const OpenBlas& blas = open_blas();
  if (blas.config == nullptr) return "a BLAS that does not describe itself (not OpenBLAS)";
  std::string text = blas.config();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (blas.corename != nullptr && text.find(blas.corename()) == std::string::npos) {
    text += std::string(" ") + blas.corename();
  }
  return text;
}

int blas_threads() {
  const OpenBlas& blas = open_blas();
  return blas.get_threads == nullptr ? 0 : blas.get_threads();
}

int usual_blas_threads(Index n) {
  constexpr Index kOneThreadBelow = 2000;
  return n < kOneThreadBelow ? 1 : available_cores();
}

BlasThreads::BlasThreads(int threads) : before_(blas_threads()) {
  if (threads < 1) throw invalid("{} BLAS threads; there must be at least 1", threads);
  if (open_blas().set_threads == nullptr) {
    before_ = 0;
  } else {
    open_blas().set_threads(threads);
  }
}

BlasThreads::~BlasThreads() {
  if (before_ > 0) open_blas().set_threads(before_);
}

}  // namespace kith

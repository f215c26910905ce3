// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/blas.hpp"

#include <dlfcn.h>
#include <string>

#include "core/errors.hpp"
#include "kith/core/parallel.hpp"

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
};

const OpenBlas& open_blas() {
  static const OpenBlas functions;
  return functions;
}

}  // namespace

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

// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/blas.hpp"

#include <dlfcn.h>

#include <string>

namespace kith {
namespace {

// Debian chooses the BLAS at run time by alternatives, so OpenBLAS's own functions are looked up,
// not linked: with another BLAS the program still runs, and says so.
template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string blas_description() {
  const auto config = find<char* (*)()>("openblas_get_config");
  if (config == nullptr) return "a BLAS that does not describe itself (not OpenBLAS)";
  const auto core = find<char* (*)()>("openblas_get_corename");
  std::string text = config();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (core != nullptr && text.find(core()) == std::string::npos) text += std::string(" ") + core();
  return text;
}

BlasThreads::BlasThreads(int threads) : before_(0) {
  const auto get = find<int (*)()>("openblas_get_num_threads");
  const auto set = find<void (*)(int)>("openblas_set_num_threads");
  if (get == nullptr || set == nullptr) return;
  before_ = get();
  set(threads);
}

BlasThreads::~BlasThreads() {
  const auto set = find<void (*)(int)>("openblas_set_num_threads");
  if (set != nullptr && before_ > 0) set(before_);
}

}  // namespace kith

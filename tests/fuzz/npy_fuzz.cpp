// SPDX-License-Identifier: Apache-2.0
#include "table_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kith::fuzz::check_reader(kith::detail::read_npy, data, size);
}

// SPDX-License-Identifier: Apache-2.0
#include "table_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kith::ReadSettings settings;
  settings.duplicates = kith::Duplicates::kError;
  (void)kith::fuzz::check_reader(kith::detail::read_edges, data, size, settings);
  settings.bipartite = true;
  return kith::fuzz::check_reader(kith::detail::read_edges, data, size, settings);
}

// SPDX-License-Identifier: Apache-2.0
// What `kith inspect` found, as a page for a terminal. Draws; computes no statistic.
#pragma once

#include <string>

#include "kith/inspect/inspect.hpp"

namespace kith {

struct TextStyle {
  bool unicode = true;
  bool colour = false;
  int width = 80;
};

[[nodiscard]] std::string inspection_text(const Inspection& inspection, const TextStyle& style);

}  // namespace kith

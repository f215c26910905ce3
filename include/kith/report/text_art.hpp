// SPDX-License-Identifier: Apache-2.0
// Pictures and tables made of characters.
#pragma once

#include <string>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// A table with a header line; columns line up by display width, numbers to the right.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> right;  ///< per column: aligned to the right
  /// Per row and column: bold by escape codes, for terminals. Empty: none is.
  std::vector<std::vector<bool>> bold = {};
};
[[nodiscard]] std::string draw_table(const TextTable& table, bool unicode);

/// `text` if it fits into `width` columns, else its beginning and "...".
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

/// A bar of `value` out of `largest`, at most `width` characters long.
[[nodiscard]] std::string draw_bar(double value, double largest, int width, bool unicode);

/// Eigenvalues by rank: positive ones above a line, negative ones below it, heights as square roots
/// of magnitudes on one scale.
[[nodiscard]] std::string draw_spectrum(const VectorRef& ascending, int width, bool unicode);

/// `text` broken at spaces into lines of at most `width` columns, each after `indent`.
[[nodiscard]] std::string wrap(const std::string& text, int width, const std::string& indent);

}  // namespace kith

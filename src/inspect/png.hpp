// SPDX-License-Identifier: Apache-2.0
// Pictures as PNG files (ISO/IEC 15948) with a palette, and bytes as text.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

using Colour = std::array<std::uint8_t, 3>;

/// `levels` row by row, each a position in `palette` (at most 256 colours). Colour 0 is
/// transparent. The same picture gives the same bytes.
[[nodiscard]] std::string encode_png(std::span<const std::uint8_t> levels, std::uint32_t width,
                                     std::uint32_t height, std::span<const Colour> palette);

/// `steps` colours from light to dark whose lightness falls evenly: to be told apart by everybody,
/// on paper too.
[[nodiscard]] std::vector<Colour> sequential_palette(int steps);

/// RFC 4648.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace kith

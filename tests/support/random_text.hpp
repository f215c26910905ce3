// SPDX-License-Identifier: Apache-2.0
// Random UTF-8 text for tests of whatever takes strings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/core/rng.hpp"

namespace kith {

inline std::string utf8(char32_t point) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xc0 | (point >> 6)), byte(0x80 | (point & 0x3f))};
  if (point < 0x10000) {
    return {byte(0xe0 | (point >> 12)), byte(0x80 | ((point >> 6) & 0x3f)),
            byte(0x80 | (point & 0x3f))};
  }
  return {byte(0xf0 | (point >> 18)), byte(0x80 | ((point >> 12) & 0x3f)),
          byte(0x80 | ((point >> 6) & 0x3f)), byte(0x80 | (point & 0x3f))};
}

/// A string of up to `longest` code points out of `letters` neighbours from `first` on.
inline std::string random_text(Rng& rng, std::size_t longest, char32_t first,
                               std::uint64_t letters) {
  std::string text;
  const std::uint64_t length = rng.below(longest + 1);
  for (std::uint64_t i = 0; i < length; ++i) {
    text += utf8(first + static_cast<char32_t>(rng.below(letters)));
  }
  return text;
}

inline std::vector<std::string> random_texts(std::uint64_t seed, std::size_t count,
                                             std::size_t longest, char32_t first,
                                             std::uint64_t letters) {
  Rng rng(seed);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(random_text(rng, longest, first, letters));
  }
  return texts;
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "report/pack.hpp"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace kith {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr int kBits = 6;

template <class Integer>
std::string pack(std::span<const Integer> values) {
  Integer largest = 0;
  for (const Integer value : values) {
    assert(value >= -1 && "a packed value is a count, a place or -1 for none");
    largest = std::max(largest, value);
  }
  int width = 1;
  while (((largest + 1) >> (kBits * width)) > 0) ++width;
  std::string text(1, static_cast<char>('0' + width));
  text.reserve(1 + values.size() * static_cast<std::size_t>(width));
  for (const Integer value : values) {
    for (int digit = width - 1; digit >= 0; --digit) {
      text += kLetters[static_cast<std::size_t>(((value + 1) >> (kBits * digit)) & 63)];
    }
  }
  return text;
}

}  // namespace

std::string packed(std::span<const Index> values) { return pack(values); }
std::string packed(std::span<const int> values) { return pack(values); }

}  // namespace kith

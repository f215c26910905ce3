// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "kith/data/atomic_file.hpp"

namespace kith::detail {

/// Text gathered into large writes. Numbers are the shortest decimals that read back to the same
/// bits. Call flush() at the end.
class TextOut {
 public:
  explicit TextOut(AtomicFile& file) : file_(&file) { text_.reserve(2 * kChunk); }

  TextOut& operator<<(std::string_view text) {
    text_.append(text);
    return *this;
  }
  TextOut& operator<<(char letter) {
    text_.push_back(letter);
    return *this;
  }
  TextOut& operator<<(double value) {
    if (std::isnan(value)) return *this << std::string_view("nan");
    return number(value);
  }
  TextOut& operator<<(long value) { return number(value); }
  TextOut& operator<<(int value) { return number(value); }
  void end_line() {
    text_.push_back('\n');
    if (text_.size() >= kChunk) flush();
  }
  void flush() {
    file_->write(text_);
    text_.clear();
  }

 private:
  template <class Number>
  TextOut& number(Number value) {
    std::array<char, 40> digits;
    const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    text_.append(digits.data(), end);
    return *this;
  }

  static constexpr std::size_t kChunk = std::size_t{1} << 16U;
  AtomicFile* file_;
  std::string text_;
};

}  // namespace kith::detail

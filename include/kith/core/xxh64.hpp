// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith {

/// XXH64 with seed 0, as published with test vectors for any language: fast enough to run over
/// whole matrices, and no protection against forgery. Bytes may come in pieces.
class Xxh64 {
 public:
  Xxh64();
  void update(std::string_view bytes);
  [[nodiscard]] std::uint64_t digest() const;

 private:
  static constexpr std::size_t kStripe = 32;

  std::array<std::uint64_t, 4> lanes_;
  std::array<char, kStripe> rest_{};  // bytes that do not yet fill a stripe
  std::size_t rest_size_ = 0;
  std::uint64_t total_ = 0;
};

/// 16 digits of 0-9 and a-f.
[[nodiscard]] std::string hex_digits(std::uint64_t value);

}  // namespace kith

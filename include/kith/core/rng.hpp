// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// xoshiro256++ with our own distributions: the standard library's differ between vendors, and the
/// same seed must give the same bytes everywhere.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  [[nodiscard]] std::uint64_t next();
  /// Uniform on [0, 1) with 53 random bits.
  [[nodiscard]] double uniform();
  /// Uniform on 0 .. bound-1 without modulo bias; bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Marsaglia's polar method).
  [[nodiscard]] double normal();

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
    }
  }
  /// A random order of 0 .. count-1.
  [[nodiscard]] std::vector<Index> permutation(Index count);

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

/// Independent streams named by purpose and index: a new purpose never disturbs an old one.
class RngStreams {
 public:
  explicit RngStreams(std::uint64_t seed = 1) : seed_(seed) {}
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] Rng stream(std::string_view purpose, std::uint64_t index = 0) const;
  /// A family of streams below this one, for a part that names streams of its own.
  [[nodiscard]] RngStreams child(std::string_view purpose, std::uint64_t index = 0) const;

 private:
  std::uint64_t seed_;
};

}  // namespace kith

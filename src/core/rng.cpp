// SPDX-License-Identifier: Apache-2.0
#include "kith/core/rng.hpp"
#include "kith/core/positions.hpp"

#include <bit>
#include <cmath>

namespace kith {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// FNV-1a of the purpose, mixed with seed and index.
std::uint64_t derive(std::uint64_t seed, std::string_view purpose, std::uint64_t index) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : purpose) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  std::uint64_t state = seed;
  std::uint64_t mixed = split_mix(state) ^ hash;
  mixed = split_mix(mixed) ^ index;
  return split_mix(mixed);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) word = split_mix(seed);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t bound) {
  const std::uint64_t threshold = -bound % bound;
  while (true) {
    const std::uint64_t draw = next();
    if (draw >= threshold) return draw % bound;
  }
}

double Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  while (true) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s >= 1 || s == 0) continue;
    const double factor = std::sqrt(-2 * std::log(s) / s);
    spare_normal_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }
}

std::vector<Index> Rng::permutation(Index count) {
  std::vector<Index> order = all_positions(count);
  shuffle(std::span<Index>(order));
  return order;
}

Rng RngStreams::stream(std::string_view purpose, std::uint64_t index) const {
  return Rng(derive(seed_, purpose, index));
}

RngStreams RngStreams::child(std::string_view purpose, std::uint64_t index) const {
  return RngStreams(derive(~seed_, purpose, index));
}

}  // namespace kith

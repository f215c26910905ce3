// SPDX-License-Identifier: Apache-2.0
// The specification of XXH64: four lanes take 8 bytes each of every stripe of 32, are merged, take
// what is left in steps of 8, 4 and 1 bytes, and are mixed at the end.
#include "kith/core/xxh64.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace kith {
namespace {

static_assert(std::endian::native == std::endian::little, "words are loaded as they lie in memory");

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9U;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63U;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5U;

template <class Word>
std::uint64_t load(const char* bytes) {
  Word word{};
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

void take_stripe(std::array<std::uint64_t, 4>& lanes, const char* bytes) {
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    lanes[k] = round_of(lanes[k], load<std::uint64_t>(bytes + 8 * k));
  }
}

std::uint64_t merged(const std::array<std::uint64_t, 4>& lanes) {
  std::uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                       std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) hash = (hash ^ round_of(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

std::uint64_t with_rest(std::uint64_t hash, std::string_view rest) {
  for (; rest.size() >= 8; rest.remove_prefix(8)) {
    hash ^= round_of(0, load<std::uint64_t>(rest.data()));
    hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  }
  if (rest.size() >= 4) {
    hash ^= load<std::uint32_t>(rest.data()) * kPrime1;
    hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
    rest.remove_prefix(4);
  }
  for (const char byte : rest) {
    hash ^= static_cast<unsigned char>(byte) * kPrime5;
    hash = std::rotl(hash, 11) * kPrime1;
  }
  return hash;
}

std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33U)) * kPrime2;
  hash = (hash ^ (hash >> 29U)) * kPrime3;
  return hash ^ (hash >> 32U);
}

}  // namespace

Xxh64::Xxh64() : lanes_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

void Xxh64::update(std::string_view bytes) {
  total_ += bytes.size();
  if (rest_size_ > 0) {
    const std::size_t part = std::min(bytes.size(), kStripe - rest_size_);
    std::copy_n(bytes.data(), part, rest_.data() + rest_size_);
    rest_size_ += part;
    bytes.remove_prefix(part);
    if (rest_size_ < kStripe) return;
    take_stripe(lanes_, rest_.data());
    rest_size_ = 0;
  }
  for (; bytes.size() >= kStripe; bytes.remove_prefix(kStripe)) take_stripe(lanes_, bytes.data());
  std::copy_n(bytes.data(), bytes.size(), rest_.data());
  rest_size_ = bytes.size();
}

std::uint64_t Xxh64::digest() const {
  const std::uint64_t start = total_ >= kStripe ? merged(lanes_) : kPrime5;
  return avalanche(with_rest(start + total_, {rest_.data(), rest_size_}));
}

std::string hex_digits(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::detail {

/// Ids numbered 0, 1, ... in order of first appearance. The texts lie end to end in one arena, each
/// behind its length, and the hash table says where: a lookup touches two places in memory, and a
/// million ids cost some 50 bytes each beside their text.
class IdTable {
 public:
  static constexpr std::int32_t kNone = -1;

  /// The number of `id`, which is added if it is new; kNone when 2^31 - 1 ids are held already.
  [[nodiscard]] std::int32_t intern(std::string_view id) { return intern(id, hash_of(id)); }
  [[nodiscard]] std::int32_t intern(std::string_view id, std::uint32_t hash);

  [[nodiscard]] static std::uint32_t hash_of(std::string_view id);
  /// Ask for the memory a lookup will touch, first the slot and then the text, so that the waits of
  /// many lookups overlap.
  void prefetch_slot(std::uint32_t hash) const;
  void prefetch_text(std::uint32_t hash) const;

  /// The number of `id`, or kNone.
  [[nodiscard]] std::int32_t find(std::string_view id) const;
  [[nodiscard]] Index size() const { return static_cast<Index>(places_.size()); }
  [[nodiscard]] std::string_view operator[](std::int32_t number) const;
  [[nodiscard]] std::vector<std::string> strings() const;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t number = kNone;
    std::uint64_t place = 0;
  };
  [[nodiscard]] std::string_view text_at(std::uint64_t place) const;
  [[nodiscard]] std::size_t slot_of(std::string_view id, std::uint32_t hash) const;
  void grow();

  std::vector<char> arena_;
  std::vector<std::uint64_t> places_;  // where each id begins in the arena
  std::vector<Slot> slots_;            // a power of two, at most 2/3 used
};

}  // namespace kith::detail

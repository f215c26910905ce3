// SPDX-License-Identifier: Apache-2.0
#include "data/formats/id_table.hpp"

#include <cstring>
#include <limits>

namespace kith::detail {
namespace {

constexpr std::size_t kFirstSlots = 1024;

}  // namespace

/// Eight bytes at a time, multiplied and folded. Only speed depends on it: numbers are given in
/// order of appearance.
std::uint32_t IdTable::hash_of(std::string_view id) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state = id.size() * kOdd;
  const char* at = id.data();
  std::size_t left = id.size();
  while (left > 0) {
    std::uint64_t word = 0;
    const std::size_t taken = left < sizeof word ? left : sizeof word;
    std::memcpy(&word, at, taken);
    state = (state ^ word) * kOdd;
    state ^= state >> 32U;
    at += taken;
    left -= taken;
  }
  state *= kOdd;
  return static_cast<std::uint32_t>(state >> 32U);
}

void IdTable::prefetch_slot(std::uint32_t hash) const {
  if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
}

void IdTable::prefetch_text(std::uint32_t hash) const {
  if (slots_.empty()) return;
  const Slot& slot = slots_[hash & (slots_.size() - 1)];
  if (slot.number != kNone) __builtin_prefetch(arena_.data() + slot.place);
}

std::string_view IdTable::text_at(std::uint64_t place) const {
  std::uint64_t length = 0;
  std::memcpy(&length, arena_.data() + place, sizeof length);
  return {arena_.data() + place + sizeof length, static_cast<std::size_t>(length)};
}

std::string_view IdTable::operator[](std::int32_t number) const {
  return text_at(places_[static_cast<std::size_t>(number)]);
}

/// Where `id` is, or the free slot it would take.
std::size_t IdTable::slot_of(std::string_view id, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != kNone &&
         (slots_[at].hash != hash || text_at(slots_[at].place) != id)) {
    at = (at + 1) & mask;
  }
  return at;
}

void IdTable::grow() {
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number == kNone) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].number != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::int32_t IdTable::intern(std::string_view id, std::uint32_t hash) {
  if (places_.size() * 3 >= slots_.size() * 2) grow();
  Slot& slot = slots_[slot_of(id, hash)];
  if (slot.number != kNone) return slot.number;
  if (places_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return kNone;
  }
  slot = {hash, static_cast<std::int32_t>(places_.size()), arena_.size()};
  places_.push_back(arena_.size());
  const std::uint64_t length = id.size();
  const auto* bytes = reinterpret_cast<const char*>(&length);
  arena_.insert(arena_.end(), bytes, bytes + sizeof length);
  arena_.insert(arena_.end(), id.begin(), id.end());
  return slot.number;
}

std::int32_t IdTable::find(std::string_view id) const {
  if (slots_.empty()) return kNone;
  return slots_[slot_of(id, hash_of(id))].number;
}

std::vector<std::string> IdTable::strings() const {
  std::vector<std::string> all;
  all.reserve(places_.size());
  for (const std::uint64_t place : places_) all.emplace_back(text_at(place));
  return all;
}

}  // namespace kith::detail

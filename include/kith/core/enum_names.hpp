// SPDX-License-Identifier: Apache-2.0
// The names of enumerators as users type them. They stand beside an enumeration, in its namespace,
// one for each enumerator 0, 1, ...:
//
//   enum class Shade { kLight, kDark };
//   constexpr auto enum_names(Shade /*of*/) { return named("light", "dark"); }
//
// and may have other names beside:
//
//   constexpr auto enum_aliases(Shade /*of*/) { return std::array{Alias{"black", "dark"}}; }
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace kith {

template <class... Text>
[[nodiscard]] constexpr std::array<std::string_view, sizeof...(Text)> named(const Text&... names) {
  return {names...};
}

using Alias = std::pair<std::string_view, std::string_view>;
template <class E>
constexpr std::array<Alias, 0> enum_aliases(E /*of*/) {
  return {};
}

template <class E>
concept NamedEnum = requires {
  enum_names(E{});
};

template <NamedEnum E>
inline constexpr auto kEnumNames = enum_names(E{});
template <NamedEnum E>
inline constexpr auto kEnumAliases = enum_aliases(E{});

/// The name of an enumerator.
template <NamedEnum E>
[[nodiscard]] constexpr std::string_view enum_name(E value) {
  return kEnumNames<E>[static_cast<std::size_t>(value)];
}

/// The enumerator of that name, if there is one.
template <NamedEnum E>
[[nodiscard]] constexpr std::optional<E> find_enum(std::string_view text) {
  for (std::size_t i = 0; i < kEnumNames<E>.size(); ++i) {
    if (kEnumNames<E>[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
// Errors with messages as fmt::format makes them.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "kith/core/error.hpp"

namespace kith {

/// Of kind kInvalidArgument.
template <class... T>
[[nodiscard]] Error invalid(fmt::format_string<T...> text, T&&... values) {
  return {ErrorCode::kInvalidArgument, fmt::format(text, std::forward<T>(values)...)};
}

/// Of kind kBadInput, where there is no place to name.
template <class... T>
[[nodiscard]] Error broken(fmt::format_string<T...> text, T&&... values) {
  return {ErrorCode::kBadInput, fmt::format(text, std::forward<T>(values)...)};
}

template <class... T>
requires(sizeof...(T) > 0) [[nodiscard]] Error
    bad_input(const FilePlace& place, fmt::format_string<T...> text, T&&... values) {
  return bad_input(place, fmt::format(text, std::forward<T>(values)...));
}

}  // namespace kith

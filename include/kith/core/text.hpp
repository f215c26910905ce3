// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// The whole of `text` as a number, or nothing. Independent of the locale; a leading '+' is taken.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);
[[nodiscard]] std::optional<long long> parse_integer(std::string_view text);

/// The shortest decimal that reads back to the same double.
[[nodiscard]] std::string format_double(double value);
/// `value` with `digits` significant digits, for people.
[[nodiscard]] std::string format_short(double value, int digits = 4);

/// With the letters A to Z made small.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// `text` in double quotes, control characters and quotes escaped, cut to `limit` bytes: for
/// messages.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t limit = 60);

/// "1 sample", "2 samples", "2 classes"; `many` where the plural is another than s or es behind
/// `one`.
[[nodiscard]] std::string counted(long long count, std::string_view one,
                                  std::string_view many = {});

/// "a, b, c and 12 more".
[[nodiscard]] std::string list_some(std::span<const std::string> items, std::size_t most = 5);

/// The candidate closest to `word` by edit distance, if any is close enough to be a likely typo.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 std::span<const std::string> candidates);

/// Columns a terminal uses for this UTF-8 text (wide characters count 2, combining ones 0).
[[nodiscard]] std::size_t display_width(std::string_view utf8);
[[nodiscard]] bool is_valid_utf8(std::string_view text);
/// The code points of UTF-8 text, or nothing where the bytes are not UTF-8.
[[nodiscard]] std::optional<std::u32string> code_points(std::string_view utf8);

/// Order in which class names are shown: by value when both are numbers, else byte order.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

/// The candidate that is `word` but for hyphens, underscores, blanks and capitals, else the
/// closest.
[[nodiscard]] std::optional<std::string> closest_name(std::string_view word,
                                                      std::span<const std::string> candidates);

/// "90", "90s", "500ms", "5m", "5min", "2h", "1h30m": a time above 0 in seconds.
[[nodiscard]] std::optional<double> parse_seconds(std::string_view text);

}  // namespace kith

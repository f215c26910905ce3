// SPDX-License-Identifier: Apache-2.0
#include "kith/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace kith {
namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// Decodes the code point at `text[at]` and moves `at` behind it; -1 where the bytes are not UTF-8.
std::int32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  const int extra = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 ||
      at + static_cast<std::size_t>(extra) >= text.size()) {
    ++at;
    return -1;
  }
  std::int32_t point = extra == 0 ? static_cast<std::int32_t>(lead)
                                  : static_cast<std::int32_t>(lead & (0x3fU >> extra));
  for (int i = 1; i <= extra; ++i) {
    const unsigned next = byte(at + static_cast<std::size_t>(i));
    if ((next & 0xc0U) != 0x80U) {
      ++at;
      return -1;
    }
    point = (point << 6) | static_cast<std::int32_t>(next & 0x3fU);
  }
  at += static_cast<std::size_t>(extra) + 1;
  constexpr std::array<std::int32_t, 4> kSmallest = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kSmallest[static_cast<std::size_t>(extra)] || surrogate || point > 0x10ffff)
    return -1;
  return point;
}

struct WidthRange {
  std::int32_t first, last;
};

bool in_any(std::span<const WidthRange> ranges, std::int32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const WidthRange& range) {
    return point >= range.first && point <= range.last;
  });
}

/// Enough of Unicode's East Asian Width and combining blocks to line up tables; independent of the
/// locale, unlike wcwidth.
std::size_t code_point_width(std::int32_t point) {
  static constexpr std::array<WidthRange, 8> kCombining = {{{0x300, 0x36f},
                                                            {0x483, 0x489},
                                                            {0x591, 0x5bd},
                                                            {0x610, 0x61a},
                                                            {0x64b, 0x65f},
                                                            {0x200b, 0x200f},
                                                            {0x20d0, 0x20f0},
                                                            {0xfe00, 0xfe0f}}};
  static constexpr std::array<WidthRange, 9> kWide = {{{0x1100, 0x115f},
                                                       {0x2e80, 0x303e},
                                                       {0x3041, 0xa4cf},
                                                       {0xac00, 0xd7a3},
                                                       {0xf900, 0xfaff},
                                                       {0xfe30, 0xfe6f},
                                                       {0xff00, 0xff60},
                                                       {0x1f300, 0x1faff},
                                                       {0x20000, 0x3fffd}}};
  if (in_any(kCombining, point)) return 0;
  return in_any(kWide, point) ? 2 : 1;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) { return parse_whole<double>(text); }

std::optional<double> parse_seconds(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}}};
  std::string_view rest = trim(text);
  std::optional<double> seconds = parse_double(rest);
  if (!seconds && !rest.empty()) {
    seconds = 0;
    while (seconds && !rest.empty()) {
      const std::size_t digits = std::min(rest.find_first_not_of("0123456789.eE+-"), rest.size());
      const std::size_t end = std::min(rest.find_first_of("0123456789.", digits), rest.size());
      const std::optional<double> count = parse_double(rest.substr(0, digits));
      const std::string_view word = trim(rest.substr(digits, end - digits));
      const auto unit =
          std::ranges::find(kUnits, word, &std::pair<std::string_view, double>::first);
      rest.remove_prefix(end);
      if (!count || *count < 0 || unit == kUnits.end()) return std::nullopt;
      *seconds += *count * unit->second;
    }
  }
  if (!seconds || !(*seconds > 0) || !std::isfinite(*seconds)) return std::nullopt;
  return seconds;
}

std::optional<long long> parse_integer(std::string_view text) {
  return parse_whole<long long>(text);
}

std::string format_double(double value) {
  std::array<char, 32> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end);
}

std::string format_short(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string lower_case(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return made;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string in_quotes(std::string_view text, std::size_t limit) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const std::int32_t point = next_code_point(text, at);
    if (out.size() > limit) return out + "...\"";
    const char c = text[begin];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (point < 0x20 || point == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out + '"';
}

std::string counted(long long count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  if (!many.empty()) return fmt::format("{} {}", count, many);
  return fmt::format("{} {}{}", count, one, one.ends_with('s') ? "es" : "s");
}

std::string list_some(std::span<const std::string> items, std::size_t most) {
  std::string list;
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) {
    if (i > 0) list += i + 1 == items.size() ? " and " : ", ";
    list += items[i];
  }
  if (items.size() > most) list += fmt::format(" and {} more", items.size() - most);
  return list;
}

std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t replace = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::optional<std::string> closest_name(std::string_view word,
                                        std::span<const std::string> candidates) {
  const auto plain = [](std::string_view text) {
    std::string made;
    for (const char c : text) {
      if (c == '-' || c == '_' || c == ' ') continue;
      made += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return made;
  };
  const std::string wanted = plain(word);
  for (const std::string& candidate : candidates) {
    if (!wanted.empty() && plain(candidate) == wanted) return candidate;
  }
  return closest(word, candidates);
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < utf8.size();) width += code_point_width(next_code_point(utf8, at));
  return width;
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (next_code_point(text, at) < 0) return false;
  }
  return true;
}

std::optional<std::u32string> code_points(std::string_view utf8) {
  std::u32string points;
  points.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size();) {
    const std::int32_t point = next_code_point(utf8, at);
    if (point < 0) return std::nullopt;
    points.push_back(static_cast<char32_t>(point));
  }
  return points;
}

bool natural_less(std::string_view a, std::string_view b) {
  // "nan" is a word here: as a number it would have no place in an order.
  const auto number = [](std::string_view text) {
    const auto value = parse_double(text);
    return value && !std::isnan(*value) ? value : std::nullopt;
  };
  const auto x = number(a);
  const auto y = number(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "kith/report/text_art.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kith/core/text.hpp"

namespace kith {
namespace {

// Eighths of a character cell, growing from the bottom, and from the left.
constexpr std::array<const char*, 9> kRising = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                                "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr std::array<const char*, 9> kLengthening = {
    "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589", "\u2588"};
constexpr const char* kUpperHalf = "\u2580";
constexpr const char* kFull = "\u2588";

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

std::string trimmed_right(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// One cell of a column `height` cells tall, at `row` cells from the axis.
std::string cell_above(double height, int row, bool unicode) {
  const double filled = std::clamp(height - row, 0.0, 1.0);
  if (!unicode) return filled >= 0.5 ? "#" : filled > 0.1 ? "." : " ";
  return kRising[static_cast<std::size_t>(std::lround(8 * filled))];
}

std::string cell_below(double height, int row, bool unicode) {
  const double filled = std::clamp(height - row, 0.0, 1.0);
  if (!unicode) return filled >= 0.5 ? "#" : filled > 0.1 ? "'" : " ";
  return filled >= 0.75 ? kFull : filled >= 0.125 ? kUpperHalf : " ";
}

/// The extreme value of each of `width` runs of ranks, largest eigenvalue first.
Vector bins_by_rank(const VectorRef& ascending, Index width) {
  const Index n = ascending.size();
  Vector bins(width);
  for (Index b = 0; b < width; ++b) {
    const Index first = b * n / width;
    const Index last = std::max(first + 1, (b + 1) * n / width);
    double extreme = 0;
    for (Index rank = first; rank < last; ++rank) {
      const double value = ascending(n - 1 - rank);
      if (std::abs(value) > std::abs(extreme)) extreme = value;
    }
    bins(b) = extreme;
  }
  return bins;
}

}  // namespace

std::string draw_table(const TextTable& table, bool unicode) {
  std::vector<std::size_t> widths(table.header.size());
  for (std::size_t c = 0; c < widths.size(); ++c) {
    widths[c] = display_width(table.header[c]);
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells, const std::vector<bool>& bold) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = padded(cells[c], widths[c], table.right[c]);
      text += "  " + (c < bold.size() && bold[c] ? "\033[1m" + cell + "\033[0m" : cell);
    }
    return trimmed_right(text) + "\n";
  };
  std::string text = line(table.header, {});
  text += "  ";
  for (std::size_t c = 0; c < widths.size(); ++c) {
    for (std::size_t i = 0; i < widths[c] + (c + 1 < widths.size() ? 2 : 0); ++i) {
      text += unicode ? "\u2500" : "-";
    }
  }
  text += "\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    text += line(table.rows[r], r < table.bold.size() ? table.bold[r] : std::vector<bool>());
  }
  return text;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at + 1;  // behind the continuation bytes of this character
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0U) == 0x80U) ++next;
    const std::string longer = kept + text.substr(at, next - at);
    if (display_width(longer) + 3 > width) break;
    kept = longer;
    at = next;
  }
  return kept + "...";
}

std::string draw_bar(double value, double largest, int width, bool unicode) {
  if (!(value > 0) || !(largest > 0)) return "";
  const double cells = std::min(1.0, value / largest) * width;
  if (!unicode) return std::string(static_cast<std::size_t>(std::lround(cells)), '#');
  const int whole = static_cast<int>(cells);
  std::string bar;
  for (int i = 0; i < whole; ++i) bar += kFull;
  return bar + kLengthening[static_cast<std::size_t>(std::lround(8 * (cells - whole)))];
}

std::string draw_spectrum(const VectorRef& ascending, int width, bool unicode) {
  const Index n = ascending.size();
  const double largest = n > 0 ? ascending.cwiseAbs().maxCoeff() : 0;
  if (largest == 0) return "  (every eigenvalue is zero)\n";
  constexpr int kRows = 8;
  const Vector bins = bins_by_rank(ascending, std::min<Index>(n, std::max(10, width - 4)));
  const auto height = [&](double value) { return kRows * std::sqrt(std::abs(value) / largest); };
  const double deepest = ascending(0) < 0 ? height(ascending(0)) : 0;
  const double tallest = ascending(n - 1) > 0 ? height(ascending(n - 1)) : 0;
  std::string picture;
  for (int row = static_cast<int>(std::ceil(tallest)) - 1; row >= 0; --row) {
    std::string line = "  ";
    for (const double value : bins) line += cell_above(value > 0 ? height(value) : 0, row, unicode);
    picture += trimmed_right(line) + "\n";
  }
  picture += "  ";
  for (Index b = 0; b < bins.size(); ++b) picture += unicode ? "\u2500" : "-";
  picture += "\n";
  for (int row = 0; row < static_cast<int>(std::ceil(deepest)); ++row) {
    std::string line = "  ";
    for (const double value : bins) line += cell_below(value < 0 ? height(value) : 0, row, unicode);
    picture += trimmed_right(line) + "\n";
  }
  return picture;
}

std::string wrap(const std::string& text, int width, const std::string& indent) {
  std::string out;
  std::string line = indent;
  for (const std::string_view word : split(text, ' ')) {
    const bool fresh = line == indent;
    if (!fresh && display_width(line) + 1 + display_width(word) > static_cast<std::size_t>(width)) {
      out += line + "\n";
      line = indent;
      line += word;
    } else {
      if (!fresh) line += ' ';
      line += word;
    }
  }
  return out + line + "\n";
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
// edlib computes edit distances of byte strings bit-parallel, 64 cells of the dynamic program at a
// time. Code points are brought into its alphabet of 256 symbols in one of two ways:
//   - once for the whole collection, where it has at most 256 distinct code points;
//   - else pair by pair. Only code points that both strings contain can ever match; all others of a
//     become one symbol and all others of b another.
// A pair that shares more than 254 distinct code points goes through the plain dynamic program.
#include "kith/measure/edit.hpp"

#include <edlib.h>
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/data/block.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

constexpr std::size_t kSymbols = 256;

/// A string in the forms the distance is computed on; `symbols` is empty without a common alphabet.
struct Text {
  std::u32string points;
  std::string symbols;
};

using Alphabet = std::unordered_map<char32_t, unsigned char>;

Text text_of(std::string_view utf8) {
  std::optional<std::u32string> points = code_points(utf8);
  if (!points) throw invalid("{} is not UTF-8; edit distance counts code points", in_quotes(utf8));
  if (points->size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw invalid("a string has {} code points; edit distance takes at most {}", points->size(),
                  std::numeric_limits<int>::max());
  }
  return {std::move(*points), {}};
}

std::vector<Text> texts_of(std::span<const std::string> strings) {
  std::vector<Text> texts;
  texts.reserve(strings.size());
  for (const std::string& string : strings) texts.push_back(text_of(string));
  return texts;
}

/// Adds the code points of `texts` to the alphabet; false once they are more than it can hold.
bool extend(Alphabet& alphabet, std::span<const Text> texts) {
  for (const Text& text : texts) {
    for (const char32_t point : text.points) {
      if (alphabet.contains(point)) continue;
      if (alphabet.size() == kSymbols) return false;
      alphabet.emplace(point, static_cast<unsigned char>(alphabet.size()));
    }
  }
  return true;
}

void spell(std::span<Text> texts, const Alphabet& alphabet) {
  for (Text& text : texts) {
    text.symbols.reserve(text.points.size());
    for (const char32_t point : text.points) {
      text.symbols.push_back(static_cast<char>(alphabet.at(point)));
    }
  }
}

Index distance_of_symbols(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<Index>(std::max(a.size(), b.size()));
  const EdlibAlignResult result =
      edlibAlign(a.data(), static_cast<int>(a.size()), b.data(), static_cast<int>(b.size()),
                 edlibNewAlignConfig(-1, EDLIB_MODE_NW, EDLIB_TASK_DISTANCE, nullptr, 0));
  const int status = result.status;
  const int distance = result.editDistance;
  edlibFreeAlignResult(result);
  if (status != EDLIB_STATUS_OK || distance < 0) {
    throw Error(ErrorCode::kInternal, "edlib could not compute an edit distance");
  }
  return distance;
}

/// Both strings in an alphabet of their own; nothing where they share too many code points.
std::optional<std::pair<std::string, std::string>> spell_pair(const std::u32string& a,
                                                              const std::u32string& b) {
  constexpr int kOnlyInA = 0;
  constexpr int kOnlyInB = 1;
  int next = 2;
  std::unordered_map<char32_t, int> symbol;
  for (const char32_t point : a) symbol.emplace(point, kOnlyInA);
  std::pair<std::string, std::string> spelled;
  spelled.second.reserve(b.size());
  for (const char32_t point : b) {
    const auto found = symbol.find(point);
    if (found != symbol.end() && found->second == kOnlyInA) {
      if (next == static_cast<int>(kSymbols)) return std::nullopt;
      found->second = next++;
    }
    spelled.second.push_back(static_cast<char>(found == symbol.end() ? kOnlyInB : found->second));
  }
  spelled.first.reserve(a.size());
  for (const char32_t point : a) spelled.first.push_back(static_cast<char>(symbol.at(point)));
  return spelled;
}

/// The dynamic program itself, one row at a time.
Index distance_of_points(const std::u32string& a, const std::u32string& b) {
  std::vector<Index> row(b.size() + 1);
  std::iota(row.begin(), row.end(), Index{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    Index diagonal = std::exchange(row[0], static_cast<Index>(i) + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Index substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

Index distance(const Text& a, const Text& b, bool common_alphabet) {
  if (common_alphabet) return distance_of_symbols(a.symbols, b.symbols);
  const auto spelled = spell_pair(a.points, b.points);
  return spelled ? distance_of_symbols(spelled->first, spelled->second)
                 : distance_of_points(a.points, b.points);
}

double value_of(Index distance, const Text& a, const Text& b, EditValue value) {
  if (value == EditValue::kDistance) return static_cast<double>(distance);
  const std::size_t longest = std::max(a.points.size(), b.points.size());
  if (longest == 0) return 1.0;
  // One rounding, where 1 - d / longest has two.
  return static_cast<double>(static_cast<Index>(longest) - distance) / static_cast<double>(longest);
}

}  // namespace

RowMatrix edit_matrix(std::span<const std::string> rows, EditValue value, const RunContext& ctx,
                      std::optional<std::span<const std::string>> columns) {
  check_dense_fits(std::ssize(rows), std::ssize(columns.value_or(rows)));
  std::vector<Text> texts = texts_of(rows);
  std::vector<Text> of_columns = columns ? texts_of(*columns) : std::vector<Text>();
  Alphabet alphabet;
  const bool common = extend(alphabet, texts) && extend(alphabet, of_columns);
  if (common) {
    spell(texts, alphabet);
    spell(of_columns, alphabet);
  }
  const std::vector<Text>& others = columns ? of_columns : texts;
  const auto row_of = [&](Index row) {
    const Text& a = texts[static_cast<std::size_t>(row)];
    return [&](Index column) {
      const Text& b = others[static_cast<std::size_t>(column)];
      return value_of(&a == &b ? 0 : distance(a, b, common), a, b, value);
    };
  };
  return detail::all_pairs(std::ssize(texts), std::ssize(others), !columns, "edit distances", ctx,
                           row_of);
}

}  // namespace kith

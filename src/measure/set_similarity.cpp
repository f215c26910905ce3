// SPDX-License-Identifier: Apache-2.0
// Words are numbered once; a set is its numbers in ascending order, and what two sets share is
// found by walking along both.
#include "kith/measure/set_similarity.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "measure/pairs.hpp"

namespace kith {
namespace {

using WordNumbers = std::vector<std::int32_t>;

class WordTable {
 public:
  [[nodiscard]] std::vector<WordNumbers> of(const SetData& data) {
    std::vector<WordNumbers> sets;
    sets.reserve(data.values.size());
    for (const std::vector<std::string>& words : data.values) {
      WordNumbers& set = sets.emplace_back();
      for (const std::string& word : words) {
        set.push_back(
            numbers_.emplace(word, static_cast<std::int32_t>(numbers_.size())).first->second);
      }
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
    return sets;
  }

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
};

Index shared_words(const WordNumbers& a, const WordNumbers& b) {
  Index shared = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    // Without branches: which of the two is smaller cannot be foreseen.
    const std::int32_t x = a[i];
    const std::int32_t y = b[j];
    shared += x == y ? 1 : 0;
    i += x <= y ? 1 : 0;
    j += y <= x ? 1 : 0;
  }
  return shared;
}

/// Where there is nothing to divide by, sets that are equal (both are empty then) are as similar as
/// can be, and others share nothing.
double ratio_of(double part, double whole, bool equal) {
  if (whole == 0) return equal ? 1.0 : 0.0;
  return part / whole;
}

double set_value(const WordNumbers& a, const WordNumbers& b, const SetSettings& settings) {
  const Index shared = shared_words(a, b);
  const auto both = static_cast<double>(shared);
  const auto only_a = static_cast<double>(static_cast<Index>(a.size()) - shared);
  const auto only_b = static_cast<double>(static_cast<Index>(b.size()) - shared);
  const bool equal = only_a == 0 && only_b == 0;
  switch (settings.of) {
    case SetSimilarity::kJaccard:
      return ratio_of(both, both + only_a + only_b, equal);
    case SetSimilarity::kRatio:
      return ratio_of(both, both + (settings.alpha * only_a + settings.beta * only_b), equal);
    case SetSimilarity::kContrast:
      return settings.theta * both - (settings.alpha * only_a + settings.beta * only_b);
  }
  assert(false && "every SetSimilarity is computed");
  return 0;
}

}  // namespace

RowMatrix set_matrix(const SetData& rows, const SetSettings& settings, const RunContext& ctx,
                     const SetData* columns) {
  WordTable words;
  const std::vector<WordNumbers> sets = words.of(rows);
  const std::vector<WordNumbers> of_columns =
      columns != nullptr ? words.of(*columns) : std::vector<WordNumbers>();
  const std::vector<WordNumbers>& others = columns != nullptr ? of_columns : sets;
  const bool symmetric = settings.of == SetSimilarity::kJaccard || settings.alpha == settings.beta;
  const auto row_of = [&](Index i) {
    return [&, i](Index j) {
      return set_value(sets[static_cast<std::size_t>(i)], others[static_cast<std::size_t>(j)],
                       settings);
    };
  };
  return detail::all_pairs(std::ssize(sets), std::ssize(others), columns == nullptr && symmetric,
                           "similarities of sets", ctx, row_of);
}

}  // namespace kith

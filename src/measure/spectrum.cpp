// SPDX-License-Identifier: Apache-2.0
// Each k-mer that occurs gets a number; a string becomes its numbers in ascending order with
// counts. An inner product then walks along two such lists. Sums are of whole numbers below 2^53:
// exact.
#include "kith/measure/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

struct KmerCount {
  std::int32_t kmer;
  std::int32_t count;
};
using KmerCounts = std::vector<KmerCount>;

/// The spectra of strings, numbered alike.
class Spectra {
 public:
  explicit Spectra(Index k) : k_(static_cast<std::size_t>(k)) {}

  [[nodiscard]] std::vector<KmerCounts> of(const StringData& data, const RunContext& ctx) {
    std::vector<KmerCounts> spectra;
    spectra.reserve(data.values.size());
    for (const std::string& text : data.values) {
      ctx.check_stop();
      spectra.push_back(of(text));
    }
    return spectra;
  }

 private:
  KmerCounts of(const std::string& text) {
    const std::optional<std::u32string> points = code_points(text);
    if (!points) throw invalid("{} is not UTF-8; spectra count code points", in_quotes(text));
    std::vector<std::int32_t> kmers;
    for (std::size_t at = 0; at + k_ <= points->size(); ++at) {
      kmers.push_back(numbers_.emplace(points->substr(at, k_), numbers_.size()).first->second);
    }
    std::sort(kmers.begin(), kmers.end());
    KmerCounts counts;
    for (const std::int32_t kmer : kmers) {
      if (counts.empty() || counts.back().kmer != kmer) counts.push_back({kmer, 0});
      ++counts.back().count;
    }
    return counts;
  }

  std::size_t k_;
  std::unordered_map<std::u32string, std::int32_t> numbers_;
};

double common_kmers(const KmerCounts& x, const KmerCounts& y) {
  double sum = 0;
  auto a = x.begin();
  auto b = y.begin();
  while (a != x.end() && b != y.end()) {
    if (a->kmer == b->kmer) {
      sum += static_cast<double>(a++->count) * static_cast<double>(b++->count);
    } else if (a->kmer < b->kmer) {
      ++a;
    } else {
      ++b;
    }
  }
  return sum;
}

/// The scores of the samples with themselves; where they are divided by, none may be 0.
std::vector<double> self_scores(const std::vector<KmerCounts>& spectra, const StringData& data,
                                const SpectrumSettings& settings) {
  std::vector<double> scores;
  if (settings.score == ScoreForm::kRaw) return scores;
  for (const KmerCounts& spectrum : spectra) {
    scores.push_back(common_kmers(spectrum, spectrum));
    if (scores.back() > 0) continue;
    throw invalid(
        "{}: {} is shorter than kmer, {}; its spectrum is empty and cannot be "
        "normalised",
        data.source, sample_name(data.ids, static_cast<Index>(scores.size()) - 1), settings.kmer);
  }
  return scores;
}

double spectrum_value(double common, const std::vector<double>& rows, Index i,
                      const std::vector<double>& columns, Index j) {
  if (rows.empty()) return common;
  return common /
         std::sqrt(rows[static_cast<std::size_t>(i)] * columns[static_cast<std::size_t>(j)]);
}

}  // namespace

RowMatrix spectrum_matrix(const StringData& rows, const SpectrumSettings& settings,
                          const RunContext& ctx, const StringData* columns) {
  if (settings.score == ScoreForm::kPValue) {
    throw invalid("score p-value is for local alignments; a spectrum is raw or normalised");
  }
  Spectra spectra(settings.kmer);
  const std::vector<KmerCounts> of_rows = spectra.of(rows, ctx);
  const std::vector<KmerCounts> of_columns =
      columns != nullptr ? spectra.of(*columns, ctx) : std::vector<KmerCounts>();
  const std::vector<KmerCounts>& others = columns != nullptr ? of_columns : of_rows;
  const std::vector<double> row_selves = self_scores(of_rows, rows, settings);
  const std::vector<double> column_selves =
      columns != nullptr ? self_scores(others, *columns, settings) : row_selves;
  const auto row_of = [&](Index i) {
    return [&, i](Index j) {
      return spectrum_value(
          common_kmers(of_rows[static_cast<std::size_t>(i)], others[static_cast<std::size_t>(j)]),
          row_selves, i, column_selves, j);
    };
  };
  return detail::all_pairs(std::ssize(of_rows), std::ssize(others), columns == nullptr,
                           "k-mer spectra", ctx, row_of);
}

}  // namespace kith

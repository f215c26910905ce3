// SPDX-License-Identifier: Apache-2.0
// What to try next, from what `summarise` found. Each rule stands alone and gives its reason. A
// rule about methods is here because it held on real data: docs/advice.md.
#include <fmt/format.h>

#include <algorithm>

#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"
#include "kith/inspect/summary.hpp"

namespace kith {
namespace {

void on_spectrum(const MatrixSummary& matrix, std::vector<Advice>& advice) {
  const SpectrumSummary& spectrum = *matrix.spectrum;
  if (spectrum.negative == 0) return;
  // What cut digits leave of eigenvalues that are 0.
  constexpr double kRounded = 1e-5;
  if (matrix.centred && matrix.centred->negative_fraction <= kRounded) {
    const bool none = matrix.centred->negative == 0;
    advice.push_back(
        {"the matrix as it is (svm-none) beside svm-clip and svm-flip",
         fmt::format("its negative eigenvalues come from a diagonal that adds up to 0. After "
                     "double centring {}, and a machine with an intercept sees nothing else{}",
                     none ? "none is left" : "less than 0.001 % of the spectrum is negative",
                     none ? ": it has one optimum" : "")});
    return;
  }
  advice.push_back(
      {"svm-clip or svm-flip rather than svm-none or svm-shift",
       fmt::format("{} of {} eigenvalues are negative: a solver that expects a kernel ends at an "
                   "arbitrary stationary point without a word. Nothing above told on real data "
                   "whether clipping or flipping does better",
                   spectrum.negative, spectrum.lambda.size())});
}

void on_neighbours(const NeighbourSummary& neighbours, const Labels& labels,
                   std::vector<Advice>& advice) {
  if (neighbours.tied * 5 <= labels.size()) return;
  advice.push_back({"a word on ties with every neighbour result",
                    fmt::format("{} of {} samples have several equally near neighbours; the order "
                                "among them is drawn at random, never taken from the file",
                                neighbours.tied, labels.size())});
}

void on_classes(const Labels& labels, std::vector<Advice>& advice) {
  if (labels.class_count() < 2) {
    advice.push_back({"more labels", "there is one class only: nothing can be told apart"});
    return;
  }
  const std::vector<Index> counts = labels.counts();
  std::vector<std::string> small;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] < 3) small.push_back(labels.names[c]);
  }
  if (!small.empty()) {
    advice.push_back(
        {"merging or leaving out tiny classes",
         fmt::format("{} {} fewer than three samples: no split leaves one to learn from "
                     "and one to test on in every fold",
                     list_some(small), small.size() == 1 ? "has" : "have")});
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (*most > 10 * *least) {
    advice.push_back({"balanced error beside the plain one",
                      fmt::format("the largest class is {:.0f} times the smallest",
                                  static_cast<double>(*most) / static_cast<double>(*least))});
  }
}

/// "3 and 7 (cat, dog)".
std::string pair_text(const DuplicatePair& pair) {
  const std::string samples = fmt::format("{} and {}", pair.names[0], pair.names[1]);
  if (!pair.contradicting) return samples;
  return fmt::format("{} ({}, {})", samples, pair.classes[0], pair.classes[1]);
}

void on_duplicates(const DuplicateSummary& duplicates, std::vector<Advice>& advice) {
  if (duplicates.pairs.empty()) return;
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  for (const DuplicatePair& pair : duplicates.pairs) {
    if (shown.size() < kShown) shown.push_back(pair_text(pair));
  }
  const std::int64_t all = duplicates.same + duplicates.near;
  std::string why =
      fmt::format("{} {} of samples {} the same or nearly so: {}{}.", all,
                  all == 1 ? "pair" : "pairs", all == 1 ? "is" : "are", fmt::join(shown, "; "),
                  all > std::ssize(shown) ? fmt::format("; {} more", all - std::ssize(shown)) : "");
  if (duplicates.contradicting > 0) {
    why += fmt::format(" {} of them {} different labels: a method can hardly get both right.",
                       duplicates.contradicting, duplicates.contradicting == 1 ? "has" : "have");
  }
  why += " A test sample whose copy is in the training set is too easy";
  advice.push_back({"checking samples that occur twice", why});
}

void on_matrix(const MatrixSummary& matrix, std::vector<Advice>& advice) {
  if (matrix.missing > 0) {
    advice.push_back({"[[missing=zero]], [[missing=min]] or [[missing=drop-sample]]",
                      fmt::format("{} pairs have no value, and no method may guess what that means",
                                  matrix.missing)});
  }
  const bool positive_diagonal = matrix.diagonal_min > 0;
  if (matrix.kind == PairKind::kSimilarity && positive_diagonal &&
      matrix.diagonal_max > 2 * matrix.diagonal_min) {
    advice.push_back(
        {"[[scale=cosine]]",
         fmt::format("self-similarities run from {} to {}: large samples look alike "
                     "to everything",
                     format_short(matrix.diagonal_min), format_short(matrix.diagonal_max))});
  }
}

}  // namespace

std::vector<Advice> advise(const std::vector<MatrixSummary>& matrices, const Labels* labels) {
  std::vector<Advice> advice;
  constexpr Index kFewest = 4;  // two of each of two classes
  const bool enough = matrices.empty() || matrices.front().n >= kFewest;
  const std::optional<int> single = labels != nullptr ? class_without_folds(*labels) : std::nullopt;
  if (single) {
    advice.push_back({fmt::format("more samples of class {}",
                                  in_quotes(labels->names[static_cast<std::size_t>(*single)])),
                      "it has 1 sample, and cross-validation, by which [[method=auto]] compares "
                      "methods, needs 2 "
                      "of each of two classes"});
  } else if (labels == nullptr ? enough : labels->has_two_classes()) {
    advice.push_back(
        {"[[method=auto]]",
         fmt::format(
             "it compares {} by cross-validation. No property above told on real data "
             "which method does best",
             matrices.size() > 1 ? "methods that learn from several matrices" : "methods")});
  }
  for (const MatrixSummary& matrix : matrices) {
    std::vector<Advice> own;
    on_matrix(matrix, own);
    if (matrix.duplicates) on_duplicates(*matrix.duplicates, own);
    if (matrix.spectrum) on_spectrum(matrix, own);
    if (labels != nullptr && matrix.neighbours && labels->class_count() > 1) {
      on_neighbours(*matrix.neighbours, *labels, own);
    }
    for (Advice& one : own) {
      if (matrices.size() > 1) one.what = matrix.name + ": " + one.what;
      advice.push_back(std::move(one));
    }
  }
  if (labels == nullptr) {
    advice.push_back({"[[labels]]", "with labels, the classes and their neighbours can be judged"});
  } else {
    on_classes(*labels, advice);
  }
  return advice;
}

}  // namespace kith

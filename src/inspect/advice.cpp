// SPDX-License-Identifier: Apache-2.0
// What to try next, from what `summarise` found. Each rule stands alone and gives its reason.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "kith/core/text.hpp"
#include "kith/inspect/summary.hpp"
#include "kith/learn/registry.hpp"

namespace kith {
namespace {

/// Below this share the negative part is rounding or noise; above kStrong it may carry information.
constexpr double kNoise = 1e-3;
constexpr double kStrong = 0.1;

/// Those of `names` that this build has, as users type them.
std::string available(std::initializer_list<std::string_view> names) {
  std::vector<std::string> found;
  for (const std::string_view name : names) {
    if (is_method(name)) found.emplace_back(name);
  }
  return list_some(found, found.size());
}

/// Adds the advice if any of the methods it names exists.
void try_methods(std::initializer_list<std::string_view> names, const std::string& why,
                 std::vector<Advice>& advice) {
  const std::string methods = available(names);
  if (!methods.empty()) advice.push_back({methods, why});
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

void on_spectrum(const SpectrumSummary& spectrum, std::vector<Advice>& advice) {
  if (spectrum.negative == 0) {
    try_methods({"svm-none"},
                "no eigenvalue is negative: the matrix is a kernel as it is, and every spectrum "
                "modification leaves it alone",
                advice);
    return;
  }
  const std::string share = percent(spectrum.negative_fraction);
  if (spectrum.negative_fraction < kNoise) {
    try_methods({"svm-clip"},
                fmt::format("only {} of the spectrum is negative: most likely noise that clipping "
                            "removes",
                            share),
                advice);
  } else if (spectrum.negative_fraction < kStrong) {
    try_methods({"svm-clip", "svm-flip"},
                fmt::format("{} of the spectrum is negative: too much to ignore, and only a "
                            "comparison shows whether it is noise (clip) or information (flip)",
                            share),
                advice);
  } else {
    try_methods(
        {"svm-flip", "svm-square", "spectrum-svm", "features-svm", "features-fisher"},
        fmt::format("{} of the spectrum is negative: dropping that much may lose what tells "
                    "the classes apart; these methods keep it",
                    share),
        advice);
  }
  advice.push_back({"no plain kernel method on this matrix",
                    fmt::format("{} of {} eigenvalues are negative: a solver that expects a kernel "
                                "ends at an arbitrary stationary point without a word",
                                spectrum.negative, spectrum.lambda.size())});
}

void on_neighbours(const NeighbourSummary& neighbours, const Labels& labels,
                   std::vector<Advice>& advice) {
  const std::vector<Index> counts = labels.counts();
  const double largest = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const double guess = 1 - largest / static_cast<double>(labels.size());
  if (neighbours.error > guess) {
    try_methods({"krr", "features-svm", "p-svm", "features-fisher"},
                fmt::format("the nearest neighbour errs on {}, more than always naming the largest "
                            "class ({}): being near does not mean being alike here, and these look "
                            "at more than the nearest",
                            percent(neighbours.error), percent(guess)),
                advice);
  } else if (neighbours.error < 0.5 * guess) {
    try_methods(
        {"knn", "kri"},
        fmt::format("the nearest neighbour alone errs on {}, where always naming the largest "
                    "class errs on {}: anything slower must beat that",
                    percent(neighbours.error), percent(guess)),
        advice);
  }
  if (neighbours.tied * 5 > labels.size()) {
    advice.push_back(
        {"a word on ties with every neighbour result",
         fmt::format("{} of {} samples have several equally near neighbours; the order "
                     "among them is drawn at random, never taken from the file",
                     neighbours.tied, labels.size())});
  }
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
      fmt::format("{} {} of samples {} the same or nearly so, such as {}", all,
                  all == 1 ? "pair" : "pairs", all == 1 ? "is" : "are", fmt::join(shown, "; "));
  if (duplicates.contradicting > 0) {
    why += fmt::format("; {} {} different labels, and no method can get both right",
                       duplicates.contradicting, duplicates.contradicting == 1 ? "has" : "have");
  }
  why += "; a copy among the training samples makes its twin in a test too easy";
  advice.push_back({"checking samples that occur twice", why});
}

void on_matrix(const MatrixSummary& matrix, std::vector<Advice>& advice) {
  if (matrix.missing > 0) {
    advice.push_back({"[[missing=zero]], [[missing=min]] or [[missing=drop-sample]]",
                      fmt::format("{} pairs have no value, and no method may guess what that means",
                                  matrix.missing)});
  }
  if (matrix.asymmetry > 0.01) {
    try_methods(
        {"svm-square", "features-svm", "lp-machine", "features-fisher"},
        fmt::format("the matrix is asymmetric by {} of its norm; these use it as it is, where "
                    "others average the two directions",
                    percent(matrix.asymmetry)),
        advice);
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
  for (const MatrixSummary& matrix : matrices) {
    std::vector<Advice> own;
    on_matrix(matrix, own);
    if (matrix.duplicates) on_duplicates(*matrix.duplicates, own);
    if (matrix.spectrum) on_spectrum(*matrix.spectrum, own);
    if (labels != nullptr && matrix.neighbours && labels->class_count() > 1) {
      on_neighbours(*matrix.neighbours, *labels, own);
    }
    for (Advice& one : own) {
      if (matrices.size() > 1) one.what = matrix.name + ": " + one.what;
      advice.push_back(std::move(one));
    }
  }
  if (matrices.size() > 1) {
    try_methods({"average-svm", "mkl", "eskl"},
                "several matrices describe the same samples; these learn from all at once", advice);
  }
  if (labels == nullptr) {
    advice.push_back({"[[labels]]", "with labels, the classes and their neighbours can be judged"});
  } else {
    on_classes(*labels, advice);
  }
  return advice;
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
// The support vector machine on a similarity matrix whose spectrum is modified first: `svm`.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"

namespace kith {

/// What is done to the similarities of a new sample. Map is K S^+ s: another rule than linear for
/// shift alone, where linear leaves the row as it is.
enum class SvmTreatment { kLinear, kAugmented, kNone, kMap };
template <>
struct EnumNames<SvmTreatment> {
  static constexpr std::array<std::string_view, 4> names = {"linear", "augmented", "none", "map"};
};

/// Whether the spectrum is modified once for all classes or for each pair of classes.
enum class SpectrumScope { kAll, kPair };
template <>
struct EnumNames<SpectrumScope> {
  static constexpr std::array<std::string_view, 2> names = {"all", "pair"};
};

struct SvmSettings {
  double cost = 1;
  Spectrum spectrum = Spectrum::kClip;
  SvmTreatment test_treatment = SvmTreatment::kLinear;
  SpectrumScope scope = SpectrumScope::kAll;
  std::optional<double> beta;  ///< none: 1 / max|lambda|
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(SvmSettings& settings, FieldVisitor& field);

/// What the augmented treatment keeps: the spectrum of the training block, to which one new sample
/// at a time is added, and the machines in that block's eigenbasis.
struct AugmentedParts {
  Vector lambda;
  Matrix U;
  Matrix rotated;  ///< U' c for the kernel coefficients c, samples x pairs
};

/// The coefficients are those of raw rows: a linear treatment is folded into them.
struct SvmModel : ColumnMachines {
  Spectrum spectrum = Spectrum::kNone;
  SvmTreatment test_treatment = SvmTreatment::kLinear;
  double beta = 1;
  AugmentedParts augmented;  ///< empty unless test_treatment is augmented
};

[[nodiscard]] Fitted<SvmModel> fit(SharedWork& work, const SvmSettings& settings, RunContext& ctx);
/// Settings that differ in cost alone share one kernel; they are solved in order of cost from warm
/// starts, and a solution serves every cost above its largest coefficient. A kernel that is not
/// convex starts cold each time.
[[nodiscard]] std::vector<Fitted<SvmModel>> fit_path(SharedWork& work,
                                                     std::span<const SvmSettings> path,
                                                     RunContext& ctx);
[[nodiscard]] Prediction predict(const SvmModel& model, const QueryBlock& queries, RunContext& ctx);
/// Decision values, queries x pairs, positive for the first class of the pair.
[[nodiscard]] Matrix decision_values(const SvmModel& model, const QueryBlock& queries,
                                     RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const SvmModel& model);
template <class A>
void archive(Archived<A, SvmModel>& model, A& archiver);

/// Whether new rows need the self-similarities of their samples.
[[nodiscard]] inline bool needs_self(const SvmModel& model) {
  return model.test_treatment == SvmTreatment::kAugmented;
}

static_assert(Learner<SvmSettings, SvmModel>);

template <>
struct MethodTraits<SvmSettings> {
  using Model = SvmModel;
  static constexpr std::string_view name = "svm";
  static constexpr std::string_view title = "SVM";
  static constexpr std::string_view paper = "[TR] 2, [CGR] 2";
  static constexpr std::string_view summary =
      "support vector machine on the matrix after its spectrum has been made positive";
  static constexpr bool probabilities = true;
  static bool one_direction(const SvmSettings& settings) {
    return settings.spectrum == Spectrum::kSquare;  // S S' is of the rows as they are
  }
  static std::vector<GridAxis> grid(const SvmSettings& /*settings*/) {
    return {{.field = "cost", .values = powers_of_ten(-3, 5), .simpler = Simpler::kSmaller}};
  }
};

}  // namespace kith

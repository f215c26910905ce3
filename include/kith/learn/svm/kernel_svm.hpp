// SPDX-License-Identifier: Apache-2.0
// The support vector machine on a similarity matrix whose spectrum is modified first: `svm`.
#pragma once

#include "kith/condition/spectrum.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"
#include "kith/learn/treatment.hpp"

namespace kith {

/// Whether the spectrum is modified once for all classes or for each pair of classes.
enum class SpectrumScope { kAll, kPair };
constexpr auto enum_names(SpectrumScope /*of*/) { return named("all", "pair"); }

struct SvmSettings {
  double cost = 1;
  Spectrum spectrum = Spectrum::kClip;
  Treatment test_treatment = Treatment::kLinear;
  SpectrumScope scope = SpectrumScope::kAll;
  Multiclass multiclass = Multiclass::kOneVsOne;
  std::optional<double> beta;  ///< none: 1 / max|lambda|
  bool prove = false;          ///< of kNone: that the program is convex
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(SvmSettings& settings, FieldVisitor& field);

/// A linear treatment is the map of the machines, or folded into their coefficients. The augmented
/// treatment, to which one new sample at a time is added, keeps the spectrum of the training block,
/// or S' for spectrum square; its coefficients are over the kernel.
struct SvmModel : ColumnMachines {
  Spectrum spectrum = Spectrum::kNone;
  Treatment test_treatment = Treatment::kLinear;
  double beta = 1;
  Vector lambda;  ///< empty unless test_treatment is augmented
  Matrix U;       ///< likewise
  Matrix square;  ///< likewise
};

/// Settings that differ in cost alone share one kernel; they are solved in order of cost from warm
/// starts, and a solution serves every cost above its largest coefficient. A kernel that is not
/// convex starts cold each time.
[[nodiscard]] FittedPath<SvmModel> fit_path(SharedWork& work, Path<SvmSettings> path,
                                            RunContext& ctx);
/// As the treatment of new samples has them.
[[nodiscard]] DenseBlock machine_rows(const SvmModel& model, const QueryBlock& queries,
                                      const RunContext& ctx);
/// None of a machine with test-treatment augmented: its kernel is another for each query.
[[nodiscard]] std::vector<Explanation> explain(const SvmModel& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);
template <class A>
void archive(Archived<A, SvmModel>& model, A& archiver) {
  archive_machines(model, archiver);
  archiver("spectrum", model.spectrum);
  archiver("test_treatment", model.test_treatment);
  archiver("beta", model.beta);
  archiver("augmented_lambda", model.lambda);
  archiver("augmented_vectors", model.U);
  archiver("augmented_square", model.square);
}

/// Whether new rows need the self-similarities of their samples.
[[nodiscard]] inline bool needs_self(const SvmModel& model) {
  return model.test_treatment == Treatment::kAugmented;
}

template <>
struct MethodTraits<SvmSettings> : MethodDefaults<SvmModel> {
  static constexpr std::string_view name = "svm";
  static constexpr std::string_view title = "SVM";
  static constexpr std::string_view paper = "[TR] 2, [CGR] 2";
  static constexpr std::string_view summary =
      "support vector machine on the matrix after its spectrum has been made positive";
  static bool one_direction(const SvmSettings& settings) {
    return settings.spectrum == Spectrum::kSquare;  // S S' is of the rows as they are
  }
  static Grid grid(const auto&) { return {decades("cost", -3, 5)}; }
};

}  // namespace kith

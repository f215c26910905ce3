// SPDX-License-Identifier: Apache-2.0
// For each pair of classes, kernels of a given trace learned from several matrices together with
// the machine on them: what `eskl`, `emkl` and `rekl` share.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/optim/papers/mirror_descent.hpp"
#include "kith/optim/trace/kernel.hpp"

namespace kith {

enum class TraceSolver { kExact, kMirrorDescent };
constexpr auto enum_names(TraceSolver /*of*/) { return named("exact", "mirror-descent"); }

/// The settings of `eskl` and `emkl`, and of one step of any of the three.
struct TraceSettings {
  double cost = 1;
  double rho = 1;
  trace::KernelLoss loss = trace::KernelLoss::kSquared;
  std::shared_ptr<const trace::ConvexLoss> own_loss{};  ///< of kOwn; no text says it
  std::optional<double> trace;  ///< none: that of the mean of the pair's matrices
  TraceSolver solver = TraceSolver::kExact;
  /// printed: by mirror descent, whatever `solver`
  papers::MirrorUpdate update = papers::MirrorUpdate::kCorrect;
  std::optional<Index> iterations;  ///< of mirror descent
  Treatment test_treatment = Treatment::kSample;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  std::optional<double> tolerance;
};
void describe(TraceSettings& settings, FieldVisitor& field);

/// cost and rho 1e-3 ... 1e3.
[[nodiscard]] std::vector<GridAxis> trace_grid();

/// One model per step. Sigmoids are fitted to decision values of samples held out inside the fit,
/// by the exact solver.
[[nodiscard]] FittedPath<LearnedPairsModel> fit_trace_pairs(SharedWork& work,
                                                            trace::KernelShape shape,
                                                            Path<TraceSettings> steps,
                                                            const RunContext& ctx);
}  // namespace kith

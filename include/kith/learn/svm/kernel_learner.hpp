// SPDX-License-Identifier: Apache-2.0
// Support vector machines on one kernel, one for each binary task and each cost: what every method
// that makes a kernel of its own shares.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/condition/symmetric_matrix.hpp"
#include "kith/learn/multiclass/machines.hpp"
#include "kith/optim/dual/smo.hpp"

namespace kith {

/// What may differ between machines on the same kernel.
struct MachineSettings {
  double cost = 1;
  bool probability = true;
  double tolerance = 1e-6;
};
/// Those of settings with fields of these names.
template <class Settings>
[[nodiscard]] std::vector<MachineSettings> machine_settings(Path<Settings> path) {
  std::vector<MachineSettings> machines;
  for (const Settings& s : path) machines.push_back({s.cost, s.probability, s.tolerance});
  return machines;
}

/// Whose value the objective of a machine is: the dual's, or that of the primal problem [TR] (3),
/// 1/2 |w|^2 + cost times the losses.
enum class MachineObjective { kDual, kPrimal };

/// For fit_tasks. `ascending` in cost: unless the kernel is known not to be convex each solution
/// starts the next, and serves every cost above its largest coefficient. The coefficients c = Y a
/// are over the kernel.
struct KernelLearner {
  using Machine = LinearMachine;
  struct Block {
    SymmetricMatrix K;           ///< of all training samples, or of those of the task
    double shift = 0;            ///< on its diagonal
    std::vector<Index> members;  ///< of the task among them; empty: all
    dual::SymmetricView kernel = dual::SymmetricView::dense(Matrix(0, 0));
    Vector y;
    Vector weights;  ///< per sample; empty: all 1
    dual::Convexity convexity = dual::Convexity::kProved;
    std::optional<dual::SmoSolution> last{};
    double last_cost = 0;

    [[nodiscard]] Vector costs(double cost) const;
  };

  SymmetricMatrix K;  ///< of all training samples
  double shift = 0;   ///< added to the diagonal of K, which is not copied for it
  const TrainingSet* train = nullptr;
  Path<MachineSettings> ascending;
  /// kUnknown: each task looks for itself, unless the whole matrix is `judged`.
  dual::Convexity convexity = dual::Convexity::kProved;
  bool judged = false;
  bool prove = false;  ///< by a factorisation, where it is not known
  MachineObjective objective = MachineObjective::kDual;
  const RunContext* ctx = nullptr;

  /// The block of these samples of K with `shift` on its diagonal; empty: all of them.
  [[nodiscard]] static Block block_of(const SymmetricMatrix& K, double shift,
                                      std::vector<Index> members);
  /// What is known of a kernel before it is used.
  [[nodiscard]] dual::Convexity judge(const Block& block) const;
  [[nodiscard]] Rng folds(std::size_t number) const;
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t number) const;
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const;
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const;
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const;
};

/// The machines of all tasks over the training samples, one set for each of `ascending`.
[[nodiscard]] FittedPath<Machines> train_machines(const KernelLearner& learner, Tasks tasks);

}  // namespace kith

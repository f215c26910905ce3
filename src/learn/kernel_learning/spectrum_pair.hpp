// SPDX-License-Identifier: Apache-2.0
// One binary task of `spectrum-svm`, with what its settings share.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/core/context.hpp"
#include "kith/data/folds.hpp"
#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/optim/dual/smo.hpp"
#include "kith/optim/spectrum/program.hpp"

namespace kith::detail {

struct SpectrumMachine {
  Vector coefficients;  ///< over raw rows of the pair's samples, the learned map folded in
  Vector c;             ///< over rows of the kernel
  double b = 0;
  Vector a;
  double threshold = 0;  ///< gamma from which on the plain machine is the answer
  double offset = 0;
  SolveInfo info;
};

class SpectrumPair {
 public:
  /// `groups` per sample or none; `weights` per sample, positive; n in 1/n is their sum.
  SpectrumPair(Matrix S, SharedDecomposition eigen, std::vector<int> signs, std::vector<int> groups,
               Vector weights);

  [[nodiscard]] const SymmetricEigen& eigen() const { return *eigen_; }
  [[nodiscard]] const Matrix& similarities() const { return S_; }

  [[nodiscard]] SpectrumMachine solve(double eta, double gamma, spectrum::Centre centre,
                                      double tolerance, const RunContext& ctx);
  /// [CGR] 3.4: clip or flip, whichever machine has fewer errors in cross-validation (groups whole;
  /// both where none can be held out), each at the
  /// eta of the grid that suits it best, for similarities `unit` times as large; `both` where they
  /// are equal.
  [[nodiscard]] spectrum::Centre choose_centre(double unit, Rng rng, const RunContext& ctx);
  /// max_i |U diag(a) U's_i - (K_a)_i| / |(K_a)_i| over a few rows; with `raw` s_i is left alone.
  [[nodiscard]] double consistency(const VectorRef& a, bool raw) const;

  /// Some of its samples, with a decomposition of their own.
  [[nodiscard]] SpectrumPair part(std::span<const Index> samples) const;

 private:
  [[nodiscard]] Vector upper() const { return weights_ / weights_.sum(); }
  [[nodiscard]] const dual::SmoSolution& plain(bool flip, double eta, double tolerance,
                                               const RunContext& ctx);
  /// The plain machine as an answer to the program, with what that proves.
  [[nodiscard]] SpectrumMachine unlearned(const spectrum::Program& program,
                                          const dual::SmoSolution& plain, double threshold,
                                          double tolerance) const;
  [[nodiscard]] SpectrumMachine best(double eta, double gamma, spectrum::Centre centre,
                                     double tolerance, const RunContext& ctx);
  [[nodiscard]] Vector folded(const VectorRef& a, const VectorRef& c) const;
  /// Errors on the inside of a fold for each eta of the grid, of clip and of flip.
  [[nodiscard]] Eigen::MatrixXi fold_errors(const FoldSplit& split, double unit,
                                            const RunContext& ctx) const;

  Matrix S_;
  SharedDecomposition eigen_;
  std::vector<int> signs_;
  std::vector<int> groups_;
  Vector y_;
  Vector weights_;
  std::optional<Matrix> kernels_[2];                                      // of clip and of flip
  std::map<std::tuple<bool, double, double>, dual::SmoSolution> solved_;  // plain machines
};

}  // namespace kith::detail

// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/augmented.hpp"

#include <cmath>
#include <functional>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/numerics/arrowhead.hpp"

namespace kith {
namespace {

std::function<double(double)> eigenvalue_rule(Spectrum spectrum, double beta) {
  switch (spectrum) {
    case Spectrum::kClip:
      return [](double x) { return std::max(x, 0.0); };
    case Spectrum::kFlip:
      return [](double x) { return std::abs(x); };
    case Spectrum::kDiffusion:
      return [beta](double x) { return std::exp(beta * x); };
    case Spectrum::kNone:
    case Spectrum::kShift:
    case Spectrum::kSquare:
      break;
  }
  throw Error(ErrorCode::kInternal, "this spectrum rule has no eigenvalue function");
}

}  // namespace

AugmentedParts augmented_parts(Spectrum spectrum, const Matrix& coefficients, SharedWork& work) {
  AugmentedParts parts;
  if (spectrum == Spectrum::kSquare) parts.rotated = coefficients;
  if (!needs_decomposition(spectrum)) return parts;
  const SymmetricEigen& eigen = *work.eigen();
  parts.lambda = eigen.lambda;
  parts.U = eigen.U;
  parts.rotated = eigen.U.transpose() * coefficients;
  return parts;
}

Matrix augmented_decisions(const SvmModel& model, const Eigen::Ref<const RowMatrix>& rows,
                           const VectorRef& self, RunContext& ctx) {
  if (!needs_decomposition(model.spectrum)) {
    // none, shift: the border row is s itself. square: (A A)_border = S s + psi s.
    Matrix decisions = rows * model.coefficients;
    if (model.spectrum == Spectrum::kSquare) {
      decisions += self.asDiagonal() * (rows * model.augmented.rotated);
    }
    return decisions;
  }
  const std::function<double(double)> h = eigenvalue_rule(model.spectrum, model.beta);
  const Matrix rotated = (rows * model.augmented.U).transpose();
  Matrix decisions(rows.rows(), model.intercepts.size());
  parallel_for(static_cast<std::size_t>(rows.rows()), ctx.threads, [&](std::size_t q) {
    ctx.check_stop();
    const auto i = static_cast<Index>(q);
    const Vector border = arrowhead_column(model.augmented.lambda, rotated.col(i), self(i), h);
    decisions.row(i) = border.transpose() * model.augmented.rotated;
  });
  return decisions;
}

}  // namespace kith

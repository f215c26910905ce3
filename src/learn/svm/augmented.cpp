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

void keep_augmented_parts(SvmModel& model, SharedWork& work) {
  if (model.spectrum == Spectrum::kSquare) model.square = work.dense().values().transpose();
  if (!needs_decomposition(model.spectrum)) return;
  model.lambda = work.eigen()->lambda;
  model.U = work.eigen()->U;
}

DenseBlock augmented_rows(const SvmModel& model, const DenseBlock& rows, const VectorRef& self,
                          const RunContext& ctx) {
  if (!needs_decomposition(model.spectrum)) {
    // none, shift: the border row is s itself. square: (A A)_border = S s + psi s.
    if (model.spectrum != Spectrum::kSquare) return rows;
    RowMatrix border = rows.values() * model.square;
    border += self.asDiagonal() * rows.values();
    return DenseBlock(std::move(border));
  }
  const std::function<double(double)> h = eigenvalue_rule(model.spectrum, model.beta);
  Matrix columns = (rows.values() * model.U).transpose();
  parallel_for(static_cast<std::size_t>(rows.rows()), ctx.threads, [&](std::size_t q) {
    ctx.check_stop();
    const auto i = static_cast<Index>(q);
    columns.col(i) = arrowhead_column(model.lambda, columns.col(i), self(i), h);
  });
  return DenseBlock(RowMatrix((model.U * columns).transpose()));
}

}  // namespace kith

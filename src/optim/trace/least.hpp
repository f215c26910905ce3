// SPDX-License-Identifier: Apache-2.0
// The least loss that kernels of the trace can have, and what they have beyond it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/optim/trace/kernel.hpp"

namespace kith::trace {

/// From this rho on kernels move from the nearest ones of the trace by so little that an iteration
/// loses it among the digits of the loss: what it finds for this rho leads to the answer for any
/// larger one.
[[nodiscard]] double heaviest_loss(const Problem& problem);

/// kSquared, less its least value. With P = (V - theta I)_+ the nearest kernel of the trace to V
/// and W = (theta I - V)_+, for every kernel K of the same trace
///
///   |K - V|^2 - |P - V|^2 = |K - P|^2 + 2 tr(K W),
///
/// two terms that are not negative, where the left side may have lost all its digits.
class SquaredLoss {
 public:
  explicit SquaredLoss(const Problem& problem);

  [[nodiscard]] double least() const { return least_; }
  /// rho sum_i |K - S_i|^2 - least(). Beyond heaviest_loss a kernel that is the nearest one but for
  /// rounding counts as it: the square of its last digit times rho would be all there is.
  [[nodiscard]] double excess(std::span<const SymmetricEigen> kernels) const;
  /// 1'a + sum_k min over K of -u'K u / (2 gamma_k) and the loss, less least(): a lower bound of
  /// the optimum. The least K is the nearest kernel of the trace to V_k + u u' / (4 c_k gamma_k);
  /// with K free and W left out the minimum is -u'P u / (2 gamma_k) - |u|^4 / (16 c_k gamma_k^2),
  /// which is as good where the second term is nothing.
  [[nodiscard]] double lower_bound(const VectorRef& alpha, const VectorRef& gamma) const;

 private:
  struct Near {
    SymmetricEigen V;
    double c = 0;  // weight of |K - V|^2
    Vector p;      // eigenvalues of P
    Vector w;      // of W
  };
  /// For K = B diag(k) B' in the basis of V.
  [[nodiscard]] double excess(const Near& near, const MatrixRef& B, const VectorRef& k) const;
  /// -u'P u / (2 gamma), where that is the bound to twelve digits.
  [[nodiscard]] std::optional<double> bound_at_nearest(const Near& near, const VectorRef& p,
                                                       double gamma) const;
  [[nodiscard]] double excess_of_spectrum(const Near& near, const VectorRef& mu) const;

  const Problem& problem_;
  bool heavy_;              // beyond heaviest_loss
  std::vector<Near> near_;  // one per kernel
  double least_ = 0;
};

}  // namespace kith::trace

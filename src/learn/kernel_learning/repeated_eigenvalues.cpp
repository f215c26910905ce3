// SPDX-License-Identifier: Apache-2.0
#include "learn/kernel_learning/repeated_eigenvalues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace kith::detail {

bool differ_where_repeated(const Vector& lambda, const Vector& learned) {
  constexpr double kSame = 1e-10;   // of the largest: what decompositions leave of equal ones
  constexpr double kDiffer = 1e-4;  // of the largest: beyond what solvers leave of equal ones
  assert(lambda.size() == learned.size() && "one number per eigenvalue");
  if (lambda.size() == 0) return false;
  const double same = kSame * lambda.cwiseAbs().maxCoeff();
  const double differ = kDiffer * learned.cwiseAbs().maxCoeff();
  double least = learned(0);  // of the eigenvalues like the last
  double most = learned(0);
  for (Index i = 1; i < lambda.size(); ++i) {
    const bool repeated = lambda(i) - lambda(i - 1) <= same;
    least = repeated ? std::min(least, learned(i)) : learned(i);
    most = repeated ? std::max(most, learned(i)) : learned(i);
    if (most - least > differ) return true;
  }
  return false;
}

std::string repeated_note(const std::vector<std::string>& where) {
  const std::string others =
      where.size() > 1 ? fmt::format(" and {} more", where.size() - 1) : std::string();
  return fmt::format(
      "eigenvalues repeat ({}{}), and what was learned for their eigenvectors "
      "differs: they are not unique, and another order of the samples gives "
      "another answer",
      where.front(), others);
}

}  // namespace kith::detail

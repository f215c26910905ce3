// SPDX-License-Identifier: Apache-2.0
// Uses each kind of thing an installed kith offers: a header, a compiled function, LAPACK below it.
#include <iostream>
#include <kith/core/parallel.hpp>
#include <kith/numerics/symmetric_eigen.hpp>
#include <kith/version.hpp>

int main() {
  kith::Matrix S(2, 2);
  S << 0, 1, 1, 0;  // eigenvalues -1 and 1
  const kith::Vector lambda = kith::symmetric_eigenvalues(S);
  kith::Vector doubled(2);
  kith::parallel_for(2, 2, [&](std::size_t i) {
    doubled(static_cast<kith::Index>(i)) = 2 * lambda(static_cast<kith::Index>(i));
  });
  std::cout << kith::kVersion << ' ' << doubled.transpose() << '\n';
  return (doubled - kith::Vector{{-2.0, 2.0}}).norm() < 1e-12 ? 0 : 1;
}

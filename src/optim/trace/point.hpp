// SPDX-License-Identifier: Apache-2.0
// What every solver of the trace-constrained problem (optim/trace/kernel) uses of it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/optim/mkl/mixed.hpp"
#include "kith/optim/trace/kernel.hpp"

namespace kith::trace {

[[nodiscard]] Index kernel_count(const Problem& problem);
/// How many Z_i a proof has.
[[nodiscard]] std::size_t multiplier_count(const Problem& problem);
/// The kernel that S_i is compared with: 0 or i.
[[nodiscard]] Index kernel_of(const Problem& problem, Index i);

[[nodiscard]] ConvexLoss loss_of(const Problem& problem);
/// rho L'(X), symmetric where X is. Throws Error for a gradient of another size or not finite.
[[nodiscard]] Matrix checked_subgradient(const Problem& problem, const ConvexLoss& loss,
                                         const Matrix& X);
[[nodiscard]] double loss_value(KernelLoss loss, const MatrixRef& X);

[[nodiscard]] std::vector<Matrix> matrices_of(std::span<const SymmetricEigen> kernels);
/// That of the kernels `K` which S_i is compared with.
[[nodiscard]] const Matrix& compared(const Problem& problem, std::span<const Matrix> K,
                                     std::size_t i);
/// K - S_i for every i, in kSpectral mu_i - lambda_i; `K` are the matrices of `kernels`, `eigen`
/// the decompositions of the S_i, read in kSpectral only.
[[nodiscard]] std::vector<Matrix> differences(const Problem& problem,
                                              std::span<const SymmetricEigen> eigen,
                                              std::span<const SymmetricEigen> kernels,
                                              std::span<const Matrix> K);
/// What is compared: the S_i, in kSpectral their eigenvalues (problem.eigen, which is not empty
/// then).
[[nodiscard]] std::vector<Matrix> originals(const Problem& problem);
/// What each of them is compared with: the kernel, or mu_i.
[[nodiscard]] std::vector<Matrix> compared_with(const Problem& problem,
                                                std::span<const SymmetricEigen> kernels,
                                                std::span<const Matrix> K);
/// The nearest kernels of the trace, in kShared to the mean of the S_i. With positive eigenvalues
/// alone, but in kSpectral with all (problem.eigen is not empty then).
[[nodiscard]] std::vector<SymmetricEigen> nearest_kernels(const Problem& problem);

/// rho sum_i L of the differences.
[[nodiscard]] double total_loss(const Problem& problem, std::span<const Matrix> differences);

/// Z where (rho L)*(Z) is finite, else the nearest such matrix.
[[nodiscard]] Matrix draw_into_domain(KernelLoss loss, double rho, Matrix Z);

/// The bound of Proof, kSquared excepted; `eigen` are the decompositions of the S_i,
/// read in kSpectral only.
[[nodiscard]] double lower_bound(const Problem& problem, std::span<const SymmetricEigen> eigen,
                                 const Proof& proof);

/// An upper bound of Omega(K) from one (alpha, gamma, b): the primal of the machine. `K` are the
/// matrices of `kernels`. Norms are taken from the eigenpairs: next to a gamma_i of 1e-7 the matrix
/// leaves u'K_i u / gamma_i^2 three digits.
struct MachineValue {
  double upper = 0;
  double kkt_residual = 0;
};
[[nodiscard]] MachineValue machine_value(const Problem& problem,
                                         std::span<const SymmetricEigen> kernels,
                                         std::span<const Matrix> K, const VectorRef& alpha,
                                         const VectorRef& gamma, double b);

/// The machine on kernels that stay as they are. None where a weight is so small that u / gamma_i
/// has lost its digits.
[[nodiscard]] std::optional<mkl::MixedSolution> fixed_machine(const Problem& problem,
                                                              std::span<const Matrix> K,
                                                              const mkl::MixedSettings& settings,
                                                              const RunContext& ctx);

/// The decompositions of every S_i.
[[nodiscard]] std::vector<SymmetricEigen> decompose(std::span<const Matrix> S);
/// Those that the problem brings along, else new ones: of every S_i, in kShared of their mean.
[[nodiscard]] std::vector<SymmetricEigen> decompose(const Problem& problem);
/// The mean of all S_i.
[[nodiscard]] Matrix mean_similarity(const Problem& problem);

/// The optimum for kAbsolute and kNorm where it is K_i = S_i for every i, or in kShared K = S_i for
/// some i: these S_i are kernels of the trace, and no pull of the machine is stronger than rho.
/// Else none.
[[nodiscard]] std::optional<Solution> solve_touching(const Problem& problem, const RunContext& ctx);

/// kOwn (src/optim/trace/proximal.cpp).
[[nodiscard]] Solution proximal_steps(const Problem& given, double tolerance, long max_iterations,
                                      const RunContext& ctx);

/// kAbsolute and kNorm by splitting (src/optim/trace/splitting.cpp).
[[nodiscard]] Solution split_loss(const Problem& given, double tolerance, long max_iterations,
                                  const RunContext& ctx);
/// kSquared, and kNorm by a search around it (src/optim/trace/search.cpp).
[[nodiscard]] Solution solve_squared(const Problem& problem, double tolerance,
                                     const RunContext& ctx);
[[nodiscard]] Solution search_norm(const Problem& problem, double tolerance, long max_iterations,
                                   const RunContext& ctx);

}  // namespace kith::trace

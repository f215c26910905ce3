// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/errors.hpp"
#include "kith/condition/symmetric.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"
#include "kith/numerics/extreme_eigen.hpp"
#include "kith/numerics/psd.hpp"

namespace kith {
namespace {

/// Eigenvalues below this part of the largest magnitude are not inverted: their eigenvectors are
/// mostly noise, which the inverse would amplify.
constexpr double kDiffusionCut = 1e-3;

double largest_magnitude(const VectorRef& lambda) {
  return lambda.size() == 0 ? 0.0 : lambda.cwiseAbs().maxCoeff();
}

Vector diffused(const VectorRef& lambda, double beta) {
  const Vector values = (beta * lambda.array()).exp();
  if (!values.allFinite()) {
    throw invalid(
        "exp(beta S) overflows: beta is {} and the largest eigenvalue {}; beta "
        "times it must stay below 709",
        format_short(beta), format_short(lambda.maxCoeff()));
  }
  return values;
}

Vector diffusion_multipliers(const VectorRef& lambda, double beta) {
  const double cut = std::max(kDiffusionCut * largest_magnitude(lambda), zero_threshold(lambda));
  Vector multipliers = diffused(lambda, beta);
  for (Index i = 0; i < lambda.size(); ++i) {
    multipliers[i] = std::abs(lambda[i]) <= cut ? 0.0 : multipliers[i] / lambda[i];
  }
  return multipliers;
}

/// Each column s becomes keep s - times U U's.
void correct(const Correction& map, Eigen::Ref<Matrix> columns) {
  const Matrix inside = map.part->U.transpose() * columns;
  if (map.keep != 1) columns *= map.keep;
  columns.noalias() -= map.times * map.part->U * inside;
}

KernelOrigin origin_of(KernelWay way, const NegativePart& part, const SymmetricMatrix& kernel) {
  const double norm = kernel.norm();
  return {.way = way,
          .pairs = part.lambda.size(),
          .error = norm > 0 ? part.error() / norm : part.error()};
}

}  // namespace

bool needs_decomposition(Spectrum spectrum) {
  return spectrum == Spectrum::kClip || spectrum == Spectrum::kFlip ||
         spectrum == Spectrum::kDiffusion;
}

bool needs_negative_part(Spectrum spectrum) {
  return spectrum == Spectrum::kClip || spectrum == Spectrum::kFlip;
}

double diffusion_beta(const std::optional<double>& given, const VectorRef& lambda) {
  if (given) return *given;
  const double largest = largest_magnitude(lambda);
  return largest > 0 ? 1 / largest : 1;
}

Vector test_multipliers(Spectrum spectrum, const VectorRef& lambda, double beta) {
  switch (spectrum) {
    case Spectrum::kNone:
    case Spectrum::kShift:
      return Vector::Ones(lambda.size());
    case Spectrum::kClip:
      return clip_multipliers(lambda);
    case Spectrum::kFlip:
      return flip_multipliers(lambda);
    case Spectrum::kSquare:
      return lambda;
    case Spectrum::kDiffusion:
      return diffusion_multipliers(lambda, beta);
  }
  throw Error(ErrorCode::kInternal, "a spectrum without multipliers");
}

std::string in_words(const KernelOrigin& origin, Spectrum spectrum, Index n) {
  const std::string_view name = enum_name(spectrum);
  const auto pairs = [&](std::string_view sign) {
    return fmt::format(
        "{} by {} of {} eigenpairs, the {} ones; proved to be all, with an error of "
        "the kernel of at most {}",
        name, origin.pairs, n, sign, format_short(origin.error));
  };
  switch (origin.way) {
    case KernelWay::kAsGiven:
      return "the matrix as it is";
    case KernelWay::kSemidefinite:
      return fmt::format("{} leaves the matrix as it is: proved to be positive semidefinite", name);
    case KernelWay::kNegativePairs:
      return pairs("negative");
    case KernelWay::kPositivePairs:
      return pairs("positive");
    case KernelWay::kDecomposition:
      return fmt::format("{} by all {} eigenpairs", name, n);
    case KernelWay::kShift:
      return "shift by a proved bound of the least eigenvalue";
    case KernelWay::kProduct:
      return "the product of the matrix with its transpose";
  }
  throw Error(ErrorCode::kInternal, "a kernel without an origin");
}

Conditioned spectral_kernel(Spectrum spectrum, Matrix S, SharedDecomposition eigen, double beta) {
  assert(needs_decomposition(spectrum) && "the other kernels need no decomposition");
  Vector multipliers = test_multipliers(spectrum, eigen->lambda, beta);
  if (spectrum == Spectrum::kDiffusion) {
    S = reconstruct(eigen->U, diffused(eigen->lambda, beta));
  } else {
    modify_spectrum(S, *eigen, multipliers);
  }
  return {.kernel = std::move(S),
          .transform = SpectralMap{std::move(eigen), std::move(multipliers)},
          .origin = {.way = KernelWay::kDecomposition}};
}

Conditioned corrected_kernel(Spectrum spectrum, const SymmetricMatrix& S, SharedNegativePart part) {
  assert(needs_negative_part(spectrum) && "only clip and flip go by the negative pairs");
  if (part->lambda.size() == 0) {
    return {.kernel = S,
            .transform = Unchanged{},
            .origin = origin_of(KernelWay::kSemidefinite, *part, S)};
  }
  const double times = spectrum == Spectrum::kClip ? 1 : 2;
  Matrix K = S;
  add_spectrum(K, part->U, -times * part->lambda);
  Conditioned made{.kernel = std::move(K), .transform = {}};
  made.origin = origin_of(KernelWay::kNegativePairs, *part, made.kernel);
  made.transform = Correction{std::move(part), 1, times};
  return made;
}

Conditioned positive_kernel(Spectrum spectrum, const SymmetricMatrix& S, SharedNegativePart part) {
  assert(needs_negative_part(spectrum) && "only clip and flip go by the positive pairs");
  const bool clip = spectrum == Spectrum::kClip;
  const double times = clip ? 1 : 2;
  Matrix K = clip ? Matrix(Matrix::Zero(S.rows(), S.cols())) : Matrix(-S);
  add_spectrum(K, part->U, -times * part->lambda);
  Conditioned made{.kernel = std::move(K), .transform = {}};
  made.origin = origin_of(KernelWay::kPositivePairs, *part, made.kernel);
  made.transform = Correction{std::move(part), clip ? 0.0 : -1.0, -times};
  return made;
}

Conditioned shifted_kernel(Matrix S, double shift) {
  assert(shift >= 0 && "a negative shift would make S less definite");
  S.diagonal().array() += shift;
  return {.kernel = std::move(S),
          .transform = Unchanged{},
          .origin = {.way = shift > 0 ? KernelWay::kShift : KernelWay::kSemidefinite}};
}

SpectralMap shift_map(SharedDecomposition eigen, double shift) {
  const double cut = kShiftMapCut * largest_magnitude(eigen->lambda);
  Vector multipliers = eigen->lambda;
  for (double& value : multipliers) value = std::abs(value) <= cut ? 0.0 : 1 + shift / value;
  return {.eigen = std::move(eigen), .multipliers = std::move(multipliers)};
}

double share_near_cut(const MatrixRef& S, const RunContext& ctx) {
  constexpr Index kMostNew = 64;
  constexpr double kFactor = 10;  // of the cut, either way
  const Index n = S.rows();
  const std::vector<Index> fresh = spread_positions(n, std::min(kMostNew, (n + 9) / 10));
  std::vector<Index> known;
  for (Index i = 0; i < n; ++i) {
    if (!std::ranges::binary_search(fresh, i)) known.push_back(i);
  }
  if (known.empty()) return 0;
  const SymmetricEigen eigen = symmetric_eigen(Matrix(S(known, known)), ctx);
  const double shift = -std::min(0.0, eigen.lambda.minCoeff());
  const double cut = kShiftMapCut * largest_magnitude(eigen.lambda);
  if (!(shift > cut)) return 0;
  const Matrix parts = eigen.U.transpose() * S(known, fresh);
  double near = 0;
  double all = 0;
  for (Index j = 0; j < eigen.lambda.size(); ++j) {
    const double size = std::abs(eigen.lambda(j));
    if (size <= cut / kFactor) continue;
    const double term = (eigen.lambda(j) + shift) * parts.row(j).squaredNorm() / (size * size);
    all += term;
    if (size <= cut * kFactor) near += term;
  }
  return all > 0 ? near / all : 0;
}

Conditioned squared_kernel(DenseBlock S) {
  const Index n = S.rows();
  Matrix kernel = Matrix::Zero(n, n);
  kernel.selfadjointView<Eigen::Lower>().rankUpdate(S.values());
  kernel.triangularView<Eigen::StrictlyUpper>() = kernel.transpose();
  return {.kernel = std::move(kernel),
          .transform = SquareMap{std::move(S)},
          .origin = {.way = KernelWay::kProduct}};
}

Conditioned condition_kernel(Spectrum spectrum, const DenseBlock& block, const RunContext& ctx,
                             const std::optional<double>& beta) {
  if (spectrum == Spectrum::kSquare) return squared_kernel(block);
  Matrix S = symmetric_mean(block, ctx.threads);
  if (spectrum == Spectrum::kNone) return {.kernel = std::move(S), .transform = Unchanged{}};
  if (spectrum == Spectrum::kShift) {
    const double shift = shift_to_psd(S, ctx);
    return shifted_kernel(std::move(S), shift);
  }
  if (needs_negative_part(spectrum)) {
    if (std::optional<NegativePart> part = negative_part(S, ctx)) {
      return corrected_kernel(spectrum, SymmetricMatrix(std::move(S)),
                              std::make_shared<const NegativePart>(*std::move(part)));
    }
    if (std::optional<NegativePart> part = negative_part(Matrix(-S), ctx, Accuracy::kOfPart)) {
      return positive_kernel(spectrum, SymmetricMatrix(std::move(S)),
                             std::make_shared<const NegativePart>(*std::move(part)));
    }
  }
  auto eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(S));
  const double strength = diffusion_beta(beta, eigen->lambda);
  return spectral_kernel(spectrum, std::move(S), std::move(eigen), strength);
}

Matrix fold(const TestTransform& transform, const MatrixRef& coefficients) {
  if (const auto* map = std::get_if<Correction>(&transform)) {
    Matrix folded = coefficients;
    correct(*map, folded);
    return folded;
  }
  if (const auto* map = std::get_if<SpectralMap>(&transform)) {
    Matrix folded = coefficients;
    apply_spectral_to_columns(map->eigen->U, map->multipliers, folded);
    return folded;
  }
  if (const auto* map = std::get_if<SquareMap>(&transform)) {
    return map->S.values().transpose() * coefficients;
  }
  return coefficients;
}

RowMatrix transform_rows(const TestTransform& transform, RowMatrix rows) {
  if (const auto* map = std::get_if<Correction>(&transform)) {
    correct(*map, Eigen::Map<Matrix>(rows.data(), rows.cols(), rows.rows()));
    return rows;
  }
  if (const auto* map = std::get_if<SpectralMap>(&transform)) {
    // Row-major rows are the columns of their transposed in the same memory.
    Eigen::Map<Matrix> columns(rows.data(), rows.cols(), rows.rows());
    apply_spectral_to_columns(map->eigen->U, map->multipliers, columns);
    return rows;
  }
  if (const auto* map = std::get_if<SquareMap>(&transform)) {
    RowMatrix squared(rows.rows(), map->S.rows());
    squared.noalias() = rows * map->S.values().transpose();
    return squared;
  }
  return rows;
}

double consistency(const Conditioned& conditioned, const DenseBlock& rows, double shift,
                   Index most_rows) {
  const SymmetricMatrix& K = conditioned.kernel;
  const bool same = K.data() == rows.values().data();
  if (same && shift == 0 && std::holds_alternative<Unchanged>(conditioned.transform)) return 0;
  const std::vector<Index> chosen = spread_positions(rows.rows(), most_rows);
  const RowMatrix seen =
      transform_rows(conditioned.transform, RowMatrix(rows.values()(chosen, Eigen::all)));
  double worst = 0;
  for (Index i = 0; i < seen.rows(); ++i) {
    const Index at = chosen[static_cast<std::size_t>(i)];
    Vector own = K.col(at);
    own[at] += shift;
    const double norm = own.norm();
    const double distance = (seen.row(i).transpose() - own).norm();
    if (distance > 0) worst = std::max(worst, norm > 0 ? distance / norm : distance);
  }
  return worst;
}

}  // namespace kith

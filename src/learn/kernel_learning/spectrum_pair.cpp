// SPDX-License-Identifier: Apache-2.0
#include "learn/kernel_learning/spectrum_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kith/numerics/psd.hpp"

namespace kith::detail {
namespace {

constexpr int kCentreFolds = 10;
constexpr std::array<double, 5> kCentreEtas = {1, 1e-1, 1e-2, 1e-3, 1e-4};  // costs ascending
constexpr Index kConsistencyRows = 16;
/// A machine is solved to this part of the tolerance: its own gap is of another form, and relative
/// to a value that margins missed by rounding hardly change.
constexpr double kPlainPart = 1e-2;
/// z / lambda and a w / (2 eta) are the same number. The first has the accuracy of the decision
/// values but magnifies errors by 1 / lambda, the second by 1 / eta: below this part of the largest
/// eigenvalue the second is taken.
constexpr double kTrustedPart = 1e-3;

}  // namespace

SpectrumPair::SpectrumPair(Matrix S, SharedDecomposition eigen, std::vector<int> signs,
                           std::vector<int> groups, Vector weights)
    : S_(std::move(S)),
      eigen_(std::move(eigen)),
      signs_(std::move(signs)),
      groups_(std::move(groups)),
      y_(as_numbers(signs_)),
      weights_(std::move(weights)) {}

SpectrumPair SpectrumPair::part(std::span<const Index> samples) const {
  Matrix S = S_(samples, samples);
  auto eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(S));
  return {std::move(S), std::move(eigen), values_at(signs_, samples), values_at(groups_, samples),
          weights_(samples)};
}

Vector SpectrumPair::folded(const VectorRef& a, const VectorRef& c) const {
  return fold(SpectralMap{eigen_, a}, c).col(0);
}

/// The machine on the clipped or flipped kernel, in the units of [CGR] (1): C = 1 / (2 eta n).
const dual::SmoSolution& SpectrumPair::plain(bool flip, double eta, double tolerance,
                                             const RunContext& ctx) {
  const auto key = std::tuple(flip, eta, tolerance);
  const auto known = solved_.find(key);
  if (known != solved_.end()) return known->second;
  std::optional<Matrix>& kernel = kernels_[flip ? 1 : 0];
  if (!kernel) {
    kernel = spectral_kernel(flip ? Spectrum::kFlip : Spectrum::kClip, S_, eigen_).kernel;
  }
  const dual::SvmDual dual{
      .K = dual::SymmetricView::dense(*kernel), .y = y_, .cost = upper() / (2 * eta), .linear = {}};
  return solved_
      .emplace(key, dual::smo(dual, {.tolerance = tolerance, .gap_tolerance = tolerance}, ctx))
      .first->second;
}

SpectrumMachine SpectrumPair::solve(double eta, double gamma, spectrum::Centre centre,
                                    double tolerance, const RunContext& ctx) {
  SpectrumMachine machine = best(eta, gamma, centre, tolerance, ctx);
  const bool finite = std::isfinite(machine.b) && machine.coefficients.allFinite() &&
                      machine.c.allFinite() && machine.a.allFinite();
  if (!finite) machine.info.status = SolveStatus::kNumericalFailure;
  return machine;
}

SpectrumMachine SpectrumPair::unlearned(const spectrum::Program& program,
                                        const dual::SmoSolution& plain, double threshold,
                                        double tolerance) const {
  const spectrum::Point point =
      spectrum::plain_point(program, 2 * program.eta * plain.alpha, plain.b);
  const spectrum::Certificate certificate = certify(program, point);
  SpectrumMachine machine;
  machine.threshold = threshold;
  machine.a = point.a;
  machine.c = y_.cwiseProduct(plain.alpha);
  machine.coefficients = folded(point.a, machine.c);
  machine.b = plain.b;
  machine.offset = certificate.offset;
  machine.info = plain.info;
  machine.info.objective = certificate.objective();
  machine.info.gap = certificate.gap;
  machine.info.status = measured_status(plain.info.status, certificate.gap <= tolerance);
  return machine;
}

SpectrumMachine SpectrumPair::best(double eta, double gamma, spectrum::Centre centre,
                                   double tolerance, const RunContext& ctx) {
  const spectrum::Program program{.eigen = eigen_.get(),
                                  .y = y_,
                                  .upper = upper(),
                                  .eta = eta,
                                  .gamma = gamma,
                                  .centre = centre};
  const bool flip = centre == spectrum::Centre::kFlip || centre == spectrum::Centre::kBoth;
  const dual::SmoSolution& start = plain(flip, eta, kPlainPart * tolerance, ctx);
  const Vector alpha = 2 * eta * start.alpha;
  const double threshold = spectrum::plain_threshold(program, alpha);
  // Where nothing is flat at the centre the plain machine is near the answer for large gamma, and
  // the difference from it, in multipliers of the size of 1, soon too small to be written.
  constexpr double kOwnShare = 0.1;
  SpectrumMachine near = unlearned(program, start, threshold, tolerance);
  if (gamma >= threshold || near.info.gap <= kOwnShare * tolerance) return near;
  SpectrumMachine machine;
  machine.threshold = threshold;
  const spectrum::Solution learned = spectrum::solve(program, {.tolerance = tolerance}, ctx, alpha);
  const spectrum::Point& point = learned.point;
  const Vector& lambda = eigen_->lambda;
  const Vector w = eigen_->U.transpose() * y_.cwiseProduct(point.alpha);
  const double trusted = kTrustedPart * lambda.cwiseAbs().maxCoeff();
  Vector rotated(lambda.size());
  for (Index i = 0; i < lambda.size(); ++i) {
    rotated(i) =
        std::abs(lambda(i)) > trusted ? point.z(i) / lambda(i) : point.a(i) * w(i) / (2 * eta);
  }
  machine.a = point.a;
  machine.c = y_.cwiseProduct(point.alpha) / (2 * eta);
  machine.coefficients = eigen_->U * rotated;
  machine.b = point.b;
  machine.offset = learned.certificate.offset;
  machine.info = learned.info;
  machine.info.iterations += start.info.iterations;
  if (machine.info.status != SolveStatus::kSolved && near.info.status == SolveStatus::kSolved) {
    near.info.iterations = machine.info.iterations;
    return near;
  }
  return machine;
}

Eigen::MatrixXi SpectrumPair::fold_errors(const FoldSplit& split, double unit,
                                          const RunContext& ctx) const {
  SpectrumPair outside = part(split.outside);
  const Matrix rows = S_(split.inside, split.outside);
  Eigen::MatrixXi errors = Eigen::MatrixXi::Zero(static_cast<Index>(kCentreEtas.size()), 2);
  for (const bool flip : {false, true}) {
    const Vector a =
        flip ? flip_multipliers(outside.eigen().lambda) : clip_multipliers(outside.eigen().lambda);
    for (std::size_t k = 0; k < kCentreEtas.size(); ++k) {
      ctx.check_stop();
      const dual::SmoSolution& machine =
          outside.plain(flip, kCentreEtas[k] / unit, kCalibrationTolerance, ctx);
      const Vector c = outside.folded(a, outside.y_.cwiseProduct(machine.alpha));
      const Vector decisions = (rows * c).array() + machine.b;
      for (std::size_t i = 0; i < split.inside.size(); ++i) {
        const double own = y_(split.inside[i]) * decisions(static_cast<Index>(i));
        errors(static_cast<Index>(k), flip ? 1 : 0) += own > 0 ? 0 : 1;
      }
    }
  }
  return errors;
}

spectrum::Centre SpectrumPair::choose_centre(double unit, Rng rng, const RunContext& ctx) {
  const bool definite = (flip_multipliers(eigen_->lambda).array() >= 0).all();
  if (definite) return spectrum::Centre::kBoth;
  const std::vector<FoldSplit> folds = two_class_folds(signs_, groups_, kCentreFolds, rng);
  if (folds.empty()) return spectrum::Centre::kBoth;
  Eigen::MatrixXi errors = Eigen::MatrixXi::Zero(static_cast<Index>(kCentreEtas.size()), 2);
  for (const FoldSplit& fold : folds) errors += fold_errors(fold, unit, ctx);
  const int clip = errors.col(0).minCoeff();
  const int flip = errors.col(1).minCoeff();
  if (clip == flip) return spectrum::Centre::kBoth;
  return clip < flip ? spectrum::Centre::kClip : spectrum::Centre::kFlip;
}

double SpectrumPair::consistency(const VectorRef& a, bool raw) const {
  const std::vector<Index> at = spread_positions(S_.rows(), kConsistencyRows);
  const Matrix& U = eigen_->U;
  const Vector kernel = a.cwiseProduct(eigen_->lambda);
  const Matrix in_basis = kernel.asDiagonal() * Matrix(U(at, Eigen::all)).transpose();
  const Matrix rows = U * in_basis;
  Matrix as_new = S_(Eigen::all, at);
  if (!raw) as_new = fold(SpectralMap{eigen_, a}, as_new);
  double worst = 0;
  for (Index k = 0; k < rows.cols(); ++k) {
    const double distance = (as_new.col(k) - rows.col(k)).norm();
    const double norm = rows.col(k).norm();
    if (distance > 0) worst = std::max(worst, norm > 0 ? distance / norm : distance);
  }
  return worst;
}

}  // namespace kith::detail

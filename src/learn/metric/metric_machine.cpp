// SPDX-License-Identifier: Apache-2.0
// [ZGZZ] Algorithm 1 for each pair of classes. The rows of the pair are centred and brought to
// their principal coordinates Z = X Q; there L is d x r, however many columns the rows have, and v
// = Q L'w. That loses nothing: every gradient of L lies in the span of the rows, and what a start
// L0 = I has outside of it meets no training row and no w.
//
// Deviations from the paper. "The SVM solution" of the start is that with squared hinge on L0 x_i
// scaled into the ball, so that the descent begins at its objective. A start from the identity with
// d < D rows begins from the PCA projection, as IV.B (2) does.
//
// The certificate of a descent is the share of the gradient that the exact projection leaves, and
// the distance to the convex lower bound (optim/metric/margin_radius.hpp); computing them costs
// more than a short descent, so that `evaluate` leaves them out.
//
// Principal coordinates hold directions whose deviation is at least 1e-7 of the largest. A descent
// does not feel smaller ones; the optimum does, which depends on the span of the columns alone. The
// convex program and the bound are therefore taken with the centred rows themselves. Columns of
// kernel values are the exception: a machine over them can use little more than their principal
// coordinates hold. Of a linear kernel the features are known: their optimum is brought to kernel
// values, and what rounding of these takes from it is measured by the bound of the features.
#include "learn/metric/metric_machine.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/metric/margin_radius.hpp"

namespace kith::detail {
namespace {

constexpr double kLeastLength = 1e-300;    // of a column that is not 0
constexpr double kStationaryShare = 1e-3;  // of the gradient: less is left at a stationary point

/// A column that is constant becomes 0: what rounding of the mean would leave of it is no feature,
/// and a machine that found a use for it would not know new samples.
Matrix centred(const Matrix& rows) {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  Matrix X = rows;
  for (Index j = 0; j < X.cols() && X.rows() > 0; ++j) {
    const double mean = X.col(j).mean();
    X.col(j).array() -= mean;
    if (X.col(j).cwiseAbs().maxCoeff() <= kRounding * std::abs(mean)) X.col(j).setZero();
  }
  return X;
}

Index dimensions_of(const DimensionRule& rule, const MetricPart& part) {
  const Index all = part.axes.Z.cols();
  if (rule.energy) return dimensions_by_energy(part.axes.spread, *rule.energy);
  return rule.count ? std::min(*rule.count, all) : all;
}

linear::SignedSamples samples_of(const MetricPart& part, const Matrix& X, double cost) {
  linear::SignedSamples samples{.X = X, .y = part.y, .cost = {}};
  samples.cost =
      part.weights.size() > 0 ? Vector(cost * part.weights) : Vector::Constant(part.y.size(), cost);
  return samples;
}

/// The optimum of the convex program: the decision function, the radius of its values and what is
/// known of it. With kBall the radius is half of their range: the program is that of samples with a
/// constant feature more, whose part in v is minus the middle.
struct Optimum {
  Vector v;
  double b = 0;
  double radius = 0;
  double lower = 0;
  SolveInfo info;
};
Optimum optimum_of(const linear::SignedSamples& samples, metric::RadiusRule rule,
                   const RunContext& ctx) {
  const bool ball = rule == metric::RadiusRule::kBall;
  const linear::SignedSamples own = ball ? metric::with_constant(samples) : samples;
  metric::MarginRadiusSolution found = metric::margin_radius(own, ctx);
  Optimum optimum{.v = found.v.head(samples.X.cols()),
                  .b = found.b,
                  .radius = (own.X * found.v).cwiseAbs().maxCoeff(),
                  .lower = found.lower_bound,
                  .info = found.info};
  if (ball) optimum.b += own.X(0, samples.X.cols()) * found.v(samples.X.cols());
  return optimum;
}

/// What no map and machine on these rows falls below.
double lower_bound(const MetricPart& part, const MetricSettings& settings, const RunContext& ctx) {
  if (!part.whole) return 0;
  const Matrix& X = part.features.size() > 0 ? part.features : part.axes.Z;
  return optimum_of(samples_of(part, X, settings.cost), settings.radius, ctx).lower;
}

/// The descent ends where its rule says. What it reached is known from here on alone.
void add_certificate(const linear::SignedSamples& samples, double bound,
                     const metric::Descent& descent, metric::RadiusRule radius,
                     MetricMachine& machine, const RunContext& ctx) {
  const double f = descent.info.objective;
  const double gap = dual::relative_gap(bound, f);
  const bool proved = std::abs(gap) <= metric::kMarginRadiusTolerance;
  machine.info.gap = proved ? std::max(0.0, gap) : gap;
  machine.info.kkt_residual = metric::projected_gradient_share(samples, descent.point, ctx, radius);
  machine.info.status = measured_status(machine.info.status, proved);
  if (machine.info.status == SolveStatus::kStopped &&
      machine.info.kkt_residual <= kStationaryShare) {
    machine.info.status = SolveStatus::kStationary;
  }
  for (const double before : descent.objectives) {
    machine.trace.push_back({.lower = bound,
                             .upper = before,
                             .gap = before - bound,
                             .set_size = descent.point.L.rows()});
  }
}

void set_point(const MetricPart& part, const metric::Point& point, MetricMachine& machine) {
  machine.v = machine.L.transpose() * point.w;
  machine.b = point.b - part.axes.mean.dot(machine.v);
}

/// What is known of a machine where no map and machine falls below `bound`, save by rounding.
void measure_by(double bound, MetricMachine& machine) {
  SolveInfo& info = machine.info;
  info.gap = std::max(info.gap, std::abs(dual::relative_gap(bound, info.objective)));
  info.status = measured_status(info.status, info.gap <= metric::kMarginRadiusTolerance);
}

/// The optimum of the convex program on features, or on what the axes hold of kernel values.
MetricMachine convex_machine(const MetricPart& part, const MetricSettings& settings,
                             const RunContext& ctx) {
  const linear::SignedSamples samples =
      samples_of(part, part.kernel ? part.axes.Z : part.features, settings.cost);
  const Optimum optimum = optimum_of(samples, settings.radius, ctx);
  const metric::Point point = metric::rank_one_point(optimum.v, optimum.b, optimum.radius);
  MetricMachine machine;
  machine.info = optimum.info;
  machine.L = part.kernel ? Matrix(point.L * part.axes.Q.transpose()) : point.L;
  set_point(part, point, machine);
  if (!part.whole) measure_by(0, machine);
  return machine;
}

/// The shortest a with X'a = v, in units in which the columns of X have length 1.
Vector over_samples(const Matrix& X, const Vector& v) {
  const Vector lengths = X.colwise().norm().transpose().cwiseMax(kLeastLength);
  const Matrix unit = X * lengths.cwiseInverse().asDiagonal();
  const Eigen::CompleteOrthogonalDecomposition<Matrix> across(unit.transpose());
  const Vector right = v.cwiseQuotient(lengths);
  Vector a = across.solve(right);
  a += across.solve(Vector(right - unit.transpose() * a));
  return a;
}

/// The optimum of the features over values of their linear kernel, as exactly as these allow.
MetricMachine linear_kernel_machine(const MetricPart& part, const MetricSettings& settings,
                                    const RunContext& ctx) {
  const linear::SignedSamples samples = samples_of(part, part.features, settings.cost);
  const Optimum solution = optimum_of(samples, settings.radius, ctx);
  const double bound = part.whole ? solution.lower : 0;
  MetricMachine machine;
  machine.info = solution.info;
  machine.v = over_samples(part.features, solution.v);
  machine.b = solution.b - part.axes.mean.dot(machine.v);
  const Vector f = machine.decisions(part.rows);
  const bool ball = settings.radius == metric::RadiusRule::kBall;
  const double R =
      ball ? 0.5 * (f.maxCoeff() - f.minCoeff()) : (f.array() - solution.b).abs().maxCoeff();
  machine.L = machine.v.transpose() / (R > 0 ? R : 1);
  machine.info.objective = 0.5 * R * R + linear::squared_hinge_loss(samples, f);
  measure_by(bound, machine);
  if (machine.info.status == SolveStatus::kSolved) return machine;
  MetricMachine other = convex_machine(part, settings, ctx);
  measure_by(bound, other);
  return other.info.objective < machine.info.objective ? other : machine;
}

}  // namespace

MetricPart metric_part(const MetricRows& source, const Matrix& rows, const Matrix& features,
                       std::span<const int> signs, Vector weights) {
  MetricPart part;
  part.axes = principal_axes(rows);
  if (part.axes.Z.cols() == 0) {  // the rows are all alike: one coordinate that says so
    part.axes.Z = Matrix::Zero(rows.rows(), 1);
    part.axes.Q = Matrix::Zero(rows.cols(), 1);
    part.axes.spread = Vector::Zero(1);
  }
  part.kernel = source.columns_are_samples;
  part.whole = source.whole;
  if (!part.kernel) {
    part.features = centred(rows);
  } else if (features.size() > 0) {
    part.features = centred(features);
    part.rows = rows;
  }
  part.y = as_numbers(signs);
  part.weights = std::move(weights);
  return part;
}

MetricMachine solve_metric(const MetricPart& part, const MetricSettings& settings,
                           const DimensionRule& dimensions, const Rng& rng, const RunContext& ctx) {
  if (settings.solver == MetricSolver::kConvex) {
    return part.rows.size() > 0 ? linear_kernel_machine(part, settings, ctx)
                                : convex_machine(part, settings, ctx);
  }
  const linear::SignedSamples samples = samples_of(part, part.axes.Z, settings.cost);
  metric::Point start =
      metric::start_point(samples, dimensions_of(dimensions, part), settings.start,
                          settings.start_machine, rng, ctx, settings.radius);
  const metric::Descent descent = metric::descent(samples, std::move(start),
                                                  {.tolerance = settings.tolerance,
                                                   .projection = settings.projection,
                                                   .radius = settings.radius},
                                                  ctx);
  MetricMachine machine;
  machine.info = descent.info;
  if (settings.certificate) {
    add_certificate(samples, lower_bound(part, settings, ctx), descent, settings.radius, machine,
                    ctx);
  }
  machine.L = descent.point.L * part.axes.Q.transpose();
  set_point(part, descent.point, machine);
  return machine;
}

}  // namespace kith::detail

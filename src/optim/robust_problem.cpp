// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/robust_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kith/core/error.hpp"
#include "optim/robust_point.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace

void validate(const RobustProblem& problem) {
  const Index n = problem.S.rows();
  if (problem.S.cols() != n) {
    refuse(fmt::format("similarities are {} x {}; they must be square", n, problem.S.cols()));
  }
  if (problem.y.size() != n || problem.cost.size() != n) {
    refuse(fmt::format("{} labels and {} costs for {} samples", problem.y.size(),
                       problem.cost.size(), n));
  }
  if (problem.eigen != nullptr && problem.eigen->lambda.size() != n) {
    refuse(fmt::format("a decomposition of {} eigenvalues for {} samples",
                       problem.eigen->lambda.size(), n));
  }
  if (!(problem.rho > 0) || !std::isfinite(problem.rho)) {
    refuse(fmt::format("rho = {}; it is finite and above 0", problem.rho));
  }
  if (!problem.S.allFinite()) refuse("a similarity is not finite");
  for (Index i = 0; i < n; ++i) {
    if (problem.y[i] != 1 && problem.y[i] != -1) {
      refuse(fmt::format("y[{}] = {}; a label is +1 or -1", i, problem.y[i]));
    }
    if (!(problem.cost[i] > 0) || !std::isfinite(problem.cost[i])) {
      refuse(fmt::format("cost[{}] = {}; a cost is finite and above 0", i, problem.cost[i]));
    }
  }
  if (n == 0 || problem.y.minCoeff() == problem.y.maxCoeff()) {
    refuse("the labels must have both classes");
  }
}

namespace {

/// What every certificate is made of: K from a fresh decomposition, and the machine on it solved
/// anew.
struct Evidence {
  detail::SplitMatrix split;
  detail::RobustPoint point;
  double primal = 0;      // of that machine
  double distance = 0;    // |K - S|_F
  double difference = 0;  // between the bounds of the squared term
  double rounding = 0;
  double feasibility = 0;
  double kkt_residual = 0;
};

Evidence evidence(const RobustProblem& problem, const VectorRef& alpha, const RunContext& ctx,
                  const Matrix& witness = {}) {
  validate(problem);
  const Index n = problem.y.size();
  if (alpha.size() != n) {
    refuse(fmt::format("alpha has {} entries for {} samples", alpha.size(), n));
  }
  if (witness.size() > 0 && (witness.rows() != n || witness.cols() != n)) {
    refuse(fmt::format("a witness of {} x {} for {} samples", witness.rows(), witness.cols(), n));
  }
  const detail::SplitMatrix split(problem);
  detail::RobustEvidence own = detail::robust_evidence(problem, split, alpha, witness, ctx);
  Evidence e{split, std::move(own.point)};
  e.primal = own.primal;
  e.distance = std::sqrt(split.excess(e.point.K) + split.negative_squares);
  e.difference = own.difference;
  e.rounding = own.rounding;
  e.feasibility = own.feasibility;
  e.kkt_residual = own.kkt_residual;
  return e;
}

RobustCertificate certificate(const Evidence& e, double offset, double value, double difference) {
  RobustCertificate c;
  c.offset = offset;
  c.value = value;
  c.upper = value + difference;
  c.gap = detail::robust_gap(value, difference, e.rounding);
  c.feasibility = e.feasibility;
  c.kkt_residual = e.kkt_residual;
  return c;
}

/// 1'a - 1/2 u'Ku.
double own_value(const Evidence& e, const RobustProblem& problem, const VectorRef& alpha) {
  return alpha.sum() - 0.5 * problem.y.cwiseProduct(alpha).dot(e.point.Ku);
}

}  // namespace

RobustCertificate certify(const RobustProblem& problem, const VectorRef& alpha,
                          const RunContext& ctx, const Matrix& witness) {
  const Evidence e = evidence(problem, alpha, ctx, witness);
  return certificate(e, problem.rho * e.split.negative_squares, e.point.value, e.difference);
}

RobustCertificate certify_ball(const RobustProblem& problem, double radius, const VectorRef& alpha,
                               const RunContext& ctx) {
  const Evidence e = evidence(problem, alpha, ctx);
  // Outside the ball K is drawn towards S_+; the machine there is worth at most the sum of costs.
  const double excess = e.distance - radius;
  const double share = excess > 0 ? excess / (e.distance - std::sqrt(e.split.negative_squares)) : 0;
  const double upper = e.primal + share * (problem.cost.sum() - e.primal);
  const double lower =
      own_value(e, problem, alpha) + problem.rho * (e.distance * e.distance - radius * radius);
  return certificate(e, 0, lower, upper - lower);
}

RobustCertificate certify_norm(const RobustProblem& problem, double weight, const VectorRef& alpha,
                               const RunContext& ctx) {
  const Evidence e = evidence(problem, alpha, ctx);
  const double sum = alpha.sum();
  const double own = own_value(e, problem, alpha);
  // What is lost below own + weight |K - S|.
  double shorter = detail::norm_bound_loss(sum, 2 * (sum - own), problem.rho, e.distance, weight);
  // Z = t^2 u u' / 2 does as well, and where S is nearly a kernel it is the same but for the digits
  // of K - S, which K and S may share.
  const Vector u = problem.y.cwiseProduct(alpha);
  const double half = 0.5 * u.dot(problem.S * u);
  double t = std::min(1.0, std::sqrt(2 * weight) / u.norm());
  if (half > 0) t = std::min(t, sum / (2 * half));
  shorter = std::min(shorter, own + weight * e.distance - (t * sum - t * t * half));
  const double negative = std::sqrt(e.split.negative_squares);
  const double above = e.split.excess(e.point.K) / (e.distance + negative);  // distance - negative
  return certificate(e, weight * negative, own + weight * above - shorter,
                     e.primal - own + shorter);
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
// Mixture similarity discriminant analysis, [TR] (19):
//
//   P(x | g) = prod_h sum_l w_ghl gamma_ghl exp(lambda_ghl psi(x, mu_hl)).
//
// The prototypes mu_hl of each class are found once by k-medoids. For each pair of classes (g, h)
// expectation-maximisation then climbs the log-likelihood L = sum_z log sum_l w_l p_l(u_zl) over
// the samples z of g. Each step bounds L from below by Jensen's inequality and maximises the bound
// exactly: w_l is the mean responsibility, lambda_l matches the weighted mean of u_zl, kept off
// the ends of the support (the bound is concave in lambda_l, so that the nearest allowed mean is
// the maximum). Hence L never falls; the largest fall seen is the certificate. Notation: r_zl
// responsibilities, u_zl = U(z, l). Cost: n_g^2 per medoid and class, then n_g c per step and pair
// of classes.
#include "kith/learn/generative/mixture_sda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/errors.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/generative/medoids.hpp"
#include "kith/learn/generative/statistics.hpp"
#include "kith/learn/neighbours/nearest.hpp"
#include "optim/engine/progress.hpp"

namespace kith {
namespace {

constexpr long kMostSteps = 10000;
/// Of the log-likelihood: a smaller rise ends the climb.
constexpr double kRise = 1e-7;
/// Of the log-likelihood: a larger fall is no rounding and would be an error of ours.
constexpr double kFall = 1e-10;
/// Shared out among all prototypes at the start, so that none begins with weight 0.
constexpr double kSpread = 0.1;

/// Each sample to its most similar prototypes, softened.
Matrix first_responsibilities(const MatrixRef& U) {
  Matrix r = Matrix::Constant(U.rows(), U.cols(), kSpread / static_cast<double>(U.cols()));
  for (Index z = 0; z < U.rows(); ++z) {
    const Eigen::Array<bool, 1, Eigen::Dynamic> best = U.row(z).array() == U.row(z).maxCoeff();
    const auto sharing = static_cast<double>(best.count());
    for (Index l = 0; l < U.cols(); ++l) {
      if (best(l)) r(z, l) += (1 - kSpread) / sharing;
    }
  }
  return r;
}

/// The means each component may have.
struct Bounds {
  Vector low;
  Vector high;
};

/// Half a sample's share away from the ends, or as near as the average of all samples is: one
/// component alone then has the mean that sda gives it.
Bounds bounds_of(const MatrixRef& U) {
  const auto n = static_cast<double>(U.rows());
  Bounds bounds{.low = Vector(U.cols()), .high = Vector(U.cols())};
  for (Index l = 0; l < U.cols(); ++l) {
    const double mean = off_the_ends(U.col(l).mean(), n);
    bounds.low(l) = std::min(0.5 / n, mean);
    bounds.high(l) = std::max(1 - 0.5 / n, mean);
  }
  return bounds;
}

void maximise(const MatrixRef& U, const Matrix& r, const Bounds& bounds, const Support& support,
              SdaMixture& mixture) {
  const auto n = static_cast<double>(U.rows());
  for (Index l = 0; l < U.cols(); ++l) {
    const double mass = r.col(l).sum();
    mixture.log_weights(l) = std::log(std::max(mass / n, std::numeric_limits<double>::min()));
    if (!(mass > std::numeric_limits<double>::min())) continue;  // nobody's: its slope is free
    const double mean = r.col(l).dot(U.col(l)) / mass;
    const Exponential fitted = with_mean(support, std::clamp(mean, bounds.low(l), bounds.high(l)));
    mixture.lambda(l) = fitted.lambda;
    mixture.log_z(l) = fitted.log_z;
  }
}

/// Fills the responsibilities and returns the log-likelihood.
double expect(const MatrixRef& U, const SdaMixture& mixture, Matrix& r) {
  double sum = 0;
  for (Index z = 0; z < U.rows(); ++z) {
    const Vector logs =
        mixture.log_weights + mixture.lambda.cwiseProduct(U.row(z).transpose()) - mixture.log_z;
    const double all = log_sum_exp(logs);
    r.row(z) = (logs.array() - all).exp().transpose();
    sum += all;
  }
  return sum;
}

/// Training samples by class, prototypes by class, and what becomes of them for one number of
/// components.
struct Problem {
  Eigen::Map<const Matrix> S;
  const std::vector<std::vector<Index>>& members;
  const Support& support;
};

void place_prototypes(const Problem& problem, std::span<const Index> components,
                      MixtureSdaModel& model) {
  std::map<Index, Index> class_of;  // ascending in the sample
  for (std::size_t h = 0; h < problem.members.size(); ++h) {
    for (const Index medoid : medoids(problem.S, problem.members[h], components[h])) {
      class_of[medoid] = static_cast<Index>(h);
    }
  }
  for (const auto& [sample, h] : class_of) {
    model.columns.push_back(sample);
    model.prototypes.push_back(h);
  }
}

/// Positions in `columns` of the prototypes of class h.
std::vector<Index> prototypes_of(const MixtureSdaModel& model, Index h) {
  std::vector<Index> positions;
  for (std::size_t m = 0; m < model.prototypes.size(); ++m) {
    if (model.prototypes[m] == h) positions.push_back(static_cast<Index>(m));
  }
  return positions;
}

SdaMixture fit_pair(const Problem& problem, const MixtureSdaModel& model, Index g, Index h,
                    const RunContext& ctx) {
  const std::vector<Index>& own = problem.members[static_cast<std::size_t>(g)];
  const std::vector<Index> positions = prototypes_of(model, h);
  Matrix U(static_cast<Index>(own.size()), static_cast<Index>(positions.size()));
  for (Index l = 0; l < U.cols(); ++l) {
    const auto m = static_cast<std::size_t>(positions[static_cast<std::size_t>(l)]);
    for (Index z = 0; z < U.rows(); ++z) {
      U(z, l) = problem.support.unit(problem.S(own[static_cast<std::size_t>(z)], model.columns[m]));
    }
  }
  return fit_mixture(U, problem.support, ctx);
}

/// The evidence of one class: the sum of its log-likelihoods, the worst status.
Subproblem evidence(const std::string& name, std::span<const SdaMixture> mixtures) {
  Subproblem all{.name = name, .info = {.objective = 0}};
  for (const SdaMixture& mixture : mixtures) {
    all.info.iterations += mixture.info.iterations;
    all.info.objective += mixture.info.objective;
    all.info.status = std::max(all.info.status, mixture.info.status);
  }
  return all;
}

Fitted<MixtureSdaModel> fit_one(const Problem& problem, const Labels& labels,
                                std::span<const Index> components, const RunContext& ctx) {
  Fitted<MixtureSdaModel> fitted;
  MixtureSdaModel& model = fitted.model;
  model.counts = labels.counts();
  model.support = problem.support;
  place_prototypes(problem, components, model);
  const auto M = static_cast<Index>(model.columns.size());
  const Index classes = labels.class_count();
  model.log_weights = Matrix::Zero(M, classes);
  model.lambda = Matrix::Zero(M, classes);
  model.log_z = Matrix::Zero(M, classes);
  std::vector<SdaMixture> mixtures(static_cast<std::size_t>(classes * classes));
  parallel_for(mixtures.size(), ctx.threads, [&](std::size_t pair) {
    const auto g = static_cast<Index>(pair) / classes;
    const auto h = static_cast<Index>(pair) % classes;
    if (model.counts[static_cast<std::size_t>(g)] == 0) return;
    mixtures[pair] = fit_pair(problem, model, g, h, ctx);
  });
  double fall = 0;
  for (Index g = 0; g < classes; ++g) {
    const auto g_at = static_cast<std::size_t>(g);
    if (model.counts[g_at] == 0) continue;
    const std::span<const SdaMixture> own(mixtures.data() + g * classes,
                                          static_cast<std::size_t>(classes));
    for (Index h = 0; h < classes; ++h) {
      const SdaMixture& mixture = own[static_cast<std::size_t>(h)];
      const std::vector<Index> positions = prototypes_of(model, h);
      for (std::size_t l = 0; l < positions.size(); ++l) {
        model.log_weights(positions[l], g) = mixture.log_weights(static_cast<Index>(l));
        model.lambda(positions[l], g) = mixture.lambda(static_cast<Index>(l));
        model.log_z(positions[l], g) = mixture.log_z(static_cast<Index>(l));
      }
      fall = std::max(fall, mixture.largest_fall);
    }
    fitted.info.subproblems.push_back(evidence(labels.names[g_at], own));
  }
  fitted.info.notes.push_back(
      fall > 0 ? fmt::format("the log-likelihood fell by {:.1e} at most from one step to the next "
                             "(rounding)",
                             fall)
               : "the log-likelihood rose with every step of EM");
  return fitted;
}

}  // namespace

SdaMixture fit_mixture(const MatrixRef& U, const Support& support, const RunContext& ctx) {
  SdaMixture mixture;
  mixture.log_weights = Vector::Zero(U.cols());
  mixture.lambda = Vector::Zero(U.cols());
  mixture.log_z = Vector::Constant(U.cols(), moments(support, 0).log_z);
  mixture.info.objective = 0;
  if (U.size() == 0) return mixture;
  const Bounds bounds = bounds_of(U);
  Matrix r = first_responsibilities(U);
  double reached = -std::numeric_limits<double>::infinity();
  engine::BestSoFar climb({.tolerance = kRise, .iterations = kMostSteps}, ctx);
  while (climb.goes_on()) {
    maximise(U, r, bounds, support, mixture);
    const double now = expect(U, mixture, r);
    if (std::isfinite(reached)) {
      mixture.largest_fall = std::max(mixture.largest_fall, reached - now);
    }
    climb.offer((now - reached) / (1 + std::abs(now)));
    climb.stepped();
    reached = now;
  }
  climb.report(mixture.info);
  SolveStatus& status = mixture.info.status;
  // With one prototype there is no mixture, and the problem is concave.
  if (status == SolveStatus::kSolved && U.cols() > 1) status = SolveStatus::kStationary;
  if (mixture.largest_fall > kFall * (1 + std::abs(reached))) {
    status = SolveStatus::kNumericalFailure;
  }
  mixture.info.objective = reached;
  return mixture;
}

std::vector<Index> component_counts(const MixtureSdaSettings& settings, const Labels& labels) {
  std::vector<Index> counts(labels.names.size(), settings.components);
  if (settings.class_components == "same") return counts;
  std::vector<bool> named(counts.size(), false);
  for (const std::string_view part : split(settings.class_components, '/')) {
    const std::size_t colon = part.rfind(':');
    const auto count =
        colon == std::string_view::npos ? std::nullopt : parse_integer(part.substr(colon + 1));
    if (!count || *count < 1) {
      throw invalid(
          "mixture-sda: class-components has {}; each part between slashes must be a class, a "
          "colon "
          "and a number of at least 1, as in cat:3/dog:1",
          in_quotes(part));
    }
    const auto at = std::ranges::find(labels.names, part.substr(0, colon));
    if (at == labels.names.end()) {
      throw invalid("mixture-sda: class-components names {}, which is no class; there are {}",
                    in_quotes(part.substr(0, colon)), list_some(labels.names));
    }
    const auto h = static_cast<std::size_t>(at - labels.names.begin());
    if (named[h]) {
      throw invalid("mixture-sda: class-components names {} twice", in_quotes(*at));
    }
    named[h] = true;
    counts[h] = static_cast<Index>(*count);
  }
  return counts;
}

void describe(MixtureSdaSettings& settings, FieldVisitor& field) {
  field("components", settings.components, at_least(1), "prototypes of each class");
  field("class-components", settings.class_components,
        "prototypes of single classes, as in cat:3/dog:1; the other classes, or all where it is "
        "same, have as many as components says");
  field("support", settings.support, kSupportHelp);
}

FittedPath<MixtureSdaModel> fit_path(SharedWork& work, Path<MixtureSdaSettings> path,
                                     RunContext& ctx) {
  const TrainingSet& train = work.train();
  const TieOrder order = tie_order(train.size(), TieRule::kRandom, ctx);
  const std::vector<std::vector<Index>> members = train.labels.members(order.sample_at);
  Supports supports(work.symmetric());
  FittedPath<MixtureSdaModel> fitted;
  for (const MixtureSdaSettings& settings : path) {
    const Problem problem{
        .S = work.symmetric(), .members = members, .support = supports.of(settings.support)};
    fitted.push_back(fit_one(problem, train.labels, component_counts(settings, train.labels), ctx));
  }
  return fitted;
}

Prediction predict(const MixtureSdaModel& model, const QueryBlock& queries, RunContext& /*ctx*/) {
  const Matrix T = query_statistics(queries, model.columns);
  const auto classes = static_cast<Index>(model.counts.size());
  const Vector priors = log_shares(model.counts);
  std::vector<std::vector<Index>> positions;
  for (Index h = 0; h < classes; ++h) positions.push_back(prototypes_of(model, h));
  Matrix joint(T.rows(), classes);
  for (Index q = 0; q < T.rows(); ++q) {
    const Vector u =
        T.row(q).transpose().unaryExpr([&](double t) { return model.support.unit(t); });
    for (Index g = 0; g < classes; ++g) {
      const Vector logs =
          model.log_weights.col(g) + model.lambda.col(g).cwiseProduct(u) - model.log_z.col(g);
      joint(q, g) = priors(g);
      for (const std::vector<Index>& own : positions) {
        if (!own.empty()) joint(q, g) += log_sum_exp(logs(own));
      }
    }
  }
  return predict_by_joint(joint, T, model.prototypes, model.counts);
}

std::vector<Index> needed_columns(const MixtureSdaModel& model) { return model.columns; }

}  // namespace kith

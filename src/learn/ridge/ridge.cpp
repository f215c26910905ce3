// SPDX-License-Identifier: Apache-2.0
// `ridge`: with y = +1 for the samples of a class and -1 for all others, for each class
//
//   min_{a, b} |y - K a - b 1|^2 + r a'K a,    that is  (K + r I) a + b 1 = y,  1'a = 0
//
// ([RYP]; the intercept is that of the least squares support vector machine of Suykens and
// Vandewalle, 1999). K is what a spectrum rule makes of S = U diag(lambda) U'; the rule's linear
// map of new rows is folded into the coefficients. Two classes need one column. Where K is
// indefinite (rule none) the equations give a stationary point instead of a minimum.
//
// r = ridge u, with u the mean magnitude of K's eigenvalues: no setting has the unit of S.
//
// ridge=auto takes the value of least squared error on left-out samples, and probabilities are
// sigmoids of the values of the same samples. Where leaving a sample out leaves the kernel of the
// others as it is (rule none; clip, flip and shift of a positive semidefinite S), they are left out
// one at a time, by a formula. Where it does not, the formula is wrong: samples are left out by
// folds, each of which decomposes its own block and treats its left-out rows as new ones. So are
// samples of groups, whose groups are left out whole.
//
// Cost: one decomposition of n samples for all settings and classes; one for each of 5 folds of
// 4n/5, less the last of its steps, 1.8 times as much in all, where folds are needed; O(n^2) for
// each class, rule and value.
//
// Deviation: rule square is that of the mean of both directions, as for all other rules. `svm`
// squares an asymmetric S as it is, which would need a decomposition of its own.
#include "kith/learn/ridge/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"
#include "kith/learn/calibration.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/ridge/least_squares.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"
#include "numerics/eigen_steps.hpp"

namespace kith {
namespace {

constexpr int kFolds = 5;
/// Of the targets +1 and -1. Rounding leaves far less at every value that is tried.
constexpr double kResidualTolerance = 1e-8;

/// What all settings of a path share.
struct RidgeProblem {
  SharedWork* work = nullptr;
  std::vector<BinaryTask> tasks;
  Matrix Y;  // samples x tasks
  SharedDecomposition eigen;
  RotatedTargets targets;
};

RidgeProblem ridge_problem(SharedWork& work, const RunContext& ctx) {
  const TrainingSet& train = work.train();
  if (train.weights.size() > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "ridge: samples have weights, which ridge does not take; leave them out");
  }
  RidgeProblem problem{.work = &work,
                       .tasks = binary_tasks(train.labels, Multiclass::kOneVsRest),
                       .Y = {},
                       .eigen = work.eigen(ctx),
                       .targets = {}};
  problem.Y.resize(train.size(), std::ssize(problem.tasks));
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    problem.Y.col(static_cast<Index>(t)) = problem.tasks[t].y();
  }
  problem.targets = rotated_targets(problem.eigen->U, problem.Y);
  return problem;
}

/// What is kept of a fold: enough for every rule and every value.
struct RidgeFold {
  std::vector<Index> inside;
  Vector lambda;  // of the samples outside, whose block is U diag(lambda) U'
  RotatedTargets targets;
  Matrix rows;  // similarities of the samples inside to those outside, times U
};

/// Which samples are left out together, beyond single ones: none where all are of one group, of
/// which no part can be left out.
std::span<const int> groups_of(const Labels& labels) {
  const std::vector<int>& groups = labels.groups.ids;
  return ties_samples(groups) && count_groups(groups) > 1 ? groups : std::span<const int>();
}

std::vector<RidgeFold> ridge_folds(const RidgeProblem& problem, const RunContext& ctx) {
  const Labels& labels = problem.work->train().labels;
  const std::span<const int> groups = groups_of(labels);
  const Index pieces = groups.empty() ? labels.size() : count_groups(groups);
  const int count = static_cast<int>(std::min<Index>(kFolds, pieces));
  Rng rng = ctx.rng.stream("ridge folds", 0);
  const std::vector<int> fold_of = stratified_folds(labels.ids, groups, count, rng);
  const Eigen::Map<const Matrix> S = problem.work->symmetric();
  std::vector<RidgeFold> folds(static_cast<std::size_t>(count));
  parallel_for(folds.size(), ctx.threads, [&](std::size_t f) {
    ctx.check_stop();
    FoldSplit split = split_fold(fold_of, static_cast<int>(f));
    const Index targets = problem.Y.cols();
    const Index held = std::ssize(split.inside);
    Matrix columns(std::ssize(split.outside), targets + 1 + held);
    columns << problem.Y(split.outside, Eigen::all), Vector::Ones(columns.rows()),
        S(split.outside, split.inside);
    RotatedColumns own =
        rotate_by_eigenvectors(S(split.outside, split.outside), std::move(columns), ctx);
    RidgeFold& fold = folds[f];
    fold.targets = {.Y = own.X.leftCols(targets), .ones = own.X.col(targets)};
    fold.rows = own.X.rightCols(held).transpose();
    fold.lambda = std::move(own.lambda);
    fold.inside = std::move(split.inside);
  });
  return folds;
}

/// Whether leaving a sample out leaves the kernel of the others as it is.
bool keeps_kernel(Spectrum spectrum, const VectorRef& lambda) {
  switch (spectrum) {
    case Spectrum::kNone:
      return true;
    case Spectrum::kClip:
    case Spectrum::kFlip:
    case Spectrum::kShift:
      return lambda.minCoeff() >= -zero_threshold(lambda);
    case Spectrum::kSquare:
    case Spectrum::kDiffusion:
      return false;
  }
  return false;
}

/// The values of samples under machines that have not seen them, under one rule.
class LeftOut {
 public:
  /// `folds` are made on first use and shared by all rules.
  LeftOut(const RidgeProblem& problem, const RidgeSettings& rule, const RuledSpectrum& spectrum,
          OnFirstUse<std::vector<RidgeFold>>& folds, const RunContext& ctx)
      : problem_(problem), spectrum_(spectrum) {
    const bool by_groups = !groups_of(problem.work->train().labels).empty();
    if (!by_groups && keeps_kernel(rule.spectrum, problem.eigen->lambda)) return;
    folds_ = &folds.get([&] { return ridge_folds(problem, ctx); });
    for (const RidgeFold& fold : *folds_) {
      by_fold_.push_back(ruled_spectrum(rule.spectrum, fold.lambda, rule.beta));
    }
  }

  /// Samples x tasks, for each r.
  [[nodiscard]] std::vector<Matrix> values(std::span<const double> rs,
                                           const RunContext& ctx) const {
    std::vector<RotatedSolution> solutions(rs.size());
    if (folds_ == nullptr) {
      for (std::size_t k = 0; k < rs.size(); ++k) {
        solutions[k] = solve_ridge(spectrum_.kernel, rs[k], problem_.targets);
      }
      ctx.check_stop();
      return leave_one_out(problem_.eigen->U, solutions, problem_.Y, ctx.threads);
    }
    const Index tasks = problem_.Y.cols();
    std::vector<Matrix> all(rs.size(), Matrix(problem_.Y.rows(), tasks));
    for (std::size_t f = 0; f < folds_->size(); ++f) {
      ctx.check_stop();
      const RidgeFold& fold = (*folds_)[f];
      Matrix mapped(fold.rows.cols(), std::ssize(rs) * tasks);
      for (std::size_t k = 0; k < rs.size(); ++k) {
        solutions[k] = solve_ridge(by_fold_[f].kernel, rs[k], fold.targets);
        mapped.middleCols(static_cast<Index>(k) * tasks, tasks) =
            by_fold_[f].map.asDiagonal() * solutions[k].a;
      }
      const Matrix values = fold.rows * mapped;
      for (std::size_t k = 0; k < rs.size(); ++k) {
        all[k](fold.inside, Eigen::all) =
            values.middleCols(static_cast<Index>(k) * tasks, tasks).rowwise() +
            solutions[k].b.transpose();
      }
    }
    return all;
  }

  [[nodiscard]] std::string how() const {
    if (folds_ == nullptr) return "one at a time";
    const bool by_groups = !groups_of(problem_.work->train().labels).empty();
    return fmt::format("in {} folds{}", folds_->size(), by_groups ? " of whole groups" : "");
  }

 private:
  const RidgeProblem& problem_;
  const RuledSpectrum& spectrum_;
  const std::vector<RidgeFold>* folds_ = nullptr;  // null: one at a time
  std::vector<RuledSpectrum> by_fold_;
};

/// The mean squared error of each value of the grid.
std::vector<double> squared_errors(const LeftOut& left_out, const Matrix& Y, double unit,
                                   const RunContext& ctx) {
  std::vector<double> tried = ridge_values();
  for (double& value : tried) value *= unit;
  std::vector<double> errors;
  for (const Matrix& values : left_out.values(tried, ctx)) {
    const double error = (values - Y).cwiseAbs2().mean();
    errors.push_back(std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
  return errors;
}

/// The position of the least; among equals the last, which is the largest ridge.
std::size_t least(const std::vector<double>& errors) {
  std::size_t best = errors.size() - 1;
  for (std::size_t k = errors.size(); k-- > 0;) {
    if (errors[k] < errors[best]) best = k;
  }
  return best;
}

std::string choice_note(const std::vector<double>& errors, std::size_t best,
                        const LeftOut& left_out) {
  const std::vector<double> tried = ridge_values();
  std::string note = fmt::format(
      "ridge = {}, of {} values from {} to {}, has the least squared error on samples left out {}",
      format_short(tried[best], 4), tried.size(), format_short(tried.front()),
      format_short(tried.back()), left_out.how());
  const bool differ = *std::max_element(errors.begin(), errors.end()) > errors[best];
  if (differ && (best == 0 || best + 1 == tried.size())) {
    note += fmt::format(
        "; it is the {} value tried, and a {} one may do better: [[set=ridge={}]] is the next",
        best == 0 ? "smallest" : "largest", best == 0 ? "smaller" : "larger",
        format_short(best == 0 ? tried.front() / 10 : tried.back() * 10, 4));
  }
  return note;
}

Matrix fit_sigmoids(const Matrix& values, Tasks tasks, const RunContext& ctx) {
  Matrix sigmoids(2, std::ssize(tasks));
  parallel_for(tasks.size(), ctx.threads, [&](std::size_t t) {
    const auto column = static_cast<Index>(t);
    const Sigmoid sigmoid = fit_sigmoid(values.col(column), tasks[t].signs);
    sigmoids.col(column) << sigmoid.slope, sigmoid.offset;
  });
  return sigmoids;
}

/// The largest relative distance between rows of the kernel and the same rows treated as new ones,
/// over some of the samples; in the coordinates of U, which keep lengths.
double row_consistency(const RidgeProblem& problem, const RuledSpectrum& rule) {
  constexpr Index kMostRows = 64;
  const Eigen::Map<const Matrix> S = problem.work->symmetric();
  const Matrix& U = problem.eigen->U;
  const Index count = std::min(kMostRows, S.cols());
  Matrix chosen(S.rows(), count);
  Matrix own(U.cols(), count);
  for (Index i = 0; i < count; ++i) {
    chosen.col(i) = S.col(i * S.cols() / count);
    own.col(i) = rule.kernel.cwiseProduct(U.row(i * S.cols() / count).transpose());
  }
  const Matrix treated = rule.map.asDiagonal() * Matrix(U.transpose() * chosen);
  double worst = 0;
  for (Index i = 0; i < count; ++i) {
    const double norm = own.col(i).norm();
    const double distance = (treated.col(i) - own.col(i)).norm();
    if (distance > 0) worst = std::max(worst, norm > 0 ? distance / norm : distance);
  }
  return worst;
}

/// The machines of all tasks at r, with the residuals of their equations as evidence. K a comes
/// from S itself and the coefficients that the model keeps: K = S M, M the map of new rows.
Fitted<RidgeModel> fit_at(const RidgeProblem& problem, const RidgeSettings& settings,
                          const RuledSpectrum& rule, double r) {
  const Labels& labels = problem.work->train().labels;
  const Matrix& U = problem.eigen->U;
  const RotatedSolution rotated = solve_ridge(rule.kernel, r, problem.targets);
  const Matrix a = U * rotated.a;
  const Matrix c = (rule.map.array() == 1).all() ? a : U * (rule.map.asDiagonal() * rotated.a);
  Matrix Ka = settings.spectrum == Spectrum::kDiffusion
                  ? Matrix(U * (rule.kernel.asDiagonal() * Matrix(U.transpose() * a)))
                  : Matrix(problem.work->symmetric() * c);
  Ka += rule.shift * a;
  const Vector residuals = ridge_residuals(Ka, a, rotated.b, r, problem.Y);
  const bool definite = rule.kernel.size() == 0 || rule.kernel.minCoeff() + r > 0;
  Fitted<RidgeModel> fitted;
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const auto column = static_cast<Index>(t);
    SolveInfo info;
    info.status = !(residuals(column) <= kResidualTolerance) ? SolveStatus::kReducedAccuracy
                  : definite                                 ? SolveStatus::kSolved
                                                             : SolveStatus::kStationary;
    info.iterations = 1;
    info.objective = r * a.col(column).dot(problem.Y.col(column));
    info.kkt_residual = residuals(column);
    fitted.info.subproblems.push_back({task_name(problem.tasks[t], labels), info});
  }
  Machines machines{.tasks = task_table(problem.tasks, labels),
                    .coefficients = SparseColumns(c),
                    .intercepts = rotated.b,
                    .sigmoids = {}};
  ColumnMachines& columns = fitted.model;
  columns = column_machines(std::move(machines), labels.size(), all_positions(labels.size()));
  return fitted;
}

/// Settings that differ in ridge and probability alone.
FittedPath<RidgeModel> fit_rule(const RidgeProblem& problem, Path<RidgeSettings> same_rule,
                                OnFirstUse<std::vector<RidgeFold>>& folds, const RunContext& ctx) {
  const RidgeSettings& first = same_rule.front();
  const RuledSpectrum rule = ruled_spectrum(first.spectrum, problem.eigen->lambda, first.beta);
  const double unit = ridge_unit(rule.kernel);
  const double consistency = row_consistency(problem, rule);
  std::optional<LeftOut> left_out;
  const auto needs_left_out = [](const RidgeSettings& s) { return !s.ridge || s.probability; };
  if (!problem.tasks.empty() && std::any_of(same_rule.begin(), same_rule.end(), needs_left_out)) {
    left_out.emplace(problem, first, rule, folds, ctx);
  }
  FittedPath<RidgeModel> all;
  std::vector<double> errors;  // of the grid, once a setting asks for them
  for (const RidgeSettings& settings : same_rule) {
    ctx.check_stop();
    double ridge = settings.ridge.value_or(1);
    Json learned = {{"unit", unit}};
    std::vector<std::string> notes;
    if (!settings.ridge && left_out) {
      if (errors.empty()) errors = squared_errors(*left_out, problem.Y, unit, ctx);
      const std::size_t best = least(errors);
      ridge = ridge_values()[best];
      notes.push_back(choice_note(errors, best, *left_out));
      learned["left_out"] = left_out->how();
      learned["tried"] = ridge_values();
      learned["squared_errors"] = errors;
    }
    learned["ridge"] = ridge;
    Fitted<RidgeModel> fitted = fit_at(problem, settings, rule, ridge * unit);
    if (settings.probability && left_out) {
      const double r = ridge * unit;
      fitted.model.sigmoids =
          fit_sigmoids(left_out->values(std::span(&r, 1), ctx).front(), problem.tasks, ctx);
    }
    fitted.model.ridge = ridge;
    fitted.info.consistency = consistency;
    fitted.info.notes = std::move(notes);
    fitted.info.learned = std::move(learned);
    all.push_back(std::move(fitted));
  }
  return all;
}

}  // namespace

std::vector<double> ridge_values() {
  std::vector<double> values;
  for (int half = -10; half <= 6; ++half) values.push_back(std::pow(10.0, 0.5 * half));
  return values;
}

void describe(RidgeSettings& settings, FieldVisitor& field) {
  field("ridge", settings.ridge, above(0.0), "auto",
        "added to the diagonal of the kernel, times the mean magnitude of its eigenvalues; auto: "
        "of least squared error on samples left out");
  field("spectrum", settings.spectrum, "what is done to the eigenvalues before training");
  field("beta", settings.beta, above(0.0), "auto",
        "of spectrum diffusion: the kernel is exp(beta S); auto: 1 / max|lambda|");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by sigmoids of samples left out");
}

FittedPath<RidgeModel> fit_path(SharedWork& work, Path<RidgeSettings> path, RunContext& ctx) {
  ctx.check_stop();
  const RidgeProblem problem = ridge_problem(work, ctx);
  OnFirstUse<std::vector<RidgeFold>> folds;
  const auto rule = [](const RidgeSettings& s) {
    return std::pair(s.spectrum, s.spectrum == Spectrum::kDiffusion ? s.beta : std::nullopt);
  };
  return fit_in_groups(path, rule, as_given, [&](Path<RidgeSettings> same_rule) {
    return fit_rule(problem, same_rule, folds, ctx);
  });
}

DenseBlock machine_rows(const RidgeModel& model, const QueryBlock& queries,
                        const RunContext& /*ctx*/) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, std::ssize(model.columns));
  return query_rows(query, Spectrum::kNone);
}

}  // namespace kith

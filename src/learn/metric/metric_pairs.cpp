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
// the distance to the convex lower bound (optim/margin_radius.hpp); computing them costs more than
// a short descent, so that `evaluate` leaves them out.
//
// Principal coordinates hold directions whose deviation is at least 1e-7 of the largest. A descent
// does not feel smaller ones; the optimum does, which depends on the span of the columns alone. The
// convex program and the bound are therefore taken with the centred rows themselves. Columns of
// kernel values are the exception: a machine over them can use little more than their principal
// coordinates hold. Of a linear kernel the features are known: their optimum is brought to kernel
// values, and what rounding of these takes from it is measured by the bound of the features.
#include "kith/learn/metric/metric_pairs.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "kith/numerics/principal_axes.hpp"
#include "kith/optim/certificate.hpp"
#include "kith/optim/margin_radius.hpp"

namespace kith {
namespace {

constexpr double kLeastLength = 1e-300;    // of a column that is not 0
constexpr double kStationaryShare = 1e-3;  // of the gradient: less is left at a stationary point

/// Rows of two classes.
struct Part {
  PrincipalAxes axes;  // what descents run in
  Matrix features;     // centred; empty: kernel values whose features are not known
  bool kernel = false;
  Matrix rows;        // of a linear kernel, as they are
  bool whole = true;  // the features have every direction of the data
  Vector y;
  Vector weights;  // empty: all 1
};

Matrix centred(const Matrix& rows) {
  return rows.rowwise() - Eigen::RowVectorXd(rows.colwise().mean());
}

Part part_of(Matrix rows, std::span<const int> signs, Vector weights) {
  Part part;
  part.axes = principal_axes(std::move(rows));
  part.y.resize(std::ssize(signs));
  part.weights = std::move(weights);
  for (Index i = 0; i < part.y.size(); ++i) part.y(i) = signs[static_cast<std::size_t>(i)];
  if (part.axes.Z.cols() == 0) {  // the rows are all alike: one coordinate that says so
    part.axes.Z = Matrix::Zero(part.y.size(), 1);
    part.axes.Q = Matrix::Zero(part.axes.mean.size(), 1);
    part.axes.spread = Vector::Zero(1);
  }
  return part;
}

/// The map, the direction and the intercept over the columns of the rows.
struct Machine {
  Matrix L;
  Vector v;
  double b = 0;
  SolveInfo info;
  std::vector<BoundsStep> trace;

  [[nodiscard]] Vector decisions(const Matrix& rows) const { return (rows * v).array() + b; }
};

Index dimensions_of(const DimensionRule& rule, const Part& part) {
  const Index all = part.axes.Z.cols();
  if (rule.energy) return dimensions_by_energy(part.axes.spread, *rule.energy);
  return rule.count ? std::min(*rule.count, all) : all;
}

SignedSamples samples_of(const Part& part, const Matrix& X, double cost) {
  SignedSamples samples{.X = X, .y = part.y, .cost = {}};
  samples.cost =
      part.weights.size() > 0 ? Vector(cost * part.weights) : Vector::Constant(part.y.size(), cost);
  return samples;
}

/// What no map and machine on these rows falls below.
double lower_bound(const Part& part, double cost, const RunContext& ctx) {
  if (!part.whole) return 0;
  const Matrix& X = part.features.size() > 0 ? part.features : part.axes.Z;
  return margin_radius(samples_of(part, X, cost), ctx).lower_bound;
}

/// The descent ends where its rule says. What it reached is known from here on alone.
void add_certificate(const SignedSamples& samples, double bound, const MetricDescent& descent,
                     Machine& machine, const RunContext& ctx) {
  const double f = descent.info.objective;
  const double gap = relative_gap(bound, f);
  const bool proved = std::abs(gap) <= kMarginRadiusTolerance;
  machine.info.gap = proved ? std::max(0.0, gap) : gap;
  machine.info.kkt_residual = projected_gradient_share(samples, descent.point, ctx);
  if (machine.info.status == SolveStatus::kStopped) {
    if (proved) {
      machine.info.status = SolveStatus::kSolved;
    } else if (machine.info.kkt_residual <= kStationaryShare) {
      machine.info.status = SolveStatus::kStationary;
    }
  }
  for (const double before : descent.objectives) {
    machine.trace.push_back({.lower = bound,
                             .upper = before,
                             .gap = before - bound,
                             .set_size = descent.point.L.rows()});
  }
}

void set_point(const Part& part, const MetricPoint& point, Machine& machine) {
  machine.v = machine.L.transpose() * point.w;
  machine.b = point.b - part.axes.mean.dot(machine.v);
}

/// What is known of a machine where no map and machine falls below `bound`, save by rounding.
void measure_by(double bound, Machine& machine) {
  const double gap = std::abs(relative_gap(bound, machine.info.objective));
  if (gap <= kMarginRadiusTolerance) return;
  machine.info.gap = gap;
  machine.info.status = SolveStatus::kReducedAccuracy;
}

/// The optimum of the convex program on features, or on what the axes hold of kernel values.
Machine convex_machine(const Part& part, double cost, const RunContext& ctx) {
  const SignedSamples samples = samples_of(part, part.kernel ? part.axes.Z : part.features, cost);
  const MarginRadiusSolution solution = margin_radius(samples, ctx);
  const MetricPoint point = rank_one_point(samples, solution.v, solution.b);
  Machine machine;
  machine.info = solution.info;
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
Machine linear_kernel_machine(const Part& part, double cost, const RunContext& ctx) {
  const SignedSamples samples = samples_of(part, part.features, cost);
  const MarginRadiusSolution solution = margin_radius(samples, ctx);
  const double bound = part.whole ? solution.lower_bound : 0;
  Machine machine;
  machine.info = solution.info;
  machine.v = over_samples(part.features, solution.v);
  machine.b = solution.b - part.axes.mean.dot(machine.v);
  const Vector f = machine.decisions(part.rows);
  const double R = (f.array() - solution.b).abs().maxCoeff();
  machine.L = machine.v.transpose() / (R > 0 ? R : 1);
  machine.info.objective = 0.5 * R * R + squared_hinge_loss(samples, f);
  measure_by(bound, machine);
  if (machine.info.status == SolveStatus::kSolved) return machine;
  Machine other = convex_machine(part, cost, ctx);
  measure_by(bound, other);
  return other.info.objective < machine.info.objective ? other : machine;
}

Machine solve(const Part& part, const MetricSettings& settings, const DimensionRule& dimensions,
              const Rng& rng, const RunContext& ctx) {
  if (settings.solver == MetricSolver::kConvex) {
    return part.rows.size() > 0 ? linear_kernel_machine(part, settings.cost, ctx)
                                : convex_machine(part, settings.cost, ctx);
  }
  const SignedSamples samples = samples_of(part, part.axes.Z, settings.cost);
  MetricPoint start = metric_start(samples, dimensions_of(dimensions, part), settings.start,
                                   settings.start_machine, rng, ctx);
  const MetricDescent descent =
      metric_descent(samples, std::move(start),
                     {.tolerance = settings.tolerance, .projection = settings.projection}, ctx);
  Machine machine;
  machine.info = descent.info;
  if (settings.certificate) {
    add_certificate(samples, lower_bound(part, settings.cost, ctx), descent, machine, ctx);
  }
  machine.L = descent.point.L * part.axes.Q.transpose();
  set_point(part, descent.point, machine);
  return machine;
}

/// One pair of classes with the columns that it sees.
class PairWork {
 public:
  PairWork(const MetricRows& rows, const TrainingSet& train, const ClassPair& pair)
      : pair_(pair), rows_(rows) {
    const Matrix& all = *rows.rows;
    if (rows.columns_are_samples) {
      own_ = all(pair.samples, pair.samples);
    } else {
      own_ = all(pair.samples, Eigen::all);
    }
    if (rows.features != nullptr) features_ = (*rows.features)(pair.samples, Eigen::all);
    if (train.weights.size() > 0) weights_ = train.weights(pair.samples);
    whole_ = part(own_, features_, pair.signs, weights_);
  }

  [[nodiscard]] const Part& whole() const { return whole_; }

  /// Calibrated on rows that the machine has not seen, nor their columns.
  [[nodiscard]] Sigmoid sigmoid(const MetricSettings& settings, const DimensionRule& dimensions,
                                const Machine& machine, const Rng& start, const Rng& folds,
                                const RunContext& ctx) const {
    MetricSettings plain = settings;
    plain.certificate = false;
    const auto held_out = [&](const FoldSplit& split) -> Vector {
      std::vector<int> signs;
      for (const Index i : split.outside) signs.push_back(pair_.signs[static_cast<std::size_t>(i)]);
      const Vector weights = weights_.size() > 0 ? Vector(weights_(split.outside)) : Vector();
      const Matrix features =
          features_.size() > 0 ? Matrix(features_(split.outside, Eigen::all)) : Matrix();
      return solve(part(block(split.outside, split.outside), features, signs, weights), plain,
                   dimensions, start, ctx)
          .decisions(block(split.inside, split.outside));
    };
    const auto own = [&]() -> Vector { return machine.decisions(own_); };
    return cross_fitted_sigmoid(pair_.signs, folds, held_out, own);
  }

 private:
  /// Some rows of the pair; `features` where they are values of a linear kernel.
  [[nodiscard]] Part part(const Matrix& rows, const Matrix& features, std::span<const int> signs,
                          Vector weights) const {
    Part part = part_of(rows, signs, std::move(weights));
    part.kernel = rows_.columns_are_samples;
    part.whole = rows_.whole;
    if (!part.kernel) {
      part.features = centred(rows);
    } else if (features.size() > 0) {
      part.features = centred(features);
      part.rows = rows;
    }
    return part;
  }

  [[nodiscard]] Matrix block(std::span<const Index> rows, std::span<const Index> columns) const {
    if (rows_.columns_are_samples) return own_(rows, columns);
    return own_(rows, Eigen::all);
  }

  const ClassPair& pair_;
  const MetricRows& rows_;
  Matrix own_;
  Matrix features_;  // of a linear kernel
  Vector weights_;
  Part whole_;
};

/// Machines of one pair along the path, with their sigmoids.
struct PairResult {
  std::vector<Machine> machines;
  std::vector<Sigmoid> sigmoids;
};

Fitted<MetricPairs> assemble(const std::vector<PairResult>& results,
                             std::span<const ClassPair> pairs, const std::vector<Vector>& means,
                             const MetricRows& rows, const Labels& labels, std::size_t step,
                             bool probability) {
  const auto count = static_cast<Index>(pairs.size());
  const Index columns = rows.rows->cols();
  Index map_rows = 0;
  for (const PairResult& result : results) map_rows += result.machines[step].L.rows();
  Fitted<MetricPairs> fitted;
  MetricPairs& all = fitted.model;
  all.pairs = pair_table(pairs, labels);
  all.directions = Matrix::Zero(columns, count);
  all.intercepts = Vector(count);
  all.sigmoids = probability ? Matrix(2, count) : Matrix();
  all.maps = Matrix::Zero(map_rows, columns);
  all.centres = Matrix::Zero(count, columns);
  Index at = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Machine& machine = results[p].machines[step];
    const auto column = static_cast<Index>(p);
    for (Index j = 0; j < machine.v.size(); ++j) {
      const Index place =
          rows.columns_are_samples ? pairs[p].samples[static_cast<std::size_t>(j)] : j;
      all.directions(place, column) = machine.v(j);
      all.centres(column, place) = means[p](j);
      all.maps.col(place).segment(at, machine.L.rows()) = machine.L.col(j);
    }
    at += machine.L.rows();
    all.map_ends.push_back(at);
    all.intercepts(column) = machine.b;
    if (probability) {
      all.sigmoids.col(column) << results[p].sigmoids[step].slope, results[p].sigmoids[step].offset;
    }
    Subproblem& evidence =
        fitted.info.subproblems.emplace_back(Subproblem{pair_name(pairs[p], labels), machine.info});
    evidence.trace = machine.trace;
  }
  return fitted;
}

}  // namespace

void describe(MetricSettings& settings, FieldVisitor& field) {
  field("cost", settings.cost, kCostRange, "penalty C on margin violations");
  field("dimensions", settings.dimensions,
        "rows of the map: all, a number, or energy:0.9 for as many as hold that share of the "
        "energy");
  field("start", settings.start, "the map that the descent begins with");
  field("start-machine", settings.start_machine, "the machine that the descent begins with");
  field(
      "solver", settings.solver,
      "projection: the paper's descent, whose early stop regularises; convex: the global optimum, "
      "of rank one");
  field("projection", settings.projection,
        "into the unit ball: scaled (10) or exact (9) of the paper");
  field("tolerance", settings.tolerance, above(0.0),
        "relative decrease of the objective at which the descent ends");
  field("probability", settings.probability, "fit probabilities by cross-fitted sigmoids");
  field("certificate", settings.certificate,
        "compute the convex lower bound and the projected gradient of a descent");
}

DimensionRule parse_dimensions(std::string_view method, std::string_view text) {
  constexpr std::string_view kEnergy = "energy:";
  if (text == "all") return {};
  if (text.starts_with(kEnergy)) {
    const std::optional<double> share = parse_double(text.substr(kEnergy.size()));
    if (share && *share > 0 && *share <= 1) return {.count = {}, .energy = share};
  } else if (const auto count = parse_integer(text); count && *count >= 1) {
    return {.count = static_cast<Index>(*count), .energy = {}};
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: dimensions is {}; it must be all, a number of at least 1, or "
                          "energy:SHARE with a share above 0 and at most 1",
                          method, in_quotes(text)));
}

std::vector<Fitted<MetricPairs>> train_metric(const MetricRows& rows, const TrainingSet& train,
                                              std::span<const MetricSettings> path,
                                              const RunContext& ctx) {
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  std::vector<DimensionRule> dimensions;
  for (const MetricSettings& settings : path) {
    dimensions.push_back(parse_dimensions("metric", settings.dimensions));
  }
  std::vector<PairResult> results(pairs.size());
  std::vector<Vector> means(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    ctx.check_stop();
    const PairWork work(rows, train, pairs[p]);
    means[p] = work.whole().axes.mean;
    const Rng start = ctx.rng.stream("metric start", p);
    for (std::size_t step = 0; step < path.size(); ++step) {
      results[p].machines.push_back(solve(work.whole(), path[step], dimensions[step], start, ctx));
      if (!path[step].probability) continue;
      results[p].sigmoids.resize(path.size());
      results[p].sigmoids[step] =
          work.sigmoid(path[step], dimensions[step], results[p].machines[step], start,
                       ctx.rng.stream("metric calibration", p), ctx);
    }
  });
  std::vector<Fitted<MetricPairs>> fitted;
  for (std::size_t step = 0; step < path.size(); ++step) {
    fitted.push_back(
        assemble(results, pairs, means, rows, train.labels, step, path[step].probability));
  }
  return fitted;
}

void express(MetricPairs& pairs, const VectorSpan& span) {
  pairs.directions = span.over_features(pairs.directions.transpose()).transpose();
  pairs.intercepts -= pairs.directions.transpose() * span.mean();
  pairs.centres = span.over_features(pairs.centres);
  pairs.centres.rowwise() += span.mean().transpose();
  const Index coordinates = span.Z().cols();
  if (pairs.maps.rows() <= coordinates) {
    pairs.maps = span.over_features(pairs.maps);
  } else {  // many classes: the maps are larger over features than over what they have in common
    pairs.basis = span.over_features(Matrix::Identity(coordinates, coordinates));
  }
}

Prediction predict_metric(const MetricPairs& pairs, const RowProduct& times) {
  Matrix decisions = times(pairs.directions);
  decisions.rowwise() += pairs.intercepts.transpose();
  return vote(pairs.pairs, decisions, sigmoids_of(pairs.sigmoids));
}

Matrix metric_similarity(const MetricPairs& pairs, const RowProduct& times) {
  const bool direct = pairs.basis.size() == 0;
  const Matrix coordinates = direct ? Matrix() : times(pairs.basis.transpose());
  const Matrix centres =
      direct ? Matrix(pairs.centres.transpose()) : Matrix(pairs.basis * pairs.centres.transpose());
  Matrix sum;
  Index begin = 0;
  for (std::size_t p = 0; p < pairs.map_ends.size(); ++p) {
    const Matrix L = pairs.maps.middleRows(begin, pairs.map_ends[p] - begin);
    const Vector origin = L * centres.col(static_cast<Index>(p));
    Matrix images = direct ? times(L.transpose()) : Matrix(coordinates * L.transpose());
    images.rowwise() -= origin.transpose();
    if (p == 0) sum = Matrix::Zero(images.rows(), images.rows());
    sum.noalias() += images * images.transpose();
    begin = pairs.map_ends[p];
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, pairs.map_ends.size()));
}

void archive(MetricPairs& pairs, Archive& archiver) {
  archive(pairs.pairs, archiver);
  archiver("directions", pairs.directions);
  archiver("intercepts", pairs.intercepts);
  archiver("sigmoids", pairs.sigmoids);
  archiver("maps", pairs.maps);
  archiver("basis", pairs.basis);
  archiver("centres", pairs.centres);
  archiver("map_ends", pairs.map_ends);
  if (!archiver.loading()) return;
  const auto count = static_cast<Index>(pairs.pairs.first.size());
  const Index columns = pairs.directions.rows();
  const bool fits =
      pairs.directions.cols() == count && pairs.intercepts.size() == count &&
      (pairs.sigmoids.size() == 0 ||
       (pairs.sigmoids.rows() == 2 && pairs.sigmoids.cols() == count)) &&
      (pairs.basis.size() == 0
           ? pairs.maps.cols() == columns
           : pairs.maps.cols() == pairs.basis.rows() && pairs.basis.cols() == columns) &&
      pairs.centres.cols() == columns && pairs.centres.rows() == count &&
      std::ssize(pairs.map_ends) == count &&
      std::is_sorted(pairs.map_ends.begin(), pairs.map_ends.end()) &&
      (count == 0 || (pairs.map_ends.front() >= 0 && pairs.map_ends.back() == pairs.maps.rows()));
  if (!fits) {
    throw Error(ErrorCode::kBadInput,
                "the maps, directions and intercepts of a metric do not fit each other");
  }
}

void check_columns(const MetricPairs& pairs, Index columns) {
  if (pairs.directions.rows() == columns) return;
  throw Error(ErrorCode::kBadInput, fmt::format("directions over {} columns; there must be {}",
                                                pairs.directions.rows(), columns));
}

}  // namespace kith

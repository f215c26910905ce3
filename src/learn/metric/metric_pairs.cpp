// SPDX-License-Identifier: Apache-2.0
// What metric_machine.cpp learns for each pair of classes, calibrated and put together.
#include "kith/learn/metric/metric_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "learn/metric/metric_machine.hpp"

namespace kith {
namespace {

using detail::MetricMachine;
using detail::MetricPart;

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
    whole_ = detail::metric_part(rows, own_, features_, pair.signs, weights_);
  }

  [[nodiscard]] const MetricPart& whole() const { return whole_; }

  /// Calibrated on rows that the machine has not seen, nor their columns.
  [[nodiscard]] Sigmoid sigmoid(const MetricSettings& settings, const DimensionRule& dimensions,
                                const MetricMachine& machine, const Rng& start, const Rng& folds,
                                const RunContext& ctx) const {
    MetricSettings plain = settings;
    plain.certificate = false;
    const auto held_out = [&](const FoldSplit& split) -> Vector {
      std::vector<int> signs;
      for (const Index i : split.outside) signs.push_back(pair_.signs[static_cast<std::size_t>(i)]);
      const Vector weights = weights_.size() > 0 ? Vector(weights_(split.outside)) : Vector();
      const Matrix features =
          features_.size() > 0 ? Matrix(features_(split.outside, Eigen::all)) : Matrix();
      return detail::solve_metric(detail::metric_part(rows_, block(split.outside, split.outside),
                                                      features, signs, weights),
                                  plain, dimensions, start, ctx)
          .decisions(block(split.inside, split.outside));
    };
    const auto own = [&]() -> Vector { return machine.decisions(own_); };
    return cross_fitted_sigmoid(pair_.signs, folds, held_out, own);
  }

 private:
  [[nodiscard]] Matrix block(std::span<const Index> rows, std::span<const Index> columns) const {
    if (rows_.columns_are_samples) return own_(rows, columns);
    return own_(rows, Eigen::all);
  }

  const ClassPair& pair_;
  const MetricRows& rows_;
  Matrix own_;
  Matrix features_;  // of a linear kernel
  Vector weights_;
  MetricPart whole_;
};

/// Machines of one pair along the path, with their sigmoids.
struct PairResult {
  std::vector<MetricMachine> machines;
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
    const MetricMachine& machine = results[p].machines[step];
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
  field.as(FieldRole::kCost)("cost", settings.cost, kCostRange, "penalty C on margin violations");
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
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field.as(FieldRole::kCertificate)(
      "certificate", settings.certificate,
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
      results[p].machines.push_back(
          detail::solve_metric(work.whole(), path[step], dimensions[step], start, ctx));
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

template <class A>
void archive(Archived<A, MetricPairs>& pairs, A& archiver) {
  archive(pairs.pairs, archiver);
  archiver("directions", pairs.directions);
  archiver("intercepts", pairs.intercepts);
  archiver("sigmoids", pairs.sigmoids);
  archiver("maps", pairs.maps);
  archiver("basis", pairs.basis);
  archiver("centres", pairs.centres);
  archiver("map_ends", pairs.map_ends);
  if (!A::kLoading) return;
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
template void archive(const MetricPairs&, SavingArchive&);
template void archive(MetricPairs&, LoadingArchive&);

void check_columns(const MetricPairs& pairs, Index columns) {
  if (pairs.directions.rows() == columns) return;
  throw Error(ErrorCode::kBadInput, fmt::format("directions over {} columns; there must be {}",
                                                pairs.directions.rows(), columns));
}

}  // namespace kith

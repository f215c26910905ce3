// SPDX-License-Identifier: Apache-2.0
// What metric_machine.cpp learns for each pair of classes, calibrated and put together.
#include "kith/learn/metric/metric_pairs.hpp"

#include <algorithm>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/multiclass/fit_tasks.hpp"
#include "learn/metric/metric_machine.hpp"

namespace kith {
namespace {

using detail::MetricMachine;
using detail::MetricPart;

/// For fit_tasks. A task is calibrated on rows that its machine has not seen, nor their columns.
struct MetricLearner {
  struct Machine : BinaryMachine, MetricMachine {
    Vector mean;  // of the rows
  };
  struct Block {
    Matrix rows;      // over the columns that the task sees
    Matrix features;  // of a linear kernel
    std::vector<int> signs;
    Vector weights;
    MetricPart part;
    Rng start;
  };

  const MetricRows* source = nullptr;
  const TrainingSet* train = nullptr;
  Path<MetricSettings> path;
  std::span<const DimensionRule> dimensions;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("metric calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t number) const {
    const Matrix* features = source->features;
    Block own{.rows = of_rows(*source->rows, task.samples, task.samples),
              .features = features ? Matrix((*features)(task.samples, Eigen::all)) : Matrix(),
              .signs = task.signs,
              .weights = {},
              .part = {},
              .start = ctx->rng.stream("metric start", number)};
    if (train->weights.size() > 0) own.weights = train->weights(task.samples);
    own.part = detail::metric_part(*source, own.rows, own.features, own.signs, own.weights);
    return own;
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    Block part{.rows = of_rows(whole.rows, samples, samples),
               .features = whole.features.size() > 0 ? Matrix(whole.features(samples, Eigen::all))
                                                     : Matrix(),
               .signs = values_at(whole.signs, samples),
               .weights = {},
               .part = {},
               .start = whole.start};
    if (whole.weights.size() > 0) part.weights = whole.weights(samples);
    part.part = detail::metric_part(*source, part.rows, part.features, part.signs, part.weights);
    return part;
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    MetricSettings settings = path[request.step];
    if (request.calibrates()) settings.certificate = false;
    Machine machine;
    static_cast<MetricMachine&>(machine) =
        detail::solve_metric(block.part, settings, dimensions[request.step], block.start, *ctx);
    machine.evidence.info = machine.info;
    machine.evidence.trace = std::move(machine.trace);
    machine.mean = block.part.axes.mean;
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    return machine.MetricMachine::decisions(of_rows(whole.rows, rows, trained_on));
  }

 private:
  [[nodiscard]] Matrix of_rows(const Matrix& all, std::span<const Index> rows,
                               std::span<const Index> columns) const {
    if (source->columns_are_samples) return all(rows, columns);
    return all(rows, Eigen::all);
  }
};

Fitted<MetricPairs> assemble(FittedTasks<MetricLearner::Machine>&& solved, Tasks tasks,
                             const MetricRows& rows, const Labels& labels) {
  const auto count = std::ssize(tasks);
  const Index columns = rows.rows->cols();
  Index map_rows = 0;
  for (const MetricLearner::Machine& machine : solved.machines) map_rows += machine.L.rows();
  Fitted<MetricPairs> fitted{.model = {}, .info = std::move(solved.info)};
  MetricPairs& all = fitted.model;
  all.tasks = task_table(tasks, labels);
  all.directions = Matrix::Zero(columns, count);
  all.intercepts = Vector(count);
  all.sigmoids = std::move(solved.sigmoids);
  all.maps = Matrix::Zero(map_rows, columns);
  all.centres = Matrix::Zero(count, columns);
  Index at = 0;
  for (Index t = 0; t < count; ++t) {
    const MetricLearner::Machine& machine = solved.machines[static_cast<std::size_t>(t)];
    const std::vector<Index>& samples = tasks[static_cast<std::size_t>(t)].samples;
    for (Index j = 0; j < machine.v.size(); ++j) {
      const Index place = rows.columns_are_samples ? samples[static_cast<std::size_t>(j)] : j;
      all.directions(place, t) = machine.v(j);
      all.centres(t, place) = machine.mean(j);
      all.maps.col(place).segment(at, machine.L.rows()) = machine.L.col(j);
    }
    at += machine.L.rows();
    all.map_ends.push_back(at);
    all.intercepts(t) = machine.b;
  }
  return fitted;
}

}  // namespace

void describe(MetricSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, kCostRange, kCostHelp);
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
  field("radius", settings.radius,
        "of the mapped samples, which is kept at 1: their largest distance from the mean, as the "
        "paper computes it, or that of the smallest ball around them, as its equation (4) says");
  field("tolerance", settings.tolerance, above(0.0),
        "relative decrease of the objective at which the descent ends");
  describe_multiclass(settings.multiclass, field);
  field.as(FieldRole::kProbability)("probability", settings.probability, kProbabilityHelp);
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
  throw invalid(
      "{}: dimensions is {}; it must be all, a number of at least 1, or "
      "energy:SHARE with a share above 0 and at most 1",
      method, in_quotes(text));
}

FittedPath<MetricPairs> train_metric(const MetricRows& rows, const TrainingSet& train,
                                     Path<MetricSettings> path, const RunContext& ctx) {
  const auto fit_own = [&](Tasks tasks, Path<MetricSettings> own) {
    std::vector<DimensionRule> dimensions;
    for (const MetricSettings& settings : own) {
      dimensions.push_back(parse_dimensions("metric", settings.dimensions));
    }
    const MetricLearner learner{
        .source = &rows, .train = &train, .path = own, .dimensions = dimensions, .ctx = &ctx};
    return fit_tasks(tasks, train.labels, own, learner, ctx, [&](auto solved) {
      return assemble(std::move(solved), tasks, rows, train.labels);
    });
  };
  return fit_with_tasks(train.labels, path, as_given, as_given, fit_own);
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
  return decide(pairs.tasks, decisions, pairs.sigmoids);
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
  archive(pairs.tasks, archiver);
  archiver("directions", pairs.directions);
  archiver("intercepts", pairs.intercepts);
  archiver("sigmoids", pairs.sigmoids);
  archiver("maps", pairs.maps);
  archiver("basis", pairs.basis);
  archiver("centres", pairs.centres);
  archiver("map_ends", pairs.map_ends);
  if (!A::kLoading) return;
  const auto count = pairs.tasks.size();
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
  if (!fits) throw broken("the maps, directions and intercepts of a metric do not fit each other");
}
template void archive(const MetricPairs&, SavingArchive&);
template void archive(MetricPairs&, LoadingArchive&);

void check_columns(const MetricPairs& pairs, Index columns) {
  if (pairs.directions.rows() == columns) return;
  throw broken("directions over {} columns; there must be {}", pairs.directions.rows(), columns);
}

}  // namespace kith

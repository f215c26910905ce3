// SPDX-License-Identifier: Apache-2.0
// `p-svm`: for each pair of classes, with labels y of +1 and -1 and the similarities S of the
// pair's samples (rows) to the prototypes of all classes (columns), [TR] (5)
//
//   min_a 1/2 |y - S a|^2 + epsilon |a|_1   s.t.  |a_j| <= C.
//
// A sample with similarities s has the decision value s'a. With an intercept, y - S a - b is
// minimised over b as well: the same problem after the mean is taken from y and from each column.
// Weights w count as repeated samples: rows of S and y are multiplied by sqrt(w).
//
// Cost: one Gram matrix S'S per pair for all epsilons and costs; then a few dozen Cholesky factors
// of the columns in use for each of them.
#include "kith/learn/svm/p_svm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "kith/optim/linear/boxed_lasso.hpp"

namespace kith {
namespace {

/// The gap loses its digits before the KKT residual does.
constexpr double kGapFactor = 10;

/// Some rows of one pair, each multiplied by the root of its weight.
struct Rows {
  Matrix S;
  Vector y;
  Vector ones;  ///< the column an intercept belongs to: the roots themselves
};

Rows rows_of(const ClassPair& pair, std::span<const Index> which, const DenseBlock& features,
             const Vector& weights) {
  const auto m = static_cast<Index>(which.size());
  Rows rows{Matrix(m, features.cols()), Vector(m), Vector::Ones(m)};
  for (Index i = 0; i < m; ++i) {
    const auto k = static_cast<std::size_t>(which[static_cast<std::size_t>(i)]);
    const Index sample = pair.samples[k];
    if (weights.size() > 0) rows.ones(i) = std::sqrt(weights(sample));
    rows.S.row(i) = rows.ones(i) * features.values().row(sample);
    rows.y(i) = rows.ones(i) * pair.signs[k];
  }
  return rows;
}

/// What is orthogonal to the column of the intercept.
linear::LassoData centred(const Rows& rows) {
  const Vector v = rows.ones / rows.ones.norm();
  Matrix S = rows.S;
  S.noalias() -= v * (v.transpose() * rows.S);
  return linear::lasso_data(std::move(S), rows.y - v * v.dot(rows.y));
}

/// The certificate of a and b on the rows as they are: b is optimal where the residual is
/// orthogonal to its column, and a where it solves the problem for the labels without b.
void certify(ColumnMachine& machine, const Rows& rows, const PSvmSettings& settings) {
  const Vector y = rows.y - machine.intercept * rows.ones;
  const linear::LassoCertificate c = linear::certify(
      rows.S, y, {.epsilon = settings.epsilon, .bound = settings.cost}, machine.coefficients);
  machine.info.objective = c.primal;
  machine.info.gap = c.gap;
  machine.info.kkt_residual = c.kkt_residual;
  if (settings.intercept) {
    const double mean = rows.ones.dot(y - rows.S * machine.coefficients) / rows.ones.squaredNorm();
    machine.info.kkt_residual = std::max(c.kkt_residual, std::abs(mean));
  }
}

/// The machines of settings that differ in epsilon (descending) and cost (ascending for each).
std::vector<ColumnMachine> solve(const Rows& rows, std::span<const PSvmSettings> ordered,
                                 double tolerance, const RunContext& ctx) {
  const bool intercept = ordered.front().intercept;
  const linear::LassoData data = intercept ? centred(rows) : linear::lasso_data(rows.S, rows.y);
  std::vector<ColumnMachine> machines;
  std::map<double, Vector> by_cost;  // of the epsilon before
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const PSvmSettings& now = ordered[i];
    const bool same_epsilon = i > 0 && ordered[i - 1].epsilon == now.epsilon;
    const bool reusable =
        same_epsilon && machines.back().info.status == SolveStatus::kSolved &&
        machines.back().coefficients.lpNorm<Eigen::Infinity>() < ordered[i - 1].cost;
    ColumnMachine machine;
    if (reusable) {
      machine = machines.back();
      machine.info.iterations = 0;
    } else {
      const Vector& start = same_epsilon ? machines.back().coefficients : by_cost[now.cost];
      linear::LassoSolution solution = linear::boxed_lasso(
          data, {.epsilon = now.epsilon, .bound = now.cost},
          {.tolerance = tolerance, .gap_tolerance = kGapFactor * tolerance}, ctx, start);
      machine.coefficients = std::move(solution.a);
      machine.info = solution.info;
      if (intercept)
        machine.intercept =
            rows.ones.dot(rows.y - rows.S * machine.coefficients) / rows.ones.squaredNorm();
    }
    certify(machine, rows, now);
    by_cost[now.cost] = machine.coefficients;
    machines.push_back(std::move(machine));
  }
  return machines;
}

/// A pair, or a pair without the samples of one fold, whose decision values calibrate it.
struct Unit {
  std::size_t pair = 0;
  FoldSplit split;  ///< nothing inside: the whole pair
  std::vector<ColumnMachine> machines;
};

/// The whole pair first, then its folds; a class of one cannot be left out.
void add_units(std::vector<Unit>& units, std::size_t p, const ClassPair& pair, bool calibrate,
               const RunContext& ctx) {
  const auto size = static_cast<Index>(pair.samples.size());
  units.push_back({.pair = p, .split = {{}, all_positions(size)}, .machines = {}});
  if (!calibrate) return;
  for (FoldSplit& split : calibration_folds(pair.signs, ctx.rng.stream("p-svm calibration", p))) {
    units.push_back({.pair = p, .split = std::move(split), .machines = {}});
  }
}

/// What settings of one group have in common.
struct Shared {
  const TrainingSet* train = nullptr;
  std::vector<Index> columns;
  DenseBlock features;
  std::vector<ClassPair> pairs;
};

/// The sigmoid of one pair for one setting, from the units of that pair.
Sigmoid calibrated(const Shared& shared, std::span<const Unit> units, std::size_t step) {
  const ClassPair& pair = shared.pairs[units.front().pair];
  Vector decisions(static_cast<Index>(pair.samples.size()));
  for (const Unit& unit : units) {
    const bool whole = unit.split.inside.empty();
    if (whole && units.size() > 1) continue;
    const ColumnMachine& machine = unit.machines[step];
    for (const Index k : whole ? unit.split.outside : unit.split.inside) {
      const Index sample = pair.samples[static_cast<std::size_t>(k)];
      decisions(k) =
          shared.features.values().row(sample).dot(machine.coefficients) + machine.intercept;
    }
  }
  return fit_sigmoid(decisions, pair.signs);
}

Fitted<PSvmModel> assemble(const Shared& shared, std::span<const std::span<const Unit>> by_pair,
                           const PSvmSettings& settings, std::size_t step) {
  std::vector<ColumnMachine> machines;
  std::vector<Sigmoid> sigmoids;
  Fitted<PSvmModel> fitted;
  for (std::size_t p = 0; p < shared.pairs.size(); ++p) {
    const std::string name = pair_name(shared.pairs[p], shared.train->labels);
    machines.push_back(by_pair[p].front().machines[step]);
    if (settings.probability) sigmoids.push_back(calibrated(shared, by_pair[p], step));
    if (machines.back().coefficients.isZero(0)) {
      fitted.info.notes.push_back(
          fmt::format("epsilon = {} is so large that {} uses no similarity at all",
                      format_double(settings.epsilon), name));
    }
    fitted.info.subproblems.push_back({name, machines.back().info});
  }
  fitted.model = {column_machines(*shared.train, shared.pairs, shared.columns, machines, sigmoids)};
  return fitted;
}

/// Settings that differ in epsilon and cost alone, in the order `solve` wants.
std::vector<Fitted<PSvmModel>> fit_ordered(const Shared& shared,
                                           std::span<const PSvmSettings> ordered,
                                           const RunContext& ctx) {
  const PSvmSettings& common = ordered.front();
  std::vector<Unit> units;
  std::vector<std::size_t> first_of;
  for (std::size_t p = 0; p < shared.pairs.size(); ++p) {
    first_of.push_back(units.size());
    add_units(units, p, shared.pairs[p], common.probability, ctx);
  }
  first_of.push_back(units.size());
  parallel_for(units.size(), ctx.threads, [&](std::size_t i) {
    Unit& unit = units[i];
    const Rows rows = rows_of(shared.pairs[unit.pair], unit.split.outside, shared.features,
                              shared.train->weights);
    const bool whole = unit.split.inside.empty();
    const double tolerance =
        whole ? common.tolerance : std::max(common.tolerance, kCalibrationTolerance);
    unit.machines = solve(rows, ordered, tolerance, ctx);
  });
  std::vector<std::span<const Unit>> by_pair;
  for (std::size_t p = 0; p < shared.pairs.size(); ++p) {
    by_pair.emplace_back(&units[first_of[p]], first_of[p + 1] - first_of[p]);
  }
  std::vector<Fitted<PSvmModel>> fitted;
  for (std::size_t step = 0; step < ordered.size(); ++step) {
    fitted.push_back(assemble(shared, by_pair, ordered[step], step));
  }
  return fitted;
}

/// Positions in the path by all that is neither epsilon nor cost.
using Groups =
    std::map<std::tuple<std::optional<Index>, bool, bool, double>, std::vector<std::size_t>>;

Groups groups_of(std::span<const PSvmSettings> path) {
  Groups groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const PSvmSettings& s = path[i];
    groups[{s.prototypes, s.intercept, s.probability, s.tolerance}].push_back(i);
  }
  for (auto& [key, members] : groups) {
    std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-path[a].epsilon, path[a].cost) < std::pair(-path[b].epsilon, path[b].cost);
    });
  }
  return groups;
}

}  // namespace

std::vector<GridAxis> MethodTraits<PSvmSettings>::grid(const PSvmSettings&) {
  return {{.field = "epsilon", .values = powers_of_ten(-4, 1), .simpler = Simpler::kLarger},
          {.field = "cost", .values = powers_of_ten(0, 4), .simpler = Simpler::kSmaller}};
}

void describe(PSvmSettings& settings, FieldVisitor& field) {
  field("epsilon", settings.epsilon, above(0.0),
        "price of a coefficient's size; larger: fewer similarities are used");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0),
                             "bound C on the size of every coefficient");
  field("prototypes", settings.prototypes, at_least(1), "all",
        "how many random training samples the similarities are taken to");
  field("intercept", settings.intercept, "add a constant to the decision value");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0),
        "largest relative KKT violation accepted, and a tenth of the largest relative gap");
}

std::vector<Fitted<PSvmModel>> fit_path(SharedWork& work, std::span<const PSvmSettings> path,
                                        RunContext& ctx) {
  for (const PSvmSettings& settings : path) validate(settings, "p-svm");
  std::vector<Fitted<PSvmModel>> fitted(path.size());
  for (const auto& [key, members] : groups_of(path)) {
    Shared shared{.train = &work.train(),
                  .columns = choose_prototypes(std::get<0>(key), work.train().size(), ctx),
                  .features = {},
                  .pairs = class_pairs(work.train().labels)};
    shared.features = columns_of(work.dense(), shared.columns);
    std::vector<PSvmSettings> ordered;
    for (const std::size_t i : members) ordered.push_back(path[i]);
    std::vector<Fitted<PSvmModel>> solved = fit_ordered(shared, ordered, ctx);
    for (std::size_t i = 0; i < members.size(); ++i) fitted[members[i]] = std::move(solved[i]);
  }
  return fitted;
}

Fitted<PSvmModel> fit(SharedWork& work, const PSvmSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

}  // namespace kith

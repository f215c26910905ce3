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

#include "kith/core/text.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "kith/optim/linear/boxed_lasso.hpp"

namespace kith {
namespace {

/// The gap loses its digits before the KKT residual does.
constexpr double kGapFactor = 10;

/// Some rows of one task, each multiplied by the root of its weight.
struct Rows {
  Matrix S;
  Vector y;
  Vector ones;  ///< the column an intercept belongs to: the roots themselves
};

/// What is orthogonal to the column of the intercept.
linear::LassoData centred(const Rows& rows) {
  const Vector v = rows.ones / rows.ones.norm();
  Matrix S = rows.S;
  S.noalias() -= v * (v.transpose() * rows.S);
  return linear::lasso_data(std::move(S), rows.y - v * v.dot(rows.y));
}

/// The certificate of a and b on the rows as they are: b is optimal where the residual is
/// orthogonal to its column, and a where it solves the problem for the labels without b.
void certify(LinearMachine& machine, const Rows& rows, const PSvmSettings& settings) {
  const Vector y = rows.y - machine.b * rows.ones;
  const linear::LassoCertificate c =
      linear::certify(rows.S, y, {.epsilon = settings.epsilon, .bound = settings.cost}, machine.c);
  machine.evidence.info.objective = c.primal;
  machine.evidence.info.gap = c.gap;
  machine.evidence.info.kkt_residual = c.kkt_residual;
  if (settings.intercept) {
    const double mean = rows.ones.dot(y - rows.S * machine.c) / rows.ones.squaredNorm();
    machine.evidence.info.kkt_residual = std::max(c.kkt_residual, std::abs(mean));
  }
}

/// For fit_tasks; coefficients are over the prototypes. The settings differ in epsilon (descending)
/// and cost (ascending for each).
struct PSvmLearner {
  using Machine = LinearMachine;
  struct Block {
    Rows rows;
    linear::LassoData data;
    std::vector<Index> samples{};        // of the training set; empty: a part
    std::optional<Machine> last{};       // of the step before
    std::map<double, Vector> by_cost{};  // of the epsilon before
  };

  const DenseBlock* features = nullptr;
  const TrainingSet* train = nullptr;
  Path<PSvmSettings> ordered;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("p-svm calibration", number);
  }
  [[nodiscard]] Block of_rows(Rows rows) const {
    linear::LassoData data =
        ordered.front().intercept ? centred(rows) : linear::lasso_data(rows.S, rows.y);
    return {.rows = std::move(rows), .data = std::move(data)};
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    const Vector roots = weights_of(*train, task).cwiseSqrt();
    Block whole = of_rows({.S = roots.asDiagonal() * features->values()(task.samples, Eigen::all),
                           .y = roots.cwiseProduct(task.y()),
                           .ones = roots});
    whole.samples = task.samples;
    return whole;
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    return of_rows({.S = whole.rows.S(samples, Eigen::all),
                    .y = whole.rows.y(samples),
                    .ones = whole.rows.ones(samples)});
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    const PSvmSettings& now = ordered[request.step];
    const PSvmSettings* before = block.last ? &ordered[request.step - 1] : nullptr;
    const double tolerance = std::max(now.tolerance, request.tolerance(now.tolerance));
    const bool same_epsilon = before != nullptr && before->epsilon == now.epsilon;
    const bool reusable = same_epsilon &&
                          block.last->evidence.info.status == SolveStatus::kSolved &&
                          block.last->c.lpNorm<Eigen::Infinity>() < before->cost;
    Machine machine;
    if (reusable) {
      machine = *block.last;
      machine.evidence.info.iterations = 0;
    } else {
      const Vector& start = same_epsilon ? block.last->c : block.by_cost[now.cost];
      linear::LassoSolution solution = linear::boxed_lasso(
          block.data, {.epsilon = now.epsilon, .bound = now.cost},
          {.tolerance = tolerance, .gap_tolerance = kGapFactor * tolerance}, *ctx, start);
      machine.c = std::move(solution.a);
      machine.evidence.info = solution.info;
      if (now.intercept) {
        const Rows& rows = block.rows;
        machine.b = rows.ones.dot(rows.y - rows.S * machine.c) / rows.ones.squaredNorm();
      }
    }
    certify(machine, block.rows, now);
    block.by_cost[now.cost] = machine.c;
    block.last = machine;
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> /*trained_on*/) const {
    Vector values(std::ssize(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Index sample = whole.samples[static_cast<std::size_t>(rows[i])];
      values(static_cast<Index>(i)) = features->values().row(sample).dot(machine.c) + machine.b;
    }
    return values;
  }
  void finish(const Block& /*whole*/, Machine& machine) const { machine.make_sparse(); }
};

/// Says which tasks use no similarity.
void add_notes(const PSvmSettings& settings, Fitted<PSvmModel>& fitted) {
  const std::vector<Index>& starts = fitted.model.coefficients.starts;
  for (std::size_t t = 0; t + 1 < starts.size(); ++t) {
    if (starts[t] < starts[t + 1]) continue;
    fitted.info.notes.push_back(
        fmt::format("epsilon = {} is so large that {} uses no similarity at all",
                    format_double(settings.epsilon), fitted.info.subproblems[t].name));
  }
}

}  // namespace

void describe(PSvmSettings& settings, FieldVisitor& field) {
  field("epsilon", settings.epsilon, above(0.0),
        "price of a coefficient's size; larger: fewer similarities are used");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0),
                             "bound C on the size of every coefficient");
  describe_prototypes(settings, field);
  field("intercept", settings.intercept, "add a constant to the decision value");
  describe_tasks(
      settings, field,
      "largest relative KKT violation accepted, and a tenth of the largest relative gap");
}

FittedPath<PSvmModel> fit_path(SharedWork& work, Path<PSvmSettings> path, RunContext& ctx) {
  const TrainingSet& train = work.train();
  const auto rest = [](const PSvmSettings& s) {  // all that is neither epsilon nor cost
    return std::tuple(s.prototypes, s.train_on, s.intercept, s.probability, s.tolerance);
  };
  const auto order = [](const PSvmSettings& s) { return std::pair(-s.epsilon, s.cost); };
  const auto fit_features = [&](Tasks tasks, Path<PSvmSettings> ordered) {
    const std::vector<Index> columns =
        choose_prototypes(ordered.front().prototypes, train.size(), ctx);
    const TrainedOn trained = trained_on(tasks, ordered.front().train_on, columns, train.labels);
    const DenseBlock features = columns_of(work.dense(), columns);
    const PSvmLearner learner{
        .features = &features, .train = &train, .ordered = ordered, .ctx = &ctx};
    FittedPath<PSvmModel> fitted =
        fit_columns<PSvmModel>(learner, ordered, trained.tasks, train, columns, ctx);
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      note_kept(trained, fitted[i].info);
      add_notes(ordered[i], fitted[i]);
    }
    return fitted;
  };
  return fit_with_tasks(train.labels, path, rest, order, fit_features);
}

}  // namespace kith

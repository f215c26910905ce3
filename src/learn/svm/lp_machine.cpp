// SPDX-License-Identifier: Apache-2.0
// `lp-machine`: sample i is the vector f_i of its similarities to the prototypes, and for each pair
// of classes [TR] (4)
//
//   min_{w, b} |w|_1 + C sum_i max(0, 1 - y_i (w'f_i + b))
//
// is solved as a linear program (optim/linear/hinge_lp). The rows are those of the pair, the
// columns those of all classes. A vertex of the optimal face is kept, so that w has no more nonzero
// entries than samples lie on the margin; a model needs the similarities to those training samples
// alone.
//
// Cost: see optim/linear/hinge_lp; along a path the working columns of one cost start the next.
#include "kith/learn/svm/lp_machine.hpp"

#include <utility>

#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "kith/optim/linear/hinge_lp.hpp"

namespace kith {
namespace {

/// Whether the solution for a smaller cost is one for this problem; its evidence is then renewed.
bool serves(const linear::HingeLp& problem, double tolerance, linear::HingeLpSolution& last) {
  const linear::HingeLpCertificate certificate = linear::certify(problem, last.w, last.b, last.a);
  if (!(certificate.gap <= tolerance)) return false;
  last.info = {.status = SolveStatus::kSolved,
               .iterations = 0,
               .objective = certificate.primal,
               .gap = certificate.gap,
               .kkt_residual = certificate.kkt_residual};
  return true;
}

/// For fit_tasks; coefficients are over the prototypes. Costs ascend.
struct LpLearner {
  struct Machine : LinearMachine {
    std::vector<Index> working;  // columns that the solver ended with
  };
  struct Block {
    Matrix F;
    Vector y;
    Vector weights;
    std::optional<linear::HingeLpSolution> last{};
  };

  const DenseBlock* features = nullptr;
  const TrainingSet* train = nullptr;
  Path<LpMachineSettings> ascending;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("lp-machine calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    return {.F = features->values()(task.samples, Eigen::all),
            .y = task.y(),
            .weights = weights_of(*train, task)};
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    return {.F = whole.F(samples, Eigen::all),
            .y = whole.y(samples),
            .weights = whole.weights(samples)};
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    const LpMachineSettings& settings = ascending[request.step];
    const linear::HingeLp problem{block.F, block.y, settings.cost * block.weights};
    const double tolerance = request.tolerance(settings.tolerance);
    if (request.calibrates()) {
      block.last = linear::solve_hinge_lp(problem, {.tolerance = tolerance, .vertex = false}, *ctx,
                                          request.whole->working);
    } else if (!block.last || !serves(problem, tolerance, *block.last)) {
      const std::vector<Index> start =
          block.last ? std::move(block.last->working) : std::vector<Index>();
      block.last = linear::solve_hinge_lp(problem, {.tolerance = tolerance}, *ctx, start);
    }
    Machine machine;
    machine.evidence.info = block.last->info;
    machine.c = block.last->w;
    machine.b = block.last->b;
    machine.working = block.last->working;
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> /*trained_on*/) const {
    return (whole.F(rows, Eigen::all) * machine.c).array() + machine.b;
  }
  void finish(const Block& /*whole*/, Machine& machine) const { machine.make_sparse(); }
};

}  // namespace

void describe(LpMachineSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  describe_prototypes(settings, field);
  describe_tasks(settings, field, "largest relative duality gap accepted");
}

FittedPath<LpMachineModel> fit_path(SharedWork& work, Path<LpMachineSettings> path,
                                    RunContext& ctx) {
  const TrainingSet& train = work.train();
  const auto prototypes = [](const LpMachineSettings& settings) {
    return std::pair(settings.prototypes, settings.train_on);
  };
  const auto fit_features = [&](Tasks tasks, Path<LpMachineSettings> ascending) {
    const std::vector<Index> columns =
        choose_prototypes(ascending.front().prototypes, train.size(), ctx);
    const TrainedOn trained = trained_on(tasks, ascending.front().train_on, columns, train.labels);
    const DenseBlock features = columns_of(work.dense(), columns);
    const LpLearner learner{
        .features = &features, .train = &train, .ascending = ascending, .ctx = &ctx};
    FittedPath<LpMachineModel> fitted =
        fit_columns<LpMachineModel>(learner, ascending, trained.tasks, train, columns, ctx);
    for (Fitted<LpMachineModel>& one : fitted) note_kept(trained, one.info);
    return fitted;
  };
  return fit_with_tasks(train.labels, path, prototypes, by_cost, fit_features);
}

}  // namespace kith

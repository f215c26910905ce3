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

#include <algorithm>
#include <map>
#include <utility>

#include "kith/core/parallel.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "kith/optim/linear/hinge_lp.hpp"

namespace kith {
namespace {

/// Everything that is fixed along a path: the features of the pair's samples.
struct PairFeatures {
  const ClassPair* pair = nullptr;
  Matrix F;
  Vector y;
  Vector weights;  // per sample
};

PairFeatures features_of(const ClassPair& pair, const DenseBlock& features,
                         const TrainingSet& train) {
  PairFeatures own;
  own.pair = &pair;
  own.F = features.values()(pair.samples, Eigen::all);
  own.y.resize(static_cast<Index>(pair.signs.size()));
  for (Index i = 0; i < own.y.size(); ++i) own.y(i) = pair.signs[static_cast<std::size_t>(i)];
  own.weights = Vector::Ones(own.y.size());
  if (train.weights.size() > 0) own.weights = train.weights(pair.samples);
  return own;
}

/// The machines of one pair along a path, with their sigmoids where they are wanted.
struct PairPath {
  std::vector<ColumnMachine> machines;
  std::vector<Sigmoid> sigmoids;
};

Sigmoid sigmoid_of(const PairFeatures& own, double cost, const linear::HingeLpSolution& whole,
                   const Rng& stream, const RunContext& ctx) {
  const auto held_out = [&](const FoldSplit& split) -> Vector {
    const Matrix outside = own.F(split.outside, Eigen::all);
    const linear::HingeLp problem{outside, own.y(split.outside), cost * own.weights(split.outside)};
    const linear::HingeLpSolution part = linear::solve_hinge_lp(
        problem, {.tolerance = kCalibrationTolerance, .vertex = false}, ctx, whole.working);
    return (own.F(split.inside, Eigen::all) * part.w).array() + part.b;
  };
  const auto own_values = [&]() -> Vector { return (own.F * whole.w).array() + whole.b; };
  return cross_fitted_sigmoid(own.pair->signs, stream, held_out, own_values);
}

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

/// The machines of one pair for ascending costs.
PairPath solve_pair(const PairFeatures& own, std::span<const LpMachineSettings> ascending,
                    const Rng& stream, const RunContext& ctx) {
  PairPath path;
  linear::HingeLpSolution last;
  for (const LpMachineSettings& settings : ascending) {
    ctx.check_stop();
    const linear::HingeLp problem{own.F, own.y, settings.cost * own.weights};
    if (path.machines.empty() || !serves(problem, settings.tolerance, last)) {
      last = linear::solve_hinge_lp(problem, {.tolerance = settings.tolerance}, ctx, last.working);
    }
    path.machines.push_back({.coefficients = last.w, .intercept = last.b, .info = last.info});
    path.sigmoids.push_back(settings.probability ? sigmoid_of(own, settings.cost, last, stream, ctx)
                                                 : Sigmoid{});
  }
  return path;
}

/// The machines of all pairs for one cost.
Fitted<LpMachineModel> assemble(std::span<const ClassPair> pairs, std::span<const PairPath> paths,
                                std::size_t step, const LpMachineSettings& settings,
                                const TrainingSet& train, std::span<const Index> prototypes) {
  std::vector<ColumnMachine> machines;
  std::vector<Sigmoid> sigmoids;
  Fitted<LpMachineModel> fitted;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    machines.push_back(paths[p].machines[step]);
    if (settings.probability) sigmoids.push_back(paths[p].sigmoids[step]);
    fitted.info.subproblems.push_back({pair_name(pairs[p], train.labels), machines.back().info});
  }
  fitted.model = {column_machines(train, pairs, prototypes, machines, sigmoids)};
  return fitted;
}

/// Positions in the path by number of prototypes, each list in order of cost.
std::map<std::optional<Index>, std::vector<std::size_t>> groups_of(
    std::span<const LpMachineSettings> path) {
  std::map<std::optional<Index>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < path.size(); ++i) groups[path[i].prototypes].push_back(i);
  for (auto& [prototypes, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return path[a].cost < path[b].cost; });
  }
  return groups;
}

}  // namespace

void describe(LpMachineSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("prototypes", settings.prototypes, at_least(1), "all",
        "how many random training samples the similarities are taken to");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0), "largest relative duality gap accepted");
}

std::vector<Fitted<LpMachineModel>> fit_path(SharedWork& work,
                                             std::span<const LpMachineSettings> path,
                                             RunContext& ctx) {
  for (const LpMachineSettings& settings : path) validate(settings, "lp-machine");
  const TrainingSet& train = work.train();
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  std::vector<Fitted<LpMachineModel>> fitted(path.size());
  for (const auto& [prototypes, members] : groups_of(path)) {
    const std::vector<Index> columns = choose_prototypes(prototypes, train.size(), ctx);
    const DenseBlock features = columns_of(work.dense(), columns);
    std::vector<LpMachineSettings> ascending;
    for (const std::size_t i : members) ascending.push_back(path[i]);
    std::vector<PairPath> paths(pairs.size());
    parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
      paths[p] = solve_pair(features_of(pairs[p], features, train), ascending,
                            ctx.rng.stream("lp-machine calibration", p), ctx);
    });
    for (std::size_t step = 0; step < members.size(); ++step) {
      fitted[members[step]] = assemble(pairs, paths, step, ascending[step], train, columns);
    }
  }
  return fitted;
}

Fitted<LpMachineModel> fit(SharedWork& work, const LpMachineSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

}  // namespace kith

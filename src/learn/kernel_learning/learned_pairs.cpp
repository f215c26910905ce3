// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/learned_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "numerics/unit.hpp"

namespace kith {
namespace {

PairBlock sub_block(const PairBlock& block, std::span<const Index> at) {
  PairBlock part;
  const std::vector<Index> rows(at.begin(), at.end());
  part.S = block.S(rows, rows);
  part.y = block.y(rows);
  part.weights = block.weights(rows);
  part.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(part.S));
  return part;
}

PairBlock pair_block(SharedWork& work, const ClassPair& pair) {
  const TrainingSet& train = work.train();
  PairBlock block;
  const bool whole = std::ssize(pair.samples) == train.size();
  if (whole) {
    block.S = work.symmetric();
    block.eigen = work.eigen();
  } else {
    block.S = work.symmetric()(pair.samples, pair.samples);
    block.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(block.S));
  }
  block.y.resize(std::ssize(pair.signs));
  for (Index i = 0; i < block.y.size(); ++i) block.y(i) = pair.signs[static_cast<std::size_t>(i)];
  block.weights =
      train.weights.size() > 0 ? Vector(train.weights(pair.samples)) : Vector::Ones(block.y.size());
  return block;
}

/// The block as its solver sees it; none where that is the block itself.
std::optional<PairBlock> in_own_unit(const PairBlock& block) {
  const double unit = own_unit(block.eigen->lambda.cwiseAbs().maxCoeff(), kOrdinarySimilarities);
  if (unit == 1) return std::nullopt;
  PairBlock own = block;
  own.unit = unit;
  own.S /= unit;
  own.eigen = std::make_shared<const SymmetricEigen>(
      SymmetricEigen{block.eigen->lambda / unit, block.eigen->U});
  return own;
}

/// What a treatment needs of the kernel: its positive eigenpairs, or for treatment augmented all
/// those of M = S + u u' / (4 rho).
SymmetricEigen basis_of(const PairBlock& block, robust::Solution& solution,
                        LearnedTreatment treatment) {
  if (treatment != LearnedTreatment::kAugmented) return std::move(solution.kernel);
  const Vector u = block.y.cwiseProduct(solution.alpha);
  Matrix M = block.S;
  M.noalias() += u * (u / (4 * solution.rho)).transpose();
  return symmetric_eigen(std::move(M));
}

LearnedMachine machine_of(const PairBlock& block, const robust::Solution& solution,
                          const SymmetricEigen& basis, LearnedTreatment treatment) {
  return learned_machine(treatment, basis, *block.eigen, block.y.cwiseProduct(solution.alpha),
                         solution.b);
}

bool is_finite(const LearnedMachine& machine) {
  return std::isfinite(machine.b) && machine.coefficients.allFinite() &&
         machine.values.allFinite() && machine.vectors.allFinite() && machine.rotated.allFinite();
}

/// A block decomposed once for the whole path.
struct BlockPath {
  PairBlock block;
  std::optional<PairBlock> scaled;  // what the solver sees where that is not the block
  std::vector<Vector> known;        // alpha of each step, of what the solver saw

  explicit BlockPath(PairBlock own) : block(std::move(own)), scaled(in_own_unit(block)) {}

  /// The answer, with the basis of its treatment, over the block itself.
  [[nodiscard]] std::pair<robust::Solution, SymmetricEigen> solve(const PairLearner& learn,
                                                                  std::size_t step,
                                                                  LearnedTreatment treatment,
                                                                  double tolerance,
                                                                  bool for_sigmoid) {
    const PairBlock& seen = scaled ? *scaled : block;
    known.resize(step);  // a step without probabilities left none
    robust::Solution found = learn({.block = seen,
                                    .step = step,
                                    .tolerance = tolerance,
                                    .for_sigmoid = for_sigmoid,
                                    .known = known});
    known.push_back(found.alpha);
    SymmetricEigen basis = basis_of(seen, found, treatment);
    basis.lambda *= seen.unit;
    found.alpha /= seen.unit;
    return {std::move(found), std::move(basis)};
  }
};

/// The machine of one pair at one step.
struct PairResult {
  LearnedMachine machine;
  SolveInfo info;
  std::vector<BoundsStep> trace;  // of the objective, offset included
  double consistency = 0;
  double offset = 0;
  Sigmoid sigmoid;
};

class PairPath {
 public:
  PairPath(SharedWork& work, const ClassPair& pair, const PairLearner& learn, Rng stream)
      : pair_(pair), learn_(learn), stream_(stream), whole_(pair_block(work, pair)) {}

  [[nodiscard]] PairResult solve(std::size_t step, const LearnedStep& settings) {
    auto [found, basis] = whole_.solve(learn_, step, settings.treatment, settings.tolerance, false);
    const PairBlock& block = whole_.block;
    PairResult result;
    result.machine = machine_of(block, found, basis, settings.treatment);
    result.info = found.info;
    if (!is_finite(result.machine)) result.info.status = SolveStatus::kNumericalFailure;
    result.offset = found.offset;
    result.trace = std::move(found.trace);
    for (BoundsStep& bounds : result.trace) {
      bounds.lower += found.offset;
      bounds.upper += found.offset;
    }
    result.consistency = consistency(settings.treatment, basis, *block.eigen, block.S);
    if (settings.probability) result.sigmoid = sigmoid(step, settings, result.machine);
    return result;
  }

 private:
  [[nodiscard]] Sigmoid sigmoid(std::size_t step, const LearnedStep& settings,
                                const LearnedMachine& whole) {
    const PairBlock& block = whole_.block;
    const auto held_out = [&](const FoldSplit& split) -> Vector {
      auto at = folds_.find(split.inside);
      if (at == folds_.end()) {
        at = folds_.try_emplace(split.inside, sub_block(block, split.outside)).first;
      }
      const auto [found, basis] =
          at->second.solve(learn_, step, settings.treatment, kCalibrationTolerance, true);
      const LearnedMachine machine = machine_of(at->second.block, found, basis, settings.treatment);
      const Vector self = block.S.diagonal()(split.inside);
      return decisions(machine, block.S(split.inside, split.outside), self);
    };
    const auto own = [&]() -> Vector { return decisions(whole, block.S, block.S.diagonal()); };
    return cross_fitted_sigmoid(pair_.signs, stream_, held_out, own);
  }

  const ClassPair& pair_;
  const PairLearner& learn_;
  Rng stream_;
  BlockPath whole_;
  std::map<std::vector<Index>, BlockPath> folds_;  // by what is held out
};

Fitted<LearnedPairsModel> assemble(SharedWork& work, std::span<const ClassPair> pairs,
                                   std::vector<std::vector<PairResult>>& results, std::size_t step,
                                   const LearnedStep& settings) {
  Fitted<LearnedPairsModel> fitted;
  LearnedPairsModel& model = fitted.model;
  const Labels& labels = work.train().labels;
  model.samples = labels.size();
  model.pairs = pair_table(pairs, labels);
  model.self = constant_of(work.symmetric().diagonal());
  if (settings.probability) model.sigmoids.resize(2, std::ssize(pairs));
  double worst = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    PairResult& result = results[p][step];
    model.members.push_back(pairs[p].samples);
    model.machines.push_back(std::move(result.machine));
    if (settings.probability) {
      model.sigmoids.col(static_cast<Index>(p)) << result.sigmoid.slope, result.sigmoid.offset;
    }
    fitted.info.subproblems.push_back({.name = pair_name(pairs[p], labels),
                                       .info = result.info,
                                       .trace = std::move(result.trace),
                                       .objective_offset = result.offset});
    worst = std::max(worst, result.consistency);
  }
  fitted.info.consistency = worst;
  return fitted;
}

}  // namespace

void check_range(std::string_view what, double value, double unit) {
  constexpr double kMost = 1e150;
  if (value >= 1 / kMost && value <= kMost) return;
  constexpr double kOrdinary = 1e6;
  std::string message =
      fmt::format("{} is {:.0e}, which is beyond what can be computed with ({:.0e} to {:.0e})",
                  what, value, 1 / kMost, kMost);
  if (!(unit <= kOrdinary && unit >= 1 / kOrdinary)) {
    message += fmt::format("; the similarities are near {:.0e}: divide them by that", unit);
  }
  throw Error(ErrorCode::kInvalidArgument, message);
}

robust::Solution with_bounds_in_reach(robust::Problem& problem,
                                      const std::function<robust::Solution()>& solver) {
  constexpr double kReach = 1e6;  // of alpha, in units of the inverse of S
  const double size = problem.eigen->lambda.cwiseAbs().maxCoeff();
  const double reach = kReach / size;
  if (!(problem.cost.minCoeff() > reach) || !std::isfinite(reach)) return solver();
  Vector far = std::move(problem.cost);
  problem.cost = Vector::Constant(far.size(), reach);
  robust::Solution found = solver();
  constexpr double kClear = 0.9;  // of the bound
  if (found.alpha.maxCoeff() <= kClear * reach && met_tolerance(found.info.status)) return found;
  problem.cost = std::move(far);
  return solver();
}

std::vector<Fitted<LearnedPairsModel>> fit_pairs(SharedWork& work,
                                                 std::span<const LearnedStep> steps,
                                                 const PairLearner& learn, const RunContext& ctx) {
  const std::vector<ClassPair> pairs = class_pairs(work.train().labels);
  std::vector<std::vector<PairResult>> results(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    ctx.check_stop();
    PairPath path(work, pairs[p], learn, ctx.rng.stream("learned kernel calibration", p));
    for (std::size_t step = 0; step < steps.size(); ++step) {
      results[p].push_back(path.solve(step, steps[step]));
    }
  });
  std::vector<Fitted<LearnedPairsModel>> fitted;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    fitted.push_back(assemble(work, pairs, results, step, steps[step]));
  }
  return fitted;
}

Prediction predict(const LearnedPairsModel& model, const QueryBlock& queries,
                   const RunContext& ctx) {
  const QueryMatrix& query = queries.matrices.front();
  const DenseBlock rows = learned_rows(query, model.samples);
  Matrix values(rows.rows(), std::ssize(model.machines));
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    ctx.check_stop();
    const Matrix own = rows.values()(Eigen::all, model.members[p]);
    const LearnedMachine& machine = model.machines[p];
    const Vector self = self_similarities(query, machine.treatment, model.self, rows.rows());
    values.col(static_cast<Index>(p)) = decisions(machine, own, self);
  }
  return vote(model.pairs, values, sigmoids_of(model.sigmoids));
}

double constant_of(const VectorRef& values) {
  const double first = values(0);
  const double most = values.cwiseAbs().maxCoeff();
  const bool constant = (values.array() - first).abs().maxCoeff() <= 1e-12 * most;
  return constant ? first : std::numeric_limits<double>::quiet_NaN();
}

DenseBlock learned_rows(const QueryMatrix& query, Index samples) {
  const DenseBlock to = to_dense(query.to_training);
  if (to.cols() != samples) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("queries have {} columns; the model needs its {} training samples",
                            to.cols(), samples));
  }
  if (!query.from_training) return to;
  return DenseBlock(0.5 * (to.values() + to_dense(*query.from_training).values()));
}

Vector self_similarities(const QueryMatrix& query, LearnedTreatment treatment, double constant,
                         Index count) {
  if (query.self) return *query.self;
  if (needs_self(treatment) && std::isnan(constant)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("test-treatment {} needs the self-similarity of each new sample "
                            "([[self]]): the training matrix has no constant diagonal to take it "
                            "from",
                            enum_name(treatment)));
  }
  return Vector::Constant(count, constant);
}

template <class A>
void archive(Archived<A, LearnedMachine>& machine, std::string_view suffix, A& archiver) {
  const auto named = [&](const char* part) { return fmt::format("{}_{}", part, suffix); };
  archiver(named("treatment"), machine.treatment);
  archiver(named("coefficients"), machine.coefficients);
  archiver(named("values"), machine.values);
  archiver(named("vectors"), machine.vectors);
  archiver(named("rotated"), machine.rotated);
  archiver(named("intercept"), machine.b);
}
template void archive(const LearnedMachine&, std::string_view, SavingArchive&);
template void archive(LearnedMachine&, std::string_view, LoadingArchive&);

void check_loaded(const LearnedMachine& machine, std::span<const Index> members, Index samples,
                  std::size_t pair) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kBadInput, fmt::format("the machine of pair {}: {}", pair + 1, what));
  };
  for (const Index member : members) {
    if (member < 0 || member >= samples) {
      refuse(fmt::format("member {}; members are positions below {}, the number of samples", member,
                         samples));
    }
  }
  const Index count = std::ssize(members);
  const bool fits = needs_self(machine.treatment)
                        ? machine.vectors.rows() == count &&
                              machine.vectors.cols() == machine.values.size() &&
                              machine.rotated.size() == machine.values.size()
                        : machine.coefficients.size() == count;
  if (!fits) refuse(fmt::format("its arrays do not fit its {} members", count));
}

template <class A>
void archive(Archived<A, LearnedPairsModel>& model, A& archiver) {
  archiver("samples", model.samples);
  archive(model.pairs, archiver);
  archiver("sigmoids", model.sigmoids);
  archiver("self", model.self);
  if constexpr (A::kLoading) {
    model.members.resize(model.pairs.first.size());
    model.machines.resize(model.pairs.first.size());
  }
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    archiver(fmt::format("members_{}", p), model.members[p]);
    archive(model.machines[p], std::to_string(p), archiver);
    if constexpr (A::kLoading) check_loaded(model.machines[p], model.members[p], model.samples, p);
  }
}
template void archive(const LearnedPairsModel&, SavingArchive&);
template void archive(LearnedPairsModel&, LoadingArchive&);

bool needs_self(const LearnedPairsModel& model) {
  return std::isnan(model.self) &&
         std::any_of(model.machines.begin(), model.machines.end(),
                     [](const LearnedMachine& one) { return needs_self(one.treatment); });
}

}  // namespace kith

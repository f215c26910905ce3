// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/learned_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/svm/pair_machines.hpp"

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

/// What a treatment needs of the kernel: its positive eigenpairs, or for treatment augmented all
/// those of M = S + u u' / (4 rho).
SymmetricEigen basis_of(const PairBlock& block, RobustSolution& solution,
                        LearnedTreatment treatment) {
  if (treatment != LearnedTreatment::kAugmented) return std::move(solution.kernel);
  const Vector u = block.y.cwiseProduct(solution.alpha);
  Matrix M = block.S;
  M.noalias() += u * (u / (4 * solution.rho)).transpose();
  return symmetric_eigen(std::move(M));
}

LearnedMachine machine_of(const PairBlock& block, const RobustSolution& solution,
                          const SymmetricEigen& basis, LearnedTreatment treatment) {
  return learned_machine(treatment, basis, *block.eigen, block.y.cwiseProduct(solution.alpha),
                         solution.b);
}

bool is_finite(const LearnedMachine& machine) {
  return std::isfinite(machine.b) && machine.coefficients.allFinite() &&
         machine.values.allFinite() && machine.vectors.allFinite() && machine.rotated.allFinite();
}

/// A fold of one pair, decomposed once for the whole path.
struct Fold {
  PairBlock block;
  std::vector<Vector> known;  // alpha of each step
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
      : pair_(pair), learn_(learn), stream_(stream), block_(pair_block(work, pair)) {}

  [[nodiscard]] PairResult solve(std::size_t step, const LearnedStep& settings) {
    RobustSolution found = learn_({.block = block_,
                                   .step = step,
                                   .tolerance = settings.tolerance,
                                   .for_sigmoid = false,
                                   .known = known_});
    PairResult result;
    const SymmetricEigen basis = basis_of(block_, found, settings.treatment);
    result.machine = machine_of(block_, found, basis, settings.treatment);
    result.info = found.info;
    if (!is_finite(result.machine)) result.info.status = SolveStatus::kNumericalFailure;
    result.offset = found.offset;
    result.trace = std::move(found.trace);
    for (BoundsStep& bounds : result.trace) {
      bounds.lower += found.offset;
      bounds.upper += found.offset;
    }
    result.consistency = consistency(settings.treatment, basis, *block_.eigen, block_.S);
    if (settings.probability) result.sigmoid = sigmoid(step, settings, result.machine);
    known_.push_back(std::move(found.alpha));
    return result;
  }

 private:
  [[nodiscard]] Sigmoid sigmoid(std::size_t step, const LearnedStep& settings,
                                const LearnedMachine& whole) {
    const auto held_out = [&](const FoldSplit& split) -> Vector {
      Fold& fold = folds_[split.inside];
      if (fold.block.y.size() == 0) fold.block = sub_block(block_, split.outside);
      fold.known.resize(step);  // a step without probabilities left none
      RobustSolution found = learn_({.block = fold.block,
                                     .step = step,
                                     .tolerance = kCalibrationTolerance,
                                     .for_sigmoid = true,
                                     .known = fold.known});
      const SymmetricEigen basis = basis_of(fold.block, found, settings.treatment);
      const LearnedMachine machine = machine_of(fold.block, found, basis, settings.treatment);
      fold.known.push_back(std::move(found.alpha));
      const Vector self = block_.S.diagonal()(split.inside);
      return decisions(machine, block_.S(split.inside, split.outside), self);
    };
    const auto own = [&]() -> Vector { return decisions(whole, block_.S, block_.S.diagonal()); };
    return cross_fitted_sigmoid(pair_.signs, stream_, held_out, own);
  }

  const ClassPair& pair_;
  const PairLearner& learn_;
  Rng stream_;
  PairBlock block_;
  std::vector<Vector> known_;                 // alpha of each step
  std::map<std::vector<Index>, Fold> folds_;  // by what is held out
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
                            "(--self): the training matrix has no constant diagonal to take it "
                            "from",
                            enum_name(treatment)));
  }
  return Vector::Constant(count, constant);
}

void archive(LearnedMachine& machine, std::string_view suffix, Archive& archiver) {
  const auto named = [&](const char* part) { return fmt::format("{}_{}", part, suffix); };
  archiver(named("treatment"), machine.treatment);
  archiver(named("coefficients"), machine.coefficients);
  archiver(named("values"), machine.values);
  archiver(named("vectors"), machine.vectors);
  archiver(named("rotated"), machine.rotated);
  archiver(named("intercept"), machine.b);
}

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

void archive(LearnedPairsModel& model, Archive& archiver) {
  archiver("samples", model.samples);
  archive(model.pairs, archiver);
  archiver("sigmoids", model.sigmoids);
  archiver("self", model.self);
  if (archiver.loading()) {
    model.members.resize(model.pairs.first.size());
    model.machines.resize(model.pairs.first.size());
  }
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    archiver(fmt::format("members_{}", p), model.members[p]);
    archive(model.machines[p], std::to_string(p), archiver);
    if (archiver.loading()) check_loaded(model.machines[p], model.members[p], model.samples, p);
  }
}

}  // namespace kith

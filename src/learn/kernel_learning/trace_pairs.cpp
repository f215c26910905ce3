// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/trace_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/kernel_learning/average_svm.hpp"
#include "kith/learn/kernel_learning/kernel_sum.hpp"
#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "learn/kernel_learning/repeated_eigenvalues.hpp"
#include "numerics/unit.hpp"

namespace kith {
namespace {

/// The printed update gains nothing after its first ten or twenty steps.
constexpr long kPrintedIterations = 100;

LearnedTreatment learned(TraceTreatment treatment) {
  switch (treatment) {
    case TraceTreatment::kSample:
      return LearnedTreatment::kSample;
    case TraceTreatment::kProject:
      return LearnedTreatment::kProject;
    case TraceTreatment::kMap:
      return LearnedTreatment::kMap;
    case TraceTreatment::kNone:
      return LearnedTreatment::kNone;
  }
  throw Error(ErrorCode::kInternal, "a test treatment without a rule");
}

bool descends(const TraceSettings& settings) {
  return settings.solver == TraceSolver::kMirrorDescent ||
         settings.update == papers::MirrorUpdate::kPrinted;
}

double tolerance_of(const TraceSettings& settings) {
  const double exact = settings.loss == trace::KernelLoss::kAbsolute ? 1e-3 : 1e-6;
  return settings.tolerance.value_or(descends(settings) ? 0.05 : exact);
}

/// The samples of one pair, or a part of them.
struct KernelBlock {
  std::vector<Matrix> S;     // symmetric
  std::vector<Matrix> mean;  // of S, where new rows are averaged: one, else none
  Vector y;
  Vector weights;                            // per sample
  std::vector<SymmetricEigen> eigen;         // of what is seen, once something needs it
  double unit = 1;                           // what solvers see is divided by it
  std::vector<Matrix> scaled;                // S, where the unit is not 1
  std::vector<SymmetricEigen> scaled_eigen;  // of what is seen, once a solver needs it

  /// What the rows of new samples are rows of.
  [[nodiscard]] const std::vector<Matrix>& seen() const { return mean.empty() ? S : mean; }
  void set_unit(double wanted) {
    if (wanted == unit) return;
    unit = wanted;
    scaled.clear();
    scaled_eigen.clear();
  }
  [[nodiscard]] const std::vector<Matrix>& in_unit() {
    if (unit == 1) return S;
    for (std::size_t i = scaled.size(); i < S.size(); ++i) scaled.emplace_back(S[i] / unit);
    return scaled;
  }
  [[nodiscard]] const std::vector<SymmetricEigen>& eigen_in_unit() {
    for (std::size_t i = scaled_eigen.size(); i < seen().size(); ++i) {
      scaled_eigen.push_back(symmetric_eigen(seen()[i] / unit));
    }
    return scaled_eigen;
  }
  void decompose() {
    if (!eigen.empty()) return;
    eigen = eigen_in_unit();
    for (SymmetricEigen& one : eigen) one.lambda *= unit;
  }
};

Matrix mean_of(const std::vector<Matrix>& all) {
  Matrix sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum += all[i];
  return sum / static_cast<double>(all.size());
}

KernelBlock pair_block(SharedWork& work, const ClassPair& pair, trace::KernelShape shape) {
  const TrainingSet& train = work.train();
  KernelBlock block;
  for (Index i = 0; i < std::ssize(train.matrices); ++i) {
    block.S.emplace_back(work.symmetric(i)(pair.samples, pair.samples));
  }
  if (shape == trace::KernelShape::kShared && block.S.size() > 1) block.mean = {mean_of(block.S)};
  block.y =
      Eigen::Map<const Eigen::VectorXi>(pair.signs.data(), std::ssize(pair.signs)).cast<double>();
  block.weights =
      train.weights.size() > 0 ? Vector(train.weights(pair.samples)) : Vector::Ones(block.y.size());
  return block;
}

KernelBlock sub_block(const KernelBlock& block, const std::vector<Index>& at) {
  KernelBlock part;
  for (const Matrix& S : block.S) part.S.emplace_back(S(at, at));
  for (const Matrix& S : block.mean) part.mean.emplace_back(S(at, at));
  part.y = block.y(at);
  part.weights = block.weights(at);
  return part;
}

/// That of the mean of the matrices; where it is not positive, of what is positive of the mean; for
/// matrices without that, of the identity.
double own_trace(const KernelBlock& block) {
  constexpr double kRounding = 1e-12;  // of a sum that cancels
  double trace = 0;
  double size = 0;
  for (const Matrix& S : block.S) {
    trace += S.trace();
    size += S.diagonal().cwiseAbs().sum();
  }
  if (trace > kRounding * size) return trace / static_cast<double>(block.S.size());
  const Vector lambda = symmetric_eigenvalues(mean_of(block.S));
  const double positive = lambda.cwiseMax(0.0).sum();
  if (positive > kRounding * lambda.cwiseAbs().sum()) return positive;
  return static_cast<double>(block.y.size());
}

/// The size of kernels, a power of two: a solver sees kernels whose diagonal is 1 to 2 on average,
/// and the same numbers, to the last bit, for similarities that are a power of two times as large.
double unit_of(double trace, Index samples) {
  return own_unit(trace / static_cast<double>(samples));
}

/// What kernels of size 1 make of the settings: with S and the trace divided by the unit the same
/// problem has an objective that is unit times as large.
trace::Problem problem_of(KernelBlock& block, trace::KernelShape shape,
                          const TraceSettings& settings, double trace, double unit) {
  const double blame = settings.trace ? 1.0 : unit;
  const bool squared = settings.loss == trace::KernelLoss::kSquared;
  check_range("cost times the trace per sample", settings.cost * unit, blame);
  const double rho = settings.rho * unit * unit * (squared ? unit : 1.0);
  check_range(squared ? "rho times the cube of the trace per sample"
                      : "rho times the square of the trace per sample",
              rho, blame);
  block.set_unit(unit);
  trace::Problem problem{.S = block.in_unit(),
                         .y = block.y,
                         .cost = (settings.cost * unit) * block.weights,
                         .rho = rho};
  double largest = 1;
  for (const Matrix& S : problem.S) largest = std::max(largest, S.cwiseAbs().maxCoeff());
  check_range("rho times the distance of the similarities from kernels of the trace",
              std::max(1.0, rho) * largest * (squared ? largest : 1.0), blame);
  problem.trace = trace / unit;
  problem.loss = settings.loss;
  problem.shape = shape;
  const bool reduces = squared && !descends(settings);
  if (reduces || shape == trace::KernelShape::kSpectral) problem.eigen = block.eigen_in_unit();
  return problem;
}

/// The answer for S itself. The proof stays where it is.
trace::Solution in_data_unit(trace::Solution solution, double unit) {
  if (unit == 1) return solution;
  solution.alpha /= unit;
  for (SymmetricEigen& kernel : solution.kernels) kernel.lambda *= unit;
  solution.machine /= unit;
  solution.lower /= unit;
  solution.offset /= unit;
  solution.info.objective /= unit;
  return solution;
}

trace::Solution solve_at(const trace::Problem& problem, const TraceSettings& settings,
                         const RunContext& ctx) {
  const double tolerance = tolerance_of(settings);
  if (!descends(settings)) return trace::learn_kernel(problem, {.tolerance = tolerance}, ctx);
  papers::MirrorDescentSettings mirror{.update = settings.update, .tolerance = tolerance};
  if (settings.update == papers::MirrorUpdate::kPrinted) mirror.max_iterations = kPrintedIterations;
  if (settings.iterations) mirror.max_iterations = *settings.iterations;
  return papers::mirror_descent(problem, mirror, ctx);
}

/// Costs far above anything alpha reaches take digits from a solver: an answer at no bound is that
/// of every larger cost. `problem` keeps the costs that its answer is for.
trace::Solution solve(trace::Problem& problem, const TraceSettings& settings,
                      const RunContext& ctx) {
  constexpr double kReach = 1e6;  // of alpha, in units of the inverse of a kernel
  constexpr double kClear = 0.9;  // of the bound
  const double reach = kReach * static_cast<double>(problem.y.size()) / problem.trace;
  if (!(problem.cost.minCoeff() > reach)) return solve_at(problem, settings, ctx);
  Vector far = std::move(problem.cost);
  problem.cost = Vector::Constant(far.size(), reach);
  trace::Solution found = solve_at(problem, settings, ctx);
  if (found.alpha.maxCoeff() <= kClear * reach && met_tolerance(found.info.status)) return found;
  problem.cost = std::move(far);
  return solve_at(problem, settings, ctx);
}

/// Without the zeros, which no treatment can divide by, and what rounding or an exponential left in
/// their place.
SymmetricEigen positive_part(const SymmetricEigen& kernel) {
  constexpr double kZero = 1e-12;
  const double cut = kZero * kernel.lambda.maxCoeff();
  std::vector<Index> kept;
  for (Index i = 0; i < kernel.lambda.size(); ++i) {
    if (kernel.lambda(i) > cut) kept.push_back(i);
  }
  return {kernel.lambda(kept), kernel.U(Eigen::all, kept)};
}

/// 1 / gamma_i; bounded, for it has no limit where a kernel takes no part.
Vector weights_of(const trace::Solution& solution) {
  constexpr double kLargestWeight = 1e6;
  return solution.gamma.cwiseInverse().cwiseMin(kLargestWeight);
}

const SymmetricEigen& decomposition(const KernelBlock& block, std::size_t i) {
  static const SymmetricEigen none;  // treatments other than map ask for nothing
  return block.eigen.empty() ? none : block.eigen[i];
}

/// One machine per kernel; the decision value is their sum.
std::vector<LearnedMachine> machines_of(KernelBlock& block, const trace::Solution& solution,
                                        TraceTreatment treatment) {
  if (treatment == TraceTreatment::kMap) block.decompose();
  const Vector u = block.y.cwiseProduct(solution.alpha);
  const Vector weights = weights_of(solution);
  std::vector<LearnedMachine> machines;
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    machines.push_back(learned_machine(learned(treatment), positive_part(solution.kernels[i]),
                                       decomposition(block, i), weights(static_cast<Index>(i)) * u,
                                       i == 0 ? solution.b : 0));
  }
  return machines;
}

double worst_consistency(const KernelBlock& block, const trace::Solution& solution,
                         TraceTreatment treatment) {
  double worst = 0;
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    worst = std::max(worst, consistency(learned(treatment), positive_part(solution.kernels[i]),
                                        decomposition(block, i), block.seen()[i]));
  }
  return worst;
}

Json numbers(const Vector& values) { return std::vector<double>(values.begin(), values.end()); }

/// All eigenvalues of a kernel of n samples, those that are 0 included.
Vector with_zeros(const Vector& lambda, Index n) {
  Vector all = Vector::Zero(n);
  all.tail(lambda.size()) = lambda;
  return all;
}

/// What `train --json` shows of one pair's kernels.
Json kernels_json(KernelBlock& block, trace::KernelShape shape, const trace::Solution& solution,
                  const TrainingSet& train) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    Json one = Json::object();
    if (shape != trace::KernelShape::kShared) one["matrix"] = train.matrices[i].name;
    if (shape == trace::KernelShape::kSpectral) {
      block.decompose();
      one["similarity_eigenvalues"] = numbers(block.eigen[i].lambda);
    }
    one["eigenvalues"] = numbers(with_zeros(solution.kernels[i].lambda, block.y.size()));
    kernels.push_back(std::move(one));
  }
  return kernels;
}

/// The matrices with repeated eigenvalues for which different ones were learned.
std::vector<std::string> repeated_in(const KernelBlock& block, trace::KernelShape shape,
                                     const trace::Solution& solution, const TrainingSet& train) {
  std::vector<std::string> names;
  if (shape != trace::KernelShape::kSpectral) return names;
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    const Vector learned = with_zeros(solution.kernels[i].lambda, block.y.size());
    if (!detail::differ_where_repeated(block.eigen[i].lambda, learned)) continue;
    names.push_back(fmt::format("matrix {}", in_quotes(train.matrices[i].name)));
  }
  return names;
}

/// The machines of one pair at one step.
struct PairResult {
  std::vector<LearnedMachine> machines;
  SolveInfo info;
  double offset = std::numeric_limits<double>::quiet_NaN();
  Vector weights;
  double trace = 0;
  double consistency = 0;
  Json kernels;
  std::vector<std::string> repeated;  // matrices whose repeated eigenvalues matter
  Sigmoid sigmoid;
};

/// Settings whose problems differ in nothing but the cost have the same.
auto problem_key(const TraceSettings& s) {
  return std::tuple(s.loss, s.solver, s.update, s.iterations, s.trace, s.tolerance, s.rho);
}

class PairPath {
 public:
  PairPath(SharedWork& work, const ClassPair& pair, trace::KernelShape shape, Rng stream)
      : train_(work.train()),
        pair_(pair),
        shape_(shape),
        stream_(stream),
        block_(pair_block(work, pair, shape)),
        own_trace_(own_trace(block_)) {}

  [[nodiscard]] PairResult solve_step(const TraceSettings& settings, const RunContext& ctx) {
    const double trace = settings.trace.value_or(own_trace_);
    const double unit = unit_of(trace, block_.y.size());
    trace::Problem problem = problem_of(block_, shape_, settings, trace, unit);
    if (!serves(problem, settings)) {
      found_ = solve(problem, settings, ctx);
      found_cost_ = problem.cost;
    }
    found_for_ = settings;
    const trace::Solution shown = in_data_unit(found_, unit);
    PairResult result;
    result.machines = machines_of(block_, shown, settings.test_treatment);
    result.info = shown.info;
    if (!descends(settings) && settings.loss == trace::KernelLoss::kSquared)
      result.offset = shown.offset;
    if (shape_ != trace::KernelShape::kShared) result.weights = weights_of(shown);
    result.trace = trace;
    result.consistency = worst_consistency(block_, shown, settings.test_treatment);
    result.kernels = kernels_json(block_, shape_, shown, train_);
    result.repeated = repeated_in(block_, shape_, shown, train_);
    if (settings.probability) result.sigmoid = sigmoid(settings, trace, result.machines, ctx);
    return result;
  }

 private:
  /// Whether the last solution, of a smaller cost at which no coefficient stood, is proved for this
  /// problem too. Nothing else is taken over: over the grid, interior points that begin near the
  /// last solution take as many iterations as others, give or take a fifth.
  [[nodiscard]] bool serves(const trace::Problem& problem, const TraceSettings& settings) {
    constexpr double kInside = 1 - 1e-6;
    const bool candidate =
        found_for_ && !descends(settings) && problem_key(*found_for_) == problem_key(settings) &&
        found_.info.status == SolveStatus::kSolved && found_for_->cost <= settings.cost;
    if (!candidate) return false;
    if (!(found_.alpha.array() < kInside * found_cost_.array()).all()) return false;
    trace::update_evidence(problem, found_);
    if (!(found_.info.gap <= tolerance_of(settings))) return false;
    found_.info.iterations = 0;
    found_.info.seconds = 0;
    return true;
  }

  [[nodiscard]] Sigmoid sigmoid(const TraceSettings& settings, double trace,
                                const std::vector<LearnedMachine>& whole, const RunContext& ctx) {
    TraceSettings own = settings;
    own.solver = TraceSolver::kExact;
    own.update = papers::MirrorUpdate::kCorrect;
    // The splitting method of l1 takes ten times the steps for one more digit.
    own.tolerance = settings.loss == trace::KernelLoss::kAbsolute ? 10 * kCalibrationTolerance
                                                                  : kCalibrationTolerance;
    const auto held_out = [&](const FoldSplit& split) -> Vector {
      KernelBlock& fold = folds_[split.inside];
      if (fold.S.empty()) fold = sub_block(block_, split.outside);
      // As large per sample as the whole kernel.
      const double share =
          static_cast<double>(fold.y.size()) / static_cast<double>(block_.y.size());
      const double unit = unit_of(share * trace, fold.y.size());
      trace::Problem problem = problem_of(fold, shape_, own, share * trace, unit);
      const trace::Solution found = in_data_unit(solve(problem, own, ctx), unit);
      const std::vector<LearnedMachine> machines = machines_of(fold, found, own.test_treatment);
      Vector values = Vector::Zero(std::ssize(split.inside));
      for (std::size_t i = 0; i < machines.size(); ++i) {
        const Matrix& S = block_.seen()[i];
        const Vector self = S.diagonal()(split.inside);
        values += decisions(machines[i], S(split.inside, split.outside), self);
      }
      return values;
    };
    const auto training_values = [&]() -> Vector {
      Vector values = Vector::Zero(block_.y.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const Matrix& S = block_.seen()[i];
        values += decisions(whole[i], S, S.diagonal());
      }
      return values;
    };
    return cross_fitted_sigmoid(pair_.signs, stream_, held_out, training_values);
  }

  const TrainingSet& train_;
  const ClassPair& pair_;
  trace::KernelShape shape_;
  Rng stream_;
  KernelBlock block_;
  double own_trace_;
  std::optional<TraceSettings> found_for_;
  trace::Solution found_;                            // in the unit of its trace
  Vector found_cost_;                                // in the same, what it is proved for
  std::map<std::vector<Index>, KernelBlock> folds_;  // by what is held out
};

/// Costs ascend among settings that share the rest.
std::vector<std::size_t> solving_order(std::span<const TraceSettings> steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::tuple_cat(problem_key(steps[i]), std::tuple(steps[i].cost));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::vector<double> constant_selves(SharedWork& work, trace::KernelShape shape) {
  const Index matrices = std::ssize(work.train().matrices);
  std::vector<double> selves;
  Vector sum = Vector::Zero(work.train().size());
  for (Index i = 0; i < matrices; ++i) {
    const Vector own = work.symmetric(i).diagonal();
    selves.push_back(constant_of(own));
    sum += own;
  }
  if (shape == trace::KernelShape::kShared)
    return {constant_of(sum / static_cast<double>(matrices))};
  return selves;
}

Subproblem evidence(const PairResult& result, const std::string& name, const TrainingSet& train) {
  Subproblem one{name, result.info};
  one.objective_offset = result.offset;
  for (Index i = 0; i < result.weights.size(); ++i) {
    one.kernel_weights.push_back(
        {train.matrices[static_cast<std::size_t>(i)].name, result.weights(i)});
  }
  return one;
}

/// The results of all pairs at one step, side by side.
Fitted<TracePairsModel> assemble(const TrainingSet& train, std::span<const ClassPair> pairs,
                                 std::vector<std::vector<PairResult>>& results, std::size_t step,
                                 bool probability, const std::vector<double>& self) {
  Fitted<TracePairsModel> fitted;
  TracePairsModel& model = fitted.model;
  model.samples = train.size();
  model.matrices = std::ssize(train.matrices);
  model.pairs = pair_table(pairs, train.labels);
  model.self = self;
  if (probability) model.sigmoids.resize(2, std::ssize(pairs));
  fitted.info.learned = Json::array();
  fitted.info.consistency = 0;
  std::vector<std::string> repeated;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    PairResult& result = results[p][step];
    const std::string name = pair_name(pairs[p], train.labels);
    model.members.push_back(pairs[p].samples);
    model.machines.push_back(std::move(result.machines));
    if (probability) {
      model.sigmoids.col(static_cast<Index>(p)) << result.sigmoid.slope, result.sigmoid.offset;
    }
    fitted.info.subproblems.push_back(evidence(result, name, train));
    fitted.info.consistency = std::max(fitted.info.consistency, result.consistency);
    Json learned = {{"name", name}, {"trace", result.trace}};
    learned["kernels"] = std::move(result.kernels);
    fitted.info.learned.push_back(std::move(learned));
    for (const std::string& matrix : result.repeated) {
      repeated.push_back(pairs.size() > 1 ? fmt::format("{} of {}", matrix, name) : matrix);
    }
  }
  if (!repeated.empty()) fitted.info.notes.push_back(detail::repeated_note(repeated));
  return fitted;
}

}  // namespace

void describe(TraceSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field.as(FieldRole::kKernelCost)("rho", settings.rho, above(0.0),
                                   "penalty on the distance between a kernel and the matrices");
  field("loss", settings.loss,
        "the distance: sum of absolute differences (l1), root of the sum of their squares (l2), or "
        "sum of their squares (l3)");
  field("trace", settings.trace, above(0.0), "auto",
        "trace of a kernel learned for a pair of classes; auto: that of the mean of its matrices, "
        "of the positive part of the mean where that is not positive");
  field("solver", settings.solver, "exact, or [KTBB]'s mirror descent, whose gap closes slowly");
  field("update", settings.update,
        "of mirror descent: correct, or as printed in [KTBB], which stalls; printed takes solver "
        "mirror-descent");
  field("iterations", settings.iterations, at_least(1), "auto",
        "most iterations of mirror descent; auto: 20000, and 100 of the printed update");
  field("test-treatment", settings.test_treatment,
        "what is done to the similarities of new samples: the nearest completion of the kernel, "
        "the projection on its range, the map from matrix to kernel, or nothing");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0), "auto",
        "relative duality gap accepted; auto: 1e-6, 1e-3 for loss l1, 0.05 for mirror descent");
}

std::vector<GridAxis> trace_grid() {
  return {{.field = "cost", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller},
          {.field = "rho", .values = powers_of_ten(-3, 3), .simpler = Simpler::kLarger}};
}

std::vector<Fitted<TracePairsModel>> fit_trace_pairs(SharedWork& work, trace::KernelShape shape,
                                                     std::span<const TraceSettings> steps,
                                                     const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  const std::vector<std::size_t> order = solving_order(steps);
  std::vector<std::vector<PairResult>> results(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    ctx.check_stop();
    PairPath path(work, pairs[p], shape, ctx.rng.stream("trace kernel calibration", p));
    for (const std::size_t i : order) results[p].push_back(path.solve_step(steps[i], ctx));
  });
  const std::vector<double> self = constant_selves(work, shape);
  std::vector<Fitted<TracePairsModel>> fitted(steps.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    fitted[order[k]] = assemble(train, pairs, results, k, steps[order[k]].probability, self);
  }
  return fitted;
}

Matrix decision_values(const TracePairsModel& model, const QueryBlock& queries,
                       const RunContext& ctx) {
  check_query_matrices(queries, model.matrices);
  QueryBlock averaged;
  const bool mean = model.self.size() == 1 && model.matrices > 1;
  if (mean) averaged.matrices.push_back(average(queries));
  const std::vector<QueryMatrix>& seen = mean ? averaged.matrices : queries.matrices;
  Matrix values = Matrix::Zero(queries.size(), std::ssize(model.machines));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const DenseBlock rows = learned_rows(seen[i], model.samples);
    for (std::size_t p = 0; p < model.machines.size(); ++p) {
      ctx.check_stop();
      const LearnedMachine& machine = model.machines[p][i];
      const Vector self = self_similarities(seen[i], machine.treatment, model.self[i], rows.rows());
      const Matrix own = rows.values()(Eigen::all, model.members[p]);
      values.col(static_cast<Index>(p)) += decisions(machine, own, self);
    }
  }
  return values;
}

Prediction predict(const TracePairsModel& model, const QueryBlock& queries, const RunContext& ctx) {
  return vote(model.pairs, decision_values(model, queries, ctx), sigmoids_of(model.sigmoids));
}

template <class A>
void archive(Archived<A, TracePairsModel>& model, A& archiver) {
  Index machines = std::ssize(model.self);
  archiver("samples", model.samples);
  archiver("matrices", model.matrices);
  archiver("machines", machines);
  archive(model.pairs, archiver);
  archiver("sigmoids", model.sigmoids);
  if constexpr (A::kLoading) {
    const bool known = machines == 1 || machines == model.matrices;
    if (model.matrices < 1 || !known) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the model is damaged: {} machines per pair for {} matrices",
                              machines, model.matrices));
    }
    model.members.resize(model.pairs.first.size());
    model.machines.resize(model.pairs.first.size());
    model.self.clear();
  }
  for (Index i = 0; i < machines; ++i) {
    // One by one: a wrong count then ends at the first that the file does not have.
    if constexpr (A::kLoading) model.self.push_back(0);
    archiver(fmt::format("self_{}", i), model.self[static_cast<std::size_t>(i)]);
  }
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    archiver(fmt::format("members_{}", p), model.members[p]);
    if constexpr (A::kLoading) model.machines[p].resize(model.self.size());
    for (std::size_t i = 0; i < model.machines[p].size(); ++i) {
      Archived<A, LearnedMachine>& machine = model.machines[p][i];
      archive(machine, fmt::format("{}_{}", p, i), archiver);
      if constexpr (A::kLoading) check_loaded(machine, model.members[p], model.samples, p);
    }
  }
}
template void archive(const TracePairsModel&, SavingArchive&);
template void archive(TracePairsModel&, LoadingArchive&);

bool needs_self(const TracePairsModel& model) {
  for (const std::vector<LearnedMachine>& machines : model.machines) {
    for (std::size_t i = 0; i < machines.size(); ++i) {
      if (needs_self(machines[i].treatment) && std::isnan(model.self[i])) return true;
    }
  }
  return false;
}

}  // namespace kith

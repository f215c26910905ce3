// SPDX-License-Identifier: Apache-2.0
// `mkl`: each matrix becomes a kernel K_i (condition/spectrum), and for each pair of classes with n
// samples the machine and its kernel are learned together,
//
//   simple  min over beta >= 0, sum_i beta_i trace(K_i) = tau  of  max_a 1'a - 1/2 a' Y K Y a,
//           K = sum_i beta_i K_i                                  [KTBB] (5); tau = 1: [CY] (25)
//   mixed   max_a 1'a - 1/2 (sum_i sqrt(a' Y K_i Y a))^2          [KTBB] (10)
//
// over 0 <= a <= C, y'a = 0. With theta_i = beta_i trace(K_i) / tau in the simplex and kernels
// G_i = (n / trace K_i) K_i the first is, up to the factor n / tau and with costs C tau / n, [CY]
// (27) without prices (optim/mkl/regularised, which the exchange algorithm of `robust-svm` runs
// on); the second is optim/mkl/mixed. There `trace` scales every kernel to that trace first, as the
// constraints of [KTBB] (6) do; without it the kernels stay as they are.
//
// New samples: K_i's rule turns row s_i into k_i; f = sum_i beta_i k_i'Y a + b, or with the
// coefficients c_i of optim/mkl/mixed in place of beta_i Y a. Rules are linear and folded in.
//
// Cost: one decomposition per matrix for all pairs and costs; then for each of them 10 to 40 steps
// of n^3 / 3 flops. An interior point does not profit from a near start: costs are solved afresh,
// but a solution whose largest coefficient is below its cost serves all larger ones.
#include "kith/learn/kernel_learning/mkl.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/mkl/mixed.hpp"
#include "kith/optim/mkl/regularised.hpp"

namespace kith {
namespace {

/// The samples of one pair, or a part of them: kernels G_i = scale_i K_i of size 1, of those
/// matrices that are not zero.
struct Problem {
  std::vector<Matrix> kernels;
  Vector y;
  Vector weights;  // per sample

  [[nodiscard]] Index samples() const { return y.size(); }
};

/// What leads from the kernels of a problem back to those of the matrices.
struct Units {
  std::vector<Index> matrix;  // of each kernel
  Vector scale;               // of each kernel
  /// The machine on K = kappa sum theta_i G_i with cost C has alpha = alpha_G / kappa, where
  /// alpha_G is that on sum theta_i G_i with cost kappa C, and so has the objective.
  double kappa = 1;
};

struct Answer {
  Vector alpha;
  double b = 0;
  Matrix c;        // f = sum_i G_i c_i + b
  Vector weights;  // of the G_i: theta, or 1 / gamma
  SolveInfo info;
};

Units units_of(std::span<const Conditioned> kernels, const BinaryTask& task,
               const MklSettings& settings, TraceOf whose) {
  const auto n = static_cast<double>(task.samples.size());
  Vector traces(std::ssize(kernels));
  for (Index i = 0; i < traces.size(); ++i) {
    traces[i] = kernels[static_cast<std::size_t>(i)].kernel.diagonal()(task.samples).sum();
  }
  const bool as_they_are = settings.kind == MklKind::kMixed && !settings.trace;
  Units units;
  for (Index i = 0; i < traces.size(); ++i) {
    if (traces[i] > 0) units.matrix.push_back(i);
  }
  if (units.matrix.empty()) {  // every kernel is 0, and so is the machine's
    units.matrix = {0};
    units.scale = Vector::Ones(1);
    return units;
  }
  const double whole = whose == TraceOf::kSample ? n : 1;
  units.kappa = (settings.trace ? *settings.trace * whole : traces.mean()) / n;
  units.scale.resize(std::ssize(units.matrix));
  for (Index k = 0; k < units.scale.size(); ++k) {
    const double trace = traces[units.matrix[static_cast<std::size_t>(k)]];
    units.scale[k] = as_they_are ? 1 / units.kappa : n / trace;
  }
  return units;
}

Problem problem_of(std::span<const Conditioned> kernels, const TrainingSet& train,
                   const BinaryTask& task, const Units& units) {
  Problem problem;
  for (std::size_t k = 0; k < units.matrix.size(); ++k) {
    const SymmetricMatrix& K = kernels[static_cast<std::size_t>(units.matrix[k])].kernel;
    problem.kernels.push_back(
        std::ssize(task.samples) == K.rows() ? Matrix(K) : Matrix(K(task.samples, task.samples)));
    problem.kernels.back() *= units.scale[static_cast<Index>(k)];
  }
  problem.y = task.y();
  problem.weights = weights_of(train, task);
  return problem;
}

Vector decisions(const Problem& problem, const Answer& machine) {
  Vector f = Vector::Constant(problem.samples(), machine.b);
  for (Index i = 0; i < machine.c.cols(); ++i) {
    f += problem.kernels[static_cast<std::size_t>(i)] * machine.c.col(i);
  }
  return f;
}

mkl::RegularisedProblem simple_problem(const Problem& problem, const Vector& cost) {
  return {.kernels = problem.kernels,
          .penalty = Vector::Zero(std::ssize(problem.kernels)),
          .y = problem.y,
          .cost = cost};
}

mkl::MixedProblem mixed_problem(const Problem& problem, const Vector& cost) {
  return {.kernels = problem.kernels, .y = problem.y, .cost = cost};
}

/// Gap, residual and status anew, from the kernels and the machine alone.
void certify(const Problem& problem, MklKind kind, const Vector& cost, double tolerance,
             Answer& machine) {
  double lower = 0;
  double upper = 0;
  double feasibility = 0;
  if (kind == MklKind::kSimple) {
    const mkl::RegularisedBounds found = mkl::regularised_bounds(
        simple_problem(problem, cost), machine.alpha, machine.b, machine.weights);
    std::tie(lower, upper, feasibility) = std::tie(found.lower, found.upper, found.feasibility);
  } else {
    const mkl::MixedBounds found =
        mkl::mixed_bounds(mixed_problem(problem, cost), machine.alpha, machine.b, machine.c);
    std::tie(lower, upper, feasibility) = std::tie(found.lower, found.upper, found.feasibility);
  }
  SolveInfo& info = machine.info;
  info.objective = lower;
  info.gap = dual::relative_gap(lower, upper);
  double reach = 0;
  for (const Matrix& G : problem.kernels) {
    reach = std::max(reach, (cost.array() * G.diagonal().array()).maxCoeff());
  }
  const Vector margins = problem.y.cwiseProduct(decisions(problem, machine));
  info.kkt_residual =
      dual::kkt_violation(machine.alpha, cost, Vector(margins.array() - 1), dual::kkt_unit(reach));
  info.status = measured_status(info.status, info.gap <= tolerance && feasibility <= tolerance);
}

Answer solve(const Problem& problem, MklKind kind, double cost, double tolerance,
             const RunContext& ctx) {
  constexpr double kLargestWeight = 1e6;  // 1 / gamma has no limit where a kernel is slack
  // A small gap leaves margins their square root: a few more steps make them as good.
  const double aim = tolerance < kCalibrationTolerance ? 0.01 * tolerance : tolerance;
  const Vector costs = cost * problem.weights;
  Answer machine;
  if (kind == MklKind::kSimple) {
    mkl::RegularisedSolution found =
        mkl::solve_regularised(simple_problem(problem, costs), {.tolerance = aim}, ctx);
    machine.c = problem.y.cwiseProduct(found.alpha) * found.theta.transpose();
    machine.alpha = std::move(found.alpha);
    machine.b = found.b;
    machine.weights = std::move(found.theta);
    machine.info = found.info;
  } else {
    mkl::MixedSolution found =
        mkl::solve_mixed(mixed_problem(problem, costs), {.tolerance = aim}, ctx);
    machine.c = std::move(found.c);
    machine.alpha = std::move(found.alpha);
    machine.b = found.b;
    machine.weights = found.gamma.cwiseInverse().cwiseMin(kLargestWeight);
    machine.info = found.info;
  }
  certify(problem, kind, costs, tolerance, machine);
  return machine;
}

/// The machine for a smaller cost, where none of its coefficients is at its bound and it is proved
/// for the larger one as well.
std::optional<Answer> for_larger_cost(const Problem& problem, const MklSettings& settings,
                                      const Answer& smaller, double smaller_cost, double cost) {
  constexpr double kInside = 1 - 1e-6;
  const bool inside =
      (smaller.alpha.array() < kInside * smaller_cost * problem.weights.array()).all();
  if (!inside || smaller.info.status != SolveStatus::kSolved) return std::nullopt;
  Answer machine = smaller;
  machine.info.iterations = 0;
  certify(problem, settings.kind, cost * problem.weights, settings.tolerance, machine);
  if (machine.info.status != SolveStatus::kSolved) return std::nullopt;
  return machine;
}

/// For fit_tasks; costs ascend.
struct MklLearner {
  using Machine = SumMachine;  // over the kernels G_i until it is finished
  struct Block {
    Units units;
    Problem problem;
    std::optional<Answer> last{};
    double solved_for = 0;  // the cost of the last one
  };

  std::span<const Conditioned> kernels;
  const TrainingSet* train = nullptr;
  Path<MklSettings> ascending;
  TraceOf whose = TraceOf::kPair;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("mkl calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    Block own{.units = units_of(kernels, task, ascending.front(), whose), .problem = {}};
    own.problem = problem_of(kernels, *train, task, own.units);
    return own;
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    Block part{.units = whole.units, .problem = {}};
    for (const Matrix& G : whole.problem.kernels) {
      part.problem.kernels.emplace_back(G(samples, samples));
    }
    part.problem.y = whole.problem.y(samples);
    part.problem.weights = whole.problem.weights(samples);
    return part;
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    const MklSettings& settings = ascending[request.step];
    const double cost = block.units.kappa * settings.cost;
    check_range("cost times the trace of a kernel per sample", cost,
                settings.trace ? 1.0 : block.units.kappa);
    std::optional<Answer> answer;
    if (block.last && !request.calibrates()) {
      answer = for_larger_cost(block.problem, settings, *block.last, block.solved_for, cost);
    }
    if (!answer) {
      answer = kith::solve(block.problem, settings.kind, cost,
                           request.tolerance(settings.tolerance), *ctx);
      block.solved_for = cost;
    }
    Machine machine;
    machine.evidence.info = answer->info;
    machine.evidence.info.objective /= block.units.kappa;  // as the problem is printed
    machine.c = answer->c;
    machine.b = answer->b;
    machine.weights = answer->weights;
    block.last = std::move(answer);
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    return sum_decisions(whole.problem.kernels, machine.c, machine.b, rows, trained_on);
  }
  /// Brings the machine to the kernels of the matrices.
  void finish(const Block& whole, Machine& machine) const {
    const Units& units = whole.units;
    machine.matrix = units.matrix;
    machine.c = Matrix(machine.c * units.scale.asDiagonal());
    const Vector own = std::exchange(machine.weights, Vector::Zero(std::ssize(kernels)));
    machine.weights(units.matrix) = (units.kappa * units.scale).cwiseProduct(own);
  }
};

/// Every matrix as a kernel, and how far its training rows treated as new are from it.
struct Kernels {
  std::vector<Conditioned> all;
  std::vector<TestTransform> transforms;
  double consistency = 0;
};
Kernels kernels_of(SharedWork& work, Spectrum spectrum, const RunContext& ctx) {
  Kernels kernels;
  for (Index i = 0; i < std::ssize(work.train().matrices); ++i) {
    ctx.check_stop();
    kernels.all.push_back(spectrum_kernel(work, spectrum, ctx, std::nullopt, i));
    kernels.consistency = std::max(kernels.consistency,
                                   consistency(kernels.all.back(), rows_as_new(work, spectrum, i)));
    kernels.transforms.push_back(kernels.all.back().transform);
  }
  return kernels;
}

/// Settings of the same spectrum that differ in cost and probability alone have the same.
auto mkl_problem_key(const MklSettings& s) { return std::tuple(s.kind, s.trace, s.tolerance); }

}  // namespace

void describe(MklSettings& settings, FieldVisitor& field) {
  field("kind", settings.kind,
        "simple: few kernels in a weighted sum of given trace; mixed: every kernel, by a norm that "
        "bounds each one's part of the machine alike");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field("trace", settings.trace, above(0.0), "auto",
        "trace of the kernel learned for a pair of classes; auto: the mean of those given. Of kind "
        "mixed: every kernel is scaled to it first; auto: they stay as they are");
  field(
      "spectrum", settings.spectrum,  // all that give a kernel, which none might not
      {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift, Spectrum::kSquare, Spectrum::kDiffusion},
      "what is done to the eigenvalues of each matrix before training");
  describe_tasks(settings, field, "relative duality gap accepted");
}

FittedPath<MklModel> fit_path(SharedWork& work, Path<MklSettings> path, RunContext& ctx) {
  return as_models<MklModel>(fit_sums(work, path, TraceOf::kPair, ctx));
}

FittedPath<KernelSumModel> fit_sums(SharedWork& work, Path<MklSettings> path, TraceOf whose,
                                    const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const auto fit_kernels = [&](Tasks tasks, Path<MklSettings> same_kernels) {
    const Spectrum spectrum = same_kernels.front().spectrum;
    const Kernels kernels = kernels_of(work, spectrum, ctx);
    const auto fit_costs = [&](Path<MklSettings> ascending) {
      const MklLearner learner{.kernels = kernels.all,
                               .train = &train,
                               .ascending = ascending,
                               .whose = whose,
                               .ctx = &ctx};
      return fit_tasks(tasks, train.labels, ascending, learner, ctx, [&](auto solved) {
        Fitted<KernelSumModel> sum =
            kernel_sum(std::move(solved), tasks, train, kernels.transforms);
        sum.model.spectrum = spectrum;
        sum.info.consistency = kernels.consistency;
        return sum;
      });
    };
    return fit_in_groups(same_kernels, mkl_problem_key, by_cost, fit_costs);
  };
  const auto kernels = [](const MklSettings& settings) { return settings.spectrum; };
  return fit_with_tasks(train.labels, path, kernels, as_given, fit_kernels);
}

}  // namespace kith

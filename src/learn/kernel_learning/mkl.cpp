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
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/kernel_learning/learned_pairs.hpp"
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

struct Machine {
  Vector alpha;
  double b = 0;
  Matrix c;        // f = sum_i G_i c_i + b
  Vector weights;  // of the G_i: theta, or 1 / gamma
  SolveInfo info;
};

Matrix sub_matrix(const MatrixRef& K, std::span<const Index> rows, std::span<const Index> columns) {
  return K(std::vector<Index>(rows.begin(), rows.end()),
           std::vector<Index>(columns.begin(), columns.end()));
}

Units units_of(std::span<const Conditioned> kernels, const ClassPair& pair,
               const MklSettings& settings, TraceOf whose) {
  const auto n = static_cast<double>(pair.samples.size());
  Vector traces(std::ssize(kernels));
  for (Index i = 0; i < traces.size(); ++i) {
    traces[i] = kernels[static_cast<std::size_t>(i)].kernel.diagonal()(pair.samples).sum();
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
                   const ClassPair& pair, const Units& units) {
  Problem problem;
  for (std::size_t k = 0; k < units.matrix.size(); ++k) {
    const Matrix& K = kernels[static_cast<std::size_t>(units.matrix[k])].kernel;
    problem.kernels.push_back(
        std::ssize(pair.samples) == K.rows() ? K : sub_matrix(K, pair.samples, pair.samples));
    problem.kernels.back() *= units.scale[static_cast<Index>(k)];
  }
  problem.y =
      Eigen::Map<const Eigen::VectorXi>(pair.signs.data(), std::ssize(pair.signs)).cast<double>();
  problem.weights = train.weights.size() > 0 ? Vector(train.weights(pair.samples))
                                             : Vector::Ones(problem.y.size());
  return problem;
}

Vector decisions(const Problem& problem, const Machine& machine) {
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
             Machine& machine) {
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
  const double unit =
      reach > 0 ? std::clamp(reach, 1e-6, 1.0) : 1;  // as optim/dual/certificate has it
  const Vector margins = problem.y.cwiseProduct(decisions(problem, machine));
  info.kkt_residual = dual::kkt_violation(machine.alpha, cost, Vector(margins.array() - 1), unit);
  const bool proved = info.gap <= tolerance && feasibility <= tolerance;
  if (proved) {
    info.status = SolveStatus::kSolved;
  } else if (info.status == SolveStatus::kSolved) {
    info.status = SolveStatus::kReducedAccuracy;
  }
}

Machine solve(const Problem& problem, MklKind kind, double cost, double tolerance,
              const RunContext& ctx) {
  constexpr double kLargestWeight = 1e6;  // 1 / gamma has no limit where a kernel is slack
  // A small gap leaves margins their square root: a few more steps make them as good.
  const double aim = tolerance < kCalibrationTolerance ? 0.01 * tolerance : tolerance;
  const Vector costs = cost * problem.weights;
  Machine machine;
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
std::optional<Machine> for_larger_cost(const Problem& problem, const MklSettings& settings,
                                       const Machine& smaller, double smaller_cost, double cost) {
  constexpr double kInside = 1 - 1e-6;
  const bool inside =
      (smaller.alpha.array() < kInside * smaller_cost * problem.weights.array()).all();
  if (!inside || smaller.info.status != SolveStatus::kSolved) return std::nullopt;
  Machine machine = smaller;
  machine.info.iterations = 0;
  machine.info.seconds = 0;
  certify(problem, settings.kind, cost * problem.weights, settings.tolerance, machine);
  if (machine.info.status != SolveStatus::kSolved) return std::nullopt;
  return machine;
}

Sigmoid sigmoid_of(const Problem& problem, const ClassPair& pair, MklKind kind, double cost,
                   const Machine& whole, const Rng& stream, const RunContext& ctx) {
  const auto held_out = [&](const FoldSplit& split) -> Vector {
    Problem part;
    for (const Matrix& G : problem.kernels) {
      part.kernels.push_back(sub_matrix(G, split.outside, split.outside));
    }
    part.y = problem.y(split.outside);
    part.weights = problem.weights(split.outside);
    const Machine machine = solve(part, kind, cost, kCalibrationTolerance, ctx);
    Vector f = Vector::Constant(std::ssize(split.inside), machine.b);
    for (Index i = 0; i < machine.c.cols(); ++i) {
      f += sub_matrix(problem.kernels[static_cast<std::size_t>(i)], split.inside, split.outside) *
           machine.c.col(i);
    }
    return f;
  };
  const auto own = [&] { return decisions(problem, whole); };
  return cross_fitted_sigmoid(pair.signs, stream, held_out, own);
}

/// The machines of one pair along costs that ascend.
struct PairPath {
  Units units;
  std::vector<Machine> machines;
  std::vector<Sigmoid> sigmoids;
};

PairPath solve_pair(std::span<const Conditioned> kernels, const TrainingSet& train,
                    const ClassPair& pair, std::span<const MklSettings> ascending, TraceOf whose,
                    const Rng& stream, const RunContext& ctx) {
  PairPath path;
  path.units = units_of(kernels, pair, ascending.front(), whose);
  const Problem problem = problem_of(kernels, train, pair, path.units);
  double solved_for = 0;
  for (const MklSettings& settings : ascending) {
    ctx.check_stop();
    const double cost = path.units.kappa * settings.cost;
    check_range("cost times the trace of a kernel per sample", cost,
                settings.trace ? 1.0 : path.units.kappa);
    std::optional<Machine> machine;
    if (!path.machines.empty()) {
      machine = for_larger_cost(problem, settings, path.machines.back(), solved_for, cost);
    }
    if (!machine) {
      machine = solve(problem, settings.kind, cost, settings.tolerance, ctx);
      solved_for = cost;
    }
    path.machines.push_back(std::move(*machine));
    path.sigmoids.push_back(settings.probability ? sigmoid_of(problem, pair, settings.kind, cost,
                                                              path.machines.back(), stream, ctx)
                                                 : Sigmoid{});
  }
  return path;
}

/// The evidence in the units of the problem as printed.
Subproblem evidence(const PairPath& path, std::size_t step, const ClassPair& pair,
                    const TrainingSet& train) {
  const Machine& machine = path.machines[step];
  Subproblem one{pair_name(pair, train.labels), machine.info};
  one.info.objective /= path.units.kappa;
  for (const TrainingMatrix& matrix : train.matrices) one.kernel_weights.push_back({matrix.name});
  for (Index k = 0; k < machine.weights.size(); ++k) {
    one.kernel_weights[static_cast<std::size_t>(path.units.matrix[static_cast<std::size_t>(k)])]
        .weight = path.units.kappa * path.units.scale[k] * machine.weights[k];
  }
  return one;
}

Fitted<MklModel> assemble(SharedWork& work, std::span<const Conditioned> kernels,
                          std::span<const ClassPair> pairs, const std::vector<PairPath>& paths,
                          std::size_t step, const MklSettings& settings) {
  const TrainingSet& train = work.train();
  const auto count = std::ssize(pairs);
  Fitted<MklModel> fitted;
  KernelSumModel& model = fitted.model.sum;
  model.samples = train.size();
  model.pairs = pair_table(pairs, train.labels);
  model.spectrum = spectrum_of(settings.spectrum);
  model.intercepts.resize(count);
  model.weights = Matrix::Zero(std::ssize(kernels), count);
  if (settings.probability) model.sigmoids.resize(2, count);
  std::vector<Matrix> coefficients(kernels.size(), Matrix::Zero(train.size(), count));
  for (Index p = 0; p < count; ++p) {
    const auto s = static_cast<std::size_t>(p);
    const Machine& machine = paths[s].machines[step];
    const Units& units = paths[s].units;
    for (Index k = 0; k < machine.c.cols(); ++k) {
      const auto matrix = static_cast<std::size_t>(units.matrix[static_cast<std::size_t>(k)]);
      coefficients[matrix].col(p)(pairs[s].samples) = units.scale[k] * machine.c.col(k);
    }
    model.intercepts[p] = machine.b;
    const Sigmoid& sigmoid = paths[s].sigmoids[step];
    if (settings.probability) model.sigmoids.col(p) << sigmoid.slope, sigmoid.offset;
    fitted.info.subproblems.push_back(evidence(paths[s], step, pairs[s], train));
    for (Index i = 0; i < model.weights.rows(); ++i) {
      model.weights(i, p) =
          fitted.info.subproblems.back().kernel_weights[static_cast<std::size_t>(i)].weight;
    }
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    coefficients[i] = fold(kernels[i].transform, coefficients[i]);
  }
  keep_columns(model, coefficients);
  return fitted;
}

/// Settings that differ in cost and probability alone, as positions in order of cost; those of one
/// spectrum follow each other.
std::vector<std::vector<std::size_t>> groups_by_problem(std::span<const MklSettings> path) {
  using Key = std::tuple<KernelSpectrum, MklKind, std::optional<double>, double>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    groups[{path[i].spectrum, path[i].kind, path[i].trace, path[i].tolerance}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> ordered;
  for (auto& [key, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return path[a].cost < path[b].cost; });
    ordered.push_back(members);
  }
  return ordered;
}

/// Every matrix as a kernel, and how far its training rows treated as new are from it.
struct Kernels {
  std::vector<Conditioned> all;
  double consistency = 0;
};
Kernels kernels_of(SharedWork& work, Spectrum spectrum, const RunContext& ctx) {
  Kernels kernels;
  for (Index i = 0; i < std::ssize(work.train().matrices); ++i) {
    ctx.check_stop();
    kernels.all.push_back(spectrum_kernel(work, spectrum, ctx, std::nullopt, i));
    kernels.consistency = std::max(kernels.consistency,
                                   consistency(kernels.all.back(), rows_as_new(work, spectrum, i)));
  }
  return kernels;
}

}  // namespace

Spectrum spectrum_of(KernelSpectrum rule) {
  switch (rule) {
    case KernelSpectrum::kClip:
      return Spectrum::kClip;
    case KernelSpectrum::kFlip:
      return Spectrum::kFlip;
    case KernelSpectrum::kShift:
      return Spectrum::kShift;
    case KernelSpectrum::kSquare:
      return Spectrum::kSquare;
    case KernelSpectrum::kDiffusion:
      return Spectrum::kDiffusion;
  }
  throw Error(ErrorCode::kInternal, "a kernel without a spectrum rule");
}

void describe(MklSettings& settings, FieldVisitor& field) {
  field("kind", settings.kind,
        "simple: few kernels in a weighted sum of given trace; mixed: every kernel, by a norm that "
        "bounds each one's part of the machine alike");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("trace", settings.trace, above(0.0), "auto",
        "trace of the kernel learned for a pair of classes; auto: the mean of those given. Of kind "
        "mixed: every kernel is scaled to it first; auto: they stay as they are");
  field("spectrum", settings.spectrum,
        "what is done to the eigenvalues of each matrix before training");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0), "relative duality gap accepted");
}

std::vector<Fitted<MklModel>> fit_path(SharedWork& work, std::span<const MklSettings> path,
                                       RunContext& ctx) {
  return fit_path(work, path, TraceOf::kPair, ctx);
}

std::vector<Fitted<MklModel>> fit_path(SharedWork& work, std::span<const MklSettings> path,
                                       TraceOf whose, RunContext& ctx) {
  for (const MklSettings& settings : path) validate(settings, "mkl");
  const TrainingSet& train = work.train();
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  std::vector<Fitted<MklModel>> fitted(path.size());
  std::optional<KernelSpectrum> current;
  Kernels kernels;
  for (const std::vector<std::size_t>& group : groups_by_problem(path)) {
    std::vector<MklSettings> ascending;
    for (const std::size_t i : group) ascending.push_back(path[i]);
    if (current != ascending.front().spectrum) {
      kernels = {};  // room for the next
      kernels = kernels_of(work, spectrum_of(ascending.front().spectrum), ctx);
      current = ascending.front().spectrum;
    }
    std::vector<PairPath> paths(pairs.size());
    parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
      paths[p] = solve_pair(kernels.all, train, pairs[p], ascending, whose,
                            ctx.rng.stream("mkl calibration", p), ctx);
    });
    for (std::size_t step = 0; step < group.size(); ++step) {
      fitted[group[step]] = assemble(work, kernels.all, pairs, paths, step, ascending[step]);
      fitted[group[step]].info.consistency = kernels.consistency;
    }
  }
  return fitted;
}

Fitted<MklModel> fit(SharedWork& work, const MklSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const MklModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict(model.sum, queries, ctx);
}

std::vector<Index> needed_columns(const MklModel& model) { return model.sum.columns; }

template <class A>
void archive(Archived<A, MklModel>& model, A& archiver) {
  archive(model.sum, archiver);
}
template void archive(const MklModel&, SavingArchive&);
template void archive(MklModel&, LoadingArchive&);

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
// The optimum of the program (neighbour_maps.hpp), and the bound of its dual: in multipliers t of
// the triples (i, j, l), with C_ij = (x_i - x_j)(x_i - x_j)',
//
//   max sum t,   0 <= t <= push,   G(t) = P + sum t (C_ij - C_il) >= 0,   P = (1 - push) sum C_ij.
//
// The hinge of a triple with violation z is rounded over a width h: z^2 / (2h) for 0 < z < h, and
// z - h/2 above. The rounded program has the gradient G(t) with t = push min(1, max(0, z / h)), and
// is solved by accelerated projected gradient steps (Beck, Teboulle 2009) that begin anew where
// they swing past; h falls as the gap does. Whatever t a step has, s t is feasible for the largest
// s <= 1 with (1 - s) P + s G(t) >= 0, and s sum t is a lower bound.
//
// Two things are taken out of that program first.
//
// A triple whose l is where i is has no hinge: 1 + d(i, j) whatever the metric. Its t is push and
// its d(i, j) pulls, so that P above is the sum of such pulls as well.
//
// Where P has no pull, along the columns of N, a metric may be as large as it likes: M + kappa NN'
// satisfies every triple with N'(x_i - x_l) != 0 and costs nothing. Such triples are left out
// (their t is 0), the metric of the others is sought in the range of P, and kappa is chosen at the
// end, no smaller than the start has it. Features of few values have such directions: all targets
// of a sample are where it is.
//
// The rest happens in coordinates where P is a multiple of the identity. The cone of metrics is the
// same in all coordinates, and in these the pull is as strong in every direction.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kith/core/parallel.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "kith/optim/metric/neighbour_maps.hpp"
#include "numerics/distances.hpp"
#include "optim/engine/progress.hpp"
#include "optim/metric/pair_scatter.hpp"

namespace kith::metric {
namespace {

constexpr double kFirstWidth = 1;  // the margin
constexpr double kNarrower = 1.0 / 3;
constexpr double kShareOfRounding = 0.25;  // of the gap: then it is the rounding that keeps it open
constexpr int kBoundEvery = 10;            // steps
constexpr double kFirstStep = 0.1;         // of the metric
constexpr double kStepGrowth = 1.1;
constexpr double kSmallestStep = 1e-300;
constexpr double kRounding = 1e-12;      // of the value, in the test of a step, and of the gap
constexpr double kLeastPull = 1e-10;     // of the largest: coordinates are stretched no further
constexpr double kSmallestPull = 1e-12;  // of the largest: P holds the direction
constexpr double kSamePlace = 1e-20;     // of the largest squared distance from the mean

/// What pulls, and which way nothing does.
struct Pull {
  double fixed = 0;  // sum of t over the triples without a hinge
  Matrix P;          // in the coordinates
  Matrix B;          // rows x become x B, in which the pull is as strong in every direction
  Matrix inverse;    // a metric M becomes inverse M inverse'
  Matrix N;          // columns are the directions without a pull
  Matrix outside;    // squared distances along them; empty where there are none

  /// Whether a metric that costs nothing satisfies the triples of i and l.
  [[nodiscard]] bool is_free(Index i, Index l) const {
    return outside.size() > 0 && outside(l, i) > 0;
  }
};

/// Row by row x_i - x_j for the targets j of i, each with the number of other classes' samples that
/// are where i is.
struct Pulls {
  Matrix rows;
  Vector here;
};
Pulls pulls_of(const LmnnProblem& problem, const Matrix& D, double same) {
  Index count = 0;
  for (const std::vector<Index>& own : problem.targets) count += std::ssize(own);
  Pulls pulls{.rows = Matrix(count, problem.X.cols()), .here = Vector(count)};
  Index at = 0;
  for (Index i = 0; i < D.rows(); ++i) {
    double here = 0;
    for (Index l = 0; l < D.rows(); ++l) {
      const bool other = problem.classes[static_cast<std::size_t>(l)] !=
                         problem.classes[static_cast<std::size_t>(i)];
      here += other && D(l, i) <= same;
    }
    for (const Index j : problem.targets[static_cast<std::size_t>(i)]) {
      pulls.rows.row(at) = problem.X.row(i) - problem.X.row(j);
      pulls.here(at++) = here;
    }
  }
  return pulls;
}

Pull pull_of(const LmnnProblem& problem) {
  const Index r = problem.X.cols();
  const double size = problem.X.size() > 0 ? problem.X.rowwise().squaredNorm().maxCoeff() : 0;
  const double same = kSamePlace * size;
  const double push = problem.push;
  const Pulls pulls = pulls_of(problem, squared_distances(problem.X, 1), same);
  Pull pull{.fixed = push * pulls.here.sum()};
  if (r == 0) return pull;
  const Vector weights = 1 - push + push * pulls.here.array();
  // In units of the weight of a pull, where it has one.
  const Vector relative = push < 1 ? Vector(weights / (1 - push)) : Vector(1 + weights.array());
  const SymmetricEigen eigen =
      symmetric_eigen(pulls.rows.transpose() * relative.asDiagonal() * pulls.rows);
  const double largest = eigen.lambda(r - 1);
  Index free = 0;
  while (free < r && !(eigen.lambda(free) > std::max(kSmallestPull * largest, same))) ++free;
  const Vector stretch = eigen.lambda.tail(r - free).cwiseMax(kLeastPull * largest).cwiseSqrt();
  const Matrix range = eigen.U.rightCols(r - free);
  pull.B = range * stretch.cwiseInverse().asDiagonal();
  pull.inverse = stretch.asDiagonal() * range.transpose();
  const Matrix rows = pulls.rows * pull.B;
  pull.P = rows.transpose() * weights.asDiagonal() * rows;
  if (free == 0) return pull;
  pull.N = eigen.U.leftCols(free);
  pull.outside = squared_distances(problem.X * pull.N, 1);
  pull.outside = (pull.outside.array() <= same).select(0, pull.outside);
  return pull;
}

/// The rounded program at a metric.
struct Rounded {
  double value = 0;
  double exact = 0;        // without the rounding
  double multipliers = 0;  // sum t
  Matrix gradient;         // G(t)
};

class RoundedProgram {
 public:
  RoundedProgram(const LmnnProblem& problem, const Pull& pull)
      : problem_(problem), pull_(pull), X_(problem.X * pull.B) {}

  [[nodiscard]] Rounded at(const Matrix& M, double width, const RunContext& ctx) const {
    const Index n = X_.rows();
    const Matrix D = distances(M);
    Matrix W = Matrix::Zero(n, n);
    std::vector<Rounded> parts(static_cast<std::size_t>(n));
    parallel_for(parts.size(), ctx.threads, [&](std::size_t i) {
      ctx.check_stop();
      add_sample(static_cast<Index>(i), D, width, parts[i], W);
    });
    Rounded sum;
    for (const Rounded& part : parts) {
      sum.value += part.value;
      sum.exact += part.exact;
      sum.multipliers += part.multipliers;
    }
    sum.gradient = pair_scatter(X_, W);
    return sum;
  }

  /// What satisfies every triple that was left out, beside M.
  [[nodiscard]] double along_the_free_directions(const Matrix& M) const {
    double kappa = 0;
    if (pull_.outside.size() == 0) return kappa;
    const Matrix D = distances(M);
    for (Index i = 0; i < X_.rows(); ++i) {
      for (const Index j : targets(i)) {
        for (Index l = 0; l < X_.rows(); ++l) {
          const bool other = problem_.classes[static_cast<std::size_t>(l)] !=
                             problem_.classes[static_cast<std::size_t>(i)];
          if (!other || !pull_.is_free(i, l)) continue;
          kappa = std::max(kappa, (1 + D(j, i) - D(l, i)) / pull_.outside(l, i));
        }
      }
    }
    return kappa;
  }

 private:
  /// d(i, j) of all pairs. What their differences cancel stays, unlike in numerics/distances: it is
  /// 1e-16 of the squared length of a sample of mean 0, and a distance counts beside the margin of
  /// 1, to which the gap is relative too.
  [[nodiscard]] Matrix distances(const Matrix& M) const {
    Matrix D = X_ * M * X_.transpose();
    const Vector squares = D.diagonal();
    D *= -2;
    D.colwise() += squares;
    D.rowwise() += squares.transpose();
    return D;
  }

  [[nodiscard]] const std::vector<Index>& targets(Index i) const {
    return problem_.targets[static_cast<std::size_t>(i)];
  }

  /// The terms of sample i; fills column i of W.
  void add_sample(Index i, const Matrix& D, double width, Rounded& part, Matrix& W) const {
    const auto own = problem_.classes[static_cast<std::size_t>(i)];
    const double push = problem_.push;
    for (const Index j : targets(i)) {
      double rounded = 0;
      double exact = 0;
      double multipliers = 0;
      for (Index l = 0; l < D.rows(); ++l) {
        const double z = 1 + D(j, i) - D(l, i);
        if (problem_.classes[static_cast<std::size_t>(l)] == own || z <= 0) continue;
        if (pull_.is_free(i, l)) continue;
        const double t = std::min(1.0, z / width);
        rounded += z < width ? 0.5 * z * t : z - 0.5 * width;
        exact += z;
        multipliers += t;
        W(l, i) -= push * t;
      }
      W(j, i) += 1 - push + push * multipliers;
      const double pulled = (1 - push) * D(j, i);
      part.value += pulled + push * rounded;
      part.exact += pulled + push * exact;
      part.multipliers += push * multipliers;
    }
  }

  const LmnnProblem& problem_;
  const Pull& pull_;
  Matrix X_;
};

/// s sum t, as the head of the file has it, over the triples that have a hinge.
class DualBound {
 public:
  explicit DualBound(const Pull& pull) : fixed_(pull.fixed) {
    const Index r = pull.P.rows();
    if (r == 0) return;
    const SymmetricEigen eigen = symmetric_eigen(pull.P);
    if (!(eigen.lambda(0) > kSmallestPull * eigen.lambda(r - 1))) return;
    root_ = eigen.U * eigen.lambda.cwiseSqrt().cwiseInverse().asDiagonal();
  }

  [[nodiscard]] double at(const Rounded& point) const {
    const double hinges = std::max(0.0, point.multipliers - fixed_);
    if (point.gradient.rows() == 0) return fixed_ + hinges;
    if (!root_) {  // nothing holds a direction that the push lets go
      return fixed_ + (symmetric_eigenvalues(point.gradient)(0) >= 0 ? hinges : 0);
    }
    const double least = symmetric_eigenvalues(root_->transpose() * point.gradient * *root_)(0);
    return fixed_ + hinges / (1 + std::max(0.0, -least));
  }

 private:
  double fixed_;
  std::optional<Matrix> root_;
};

Matrix root_of(const Matrix& M) {
  const SymmetricEigen eigen = symmetric_eigen(M);
  return eigen.lambda.cwiseMax(0.0).cwiseSqrt().asDiagonal() * eigen.U.transpose();
}

/// Accelerated steps on the program of one width.
class AcceleratedSteps {
 public:
  AcceleratedSteps(const RoundedProgram& program, Matrix M, const RunContext& ctx)
      : program_(program), ctx_(ctx), M_(std::move(M)), ahead_(M_) {
    const Rounded first = program.at(M_, width_, ctx);
    first_value_ = first.exact;
    const double slope = first.gradient.norm();
    const double size = M_.norm() > 0 ? M_.norm() : 1;
    step_ = slope > 0 ? kFirstStep * size / slope : 1;
  }

  [[nodiscard]] const Matrix& metric() const { return M_; }
  /// Of the exact program, where the steps begin.
  [[nodiscard]] double first_value() const { return first_value_; }

  /// The program at the next metric.
  [[nodiscard]] Rounded advance() {
    const Rounded from = program_.at(ahead_, width_, ctx_);
    Matrix next;
    Rounded there;
    for (; step_ > kSmallestStep; step_ /= 2) {
      next = positive_part(ahead_ - step_ * from.gradient);
      there = program_.at(next, width_, ctx_);
      const Matrix move = next - ahead_;
      const double model =
          from.value + from.gradient.cwiseProduct(move).sum() + move.squaredNorm() / (2 * step_);
      if (there.value <= model + kRounding * std::abs(from.value)) break;
    }
    step_ *= kStepGrowth;
    if ((ahead_ - next).cwiseProduct(next - M_).sum() > 0) inertia_ = 1;  // it has swung past
    const double before = inertia_;
    inertia_ = (1 + std::sqrt(1 + 4 * inertia_ * inertia_)) / 2;
    ahead_ = next + (before - 1) / inertia_ * (next - M_);
    M_ = std::move(next);
    return there;
  }

  void narrow() {
    width_ *= kNarrower;
    step_ /= 2;
    inertia_ = 1;
    ahead_ = M_;
  }

 private:
  const RoundedProgram& program_;
  const RunContext& ctx_;
  Matrix M_, ahead_;
  double first_value_ = 0;
  double width_ = kFirstWidth;
  double step_ = 1;
  double inertia_ = 1;
};

}  // namespace

LmnnSolution solve_lmnn(const LmnnProblem& problem, const MatrixRef& start,
                        const LmnnTolerances& settings, const RunContext& ctx) {
  const Pull pull = pull_of(problem);
  const RoundedProgram program(problem, pull);
  const DualBound bound(pull);
  const Matrix root = start * pull.inverse.transpose();
  AcceleratedSteps steps(program, root.transpose() * root, ctx);
  LmnnSolution found;
  Matrix best = steps.metric();
  SolveInfo& info = found.info;
  info.objective = steps.first_value();
  found.bound = pull.fixed;
  const auto prove = [&] {
    info.gap = (info.objective - found.bound) / std::max(1.0, info.objective);
    if (std::abs(info.gap) <= kRounding) info.gap = 0;
    return info.gap <= settings.tolerance;
  };
  engine::BestSoFar progress({.tolerance = settings.tolerance, .iterations = settings.max_steps},
                             ctx);
  bool proved = prove();
  (void)progress.offer(info.gap);
  while (progress.goes_on()) {
    const Rounded point = steps.advance();
    progress.stepped();
    if (point.exact < info.objective) {
      info.objective = std::max(0.0, point.exact);  // less is rounding
      best = steps.metric();
    }
    if (progress.iterations() % kBoundEvery != 0) continue;
    found.bound = std::max(found.bound, bound.at(point));
    proved = prove();
    (void)progress.offer(info.gap);
    if (point.exact - point.value > kShareOfRounding * (info.objective - found.bound)) {
      steps.narrow();
    }
  }
  found.L = root_of(best) * pull.B.transpose();
  progress.report(info);
  if (pull.N.cols() > 0) {
    const auto count = static_cast<double>(pull.N.cols());
    const double own = (start * pull.N).squaredNorm() / count;  // what the start has there
    const double kappa = std::max(own, program.along_the_free_directions(best));
    const Matrix free = std::sqrt(kappa) * pull.N.transpose();
    Matrix whole(found.L.rows() + free.rows(), free.cols());
    whole << found.L, free;
    found.L = std::move(whole);
    Matrix unused;
    info.objective = lmnn_objective(problem, found.L, unused);
    info.status = measured_status(info.status, proved && prove());
  }
  return found;
}

}  // namespace kith::metric

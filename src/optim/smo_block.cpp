// SPDX-License-Identifier: Apache-2.0
// Pair steps with second-order selection (Fan, Chen, Lin 2005, WSS 2) and Newton steps on the free
// variables, over one block of variables.
//
// Deviations from the printed selection: where the curvature K_ii + K_jj - 2 K_ij of a pair is not
// positive the step goes to the end of the box, which lowers the objective; the small constant that
// is usual in its place only enters the ranking of pairs, never the step.
#include "optim/smo_block.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* columns, const double* a, const int* lda,
             double* b, const int* ldb, int* info);
}

namespace kith::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

}  // namespace

double curvature_noise(const SymmetricView& K) {
  return 4.0 * static_cast<double>(K.size()) * kEpsilon * K.diagonal().cwiseAbs().maxCoeff();
}

PairBlock::PairBlock(const BoxProblem& problem, const BoxIterate& iterate,
                     std::span<const Index> rows, BlockMemory& memory)
    : K_(problem.K),
      rows_(rows),
      m_(static_cast<Index>(rows.size())),
      whole_(m_ == problem.K.size() && problem.K.direct(0) != nullptr),
      memory_(memory),
      largest_diagonal_(problem.K.diagonal().cwiseAbs().maxCoeff()) {
  const std::size_t m = rows.size();
  for (auto* v : {&u_, &g_, &lower_, &upper_, &diagonal_, &up_, &low_}) v->resize(m);
  for (std::size_t k = 0; k < m; ++k) {
    u_[k] = iterate.u[rows[k]];
    g_[k] = iterate.g[rows[k]];
    lower_[k] = problem.lower[rows[k]];
    upper_[k] = problem.upper[rows[k]];
    diagonal_[k] = K_.diagonal()[rows[k]];
    mark(static_cast<Index>(k));
  }
  if (whole_) return;
  fetched_.assign(m, 0);
  if (memory_.capacity < m * m) {
    memory_.columns.reset(new double[m * m]);  // not initialised: pages are touched when fetched
    memory_.capacity = m * m;
  }
}

const double* PairBlock::column(Index k) {
  if (whole_) return K_.direct(k);
  double* target = memory_.columns.get() + k * m_;
  if (!fetched_[std::size_t(k)]) {
    K_.gather(rows_[std::size_t(k)], rows_, target);
    fetched_[std::size_t(k)] = 1;
  }
  return target;
}

void PairBlock::mark(Index at) {
  const auto k = static_cast<std::size_t>(at);
  up_[k] = u_[k] < upper_[k] ? 0.0 : kInfinity;
  low_[k] = u_[k] > lower_[k] ? 0.0 : -kInfinity;
}

GradientEnds PairBlock::scan() {
  return vector_kernels().step_and_scan(m_, 0.0, diagonal_.data(), diagonal_.data(), g_.data(),
                                        up_.data(), low_.data());
}

void PairBlock::solve(double tolerance, BoxProgress& progress, const RunContext& ctx) {
  progress.stalled = false;
  while (true) {
    const long budget = progress.newton ? newton_budget() : progress.limit;
    if (pair_steps(tolerance, budget, progress, ctx)) return;
    if (progress.newton) newton_steps(tolerance, progress, ctx);
  }
}

// As many pair steps as cost about twice what the next Newton step would: neither phase can then
// cost much more than the better of the two alone. Flops and passes are counted, not timed, so that
// the path taken is the same on every run.
long PairBlock::newton_budget() const {
  const double f = static_cast<double>(free_variables().size());
  const double m = static_cast<double>(m_);
  const double newton = f * f * f / 60.0 + f * m / 4.0 + 4000.0;  // roughly nanoseconds
  const double pair = 60.0 + 0.5 * m;
  return static_cast<long>(std::max(2.0 * newton / pair, m));
}

/// True when the block is finished: tolerance met, limit reached or stalled.
bool PairBlock::pair_steps(double tolerance, long budget, BoxProgress& progress,
                           const RunContext& ctx) {
  const VectorKernels& kernels = vector_kernels();
  const double floor = std::max(1e-12 * largest_diagonal_, 1e-300);
  const double noise = curvature_noise(K_);
  GradientEnds ends = scan();
  for (long taken = 0; taken < budget; ++taken) {
    if (!(ends.highest - ends.lowest > tolerance)) return true;
    if (progress.iterations >= progress.limit) return true;
    if (progress.iterations % 1024 == 0) ctx.check_stop();
    const Index i = ends.lowest_index;
    const double* ci = column(i);
    const double gi = g_[std::size_t(i)];
    const double kii = diagonal_[std::size_t(i)];
    const Index j =
        kernels.select_partner(m_, gi, kii, floor, ci, diagonal_.data(), g_.data(), low_.data());
    if (j < 0) {
      progress.stalled = true;
      return true;
    }
    const double curvature = kii + diagonal_[std::size_t(j)] - 2.0 * ci[j];
    if (curvature < -noise) progress.negative_curvature = true;
    double& ui = u_[std::size_t(i)];
    double& uj = u_[std::size_t(j)];
    const double room_i = upper_[std::size_t(i)] - ui;
    const double room_j = uj - lower_[std::size_t(j)];
    double t = std::min(room_i, room_j);
    if (curvature > 0) t = std::min(t, (g_[std::size_t(j)] - gi) / curvature);
    const double before_i = ui;
    const double before_j = uj;
    ui = t == room_i ? upper_[std::size_t(i)] : ui + t;
    uj = t == room_j ? lower_[std::size_t(j)] : uj - t;
    ++progress.iterations;
    if (ui == before_i && uj == before_j) {
      progress.stalled = true;
      return true;
    }
    mark(i);
    mark(j);
    ends = kernels.step_and_scan(m_, t, ci, column(j), g_.data(), up_.data(), low_.data());
  }
  return !(ends.highest - ends.lowest > tolerance);
}

std::vector<Index> PairBlock::free_variables() const {
  std::vector<Index> free;
  for (Index k = 0; k < m_; ++k) {
    if (up_[std::size_t(k)] == 0 && low_[std::size_t(k)] == 0) free.push_back(k);
  }
  return free;
}

struct PairBlock::NewtonStep {
  std::vector<Index> free;
  Vector direction;  ///< over `free`, sums to zero
  Vector target;     ///< where the direction leads when the whole step is taken
  Vector product;    ///< K direction, over the block
  double slope = 0;  ///< g'direction
  bool refined = false;
};

/// min 1/2 d'(K_FF + ridge I)d + g_F'd, sum d = 0. The ridge makes this a proximal step: repeated,
/// it converges for singular K_FF too. False if K_FF is indefinite or nothing is left to do.
bool PairBlock::newton_direction(NewtonStep& step, BoxProgress& progress) {
  const Index f = static_cast<Index>(step.free.size());
  Matrix K_FF(f, f);
  Matrix rhs(f, 2);
  for (Index a = 0; a < f; ++a) {
    const double* source = column(step.free[std::size_t(a)]);
    for (Index b = a; b < f; ++b) K_FF(b, a) = source[step.free[std::size_t(b)]];
    rhs(a, 0) = g_[std::size_t(step.free[std::size_t(a)])];
  }
  rhs.col(1).setOnes();
  const double trace = K_FF.diagonal().sum();
  if (!(trace > 0)) return false;
  const int size = static_cast<int>(f);
  const int columns = 2;
  int info = 1;
  Matrix factor;
  for (double ridge = 1e-13 * trace; info != 0; ridge *= 100) {
    if (ridge > 1e-8 * trace) {
      progress.newton = false;
      progress.negative_curvature = true;
      return false;
    }
    factor = K_FF;
    factor.diagonal().array() += ridge;
    dpotrf_("L", &size, factor.data(), &size, &info);
  }
  dpotrs_("L", &size, &columns, factor.data(), &size, rhs.data(), &size, &info);
  const double rho = rhs.col(0).sum() / rhs.col(1).sum();
  step.direction = rho * rhs.col(1) - rhs.col(0);
  return step.direction.allFinite();
}

/// Euclidean projection of u + direction onto the box and the plane sum = const, all bounds at
/// once.
void PairBlock::project(NewtonStep& step) const {
  const Index f = static_cast<Index>(step.free.size());
  Vector start(f), low(f), high(f);
  for (Index a = 0; a < f; ++a) {
    const auto k = static_cast<std::size_t>(step.free[std::size_t(a)]);
    start[a] = u_[k];
    low[a] = lower_[k];
    high[a] = upper_[k];
  }
  const Vector wanted = start + step.direction;
  const double sum = start.sum();
  const auto at = [&](double shift) -> Vector {
    return (wanted.array() - shift).max(low.array()).min(high.array()).matrix();
  };
  double below = (wanted - high).minCoeff();  // everything at its upper bound
  double above = (wanted - low).maxCoeff();
  for (int bisection = 0; bisection < 100 && below < above; ++bisection) {
    const double middle = 0.5 * (below + above);
    if (middle <= below || middle >= above) break;
    (at(middle).sum() > sum ? below : above) = middle;
  }
  step.target = at(below);
  double excess = step.target.sum() - sum;
  for (Index a = 0; a < f && excess != 0; ++a) {
    const double moved = std::clamp(step.target[a] - excess, low[a], high[a]);
    excess -= step.target[a] - moved;
    step.target[a] = moved;
  }
  step.direction = step.target - start;
}

void PairBlock::block_product(NewtonStep& step) {
  const std::size_t f = step.free.size();
  step.product = Vector::Zero(m_);
  step.slope = 0;
  for (std::size_t a = 0; a < f; a += 4) {
    const double* pointers[4];
    double w[4] = {0, 0, 0, 0};
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t source = std::min(a + c, f - 1);
      pointers[c] = column(step.free[source]);
      if (a + c < f) w[c] = step.direction[Index(source)];
    }
    vector_kernels().add4(m_, pointers, w, step.product.data());
  }
  for (std::size_t a = 0; a < f; ++a) {
    step.slope += g_[std::size_t(step.free[a])] * step.direction[Index(a)];
  }
}

/// Exact line search along the direction, at most to its target. False if it does not descend.
bool PairBlock::take_newton_step(NewtonStep& step) {
  if (!(step.slope < 0)) return false;
  double curvature = 0;
  for (std::size_t a = 0; a < step.free.size(); ++a) {
    curvature += step.direction[Index(a)] * step.product[step.free[a]];
  }
  const double t = curvature > 0 ? std::min(1.0, -step.slope / curvature) : 1.0;
  bool moved = false;
  for (std::size_t a = 0; a < step.free.size(); ++a) {
    const auto k = static_cast<std::size_t>(step.free[a]);
    const double before = u_[k];
    u_[k] = t == 1.0 ? step.target[Index(a)] : before + t * step.direction[Index(a)];
    u_[k] = std::clamp(u_[k], lower_[k], upper_[k]);
    moved = moved || u_[k] != before;
    mark(step.free[a]);
  }
  for (Index k = 0; k < m_; ++k) g_[std::size_t(k)] += t * step.product[k];
  return moved;
}

void PairBlock::newton_steps(double tolerance, BoxProgress& progress, const RunContext& ctx) {
  constexpr int kMost = 30;
  for (int count = 0; count < kMost && progress.iterations < progress.limit; ++count) {
    ctx.check_stop();
    NewtonStep step;
    step.free = free_variables();
    if (step.free.size() < 2) return;
    double least = kInfinity;
    double most = -kInfinity;
    for (const Index k : step.free) {
      least = std::min(least, g_[std::size_t(k)]);
      most = std::max(most, g_[std::size_t(k)]);
    }
    if (most - least <= 0.1 * tolerance) return;
    if (!newton_direction(step, progress)) return;
    project(step);
    block_product(step);
    ++progress.iterations;
    if (!take_newton_step(step)) return;
  }
}

}  // namespace kith::detail

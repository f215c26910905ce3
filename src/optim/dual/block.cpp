// SPDX-License-Identifier: Apache-2.0
// Pair steps with second-order selection (Fan, Chen, Lin 2005, WSS 2) and Newton steps on the free
// variables, over one block of variables.
//
// Deviations from the printed selection: where the curvature K_ii + K_jj - 2 K_ij of a pair is not
// positive the step goes to the end of the box, which lowers the objective; the small constant that
// is usual in its place only enters the ranking of pairs, never the step.
//
// The loops stand alone, like that of dual/smo.cpp, for its reason.
#include "optim/dual/block.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace kith::dual {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

constexpr double kMostlyFree = 0.8;
constexpr int kMostFailures = 8;

/// Work in rough nanoseconds of one core.
double factor_work(double f) { return f * f * f / 60.0 + 2000.0; }

}  // namespace

double pair_work(Index m, bool narrow) {
  return 60.0 + (narrow ? 0.3 : 0.6) * static_cast<double>(m);
}

double gradient_noise(const BoxProblem& problem, double sum_of_u) {
  return 2 * kEpsilon *
         (problem.q.cwiseAbs().maxCoeff() + problem.K.diagonal().cwiseAbs().maxCoeff() * sum_of_u);
}

double curvature_noise(const SymmetricView& K) {
  return 4.0 * static_cast<double>(K.size()) * kEpsilon * K.diagonal().cwiseAbs().maxCoeff();
}

WorkingBlock::WorkingBlock(const BoxProblem& problem, const BoxIterate& iterate,
                           std::span<const Index> rows, BlockMemory& memory, FloatColumns* floats)
    : problem_(problem),
      K_(problem.K),
      rows_(rows),
      m_(static_cast<Index>(rows.size())),
      whole_(m_ == problem.K.size() && problem.K.direct(0) != nullptr),
      memory_(memory),
      largest_diagonal_(problem.K.diagonal().cwiseAbs().maxCoeff()),
      floats_(floats) {
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
  if (!whole_) slot_.assign(m, -1);
  held_ = iterate.u.cwiseAbs().sum() - Eigen::Map<const Vector>(u_.data(), m_).cwiseAbs().sum();
}

double WorkingBlock::rounding() const {
  return gradient_noise(problem_, held_ + Eigen::Map<const Vector>(u_.data(), m_).cwiseAbs().sum());
}

const double* WorkingBlock::column(Index k) {
  if (whole_) return K_.direct(k);
  Index& slot = slot_[std::size_t(k)];
  if (slot < 0) {
    const auto m = static_cast<std::size_t>(m_);
    if (used_ == 0 && memory_.capacity < m * m) {
      // Not initialised, and with room to spare: only pages that columns are fetched into are
      // touched, and the next blocks find them warm.
      memory_.capacity = 4 * m * m;
      memory_.columns.reset(new double[memory_.capacity]);
    }
    slot = used_++;
    K_.gather(rows_[std::size_t(k)], rows_, memory_.columns.get() + slot * m_);
  }
  return memory_.columns.get() + slot * m_;
}

void WorkingBlock::mark(Index at) {
  const auto k = static_cast<std::size_t>(at);
  up_[k] = u_[k] < upper_[k] ? 0.0 : kInfinity;
  low_[k] = u_[k] > lower_[k] ? 0.0 : -kInfinity;
}

GradientEnds WorkingBlock::scan() {
  return vector_kernels().wide.step_and_scan(m_, 0.0, diagonal_.data(), diagonal_.data(), g_.data(),
                                             up_.data(), low_.data());
}

// Phases of pair steps and of Newton steps take turns, each allowed about as much work as all
// before it: the total is within a small factor of the better of the two alone. Work is counted
// (roughly in nanoseconds), not timed, so that the path is the same on every run.
void WorkingBlock::solve(double tolerance, BoxProgress& progress, const RunContext& ctx) {
  progress.stalled = false;
  // A block of mostly free variables is at the end of a solution, where Newton steps win; elsewhere
  // pair steps find out first which variables are free. In float they are cheaper, and Newton steps
  // have columns in double to fetch.
  auto f = static_cast<double>(free_variables().size());
  const double m = static_cast<double>(m_);
  const bool mostly_free = f > kMostlyFree * m;
  const bool in_float = floats_ != nullptr;
  double budget = (in_float ? (mostly_free ? 5.0 : 20.0) : 1.0) * pair_work(m_, in_float) * m +
                  (mostly_free ? (in_float ? 0.2 : 1.0) : 4.0) * factor_work(f);
  while (true) {
    const bool narrow = floats_ != nullptr && progress.narrow;
    // What cannot be told from rounding is not worth a step; the level rises with the variables.
    const double reachable = std::max(tolerance, rounding());
    if (narrow ? narrow_steps(reachable, budget, progress, ctx)
               : pair_steps(reachable, budget, progress, ctx)) {
      return;
    }
    if (narrow != progress.narrow) continue;
    f = static_cast<double>(free_variables().size());
    budget = std::max(2.0 * budget, 3.0 * factor_work(f));
    if (progress.newton) newton_steps(std::max(tolerance, rounding()), budget, progress, ctx);
  }
}

double WorkingBlock::take_step(Index i, Index j, double slope, double curvature,
                               BoxProgress& progress) {
  double& ui = u_[std::size_t(i)];
  double& uj = u_[std::size_t(j)];
  const double room_i = upper_[std::size_t(i)] - ui;
  const double room_j = uj - lower_[std::size_t(j)];
  double t = std::min(room_i, room_j);
  if (curvature > 0) t = std::min(t, slope / curvature);
  const double before_i = ui;
  const double before_j = uj;
  ui = t == room_i ? upper_[std::size_t(i)] : ui + t;
  uj = t == room_j ? lower_[std::size_t(j)] : uj - t;
  ++progress.iterations;
  if (ui == before_i && uj == before_j) {
    progress.stalled = true;
    return 0;
  }
  mark(i);
  mark(j);
  return t;
}

/// True when the block is finished: tolerance met, limit reached or stalled.
bool WorkingBlock::pair_steps(double tolerance, double budget, BoxProgress& progress,
                              const RunContext& ctx) {
  const PairKernels<double>& kernels = vector_kernels().wide;
  const double floor = std::max(1e-12 * largest_diagonal_, 1e-300);
  const double noise = curvature_noise(K_);
  GradientEnds ends = scan();
  const double work = pair_work(m_, false);
  for (double spent = 0; spent < budget; spent += work) {
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
    const double t = take_step(i, j, g_[std::size_t(j)] - gi, curvature, progress);
    progress.work += work;
    if (t == 0) return true;
    ends = kernels.step_and_scan(m_, t, ci, column(j), g_.data(), up_.data(), low_.data());
  }
  return !(ends.highest - ends.lowest > tolerance);
}

std::vector<Index> WorkingBlock::free_variables() const {
  std::vector<Index> free;
  for (Index k = 0; k < m_; ++k) {
    if (up_[std::size_t(k)] == 0 && low_[std::size_t(k)] == 0) free.push_back(k);
  }
  return free;
}

/// A primal active-set method: settle on the free variables, then release those at bounds that
/// would gain most by moving, until none would, the budget is spent or K_FF turns out indefinite.
void WorkingBlock::newton_steps(double tolerance, double budget, BoxProgress& progress,
                                const RunContext& ctx) {
  FreeSet& free = memory_.free;
  std::vector<Index> start = free_variables();
  if (start.size() < 2) return;
  const double cost = factor_work(static_cast<double>(start.size()));
  budget -= cost;
  progress.work += cost;
  bool definite = free.factor(std::move(start), [this](Index k) { return column(k); });
  while (definite) {
    ctx.check_stop();
    const std::vector<double> before = u_;
    const std::vector<double> gradient_before = g_;
    std::vector<double> synced = u_;
    const bool settled = settle(free, tolerance, synced, budget, progress);
    restore_sum(before, free);
    update_gradient(synced);
    if (!keep_if_lower(before, gradient_before)) {
      if (++progress.newton_failures == kMostFailures) progress.newton = false;
      return;
    }
    budget -= static_cast<double>(free.size() * m_) / 4.0;
    if (!settled || budget < 0 || progress.iterations >= progress.limit) return;
    const GradientEnds ends = scan();
    if (!(ends.highest - ends.lowest > tolerance)) return;
    definite = release(free, tolerance, progress);
    if (definite && free.size() == 0) return;
  }
  progress.newton = false;
  progress.negative_curvature = true;
}

/// Newton steps on the free variables, each up to the first bound in its way, where that variable
/// leaves. True once the gradient is level over those that remain. `synced` is the u that g_
/// belongs to.
bool WorkingBlock::settle(FreeSet& free, double tolerance, std::vector<double>& synced,
                          double& budget, BoxProgress& progress) {
  constexpr int kRefinements = 4;  // full steps; more than one only if the proximal weights show
  Vector g, d;
  const auto reload = [&] {
    g.resize(free.size());
    for (Index a = 0; a < free.size(); ++a) g[a] = g_[std::size_t(free.members()[std::size_t(a)])];
  };
  reload();
  int full_steps = 0;
  while (free.size() >= 2 && budget > 0 && progress.iterations < progress.limit) {
    const double spread = g.maxCoeff() - g.minCoeff();
    if (spread <= 0.1 * tolerance || full_steps == kRefinements) return true;
    double rho = 0;
    free.direction(g, d, rho);
    if (!d.allFinite()) return false;
    if (!(g.dot(d) < 0)) return true;  // level to the accuracy of the factor
    budget -= 0.8 * static_cast<double>(free.size() * free.size()) + 500;
    ++progress.iterations;
    double t = 1;
    Index blocking = -1;
    double weighted = 0;
    for (Index a = 0; a < free.size(); ++a) {
      const auto k = static_cast<std::size_t>(free.members()[std::size_t(a)]);
      weighted = std::max(weighted, free.weight(a) * std::abs(d[a]));
      const double room = d[a] > 0 ? upper_[k] - u_[k] : lower_[k] - u_[k];
      if (std::abs(d[a]) * t > std::abs(room)) {
        t = room / d[a];
        blocking = a;
      }
    }
    for (Index a = 0; a < free.size(); ++a) {
      const auto k = static_cast<std::size_t>(free.members()[std::size_t(a)]);
      u_[k] = std::clamp(u_[k] + t * d[a], lower_[k], upper_[k]);
      g[a] += t * ((rho - g[a]) - free.weight(a) * d[a]);  // K d = rho - g - w d
    }
    full_steps = blocking < 0 ? full_steps + 1 : 0;
    if (blocking >= 0) {
      const Index k = free.members()[std::size_t(blocking)];
      u_[std::size_t(k)] = d[blocking] > 0 ? upper_[std::size_t(k)] : lower_[std::size_t(k)];
      mark(k);
      free.leave(blocking);
      std::copy(g.data() + blocking + 1, g.data() + g.size(), g.data() + blocking);
      g.conservativeResize(free.size());
    }
    // Along nearly flat directions d is huge and the short cut for K d loses its digits.
    if (weighted > 1e-3 * spread) {
      update_gradient(synced);
      synced = u_;
      reload();
      budget -= static_cast<double>(free.size() * m_) / 4.0;
    }
  }
  return free.size() < 2;
}

/// Steps sum to zero up to rounding; free variables take what is left.
void WorkingBlock::restore_sum(const std::vector<double>& before, const FreeSet& free) {
  double excess = 0;
  for (std::size_t k = 0; k < u_.size(); ++k) excess += u_[k] - before[k];
  for (const Index member : free.members()) {
    if (excess == 0) return;
    const auto k = static_cast<std::size_t>(member);
    const double wanted = std::clamp(u_[k] - excess, lower_[k], upper_[k]);
    excess -= u_[k] - wanted;
    u_[k] = wanted;
    mark(member);
  }
}

/// Back to `before` if the objective has risen since, as only rounding can make it: false then.
bool WorkingBlock::keep_if_lower(const std::vector<double>& before,
                                 const std::vector<double>& gradient_before) {
  double change = 0;  // exact for a quadratic
  double size = 0;
  for (std::size_t k = 0; k < u_.size(); ++k) {
    const double by = u_[k] - before[k];
    if (by == 0) continue;
    change += 0.5 * (g_[k] + gradient_before[k]) * by;
    size += std::abs(gradient_before[k] * by);
  }
  if (change <= 1e-10 * size) return true;
  u_ = before;
  g_ = gradient_before;
  for (Index k = 0; k < m_; ++k) mark(k);
  return false;
}

/// g += K (u - before) over the block; what `settle` keeps of g is local to it.
void WorkingBlock::update_gradient(const std::vector<double>& before) {
  ColumnSum<double> sum(m_, g_.data());
  for (Index k = 0; k < m_; ++k) {
    const double by = u_[std::size_t(k)] - before[std::size_t(k)];
    if (by != 0) sum.add(column(k), by);
  }
  sum.finish();
}

/// Lets the worst violators at bounds enter, a few at a time: those that would only lean against
/// their bound leave again at no cost but a rotation.
bool WorkingBlock::release(FreeSet& free, double tolerance, BoxProgress& progress) {
  constexpr std::size_t kMost = 8;
  double sum = 0;
  for (const Index k : free.members()) sum += g_[std::size_t(k)];
  GradientEnds ends = scan();
  const double rho =
      free.size() > 0 ? sum / static_cast<double>(free.size()) : 0.5 * (ends.lowest + ends.highest);
  struct Violator {
    double by;
    Index k;
  };
  std::vector<Violator> violators;
  for (Index k = 0; k < m_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const bool up = up_[at] == 0;
    const bool down = low_[at] == 0;
    if (up == down) continue;
    const double by = up ? rho - g_[at] : g_[at] - rho;
    if (by > 0.25 * tolerance) violators.push_back({by, k});
  }
  const std::size_t take = std::min(kMost, violators.size());
  std::partial_sort(
      violators.begin(), violators.begin() + std::ptrdiff_t(take), violators.end(),
      [](const Violator& a, const Violator& b) { return a.by != b.by ? a.by > b.by : a.k < b.k; });
  for (std::size_t v = 0; v < take; ++v) {
    if (!free.enter(violators[v].k, [this](Index k) { return column(k); })) return false;
  }
  ++progress.iterations;
  return true;
}

}  // namespace kith::dual

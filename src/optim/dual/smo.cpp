// SPDX-License-Identifier: Apache-2.0
// Solver of the support vector machine's dual by blocks.
//
// Signed variables u = y.*a turn the problem into min 1/2 u'Ku + q'u over a box with sum u = 0
// (q = y.*p, g = Ku + q). A round takes a block of variables (the free ones and the worst violators
// at bounds), solves the problem over it with the others held (dual/block.cpp), and brings the
// whole gradient up to date with one product. Blocks stay in cache, so that a pair step costs the
// size of the block and not n; they do the work of shrinking, and the product is its reconstruction
// of the gradient. Every step lowers the objective, so rounds cannot cycle; a limit on the number
// of steps ends what rounding might prolong. Cost per pair step O(block), per round O(n x variables
// changed).
//
// The loop stands alone: a pair step costs nanoseconds, and it is the work of all steps that is
// counted, not patience.
#include "kith/optim/dual/smo.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kith/optim/dual/convexity.hpp"
#include "numerics/unit.hpp"
#include "optim/dual/block.hpp"
#include "optim/engine/box.hpp"

namespace kith::dual {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kWholeBelow = 1024;  // below this size the first block is the whole problem
constexpr Index kBlock = 512;        // variables at bounds taken into a block
constexpr Index kEachWay = 64;       // of them, if there are so many, that can go up; and down
constexpr Index kLargestBlock = 2048;
constexpr long kFloatSteps = 100;             // per sample, in float
constexpr double kFloatDigits = 5e-5;         // of the violation, by a pass in float
constexpr double kReach = 0.5;                // of the violation; see choose_block
constexpr double kReduction = 0.1;            // of the violation, by a block of the worst violators
constexpr double kCompleteReduction = 0.005;  // by a block that has all violators
constexpr double kFloatReduction = 0.1;       // the same in float, where a round costs less

struct Ends {
  double lowest = kInfinity;    // of g over the variables that can go up
  double highest = -kInfinity;  // of g over the variables that can go down
  [[nodiscard]] double violation() const { return std::max(0.0, highest - lowest); }
};

Ends gradient_ends(const BoxProblem& problem, const BoxIterate& x) {
  Ends ends;
  for (Index i = 0; i < x.u.size(); ++i) {
    if (x.u[i] < problem.upper[i]) ends.lowest = std::min(ends.lowest, x.g[i]);
    if (x.u[i] > problem.lower[i]) ends.highest = std::max(ends.highest, x.g[i]);
  }
  return ends;
}

BoxProblem box_problem(const SvmDual& problem, double scale) {
  const Index n = problem.K.size();
  BoxProblem box{scale == 1 ? problem.K : problem.K.scaled(1 / scale), -problem.y, Vector::Zero(n),
                 Vector::Zero(n)};
  if (problem.linear.size() != 0) box.q = problem.y.cwiseProduct(problem.linear);
  for (Index i = 0; i < n; ++i) {
    // Costs beyond this are as good as infinite for a matrix scaled to 1.
    const double cost = std::min(problem.cost[i] * scale, 1e290);
    (problem.y[i] > 0 ? box.upper : box.lower)[i] = problem.y[i] * cost;
  }
  return box;
}

/// Moves u by `amount` in all, towards the lower bounds if it is positive, in proportion to the
/// room of the variables that `takes` admits; as much of it as they can take.
template <class Takes>
void spread(const BoxProblem& problem, Vector& u, double& amount, Takes takes) {
  const auto room = [&](Index i) {
    return amount > 0 ? u[i] - problem.lower[i] : problem.upper[i] - u[i];
  };
  double total = 0;
  for (Index i = 0; i < u.size(); ++i) {
    if (takes(i)) total += room(i);
  }
  if (!(total > 0)) return;
  const double share = std::min(1.0, std::abs(amount) / total);
  double moved = 0;
  for (Index i = 0; i < u.size(); ++i) {
    if (!takes(i)) continue;
    const double by = share * room(i);
    const double after = share == 1.0 ? (amount > 0 ? problem.lower[i] : problem.upper[i])
                                      : (amount > 0 ? u[i] - by : u[i] + by);
    moved += by;
    u[i] = std::clamp(after, problem.lower[i], problem.upper[i]);
  }
  amount -= amount > 0 ? moved : -moved;
}

/// Clips to the box, then restores sum u = 0 over the free variables first: those at bounds are
/// likely to belong there.
Vector feasible(const BoxProblem& problem, Vector u) {
  u = u.cwiseMax(problem.lower).cwiseMin(problem.upper);
  double excess = u.sum();
  // Rounding of the sum is no excess: chasing it would take every variable off its bound.
  const double noise = 1e-14 * u.cwiseAbs().sum();
  if (std::abs(excess) <= noise) return u;
  std::vector<char> free(static_cast<std::size_t>(u.size()));
  for (Index i = 0; i < u.size(); ++i) {
    free[std::size_t(i)] = u[i] > problem.lower[i] && u[i] < problem.upper[i];
  }
  spread(problem, u, excess, [&](Index i) { return free[std::size_t(i)] != 0; });
  if (std::abs(excess) > noise) spread(problem, u, excess, [](Index) { return true; });
  return u;
}

/// A fixed scrambling of positions: among equal violators any order would do except one that
/// follows the order of the data.
std::uint64_t scrambled(Index i) {
  std::uint64_t z = static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// The free variables and the worst violators at bounds; by violation alone when too many are free.
struct Choice {
  std::vector<Index> rows;
  bool complete = false;  // every violator is among them
};

Choice choose_block(const BoxProblem& problem, const BoxIterate& x, const Ends& ends,
                    Index largest_block) {
  const Index n = x.u.size();
  struct Candidate {
    double score;
    std::uint64_t order;
    Index index;
    bool up = false;
  };
  const double middle = 0.5 * (ends.lowest + ends.highest);
  // Those at bounds that a shift of the offset would turn into violators come along: a round with
  // all of them costs less than another round.
  const double reach = kReach * ends.violation();
  Index violators = 0;
  std::vector<Candidate> free, bound;
  for (Index i = 0; i < n; ++i) {
    const bool up = x.u[i] < problem.upper[i];
    const bool down = x.u[i] > problem.lower[i];
    const double distance = x.g[i] - middle;
    if (up && down) {
      free.push_back({std::abs(distance), scrambled(i), i});
    } else if (up || down) {
      const double score = up ? -distance : distance;
      violators += score > 0;
      if (score > -reach) bound.push_back({score, scrambled(i), i, up});
    }
  }
  const auto worse = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.order < b.order;
  };
  const auto keep_worst = [&](std::vector<Candidate>& all, Index count) {
    if (static_cast<Index>(all.size()) <= count) return;
    std::nth_element(all.begin(), all.begin() + count, all.end(), worse);
    all.resize(static_cast<std::size_t>(count));
  };
  // Without some of both directions nothing could move. Where one class is small, the worst of all
  // may have none of it: at the start every sample violates alike.
  const auto prefer_each_way = [&](std::vector<Candidate>& all) {
    const auto down =
        std::partition(all.begin(), all.end(), [](const Candidate& c) { return c.up; });
    for (const auto& [begin, end] : {std::pair(all.begin(), down), std::pair(down, all.end())}) {
      const auto last = begin + std::min<std::ptrdiff_t>(kEachWay, end - begin);
      std::nth_element(begin, last, end, worse);
      for (auto c = begin; c != last; ++c) c->score = kInfinity;
    }
  };
  const bool roomy = static_cast<Index>(free.size()) <= largest_block - kBlock;
  if (roomy) {
    prefer_each_way(bound);
    keep_worst(bound, kBlock);
    free.insert(free.end(), bound.begin(), bound.end());
  } else {
    free.insert(free.end(), bound.begin(), bound.end());
    keep_worst(free, largest_block);
  }
  Choice choice;
  choice.complete = roomy && violators <= kBlock;
  choice.rows.reserve(free.size());
  for (const Candidate& c : free) choice.rows.push_back(c.index);
  std::sort(choice.rows.begin(), choice.rows.end());
  return choice;
}

/// Solves over `rows` and brings the whole gradient up to date. False if nothing moved.
bool solve_block(const BoxProblem& problem, BoxIterate& x, std::span<const Index> rows,
                 double tolerance, BlockMemory& memory, FloatColumns* floats, BoxProgress& progress,
                 const RunContext& ctx) {
  WorkingBlock block(problem, x, rows, memory, floats);
  block.solve(tolerance, progress, ctx);
  std::vector<Index> changed;
  std::vector<double> by;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double difference = block.u()[k] - x.u[rows[k]];
    if (difference == 0) continue;
    changed.push_back(rows[k]);
    by.push_back(difference);
    x.u[rows[k]] = block.u()[k];
  }
  if (floats != nullptr) {
    floats->add(changed, by, x.g);
  } else if (static_cast<Index>(rows.size()) == x.u.size()) {
    std::copy(block.g().begin(), block.g().end(), x.g.data());
  } else {
    problem.K.add_columns(changed, by, x.g);
  }
  return !changed.empty();
}

/// The columns of a block are floats: of half of the samples an eighth of the matrix.
Index largest_float_block(Index n) {
  return std::min(kLargestFloatBlock, std::max<Index>(kBlock + kWholeBelow, n / 2));
}

/// Rounds of blocks until the violation is at most `tolerance`; true if it got there. With `floats`
/// they end as well when floats have turned out not to suffice.
bool solve_box(const BoxProblem& problem, BoxIterate& x, double tolerance, BlockMemory& memory,
               FloatColumns* floats, BoxProgress& progress, const RunContext& ctx) {
  const Index n = x.u.size();
  const double complete_reduction = floats != nullptr ? kFloatReduction : kCompleteReduction;
  std::vector<Index> all;
  if (n <= kWholeBelow) {
    all.resize(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), Index{0});
  }
  while (true) {
    const Ends ends = gradient_ends(problem, x);
    if (!(ends.violation() > tolerance)) return true;
    if (progress.iterations >= progress.limit) return false;
    ctx.check_stop();
    Choice choice;
    double target = tolerance;
    if (n <= kWholeBelow) {
      choice.rows = all;
    } else {
      // A block solved far beyond the violation of the rest is work thrown away.
      choice = choose_block(problem, x, ends,
                            floats != nullptr ? largest_float_block(n) : kLargestBlock);
      target = std::max(tolerance,
                        (choice.complete ? complete_reduction : kReduction) * ends.violation());
    }
    if (!solve_block(problem, x, choice.rows, target, memory, floats, progress, ctx)) return false;
    if (floats != nullptr && !progress.narrow) return false;
    if (n <= kWholeBelow && progress.stalled) return false;
  }
}

/// As far as floats go, but no further than `tolerance`: each pass takes some digits off the
/// violation it starts from, the gradient being that of the rounded matrix from there on.
void solve_in_float(const BoxProblem& problem, BoxIterate& x, double tolerance, BlockMemory& memory,
                    FloatColumns& floats, BoxProgress& progress, const RunContext& ctx) {
  const double violation = gradient_ends(problem, x).violation();
  const long limit = progress.limit;
  progress.narrow = true;
  progress.limit = std::min(limit, progress.iterations + kFloatSteps * (1000 + x.u.size()));
  solve_box(problem, x, 0.9 * std::max(tolerance, kFloatDigits * violation), memory, &floats,
            progress, ctx);
  progress.limit = limit;
}

/// b = -rho, where rho is the common value of g over the free variables.
double offset(const BoxProblem& problem, const BoxIterate& x) {
  double sum = 0;
  Index count = 0;
  for (Index i = 0; i < x.u.size(); ++i) {
    if (x.u[i] > problem.lower[i] && x.u[i] < problem.upper[i]) {
      sum += x.g[i];
      ++count;
    }
  }
  if (count > 0) return -sum / static_cast<double>(count);
  const Ends ends = gradient_ends(problem, x);
  if (std::isfinite(ends.lowest) && std::isfinite(ends.highest)) {
    return -0.5 * (ends.lowest + ends.highest);
  }
  if (std::isfinite(ends.lowest)) return -ends.lowest;
  if (std::isfinite(ends.highest)) return -ends.highest;
  return 0;
}

/// Of the work of a solution: what a look for negative curvature may cost on top.
constexpr double kShareOfLook = 0.3;

/// Squares of larger entries could overflow in float, those of smaller ones vanish.
constexpr double kOrdinary = 1e6;

/// Where cost times kernel is so large that margins drown in rounding as soon as classes overlap,
/// what can be solved is solved in a few steps per sample, and the rest never.
long default_limit(const SvmDual& problem) {
  constexpr double kHopeless = 1e14;
  const double reach = (problem.cost.array() * problem.K.diagonal().array().abs()).maxCoeff();
  return (reach < kHopeless ? 10'000'000 : 100'000) + 200 * static_cast<long>(problem.K.size());
}

struct Attempt {
  SmoSolution solution;
  bool finite = true;
};

Attempt attempt(const SvmDual& problem, const SmoSettings& settings, const RunContext& ctx,
                const std::optional<Vector>& start, double scale) {
  const Index n = problem.K.size();
  const BoxProblem box = box_problem(problem, scale);
  BoxProgress progress;
  progress.limit = settings.max_iterations > 0 ? settings.max_iterations : default_limit(problem);
  progress.newton = settings.newton && settings.convexity != Convexity::kRefuted;
  progress.negative_curvature = settings.convexity == Convexity::kRefuted;
  BlockMemory memory;
  BoxIterate x{Vector::Zero(n), box.q};
  if (start) {
    x.u = feasible(box, problem.y.cwiseProduct(*start) * scale);
    x.g += box.K.times(x.u);
  }

  Attempt result;
  SmoSolution& s = result.solution;
  const double unit = kkt_unit(problem);
  const bool unproved = settings.convexity == Convexity::kUnknown;
  double tolerance = settings.tolerance;
  const auto rounding = [&] { return gradient_noise(box, x.u.cwiseAbs().sum()); };
  FloatColumns floats(box.K);
  progress.narrow = n > kWholeBelow;
  while (true) {
    const double target = std::max(tolerance * unit, rounding());
    const double before = gradient_ends(box, x).violation();
    const bool in_float = progress.narrow;
    bool reached = false;
    if (in_float) {
      solve_in_float(box, x, target, memory, floats, progress, ctx);
    } else {
      reached = solve_box(box, x, target, memory, nullptr, progress, ctx);
    }
    s.alpha = problem.y.cwiseProduct(x.u) / scale;
    s.b = offset(box, x);
    result.finite = x.g.allFinite() && s.alpha.allFinite();
    if (!result.finite) return result;
    const SvmCertificate c = certify(problem, s.alpha, s.b);
    // From here on the gradient is the fresh one, free of what the updates had gathered.
    x.g = c.decision.array() - s.b + box.q.array();
    const double after = gradient_ends(box, x).violation();
    reached = reached || after <= target;
    const double norm = s.alpha.stableNorm();
    bool convex = !progress.negative_curvature &&
                  c.quadratic >= -4 * (curvature_noise(problem.K) * norm) * norm;
    s.info.objective = c.dual;
    s.info.kkt_residual = c.kkt_residual;
    const bool kkt = c.kkt_residual <= settings.tolerance && c.feasibility <= settings.tolerance;
    const bool gap = !convex || unproved || c.gap <= settings.gap_tolerance;
    if (kkt && convex && unproved) {
      convex = !supports_refute(problem.K, s.alpha, kShareOfLook * progress.work, ctx);
    }
    s.info.gap = convex ? c.gap : std::numeric_limits<double>::quiet_NaN();
    if (kkt && gap) {
      s.info.status = !convex    ? SolveStatus::kStationary
                      : unproved ? SolveStatus::kUnchecked
                                 : SolveStatus::kSolved;
    } else if (progress.iterations >= progress.limit) {
      s.info.status = SolveStatus::kIterationLimit;
    } else if (in_float && !(after <= target)) {
      // On from the exact gradient, in double where the last pass was worth little.
      progress.narrow = progress.narrow && after < 0.1 * before;
      continue;
    } else if (!reached || tolerance * unit <= rounding()) {
      s.info.status = SolveStatus::kReducedAccuracy;
    } else {
      // The gap follows the violation in proportion, at first sight.
      tolerance *= std::clamp(0.3 * settings.gap_tolerance / c.gap, 1e-3, 0.1);
      continue;
    }
    break;
  }
  s.info.iterations = progress.iterations;
  s.gradient = problem.y.cwiseProduct(x.g);
  s.largest_alpha = s.alpha.maxCoeff();
  return result;
}

}  // namespace

SmoSolution smo(const SvmDual& problem, const SmoSettings& settings, const RunContext& ctx,
                const std::optional<Vector>& start) {
  validate(problem);
  if (start && (start->size() != problem.K.size() || !start->allFinite())) {
    engine::refuse("a start has one finite value per sample; this one has " +
                   std::to_string(start->size()) + " entries for " +
                   std::to_string(problem.K.size()) + " samples");
  }
  Attempt result = attempt(problem, settings, ctx, start,
                           own_unit(problem.K.diagonal().cwiseAbs().maxCoeff(), kOrdinary));
  if (!result.finite) {
    // Entries far larger than the diagonal: only an indefinite matrix has them.
    result = attempt(problem, settings, ctx, start, own_unit(problem.K.largest_entry(), kOrdinary));
    if (!result.finite) result.solution.info.status = SolveStatus::kNumericalFailure;
  }
  return std::move(result.solution);
}

}  // namespace kith::dual

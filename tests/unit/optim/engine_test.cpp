// SPDX-License-Identifier: Apache-2.0
// The loop that every interior point method runs in, and the way iterations end.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/rng.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"

namespace kith::engine::engine_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(BestSoFar, EndsWhereTheToleranceIsMet) {
  const RunContext ctx;
  BestSoFar best({.tolerance = 0.1, .iterations = 10, .patience = 3}, ctx);
  EXPECT_TRUE(best.offer(1));
  EXPECT_TRUE(best.goes_on());
  best.stepped();
  EXPECT_TRUE(best.offer(0.05));
  EXPECT_FALSE(best.goes_on());
  EXPECT_EQ(best.status(), SolveStatus::kSolved);
  EXPECT_EQ(best.iterations(), 1);
  EXPECT_EQ(best.merit(), 0.05);
}

TEST(BestSoFar, KeepsTheBestAndLosesPatience) {
  const RunContext ctx;
  BestSoFar best({.tolerance = 0.1, .iterations = 100, .patience = 3}, ctx);
  EXPECT_TRUE(best.offer(1));
  int steps = 0;
  for (; best.goes_on(); ++steps) {
    best.stepped();
    EXPECT_FALSE(best.offer(2));
  }
  EXPECT_EQ(steps, 4);
  EXPECT_EQ(best.status(), SolveStatus::kReducedAccuracy);
  EXPECT_EQ(best.merit(), 1);
}

TEST(BestSoFar, WaitsWhileComplementarityFalls) {
  const RunContext ctx;
  BestSoFar best({.tolerance = 0.1, .iterations = 20, .patience = 3}, ctx);
  double mu = 1;
  best.watch(mu);
  EXPECT_TRUE(best.offer(1));
  while (best.goes_on()) {
    best.stepped();
    best.watch(mu *= 0.5);
    best.offer(1);
  }
  EXPECT_EQ(best.status(), SolveStatus::kIterationLimit);
  EXPECT_EQ(best.iterations(), 20);
}

TEST(BestSoFar, DoesNotWaitForProductsFarBelowThoseOfTheBestPoint) {
  const RunContext ctx;
  BestSoFar best({.tolerance = 0.1, .iterations = 1000, .patience = 3}, ctx);
  double mu = 1;
  best.watch(mu);
  EXPECT_TRUE(best.offer(1));
  while (best.goes_on()) {
    best.stepped();
    best.watch(mu *= 0.5);
    best.offer(1);  // rounding alone
  }
  EXPECT_EQ(best.status(), SolveStatus::kReducedAccuracy);
  EXPECT_GT(best.iterations(), 20);
  EXPECT_LE(best.iterations(), 35);
}

TEST(BestSoFar, TakesNoNumberForTheWorst) {
  const RunContext ctx;
  BestSoFar best({}, ctx);
  EXPECT_TRUE(best.offer(std::nan("")));
  EXPECT_EQ(best.merit(), kInfinity);
  EXPECT_TRUE(best.offer(5));
}

/// max 1'a - 1/2 a'Q a over 0 <= a <= cost, y'a = 0: a support vector machine.
class Machine {
 public:
  struct Step {
    BoxStep box;
    double b = 0;
  };

  Machine(const Matrix& Q, const Vector& y, const Vector& cost) : Q_(Q), y_(y), cost_(cost) {
    const Vector a = box_centre(cost, y);
    x_ = BoxPoint(cost, a, start_product(a, gradient(a)));
    x_.balance(gradient(a));
  }

  double merit() {
    const Vector slack = (gradient(x_.a) - b_ * y_).cwiseMax(0.0);
    const double primal = 0.5 * x_.a.dot(Q_ * x_.a) + cost_.dot(slack);
    const double dual = x_.a.sum() - 0.5 * x_.a.dot(Q_ * x_.a);
    return (primal - dual) / std::abs(primal);
  }
  void keep() { best = x_.a; }
  [[nodiscard]] double complementarity() const { return x_.products() / x_.count(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return x_.products(d.box, length) / x_.count();
  }
  bool factor() {
    Matrix A = Q_;
    A.diagonal() += BoxEquations(x_).diagonal();
    return kkt_.factor(std::move(A), y_);
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    const BoxEquations box(x_);
    const auto products = box.right_side(target, before != nullptr ? &before->box : nullptr);
    const BorderedSystem::Answer found = kkt_.solve(gradient(x_.a) + products.pull());
    Step step{.box = {.a = found.d}, .b = found.m(0)};
    restore_balance(y_, step.box.a);
    box.complete(products, step.box);
    return step;
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return std::min(1.0, fraction * x_.largest_step(d.box));
  }
  bool advance(const Step& d, double length) {
    x_.advance(d.box, length);
    b_ += length * (d.b - b_);
    return x_.a.allFinite();
  }

  Vector best;

 private:
  [[nodiscard]] Vector gradient(const Vector& a) const { return 1 - (Q_ * a).array(); }

  Matrix Q_;
  Vector y_, cost_;
  BoxPoint x_;
  double b_ = 0;
  BorderedSystem kkt_;
};

struct MachineData {
  Matrix Q;
  Vector y, cost;
};

MachineData machine_data(Index n, double cost) {
  Rng rng(3);
  Matrix X(n, 4);
  for (double& value : X.reshaped()) value = rng.normal();
  Vector y(n);
  for (Index i = 0; i < n; ++i) y(i) = i % 3 == 0 ? 1 : -1;
  const Matrix Z = y.asDiagonal() * X;
  return {Z * Z.transpose() + 1e-3 * Matrix::Identity(n, n), y, Vector::Constant(n, cost)};
}

TEST(RunInterior, SolvesTheDualOfAMachine) {
  for (const double cost : {1e-2, 1.0, 100.0}) {
    const MachineData data = machine_data(40, cost);
    Machine machine(data.Q, data.y, data.cost);
    const BestSoFar end = run_interior(machine, {.tolerance = 1e-9}, 0.99, RunContext{});
    ASSERT_EQ(end.status(), SolveStatus::kSolved) << cost;
    EXPECT_LE(end.iterations(), 30) << cost;
    EXPECT_LE(infeasibility(data.y, data.cost, machine.best), 1e-12) << cost;
    // No feasible direction from the answer leads up by more than the gap.
    const double value = machine.best.sum() - 0.5 * machine.best.dot(data.Q * machine.best);
    Rng rng(5);
    for (int trial = 0; trial < 50; ++trial) {
      Vector other(data.y.size());
      for (double& a : other) a = cost * rng.uniform();
      other = 0.5 * other + 0.5 * machine.best;
      other = at_bounds(data.y, data.cost, other);
      if (infeasibility(data.y, data.cost, other) > 1e-9) continue;
      EXPECT_LE(other.sum() - 0.5 * other.dot(data.Q * other), value * (1 + 1e-8));
    }
  }
}

TEST(RunInterior, EndsAtItsLimitWithTheBestPoint) {
  const MachineData data = machine_data(40, 1);
  Machine machine(data.Q, data.y, data.cost);
  const BestSoFar end =
      run_interior(machine, {.tolerance = 1e-9, .iterations = 2}, 0.99, RunContext{});
  EXPECT_EQ(end.status(), SolveStatus::kIterationLimit);
  EXPECT_EQ(end.iterations(), 2);
  EXPECT_EQ(machine.best.size(), 40);
}

/// A problem whose system cannot be solved until it is told to restart.
struct Stubborn {
  struct Step {};
  double merit() { return restarted ? 0 : 1; }
  void keep() {}
  [[nodiscard]] double complementarity() const { return 1; }
  [[nodiscard]] double complementarity(const Step&, double) const { return 1; }
  bool factor() { return restarted; }
  [[nodiscard]] Step direction(double, const Step*) const { return {}; }
  [[nodiscard]] double reach(const Step&, double) const { return 1; }
  bool advance(const Step&, double) { return true; }
  bool restart() {
    if (!may_restart || restarted) return false;
    return restarted = true;
  }
  bool may_restart = true;
  bool restarted = false;
};

TEST(RunInterior, RestartsWhereTheProblemKnowsAnotherWay) {
  Stubborn problem;
  EXPECT_EQ(run_interior(problem, {}, 0.99, RunContext{}).status(), SolveStatus::kSolved);
  Stubborn hopeless{.may_restart = false};
  EXPECT_EQ(run_interior(hopeless, {}, 0.99, RunContext{}).status(),
            SolveStatus::kNumericalFailure);
}

TEST(BorderedSystem, SolvesItsEquations) {
  const MachineData data = machine_data(12, 1);
  BorderedSystem system;
  ASSERT_TRUE(system.factor(data.Q, data.y));
  const Vector r = Vector::LinSpaced(12, -1, 2);
  const BorderedSystem::Answer found = system.solve(r);
  EXPECT_LE((data.Q * found.d + data.y * found.m - r).norm(), 1e-8 * r.norm());
  EXPECT_NEAR(data.y.dot(found.d), 0, 1e-8);
}

}  // namespace
}  // namespace kith::engine::engine_test

// SPDX-License-Identifier: Apache-2.0
// Extreme eigenpairs of a symmetric S without a full decomposition.
//
// Works on A = f S with f = +-1/||S||, so that ||A|| <= 1 and the wanted pairs are the smallest.
//   search   Lanczos on the complement of the pairs already locked; if it does not get there (a
//   dense
//            edge), Lanczos on (A - sigma I)^-1 with a sigma just below the best Ritz value.
//   verify   With theta_1 <= .. <= theta_k locked, if
//              B = A - (theta_k - delta) I + sum_{i<k} tau u_i u_i'
//            has a Cholesky factor, then A has at most k-1 eigenvalues below theta_k - delta (a
//            positive update of rank k-1 lifts no more): nothing was missed. If it has none, the
//            failing column yields v with v'B v <= 0, and the search goes on from v, which leads
//            below theta_k.
// A Cholesky factorisation costs 1/30 of a full decomposition, a Lanczos step one product with S.
//
// The loops stand alone: they are few attempts, after which a full decomposition takes over.
#include "kith/numerics/extreme_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/shape.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "numerics/cholesky.hpp"
#include "numerics/lanczos.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
/// Up to here a full decomposition takes a few milliseconds.
constexpr Index kSmall = 200;
/// Verified relative accuracy of an eigenvalue; ten times finer is asked of the search.
constexpr double kVerified = 1e-9;
/// Residual asked of a returned eigenvector, relative to ||S||.
constexpr double kResidual = 1e-10;
/// Where only the eigenvalue is wanted: the factorisation bounds it whatever the vector.
constexpr double kAnyResidual = 1;
/// Krylov space in products with S: at n = 4,000 about a seventh of a full decomposition.
constexpr Index kBasis = 320;
/// The same for solves with a factor, of which a dense edge needs a few dozen.
constexpr Index kInverseBasis = 80;
constexpr int kInverseAttempts = 4;
constexpr int kFactorAttempts = 4;

/// What rounding may do to an eigenvalue of A, ||A|| <= 1, in products and in a Cholesky factor.
double rounding_floor(Index n) { return 4 * std::sqrt(static_cast<double>(n)) * kEps; }

/// Row-sum norm of the symmetric matrix in the lower triangle of S.
double checked_norm(const MatrixRef& S) {
  check_square("the matrix of which extreme eigenvalues are wanted", S.rows(), S.cols());
  const Index n = S.rows();
  Vector sums = Vector::Zero(n);
  for (Index j = 0; j < n; ++j) {
    const Index below = n - j - 1;
    sums[j] += std::abs(S(j, j)) + S.col(j).tail(below).cwiseAbs().sum();
    sums.tail(below) += S.col(j).tail(below).cwiseAbs();
  }
  const double norm = n == 0 ? 0 : sums.maxCoeff();
  if (std::isfinite(norm) && sums.allFinite()) return norm;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      if (!std::isfinite(S(i, j))) {
        throw invalid("entry ({}, {}) of the matrix is {}; it must be finite", i + 1, j + 1,
                      S(i, j));
      }
    }
  }
  return std::numeric_limits<double>::infinity();
}

/// Pairs of A found so far, ascending.
struct Locked {
  Vector theta;
  Matrix U;

  void add(const Vector& more_theta, const Matrix& more_U) {
    const Index old = theta.size();
    const Index all = old + more_theta.size();
    Vector both(all);
    both << theta, more_theta;
    Matrix vectors(more_U.rows(), all);
    vectors.leftCols(old) = U;
    vectors.rightCols(more_U.cols()) = more_U;
    std::vector<Index> order = all_positions(all);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return both[a] < both[b]; });
    theta = both(order);
    U = vectors(Eigen::all, order);
  }
};

/// The state of one search for the smallest pairs of A = factor * S.
class Search {
 public:
  Search(const MatrixRef& S, double factor, double residual_goal, const RunContext& ctx)
      : S_(S), factor_(factor), residual_goal_(residual_goal), ctx_(ctx), locked_{{}, {}} {
    locked_.U.resize(S.rows(), 0);
  }

  /// Locks the `count` smallest pairs and returns the verified delta, or nothing if it gave up.
  [[nodiscard]] std::optional<double> run(Index count);
  [[nodiscard]] const Locked& locked() const { return locked_; }
  /// A - sigma I + 2 sum u_i u_i' over the first `lifted` locked pairs is factored;
  /// nothing if it is positive definite, else a vector on which it is not positive.
  [[nodiscard]] std::optional<Vector> factor_shifted(double sigma, Index lifted);

 private:
  [[nodiscard]] Index n() const { return S_.rows(); }
  [[nodiscard]] double floor() const { return rounding_floor(n()); }
  void multiply(const VectorRef& x, Eigen::Ref<Vector> y) const;
  void solve(const VectorRef& x, Eigen::Ref<Vector> y) const;
  [[nodiscard]] Vector bad_direction(Index column, Index lifted) const;
  [[nodiscard]] bool extend(const Vector& start, Index count);
  [[nodiscard]] bool extend_by_inverse(detail::LanczosResult stalled);
  [[nodiscard]] std::optional<double> factor_below(double theta, double distance);
  void measure(detail::LanczosResult& found) const;
  [[nodiscard]] Index count_below(double bound) const;

  /// A failed verification: `below` locked pairs lay below `bound` at the time.
  struct Miss {
    double bound;
    Index below;
  };

  const MatrixRef& S_;
  double factor_;
  double residual_goal_;
  const RunContext& ctx_;
  Locked locked_;
  Matrix L_;  ///< the last Cholesky factor
};

/// y = A x
void Search::multiply(const VectorRef& x, Eigen::Ref<Vector> y) const {
  const int size = static_cast<int>(n());
  const int stride = static_cast<int>(S_.outerStride());
  const int one = 1;
  const double zero = 0;
  dsymv_("L", &size, &factor_, S_.data(), &stride, x.data(), &one, &zero, y.data(), &one);
}

/// y = -(L L')^-1 x, whose smallest eigenvalues belong to the smallest of L L'
void Search::solve(const VectorRef& x, Eigen::Ref<Vector> y) const {
  const int size = static_cast<int>(n());
  const int one = 1;
  y = -x;
  dtrsv_("L", "N", "N", &size, L_.data(), &size, y.data(), &one);
  dtrsv_("L", "T", "N", &size, L_.data(), &size, y.data(), &one);
}

std::optional<Vector> Search::factor_shifted(double sigma, Index lifted) {
  ctx_.check_stop();
  L_.resize(n(), n());
  for (Index j = 0; j < n(); ++j) L_.col(j).tail(n() - j) = factor_ * S_.col(j).tail(n() - j);
  L_.diagonal().array() -= sigma;
  // ||A|| <= 1, so 2 brings a lifted direction above every sigma in use.
  if (lifted > 0) L_.selfadjointView<Eigen::Lower>().rankUpdate(locked_.U.leftCols(lifted), 2.0);
  const Index leading = leading_cholesky(L_);
  if (leading == n()) return std::nullopt;
  return bad_direction(leading, lifted);
}

/// The pivot after the first `column` columns of the factor of B is not positive: with b the row
/// beside the leading block B11, v = (-B11^-1 b, 1, 0) has v'B v = that pivot.
Vector Search::bad_direction(Index column, Index lifted) const {
  Vector v = Vector::Zero(n());
  v[column] = 1;
  if (column == 0) return v;
  Vector b = -factor_ * S_.row(column).head(column).transpose();
  const MatrixRef lift = locked_.U.leftCols(lifted);
  b.noalias() -= 2 * (lift.topRows(column) * lift.row(column).transpose());
  const int size = static_cast<int>(column);
  const int stride = static_cast<int>(n());
  const int one = 1;
  dtrsv_("L", "N", "N", &size, L_.data(), &stride, b.data(), &one);
  dtrsv_("L", "T", "N", &size, L_.data(), &stride, b.data(), &one);
  v.head(column) = b;
  return v;
}

/// Locks up to `count` further pairs, found from `start`. False: the search did not converge.
bool Search::extend(const Vector& start, Index count) {
  const detail::LanczosGoal goal{.count = count,
                                 .relative = 0.1 * kVerified,
                                 .absolute = 0.1 * floor(),
                                 .residual = residual_goal_,
                                 .norm = 1,
                                 .max_basis = std::max(kBasis, 4 * count)};
  detail::LanczosResult found =
      detail::lanczos([this](const VectorRef& x, const Eigen::Ref<Vector>& y) { multiply(x, y); },
                      start, locked_.U, goal, ctx_);
  if (found.theta.size() == 0) return false;
  if (found.converged) {
    locked_.add(found.theta, found.vectors);
    return true;
  }
  return extend_by_inverse(std::move(found));
}

/// Lanczos with (A - sigma I)^-1, sigma just below the best Ritz value so far: in this operator the
/// wanted end of a dense spectrum stands far apart. Each time it stalls, the better Ritz value it
/// leaves behind allows a closer sigma.
bool Search::extend_by_inverse(detail::LanczosResult stalled) {
  for (int attempt = 0; attempt < kInverseAttempts; ++attempt) {
    const double best = stalled.theta[0];
    const std::optional<double> below = factor_below(best, stalled.residual[0]);
    if (!below) return false;
    const Index count = stalled.theta.size();
    // An error e of mu = -1/(theta - sigma) is one of about e (theta - sigma)^2 of theta.
    const double reach = *below + stalled.theta[count - 1] - best;
    const double wanted = 0.1 * (kVerified * std::abs(best) + floor());
    const detail::LanczosGoal goal{.count = count,
                                   .relative = std::max(wanted / reach, 10 * kEps),
                                   .residual = residual_goal_ / reach,
                                   .max_basis = std::max(kInverseBasis, 4 * count)};
    const Vector start = stalled.vectors.rowwise().sum();
    stalled =
        detail::lanczos([this](const VectorRef& x, const Eigen::Ref<Vector>& y) { solve(x, y); },
                        start, locked_.U, goal, ctx_);
    if (stalled.theta.size() == 0) return false;
    measure(stalled);
    if (stalled.converged) {
      locked_.add(stalled.theta, stalled.vectors);
      return true;
    }
  }
  return false;
}

/// Factors A - (theta - b) I for a small b >= distance, with the locked pairs lifted; gives b.
std::optional<double> Search::factor_below(double theta, double distance) {
  double below = std::max(distance, 10 * floor());
  for (int attempt = 0; attempt < kFactorAttempts; ++attempt, below *= 4) {
    if (!factor_shifted(theta - below, locked_.theta.size())) return below;
  }
  return std::nullopt;
}

/// Rayleigh quotients and residuals in A of vectors that came from its inverse.
void Search::measure(detail::LanczosResult& found) const {
  Vector product(n());
  for (Index i = 0; i < found.theta.size(); ++i) {
    multiply(found.vectors.col(i), product);
    found.theta[i] = product.dot(found.vectors.col(i));
    found.residual[i] = (product - found.theta[i] * found.vectors.col(i)).norm();
  }
}

Vector random_start(Index n, std::uint64_t round) {
  // Not the run's seed: the answer is a property of the matrix.
  Rng rng = RngStreams(1).stream("extreme eigenpairs", round);
  return Vector::NullaryExpr(n, [&](Index) { return rng.normal(); });
}

std::optional<double> Search::run(Index count) {
  const Index rounds = 2 * count + 8;
  double widening = 1;
  Vector start = random_start(n(), 0);
  std::optional<Miss> miss;
  for (Index round = 1; round <= rounds; ++round) {
    const Index missing = count - locked_.theta.size();
    if (!extend(start, std::max<Index>(missing, 1))) return std::nullopt;
    if (locked_.theta.size() < count) {
      start = random_start(n(), static_cast<std::uint64_t>(round));
      continue;
    }
    // A factor that fails although no pair lies below fails from rounding: leave it more room.
    if (miss && count_below(miss->bound) == miss->below) widening *= 4;
    const double edge = locked_.theta[count - 1];
    const double delta = widening * (kVerified * std::abs(edge) + floor());
    const std::optional<Vector> missed = factor_shifted(edge - delta, count - 1);
    if (!missed) return delta;
    start = *missed;
    miss = Miss{edge - delta / 2, count_below(edge - delta / 2)};
  }
  return std::nullopt;
}

Index Search::count_below(double bound) const { return (locked_.theta.array() < bound).count(); }

/// Whether the search pays, and there is a size to take as its unit.
bool worth_searching(Index n, Index count, double norm) {
  return n > kSmall && count <= n / 10 && norm > 0;
}

ExtremePairs from_full(const MatrixRef& S, Index count, SpectrumEnd end, double norm) {
  const SymmetricEigen full = symmetric_eigen(S);
  ExtremePairs pairs;
  if (end == SpectrumEnd::kSmallest) {
    pairs.lambda = full.lambda.head(count);
    pairs.U = full.U.leftCols(count);
  } else {
    pairs.lambda = full.lambda.tail(count).reverse();
    pairs.U = full.U.rightCols(count).rowwise().reverse();
  }
  pairs.slack = static_cast<double>(S.rows()) * kEps * norm;
  return pairs;
}

void add_residuals(const MatrixRef& S, ExtremePairs& pairs) {
  if (pairs.lambda.size() == 0) return;
  const Matrix R =
      S.selfadjointView<Eigen::Lower>() * pairs.U - pairs.U * pairs.lambda.asDiagonal();
  pairs.residual.resize(R.cols());
  for (Index i = 0; i < R.cols(); ++i) pairs.residual[i] = R.col(i).stableNorm();
}

std::optional<EigenvalueBracket> search_bracket(Search& search, Index n, double norm) {
  const std::optional<double> delta = search.run(1);
  if (!delta) return std::nullopt;
  const double theta = search.locked().theta[0];
  return EigenvalueBracket{(theta - 2 * *delta) * norm, (theta + rounding_floor(n)) * norm};
}

EigenvalueBracket bracket_from_values(const MatrixRef& S, double norm) {
  if (S.rows() == 0 || norm == 0) return {0, 0};
  const double lambda = symmetric_eigenvalues(S)[0];
  const double rounding = static_cast<double>(S.rows()) * kEps * norm;
  return {lambda - rounding, lambda + rounding};
}

}  // namespace

ExtremePairs extreme_eigenpairs(const MatrixRef& S, Index count, SpectrumEnd end,
                                const RunContext& ctx) {
  const double norm = checked_norm(S);
  if (count < 0 || count > S.rows()) {
    throw invalid("{} extreme eigenpairs of a {} x {} matrix; between 0 and {} exist", count,
                  S.rows(), S.cols(), S.rows());
  }
  ctx.check_stop();
  ExtremePairs pairs;
  std::optional<double> delta;
  if (count > 0 && worth_searching(S.rows(), count, norm)) {
    const double sign = end == SpectrumEnd::kSmallest ? 1 : -1;
    Search search(S, sign / norm, kResidual, ctx);
    delta = search.run(count);
    if (delta) {
      pairs.lambda = search.locked().theta.head(count) * (sign * norm);
      pairs.U = search.locked().U.leftCols(count);
      pairs.slack = 2 * *delta * norm;
      fix_signs(pairs.U);
    }
  }
  if (!delta) pairs = from_full(S, count, end, norm);
  add_residuals(S, pairs);
  return pairs;
}

EigenvalueBracket smallest_eigenvalue(const MatrixRef& S, const RunContext& ctx) {
  const double norm = checked_norm(S);
  ctx.check_stop();
  if (worth_searching(S.rows(), 1, norm)) {
    Search search(S, 1 / norm, kAnyResidual, ctx);
    if (const auto bracket = search_bracket(search, S.rows(), norm)) return *bracket;
  }
  return bracket_from_values(S, norm);
}

double shift_to_psd(const MatrixRef& S, const RunContext& ctx) {
  const double norm = checked_norm(S);
  const Index n = S.rows();
  const double zero = static_cast<double>(n) * kEps * norm;
  ctx.check_stop();
  std::optional<EigenvalueBracket> bracket;
  if (worth_searching(n, 1, norm)) {
    // One factorisation settles the positive case; the others mostly fail in its first columns.
    Search search(S, 1 / norm, kAnyResidual, ctx);
    if (!search.factor_shifted(-zero / norm, 0)) return 0;
    bracket = search_bracket(search, n, norm);
  }
  if (!bracket) bracket = bracket_from_values(S, norm);
  return bracket->upper >= -zero ? 0 : -bracket->lower;
}

bool is_positive_semidefinite(const MatrixRef& S, const RunContext& ctx) {
  const double norm = checked_norm(S);
  if (norm == 0) return true;
  Search search(S, 1 / norm, kAnyResidual, ctx);
  return !search.factor_shifted(-static_cast<double>(S.rows()) * kEps, 0);
}

}  // namespace kith

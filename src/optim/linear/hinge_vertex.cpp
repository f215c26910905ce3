// SPDX-License-Identifier: Apache-2.0
// On the optimal face of a hinge program
//
//   p_j = 0 except in J, where p_j has the sign sigma_j;     margin_i = 1 for i in E,
//   margin_i >= 1 where a_i = 0,                             margin_i <= 1 where a_i = c_i,
//
// and the objective is constant. With z = (p_J, b) the margins in E are A z. Any direction of the
// null space N of A stays on the face until a p_j becomes 0 or a margin becomes 1; that adds one
// equation and takes one column from N. What remains in the end is a vertex. The walk stands alone:
// it ends after as many steps as N has columns.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "optim/linear/hinge_interior.hpp"

namespace kith::linear {
namespace {

enum class Row { kOutside, kMargin, kInside };  // a = 0; between; a = c

/// Which inequalities are equations, by comparing partners in their own units.
struct Face {
  std::vector<Index> J;
  Vector sign;  // of J
  std::vector<Row> rows;
  std::vector<Index> E;
};

Face guess_face(const HingeIterate& x) {
  Face face;
  const Vector p = x.u() - x.v();
  // Margins are 1 and entries of G at most 1: smaller coefficients than this are no unit for
  // others.
  constexpr double kSmallestUnit = 1e-3;
  const double largest_p =
      p.size() > 0 ? std::max({x.u().maxCoeff(), x.v().maxCoeff(), kSmallestUnit}) : kSmallestUnit;
  std::vector<double> signs;
  for (Index j = 0; j < p.size(); ++j) {
    const double slack = p(j) > 0 ? x.zu()(j) : x.zv()(j);
    if (std::abs(p(j)) > largest_p * slack) {
      face.J.push_back(j);
      signs.push_back(p(j) > 0 ? 1 : -1);
    }
  }
  face.sign = Eigen::Map<const Vector>(signs.data(), static_cast<Index>(signs.size()));
  const double largest_a = x.a().maxCoeff();
  for (Index i = 0; i < x.a().size(); ++i) {
    const bool zero = x.a()(i) < largest_a * x.s()(i);
    const bool full = x.q()(i) < largest_a * x.xi()(i);
    face.rows.push_back(zero ? Row::kOutside : full ? Row::kInside : Row::kMargin);
    if (face.rows.back() == Row::kMargin) face.E.push_back(i);
  }
  return face;
}

/// A = [G_J y] in E, decomposed as A'P = Q R: solves A z = r, A'x = r and gives the null space.
class Equations {
 public:
  explicit Equations(const Matrix& A) : qr_(A.transpose()) {
    qr_.setThreshold(1e-11);
    rank_ = qr_.rank();
    R_ = qr_.matrixQR().topLeftCorner(rank_, rank_);
  }

  /// The shortest z with A z = r in as many rows as are independent.
  [[nodiscard]] Vector solve(const Vector& r) const {
    Vector t = (qr_.colsPermutation().transpose() * r).head(rank_);
    R_.triangularView<Eigen::Upper>().transpose().solveInPlace(t);
    Vector z = Vector::Zero(qr_.rows());
    z.head(rank_) = t;
    z.applyOnTheLeft(qr_.householderQ());
    return z;
  }

  /// A solution of A'x = r in the sense of least squares.
  [[nodiscard]] Vector solve_transposed(Vector r) const {
    r.applyOnTheLeft(qr_.householderQ().adjoint());
    Vector x = Vector::Zero(qr_.cols());
    Vector head = r.head(rank_);
    R_.triangularView<Eigen::Upper>().solveInPlace(head);
    x.head(rank_) = head;
    return qr_.colsPermutation() * x;
  }

  [[nodiscard]] Matrix null_space() const {
    const Index size = qr_.rows();
    Matrix N = Matrix::Zero(size, size - rank_);
    N.bottomRows(size - rank_).setIdentity();
    N.applyOnTheLeft(qr_.householderQ());
    return N;
  }

 private:
  Eigen::ColPivHouseholderQR<Matrix> qr_;
  Matrix R_;  // its independent part
  Index rank_ = 0;
};

/// The first inequality met on the way z + t d, t > 0.
struct Hit {
  double t = std::numeric_limits<double>::infinity();
  std::optional<Index> column;  // position in J
  std::optional<Index> row;
};

Hit first_hit(const Face& face, const Vector& z, const Vector& margins, const Vector& d,
              const Vector& change, double direction) {
  Hit hit;
  for (Index j = 0; j < face.sign.size(); ++j) {
    const double rate = face.sign(j) * d(j) * direction;
    if (z(j) == 0 || !(rate < 0)) continue;
    const double t = std::max(0.0, face.sign(j) * z(j)) / -rate;
    if (t < hit.t) hit = {t, j, std::nullopt};
  }
  for (Index i = 0; i < margins.size(); ++i) {
    const Row row = face.rows[static_cast<std::size_t>(i)];
    if (row == Row::kMargin) continue;
    const double side = row == Row::kOutside ? 1 : -1;
    const double rate = side * change(i) * direction;
    if (!(rate < -1e-14)) continue;
    const double t = std::max(0.0, side * (margins(i) - 1)) / -rate;
    if (t < hit.t) hit = {t, std::nullopt, i};
  }
  return hit;
}

/// Rotates N so that only its last column meets the equation `normal`, and drops that column.
void restrict_to(Matrix& N, const Vector& normal) {
  Vector q = N.transpose() * normal;
  const Index last = q.size() - 1;
  const double length = q.norm();
  if (length > 0) {
    q(last) += q(last) >= 0 ? length : -length;
    const Vector image = N * q;
    N.noalias() -= image * (2 / q.squaredNorm() * q.transpose());
  }
  N.conservativeResize(Eigen::NoChange, last);
}

/// Moves z to a vertex; rows and columns that become equations are noted in `face` and as zeros.
void walk(Face& face, const Matrix& columns, Vector& z, Matrix N, const RunContext& ctx) {
  Vector margins = columns * z;
  while (N.cols() > 0) {
    ctx.check_stop();
    const Vector d = N.col(N.cols() - 1);
    const Vector change = columns * d;
    Hit forward = first_hit(face, z, margins, d, change, 1);
    Hit backward = first_hit(face, z, margins, d, change, -1);
    // A column that becomes zero makes the model smaller; a row does not.
    const bool back = backward.column && !forward.column   ? true
                      : forward.column && !backward.column ? false
                                                           : backward.t < forward.t;
    const Hit& hit = back ? backward : forward;
    if (!std::isfinite(hit.t)) {
      N.conservativeResize(Eigen::NoChange, N.cols() - 1);
      continue;
    }
    const double t = back ? -hit.t : hit.t;
    z += t * d;
    margins += t * change;
    Vector normal = Vector::Zero(z.size());
    if (hit.column) {
      z(*hit.column) = 0;
      normal(*hit.column) = 1;
    } else {
      face.rows[static_cast<std::size_t>(*hit.row)] = Row::kMargin;
      face.E.push_back(*hit.row);
      normal = columns.row(*hit.row);
    }
    restrict_to(N, normal);
    for (Index j = 0; j + 1 < z.size(); ++j) {
      if (z(j) == 0) N.row(j).setZero();
    }
  }
}

Matrix signed_columns(const HingeBlock& block, const std::vector<Index>& J) {
  Matrix columns(block.G.rows(), static_cast<Index>(J.size()) + 1);
  columns.leftCols(static_cast<Index>(J.size())) = block.G(Eigen::all, J);
  columns.rightCols(1) = block.y;
  return columns;
}

void add_at(Vector& to, const std::vector<Index>& places, const Vector& values) {
  for (std::size_t i = 0; i < places.size(); ++i) to(places[i]) += values(static_cast<Index>(i));
}

/// Solves the margins of E exactly for the columns that are left.
void finish(const Face& face, const Matrix& columns, Vector& z) {
  std::vector<Index> left;
  for (Index j = 0; j < z.size(); ++j) {
    if (z(j) != 0 || j + 1 == z.size()) left.push_back(j);
  }
  const Matrix A = columns(face.E, left);
  const Vector missing = Vector::Ones(A.rows()) - A * z(left);
  if (A.rows() > 0) add_at(z, left, Equations(A).solve(missing));
}

}  // namespace

HingePoint hinge_vertex(const HingeBlock& block, const HingeIterate& inside,
                        const RunContext& ctx) {
  Face face = guess_face(inside);
  const auto active = static_cast<Index>(face.J.size());
  const Matrix columns = signed_columns(block, face.J);
  HingePoint point{.p = Vector::Zero(block.G.cols()), .b = 0, .a = inside.a()};
  for (Index i = 0; i < point.a.size(); ++i) {
    const Row row = face.rows[static_cast<std::size_t>(i)];
    if (row != Row::kMargin) point.a(i) = row == Row::kInside ? block.c(i) : 0.0;
  }
  Vector z(active + 1);
  z.head(active) = (inside.u() - inside.v())(face.J);
  z(active) = inside.b;

  Matrix N = Matrix::Identity(active + 1, active + 1);
  if (!face.E.empty()) {
    const Matrix A = columns(face.E, Eigen::all);
    const Equations system(A);
    Vector wanted(active + 1);
    wanted << face.sign, 0;
    const Vector dual_missing = wanted - columns.transpose() * point.a;
    add_at(point.a, face.E, system.solve_transposed(dual_missing));
    const Vector missing = Vector::Ones(A.rows()) - A * z;
    z += system.solve(missing);
    N = system.null_space();
  }
  walk(face, columns, z, std::move(N), ctx);
  finish(face, columns, z);
  add_at(point.p, face.J, z.head(active));
  point.b = z(active);
  return point;
}

}  // namespace kith::linear

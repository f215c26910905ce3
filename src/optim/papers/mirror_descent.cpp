// SPDX-License-Identifier: Apache-2.0
// Mirror descent of [KTBB]: Algorithm 1 (one shared kernel), 2 (separate ones) and 3 (spectra). At
// step t, with g_k = -u u' / (2 gamma_k) + rho sum_i L'(K_k - S_i) a subgradient at the kernels K_k
// and eta_t = sqrt(2 log n / (p t)) / max_k |g_k|_2,
//
//   G_k -= eta_t g_k,     K_k = trace exp(G_k) / tr exp(G_k).
//
// Deviations. (a) Algorithms 1 and 2 print lambda_j exp(-eta d_j) with the eigenvalues lambda of
// the old kernel and the eigenvectors of the new gradient, which is that step only where the two
// commute; kPrinted keeps it for comparison. (b) (12) and Algorithm 3 drop the rho before the
// subgradient of the loss. (c) The step uses the current gradient's norm, not a bound for all
// of them: the first ones, at a multiple of the identity, are many times the later ones.
//
// Certificate: every step gives a linear lower bound f_t + <g_t, K - K_t> of the objective, and so
// does their mean with weights eta_t; its minimum over kernels of the trace is the smallest
// eigenvalue of sum eta g = -G. (For spectra: the smallest component.)
#include "kith/optim/papers/mirror_descent.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kith/optim/dual/smo.hpp"
#include "kith/optim/mkl/mixed.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/progress.hpp"
#include "optim/trace/point.hpp"

namespace kith::papers {
namespace {

/// One kernel: U diag(k) U', and the sum G of the steps so far, for spectra its diagonal.
struct Mirror {
  SymmetricEigen kernel;
  Matrix G;
};

/// The machine at the present kernels.
struct Machine {
  Vector alpha;
  Vector gamma;
  double b = 0;
  double lower = 0;  // what alpha and gamma attain
  double upper = 0;
};

struct Sums {
  double weight = 0;
  double constant = 0;  // eta (f - <g, K>)
  trace::Proof proof;
};

std::vector<Mirror> start(const trace::Problem& problem, const std::vector<SymmetricEigen>& eigen) {
  const Index n = problem.y.size();
  const Vector k = Vector::Constant(n, problem.trace / static_cast<double>(n));
  std::vector<Mirror> mirrors;
  for (Index i = 0; i < trace::kernel_count(problem); ++i) {
    if (problem.shape == trace::KernelShape::kSpectral) {
      mirrors.push_back({{k, eigen[static_cast<std::size_t>(i)].U}, Matrix::Zero(n, 1)});
    } else {
      mirrors.push_back({{k, Matrix::Identity(n, n)}, Matrix::Zero(n, n)});
    }
  }
  return mirrors;
}

Machine solve_machine(const trace::Problem& problem, const std::vector<Matrix>& K,
                      const Machine& before, const RunContext& ctx) {
  constexpr double kTolerance = 1e-6;
  if (K.size() == 1) {
    const dual::SvmDual dual{dual::SymmetricView::dense(K[0]), problem.y, problem.cost, {}};
    std::optional<Vector> near;
    if (before.alpha.size() > 0) near = before.alpha;
    const dual::SmoSolution best = dual::smo(dual, {}, ctx, near);
    const dual::SvmCertificate proof = certify(dual, best.alpha, best.b);
    return {best.alpha, Vector::Ones(1), best.b, proof.dual, proof.primal};
  }
  const mkl::MixedSolution best =
      mkl::solve_mixed({K, problem.y, problem.cost}, {.tolerance = kTolerance}, ctx);
  return {best.alpha, best.gamma, best.b, best.lower, best.upper};
}

/// -u u' / (2 gamma_k), for spectra its diagonal in the basis of the kernel.
Matrix machine_gradient(const trace::Problem& problem, const Mirror& mirror, const Vector& u,
                        double gamma) {
  if (problem.shape == trace::KernelShape::kSpectral) {
    const Vector p = mirror.kernel.U.transpose() * u;
    return -p.cwiseAbs2() / (2 * gamma);
  }
  return u * (u / (-2 * gamma)).transpose();
}

double spectral_norm(const trace::Problem& problem, const Matrix& g) {
  if (problem.shape == trace::KernelShape::kSpectral) return g.cwiseAbs().maxCoeff();
  return symmetric_eigenvalues(g).cwiseAbs().maxCoeff();
}

/// trace exp(g) / sum exp(g).
Vector softmax(const Vector& g, double trace) {
  const Vector e = (g.array() - g.maxCoeff()).exp();
  return e * (trace / e.sum());
}

/// The next kernel, G being up to date. Returns the largest eigenvalue of G.
double advance(const trace::Problem& problem, MirrorUpdate update, const Matrix& g, double eta,
               Mirror& mirror) {
  if (problem.shape == trace::KernelShape::kSpectral) {
    mirror.kernel.lambda = softmax(mirror.G.col(0), problem.trace);
    return mirror.G.maxCoeff();
  }
  if (update == MirrorUpdate::kPrinted) {
    const SymmetricEigen gradient = symmetric_eigen(g);
    const Vector logarithm =
        mirror.kernel.lambda.cwiseMax(1e-300).array().log() - eta * gradient.lambda.array();
    mirror.kernel = {softmax(logarithm, problem.trace), gradient.U};
    return symmetric_eigenvalues(mirror.G).maxCoeff();
  }
  const SymmetricEigen sum = symmetric_eigen(mirror.G);
  mirror.kernel = {softmax(sum.lambda, problem.trace), sum.U};
  return sum.lambda.maxCoeff();
}

/// Adds one step's point to the mean that makes the proof.
void accumulate(const Machine& machine, const std::vector<Matrix>& Z, double eta, Sums& sums) {
  sums.weight += eta;
  if (sums.proof.Z.empty()) {
    sums.proof.alpha = Vector::Zero(machine.alpha.size());
    sums.proof.gamma = Vector::Zero(machine.gamma.size());
    for (const Matrix& one : Z) sums.proof.Z.emplace_back(Matrix::Zero(one.rows(), one.cols()));
  }
  sums.proof.alpha += eta * machine.alpha;
  sums.proof.gamma += eta * machine.gamma;
  for (std::size_t i = 0; i < Z.size(); ++i) sums.proof.Z[i] += eta * Z[i];
}

trace::Proof mean_of(const Sums& sums) {
  trace::Proof mean = sums.proof;
  mean.alpha /= sums.weight;
  mean.gamma /= sums.weight;
  for (Matrix& Z : mean.Z) Z /= sums.weight;
  return mean;
}

class Descent {
 public:
  Descent(const trace::Problem& problem, const trace::ConvexLoss& loss,
          const MirrorDescentSettings& settings, const RunContext& ctx)
      : problem_(problem), loss_(loss), settings_(settings), ctx_(ctx) {
    if (problem.shape == trace::KernelShape::kSpectral) eigen_ = trace::decompose(problem);
    mirrors_ = start(problem, eigen_);
  }

  trace::Solution run() {
    engine::BestSoFar progress(
        {.tolerance = settings_.tolerance, .iterations = settings_.max_iterations}, ctx_);
    while (progress.goes_on()) {
      step(progress.iterations() + 1);
      progress.stepped();
      best_.info.gap = (best_.info.objective - best_.lower) / best_.info.objective;
      (void)progress.offer(best_.info.gap);
    }
    progress.report(best_.info);
    best_.proof = mean_of(sums_);
    best_.proof.Z.resize(trace::multiplier_count(problem_));
    return std::move(best_);
  }

 private:
  void step(long t) {
    std::vector<SymmetricEigen> kernels;
    for (const Mirror& mirror : mirrors_) kernels.push_back(mirror.kernel);
    const std::vector<Matrix> K = trace::matrices_of(kernels);
    machine_ = solve_machine(problem_, K, machine_, ctx_);
    const Vector u = problem_.y.cwiseProduct(machine_.alpha);
    std::vector<Matrix> g;
    for (std::size_t k = 0; k < mirrors_.size(); ++k) {
      const double gamma = machine_.gamma(static_cast<Index>(k));
      g.push_back(machine_gradient(problem_, mirrors_[k], u, gamma));
    }
    std::vector<Matrix> Z;
    double loss = 0;
    for (const Matrix& X : trace::differences(problem_, eigen_, kernels, K)) {
      loss += problem_.rho * loss_.value(X);
      const auto i = static_cast<Index>(Z.size());
      Z.emplace_back(problem_.rho * loss_.subgradient(X));
      g[static_cast<std::size_t>(trace::kernel_of(problem_, i))] += Z.back();
    }
    keep(machine_.upper + loss, std::move(kernels), K);
    descend(t, machine_.lower + loss, K, g, Z);
  }

  void keep(double upper, std::vector<SymmetricEigen> kernels, const std::vector<Matrix>& K) {
    if (!best_.kernels.empty() && upper >= best_.info.objective) return;
    best_.info.objective = upper;
    best_.machine = machine_.upper;
    best_.alpha = machine_.alpha;
    best_.gamma = machine_.gamma;
    best_.b = machine_.b;
    best_.kernels = std::move(kernels);
    best_.info.kkt_residual =
        trace::machine_value(problem_, best_.kernels, K, best_.alpha, best_.gamma, best_.b)
            .kkt_residual;
  }

  void descend(long t, double value, const std::vector<Matrix>& K, const std::vector<Matrix>& g,
               const std::vector<Matrix>& Z) {
    double norm = 0;
    double product = 0;
    for (std::size_t k = 0; k < g.size(); ++k) {
      norm = std::max(norm, spectral_norm(problem_, g[k]));
      product += problem_.shape == trace::KernelShape::kSpectral
                     ? g[k].col(0).dot(mirrors_[k].kernel.lambda)
                     : g[k].cwiseProduct(K[k]).sum();
    }
    const auto n = static_cast<double>(problem_.y.size());
    const auto p = static_cast<double>(g.size());
    const double eta = std::sqrt(2 * std::log(n) / (p * static_cast<double>(t))) / norm;
    accumulate(machine_, Z, eta, sums_);
    sums_.constant += eta * (value - product);
    double bound = sums_.constant;
    for (std::size_t k = 0; k < g.size(); ++k) {
      mirrors_[k].G -= eta * g[k];
      bound -= problem_.trace * advance(problem_, settings_.update, g[k], eta, mirrors_[k]);
    }
    best_.lower = t == 1 ? bound / sums_.weight : std::max(best_.lower, bound / sums_.weight);
  }

  const trace::Problem& problem_;
  const trace::ConvexLoss& loss_;
  const MirrorDescentSettings& settings_;
  const RunContext& ctx_;
  std::vector<SymmetricEigen> eigen_;  // of the S_i, for spectra
  std::vector<Mirror> mirrors_;
  Machine machine_;
  Sums sums_;
  trace::Solution best_;
};

}  // namespace

trace::Solution mirror_descent(const trace::Problem& problem, const trace::ConvexLoss& loss,
                               const MirrorDescentSettings& settings, const RunContext& ctx) {
  validate(problem);
  if (settings.max_iterations < 1) {
    engine::refuse("mirror descent needs at least one iteration");
  }
  return Descent(problem, loss, settings, ctx).run();
}

trace::Solution mirror_descent(const trace::Problem& problem, const MirrorDescentSettings& settings,
                               const RunContext& ctx) {
  validate(problem);
  return mirror_descent(problem, trace::loss_of(problem), settings, ctx);
}

}  // namespace kith::papers

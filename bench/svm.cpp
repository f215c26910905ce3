// SPDX-License-Identifier: Apache-2.0
// svm_compare KERNEL.npy LABELS.npy COST TOLERANCE REPEATS [libsvm]
//
// Trains on a given kernel with kith::smo and, if asked, with LIBSVM's own library (precomputed
// kernel), in turns, and prints one JSON object with the best seconds and the objectives of both.
// bench/svm.py makes the matrices and times scikit-learn beside it.
#include <libsvm/svm.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "kith/numerics/blas.hpp"
#include "kith/optim/dual/smo.hpp"

namespace {

using kith::Index;
using kith::Matrix;
using kith::Vector;

/// A little-endian float64 array in version 1 of NumPy's format; symmetric, so order is no matter.
std::vector<double> read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char head[10];
  if (!in.read(head, 10) || std::memcmp(head, "\x93NUMPY\x01", 7) != 0) {
    throw std::runtime_error(path + " is no version 1 .npy file");
  }
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(head[8]) +
                                               256 * static_cast<unsigned char>(head[9]));
  std::string header(length, ' ');
  in.read(header.data(), static_cast<std::streamsize>(length));
  if (header.find("'<f8'") == std::string::npos) throw std::runtime_error(path + " is not float64");
  const std::streampos start = in.tellg();
  in.seekg(0, std::ios::end);
  std::vector<double> values(static_cast<std::size_t>(in.tellg() - start) / sizeof(double));
  in.seekg(start);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(double)));
  return values;
}

/// Processor seconds of this thread: on one thread the same as the clock's, and unmoved by what
/// else the machine does.
template <class Run>
double seconds(Run&& run) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double begin = now();
  run();
  return now() - begin;
}

/// LIBSVM's sparse form of a precomputed kernel, which it needs to train on a dense matrix at all;
/// timed by itself.
struct LibsvmProblem {
  std::vector<svm_node> nodes;
  std::vector<svm_node*> rows;
  svm_problem problem{};

  LibsvmProblem(const Matrix& K, Vector& y) {
    const Index n = K.rows();
    nodes.resize(static_cast<std::size_t>(n * (n + 2)));
    for (Index i = 0; i < n; ++i) {
      svm_node* row = &nodes[static_cast<std::size_t>(i * (n + 2))];
      rows.push_back(row);
      row[0] = {0, static_cast<double>(i + 1)};
      for (Index j = 0; j < n; ++j) row[j + 1] = {static_cast<int>(j + 1), K(i, j)};
      row[n + 1] = {-1, 0};
    }
    problem = {static_cast<int>(n), y.data(), rows.data()};
  }
};

/// Dual objective of LIBSVM's model on the exact matrix (it works on a float copy itself).
double libsvm_objective(const svm_model& model, const Matrix& K, const Vector& y) {
  Vector alpha = Vector::Zero(y.size());
  for (int s = 0; s < model.l; ++s) {
    alpha[model.sv_indices[s] - 1] = std::abs(model.sv_coef[0][s]);
  }
  const Vector u = y.cwiseProduct(alpha);
  return alpha.sum() - 0.5 * u.dot(K * u);
}

int run(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "usage: svm_compare KERNEL.npy LABELS.npy COST TOLERANCE REPEATS [libsvm]\n";
    return 2;
  }
  kith::BlasThreads one_thread(1);
  const std::vector<double> values = read_npy(argv[1]);
  std::vector<double> labels = read_npy(argv[2]);
  Vector y = Eigen::Map<const Vector>(labels.data(), static_cast<Index>(labels.size()));
  const Matrix K = Eigen::Map<const Matrix>(values.data(), y.size(), y.size());
  const double cost = std::stod(argv[3]);
  const double tolerance = std::stod(argv[4]);
  const int repeats = std::stoi(argv[5]);
  const bool with_libsvm = argc > 6;

  const kith::dual::SvmDual problem{
      kith::dual::SymmetricView::dense(K), y, Vector::Constant(y.size(), cost), {}};
  svm_set_print_string_function([](const char*) {});
  svm_parameter parameter{};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = PRECOMPUTED;
  parameter.cache_size = 200;
  parameter.eps = tolerance;
  parameter.C = cost;
  parameter.shrinking = 1;
  std::unique_ptr<LibsvmProblem> sparse;
  double conversion = std::numeric_limits<double>::infinity();
  for (int r = 0; with_libsvm && r < 3; ++r) {
    sparse.reset();
    conversion =
        std::min(conversion, seconds([&] { sparse = std::make_unique<LibsvmProblem>(K, y); }));
  }

  nlohmann::json result;
  double ours = std::numeric_limits<double>::infinity();
  double theirs = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repeats; ++r) {
    kith::dual::SmoSolution solution;
    // The gap is not asked for: LIBSVM and scikit-learn stop on the KKT violation alone.
    ours = std::min(ours, seconds([&] {
                      solution = kith::dual::smo(
                          problem, {.tolerance = tolerance,
                                    .gap_tolerance = std::numeric_limits<double>::infinity()});
                    }));
    result["kith"] = {
        {"seconds", ours},
        {"objective", solution.info.objective},
        {"iterations", solution.info.iterations},
        {"status", std::string(kith::enum_name(solution.info.status))},
        {"gap", solution.info.gap},
        {"kkt_residual", solution.info.kkt_residual},
        {"free", (solution.alpha.array() > 0 && solution.alpha.array() < cost).count()},
        {"support", (solution.alpha.array() > 0).count()}};
    if (!with_libsvm) continue;
    svm_model* model = nullptr;
    theirs = std::min(theirs, seconds([&] { model = svm_train(&sparse->problem, &parameter); }));
    result["libsvm"] = {{"seconds", theirs},
                        {"conversion", conversion},
                        {"objective", libsvm_objective(*model, K, y)}};
    svm_free_and_destroy_model(&model);
  }
  std::cout << result.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "svm_compare: " << e.what() << "\n";
    return 1;
  }
}

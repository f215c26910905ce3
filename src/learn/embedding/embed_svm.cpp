// SPDX-License-Identifier: Apache-2.0
// Classical scaling: with H = I - 11'/n, B = H S H = U diag(lambda) U'. The d largest positive
// eigenvalues give coordinates X = U_d Lambda_d^(1/2); negative ones have no place in a Euclidean
// space and are left out. A linear machine on X is the machine of kernel K = U_d Lambda_d U_d'. A
// new row s, centred like a row of B, is H (s - r) with r the row means of S, and its kernel row is
// U_d U_d' times that: both maps are folded into the coefficients,
//
//   c_raw = H U_d U_d' c,   b_raw = b - c_raw' r,
//
// so that a prediction is one product with the raw row. Cost: one n x n decomposition, and one dual
// solution per pair of classes, number of dimensions and cost.
#include "kith/learn/embedding/embed_svm.hpp"

#include <algorithm>
#include <map>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "kith/numerics/psd.hpp"

namespace kith {
namespace {

/// B, its decomposition, and what centring needs.
struct ClassicalScaling {
  Matrix B;
  SharedDecomposition eigen;
  Vector row_means;
};

ClassicalScaling classical_scaling(SharedWork& work) {
  ClassicalScaling scaling;
  const auto S = work.symmetric();
  scaling.row_means = S.rowwise().mean();
  const double grand_mean = scaling.row_means.mean();
  scaling.B = S;
  scaling.B.colwise() -= scaling.row_means;
  scaling.B.rowwise() -= scaling.row_means.transpose();
  scaling.B.array() += grand_mean;
  scaling.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(scaling.B));
  return scaling;
}

/// 1 for the kept eigenvalues, 0 for the others.
Vector kept(const Vector& lambda, const std::optional<Index>& dimensions) {
  Vector multipliers = clip_multipliers(lambda);
  Index left = dimensions.value_or(lambda.size());
  for (Index i = lambda.size() - 1; i >= 0; --i) {  // the largest stand last
    if (multipliers(i) != 0 && left-- <= 0) multipliers(i) = 0;
  }
  return multipliers;
}

/// All settings have the same dimensions and ascend in cost.
std::vector<Fitted<EmbedSvmModel>> fit_space(const ClassicalScaling& scaling, SharedWork& work,
                                             std::span<const EmbedSvmSettings> ascending,
                                             const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const Vector multipliers = kept(scaling.eigen->lambda, ascending.front().dimensions);
  Conditioned space{
      .kernel = reconstruct(scaling.eigen->U, multipliers.cwiseProduct(scaling.eigen->lambda)),
      .transform = SpectralMap{scaling.eigen, multipliers}};
  std::vector<MachineSettings> machines;
  for (const EmbedSvmSettings& s : ascending) {
    machines.push_back({.cost = s.cost, .probability = s.probability, .tolerance = s.tolerance});
  }
  const std::vector<ClassPair> pairs = class_pairs(train.labels);
  const double consistent =
      consistency(space, DenseBlock(scaling.B.data(), scaling.B.rows(), scaling.B.cols(), nullptr));
  std::vector<Fitted<EmbedSvmModel>> fitted;
  for (MachineTable& table : train_pairs(space.kernel, train, pairs, machines, true, ctx)) {
    Fitted<EmbedSvmModel> one;
    Matrix coefficients = fold(space.transform, table.coefficients);
    coefficients.rowwise() -= coefficients.colwise().mean().eval();
    one.model = {.pairs = pair_table(pairs, train.labels),
                 .coefficients = coefficients,
                 .intercepts = table.intercepts - coefficients.transpose() * scaling.row_means,
                 .sigmoids = std::move(table.sigmoids)};
    one.info = std::move(table.info);
    one.info.consistency = consistent;
    fitted.push_back(std::move(one));
  }
  return fitted;
}

}  // namespace

void describe(EmbedSvmSettings& settings, FieldVisitor& field) {
  field("dimensions", settings.dimensions, at_least(1), "all",
        "how many axes of largest positive eigenvalue are kept");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0),
        "largest KKT violation and relative gap accepted");
}

std::vector<Fitted<EmbedSvmModel>> fit_path(SharedWork& work,
                                            std::span<const EmbedSvmSettings> path,
                                            RunContext& ctx) {
  std::map<std::optional<Index>, std::vector<std::size_t>> spaces;
  for (std::size_t i = 0; i < path.size(); ++i) {
    validate(path[i], "embed-svm");
    spaces[path[i].dimensions].push_back(i);
  }
  const ClassicalScaling scaling = classical_scaling(work);
  std::vector<Fitted<EmbedSvmModel>> fitted(path.size());
  for (auto& [dimensions, members] : spaces) {
    ctx.check_stop();
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return path[a].cost < path[b].cost; });
    std::vector<EmbedSvmSettings> ascending;
    for (const std::size_t i : members) ascending.push_back(path[i]);
    std::vector<Fitted<EmbedSvmModel>> solved = fit_space(scaling, work, ascending, ctx);
    for (std::size_t i = 0; i < members.size(); ++i) fitted[members[i]] = std::move(solved[i]);
  }
  return fitted;
}

Fitted<EmbedSvmModel> fit(SharedWork& work, const EmbedSvmSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const EmbedSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  ctx.check_stop();
  const DenseBlock rows = raw_rows(queries, RowKind::kMean, model.coefficients.rows());
  Matrix decisions = rows.values() * model.coefficients;
  decisions.rowwise() += model.intercepts.transpose();
  return vote(model.pairs, decisions, sigmoids_of(model.sigmoids));
}

std::vector<Index> needed_columns(const EmbedSvmModel& model) {
  return all_positions(model.coefficients.rows());
}

template <class A>
void archive(Archived<A, EmbedSvmModel>& model, A& archiver) {
  archive(model.pairs, archiver);
  archiver("coefficients", model.coefficients);
  archiver("intercepts", model.intercepts);
  archiver("sigmoids", model.sigmoids);
}
template void archive(const EmbedSvmModel&, SavingArchive&);
template void archive(EmbedSvmModel&, LoadingArchive&);

}  // namespace kith

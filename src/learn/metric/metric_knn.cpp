// SPDX-License-Identifier: Apache-2.0
// `nca-knn` and `lmnn-knn`: a linear map of the scaled features is learned from all classes at once
// (neighbour_maps.hpp has both programs), and the nearest training samples vote under it.
//
// The features are first centred and brought to their principal directions, where NCA's starts are
// those of [ZGZZ] IV.A: the identity and the PCA projection, which are one matrix there, or a
// random one. [ZGZZ] keeps the best of the three results; here `start` is searched by the inner
// cross-validation, which does not see the test part.
//
// Cost: O(n^2 d + n r^2) for each step of NCA, O(k n^2 + n^2 r + r^3) of LMNN with k targets. One
// map serves every number of neighbours.
#include "kith/learn/metric/metric_knn.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/errors.hpp"
#include "kith/learn/metric/metric_pairs.hpp"
#include "kith/optim/metric/neighbour_maps.hpp"
#include "kith/vectors/scaled_vectors.hpp"

namespace kith {
namespace {

constexpr long kConvexSteps = 20000;
constexpr long kCertificateSteps = 60;  // about as expensive as the descent that they bound

GridAxis few_neighbours() {  // [ZGZZ] IV.A
  return {.field = "neighbours", .values = {"1", "3", "5", "7", "9"}, .simpler = Simpler::kLarger};
}

/// The map and what it says of itself, on scaled features.
struct MapOfFeatures {
  FeatureScale scale;
  Matrix map;
  Matrix images;
  SolveInfo info;
};

/// The samples that a map is learned from: in coordinates of their span, and where `scaling` leaves
/// the features their unit, divided by the root mean square of their lengths. What is learned then
/// does not depend on the unit.
class Samples {
 public:
  Samples(const Block& vectors, FeatureScaling scaling, int threads)
      : scale_(learn_scale(vectors, scaling)), span_(ScaledVectors(scale_, vectors), threads) {
    const double squares = span_.Z().squaredNorm();
    if (scaling == FeatureScaling::kNone && squares > 0) {
      unit_ = std::sqrt(squares / static_cast<double>(span_.Z().rows()));
    }
    Z_ = span_.Z() / unit_;
  }

  [[nodiscard]] const Matrix& Z() const { return Z_; }
  [[nodiscard]] const Vector& spread() const { return span_.spread(); }

  [[nodiscard]] MapOfFeatures over_features(const metric::LearnedMap& learned) const {
    MapOfFeatures found{.scale = scale_,
                        .map = span_.over_features(learned.L / unit_),
                        .images = {},
                        .info = learned.info};
    found.images.noalias() = Z_ * learned.L.transpose();
    found.images.rowwise() += Eigen::RowVectorXd((found.map * span_.mean()).transpose());
    return found;
  }

 private:
  FeatureScale scale_;
  VectorSpan span_;
  double unit_ = 1;
  Matrix Z_;
};

MapOfFeatures learn_map(SharedWork& work, const NcaKnnSettings& settings, const RunContext& ctx) {
  const Samples samples(work.vectors(), settings.scaling, ctx.threads);
  const DimensionRule rule = parse_dimensions("nca-knn", settings.dimensions);
  const Index r = samples.Z().cols();
  const Index d = rule.energy ? dimensions_by_energy(samples.spread(), *rule.energy)
                              : std::min(r, rule.count.value_or(r));
  Matrix start = Matrix::Identity(d, r);
  if (settings.start == metric::MapStart::kRandom) {
    Rng rng = ctx.rng.stream("nca start");
    for (Index i = 0; i < start.size(); ++i) start.data()[i] = 0.1 * rng.normal();
  }
  const Labels& labels = work.train().labels;
  return samples.over_features(metric::learn_nca(samples.Z(), labels.ids, labels.groups.ids,
                                                 std::move(start), settings.iterations, ctx));
}

MapOfFeatures learn_map(SharedWork& work, const LmnnKnnSettings& settings, const RunContext& ctx) {
  const Samples samples(work.vectors(), settings.scaling, ctx.threads);
  const metric::LmnnProblem problem =
      metric::make_lmnn(samples.Z(), work.train().labels.ids, settings.targets, settings.push);
  metric::LearnedMap learned = metric::learn_lmnn(problem, settings.iterations, ctx);
  const bool convex = settings.solver == LmnnSolver::kConvex;
  if (!convex && !settings.certificate) return samples.over_features(learned);
  metric::LmnnSolution solution = metric::solve_lmnn(
      problem, learned.L,
      {.tolerance = settings.tolerance, .max_steps = convex ? kConvexSteps : kCertificateSteps},
      ctx);
  if (convex) {
    learned = {.L = std::move(solution.L), .info = solution.info};
  } else {
    learned.info.gap =
        (learned.info.objective - solution.bound) / std::max(1.0, learned.info.objective);
    if (learned.info.gap <= settings.tolerance) learned.info.status = SolveStatus::kSolved;
  }
  return samples.over_features(learned);
}

/// What a map depends on.
auto map_key(const NcaKnnSettings& s) {
  return std::tuple(s.start, s.dimensions, s.scaling, s.iterations);
}
auto map_key(const LmnnKnnSettings& s) {
  return std::tuple(s.targets, s.push, s.scaling, s.solver, s.iterations, s.tolerance,
                    s.certificate);
}

template <class Model, class Settings>
FittedPath<Model> fit_maps(SharedWork& work, Path<Settings> path, RunContext& ctx) {
  std::map<decltype(map_key(path.front())), MapOfFeatures> maps;
  FittedPath<Model> fitted;
  for (const Settings& settings : path) {
    auto [found, is_new] = maps.try_emplace(map_key(settings));
    if (is_new) found->second = learn_map(work, settings, ctx);
    const MapOfFeatures& map = found->second;
    Fitted<Model> one;
    one.model = {{.scale = map.scale, .map = map.map, .images = map.images, .knn = {}}};
    one.model.knn.voters = make_voters(work.train(), settings.ties, ctx);
    one.model.knn.neighbours = std::min(settings.neighbours, work.train().size());
    one.info.subproblems.push_back({"map", map.info});
    fitted.push_back(std::move(one));
  }
  return fitted;
}

}  // namespace

void describe(NcaKnnSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours vote");
  field("start", settings.start, "the map that the optimisation begins with");
  field("dimensions", settings.dimensions,
        "rows of the map: all, a number, or energy:0.9 for as many as hold that share of the "
        "energy");
  field("scaling", settings.scaling, kScalingHelp);
  field("ties", settings.ties, kTiesHelp);
  field("iterations", settings.iterations, at_least(1), "most steps of the optimisation");
}

void describe(LmnnKnnSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kNeighbours)("neighbours", settings.neighbours, at_least(1),
                                   "how many neighbours vote");
  field("targets", settings.targets, at_least(1),
        "how many samples of its class each sample is pulled towards");
  field("push", settings.push, between(0, 1), "weight of the margin violations beside the pull");
  field("scaling", settings.scaling, kScalingHelp);
  field("ties", settings.ties, kTiesHelp);
  field("solver", settings.solver,
        "descent: subgradient steps that end early; convex: the optimum, to a relative gap of "
        "tolerance");
  field("iterations", settings.iterations, at_least(1), "most steps of the descent");
  field("tolerance", settings.tolerance, above(0.0),
        "largest relative gap of a solved program: what solver convex goes on to");
  field.as(FieldRole::kCertificate)("certificate", settings.certificate,
                                    "bound the optimum from below after a descent");
}

Grid MethodTraits<NcaKnnSettings>::grid(const NcaKnnSettings& /*unused*/) {
  return {{.field = "start", .values = {"identity", "random"}, .simpler = Simpler::kSmaller},
          few_neighbours()};
}

Grid MethodTraits<LmnnKnnSettings>::grid(const LmnnKnnSettings& /*unused*/) {
  return {few_neighbours()};
}

FittedPath<NcaKnnModel> fit_path(SharedWork& work, Path<NcaKnnSettings> path, RunContext& ctx) {
  return fit_maps<NcaKnnModel>(work, path, ctx);
}

FittedPath<LmnnKnnModel> fit_path(SharedWork& work, Path<LmnnKnnSettings> path, RunContext& ctx) {
  return fit_maps<LmnnKnnModel>(work, path, ctx);
}

Prediction predict(const MappedNeighbours& model, const QueryBlock& queries, RunContext& ctx) {
  const Matrix images = ScaledVectors(model.scale, queries.vectors).times(model.map.transpose());
  const Matrix distances = kernel_table(VectorKernel::kRbf, images, model.images, ctx.threads);
  QueryBlock near;
  near.matrices.push_back({.to_training = DenseBlock(RowMatrix(-distances)),
                           .from_training = std::nullopt,
                           .self = std::nullopt});
  return predict(model.knn, near, ctx);
}

Matrix learned_similarity(const MappedNeighbours& model, const Block& vectors,
                          const RunContext& /*ctx*/) {
  Matrix images = ScaledVectors(model.scale, vectors).times(model.map.transpose());
  images.rowwise() -= Eigen::RowVectorXd(model.images.colwise().mean());
  return images * images.transpose();
}

template <class A>
void archive(Archived<A, MappedNeighbours>& model, A& archiver) {
  archive(model.scale, archiver);
  archiver("map", model.map);
  archiver("images", model.images);
  archive(model.knn, archiver);
  if (model.map.cols() == model.scale.size() && model.images.cols() == model.map.rows() &&
      model.images.rows() == model.knn.voters.size()) {
    return;
  }
  throw broken("the map, its images and the voters do not fit each other");
}
template void archive(const MappedNeighbours&, SavingArchive&);
template void archive(MappedNeighbours&, LoadingArchive&);

}  // namespace kith

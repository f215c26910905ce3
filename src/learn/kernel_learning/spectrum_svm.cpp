// SPDX-License-Identifier: Apache-2.0
// `spectrum-svm`: for each pair of classes with n samples and S = U diag(lambda) U' among them,
// [CGR] (10):
//
//   min_{c,b,xi,a}  1/n 1'xi + eta c'K_a c + gamma h(a),   K_a = U diag(a .* lambda) U',
//
// over the machines (c, b) and the multipliers a at once. A new row s becomes U diag(a) U's, which
// is folded into the coefficients. optim/spectrum/program.hpp has the reduction to a program in n
// variables and the choices of h.
//
// Cost per pair: one decomposition for all settings, one plain machine for each eta, and where
// gamma is below the plain machine's threshold some 3 to 10 factorisations of an n x n matrix for
// the centres clip and flip, 15 to 40 for the others. Deviations: eigenvalues that count as zero
// have no part in h ([TR] Proposition 1 drops them too); the samples' weights, where there are any,
// replace 1/n by their share.
#include "kith/learn/kernel_learning/spectrum_svm.hpp"

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"
#include "learn/kernel_learning/repeated_eigenvalues.hpp"
#include "learn/kernel_learning/spectrum_pair.hpp"

namespace kith {
namespace {

using detail::SpectrumMachine;
using detail::SpectrumPair;

/// Over S / unit the same problem has eta / unit. h of `similarity` weighs the multipliers by the
/// eigenvalues; the others do not, and keep their gamma.
std::pair<double, double> in_unit(const SpectrumSvmSettings& settings, spectrum::Centre centre,
                                  double unit) {
  const double eta = settings.eta / unit;
  check_range("eta divided by the similarities", eta, unit);
  const double gamma =
      centre == spectrum::Centre::kSimilarity ? settings.gamma * unit : settings.gamma;
  check_range("gamma times the similarities", gamma, unit);
  return {eta, gamma};
}

/// For fit_tasks. Coefficients are over the raw rows of the task's samples.
struct SpectrumLearner {
  struct Machine : LinearMachine {
    SpectrumMachine own;  // over similarities divided by the unit
    spectrum::Centre centre = spectrum::Centre::kBoth;
    Vector lambda;  // of the similarities
  };
  struct Block {
    SpectrumPair pair;  // over similarities divided by the unit
    double unit = 1;
    std::size_t number = 0;
    std::optional<spectrum::Centre> chosen{};
  };

  SharedWork* work = nullptr;
  Path<SpectrumSvmSettings> path;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("spectrum-svm calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t number) const {
    LearnedBlock own = learned_block(*work, task);
    if (std::optional<LearnedBlock> scaled = in_own_unit(own)) own = std::move(*scaled);
    return {
        .pair = {std::move(own.S), std::move(own.eigen), task.signs,
                 values_at(work->train().labels.groups.ids, task.samples), std::move(own.weights)},
        .unit = own.unit,
        .number = number};
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    return {.pair = whole.pair.part(samples), .unit = whole.unit};
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    const SpectrumSvmSettings& settings = path[request.step];
    Machine machine;
    machine.centre = request.calibrates() ? request.whole->centre : centre_of(block, settings);
    const auto [eta, gamma] = in_unit(settings, machine.centre, block.unit);
    machine.own =
        block.pair.solve(eta, gamma, machine.centre, request.tolerance(settings.tolerance), *ctx);
    const bool raw = settings.test_treatment == Treatment::kNone;
    machine.c = raw ? machine.own.c : machine.own.coefficients;
    machine.b = machine.own.b;
    if (request.calibrates()) return machine;
    machine.evidence.info = machine.own.info;
    machine.evidence.objective_offset = machine.own.offset;
    machine.consistency = block.pair.consistency(machine.own.a, raw);
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    const Vector sums = whole.pair.similarities()(rows, trained_on) * machine.c;
    return sums.array() + machine.b;
  }
  void finish(const Block& whole, Machine& machine) const {
    machine.lambda = whole.pair.eigen().lambda * whole.unit;
    machine.c /= whole.unit;
    if (machine.centre == spectrum::Centre::kSimilarity) machine.own.threshold /= whole.unit;
  }

 private:
  [[nodiscard]] spectrum::Centre centre_of(Block& block,
                                           const SpectrumSvmSettings& settings) const {
    if (settings.centre) return *settings.centre;
    if (!block.chosen) {
      block.chosen = block.pair.choose_centre(
          block.unit, ctx->rng.stream("spectrum centre", block.number), *ctx);
    }
    return *block.chosen;
  }
};

Json learned_json(const std::string& name, const SpectrumLearner::Machine& machine) {
  Json json = {{"name", name}, {"centre", enum_name(machine.centre)}};
  json["plain_from_gamma"] = real(machine.own.threshold);
  json["eigenvalues"] = real(machine.lambda);
  json["multipliers"] = real(machine.own.a);
  return json;
}

/// Vectors one after the other.
Vector joined(std::span<const SpectrumLearner::Machine> machines,
              const std::function<const Vector&(const SpectrumLearner::Machine&)>& part) {
  std::vector<double> all;
  for (const SpectrumLearner::Machine& machine : machines) {
    all.insert(all.end(), part(machine).begin(), part(machine).end());
  }
  return Eigen::Map<const Vector>(all.data(), std::ssize(all));
}

/// The machines of all tasks for one step, side by side.
Fitted<SpectrumSvmModel> assemble(FittedTasks<SpectrumLearner::Machine>&& solved, Tasks tasks,
                                  const TrainingSet& train) {
  using Machine = SpectrumLearner::Machine;
  SpectrumSvmModel model;
  FitInfo& info = solved.info;
  info.learned = Json::array();
  std::vector<std::string> repeated;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Machine& machine = solved.machines[t];
    const std::string& name = info.subproblems[t].name;
    model.sizes.push_back(machine.lambda.size());
    model.centres.push_back(static_cast<int>(machine.centre));
    info.learned.push_back(learned_json(name, machine));
    if (detail::differ_where_repeated(machine.lambda, machine.own.a.cwiseProduct(machine.lambda))) {
      repeated.push_back(name);
    }
  }
  model.eigenvalues =
      joined(solved.machines, [](const Machine& m) -> const Vector& { return m.lambda; });
  model.multipliers =
      joined(solved.machines, [](const Machine& m) -> const Vector& { return m.own.a; });
  if (!repeated.empty()) info.notes.push_back(detail::repeated_note(repeated));
  Fitted<Machines> all = put_together(std::move(solved), tasks, train.labels, train.size());
  ColumnMachines& machines = model;
  machines = column_machines(std::move(all.model), train.size(), all_positions(train.size()));
  return {std::move(model), std::move(all.info)};
}

}  // namespace

void describe(SpectrumSvmSettings& settings, FieldVisitor& field) {
  field("eta", settings.eta, above(0.0),
        "how smooth the machine is kept; C of svm is 1 / (2 eta n), n the samples of a pair");
  field("gamma", settings.gamma, above(0.0),
        "how strongly the multipliers are drawn to their centre; from some value on, which what "
        "was learned calls plain_from_gamma, they stay there");
  field("centre", settings.centre, "auto",
        "where the multipliers are drawn: to those of clip, those of flip, both, or to 1, which is "
        "the matrix as it is; auto: to clip or flip, whichever machine errs less in "
        "cross-validation, or both where they tie");
  field("test-treatment", settings.test_treatment, {Treatment::kLinear, Treatment::kNone},
        "what is done to the similarities of new samples: the learned map, or nothing");
  describe_tasks(settings, field, "largest relative duality gap accepted");
}

FittedPath<SpectrumSvmModel> fit_path(SharedWork& work, Path<SpectrumSvmSettings> path,
                                      RunContext& ctx) {
  const TrainingSet& train = work.train();
  const auto fit_own = [&](Tasks tasks, Path<SpectrumSvmSettings> own) {
    const SpectrumLearner learner{.work = &work, .path = own, .ctx = &ctx};
    return fit_tasks(tasks, train.labels, own, learner, ctx,
                     [&](auto solved) { return assemble(std::move(solved), tasks, train); });
  };
  return fit_with_tasks(train.labels, path, as_given, as_given, fit_own);
}

DenseBlock machine_rows(const SpectrumSvmModel& /*model*/, const QueryBlock& queries,
                        const RunContext& /*ctx*/) {
  return query_rows(queries.matrices.front(), Spectrum::kNone);
}

}  // namespace kith

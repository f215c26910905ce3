// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/experiment.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "evaluate/unit.hpp"
#include "kith/condition/symmetric.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/data/folds.hpp"
#include "kith/evaluate/grid_notes.hpp"
#include "kith/evaluate/portraits.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/model/fingerprint.hpp"
#include "kith/model/xxh64.hpp"
#include "kith/pipeline/committee.hpp"

namespace kith {
namespace {

using detail::FoldPart;

std::vector<Index> at(std::span<const Index> samples, std::span<const Index> positions) {
  std::vector<Index> chosen;
  for (const Index i : positions) chosen.push_back(samples[static_cast<std::size_t>(i)]);
  return chosen;
}

/// Runs the units that the store lacks.
class Runner {
 public:
  Runner(const ExperimentData& data, const ExperimentPlan& plan, Store& store,
         std::vector<std::int64_t> numbers, RunContext& ctx)
      : data_(data),
        plan_(plan),
        store_(store),
        numbers_(std::move(numbers)),
        missing_(detail::missing_pairs_for(plan.candidates)),
        ctx_(ctx),
        failed_(plan.candidates.size()) {}

  void run() {
    plan_tasks();
    parallel_for(tasks_.size(), ctx_.threads, [&](std::size_t i) {
      const Task& task = tasks_[(i + plan_.first_task) % tasks_.size()];
      run_fold(task);
      // Whoever ends the last fold of a partition goes on with its test.
      if (--folds_left_[static_cast<std::size_t>(task.partition)] == 0) run_test(task.partition);
    });
  }

  std::vector<UnitFailure> failures() const {
    std::vector<UnitFailure> all;
    for (const std::optional<UnitFailure>& one : failed_) {
      if (one) all.push_back(*one);
    }
    return all;
  }

 private:
  struct Task {
    int partition;
    int fold;
  };

  void plan_tasks() {
    for (std::size_t p = 0; p < plan_.partitions.size(); ++p) {
      const int folds = plan_.partitions[p].folds();
      for (int f = 0; f < folds; ++f) {
        tasks_.push_back({static_cast<int>(p), f});
        done_ += static_cast<long>(numbers_.size() - pending(tasks_.back().partition, f).size());
      }
      done_ += static_cast<long>(numbers_.size() - pending(static_cast<int>(p), kTestFold).size());
      total_ += static_cast<long>(numbers_.size()) * (folds + 1);
    }
    folds_left_ = std::vector<std::atomic<int>>(plan_.partitions.size());
    for (std::size_t p = 0; p < plan_.partitions.size(); ++p) {
      folds_left_[p] = plan_.partitions[p].folds();
    }
    report("");
  }

  void report(std::string_view at_hand) {
    ctx_.progress("evaluating", static_cast<double>(done_.load()), static_cast<double>(total_),
                  at_hand);
  }

  /// Positions of the candidates that the store has no result of.
  std::vector<std::size_t> pending(int partition, int fold) const {
    std::vector<std::size_t> open;
    for (std::size_t c = 0; c < numbers_.size(); ++c) {
      if (!store_.has({numbers_[c], partition, fold})) open.push_back(c);
    }
    return open;
  }

  bool has_failed(std::size_t candidate) {
    const std::lock_guard lock(mutex_);
    return failed_[candidate].has_value();
  }

  /// What a method cannot do ends that method's units, not the run; of several failures the one of
  /// the first partition is kept.
  void fail(std::size_t candidate, int partition, const std::string& message) {
    const std::lock_guard lock(mutex_);
    std::optional<UnitFailure>& kept = failed_[candidate];
    if (kept && kept->partition <= partition) return;
    kept = UnitFailure{plan_.candidates[candidate].name, partition, message};
  }

  void finished(std::size_t candidate) {
    ++done_;
    report(plan_.candidates[candidate].name);
  }

  /// No method can learn from one class: that is a matter of the partition.
  void check_classes(int partition, std::span<const Index> train) const {
    if (select(data_.labels, train).has_two_classes()) return;
    throw invalid(
        "partition {}: the {} samples of a training part are all of one class; "
        "[[stratify=auto]] or [[stratify=yes]] keeps every class in every training part",
        partition + 1, train.size());
  }

  RunContext context_of(int partition, int fold) const {
    RunContext own = ctx_;
    own.sink = nullptr;
    own.rng = ctx_.rng.child("partition", static_cast<std::uint64_t>(partition))
                  .child("fold", static_cast<std::uint64_t>(fold) + 1);
    return own;
  }

  /// The methods of these candidates, the members of committees among them, each once; and for each
  /// candidate which of them are its own.
  struct Parts {
    std::vector<const Candidate*> methods;
    std::vector<std::vector<std::size_t>> of;  // of each of the candidates asked for
  };
  Parts parts_for(std::span<const std::size_t> candidates) const {
    Parts parts;
    for (const std::size_t c : candidates) {
      parts.of.emplace_back();
      for (const Candidate& part : parts_of(plan_.candidates[c])) {
        const auto same = std::find_if(
            parts.methods.begin(), parts.methods.end(),
            [&](const Candidate* other) { return detail::same_work(*other, part, data_); });
        parts.of.back().push_back(static_cast<std::size_t>(same - parts.methods.begin()));
        if (same == parts.methods.end()) parts.methods.push_back(&part);
      }
    }
    return parts;
  }

  void run_fold(const Task& task) {
    ctx_.check_stop();
    std::vector<std::size_t> open = pending(task.partition, task.fold);
    std::erase_if(open, [&](std::size_t c) { return has_failed(c); });
    if (open.empty()) return;
    const Partition& partition = plan_.partitions[static_cast<std::size_t>(task.partition)];
    const FoldSplit split = split_fold(partition.fold_of, task.fold);
    RunContext own = context_of(task.partition, task.fold);
    const std::vector<Index> train = at(partition.train, split.outside);
    const std::vector<Index> held_out = at(partition.train, split.inside);
    check_classes(task.partition, train);
    const Parts parts = parts_for(open);
    std::vector<std::size_t> left;  // parts of each unit that have not ended
    for (const std::vector<std::size_t>& of_one : parts.of) left.push_back(of_one.size());
    std::vector<detail::PartLosses> found(parts.methods.size());
    const auto begin = [&](const Candidate& part) {
      ctx_.check_stop();
      report(part.name);
    };
    const auto ended = [&](std::size_t m, const detail::PartLosses& losses) {
      found[m] = losses;
      for (std::size_t k = 0; k < open.size(); ++k) {
        const auto own_parts = std::count(parts.of[k].begin(), parts.of[k].end(), m);
        if (own_parts == 0) continue;
        left[k] -= static_cast<std::size_t>(own_parts);
        if (left[k] == 0) keep_fold(open[k], task, parts.of[k], found);
      }
    };
    (void)detail::losses_of(data_, {train, held_out}, parts.methods,
                            detail::smallest_training_part(partition.fold_of), missing_, own, begin,
                            ended);
  }

  /// Stores what the parts of a candidate found on a fold.
  void keep_fold(std::size_t candidate, const Task& task, std::span<const std::size_t> parts,
                 std::span<const detail::PartLosses> found) {
    FoldResult result;
    std::optional<std::string> failure;
    std::size_t failures = 0;
    for (const std::size_t m : parts) {
      if (found[m].failure) {
        failure = found[m].failure;
        ++failures;
      }
      const double lost = std::numeric_limits<double>::infinity();
      for (const double loss : found[m].losses) {
        result.losses.push_back(found[m].failure ? lost : loss);
      }
      result.seconds += found[m].seconds;
    }
    if (keeps_squares(plan_.candidates[candidate])) {
      for (const std::size_t m : parts) {
        result.losses.insert(result.losses.end(), found[m].squares.begin(), found[m].squares.end());
      }
    }
    // A committee does without members that cannot be fitted.
    if (failures == parts.size()) return fail(candidate, task.partition, *failure);
    const UnitKey key{numbers_[candidate], task.partition, task.fold};
    if (!store_.has(key)) store_.put(key, result);  // has: another process was faster
    finished(candidate);
  }

  /// Who sits in a committee hangs on the standard error of mean costs, and that on their squares:
  /// they stand behind the losses of a fold.
  static bool keeps_squares(const Candidate& candidate) {
    return candidate.is_committee() && !candidate.choice.decision.costs.empty();
  }

  /// The inner losses of a candidate, summed over the folds: those of its parts one after another.
  std::vector<double> summed_losses(std::size_t c, int p, std::size_t size) const {
    std::vector<double> sums(size, 0);
    for (int f = 0; f < plan_.partitions[static_cast<std::size_t>(p)].folds(); ++f) {
      const std::optional<FoldResult> fold = store_.fold_result({numbers_[c], p, f});
      if (!fold || fold->losses.size() != size) {
        throw Error(ErrorCode::kInternal, "the losses of a fold do not fit its grid");
      }
      for (std::size_t i = 0; i < size; ++i) sums[i] += fold->losses[i];
    }
    return sums;
  }

  /// One fit on a whole training part: a method with the place of its grid that was chosen.
  struct Fit {
    const Candidate* part;
    AnySettings settings;
    InputVariant input;
    double error = 0;      // in cross-validation
    bool votes = false;    // of a committee, which asks for probabilities
    std::size_t test = 0;  // whose it is
    detail::Refit result{};
    double seconds = 0;
    std::optional<std::string> failure{};
  };
  struct TestPlan {
    std::size_t candidate = 0;
    std::vector<double> inner_losses;
    std::vector<std::size_t> fits;  // of the committee: its seats
  };

  /// What is fitted for a candidate, added to `fits`.
  TestPlan plan_test(std::size_t c, int p, std::vector<Fit>& fits) const {
    const Partition& partition = plan_.partitions[static_cast<std::size_t>(p)];
    const Candidate& candidate = plan_.candidates[c];
    const Index samples = detail::smallest_training_part(partition.fold_of);
    struct Searched {
      GridPoints grid;
      std::vector<InputVariant> inputs;
    };
    std::vector<Searched> searched;
    std::size_t size = 0;
    for (const Candidate& part : parts_of(candidate)) {
      searched.push_back({grid_points(part, samples), detail::inputs_of(part, data_)});
      size += searched.back().grid.settings.size() * searched.back().inputs.size();
    }
    const bool costs = keeps_squares(candidate);
    TestPlan test{
        .candidate = c, .inner_losses = summed_losses(c, p, costs ? 2 * size : size), .fits = {}};
    std::vector<double> squares(size);
    if (costs) {
      std::copy_n(test.inner_losses.end() - static_cast<std::ptrdiff_t>(size), size,
                  squares.begin());
      test.inner_losses.resize(size);
    }
    const Index counted = std::ssize(partition.fold_of);
    std::vector<double> standard_errors;
    std::vector<Fit> own;
    std::span<const double> rest = test.inner_losses;
    for (std::size_t m = 0; m < searched.size(); ++m) {
      const auto& [grid, inputs] = searched[m];
      const auto losses = rest.first(grid.settings.size() * inputs.size());
      const std::size_t begin = size - rest.size();
      rest = rest.subspan(losses.size());
      const GridPlace best = best_place(grid, losses);
      const std::size_t place = best.input * grid.settings.size() + best.point;
      standard_errors.push_back(detail::standard_error_of(candidate.choice.decision, losses[place],
                                                          squares[begin + place], counted));
      own.push_back({.part = &parts_of(candidate)[m],
                     .settings = grid.settings[best.point],
                     .input = inputs[best.input],
                     .error = losses[place] / static_cast<double>(counted),
                     .votes = candidate.is_committee()});
    }
    std::vector<double> errors;
    errors.reserve(own.size());
    for (const Fit& one : own) errors.push_back(one.error);
    for (const std::size_t m : seats(errors, standard_errors)) {
      test.fits.push_back(fits.size());
      fits.push_back(std::move(own[m]));
    }
    return test;
  }

  void run_test(int p) {
    ctx_.check_stop();
    std::vector<std::size_t> open = pending(p, kTestFold);
    std::erase_if(open, [&](std::size_t c) { return has_failed(c); });
    if (open.empty()) return;
    const Partition& partition = plan_.partitions[static_cast<std::size_t>(p)];
    RunContext own = context_of(p, kTestFold);
    std::vector<Fit> fits;
    std::vector<TestPlan> tests;
    for (const std::size_t c : open) {
      const std::size_t first = fits.size();
      tests.push_back(plan_test(c, p, fits));
      for (std::size_t i = first; i < fits.size(); ++i) fits[i].test = tests.size() - 1;
    }
    std::vector<bool> done(fits.size());
    for (std::size_t first = 0; first < fits.size(); ++first) {
      if (done[first]) continue;
      const FoldPart part(data_, fits[first].input, partition.train, partition.test, missing_, own);
      SharedWork work(part.training.set);
      for (std::size_t i = first; i < fits.size(); ++i) {
        if (done[i] || !(fits[i].input == fits[first].input)) continue;
        ctx_.check_stop();
        run_fit(part, work, fits[i], own);
        done[i] = true;
        keep_test(tests[fits[i].test], fits, done, p);
      }
    }
  }

  /// Stores a test as soon as all of its fits are done.
  void keep_test(const TestPlan& test, const std::vector<Fit>& fits, const std::vector<bool>& done,
                 int p) {
    if (!std::all_of(test.fits.begin(), test.fits.end(), [&](std::size_t i) { return done[i]; })) {
      return;
    }
    const Partition& partition = plan_.partitions[static_cast<std::size_t>(p)];
    const std::optional<TestResult> result = test_result(test, fits, partition);
    if (!result) return fail(test.candidate, p, *fits[test.fits.front()].failure);
    store_.put({numbers_[test.candidate], p, kTestFold}, with_learned(*result, test, fits, p));
    finished(test.candidate);
  }

  static void run_fit(const FoldPart& part, SharedWork& work, Fit& fit, RunContext& own) {
    const Stopwatch clock;
    MethodChoice choice = fit.part->choice;
    choice.settings = fit.settings;
    if (fit.votes) switch_probability(choice);
    try {
      fit.result = detail::refit(part, work, fit.votes ? DecisionSettings{} : choice.decision,
                                 choice.settings, own);
    } catch (const Error& error) {
      if (!detail::is_about_the_data(error)) throw;
      fit.failure = error.what();
    }
    fit.seconds = clock.seconds();
  }

  /// Nothing where no fit succeeded.
  std::optional<TestResult> test_result(const TestPlan& test, const std::vector<Fit>& fits,
                                        const Partition& partition) const {
    const Candidate& candidate = plan_.candidates[test.candidate];
    TestResult result;
    result.inner_losses = test.inner_losses;
    FitInfo all;
    std::vector<Prediction> predictions;
    for (const std::size_t i : test.fits) {
      const Fit& fit = fits[i];
      result.seconds += fit.seconds;
      if (fit.failure) continue;
      predictions.push_back(fit.result.prediction);
      Json chosen = settings_json(fit.settings);
      chosen.update(variant_json(fit.input, data_));
      if (!candidate.is_committee()) {
        result.chosen = std::move(chosen);
        result.certificate = certificate_json(fit.result.info);
        continue;
      }
      chosen["method"] = fit.part->name;
      chosen["inner_error"] = fit.error;
      result.chosen["members"].push_back(std::move(chosen));
      all.subproblems.push_back({.name = fit.part->name,
                                 .info = {.status = fit.result.info.status(),
                                          .gap = fit.result.info.gap(),
                                          .kkt_residual = fit.result.info.kkt_residual()}});
    }
    if (predictions.empty()) return std::nullopt;
    if (candidate.is_committee()) {
      result.prediction = combined(predictions, data_.labels.class_count());
      apply(make_decision_rule(candidate.choice.decision, select(data_.labels, partition.train)),
            result.prediction);
      result.certificate = certificate_json(all);
    } else {
      result.prediction = std::move(predictions.front());
    }
    result.certificate.erase("subproblems");
    return result;
  }

  /// What was learned is for people to look at: one partition is enough of it.
  static TestResult with_learned(TestResult result, const TestPlan& test,
                                 const std::vector<Fit>& fits, int p) {
    if (p > 0 || test.fits.size() != 1) return result;
    Json learned = detail::learned_excerpt(fits[test.fits.front()].result.info);
    if (!learned.empty()) result.certificate["learned"] = std::move(learned);
    return result;
  }

  const ExperimentData& data_;
  const ExperimentPlan& plan_;
  Store& store_;
  const std::vector<std::int64_t> numbers_;
  const MissingPairs missing_;
  RunContext& ctx_;
  std::vector<Task> tasks_;
  std::vector<std::atomic<int>> folds_left_;
  std::atomic<long> done_ = 0;
  long total_ = 0;
  std::mutex mutex_;
  std::vector<std::optional<UnitFailure>> failed_;  // of each candidate
};

Json protocol_json(const ExperimentPlan& plan, const RunContext& ctx) {
  Json json = {{"name", enum_name(plan.protocol.name)}};
  if (plan.partitions_given) {
    json["partitions"] = "given";
    json["repeats"] = plan.partitions.size();
    json["folds"] = plan.partitions.front().folds();
  } else {
    json.update(settings_json(plan.protocol.partitions));
  }
  json["seed"] = ctx.rng.seed();
  json["blas_threads"] = ctx.blas_threads;
  return json;
}

}  // namespace

ExperimentData make_experiment_data(MatchedSets matrices, const Labels& labels,
                                    const InputSettings& input, RunContext& ctx) {
  ExperimentData data{
      .matrices = std::move(matrices), .labels = labels, .input = input, .symmetric = {}};
  if (input.missing == MissingRule::kDropSample) {
    const PreparedTraining dropped =
        prepare_training(data.matrices, labels, {.missing = MissingRule::kDropSample}, ctx);
    data.labels = dropped.set.labels;
    if (data.samples() < labels.size()) {
      data.given = {.ids = data.matrices.ids, .samples = labels.size(), .kept = dropped.kept};
    }
    data.matrices = select_samples(data.matrices, dropped.kept);
    data.input.missing = MissingRule::kError;
  }
  if (!data.labels.has_two_classes()) {
    throw invalid("the samples are all of one class; a comparison needs at least two");
  }
  for (const SimilaritySet& set : data.matrices.sets) {
    data.symmetric.push_back(exactly_symmetric(set.block));
  }
  return data;
}

ExperimentData make_experiment_data(std::span<const RawMatrix> matrices, const Labels& labels,
                                    const InputSettings& input, RunContext& ctx) {
  std::vector<SimilaritySet> sets;
  std::vector<std::optional<RawMatrix>> by_part;
  for (const RawMatrix& matrix : matrices) {
    sets.push_back(learn_measure(matrix, labels, ctx).pairs);
    by_part.emplace_back();
    if (!learns_from_labels(matrix.measure.measure)) continue;
    by_part.back() = matrix;
    by_part.back()->name = sets.back().name;
  }
  ExperimentData data = make_experiment_data(match(std::move(sets)), labels, input, ctx);
  data.by_part = std::move(by_part);
  return data;
}

ExperimentData make_experiment_data(const VectorData& samples, const Labels& labels) {
  PreparedTraining prepared = prepare_training(samples, labels);  // throws where nothing can learn
  ExperimentData data{
      .matrices = {.sets = {}, .ids = samples.ids}, .labels = labels, .input = {}, .symmetric = {}};
  data.vectors = std::move(prepared.set.vectors);
  return data;
}

std::uint64_t fingerprint(const ExperimentData& data) {
  TrainingSet set;
  for (const SimilaritySet& one : data.matrices.sets) {
    set.matrices.push_back({one.name, one.block});
  }
  set.labels = data.labels;
  set.ids = data.matrices.ids;
  set.vectors = data.vectors;
  const std::uint64_t of_tables = fingerprint(set);
  // Different samples can have the same pairs as a whole and other ones on a part.
  Xxh64 hash;
  hash.update(hex_digits(of_tables));
  bool measured = false;
  for (std::size_t m = 0; m < data.matrices.sets.size(); ++m) {
    const RawMatrix* matrix = data.measured_by_part(m);
    if (matrix == nullptr) continue;
    measured = true;
    hash.update(std::to_string(m));
    hash.update(hex_digits(fingerprint(matrix->samples)));
    hash.update(relevant_settings(matrix->measure).dump());
  }
  return measured ? hash.digest() : of_tables;
}

void apply(ProtocolName protocol, InputSettings& input) {
  if (protocol == ProtocolName::kCgr && input.scale == ScaleRule::kNone) {
    input.scale = ScaleRule::kUnit;
  }
}

InputSearch input_search(ProtocolName protocol, std::span<const RawMatrix> samples, bool self) {
  if (protocol != ProtocolName::kKith) return {};
  return {.conversions = true,
          .scales = true,
          .cosine = self || !samples.empty(),
          .spread = true,
          .matrices = true};
}

void apply(ProtocolName protocol, PartitionSettings& partitions) {
  if (protocol == ProtocolName::kKith) partitions.folds = 5;
  if (protocol == ProtocolName::kCy || protocol == ProtocolName::kZgzz) {
    partitions.repeats = 10;
    partitions.folds = 5;  // [CY] 6.1 names no number; [ZGZZ] IV.A does
  }
  if (protocol == ProtocolName::kZgzz) partitions.test_fraction = 0.3;
  if (protocol == ProtocolName::kKtbb) {  // [KTBB] 4
    partitions.repeats = 5;
    partitions.folds = 5;
    partitions.stratify = Stratify::kEqual;
  }
}

void apply(ProtocolName protocol, Candidate& candidate) {
  for (Candidate& member : candidate.members) apply(protocol, member);
  const auto axis_of = [&](FieldRole role) -> GridAxis* {
    for (GridAxis& axis : candidate.axes) {
      if (role_of(candidate.choice.settings, axis.field) == role) return &axis;
    }
    return nullptr;
  };
  if (const GridAxis* cost = axis_of(FieldRole::kCost); protocol == ProtocolName::kCy && cost) {
    fix(candidate, std::string(cost->field), "1");  // [CY] 6.1
  }
  if (protocol == ProtocolName::kKith) {
    // Of kernels of spread 1: below these costs every sample is at its bound, above them none is.
    if (GridAxis* axis = axis_of(FieldRole::kCost)) axis->values = powers_of_ten(-2, 4);
  }
  if (protocol != ProtocolName::kCgr && protocol != ProtocolName::kKtbb) return;
  for (const FieldRole role : {FieldRole::kCost, FieldRole::kKernelCost}) {
    // [CGR] 4.2; [KTBB] prints no grids
    if (GridAxis* axis = axis_of(role)) axis->values = powers_of_ten(-3, 3);
  }
  if (GridAxis* axis = axis_of(FieldRole::kNeighbours); protocol == ProtocolName::kCgr && axis) {
    std::erase_if(axis->values, [](const std::string& k) { return k == "64" || k == "128"; });
  }
}

std::vector<ConditionedInput> check_input(const ExperimentData& data,
                                          std::span<const Candidate> candidates,
                                          Transforms transforms, RunContext& ctx) {
  if (candidates.empty()) throw invalid("there is no method to evaluate");
  for (const Candidate& candidate : candidates) {
    for (const Candidate& part : parts_of(candidate)) {
      for (const InputVariant& variant : detail::inputs_of(part, data)) {
        check_input_kind(part.choice, tables_used(variant, data.matrices.sets.size()).size(),
                         cols(data.vectors) > 0);
      }
    }
    (void)make_decision_rule(candidate.choice.decision, data.labels);
  }
  InputSettings input = data.input;
  if (transforms == Transforms::kLeftOut) input.transform = InputTransform::kNone;
  return condition_all(data.matrices.sets, input, ctx, detail::missing_pairs_for(candidates));
}

Json matrices_json(const ExperimentData& data, std::span<const RawMatrix> samples) {
  Json matrices = Json::array();
  for (std::size_t m = 0; m < data.matrices.sets.size(); ++m) {
    const SimilaritySet& set = data.matrices.sets[m];
    matrices.push_back({{"name", set.name},
                        {"source", set.source},
                        {"kind", set.kind == PairKind::kDistance ? "distances" : "similarities"}});
    if (samples.empty()) continue;
    matrices.back()["measure"] =
        relevant_settings(with_defaults(samples[m].measure, samples[m].samples));
  }
  return matrices;
}

Json failures_json(std::span<const UnitFailure> failures) {
  Json json = Json::array();
  for (const UnitFailure& one : failures) {
    json.push_back(
        {{"method", one.name}, {"partition", one.partition + 1}, {"message", one.message}});
  }
  return json;
}

ExperimentRun run_experiment(const ExperimentData& data, const ExperimentPlan& plan, Store& store,
                             NewData rule, RunContext& ctx) {
  check_partitions(plan.partitions, data.samples());
  const bool portraits = plan.portraits && wants_portraits(data, store, plan.name);
  const std::vector<ConditionedInput> whole = check_input(
      data, plan.candidates, portraits ? Transforms::kApplied : Transforms::kLeftOut, ctx);
  ExperimentRecord record;
  record.name = plan.name;
  record.fingerprint = fingerprint(data);
  record.protocol = protocol_json(plan, ctx);
  record.input = settings_json(data.input);
  record.about = plan.about;
  record.about["notes"] = notes_json(plan.doubts);
  if (portraits) add_portraits(record.about, data, whole, ctx);
  record.labels = data.labels;
  record.ids = data.matrices.ids;
  record.partitions = plan.partitions;
  std::vector<CandidateRecord> candidates;
  for (const Candidate& candidate : plan.candidates) {
    candidates.push_back(candidate_record(candidate, data));
  }
  store.check_candidates(candidates);
  const std::int64_t experiment = store.add_experiment(record, rule);
  std::vector<std::int64_t> numbers;
  numbers.reserve(candidates.size());
  for (const CandidateRecord& candidate : candidates) {
    numbers.push_back(store.add_candidate(experiment, candidate));
  }
  Runner runner(data, plan, store, std::move(numbers), ctx);
  runner.run();
  return {experiment, runner.failures()};
}

}  // namespace kith

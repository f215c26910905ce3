// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/experiment.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "evaluate/unit.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/data/folds.hpp"
#include "kith/evaluate/grid_notes.hpp"
#include "kith/evaluate/portraits.hpp"
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
  /// `numbers` of the candidates, `sizes` of the sizes of the plan in the store.
  Runner(const ExperimentData& data, const ExperimentPlan& plan, Store& store,
         std::vector<std::int64_t> numbers, std::span<const int> sizes, RunContext& ctx)
      : data_(data),
        plan_(plan),
        store_(store),
        numbers_(std::move(numbers)),
        missing_(detail::missing_pairs_for(plan.candidates)),
        ctx_(ctx),
        failed_((1 + sizes.size()) * plan.candidates.size()) {
    add_parts(0, 0, plan.partitions);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      add_parts(1 + k, sizes[k], plan.sizes[k].partitions);
    }
  }

  void run() {
    plan_tasks();
    parallel_for(tasks_.size(), ctx_.threads, [&](std::size_t i) {
      const Task& task = tasks_[(i + plan_.first_task) % tasks_.size()];
      run_fold(task);
      // Whoever ends the last fold of a partition goes on with its test.
      if (--folds_left_[task.part] == 0) run_test(parts_[task.part]);
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
  /// A partition with all of its training samples, or with some.
  struct Part {
    int number;        // of its units in the store
    int partition;     // whose test part it has
    std::size_t size;  // 0: all training samples; k: size k - 1 of the plan
    const Partition* samples;
    std::vector<bool> validated{};  // of each candidate, in inner folds
  };
  struct Task {
    std::size_t part;
    int fold;
  };

  void add_parts(std::size_t size, int number, const std::vector<Partition>& partitions) {
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      const int partition = static_cast<int>(p);
      parts_.push_back({.number = unit_partition(number, partition, std::ssize(partitions)),
                        .partition = partition,
                        .size = size,
                        .samples = &partitions[p]});
    }
  }

  void plan_tasks() {
    folds_left_ = std::vector<std::atomic<int>>(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      Part& part = parts_[p];
      const int folds = part.samples->folds();
      const Index samples = detail::smallest_training_part(part.samples->fold_of);
      for (const Candidate& candidate : plan_.candidates) {
        part.validated.push_back(detail::is_validated(candidate, data_, samples));
      }
      folds_left_[p] = folds;
      for (int f = 0; f < folds; ++f) {
        tasks_.push_back({p, f});
        done_ += static_cast<long>(numbers_.size() - pending(part, f).size());
      }
      done_ += static_cast<long>(numbers_.size() - pending(part, kTestFold).size());
      total_ += static_cast<long>(numbers_.size()) * (folds + 1);
    }
    report("");
  }

  void report(std::string_view at_hand) {
    ctx_.progress("evaluating", static_cast<double>(done_.load()), static_cast<double>(total_),
                  at_hand);
  }

  /// Positions of the candidates that the store has no result of.
  std::vector<std::size_t> pending(const Part& part, int fold) const {
    std::vector<std::size_t> open;
    for (std::size_t c = 0; c < numbers_.size(); ++c) {
      if (!store_.has({numbers_[c], part.number, fold})) open.push_back(c);
    }
    return open;
  }

  /// Of a candidate on all partitions of a size.
  std::optional<UnitFailure>& failure_of(std::size_t candidate, const Part& part) {
    return failed_[part.size * plan_.candidates.size() + candidate];
  }

  bool has_failed(std::size_t candidate, const Part& part) {
    const std::lock_guard lock(mutex_);
    return failure_of(candidate, part).has_value();
  }

  /// What a method cannot do ends that method's units of this size, not the run; of several
  /// failures the one of the first partition is kept.
  void fail(std::size_t candidate, const Part& part, const std::string& message) {
    const std::lock_guard lock(mutex_);
    std::optional<UnitFailure>& kept = failure_of(candidate, part);
    if (kept && kept->partition <= part.partition) return;
    kept = UnitFailure{.name = plan_.candidates[candidate].name,
                       .partition = part.partition,
                       .message = message,
                       .size = part.size == 0 ? "" : plan_.sizes[part.size - 1].size};
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

  RunContext context_of(const Part& part, int fold) const {
    RunContext own = ctx_;
    own.sink = nullptr;
    own.rng = ctx_.rng.child("partition", static_cast<std::uint64_t>(part.partition));
    const std::size_t training = part.samples->train.size();
    if (training < plan_.partitions[static_cast<std::size_t>(part.partition)].train.size()) {
      own.rng = own.rng.child("training size", training);
    }
    own.rng = own.rng.child("fold", static_cast<std::uint64_t>(fold) + 1);
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
    const Part& part = parts_[task.part];
    std::vector<std::size_t> open = pending(part, task.fold);
    std::erase_if(open, [&](std::size_t c) { return has_failed(c, part); });
    std::erase_if(open, [&](std::size_t c) { return passed_over(c, task); });
    if (open.empty()) return;
    const Partition& partition = *part.samples;
    const FoldSplit split = split_fold(partition.fold_of, task.fold);
    RunContext own = context_of(part, task.fold);
    const std::vector<Index> train = at(partition.train, split.outside);
    const std::vector<Index> held_out = at(partition.train, split.inside);
    check_classes(part.partition, train);
    const Parts parts = parts_for(open);
    std::vector<std::size_t> left;  // parts of each unit that have not ended
    for (const std::vector<std::size_t>& of_one : parts.of) left.push_back(of_one.size());
    std::vector<detail::PartLosses> found(parts.methods.size());
    const auto begin = [&](const Candidate& method) {
      ctx_.check_stop();
      report(method.name);
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

  /// Stores a fold without losses where cross-validation inside a training part would tell nothing.
  bool passed_over(std::size_t candidate, const Task& task) {
    const Part& part = parts_[task.part];
    if (part.validated[candidate]) return false;
    store_.put({numbers_[candidate], part.number, task.fold}, FoldResult{});
    finished(candidate);
    return true;
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
    const Part& part = parts_[task.part];
    if (failures == parts.size()) return fail(candidate, part, *failure);
    const UnitKey key{numbers_[candidate], part.number, task.fold};
    if (!store_.has(key)) store_.put(key, result);  // has: another process was faster
    finished(candidate);
  }

  /// Who sits in a committee hangs on the standard error of mean costs, and that on their squares:
  /// they stand behind the losses of a fold.
  static bool keeps_squares(const Candidate& candidate) {
    return candidate.is_committee() && !candidate.choice.decision.costs.empty();
  }

  /// The inner losses of a candidate, summed over the folds: those of its parts one after another.
  std::vector<double> summed_losses(std::size_t c, const Part& part, std::size_t size) const {
    std::vector<double> sums(size, 0);
    for (int f = 0; f < part.samples->folds(); ++f) {
      const std::optional<FoldResult> fold = store_.fold_result({numbers_[c], part.number, f});
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
  TestPlan plan_test(std::size_t c, const Part& at, std::vector<Fit>& fits) const {
    const Partition& partition = *at.samples;
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
    TestPlan test{.candidate = c, .inner_losses = {}, .fits = {}};
    if (!at.validated[c]) {
      const auto& [grid, inputs] = searched.front();
      test.fits.push_back(fits.size());
      fits.push_back({.part = &candidate, .settings = grid.settings[0], .input = inputs[0]});
      return test;
    }
    test.inner_losses = summed_losses(c, at, costs ? 2 * size : size);
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

  void run_test(const Part& at) {
    ctx_.check_stop();
    std::vector<std::size_t> open = pending(at, kTestFold);
    std::erase_if(open, [&](std::size_t c) { return has_failed(c, at); });
    if (open.empty()) return;
    const Partition& partition = *at.samples;
    RunContext own = context_of(at, kTestFold);
    std::vector<Fit> fits;
    std::vector<TestPlan> tests;
    for (const std::size_t c : open) {
      const std::size_t first = fits.size();
      tests.push_back(plan_test(c, at, fits));
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
        keep_test(tests[fits[i].test], fits, done, at);
      }
    }
  }

  /// Stores a test as soon as all of its fits are done.
  void keep_test(const TestPlan& test, const std::vector<Fit>& fits, const std::vector<bool>& done,
                 const Part& at) {
    if (!std::all_of(test.fits.begin(), test.fits.end(), [&](std::size_t i) { return done[i]; })) {
      return;
    }
    const std::optional<TestResult> result = test_result(test, fits, *at.samples);
    if (!result) return fail(test.candidate, at, *fits[test.fits.front()].failure);
    store_.put({numbers_[test.candidate], at.number, kTestFold},
               with_learned(*result, test, fits, at.number));
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
                                 const std::vector<Fit>& fits, int number) {
    if (number > 0 || test.fits.size() != 1) return result;
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
  std::vector<Part> parts_;
  std::vector<Task> tasks_;
  std::vector<std::atomic<int>> folds_left_;
  std::atomic<long> done_ = 0;
  long total_ = 0;
  std::mutex mutex_;
  std::vector<std::optional<UnitFailure>> failed_;  // of each candidate, size by size
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

Json failures_json(std::span<const UnitFailure> failures) {
  Json json = Json::array();
  for (const UnitFailure& one : failures) {
    json.push_back(
        {{"method", one.name}, {"partition", one.partition + 1}, {"message", one.message}});
    if (!one.size.empty()) json.back()["size"] = one.size;
  }
  return json;
}

ExperimentRun run_experiment(const ExperimentData& data, const ExperimentPlan& plan, Store& store,
                             NewData rule, RunContext& ctx) {
  check_partitions(plan.partitions, data.samples());
  check_groups(plan.partitions, data);
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
  std::vector<int> sizes;
  for (const SizedPartitions& size : plan.sizes) sizes.push_back(store.add_size(experiment, size));
  Runner runner(data, plan, store, std::move(numbers), sizes, ctx);
  runner.run();
  return {experiment, runner.failures()};
}

}  // namespace kith

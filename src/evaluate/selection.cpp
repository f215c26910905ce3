// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/errors.hpp"
#include "evaluate/budget.hpp"
#include "evaluate/unit.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"
#include "kith/evaluate/grid_notes.hpp"

namespace kith {
namespace {

using detail::cheapest_first;
using detail::PartLosses;

/// Estimates are never taken to be farther off than this.
constexpr double kLeastRatio = 0.1;

/// Folds whose parts for fitting have two classes or more.
std::vector<int> folds_of_classes(const Labels& labels, const SelectionSettings& settings,
                                  Index folds, const RunContext& ctx) {
  std::vector<int> fold_of = draw_folds(labels, folds, settings.stratify, ctx.rng, 0);
  std::optional<int> held = class_inside_a_fold(labels, fold_of);
  if (held && settings.stratify == Stratify::kAuto) {
    fold_of = draw_folds(labels, folds, Stratify::kYes, ctx.rng, 0);
    held = class_inside_a_fold(labels, fold_of);
  }
  if (!held) return fold_of;
  const auto lost = static_cast<std::size_t>(*held);
  const std::vector<Index> all = labels.counts();
  if (all[lost] > 1) {
    throw invalid(
        "the {} samples of class {} stand in so few groups that cross-validation holds all of them "
        "out at a time, and the others are all of one class. Give more groups with {}, or fit one "
        "method with the settings as they are, such as [[method=ridge]], which compares nothing",
        all[lost], in_quotes(labels.names[lost]), in_quotes(labels.names[lost]));
  }
  throw invalid(
      "class {} has {} sample{}, and cross-validation needs 2 of it: where it is held out, the "
      "other samples are all of one class. Give more samples of {}, or fit one method with the "
      "settings as they are, such as [[method=ridge]], which compares nothing",
      in_quotes(labels.names[lost]), all[lost], all[lost] == 1 ? "" : "s",
      in_quotes(labels.names[lost]));
}

/// In words, what a budget left out.
std::vector<std::string> budget_notes(const Selection& selection, const SelectionSettings& settings,
                                      double before) {
  std::vector<std::string> notes;
  const auto skipped = std::ranges::count_if(
      selection.entries, [](const SelectionEntry& one) { return one.skipped.has_value(); });
  if (selection.folds == selection.folds_asked && skipped == 0) return notes;
  if (before >= *settings.budget) {
    notes.push_back(fmt::format(
        "the budget of {:.4g} s was spent before cross-validation began: {:.2g} s on reading and "
        "measuring, {:.2g} s on estimates of how long the methods take; the cheapest method was "
        "tried on one fold",
        *settings.budget, settings.spent, before - settings.spent));
  } else if (selection.folds < selection.folds_asked) {
    notes.push_back(fmt::format(
        "{} of {} folds were tried: another one and the last fits would not have fitted into the "
        "budget of {:.4g} s, of which {:.2g} s went before cross-validation began",
        selection.folds, selection.folds_asked, *settings.budget, before));
  }
  return notes;
}

/// What a method found over all finished folds.
struct Total {
  std::vector<double> losses;
  std::vector<double> squares;
  double seconds = 0;
  std::optional<std::string> failure;
};

/// Cross-validation of some methods after the other: those that a budget has room for, and then
/// those for which room is left.
class Rounds {
 public:
  Rounds(const ExperimentData& data, std::span<const Candidate* const> all,
         const std::vector<int>& fold_of, Index folds, MissingPairs missing,
         const SelectionSettings& settings, const Stopwatch& clock, RunContext& ctx)
      : data_(data),
        all_(all),
        fold_of_(fold_of),
        missing_(missing),
        settings_(settings),
        clock_(clock),
        ctx_(ctx),
        found_(all.size(),
               std::vector<std::optional<PartLosses>>(static_cast<std::size_t>(folds))) {}

  /// Seconds since the command began.
  [[nodiscard]] double spent() const { return settings_.spent + clock_.seconds(); }

  /// These methods on the folds from `first` to `last`, the latter excluded, for which a budget has
  /// room, `reserve` seconds kept back; the very first fold in any case.
  void run(std::span<const std::size_t> methods, std::size_t first, std::size_t last,
           double reserve) {
    std::vector<const Candidate*> chosen;
    std::size_t pieces = 0;
    for (const std::size_t c : methods) {
      chosen.push_back(all_[c]);
      pieces += detail::inputs_of(*all_[c], data_).size();
    }
    const Index samples = detail::smallest_training_part(fold_of_);
    std::atomic<long> done = 0;
    std::atomic<double> longest = 0;  // seconds of a fold
    parallel_for(last - first, ctx_.threads, [&](std::size_t k) {
      const std::size_t f = first + k;
      const double began = spent();
      const bool open = !settings_.budget || f == 0;
      // The last fits, which may calibrate as well, take about as long as a fold's whole grid.
      const double ahead = longest + std::max(reserve, longest.load());
      if (!open && began + ahead > *settings_.budget) return;
      const FoldSplit split = split_fold(fold_of_, static_cast<int>(f));
      RunContext own = ctx_;
      own.sink = nullptr;
      own.rng = ctx_.rng.child("fold", f);
      std::vector<PartLosses> losses = detail::losses_of(
          data_, {split.outside, split.inside}, chosen, samples, missing_, own,
          [&](const Candidate& method) {
            ctx_.check_stop();
            ctx_.progress("cross-validation", static_cast<double>(done++),
                          static_cast<double>((last - first) * pieces), method.name);
          });
      for (std::size_t m = 0; m < losses.size(); ++m) {
        found_[methods[m]][f] = std::move(losses[m]);  // every fold has slots of its own
      }
      const double took = spent() - began;
      for (double so_far = longest;
           took > so_far && !longest.compare_exchange_weak(so_far, took);) {
      }
    });
  }

  [[nodiscard]] Index finished(std::size_t method) const {
    return std::ranges::count_if(found_[method], [](const auto& one) { return one.has_value(); });
  }

  /// The samples of the folds that a method has finished.
  [[nodiscard]] Index counted(std::size_t method) const {
    Index samples = 0;
    for (std::size_t f = 0; f < found_[method].size(); ++f) {
      if (!found_[method][f]) continue;
      samples += std::count(fold_of_.begin(), fold_of_.end(), static_cast<int>(f));
    }
    return samples;
  }

  [[nodiscard]] Total total(std::size_t method) const {
    Total total;
    for (const std::optional<PartLosses>& fold : found_[method]) {
      if (!fold) continue;
      total.losses.resize(fold->losses.size());
      total.squares.resize(fold->losses.size());
      for (std::size_t i = 0; i < total.losses.size(); ++i) {
        total.losses[i] += fold->losses[i];
        total.squares[i] += fold->squares[i];
      }
      total.seconds += fold->seconds;
      if (!total.failure) total.failure = fold->failure;
    }
    return total;
  }

  /// Of the fits to all samples of these methods, at most: those of a whole fold's grid.
  [[nodiscard]] double last_fits(std::span<const std::size_t> methods) const {
    double seconds = data_.measuring;
    for (const std::size_t c : methods) {
      const Index folds = finished(c);
      if (folds > 0) seconds += total(c).seconds / static_cast<double>(folds);
    }
    return seconds;
  }

 private:
  const ExperimentData& data_;
  std::span<const Candidate* const> all_;
  const std::vector<int>& fold_of_;
  MissingPairs missing_;
  const SelectionSettings& settings_;
  const Stopwatch& clock_;
  RunContext& ctx_;
  std::vector<std::vector<std::optional<PartLosses>>> found_;  // by method and fold
};

/// What a budget has left out so far, with what each method was thought to take.
struct LeftOut {
  std::vector<std::size_t> methods;  ///< the cheapest first
  std::vector<double> seconds;       ///< by method: of all folds and the last fit, on one thread
  double workers = 1;
};

/// Comes back to methods that were left out while there is time: how long the others took tells how
/// far off the estimates are. Adds those that were finished to `tried`.
void come_back(Rounds& rounds, LeftOut& left_out, const SelectionSettings& settings, Index folds,
               double ratio, std::vector<std::size_t>& tried,
               std::vector<SelectionEntry>& entries) {
  const bool complete =
      std::ranges::all_of(tried, [&](std::size_t c) { return rounds.finished(c) == folds; });
  const auto corrected = [&](std::size_t c) {
    return left_out.seconds[c] * ratio / left_out.workers;
  };
  while (complete && !left_out.methods.empty()) {
    const std::size_t c = left_out.methods.front();
    const double began = rounds.spent();
    const double last = rounds.last_fits(tried);
    if (began + last + corrected(c) > *settings.budget) break;
    left_out.methods.erase(left_out.methods.begin());
    rounds.run(std::span(&c, 1), 0, 1, 0);
    // One fold tells more than any estimate.
    const double fold = rounds.spent() - began;
    const auto others = static_cast<double>(folds - 1);
    ratio = std::max(kLeastRatio, fold * static_cast<double>(folds + 1) / left_out.seconds[c]);
    if (rounds.spent() + fold * others / left_out.workers + fold + last <= *settings.budget) {
      rounds.run(std::span(&c, 1), 1, static_cast<std::size_t>(folds), last + fold);
    }
    if (rounds.finished(c) == folds) {
      tried.push_back(c);
      continue;
    }
    entries[c].skipped = fmt::format(
        "{} of {} folds took {:.2g} s, and the others would not have fitted into the budget of "
        "{:.4g} s",
        rounds.finished(c), folds, rounds.spent() - began, *settings.budget);
  }
  const double spent = rounds.spent();
  const double last = rounds.last_fits(tried);
  for (const std::size_t c : left_out.methods) {
    entries[c].skipped = fmt::format(
        "about {:.2g} s, more than is left for it: {:.2g} s of the budget of {:.4g} s, of which "
        "{:.2g} s are spent and {:.2g} s kept for the last fits",
        corrected(c), std::max(*settings.budget - spent - last, 0.0), *settings.budget, spent,
        last);
  }
  std::ranges::sort(tried);
}

void settle(SelectionEntry& entry, const Total& total, const ExperimentData& data, Index samples,
            Index counted) {
  entry.seconds = total.seconds;
  if (total.failure) {
    entry.skipped = total.failure;
    entry.loss = INFINITY;
    return;
  }
  const GridPoints grid = grid_points(entry.method, samples);
  const GridPlace best = best_place(grid, total.losses);
  entry.settings = grid.settings[best.point];
  entry.input = detail::inputs_of(entry.method, data)[best.input];
  const std::size_t place = best.input * grid.settings.size() + best.point;
  entry.loss = total.losses[place] / static_cast<double>(counted);
  entry.error = detail::standard_error_of(entry.method.choice.decision, total.losses[place],
                                          total.squares[place], counted);
  entry.notes =
      search_notes(entry.method, data, axis_findings(entry.method, samples, total.losses));
}

void seat(Selection& selection, const ExperimentData& data) {
  std::vector<double> losses;
  std::vector<double> standard_errors;
  for (const SelectionEntry& entry : selection.entries) {
    losses.push_back(entry.skipped ? INFINITY : entry.loss);
    standard_errors.push_back(entry.error);
    if (losses.back() < losses[selection.best]) selection.best = losses.size() - 1;
  }
  if (cols(data.vectors) > 0) {
    selection.entries[selection.best].seated = true;
    return;
  }
  for (const std::size_t m : seats(losses, standard_errors)) selection.entries[m].seated = true;
}

/// The samples of a selection as they are trained on: under the rules of one input.
PreparedTraining prepare(const ExperimentData& data, std::span<const RawMatrix> samples,
                         const InputVariant& input, MissingPairs missing, RunContext& ctx) {
  if (!samples.empty()) {
    const std::vector<RawMatrix> all = with_measure(samples, input);
    std::vector<RawMatrix> used;
    for (const std::size_t m : tables_used(input, all.size())) used.push_back(all[m]);
    return prepare_training(used, data.labels, input.settings, ctx);
  }
  MatchedSets used{.sets = {}, .ids = data.matrices.ids};
  for (const std::size_t m : tables_used(input, data.matrices.sets.size())) {
    used.sets.push_back(data.matrices.sets[m]);
  }
  PreparedTraining prepared = prepare_training(used, data.labels, input.settings, ctx, missing);
  if (data.given) {  // new rows may come over all samples that were given
    prepared.kept = data.given->kept;
    for (InputRule& rule : prepared.rules) {
      rule.given_samples = data.given->samples;
      rule.kept = data.given->kept;
    }
  }
  return prepared;
}

/// The tables that the members use, each once.
class Sources {
 public:
  std::vector<Index> add(const InputVariant& input, const PreparedTraining& prepared,
                         const ExperimentData& data, std::span<const RawMatrix> samples) {
    std::vector<Index> positions;
    const std::vector<std::size_t> used = tables_used(input, data.matrices.sets.size());
    for (std::size_t k = 0; k < used.size(); ++k) {
      const std::pair key(input.measure, used[k]);
      const auto known = std::find(keys_.begin(), keys_.end(), key);
      positions.push_back(static_cast<Index>(known - keys_.begin()));
      if (known != keys_.end()) continue;
      keys_.push_back(key);
      const SimilaritySet& set = data.matrices.sets[used[k]];
      Source source{.name = set.name, .kind = set.kind};
      for (const auto& [field, value] : input.measure) {
        source.name += fmt::format(":{}={}", field, value);
      }
      if (!prepared.measures.empty()) {
        source.measure = prepared.measures[k];
        source.measure->file = file_of(samples[used[k]].file);
      }
      sources_.push_back(std::move(source));
    }
    return positions;
  }
  [[nodiscard]] const std::vector<Source>& all() const { return sources_; }

 private:
  /// Files of samples that nobody needs are not asked for.
  Index file_of(Index given) {
    const auto known = std::find(files_.begin(), files_.end(), given);
    if (known == files_.end()) files_.push_back(given);
    return static_cast<Index>(std::find(files_.begin(), files_.end(), given) - files_.begin());
  }

  std::vector<std::pair<std::vector<std::pair<std::string, std::string>>, std::size_t>> keys_;
  std::vector<Source> sources_;
  std::vector<Index> files_;
};

}  // namespace

Selection select_methods(const ExperimentData& data, std::span<const Candidate> methods,
                         const SelectionSettings& settings, RunContext& ctx) {
  const Stopwatch clock;
  check_input(data, methods, Transforms::kLeftOut, ctx);
  const Index folds = std::min(settings.folds, count_pieces(data.labels));
  const std::vector<int> fold_of = folds_of_classes(data.labels, settings, folds, ctx);
  const Index samples = detail::smallest_training_part(fold_of);
  const MissingPairs missing = detail::missing_pairs_for(methods);
  Selection selection;
  selection.folds_asked = folds;
  selection.budget = settings.budget;
  selection.variants = static_cast<Index>(count_variants(methods));
  std::vector<const Candidate*> all;
  for (const Candidate& method : methods) {
    selection.entries.push_back({.method = method, .settings = method.choice.settings});
    all.push_back(&method);
  }
  std::vector<std::size_t> tried(all.size());
  for (std::size_t c = 0; c < tried.size(); ++c) tried[c] = c;
  const DecisionSettings decision = decision_of(methods);
  std::erase_if(tried, [&](std::size_t c) {
    if (can_sit(methods[c], decision)) return false;
    selection.entries[c].skipped = "it has no probabilities, which priors and costs need";
    return true;
  });
  Rounds rounds(data, all, fold_of, folds, missing, settings, clock, ctx);
  double before = 0;  // seconds until cross-validation begins
  if (settings.budget) {
    std::vector<const Candidate*> possible;
    possible.reserve(tried.size());
    for (const std::size_t c : tried) possible.push_back(all[c]);
    const std::vector<double> estimated =
        detail::estimated_seconds(data, possible, *settings.budget, folds, missing, ctx);
    LeftOut left_out{.methods = {},
                     .seconds = std::vector<double>(all.size()),
                     .workers = std::clamp(ctx.threads, 1, static_cast<int>(folds)) * 1.0};
    before = rounds.spent();
    std::vector<std::size_t> first;
    double sum = 0;  // of the first round
    double last = data.measuring;
    for (const std::size_t k : cheapest_first(estimated)) {
      const std::size_t c = tried[k];
      left_out.seconds[c] = estimated[k];
      const double own = estimated[k] / left_out.workers;
      if (first.empty() || before + last + sum + own <= *settings.budget) {
        first.push_back(c);
        sum += own;
        last += estimated[k] / static_cast<double>(folds + 1);
      } else {
        left_out.methods.push_back(c);
      }
    }
    std::ranges::sort(first);
    tried = std::move(first);
    if (!tried.empty()) rounds.run(tried, 0, static_cast<std::size_t>(folds), last);
    const double share = static_cast<double>(folds) / static_cast<double>(folds + 1);
    const double ratio =
        sum > 0 ? std::max(kLeastRatio, (rounds.spent() - before) / (sum * share)) : 1;
    if (!tried.empty()) selection.folds = rounds.finished(tried.front());
    come_back(rounds, left_out, settings, folds, ratio, tried, selection.entries);
  } else {
    if (!tried.empty()) rounds.run(tried, 0, static_cast<std::size_t>(folds), 0);
    selection.folds = folds;
  }
  for (const std::size_t c : tried) {
    settle(selection.entries[c], rounds.total(c), data, samples, rounds.counted(c));
  }
  if (settings.budget) selection.notes = budget_notes(selection, settings, before);
  if (!data.not_measured.empty()) {
    selection.notes.push_back(fmt::format(
        "{} of the ways to measure the pairs were left out, since measuring all of them would take "
        "more than half of the time: {}",
        data.not_measured.size(), list_some(data.not_measured, 5)));
  }
  seat(selection, data);
  return selection;
}

Training train_selected(const Selection& selection, const ExperimentData& data,
                        std::span<const RawMatrix> samples, const VectorData* vectors,
                        const DecisionSettings& decision, RunContext& ctx) {
  std::vector<const SelectionEntry*> seated;
  for (const SelectionEntry& entry : selection.entries) {
    if (entry.seated) seated.push_back(&entry);
  }
  const auto choice_of = [](const SelectionEntry& entry) {
    MethodChoice choice = entry.method.choice;
    choice.settings = entry.settings;
    switch_evidence(choice, true);  // off in cross-validation; a model has it
    return choice;
  };
  if (vectors != nullptr && learns_from_vectors(seated.front()->settings)) {
    return train(prepare_training(*vectors, data.labels), choice_of(*seated.front()), ctx);
  }
  std::vector<InputVariant> inputs;
  std::vector<PreparedTraining> prepared;
  for (const SelectionEntry* entry : seated) {
    if (std::find(inputs.begin(), inputs.end(), entry->input) != inputs.end()) continue;
    inputs.push_back(entry->input);
    const MissingPairs missing =
        takes_missing_pairs(entry->settings) ? MissingPairs::kKept : MissingPairs::kRefused;
    prepared.push_back(prepare(data, samples, entry->input, missing, ctx));
  }
  const auto prepared_for = [&](const SelectionEntry& entry) -> const PreparedTraining& {
    const auto at = std::find(inputs.begin(), inputs.end(), entry.input) - inputs.begin();
    return prepared[static_cast<std::size_t>(at)];
  };
  if (seated.size() == 1) {
    MethodChoice choice = choice_of(*seated.front());
    if (!decision.priors.empty()) choice.decision.priors = decision.priors;
    if (!decision.costs.empty()) choice.decision.costs = decision.costs;
    return train(prepared_for(*seated.front()), choice, ctx);
  }
  std::vector<Seat> members;
  Sources sources;
  for (const SelectionEntry* entry : seated) {
    const PreparedTraining& own = prepared_for(*entry);
    Seat one{.name = entry->method.name,
             .choice = choice_of(*entry),
             .prepared = &own,
             .sources = sources.add(entry->input, own, data, samples)};
    one.choice.decision = {};
    members.push_back(std::move(one));
  }
  return train_committee(members, sources.all(), decision, ctx);
}

Json auto_json() {
  const auto names_in = [](std::string_view list) {
    const std::vector<std::string_view> parts = split(list, ',');
    return std::vector<std::string>(parts.begin(), parts.end());
  };
  return {{"name", kAutoName},
          {"summary", kAutoSummary},
          {"members", names_in(kAutoMembers)},
          {"members_of_several", names_in(kAutoSeveralMembers)},
          {"folds", SelectionSettings{}.folds},
          {"seated_within_standard_errors", kSeatReach},
          {"vote", kVoteShare}};
}

std::string found_text(const SelectionEntry& entry, const ExperimentData& data) {
  std::vector<std::string> found;
  const std::vector<FieldInfo> fields = method_info(entry.settings).fields;
  for (const GridAxis& axis : entry.method.axes) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const FieldInfo& one) { return one.name == axis.field; });
    if (field != fields.end()) found.push_back(field->name + '=' + field->default_value);
  }
  if (std::string input = variant_text(entry.input, data); !input.empty()) {
    found.push_back(std::move(input));
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

Json selection_json(const Selection& selection, const ExperimentData& data) {
  Json json = {{"folds", selection.folds},
               {"folds_asked", selection.folds_asked},
               {"input_variants", selection.variants},
               {"candidates", Json::array()}};
  if (selection.budget) json["budget"] = *selection.budget;
  if (!data.not_measured.empty()) json["not_measured"] = data.not_measured;
  if (!selection.notes.empty()) json["notes"] = selection.notes;
  for (const SelectionEntry& entry : selection.entries) {
    Json one = {{"method", entry.method.name}};
    if (entry.skipped) {
      one["skipped"] = *entry.skipped;
    } else {
      one["settings"] = settings_json(entry.settings);
      one["input"] = variant_json(entry.input, data);
      one["inner_error"] = entry.loss;
      one["standard_error"] = entry.error;
    }
    one["chosen"] = entry.seated;
    json["candidates"].push_back(std::move(one));
    if (entry.seated) json["chosen"].push_back(entry.method.name);
  }
  return json;
}

void add_seconds(const Selection& selection, Json& training) {
  Json& candidates = training.at("selection").at("candidates");
  for (std::size_t c = 0; c < selection.entries.size(); ++c) {
    const SelectionEntry& entry = selection.entries[c];
    if (!entry.skipped) candidates[c]["seconds"] = entry.seconds;
  }
}

std::vector<std::string> notes_of(const Selection& selection) {
  std::vector<std::string> notes = selection.notes;
  for (const SelectionEntry& entry : selection.entries) {
    if (entry.seated) notes.insert(notes.end(), entry.notes.begin(), entry.notes.end());
  }
  return notes;
}

void record(const Selection& selection, const ExperimentData& data, TrainedModel& model) {
  Json& certificate = model.record.certificate;
  certificate["selection"] = selection_json(selection, data);
  for (const std::string& note : notes_of(selection)) certificate["notes"].push_back(note);
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/errors.hpp"
#include "evaluate/unit.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"
#include "kith/evaluate/grid_notes.hpp"

namespace kith {
namespace {

using detail::PartLosses;

/// The time of a method on all samples is estimated on a few: on kFirst of all methods, then on
/// kSampled of those that take a small share of the budget there, the cheapest first. So few
/// samples cost more to set up than to learn from, and their times hardly grow yet.
constexpr Index kFirst = 50;
constexpr Index kSampled = 150;
constexpr double kShareForEstimates = 0.2;
constexpr double kFirstGrowth = 1.5;
/// Decompositions cost n^3, products and sorts n^2.
constexpr double kGrowth = 2.6;

double growth(Index from, Index to, double power) {
  return std::pow(static_cast<double>(to) / static_cast<double>(from), power);
}

std::vector<std::size_t> cheapest_first(const std::vector<double>& seconds) {
  std::vector<std::size_t> order(seconds.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] < seconds[b]; });
  return order;
}

/// Seconds of one fold over all samples for each method, by one fold of about `count` of them; 0
/// where these are too few to tell.
std::vector<double> seconds_of_a_fold(const ExperimentData& data,
                                      std::span<const Candidate* const> methods, Index count,
                                      Index folds, MissingPairs missing, RunContext& ctx) {
  const Index parts = std::max<Index>(2, data.samples() / count);
  // How long a method takes does not hang on who stands together.
  const Labels alone{.ids = data.labels.ids, .names = data.labels.names};
  const std::vector<int> part_of =
      draw_folds(alone, std::min(parts, data.samples()), Stratify::kYes, ctx.rng, 1);
  std::vector<Index> few;
  for (std::size_t i = 0; i < part_of.size(); ++i) {
    if (part_of[i] == 0 || (parts == 2 && part_of[i] == 1)) few.push_back(static_cast<Index>(i));
  }
  // The last of them are held out.
  const auto held = static_cast<std::ptrdiff_t>(few.size() / static_cast<std::size_t>(folds));
  const std::vector<Index> train(few.begin(), few.end() - held);
  const std::vector<Index> held_out(few.end() - held, few.end());
  if (!select(data.labels, train).has_two_classes() || held_out.empty()) {
    return std::vector<double>(methods.size(), 0);
  }
  RunContext own = ctx;
  own.sink = nullptr;
  const Stopwatch clock;
  const std::vector<PartLosses> found =
      detail::losses_of(data, {train, held_out}, methods, std::ssize(train), missing, own,
                        [&](const Candidate&) { ctx.check_stop(); });
  // What they share, such as conditioning, is part of each: a budget is rather kept than used up.
  double shared = clock.seconds();
  for (const PartLosses& one : found) shared -= one.seconds;
  std::vector<double> seconds;
  seconds.reserve(found.size());
  for (const PartLosses& one : found) {
    seconds.push_back((one.seconds + std::max(shared, 0.0)) *
                      growth(std::ssize(few), data.samples(), kGrowth));
  }
  return seconds;
}

/// Of each method's cross-validation over all samples and its fit to all of them.
std::vector<double> estimated_seconds(const ExperimentData& data,
                                      std::span<const Candidate* const> methods,
                                      const SelectionSettings& settings, Index folds,
                                      MissingPairs missing, RunContext& ctx) {
  std::vector<double> seconds = seconds_of_a_fold(data, methods, kFirst, folds, missing, ctx);
  std::vector<const Candidate*> again;
  std::vector<std::size_t> places;
  double sum = 0;
  for (const std::size_t c : cheapest_first(seconds)) {
    const double own = seconds[c] / growth(kFirst, data.samples(), kGrowth) *
                       growth(kFirst, kSampled, kFirstGrowth);
    if (data.samples() <= kSampled || sum + own > kShareForEstimates * *settings.budget) break;
    sum += own;
    again.push_back(methods[c]);
    places.push_back(c);
  }
  if (!again.empty()) {
    const std::vector<double> better =
        seconds_of_a_fold(data, again, kSampled, folds, missing, ctx);
    for (std::size_t k = 0; k < again.size(); ++k) seconds[places[k]] = better[k];
  }
  for (double& one : seconds) one *= static_cast<double>(folds + 1);  // the last is the final fit
  return seconds;
}

/// Which methods are tried with `left` seconds of the budget, the cheapest first; the others get a
/// reason.
std::vector<std::size_t> affordable(const std::vector<double>& seconds, double left, double budget,
                                    int workers, std::vector<SelectionEntry>& entries) {
  std::vector<std::size_t> tried;
  double sum = 0;
  for (const std::size_t c : cheapest_first(seconds)) {
    const double own = seconds[c] / workers;
    if (tried.empty() || sum + own <= left) {
      sum += own;
      tried.push_back(c);
    } else {
      entries[c].skipped = fmt::format(
          "about {:.2g} s, more than is left for it: {:.2g} s of the budget of {:.4g} s", own,
          std::max(left - sum, 0.0), budget);
    }
  }
  std::sort(tried.begin(), tried.end());
  return tried;
}

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
  double before = 0;   // seconds until cross-validation begins
  double reserve = 0;  // for the last fits
  if (settings.budget) {
    std::vector<const Candidate*> possible;
    std::vector<SelectionEntry> reasons;
    for (const std::size_t c : tried) {
      possible.push_back(all[c]);
      reasons.push_back(selection.entries[c]);
    }
    const std::vector<double> seconds =
        estimated_seconds(data, possible, settings, folds, missing, ctx);
    before = settings.spent + clock.seconds();
    const int workers = std::clamp(ctx.threads, 1, static_cast<int>(folds));
    std::vector<std::size_t> kept;
    for (const std::size_t k :
         affordable(seconds, *settings.budget - before, *settings.budget, workers, reasons)) {
      kept.push_back(tried[k]);
      reserve += seconds[k] / static_cast<double>(folds + 1);
    }
    for (std::size_t k = 0; k < tried.size(); ++k) {
      selection.entries[tried[k]].skipped = reasons[k].skipped;
    }
    tried = std::move(kept);
  }
  std::vector<const Candidate*> chosen;
  chosen.reserve(tried.size());
  for (const std::size_t c : tried) chosen.push_back(all[c]);

  // Every fold writes to its own slot.
  std::vector<std::vector<PartLosses>> found(static_cast<std::size_t>(folds));
  std::atomic<long> done = 0;
  std::atomic<double> longest = 0;  // seconds of a fold
  std::size_t pieces = 0;
  for (const Candidate* one : chosen) pieces += detail::inputs_of(*one, data).size();
  parallel_for(found.size(), ctx.threads, [&](std::size_t f) {
    // Within a budget some folds may be left out, but never the first.
    const double began = settings.spent + clock.seconds();
    if (settings.budget && f > 0 && began + longest + reserve > *settings.budget) return;
    const FoldSplit split = split_fold(fold_of, static_cast<int>(f));
    RunContext own = ctx;
    own.sink = nullptr;
    own.rng = ctx.rng.child("fold", f);
    found[f] =
        detail::losses_of(data, {split.outside, split.inside}, chosen, samples, missing, own,
                          [&](const Candidate& method) {
                            ctx.check_stop();
                            ctx.progress("cross-validation", static_cast<double>(done++),
                                         static_cast<double>(found.size() * pieces), method.name);
                          });
    const double took = settings.spent + clock.seconds() - began;
    for (double so_far = longest; took > so_far && !longest.compare_exchange_weak(so_far, took);) {
    }
  });
  std::vector<Total> totals(chosen.size());
  Index counted = 0;
  for (std::size_t f = 0; f < found.size(); ++f) {
    if (found[f].empty()) continue;
    ++selection.folds;
    counted += std::count(fold_of.begin(), fold_of.end(), static_cast<int>(f));
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      Total& total = totals[c];
      total.losses.resize(found[f][c].losses.size());
      total.squares.resize(total.losses.size());
      for (std::size_t i = 0; i < total.losses.size(); ++i) {
        total.losses[i] += found[f][c].losses[i];
        total.squares[i] += found[f][c].squares[i];
      }
      total.seconds += found[f][c].seconds;
      if (!total.failure) total.failure = found[f][c].failure;
    }
  }
  for (std::size_t c = 0; c < tried.size(); ++c) {
    settle(selection.entries[tried[c]], totals[c], data, samples, counted);
  }
  if (settings.budget) selection.notes = budget_notes(selection, settings, before);
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
      one["seconds"] = entry.seconds;
    }
    one["chosen"] = entry.seated;
    json["candidates"].push_back(std::move(one));
    if (entry.seated) json["chosen"].push_back(entry.method.name);
  }
  return json;
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

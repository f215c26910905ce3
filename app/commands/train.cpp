// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "commands.hpp"
#include "hints.hpp"
#include "input_options.hpp"
#include "kith/core/error.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/selection.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "method_options.hpp"
#include "output_options.hpp"
#include "raw_options.hpp"

namespace kith::app {
namespace {

struct TrainOptions {
  CommonOptions common;
  InputOptions input;
  RawOptions raw;
  std::string method = "svm";
  std::string among{kAutoMembers};
  bool tune = false;
  std::string budget;
  std::vector<std::string> grids;
  const CLI::App* parser = nullptr;
  std::vector<std::string> settings;
  std::string model;
  std::string similarity_out;
};

/// Whether settings are chosen by cross-validation, of several methods or of one.
bool selects(const TrainOptions& options) { return options.method == kAutoName || options.tune; }

double parse_budget(const std::string& text) {
  if (const std::optional<double> seconds = parse_seconds(text)) return *seconds;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--budget {} must be a time above 0, such as 90s, 5m, 2h or 1h30m",
                          in_quotes(text)));
}

/// What is chosen among: the members of the committee, or the one method to tune.
std::vector<Candidate> methods_of(const TrainOptions& options, const RunContext& ctx) {
  const bool automatic = options.method == kAutoName;
  const bool among = options.parser->count("--among") > 0;
  const std::string list = among ? options.among : options.method;
  std::vector<Candidate> methods = candidates_for({"--method", list, true}, options.input,
                                                  options.raw, ProtocolName::kKith, ctx);
  if (automatic && !among) methods = std::move(methods.front().members);
  check_members(methods);
  grant(parse_wishes("--set", options.settings, false),
        parse_wishes("--grid", options.grids, false), methods);
  return methods;
}

struct Selected {
  Selection selection;
  Training training;
  double seconds = 0;              // of search and fit
  std::vector<std::string> found;  // of each entry: its best settings
};
Selected select_and_train(const TrainOptions& options, const LabelledInput& input,
                          const Stopwatch& clock, Session& session) {
  RunContext& ctx = session.context;
  std::vector<Candidate> methods = methods_of(options, ctx);
  ExperimentData data = experiment_data(input, input.matrices, input.condition, ctx);
  const Stopwatch search_clock;
  SelectionSettings settings;
  if (!options.budget.empty()) settings.budget = parse_budget(options.budget);
  InputSearch search = input_search(ProtocolName::kKith, input.samples);
  // The other half is for learning.
  if (settings.budget) search.seconds = std::max(0.0, *settings.budget - clock.seconds()) / 2;
  resolve(input, std::move(search), *options.parser, data, methods, ctx);
  settings.spent = clock.seconds();
  Selected selected{.selection = select_methods(data, methods, settings, ctx)};
  for (const std::string& note : notes_of(selected.selection)) ctx.message(note);
  selected.training =
      train_selected(selected.selection, data, input.samples,
                     input.vectors ? &*input.vectors : nullptr, decision_of(methods), ctx);
  record(selected.selection, data, selected.training.model);
  for (const SelectionEntry& entry : selected.selection.entries) {
    selected.found.push_back(entry.skipped ? "" : found_text(entry, data));
  }
  selected.seconds = search_clock.seconds();
  return selected;
}

PreparedTraining prepared_of(const LabelledInput& input, const MethodChoice& choice,
                             RunContext& ctx) {
  if (learns_from_vectors(choice.settings)) return prepare_training(*input.vectors, input.labels);
  const InputSettings condition = settled(input.condition, choice.settings);
  if (!input.samples.empty()) return prepare_training(input.samples, input.labels, condition, ctx);
  return prepare_training(
      input.matrices, input.labels, condition, ctx,
      takes_missing_pairs(choice.settings) ? MissingPairs::kKept : MissingPairs::kRefused);
}

std::string weights_text(const std::vector<KernelWeight>& weights) {
  std::string text;
  for (const KernelWeight& one : weights) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.matrix,
                        std::isfinite(one.weight) ? format_short(one.weight, 6) : "not finite");
  }
  return text;
}

/// A row per method, the best first: what it got, by which settings, and whether it takes part.
std::string selection_text(const Selection& selection, std::span<const std::string> found) {
  std::vector<std::size_t> order(selection.entries.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const SelectionEntry& first = selection.entries[a];
    const SelectionEntry& second = selection.entries[b];
    if (first.skipped.has_value() != second.skipped.has_value()) return !first.skipped;
    return !first.skipped && first.loss < second.loss;
  });
  std::string text = fmt::format(
      "\n  cross-validation over {} ({} to treat the input):\n"
      "  {:<16} {:>9} {:>9}  {}\n",
      selection.folds == selection.folds_asked
          ? counted(selection.folds, "fold")
          : fmt::format("{} of {}", selection.folds, counted(selection.folds_asked, "fold")),
      counted(selection.variants, "way"), "method", "error (%)", "seconds", "best settings");
  for (const std::size_t c : order) {
    const SelectionEntry& one = selection.entries[c];
    if (one.skipped) {
      text += fmt::format("  {:<16} skipped: {}\n", one.method.name, *one.skipped);
      continue;
    }
    text += fmt::format("  {:<16} {:>5.2f} \u00b1{:<4.2f}{:>8.2f}  {}{}\n", one.method.name,
                        100 * one.loss, 100 * one.error, one.seconds, found[c],
                        one.seated ? "" : "  (left out)");
  }
  return text + "\n";
}

std::string training_text(const Training& training, const std::optional<Selected>& selected,
                          const TrainOptions& options) {
  const ModelRecord& record = training.model.record;
  const FitInfo& info = training.info;
  // As it was typed, "svm-flip", unless it was left open.
  const bool committee = training.model.is_committee();
  std::string text = fmt::format(
      "{}: {}, {}, {} in {:.3g} s\n", selected && !committee ? record.method : options.method,
      record.groups > 0 ? fmt::format("{} in {}", counted(record.samples, "sample"),
                                      counted(record.groups, "group"))
                        : counted(record.samples, "sample"),
      counted(std::ssize(record.class_names), "class"), selected ? "searched and fitted" : "fitted",
      selected ? selected->seconds : training.seconds);
  if (committee) {
    text += line("is", fmt::format("a committee of {} methods, which vote with their probabilities",
                                   training.model.members.size()));
  }
  text += line("status", std::string(enum_name(info.status())));
  if (info.status() == SolveStatus::kStopped) {
    text += line("", "no optimum is claimed: the method ends by a rule of its own");
  }
  for (const auto& [what, value] :
       {std::pair("objective", info.objective()), std::pair(gap_words(info.status()), info.gap()),
        std::pair("KKT residual", info.kkt_residual()),
        std::pair("consistency", info.consistency)}) {
    if (std::isfinite(value)) text += line(what, format_short(value, 6));
  }
  if (!info.kernel_words.empty()) text += line("kernel", info.kernel_words);
  if (info.subproblems.size() == 1 && !info.subproblems.front().kernel_weights.empty()) {
    text += line("weights", weights_text(info.subproblems.front().kernel_weights));
  }
  if (selected) text += selection_text(selected->selection, selected->found);
  if (selected) {
    text +=
        line("gives", has_probabilities(training.model) ? "labels, scores and probabilities"
                                                        : "labels and scores, no probabilities");
  }
  text +=
      line("needs", record.features > 0 ? "vectors of " + counted(record.features, "feature")
                                        : fmt::format("similarities to {} of {} training samples",
                                                      record.positions.size(), record.samples));
  for (const std::string& sentence : record.applied) {
    text += line("applied", spelled(sentence, as_flag));
  }
  for (const std::string& note : info.notes) text += line("note", spelled(note, as_flag));
  if (!options.model.empty()) text += line("model", options.model);
  return text;
}

/// What the methods at hand learn from; throws where a flag asks for what none of them has.
InputNeeds needs_of(const TrainOptions& options, const MethodChoice& choice) {
  InputNeeds needs;
  if (options.method != kAutoName) {
    add_need(needs, {.name = choice.name, .choice = choice, .axes = {}});
  } else {
    const MethodsFlag among{"--among", options.among, true};
    const std::string list = methods_to_compare(among, options.input, options.raw, {});
    for (const Candidate& candidate : parse_candidates(list)) add_need(needs, candidate);
  }
  return needs;
}

void refuse_overwriting_inputs(const TrainOptions& options) {
  std::vector<std::string> inputs = files_of(options.input);
  add_files(inputs, options.raw.data);
  refuse_overwriting(std::array{OutputFile{"--model", options.model},
                                OutputFile{"--write-similarity", options.similarity_out}},
                     inputs);
}

void check_similarity_out(const TrainOptions& options, const MethodChoice& choice) {
  if (options.similarity_out.empty()) return;
  if (options.method == kAutoName || !learns_metric(choice.settings)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--write-similarity writes a learned metric, and {} learns none",
                            options.method));
  }
  (void)writable_format(options.similarity_out, std::nullopt);
}

void write_similarity(const TrainOptions& options, const TrainedModel& model,
                      const TrainingSet& set, const RunContext& ctx) {
  if (options.similarity_out.empty()) return;
  SimilaritySet learned;
  learned.name = model.record.method;
  learned.block = DenseBlock(RowMatrix(learned_similarity(model.model, set.vectors, ctx)));
  learned.row_ids = set.ids;
  learned.column_ids = set.ids;
  write_similarity(options.similarity_out, std::nullopt, learned, set.labels.ids, ctx);
}

void check_flags(const TrainOptions& options) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorCode::kInvalidArgument, message);
  };
  if (options.method != kAutoName && options.parser->count("--among") > 0) {
    refuse("--among has a meaning with --method auto only");
  }
  if (selects(options)) {
    if (!options.budget.empty()) (void)parse_budget(options.budget);  // before any work
    return;
  }
  if (!options.budget.empty()) refuse("--budget has a meaning with --method auto or --tune only");
  if (!options.grids.empty()) refuse("--grid has a meaning with --method auto or --tune only");
}

/// What new samples will have to bring that is easily forgotten.
void note_needs(const TrainedModel& model, const LabelledInput& input, const RunContext& ctx) {
  // Raw samples bring their own.
  if (!input.samples.empty() || !needs_self_similarities(model)) return;
  ctx.message(
      "predictions by this model need the self-similarity of each new sample (kith predict "
      "--self): "
      "the training samples have no common one to take it from. Another test-treatment, or --scale "
      "none where similarities are scaled by their cosine, needs none");
}

int run(const TrainOptions& options) {
  check_one_method(options.method);
  MethodChoice choice = options.method == kAutoName
                            ? MethodChoice{}
                            : parse_method(options.method, options.tune ? std::vector<std::string>{}
                                                                        : options.settings);
  check_flags(options);
  if (options.input.labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "training needs labels: give --labels FILE");
  }
  refuse_overwriting_inputs(options);
  check_similarity_out(options, choice);
  Session session(options.common);
  const Stopwatch clock;
  const LabelledInput input =
      read_labelled(options.input, options.raw, needs_of(options, choice), session.context);
  session.use_blas_for(input.labels.size());
  std::optional<Selected> selected;
  if (selects(options)) selected = select_and_train(options, input, clock, session);
  std::optional<PreparedTraining> prepared;
  if (!selected || !options.similarity_out.empty()) {
    prepared = prepared_of(input, choice, session.context);
  }
  Training training = [&] {
    if (selected) return std::move(selected->training);
    const Heartbeat shown = session.heartbeat("training " + choice.name);
    return train(*prepared, choice, session.context);
  }();
  note_needs(training.model, input, session.context);
  if (!options.model.empty()) save(training.model, options.model);
  if (prepared) write_similarity(options, training.model, prepared->set, session.context);
  session.end_progress();
  if (options.common.json) {
    Json json = training_json(training);
    if (selected) add_seconds(selected->selection, json);
    Json notes = input.doubts;
    for (const Json& note : json.value("notes", Json::array())) notes.push_back(note);
    if (!notes.empty()) json["notes"] = spelled_json(std::move(notes), as_flag);
    if (!options.model.empty()) json["model"] = options.model;
    print_json(json);
  } else {
    print_text(training_text(training, selected, options));
  }
  if (ended_as_asked(training.info.status())) return kDone;
  session.context.message(
      fmt::format("the solver missed its tolerance: {}", enum_name(training.info.status())));
  return kMissedTolerance;
}

}  // namespace

Command add_train(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "train", "fit one method, write one model file, print the certificate");
  const auto options = std::make_shared<TrainOptions>();
  options->parser = parser;
  parser
      ->add_option("--method", options->method,
                   "the method, such as svm or svm-flip; `kith methods` lists them. auto: the "
                   "best methods by cross-validation, which predict together")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Method");
  parser
      ->add_option("--set", options->settings,
                   "a setting of the method (repeatable); `kith methods NAME` explains them")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Method");
  parser
      ->add_option("--among", options->among,
                   "what --method auto is made of, separated by commas; of several matrices also " +
                       std::string(kAutoSeveralMembers))
      ->type_name("LIST")
      ->capture_default_str()
      ->group("Method");
  parser
      ->add_flag("--tune", options->tune,
                 "choose the settings of the method by cross-validation: those of its grid that "
                 "--set does not fix, and how the input is treated")
      ->group("Method");
  parser
      ->add_option(
          "--grid", options->grids,
          "values of a setting to search instead of its grid (repeatable); METHOD:KEY=LIST "
          "for one method of --method auto")
      ->type_name("KEY=LIST")
      ->allow_extra_args(false)
      ->group("Method");
  parser
      ->add_option(
          "--budget", options->budget,
          "time for --method auto or --tune, such as 90s, 5m or 1h30m: methods that will not "
          "fit in are skipped, the costliest first")
      ->type_name("TIME")
      ->group("Method");
  parser->add_option("--model", options->model, "file to write the model to")
      ->type_name("FILE")
      ->group("Method");
  parser
      ->add_option("--write-similarity", options->similarity_out,
                   "file to write the similarities to that a learned metric gives the training "
                   "samples")
      ->type_name("FILE")
      ->group("Method");
  add_input_options(*parser, options->input, {.groups = true});
  add_raw_options(*parser, options->raw);
  add_common_options(*parser, options->common, kBlasBySize);
  parser->footer(
      "Exit code 2 means that the solver missed its tolerance: the model is written and marked.\n\n"
      "Examples:\n"
      "  kith train --similarity s.csv --labels labels.txt --method svm-clip --model m.kith\n"
      "  kith train --similarity s.csv --labels labels.txt --set cost=100 --set spectrum=flip "
      "--json\n"
      "  kith train --similarity s.csv --labels labels.txt --method auto --model m.kith\n"
      "  kith train --similarity sw=sw.csv --similarity nw=nw.csv --labels labels.txt --method "
      "mkl\n"
      "  kith train --data words.tsv --measure edit --labels languages.tsv --model words.kith\n"
      "  kith train --data p.fasta --measure sw --measure nw:score=normalised --labels labels.tsv "
      "--method mkl\n"
      "  kith train --data features.csv --labels labels.txt --method linear-msvm "
      "--write-similarity "
      "s.csv\n"
      "  kith train --similarity s.csv --labels labels.txt --groups people.txt --method auto "
      "--model "
      "m.kith\n"
      "  kith train --distance d.npy --labels labels.tsv --set costs=sick:healthy=5 --model "
      "m.kith");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

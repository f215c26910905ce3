// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "input_options.hpp"
#include "kith/core/error.hpp"
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
  std::string among{kDefaultComparison};
  const CLI::App* parser = nullptr;
  std::vector<std::string> settings;
  std::string model;
  std::string similarity_out;
};

/// Folds of the cross-validation that chooses, as [TR] 6.2 has inside each partition.
constexpr Index kAutoFolds = 10;

/// The best of `--among` by cross-validation on the samples at hand, with its best settings.
struct AutoChoice {
  MethodChoice choice;
  Selection selection;
};
AutoChoice choose(const TrainOptions& options, const LabelledInput& input, RunContext& ctx) {
  if (!options.settings.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--set has no meaning with --method auto, which chooses the settings");
  }
  const MethodsFlag among{"--among", options.among, options.parser->count("--among") > 0};
  const std::vector<Candidate> candidates =
      parse_candidates(methods_to_compare(among, options.input, options.raw, ctx));
  note_neighbours(options.input, input, candidates, ctx);
  const ExperimentData data = experiment_data(input, input.matrices, input.condition, ctx);
  const Index folds = std::min(kAutoFolds, data.samples());
  Selection selection = select_method(data, candidates, folds, Stratify::kAuto, ctx);
  const SelectionEntry& best = selection.entries[selection.best];
  MethodChoice choice = candidates[selection.best].choice;
  choice.settings = best.settings;
  switch_evidence(choice, true);  // off while choosing, as in `evaluate`; a model has it
  ctx.message(fmt::format("chose {} with an inner error of {} %", best.name,
                          format_short(100 * best.loss, 3)));
  return {.choice = std::move(choice), .selection = std::move(selection)};
}

PreparedTraining prepared_of(const LabelledInput& input, const MethodChoice& choice,
                             RunContext& ctx) {
  if (learns_from_vectors(choice.settings)) return prepare_training(*input.vectors, input.labels);
  if (!input.samples.empty()) {
    return prepare_training(input.samples, input.labels, input.condition, ctx);
  }
  return prepare_training(
      input.matrices, input.labels, input.condition, ctx,
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

std::string selection_text(const Selection& selection) {
  std::string text = line(
      "chosen", selection.entries[selection.best].name + ", of least error in cross-validation:");
  for (const SelectionEntry& one : selection.entries) {
    text += fmt::format("                  {:<16} {:>6.2f} %\n", one.name, 100 * one.loss);
  }
  return text;
}

std::string training_text(const Training& training, const std::optional<Selection>& selection,
                          const TrainOptions& options) {
  const ModelRecord& record = training.model.record;
  const FitInfo& info = training.info;
  // As it was typed, "svm-flip", unless it was left open.
  std::string text = fmt::format("{}: {} samples, {} classes, fitted in {:.3g} s\n",
                                 selection ? record.method : options.method, record.samples,
                                 record.class_names.size(), training.seconds);
  text += line("status", std::string(name(info.status())));
  if (info.status() == SolveStatus::kStopped) {
    text += line("", "no optimum is claimed: the method ends by a rule of its own");
  }
  // A descent has no dual of its own: its gap is that to a lower bound of the optimum.
  const bool descent =
      info.status() == SolveStatus::kStopped || info.status() == SolveStatus::kStationary;
  for (const auto& [what, value] : {std::pair("objective", info.objective()),
                                    std::pair(descent ? "gap to bound" : "duality gap", info.gap()),
                                    std::pair("KKT residual", info.kkt_residual()),
                                    std::pair("consistency", info.consistency)}) {
    if (std::isfinite(value)) text += line(what, format_short(value, 6));
  }
  if (info.subproblems.size() == 1 && !info.subproblems.front().kernel_weights.empty()) {
    text += line("weights", weights_text(info.subproblems.front().kernel_weights));
  }
  if (selection) text += selection_text(*selection);
  text +=
      line("needs", record.features > 0 ? fmt::format("vectors of {} features", record.features)
                                        : fmt::format("similarities to {} of {} training samples",
                                                      record.positions.size(), record.samples));
  for (const std::string& sentence : record.applied) text += line("applied", sentence);
  for (const std::string& note : info.notes) text += line("note", spelled(note, as_flag));
  if (!options.model.empty()) text += line("model", options.model);
  return text;
}

/// What the methods at hand learn from; throws where a flag asks for what none of them has.
InputNeeds needs_of(const TrainOptions& options, const MethodChoice& choice) {
  InputNeeds needs;
  if (options.method != "auto") {
    add_need(needs, choice);
  } else {
    for (const Candidate& candidate : parse_candidates(options.among)) {
      add_need(needs, candidate.choice);
    }
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
  if (options.method == "auto" || !learns_metric(choice.settings)) {
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

int run(const TrainOptions& options) {
  const bool automatic = options.method == "auto";
  if (!automatic && options.parser->count("--among") > 0) {
    throw Error(ErrorCode::kInvalidArgument, "--among has a meaning with --method auto only");
  }
  MethodChoice choice = automatic ? MethodChoice{} : parse_method(options.method, options.settings);
  if (options.input.labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "training needs labels: give --labels FILE");
  }
  refuse_overwriting_inputs(options);
  check_similarity_out(options, choice);
  Session session(options.common);
  const LabelledInput input =
      read_labelled(options.input, options.raw, needs_of(options, choice), session.context);
  session.use_blas_for(input.labels.size());
  std::optional<Selection> selection;
  if (automatic) {
    AutoChoice best = choose(options, input, session.context);
    choice = std::move(best.choice);
    selection = std::move(best.selection);
  } else {
    const Candidate only{.name = choice.name, .choice = choice, .axes = {}};
    note_neighbours(options.input, input, std::span(&only, 1), session.context);
  }
  const PreparedTraining prepared = prepared_of(input, choice, session.context);
  Training training = [&] {
    const Heartbeat shown = session.heartbeat("training " + choice.name);
    return train(prepared, choice, session.context);
  }();
  // Raw samples bring their own.
  if (input.samples.empty() && needs_self_similarities(training.model.model)) {
    session.context.message(
        "predictions by this model need the self-similarity of each new sample (kith predict "
        "--self): the training samples have no common one to take it from. Another test-treatment "
        "needs none");
  }
  if (selection) training.model.record.certificate["selection"] = selection_json(*selection);
  if (!options.model.empty()) save(training.model, options.model);
  write_similarity(options, training.model, prepared.set, session.context);
  session.end_progress();
  if (options.common.json) {
    Json json = training_json(training);
    if (json.contains("notes")) json["notes"] = spelled_json(json["notes"], as_flag);
    if (!options.model.empty()) json["model"] = options.model;
    print_json(json);
  } else {
    print_text(training_text(training, selection, options));
  }
  if (ended_as_asked(training.info.status())) return kDone;
  session.context.message(
      fmt::format("the solver missed its tolerance: {}", name(training.info.status())));
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
                   "the method, such as svm or svm-flip; `kith methods` lists them; auto: the one "
                   "of least error in cross-validation")
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
                   "what --method auto chooses from, separated by commas; without it, of several "
                   "matrices, " +
                       std::string(kSeveralComparison))
      ->type_name("LIST")
      ->capture_default_str()
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
  add_input_options(*parser, options->input);
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
      "  kith train --distance d.npy --labels labels.tsv --set costs=sick:healthy=5 --model "
      "m.kith");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
#include "console.hpp"
#include "input_options.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/evaluate/grid_notes.hpp"
#include "kith/evaluate/results.hpp"
#include "kith/numerics/blas.hpp"
#include "kith/report/curve_table.hpp"
#include "kith/version.hpp"
#include "method_options.hpp"
#include "output_options.hpp"
#include "raw_options.hpp"

namespace kith::app {
namespace {

struct EvaluateOptions {
  CommonOptions common;
  InputOptions input;
  RawOptions raw;
  std::string methods{kDefaultComparison};
  std::string among{kAutoMembers};
  std::vector<std::string> settings;
  std::vector<std::string> grids;
  std::string protocol = "kith";
  PartitionSettings partitions;
  std::string partition_file;
  std::string sizes;
  std::string test = "auto";
  std::string store;
  std::string data_name;
  bool append = false;
  bool timings = false;
  std::string command_line;
  const CLI::App* parser = nullptr;
};

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

std::vector<Candidate> chosen_candidates(const EvaluateOptions& options, ProtocolName protocol,
                                         const RunContext& ctx) {
  const MethodsFlag methods{"--methods", options.methods, options.parser->count("--methods") > 0};
  std::vector<Candidate> candidates =
      candidates_for(methods, options.input, options.raw, protocol, ctx);
  if (options.parser->count("--among") > 0) {
    const MethodsFlag among{"--among", options.among, true};
    set_members(candidates_for(among, options.input, options.raw, protocol, ctx), candidates);
  }
  grant(parse_wishes("--set", options.settings), parse_wishes("--grid", options.grids), candidates);
  return candidates;
}

/// A number that was typed and that a partition file contradicts.
void refuse_other_count(const EvaluateOptions& options, const std::string& flag, Index typed,
                        std::size_t given) {
  if (options.parser->count(flag) == 0 || typed == static_cast<Index>(given)) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} {}, but {} has {}", flag, typed, options.partition_file, given));
}

/// As typed; what was not, as the protocol has it.
PartitionSettings partition_settings(const EvaluateOptions& options, ProtocolName protocol) {
  PartitionSettings settings = options.partitions;
  PartitionSettings of_protocol;
  apply(protocol, of_protocol);
  if (options.parser->count("--repeats") == 0) settings.repeats = of_protocol.repeats;
  if (options.parser->count("--folds") == 0) settings.folds = of_protocol.folds;
  if (options.parser->count("--stratify") == 0) settings.stratify = of_protocol.stratify;
  if (options.parser->count("--test-fraction") == 0) {
    settings.test_fraction = of_protocol.test_fraction;
  }
  return settings;
}

/// Read where the file is there, drawn and written where it is not.
std::vector<Partition> chosen_partitions(const EvaluateOptions& options,
                                         const PartitionSettings& settings,
                                         const ExperimentData& data, RunContext& ctx) {
  const std::string& path = options.partition_file;
  if (!path.empty() && exists(path)) {
    std::vector<Partition> given = read_partitions(path, data, settings, ctx.rng);
    refuse_other_count(options, "--repeats", options.partitions.repeats, given.size());
    refuse_other_count(options, "--folds", options.partitions.folds,
                       static_cast<std::size_t>(given.front().folds()));
    return given;
  }
  std::vector<Partition> partitions = draw_partitions(data.labels, settings, ctx.rng);
  if (!path.empty()) {
    write_partitions(path, partitions, data);
    ctx.message(fmt::format("wrote {} to {}", counted(std::ssize(partitions), "partition"), path));
  }
  return partitions;
}

/// Of the training parts, with the samples of each.
std::vector<SizedPartitions> chosen_sizes(const EvaluateOptions& options,
                                          const ExperimentPlan& plan, const ExperimentData& data,
                                          const RunContext& ctx) {
  if (options.parser->count("--sizes") == 0) return {};
  return draw_sizes(plan.partitions, data.labels, parse_sizes(options.sizes),
                    plan.protocol.partitions.stratify, ctx.rng);
}

Json measure_json(const RawMatrix& matrix) {
  return relevant_settings(with_defaults(matrix.measure, matrix.samples));
}

Json about(const EvaluateOptions& options, const LabelledInput& input, const ExperimentData& data) {
  Json json = {{"command", options.command_line}, {"kith", kVersion}, {"blas", blas_description()}};
  for (const RawMatrix& one : input.samples) {
    json["data"].push_back(source_of(one.samples));
    json["measure"].push_back(measure_json(one));
  }
  if (input.samples.empty() && input.vectors) json["data"] = {input.vectors->source};
  if (input.samples.empty() && !input.vectors) {
    json["similarity"] = Json::array();
    for (const SimilaritySet& set : data.matrices.sets) json["similarity"].push_back(set.source);
  }
  json["matrices"] = matrices_json(data, input.samples);
  json["labels"] = options.input.labels;
  if (!options.input.groups.empty()) json["groups"] = options.input.groups;
  return json;
}

/// Of the data set: several measures of one file are named after themselves, not after it; several
/// matrices make one data set together.
std::string data_set_name(const LabelledInput& input, const ExperimentData& data) {
  if (!input.samples.empty()) return name_of(input.samples.front().samples);
  if (input.vectors) return name_of(*input.vectors);
  std::string name;
  for (const SimilaritySet& set : data.matrices.sets) name += (name.empty() ? "" : "+") + set.name;
  return name;
}

/// The store says what is left when a run ends early.
std::string how_to_go_on(const EvaluateOptions& options) {
  if (options.store.empty()) {
    return "interrupted; nothing was kept, since no --store was given";
  }
  return fmt::format(
      "interrupted; everything finished is in {}: the same command goes on from there",
      options.store);
}

/// Partitions that are there are read, others written.
void check_outputs(const EvaluateOptions& options) {
  std::vector<std::string> inputs = files_of(options.input);
  add_files(inputs, options.raw.data);
  std::vector<OutputFile> outputs = {{"--store", options.store}};
  if (exists(options.partition_file)) {
    inputs.push_back(options.partition_file);
  } else {
    outputs.push_back({"--partitions", options.partition_file});
  }
  refuse_overwriting(outputs, inputs);
}

/// Of what was asked for now; the store may have more.
bool missed_tolerance(const ExperimentResult& result, const ExperimentPlan& plan) {
  return std::any_of(result.methods.begin(), result.methods.end(), [&](const MethodResult& method) {
    const bool asked =
        std::any_of(plan.candidates.begin(), plan.candidates.end(),
                    [&](const Candidate& candidate) { return candidate.name == method.name; });
    return asked && !method.ended_as_asked();
  });
}

void check_store_flags(const EvaluateOptions& options) {
  const bool given = options.parser->count("--store") > 0;
  if (given && (options.store.empty() || options.store == ":memory:")) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--store {} names no file", in_quotes(options.store)));
  }
  if (!given && options.append) {
    throw Error(ErrorCode::kInvalidArgument, "--append needs a --store to append to");
  }
}

int finish(const ExperimentRun& done, const ExperimentResult& result, const ExperimentPlan& plan,
           const RunContext& ctx) {
  for (const UnitFailure& failure : done.failures) {
    ctx.message(fmt::format(
        "{} failed on partition {}{} and was left out: {}", failure.name, failure.partition + 1,
        failure.size.empty() ? "" : " with training samples " + failure.size, failure.message));
  }
  if (!done.failures.empty()) return kBadUsage;
  if (!missed_tolerance(result, plan)) return kDone;
  ctx.message("a solver missed its tolerance; the table says which, `--json` how far");
  return kMissedTolerance;
}

int run(const EvaluateOptions& options) {
  const auto protocol = parse_enum<ProtocolName>("--protocol", options.protocol);
  if (options.input.labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "a comparison needs labels: give --labels FILE");
  }
  const auto test = parse_enum<SignificanceTest>("--test", options.test);
  check_store_flags(options);
  check_outputs(options);
  Session session(options.common);
  RunContext& ctx = session.context;
  ExperimentPlan plan;
  plan.candidates = chosen_candidates(options, protocol, ctx);
  InputNeeds needs;
  for (const Candidate& candidate : plan.candidates) add_need(needs, candidate);
  LabelledInput input = read_labelled(options.input, options.raw, needs, ctx);
  InputSettings condition = input.condition;
  if (options.parser->count("--scale") == 0) apply(protocol, condition);
  ExperimentData data = experiment_data(input, std::move(input.matrices), condition, ctx);
  resolve(input, input_search(protocol, input.samples), *options.parser, data, plan.candidates,
          ctx);
  plan.name = options.data_name.empty() ? data_set_name(input, data) : options.data_name;
  plan.protocol = {.name = protocol, .partitions = partition_settings(options, protocol)};
  plan.partitions = chosen_partitions(options, plan.protocol.partitions, data, ctx);
  plan.sizes = chosen_sizes(options, plan, data, ctx);
  plan.protocol.partitions.repeats = static_cast<Index>(plan.partitions.size());
  (void)chosen_test(test, Metric::kError, plan.partitions.size(), enum_name(protocol), plan.name);
  plan.about = about(options, input, data);
  plan.doubts = input.doubts;
  plan.portraits = !options.store.empty();
  plan.partitions_given = !options.partition_file.empty();
  plan.first_task = static_cast<std::size_t>(getpid());

  Store store(options.store.empty() ? ":memory:" : options.store);
  ExperimentRun done;
  say_when_interrupted(how_to_go_on(options));
  try {
    done = run_experiment(data, plan, store, options.append ? NewData::kAppend : NewData::kRefuse,
                          ctx);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    throw Error(ErrorCode::kInterrupted, how_to_go_on(options));
  }
  for (const std::string& note : keep_notes(data, plan, store, done.experiment)) {
    ctx.message(note);
  }
  const std::vector<ExperimentResult> results = {
      summarise(store, done.experiment, Metric::kError, "", test)};
  session.end_progress();
  if (options.common.json) {
    Json json = spelled_notes(results_json(store, results), as_flag);
    if (!done.failures.empty()) {
      json["failures"] = spelled_json(failures_json(done.failures), as_flag);
    }
    print_json(json);
  } else {
    const OutputStyle style = output_style();
    print_text(table_and_curves(
        store, results,
        {.unicode = style.unicode, .colour = style.colour, .timings = options.timings}));
  }
  return finish(done, results.front(), plan, ctx);
}

void add_flags(CLI::App& parser, EvaluateOptions& options) {
  parser
      .add_option("--methods", options.methods,
                  "what to compare, separated by commas; `kith methods` lists them, all compares "
                  "every one that learns from the input, "
                  "name=METHOD gives one a name of its own; without it, of several matrices, " +
                      std::string(kSeveralComparison))
      ->type_name("LIST")
      ->capture_default_str()
      ->group("Comparison");
  parser
      .add_option("--among", options.among,
                  "the methods that auto is made of, where it is compared; with several matrices "
                  "also " +
                      std::string(kAutoSeveralMembers))
      ->type_name("LIST")
      ->capture_default_str()
      ->group("Comparison");
  parser
      .add_option("--set", options.settings,
                  "fix a setting of one of them, or of all (*) (repeatable)")
      ->type_name("METHOD:KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Comparison");
  parser
      .add_option("--grid", options.grids,
                  "values of a setting to search, separated by commas (repeatable)")
      ->type_name("METHOD:KEY=LIST")
      ->allow_extra_args(false)
      ->group("Comparison");
  parser
      .add_option(
          "--protocol", options.protocol,
          "kith: relative grids, and the conversion of distances or the scale of similarities is "
          "searched as well; tr: the grids of [TR] on the input as given; cgr: similarities scaled "
          "to [0,1] and the grids of "
          "[CGR]; cy: 10 partitions, 5 folds, cost 1; ktbb: 5 partitions with equal classes, "
          "5 folds; zgzz: 10 partitions of 70 and 30 %, 5 folds")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Comparison");
  add_settings_flags(parser, options.partitions, "Comparison");
  parser
      .add_option(
          "--partitions", options.partition_file,
          "file of partitions: used if it is there, written if it is not. One partition is a "
          "list with a line per sample: train or test in the order of the rows, or "
          "id<TAB>train; several have a column each under a line sample<TAB>1<TAB>2")
      ->type_name("FILE")
      ->group("Comparison");
  parser
      .add_option(
          "--sizes", options.sizes,
          "a learning curve: also with some of the training samples, such as 10%,20%,50%, or "
          "numbers such as 50,100; tested on the same test parts")
      ->type_name("LIST")
      ->group("Comparison");
  parser
      .add_option("--test", options.test,
                  "how methods are compared: corrected-t, mcnemar (one partition), wilcoxon, none; "
                  "auto is wilcoxon for the protocols of papers, else corrected-t or mcnemar")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Comparison");
  parser
      .add_option("--store", options.store,
                  "SQLite file that keeps every result; the same command goes on where it ended")
      ->type_name("FILE")
      ->group("Comparison");
  parser.add_option("--name", options.data_name, "of the data set, in the store and in tables")
      ->type_name("NAME")
      ->default_str("the file's")
      ->group("Comparison");
  parser.add_flag("--append", options.append, "add a further data set to a store that has others")
      ->group("Comparison");
  parser.add_flag("--timings", options.timings, "show seconds in the table")->group("Comparison");
}

}  // namespace

Command add_evaluate(CLI::App& program, const std::string& command_line) {
  CLI::App* parser = program.add_subcommand(
      "evaluate", "compare methods by nested cross-validation, into a store that can go on");
  const auto options = std::make_shared<EvaluateOptions>();
  options->command_line = command_line;
  options->parser = parser;
  apply(ProtocolName::kKith, options->partitions);
  add_flags(*parser, *options);
  add_input_options(*parser, options->input, {.groups = true});
  add_raw_options(*parser, options->raw);
  add_common_options(*parser, options->common,
                     {"threads inside one matrix decomposition; recorded with the result",
                      "1, since folds run side by side"});
  parser->footer(
      "For each of --repeats random partitions, settings are chosen by cross-validation inside "
      "the\n"
      "training part, the method is fitted again with the best, and tested on samples that took "
      "no\n"
      "part in any of it. Errors are in %, as mean (standard deviation); the best group is "
      "marked.\n"
      "Ctrl-C or a crash loses nothing finished: run the same command again.\n\n"
      "Examples:\n"
      "  kith evaluate --similarity s.csv --labels labels.txt --store run.db\n"
      "  kith evaluate --similarity s.csv --labels labels.txt --methods knn,svm-clip,raw=krr-clip "
      "\\\n"
      "      --set raw:test-treatment=none --grid svm-clip:cost=0.1,1,10 --store run.db\n"
      "  kith evaluate --similarity s.csv --labels labels.txt --groups people.txt --sizes "
      "10%,20%,50%\n"
      "  kith evaluate --data votes.csv --measure value-difference --labels parties.txt\n"
      "  kith report --store run.db --out run.html");
  parser->footer(parser->get_footer() + "\n\n" + legend_of("[TR] [CGR]", kFooterWidth));
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

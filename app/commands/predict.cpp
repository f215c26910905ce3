// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "commands.hpp"
#include "console.hpp"
#include "input_options.hpp"
#include "kith/core/error.hpp"
#include "kith/core/status.hpp"
#include "kith/core/text.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/pipeline/explanation.hpp"
#include "kith/pipeline/given_values.hpp"
#include "kith/pipeline/query_files.hpp"
#include "kith/pipeline/raw_queries.hpp"
#include "kith/report/page.hpp"
#include "kith/report/score.hpp"
#include "output_options.hpp"
#include "prediction_output.hpp"
#include "raw_options.hpp"
#include "score_predictions.hpp"

namespace kith::app {
namespace {

constexpr Index kRowsAtATime = 1024;

struct PredictOptions {
  CommonOptions common;
  std::string model;
  std::vector<std::string> similarity;  // FILE or name=FILE, like the next three
  std::vector<std::string> distance;
  std::vector<std::string> from;
  std::vector<std::string> distance_from;
  std::vector<std::string> self;
  std::vector<std::string> data;
  std::string labels;
  ReadSettings read;
  std::string out;
  std::string html;
  Index explain = 0;  ///< how many training samples are named for each prediction
  const CLI::App* parser = nullptr;
};

/// Where a flag was not given, no matrix has such a file.
std::vector<std::string> paths_by_matrix(const ModelRecord& record,
                                         const std::vector<std::string>& given,
                                         std::string_view flag) {
  std::vector<std::string> paths(record.matrices.size());
  if (given.empty()) return paths;
  std::vector<NamedFile> files;
  files.reserve(given.size());
  for (const std::string& text : given) files.push_back(parse_named_file(text));
  const std::vector<Index> chosen = files_by_matrix(record, files, flag);
  for (std::size_t m = 0; m < paths.size(); ++m) {
    if (chosen[m] >= 0) paths[m] = files[static_cast<std::size_t>(chosen[m])].path;
  }
  return paths;
}

/// Similarities and distances, like new rows, go to matrices of their own kind.
void check_from_kinds(const ModelRecord& record, const PredictOptions& options,
                      const std::vector<std::string>& from) {
  std::vector<std::string> distances;
  add_files(distances, options.distance_from);
  for (std::size_t m = 0; m < from.size(); ++m) {
    if (from[m].empty()) continue;
    const bool of_distances = record.matrices[m].rule.kind == PairKind::kDistance;
    const bool given = std::ranges::find(distances, from[m]) != distances.end();
    if (of_distances == given) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: the model was trained on {}; the other direction of new rows is "
                            "given with {}",
                            from[m], of_distances ? "distances" : "similarities",
                            of_distances ? "--distance-from" : "--similarity-from"));
  }
}

/// The files of each matrix: similarities first, then distances, as in training.
QueryFiles query_files(const ModelRecord& record, const PredictOptions& options) {
  std::vector<NamedFile> given;
  for (const std::string& text : options.similarity) given.push_back(parse_named_file(text));
  for (const std::string& text : options.distance) given.push_back(parse_named_file(text));
  const std::vector<Index> chosen = files_by_matrix(record, given, "--similarity and --distance");
  std::vector<std::string> both = options.from;
  both.insert(both.end(), options.distance_from.begin(), options.distance_from.end());
  const std::vector<std::string> from =
      paths_by_matrix(record, both, "--similarity-from and --distance-from");
  check_from_kinds(record, options, from);
  const std::vector<std::string> self = paths_by_matrix(record, options.self, "--self");
  QueryFiles files{.matrices = {}, .read = options.read};
  files.read.bipartite = true;
  const bool asks = options.parser->count("--score-column") > 0;
  const std::string asked_column = asks ? options.read.score_column : std::string();
  for (std::size_t m = 0; m < chosen.size(); ++m) {
    if (chosen[m] < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("there are no new rows for matrix {} of the model; give {} {}=FILE",
                              in_quotes(record.matrices[m].name),
                              record.matrices[m].rule.kind == PairKind::kDistance ? "--distance"
                                                                                  : "--similarity",
                              record.matrices[m].name));
    }
    const bool distance = chosen[m] >= std::ssize(options.similarity);
    files.matrices.push_back({.to_training = given[static_cast<std::size_t>(chosen[m])].path,
                              .from_training = from[m],
                              .self = self[m],
                              .kind = distance ? PairKind::kDistance : PairKind::kSimilarity,
                              .score_column = asked_column});
  }
  return files;
}

/// Files without names are taken in the model's order, which a user may have in mind otherwise.
void say_which_is_which(const ModelRecord& record, const QueryFiles& files,
                        const PredictOptions& options, const RunContext& ctx) {
  if (files.matrices.size() < 2) return;
  for (const auto* given : {&options.similarity, &options.distance}) {
    for (const std::string& text : *given) {
      if (!parse_named_file(text).name.empty()) return;
    }
  }
  std::string taken;
  for (std::size_t m = 0; m < files.matrices.size(); ++m) {
    taken += fmt::format("{}{} for {}", m == 0 ? "" : ", ", files.matrices[m].to_training,
                         in_quotes(record.matrices[m].name));
  }
  ctx.message(
      fmt::format("files without names are taken in the order of training: {}; name=FILE "
                  "says which is which",
                  taken));
}

Answers answers_of(const TrainedModel& model, QueryBlock queries, Index explain, RunContext& ctx,
                   std::span<const QueryNames> names) {
  if (explain > 0) return predict_and_explain(model, std::move(queries), ctx, names);
  return {.prediction = predict(model, std::move(queries), ctx, names), .explanations = {}};
}

/// Of a committee, the members that explanations do without.
void say_left_out(const Answers& answers, const RunContext& ctx) {
  for (const std::string& member : answers.left_out) {
    ctx.message("explanations are without a member of the committee: " + member);
  }
}

/// Queries of which nothing is known, by name.
void add_without_pairs(const QueryChunk& chunk, std::vector<std::string>& names) {
  for (const Index i : queries_without_pairs(chunk.queries)) {
    names.push_back(chunk.ids[static_cast<std::size_t>(i)]);
  }
}

/// What goes to the end of a run: counts and, with labels, the score.
struct Outcome {
  PredictionSummary summary;
  std::optional<PredictionScore> score;
  Index queries = 0;
  std::vector<std::string> without_pairs{};
  QueryDoubts doubts;
  std::vector<std::string> sources{};  ///< of the rows, one per matrix

  Outcome(const TrainedModel& model, const PredictOptions& options)
      : summary(model.record.class_names), doubts(model.record) {
    if (!options.labels.empty()) score.emplace(options.labels, model.record);
  }
};

/// The score with its notes, which are said; they say what is odd about the queries as well.
std::optional<Score> finished(const Outcome& outcome, const RunContext& ctx) {
  std::vector<std::string> notes = outcome.doubts.notes(outcome.sources);
  if (!outcome.without_pairs.empty()) {
    notes.push_back(note_without_pairs(outcome.without_pairs, outcome.queries));
  }
  std::optional<Score> score;
  if (outcome.score) {
    score = outcome.score->finish();
    score->notes.insert(score->notes.end(), notes.begin(), notes.end());
    notes = score->notes;
  }
  for (const std::string& note : notes) ctx.message(note);
  return score;
}

/// Predictions go to standard output where nothing else does.
bool writes_predictions(const PredictOptions& options) {
  return options.labels.empty() || options.common.json || !options.out.empty();
}

Json about_score(const TrainedModel& model, const PredictOptions& options) {
  std::vector<std::string> queries;
  for (const auto* files : {&options.similarity, &options.distance, &options.data}) {
    add_files(queries, *files);
  }
  return {{"method", model.record.method},
          {"model", options.model},
          {"labels", options.labels},
          {"queries", queries}};
}

/// The score on standard output, but for a document that has it at its end, and as a page.
void show(const Score& score, const TrainedModel& model, const PredictOptions& options) {
  if (!options.html.empty()) {
    AtomicFile page(options.html);
    page.write(
        html_page(spelled_json(score_document(score, about_score(model, options)), as_flag)));
    page.commit();
  }
  if (!options.common.json) {
    const OutputStyle style = output_style();
    print_text(spelled(
        score_text(score, {.unicode = style.unicode, .colour = style.colour, .width = style.width}),
        as_flag));
  } else if (!options.out.empty()) {
    print_json({{"score", spelled_json(score_json(score), as_flag)}});
  }
}

/// Asks the model about every chunk that `reader` gives; `names` are for errors.
template <class Reader, class Names>
void predict_chunks(const TrainedModel& model, Reader& reader, const Names& names, Outcome& outcome,
                    const PredictOptions& options, Session& session) {
  PredictionOutput out(options.out);
  std::unique_ptr<PredictionWriter> writer;
  if (writes_predictions(options)) {
    writer = make_writer(options.common.json, out, model.record, options.explain);
  }
  for (bool first = true;; first = false) {
    session.context.check_stop();
    QueryChunk chunk = reader.next(kRowsAtATime);
    if (chunk.ids.empty() && !first) break;
    add_without_pairs(chunk, outcome.without_pairs);
    outcome.doubts.add(chunk.queries);
    const Answers answers =
        answers_of(model, std::move(chunk.queries), options.explain, session.context, names(chunk));
    if (outcome.score) outcome.score->add(chunk, answers.prediction, session.context);
    if (writer) writer->chunk(chunk, answers);
    outcome.summary.add(answers.prediction);
    if (first) say_left_out(answers, session.context);
    outcome.queries += std::ssize(chunk.ids);
    session.context.progress("queries", static_cast<double>(outcome.queries), 0);
    if (std::ssize(chunk.ids) < kRowsAtATime) break;
  }
  session.end_progress();
  const std::optional<Score> score = finished(outcome, session.context);
  const bool inside = score && options.out.empty();
  if (writer) writer->finish(inside ? spelled_json(score_json(*score), as_flag) : Json());
  out.commit();
  if (score) show(*score, model, options);
  if (!options.out.empty()) session.context.message(outcome.summary.text(options.out));
}

void predict_rows(const TrainedModel& model, Outcome& outcome, const PredictOptions& options,
                  Session& session) {
  QueryFiles files = query_files(model.record, options);
  if (outcome.score) files.expected = outcome.score->expected();
  for (const QueryFile& file : files.matrices) outcome.sources.push_back(file.to_training);
  say_which_is_which(model.record, files, options, session.context);
  QueryReader reader(model.record, files, session.context);
  if (outcome.score) outcome.score->begin(reader.unordered());
  const bool takes_both = takes_both_directions(model);
  for (std::size_t m = 0; m < files.matrices.size(); ++m) {
    const ModelMatrix& matrix = model.record.matrices[m];
    const bool has_from = !files.matrices[m].from_training.empty();
    const std::string note = query_note(matrix.rule, has_from, takes_both);
    if (note.empty()) continue;
    session.context.message(files.matrices.size() == 1
                                ? note
                                : fmt::format("matrix {}: {}", in_quotes(matrix.name), note));
  }
  const auto names = [&](const QueryChunk& chunk) { return names_of(files, chunk, model.record); };
  predict_chunks(model, reader, names, outcome, options, session);
}

void predict_samples(const TrainedModel& model, Outcome& outcome, const PredictOptions& options,
                     Session& session) {
  std::vector<NamedFile> given;
  for (const std::string& text : options.data) given.push_back(parse_named_file(text));
  const std::vector<std::string> files = sample_files(model.record, given);
  RawQueryReader reader(model.record, files, session.context);
  if (outcome.score) outcome.score->begin({});
  const auto names = [&](const QueryChunk& chunk) { return reader.names_of(chunk); };
  predict_chunks(model, reader, names, outcome, options, session);
}

void refuse_overwriting_inputs(const PredictOptions& options) {
  std::vector<std::string> inputs = {options.model};
  for (const auto* files : {&options.similarity, &options.distance, &options.from,
                            &options.distance_from, &options.self, &options.data}) {
    add_files(inputs, *files);
  }
  inputs.push_back(options.labels);
  refuse_overwriting(
      std::array{OutputFile{"--out", options.out}, OutputFile{"--html", options.html}}, inputs);
}

void check_output_flags(const PredictOptions& options) {
  if (options.labels.empty() && !options.html.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--html draws how good predictions are, which needs the true classes of the new "
                "samples: give --labels FILE");
  }
  if (options.explain > 0 && !writes_predictions(options)) {
    throw Error(ErrorCode::kInvalidArgument,
                "--explain is about predictions, and with --labels these are written with --out "
                "FILE or --json only");
  }
  if (!options.html.empty()) check_has_page();
}

void check_input_flags(const PredictOptions& options) {
  const bool rows = !options.similarity.empty() || !options.distance.empty() ||
                    !options.from.empty() || !options.distance_from.empty() ||
                    !options.self.empty();
  if (options.data.empty()) {
    if (!options.similarity.empty() || !options.distance.empty()) return;
    throw Error(
        ErrorCode::kInvalidArgument,
        "give the new rows with --similarity FILE (or --distance FILE, for a model trained on "
        "distances), or the new samples with --data FILE, for a model trained from raw data");
  }
  if (rows) {
    throw Error(ErrorCode::kInvalidArgument,
                "--data and --similarity, --distance, --similarity-from, --distance-from or --self "
                "exclude each "
                "other: rows are either measured or read");
  }
  refuse_read_flags(*options.parser);
}

/// Predictions of a model that is marked are written all the same, but not in silence.
void say_how_training_ended(const ModelRecord& record, Session& session) {
  const std::optional<TrainingEnd> end = training_end(record);
  if (!end || ended_as_asked(end->status)) return;
  session.context.message(fmt::format(
      "the solver missed its tolerance when this model was trained: {}{}", enum_name(end->status),
      std::isnan(end->gap) ? "" : ", gap " + format_short(end->gap, 3)));
}

int run(const PredictOptions& options) {
  refuse_overwriting_inputs(options);
  check_input_flags(options);
  check_output_flags(options);
  Session session(options.common);
  const TrainedModel model = load_trained(options.model);
  if (model.record.features > 0 && options.data.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model was trained on vectors of {} features: give new ones with "
                            "--data FILE",
                            model.record.features));
  }
  if (options.explain > 0 && !model.is_committee()) check_explains(method_settings(model.record));
  say_how_training_ended(model.record, session);
  Outcome outcome(model, options);
  if (options.data.empty()) {
    predict_rows(model, outcome, options, session);
  } else {
    predict_samples(model, outcome, options, session);
  }
  return kDone;
}

}  // namespace

Command add_predict(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "predict", "rows of similarities to training samples: labels, scores, probabilities");
  const auto options = std::make_shared<PredictOptions>();
  options->parser = parser;
  parser->add_option("--model", options->model, "model file of `kith train`")
      ->required()
      ->type_name("FILE")
      ->group("Input");
  parser
      ->add_option(
          "--similarity", options->similarity,
          "new samples (rows) by training samples (columns); name=FILE for each matrix of the "
          "model where it has several")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Input");
  parser->add_option("--distance", options->distance, "the same for a model trained on distances")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Input");
  parser
      ->add_option(
          "--similarity-from", options->from,
          "training samples (rows) by new samples (columns), when the two directions differ")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Input");
  parser->add_option("--distance-from", options->distance_from, "the same of distances")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Input");
  parser
      ->add_option("--self", options->self,
                   "self-similarity of each new sample: one number per line, or id<TAB>number")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Input");
  parser
      ->add_option("--data", options->data,
                   "new samples themselves, for a model trained with --data (one file "
                   "for all matrices or one for each, as in training)")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Input");
  add_settings_flags(*parser, options->read, "Input");
  parser
      ->add_option("--explain", options->explain,
                   "name the COUNT training samples that decided each prediction most")
      ->type_name("COUNT")
      ->check(CLI::Range(Index{1}, Index{1000}))
      ->group("Output");
  parser->add_option("--out", options->out, "file to write")
      ->type_name("FILE")
      ->default_str("standard output")
      ->group("Output");
  parser
      ->add_option("--labels", options->labels,
                   "true classes of the new samples, in the form of `kith train --labels`: prints "
                   "how good the predictions are (with --out the predictions are written too)")
      ->type_name("FILE")
      ->group("Score");
  parser
      ->add_option("--html", options->html,
                   "with --labels, also write the score as a page to look at")
      ->type_name("FILE")
      ->group("Score");
  add_common_options(*parser, options->common);
  parser->footer(
      "Columns are matched by id when file and model both have ids: in any order, extra ones "
      "ignored,\n"
      "only the needed ones required. Otherwise they are matched by position. What was done to "
      "the\n"
      "training matrix is done to the new rows, too.\n\n"
      "--explain adds columns: sample, class and contribution of each of the COUNT samples, the "
      "sum "
      "of\n"
      "all others, and the offset. For machines contributions are coefficients times similarities, "
      "in\n"
      "favour of the label where positive; for neighbours they are weights, each for its class.\n"
      "For a committee each member divides its share of the vote among the samples.\n\n"
      "--labels prints the error with its 95 % interval, recall and precision of each class, who "
      "is\n"
      "taken for whom and, where there are probabilities, log-loss and calibration. With --json "
      "they\n"
      "are the object `score`.\n\n"
      "Examples:\n"
      "  kith predict --model m.kith --similarity new.csv\n"
      "  kith predict --model m.kith --similarity new.npy --self self.txt --out labels.tsv\n"
      "  kith predict --model m.kith --similarity new.csv --explain 3\n"
      "  kith predict --model m.kith --similarity new.csv --labels truth.tsv --html score.html\n"
      "  kith predict --model m.kith --similarity hits.blast --similarity-from back.blast --json\n"
      "  kith predict --model several.kith --similarity sw=new-sw.csv --similarity nw=new-nw.csv\n"
      "  kith predict --model words.kith --data new-words.tsv\n"
      "  kith predict --model two-views.kith --data course=new.csv --data traits=new.tsv");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

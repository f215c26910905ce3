// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "commands.hpp"
#include "input_options.hpp"
#include "kith/core/error.hpp"
#include "kith/core/status.hpp"
#include "kith/core/text.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/pipeline/explanation.hpp"
#include "kith/pipeline/query_files.hpp"
#include "kith/pipeline/raw_queries.hpp"
#include "output_options.hpp"
#include "raw_options.hpp"

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
  ReadSettings read;
  std::string out;
  Index explain = 0;  ///< how many training samples are named for each prediction
  const CLI::App* parser = nullptr;
};

/// Where predictions go: a file under a temporary name until all is well, or standard output.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
  }
  void write(std::string_view text) {
    if (file_) {
      file_->write(text);
    } else {
      print_text(text);
    }
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

/// A cell of a TSV file: tabs, line ends and backslashes are escaped.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

/// What a chunk of queries is told; no explanations where none were asked for.
using Answers = ExplainedPrediction;

class TsvWriter {
 public:
  TsvWriter(Output& out, const ModelRecord& record, Index explain)
      : out_(out), record_(record), classes_(record.class_names), explain_(explain) {}

  void chunk(const QueryChunk& chunk, const Answers& answers) {
    const Prediction& prediction = answers.prediction;
    std::string text;
    if (!std::exchange(header_written_, true)) text += header(prediction);
    for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
      text += cell(chunk.ids[i]) + '\t' +
              cell(classes_[static_cast<std::size_t>(prediction.labels[i])]);
      append(text, prediction.scores, static_cast<Index>(i));
      append(text, prediction.probabilities, static_cast<Index>(i));
      if (explain_ > 0) append(text, answers.explanations[i]);
      text += '\n';
    }
    out_.write(text);
  }
  void finish() {}

 private:
  [[nodiscard]] std::string header(const Prediction& prediction) const {
    std::string text = "id\tlabel";
    for (Index c = 0; c < prediction.scores.cols(); ++c) text += "\tscore:" + cell(class_name(c));
    for (Index c = 0; c < prediction.probabilities.cols(); ++c) {
      text += "\tprobability:" + cell(class_name(c));
    }
    if (explain_ > 0) text += "\toffset\tothers";
    for (Index k = 1; k <= explain_; ++k) {
      text += fmt::format("\tsample:{0}\tclass:{0}\tcontribution:{0}", k);
    }
    return text + '\n';
  }
  [[nodiscard]] const std::string& class_name(Index c) const {
    return classes_[static_cast<std::size_t>(c)];
  }
  static void append(std::string& text, const Matrix& values, Index row) {
    for (Index c = 0; c < values.cols(); ++c) text += '\t' + format_double(values(row, c));
  }
  /// Votes have no offset; where fewer samples have a part, the last cells are empty.
  void append(std::string& text, const Explanation& explanation) const {
    const bool terms = explanation.by == ExplainedBy::kTerms;
    text += '\t' + (terms ? format_double(explanation.offset) : std::string());
    text += '\t' + format_double(explanation.others(explain_));
    const std::vector<Contribution> largest = explanation.largest(explain_);
    for (const Contribution& one : largest) {
      const ExplainedSample sample = explained_sample(record_, one.sample);
      text += '\t' + (sample.id.empty() ? std::to_string(sample.position + 1) : cell(sample.id));
      text += '\t' + cell(sample.class_name) + '\t' + format_double(one.amount);
    }
    for (Index k = std::ssize(largest); k < explain_; ++k) text += "\t\t\t";
  }

  Output& out_;
  const ModelRecord& record_;
  const std::vector<std::string>& classes_;
  Index explain_;
  bool header_written_ = false;
};

/// One JSON document, written as it grows.
class JsonWriter {
 public:
  JsonWriter(Output& out, const ModelRecord& record, Index explain)
      : out_(out), record_(record), classes_(record.class_names), explain_(explain) {
    out_.write("{\"predictions\": [");
  }
  void chunk(const QueryChunk& chunk, const Answers& answers) {
    const Prediction& prediction = answers.prediction;
    std::string text;
    for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
      Json row = {{"id", chunk.ids[i]},
                  {"label", classes_[static_cast<std::size_t>(prediction.labels[i])]}};
      add(row, "scores", prediction.scores, static_cast<Index>(i));
      add(row, "probabilities", prediction.probabilities, static_cast<Index>(i));
      if (explain_ > 0) {
        row["explanation"] = explanation_json(record_, answers.explanations[i], explain_);
      }
      text += std::exchange(separator_, ",\n ") + row.dump();
    }
    out_.write(text);
  }
  void finish() { out_.write("]}\n"); }

 private:
  void add(Json& row, const std::string& key, const Matrix& values, Index i) const {
    if (values.cols() == 0) return;
    Json by_class = Json::object();
    for (Index c = 0; c < values.cols(); ++c) {
      by_class[classes_[static_cast<std::size_t>(c)]] = values(i, c);
    }
    row[key] = std::move(by_class);
  }

  Output& out_;
  const ModelRecord& record_;
  const std::vector<std::string>& classes_;
  Index explain_;
  std::string separator_ = "\n ";
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
    if (of_distances == given || (of_distances && options.distance_from.empty())) continue;
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
                              .kind = distance ? PairKind::kDistance : PairKind::kSimilarity});
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

/// Writes what the model says of every chunk that `reader` gives; `names` are for errors.
template <class Writer, class Reader, class Names>
void write_predictions(const TrainedModel& model, Reader& reader, const Names& names,
                       const PredictOptions& options, Session& session) {
  Output out(options.out);
  Writer writer(out, model.record, options.explain);
  double done = 0;
  bool first = true;
  while (true) {
    session.context.check_stop();
    QueryChunk chunk = reader.next(kRowsAtATime);
    if (chunk.ids.empty() && !std::exchange(first, false)) break;
    const bool last = static_cast<Index>(chunk.ids.size()) < kRowsAtATime;
    const Answers answers =
        answers_of(model, std::move(chunk.queries), options.explain, session.context, names(chunk));
    writer.chunk(chunk, answers);
    if (done == 0) say_left_out(answers, session.context);
    first = false;
    done += static_cast<double>(chunk.ids.size());
    session.context.progress("queries", done, 0);
    if (last) break;
  }
  writer.finish();
  out.commit();
}

template <class Writer>
void predict_rows(const TrainedModel& model, const PredictOptions& options, Session& session) {
  const QueryFiles files = query_files(model.record, options);
  say_which_is_which(model.record, files, options, session.context);
  QueryReader reader(model.record, files, session.context);
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
  write_predictions<Writer>(model, reader, names, options, session);
}

template <class Writer>
void predict_samples(const TrainedModel& model, const PredictOptions& options, Session& session) {
  std::vector<NamedFile> given;
  for (const std::string& text : options.data) given.push_back(parse_named_file(text));
  const std::vector<std::string> files = sample_files(model.record, given);
  RawQueryReader reader(model.record, files, session.context);
  const auto names = [&](const QueryChunk& chunk) { return reader.names_of(chunk); };
  write_predictions<Writer>(model, reader, names, options, session);
}

template <class Writer>
void predict_all(const TrainedModel& model, const PredictOptions& options, Session& session) {
  if (options.data.empty()) {
    predict_rows<Writer>(model, options, session);
  } else {
    predict_samples<Writer>(model, options, session);
  }
}

void refuse_overwriting_inputs(const PredictOptions& options) {
  std::vector<std::string> inputs = {options.model};
  for (const auto* files : {&options.similarity, &options.distance, &options.from,
                            &options.distance_from, &options.self, &options.data}) {
    add_files(inputs, *files);
  }
  const OutputFile out{"--out", options.out};
  refuse_overwriting(std::span(&out, 1), inputs);
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
  if (options.common.json) {
    predict_all<JsonWriter>(model, options, session);
  } else {
    predict_all<TsvWriter>(model, options, session);
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
      "Examples:\n"
      "  kith predict --model m.kith --similarity new.csv\n"
      "  kith predict --model m.kith --similarity new.npy --self self.txt --out labels.tsv\n"
      "  kith predict --model m.kith --similarity new.csv --explain 3\n"
      "  kith predict --model m.kith --similarity hits.blast --similarity-from back.blast --json\n"
      "  kith predict --model several.kith --similarity sw=new-sw.csv --similarity nw=new-nw.csv\n"
      "  kith predict --model words.kith --data new-words.tsv\n"
      "  kith predict --model two-views.kith --data course=new.csv --data traits=new.tsv");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

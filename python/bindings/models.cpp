// SPDX-License-Identifier: Apache-2.0
// Fitting, predicting, saving: kith/pipeline: trained_model, explanation.
#include <pybind11/stl.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "bindings.hpp"
#include "kith/core/error.hpp"
#include "kith/core/status.hpp"
#include "kith/evaluate/score.hpp"
#include "kith/learn/method_json.hpp"
#include "kith/optim/trace/kernel.hpp"
#include "kith/pipeline/explanation.hpp"
#include "kith/pipeline/given_values.hpp"
#include "kith/pipeline/query_files.hpp"
#include "kith/report/page.hpp"
#include "kith/report/score.hpp"
#include "models.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

/// Notes on a fit mention settings by their ids.
Json with_spelled_notes(Json json) {
  if (json.contains("notes")) json["notes"] = spelled_json(json["notes"], as_keyword);
  return json;
}

Model read_back(std::string_view bytes, const std::string& name, std::string fit_json) {
  return {std::make_shared<const TrainedModel>(load_trained_bytes(bytes, name)),
          std::move(fit_json)};
}

}  // namespace

InputSettings input_settings(const Texts& given) {
  InputSettings settings;
  for (const auto& [key, text] : given) set_field(settings, "input", key, text);
  return settings;
}

Model fitted(Training training) {
  const std::string json = with_spelled_notes(training_json(training)).dump();
  return {std::make_shared<const TrainedModel>(std::move(training.model)), json};
}

Model on_its_own(Model model, const Borrowed& borrowed) {
  const bool looks = std::any_of(borrowed.begin(), borrowed.end(),
                                 [](const auto& array) { return !array.expired(); });
  if (!looks) return model;
  const py::gil_scoped_release release;
  return read_back(trained_bytes(*model.trained), "model", std::move(model.fit_json));
}

namespace {

/// New rows under one matrix: (to training, from training or None, self or None).
using GivenQueries = std::tuple<py::object, py::object, py::object>;

/// As many as the command line predicts at a time: the same numbers come out.
constexpr Index kRowsAtATime = 1024;

/// What a model is going to keep is copied here, once, in place of the whole model afterwards: the
/// caller may change the arrays.
void own_numbers(MatchedSets& sets) {
  for (SimilaritySet& set : sets.sets) {
    const auto* dense = std::get_if<DenseBlock>(&set.block);
    if (dense != nullptr) set.block = DenseBlock(RowMatrix(dense->values()));
  }
}

Model trained_on(const PreparedTraining& prepared, const MethodChoice& choice, RunContext& ctx) {
  return fitted(train(prepared, choice, ctx));
}

/// A loss as two functions of an array, n x n or for spectra of length n. Both are called on the
/// thread of the fit, which takes the GIL for each call and lets go of it after: Python's own
/// thread waits without it.
struct PythonLoss {
  std::shared_ptr<const void> held;  ///< both functions
  PyObject* value;
  PyObject* gradient;

  [[nodiscard]] static py::array_t<double> as_array(const Matrix& X) {
    if (X.cols() == 1) return py::array_t<double>(X.rows(), X.data());
    const RowMatrix rows = X;
    return py::array_t<double>({rows.rows(), rows.cols()}, rows.data());
  }
  [[nodiscard]] double value_at(const Matrix& X) const {
    const py::gil_scoped_acquire gil;
    return py::reinterpret_borrow<py::function>(value)(as_array(X)).cast<double>();
  }
  [[nodiscard]] Matrix gradient_at(const Matrix& X) const {
    const py::gil_scoped_acquire gil;
    const py::object found = py::reinterpret_borrow<py::function>(gradient)(as_array(X));
    const auto array = found.cast<py::array_t<double, py::array::c_style | py::array::forcecast>>();
    const bool flat = array.ndim() == 1;
    if (array.ndim() != 2 && !flat) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the gradient of the loss has " + std::to_string(array.ndim()) + " dimensions");
    }
    const Index columns = flat ? 1 : static_cast<Index>(array.shape(1));
    return Eigen::Map<const RowMatrix>(array.data(), static_cast<Index>(array.shape(0)), columns);
  }
};

/// Settings with loss own get the functions (value, gradient); None: there are none.
void give_loss(AnySettings& settings, const py::object& loss) {
  if (loss.is_none()) return;
  const auto functions = loss.cast<std::pair<py::function, py::function>>();
  const PythonLoss own{keep(loss), functions.first.ptr(), functions.second.ptr()};
  set_own_loss(settings, std::make_shared<const trace::ConvexLoss>(trace::ConvexLoss{
                             [own](const Matrix& X) { return own.value_at(X); },
                             [own](const Matrix& X) { return own.gradient_at(X); }}));
}

Model fit_model(const std::string& method, const std::vector<std::string>& assignments,
                const std::vector<GivenMatrix>& matrices, const GivenLabels& labels,
                const std::vector<std::string>& ids, const Texts& input, const RunOptions& options,
                const py::object& loss) {
  MethodChoice choice = parse_method(method, assignments);
  give_loss(choice.settings, loss);
  Borrowed borrowed;
  MatchedSets sets = matched_sets(matrices, ids, &borrowed);
  if (keeps_pairs(choice.settings)) own_numbers(sets);
  const Labels classes = labels_of(labels, sets.sets.front().rows());
  const InputSettings settings = settled(input_settings(input), choice.settings);
  const MissingPairs missing =
      takes_missing_pairs(choice.settings) ? MissingPairs::kKept : MissingPairs::kRefused;
  Model model = run(options, classes.size(), [=, sets = std::move(sets)](RunContext& ctx) {
    return trained_on(prepare_training(sets, classes, settings, ctx, missing), choice, ctx);
  });
  return on_its_own(std::move(model), borrowed);
}

Model fit_samples(const std::string& method, const std::vector<std::string>& assignments,
                  const std::vector<GivenMeasure>& measures, const GivenLabels& labels,
                  const Texts& input, const RunOptions& options, const py::object& loss) {
  MethodChoice choice = parse_method(method, assignments);
  give_loss(choice.settings, loss);
  std::vector<RawMatrix> matrices = raw_matrices(measures);
  const Labels classes = labels_of(labels, size_of(matrices.front().samples));
  const InputSettings settings = settled(input_settings(input), choice.settings);
  return run(options, classes.size(), [=, matrices = std::move(matrices)](RunContext& ctx) {
    return trained_on(prepare_training(matrices, classes, settings, ctx), choice, ctx);
  });
}

Model fit_vectors(const std::string& method, const std::vector<std::string>& assignments,
                  const GivenSamples& vectors, const GivenLabels& labels,
                  const RunOptions& options) {
  const MethodChoice choice = parse_method(method, assignments);
  VectorData samples = vector_data(vectors, "vectors");
  const Labels classes = labels_of(labels, rows(samples.values));
  return run(options, classes.size(), [=, samples = std::move(samples)](RunContext& ctx) {
    return trained_on(prepare_training(samples, classes), choice, ctx);
  });
}

/// How errors name queries: by their number among all, as the command line does.
struct NumberedQueries {
  std::vector<std::string> numbers;
  std::vector<QueryNames> views;  ///< of `numbers` and the record, one per matrix

  NumberedQueries(const ModelRecord& record, Index first, Index count) {
    for (Index i = 0; i < count; ++i) numbers.push_back(std::to_string(first + i + 1));
    const QueryNames one{.source = {},
                         .from_source = {},
                         .queries = numbers,
                         .samples = record.ids,
                         .positions = record.positions};
    views.assign(record.matrices.size(), one);
  }
  NumberedQueries(const NumberedQueries&) = delete;
  NumberedQueries& operator=(const NumberedQueries&) = delete;
};

/// What a model says of `count` queries, asked for some at a time: `part(first, count, ctx)` is
/// their QueryBlock.
/// With `explained` > 0 also as many training samples as decided each prediction most.
template <class Part>
py::tuple prediction_of(const Model& model, Index count, Index explained, const RunOptions& options,
                        Part part) {
  if (explained > 0 && !model.trained->is_committee()) {
    check_explains(method_settings(model.trained->record));
  }
  struct Answers {
    Prediction prediction;
    Json explanations = {{"rows", Json::array()}, {"left_out", Json::array()}};
    std::vector<Index> without_pairs;  // queries, by position
    std::vector<std::string> doubts;
  };
  const auto asked = [trained = model.trained, count, explained,
                      part = std::move(part)](RunContext& ctx) {
    Answers answers;
    Prediction& all = answers.prediction;
    QueryDoubts doubts(trained->record);
    for (Index first = 0; first == 0 || first < count; first += kRowsAtATime) {
      ctx.check_stop();
      const Index some = std::min(kRowsAtATime, count - first);
      const NumberedQueries names(trained->record, first, some);
      QueryBlock queries = part(first, some, ctx);
      for (const Index i : queries_without_pairs(queries)) {
        answers.without_pairs.push_back(first + i);
      }
      doubts.add(queries);
      Prediction one;
      if (explained > 0) {
        ExplainedPrediction both =
            predict_and_explain(*trained, std::move(queries), ctx, names.views);
        one = std::move(both.prediction);
        for (const Explanation& explanation : both.explanations) {
          answers.explanations["rows"].push_back(
              explanation_json(trained->record, explanation, explained, 0));
        }
        answers.explanations["left_out"] = both.left_out;
      } else {
        one = predict(*trained, std::move(queries), ctx, names.views);
      }
      if (first == 0) {
        all.scores.resize(count, one.scores.cols());
        all.probabilities.resize(count, one.probabilities.cols());
      }
      all.labels.insert(all.labels.end(), one.labels.begin(), one.labels.end());
      if (one.scores.cols() > 0) all.scores.middleRows(first, some) = one.scores;
      if (one.probabilities.cols() > 0) {
        all.probabilities.middleRows(first, some) = one.probabilities;
      }
      ctx.progress("queries", static_cast<double>(first + some), static_cast<double>(count));
    }
    const std::vector<std::string> alone = {"X"};
    for (const std::string& note :
         doubts.notes(trained->record.matrices.size() == 1 ? std::span<const std::string>(alone)
                                                           : std::span<const std::string>())) {
      answers.doubts.push_back(spelled(note, as_keyword));
    }
    return answers;
  };
  const auto [prediction, explanations, without_pairs, doubts] =
      run(options, model.trained->record.samples, asked);
  const py::array_t<int> labels(std::ssize(prediction.labels), prediction.labels.data());
  return py::make_tuple(labels, array_or_none(prediction.scores),
                        array_or_none(prediction.probabilities), explanations.dump(), without_pairs,
                        doubts);
}

/// Rows of similarities or vectors, dense or sparse, of which some are asked for at a time.
using QueryRows = std::variant<ArrayView, SparseBlock>;

QueryRows query_rows(const py::object& given, Absent absent) {
  if (is_sparse(given)) return sparse_block(given, absent);
  return ArrayView(given);
}

Index count_of(const QueryRows& rows) {
  return std::visit([](const auto& one) { return one.rows(); }, rows);
}

Block part_of(const QueryRows& rows, Index first, Index count) {
  if (const auto* dense = std::get_if<ArrayView>(&rows)) return dense->part(first, count);
  const auto& sparse = std::get<SparseBlock>(rows);
  std::vector<Index> some(static_cast<std::size_t>(count));
  std::iota(some.begin(), some.end(), first);
  return select(sparse, some, all_positions(sparse.cols));
}

py::tuple predict_vectors(const Model& model, const GivenSamples& vectors, Index explained,
                          const RunOptions& options) {
  QueryRows rows = query_rows(std::get<0>(vectors), Absent::kZero);
  const Index count = count_of(rows);
  return prediction_of(model, count, explained, options,
                       [rows = std::move(rows)](Index first, Index some, RunContext&) {
                         return QueryBlock{.matrices = {}, .vectors = part_of(rows, first, some)};
                       });
}

/// What is new under one matrix of the model.
struct NewRows {
  QueryRows to;
  std::optional<QueryRows> from;
  std::optional<Vector> self;
};

void check_count(Index found, Index queries, const std::string& what) {
  if (found == queries) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::to_string(found) + " " + what + " for " + std::to_string(queries) + " queries");
}

py::tuple predict_rows(const Model& model, const std::vector<GivenQueries>& given, Index explained,
                       const RunOptions& options) {
  std::vector<NewRows> matrices;
  for (const auto& [to, from, self] : given) {
    NewRows matrix{query_rows(to, Absent::kMissing), std::nullopt, std::nullopt};
    if (!from.is_none()) matrix.from = query_rows(from, Absent::kMissing);
    if (!self.is_none()) {
      const auto values = self.cast<py::array_t<double, py::array::forcecast>>();
      matrix.self = Eigen::Map<const Vector>(values.data(), values.size());
    }
    matrices.push_back(std::move(matrix));
  }
  const Index count = count_of(matrices.front().to);
  for (const NewRows& one : matrices) {
    check_count(count_of(one.to), count, "rows");
    if (one.from) check_count(count_of(*one.from), count, "rows from the training samples");
    if (one.self) check_count(one.self->size(), count, "similarities to themselves");
  }
  return prediction_of(model, count, explained, options,
                       [matrices = std::move(matrices)](Index first, Index some, RunContext&) {
                         QueryBlock block;
                         for (const NewRows& one : matrices) {
                           QueryMatrix matrix{.to_training = part_of(one.to, first, some)};
                           if (one.from) matrix.from_training = part_of(*one.from, first, some);
                           if (one.self) matrix.self = one.self->segment(first, some);
                           block.matrices.push_back(std::move(matrix));
                         }
                         return block;
                       });
}

/// New samples for each matrix of the model, measured as its training samples were.
py::tuple predict_samples(const Model& model, const std::vector<GivenSamples>& given,
                          Index explained, const RunOptions& options) {
  std::vector<RawMatrix> matrices;
  for (const GivenSamples& samples : given) {
    const ModelMatrix& one = model.trained->record.matrices.at(matrices.size());
    const MeasureSettings& settings = one.measure.value().settings;
    matrices.push_back({one.name, settings,
                        raw_data(samples, measure_info(settings.measure).data, one.name),
                        one.measure->file});
  }
  matrices = match_samples(std::move(matrices));
  const Index count = size_of(matrices.front().samples);
  return prediction_of(
      model, count, explained, options,
      [trained = model.trained, matrices = std::move(matrices)](Index first, Index some,
                                                                RunContext& ctx) {
        std::vector<Index> positions(static_cast<std::size_t>(some));
        std::iota(positions.begin(), positions.end(), first);
        RunContext quiet = ctx;  // progress is of queries
        quiet.sink = nullptr;
        QueryBlock block;
        for (std::size_t m = 0; m < matrices.size(); ++m) {
          block.matrices.push_back(measure_rows(*trained->record.matrices[m].measure,
                                                select(matrices[m].samples, positions), quiet));
        }
        return block;
      });
}

using FortranArray = py::array_t<double, py::array::f_style | py::array::forcecast>;

Matrix matrix_or_none(const std::optional<FortranArray>& values) {
  if (!values) return {};
  return Eigen::Map<const Matrix>(values->data(), values->shape(0), values->shape(1));
}

/// The score of a prediction as `predict_*` give it, against the names of the true classes; `ids`
/// are those of the samples, or none, and `notes` are added. (the document of a page, the text)
std::pair<std::string, std::string> score_of(const Model& model, const std::vector<int>& labels,
                                             const std::optional<FortranArray>& scores,
                                             const std::optional<FortranArray>& probabilities,
                                             const std::vector<std::string>& truth,
                                             const std::vector<std::string>& ids,
                                             const std::vector<std::string>& notes) {
  const Prediction prediction{.labels = labels,
                              .scores = matrix_or_none(scores),
                              .probabilities = matrix_or_none(probabilities)};
  const ModelRecord& record = model.trained->record;
  const py::gil_scoped_release release;
  Scorer scorer(record);
  scorer.add(std::vector<std::string_view>(truth.begin(), truth.end()), prediction, ids);
  Score score = scorer.finish();
  score.notes.insert(score.notes.end(), notes.begin(), notes.end());
  const Json document = score_document(score, {{"method", record.method}});
  return {spelled_json(document, as_keyword).dump(), spelled(score_text(score, {}), as_keyword)};
}

/// Of vectors and categories that have names.
std::vector<std::string> column_names(const RawData& samples) {
  if (const auto* vectors = std::get_if<VectorData>(&samples)) return vectors->columns;
  if (const auto* categories = std::get_if<CategoryData>(&samples)) return categories->columns;
  return {};
}

Json record_json(const TrainedModel& model) {
  const ModelRecord& record = model.record;
  Json members = Json::array();
  for (const TrainedModel& member : model.members) {
    members.push_back({{"method", member.record.method},
                       {"input", settings_json(member.record.matrices.front().rule.settings)}});
  }
  Json matrices = Json::array();
  for (const ModelMatrix& matrix : record.matrices) {
    matrices.push_back({{"name", matrix.name},
                        {"distance", matrix.rule.kind == PairKind::kDistance},
                        {"input", settings_json(matrix.rule.settings)}});
    if (matrix.given) matrices.back()["score_column"] = matrix.given->score_column;
    if (!matrix.measure) continue;
    matrices.back()["measure"] = relevant_settings(matrix.measure->settings);
    matrices.back()["file"] = matrix.measure->file;
    matrices.back()["columns"] = column_names(matrix.measure->training);
  }
  return {{"method", record.method},
          {"settings", record.settings},
          {"classes", record.class_names},
          {"samples", record.samples},
          {"given_samples", record.given_samples},
          {"features", record.features},
          {"groups", record.groups},
          {"feature_names", record.feature_names},
          {"kept", record.kept},
          {"positions", record.positions},
          {"ids", record.ids},
          {"matrices", matrices},
          {"members", members},
          {"probabilities", has_probabilities(model)},
          {"seed", record.seed},
          {"blas_threads", record.blas_threads},
          {"applied", record.applied},
          {"certificate", with_spelled_notes(record.certificate)},
          {"kith", record.kith_version}};
}

std::string methods_text() {
  Json all = Json::array();
  for (const MethodInfo& method : all_methods()) {
    all.push_back(method_json(method));
    const AnySettings settings = parse_method(method.name).settings;
    all.back()["missing_pairs"] = takes_missing_pairs(settings);
  }
  return all.dump();
}

}  // namespace

void bind_models(py::module_& module) {
  py::list ended;
  for (const SolveStatus status : {SolveStatus::kSolved, SolveStatus::kUnchecked,
                                   SolveStatus::kStationary, SolveStatus::kStopped}) {
    ended.append(std::string(enum_name(status)));
  }
  module.attr("ended_as_asked") = ended;
  module.def("methods", &methods_text);
  module.def("input_fields", [] { return fields_json(fields<InputSettings>()).dump(); });
  py::class_<Model>(module, "Model")
      .def("predict", &predict_rows, py::arg("rows"), py::arg("explained"), py::arg("options"))
      .def("predict_vectors", &predict_vectors, py::arg("vectors"), py::arg("explained"),
           py::arg("options"))
      .def("predict_samples", &predict_samples, py::arg("samples"), py::arg("explained"),
           py::arg("options"))
      .def("score", &score_of, py::arg("labels"), py::arg("scores"), py::arg("probabilities"),
           py::arg("truth"), py::arg("ids"), py::arg("notes"))
      .def("record", [](const Model& one) { return record_json(*one.trained).dump(); })
      .def("info", [](const Model& one) { return model_json(*one.trained).dump(); })
      .def("fit_json", [](const Model& one) { return one.fit_json; })
      .def(
          "save", [](const Model& one, const std::string& path) { save(*one.trained, path); },
          py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def(py::pickle(
          [](const Model& one) {
            return py::make_tuple(py::bytes(trained_bytes(*one.trained)), one.fit_json);
          },
          [](const py::tuple& state) {
            const auto bytes = state[0].cast<std::string>();
            return read_back(bytes, "pickled model", state[1].cast<std::string>());
          }));
  module.def(
      "note_without_pairs",
      [](const std::vector<std::string>& names, Index queries) {
        return note_without_pairs(names, queries);
      },
      py::arg("names"), py::arg("queries"));
  module.def(
      "page_of",
      [](const std::string& document) {
        check_has_page();
        return html_page(Json::parse(document));
      },
      py::arg("document"), py::call_guard<py::gil_scoped_release>());
  module.def("fit", &fit_model, py::arg("method"), py::arg("settings"), py::arg("matrices"),
             py::arg("labels"), py::arg("ids"), py::arg("input"), py::arg("options"),
             py::arg("loss") = py::none());
  module.def("fit_samples", &fit_samples, py::arg("method"), py::arg("settings"),
             py::arg("measures"), py::arg("labels"), py::arg("input"), py::arg("options"),
             py::arg("loss") = py::none());
  module.def("fit_vectors", &fit_vectors, py::arg("method"), py::arg("settings"),
             py::arg("vectors"), py::arg("labels"), py::arg("options"));
  module.def(
      "load",
      [](const std::string& path) {
        return Model{std::make_shared<const TrainedModel>(load_trained(path)), ""};
      },
      py::arg("path"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace kith::python

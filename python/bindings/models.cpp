// SPDX-License-Identifier: Apache-2.0
// Fitting, predicting, saving: kith/model/trained_model.
#include <pybind11/stl.h>

#include <map>
#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "kith/core/error.hpp"
#include "kith/core/status.hpp"
#include "kith/learn/method_json.hpp"
#include "kith/model/trained_model.hpp"
#include "running.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

/// A fitted model with what `train --json` says of its fit; empty text for one read from a file.
struct Model {
  TrainedModel trained;
  std::string fit_json;
};

/// New rows under one matrix: (to training, from training or None, self or None).
using GivenQueries = std::tuple<py::object, py::object, py::object>;

InputSettings input_settings(const std::map<std::string, std::string>& given) {
  InputSettings settings;
  for (const auto& [key, text] : given) set_field(settings, "input", key, text);
  return settings;
}

Model fit_model(const std::string& method, const std::vector<std::string>& assignments,
                const std::vector<GivenMatrix>& matrices, const std::vector<std::string>& labels,
                const std::vector<std::string>& ids,
                const std::map<std::string, std::string>& input, const RunOptions& options) {
  const MethodChoice choice = parse_method(method, assignments);
  const MatchedSets sets = matched_sets(matrices, ids);
  const Labels classes = labels_of(labels, sets.sets.front().rows());
  const InputSettings settings = input_settings(input);
  const MissingPairs missing =
      takes_missing_pairs(choice.settings) ? MissingPairs::kKept : MissingPairs::kRefused;
  return run(options, classes.size(), [&](RunContext& ctx) {
    const PreparedTraining prepared = prepare_training(sets, classes, settings, ctx, missing);
    Training training = train(prepared, choice, ctx);
    std::string json = training_json(training).dump();
    return Model{std::move(training.model), std::move(json)};
  });
}

py::tuple prediction_of(const Model& model, QueryBlock block, const RunOptions& options) {
  const Index n = model.trained.record.samples;
  const Prediction prediction = run(
      options, n, [&](RunContext& ctx) { return predict(model.trained, std::move(block), ctx); });
  const py::array_t<int> labels(std::ssize(prediction.labels), prediction.labels.data());
  return py::make_tuple(labels, array_or_none(prediction.scores),
                        array_or_none(prediction.probabilities));
}

Model fit_vectors(const std::string& method, const std::vector<std::string>& assignments,
                  const py::object& vectors, const std::vector<std::string>& labels,
                  const RunOptions& options) {
  const MethodChoice choice = parse_method(method, assignments);
  const VectorData samples{.source = "vectors",
                           .values = RowMatrix(to_dense(block_of(vectors)).values())};
  const Labels classes = labels_of(labels, samples.values.rows());
  return run(options, classes.size(), [&](RunContext& ctx) {
    Training training = train(prepare_training(samples, classes), choice, ctx);
    std::string json = training_json(training).dump();
    return Model{std::move(training.model), std::move(json)};
  });
}

py::tuple predict_vectors(const Model& model, const py::object& vectors,
                          const RunOptions& options) {
  QueryBlock block{.matrices = {}, .vectors = to_dense(block_of(vectors))};
  return prediction_of(model, std::move(block), options);
}

py::tuple predict_rows(const Model& model, const std::vector<GivenQueries>& given,
                       const RunOptions& options) {
  QueryBlock block;
  for (const auto& [to, from, self] : given) {
    QueryMatrix matrix{.to_training = block_of(to)};
    if (!from.is_none()) matrix.from_training = block_of(from);
    if (!self.is_none()) {
      const auto values = self.cast<py::array_t<double, py::array::forcecast>>();
      matrix.self = Eigen::Map<const Vector>(values.data(), values.size());
    }
    block.matrices.push_back(std::move(matrix));
  }
  return prediction_of(model, std::move(block), options);
}

Json record_json(const ModelRecord& record) {
  Json matrices = Json::array();
  for (const ModelMatrix& matrix : record.matrices) {
    matrices.push_back({{"name", matrix.name},
                        {"distance", matrix.rule.kind == PairKind::kDistance},
                        {"input", settings_json(matrix.rule.settings)}});
  }
  return {{"method", record.method},
          {"settings", record.settings},
          {"classes", record.class_names},
          {"samples", record.samples},
          {"given_samples", record.given_samples},
          {"features", record.features},
          {"kept", record.kept},
          {"positions", record.positions},
          {"ids", record.ids},
          {"matrices", matrices},
          {"seed", record.seed},
          {"blas_threads", record.blas_threads},
          {"applied", record.applied},
          {"certificate", record.certificate},
          {"kith", record.kith_version}};
}

std::string methods_text() {
  Json all = Json::array();
  for (const MethodInfo& method : all_methods()) {
    all.push_back(method_json(method));
    all.back()["missing_pairs"] = takes_missing_pairs(parse_method(method.name).settings);
  }
  return all.dump();
}

}  // namespace

void bind_models(py::module_& module) {
  py::list met;
  for (const SolveStatus status : {SolveStatus::kSolved, SolveStatus::kStationary}) {
    met.append(std::string(name(status)));
  }
  module.attr("met_statuses") = met;
  module.def("methods", &methods_text);
  module.def("input_fields", [] { return fields_json(fields<InputSettings>()).dump(); });
  py::class_<Model>(module, "Model")
      .def("predict", &predict_rows, py::arg("rows"), py::arg("options"))
      .def("predict_vectors", &predict_vectors, py::arg("vectors"), py::arg("options"))
      .def("record", [](const Model& one) { return record_json(one.trained.record).dump(); })
      .def("fit_json", [](const Model& one) { return one.fit_json; })
      .def("save", [](const Model& one, const std::string& path) { save(one.trained, path); })
      .def(py::pickle(
          [](const Model& one) {
            return py::make_tuple(py::bytes(trained_bytes(one.trained)), one.fit_json);
          },
          [](const py::tuple& state) {
            const auto bytes = state[0].cast<std::string>();
            return Model{load_trained_bytes(bytes, "pickled model"), state[1].cast<std::string>()};
          }));
  module.def("fit", &fit_model, py::arg("method"), py::arg("settings"), py::arg("matrices"),
             py::arg("labels"), py::arg("ids"), py::arg("input"), py::arg("options"));
  module.def("fit_vectors", &fit_vectors, py::arg("method"), py::arg("settings"),
             py::arg("vectors"), py::arg("labels"), py::arg("options"));
  module.def("load", [](const std::string& path) { return Model{load_trained(path), ""}; });
}

}  // namespace kith::python

// SPDX-License-Identifier: Apache-2.0
// Similarities from raw samples: kith/measure.
#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "kith/core/error.hpp"
#include "kith/learn/method_json.hpp"
#include "kith/measure/measure.hpp"
#include "kith/measure/measure_rule.hpp"
#include "running.hpp"
#include "samples.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

/// `single`: the values as float32.
py::object measure_samples(const std::string& measure, const GivenSamples& samples,
                           const std::optional<GivenSamples>& against,
                           const std::vector<std::string>& labels, const Texts& given, bool single,
                           const RunOptions& options) {
  const MeasureSettings settings = measure_settings(measure, given);
  const RawKind kind = measure_info(settings.measure).data;
  RawData data = raw_data(samples, kind, "samples");
  std::optional<RawData> columns;
  if (against) columns = raw_data(*against, kind, "against");
  if (!labels.empty()) {
    auto* categories = std::get_if<CategoryData>(columns ? &*columns : &data);
    if (categories == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, measure + " learns from no labels");
    }
    categories->labels = labels_of(labels, std::ssize(categories->values));
  }
  const Index n = size_of(data);
  const ResultArray singles(single ? n : 0, columns ? size_of(*columns) : n, true);
  const SimilaritySet set = run(options, n,
                                [data = std::move(data), columns = std::move(columns), settings,
                                 single, singles](RunContext& ctx) {
                                  SimilaritySet made =
                                      columns ? kith::measure(data, *columns, settings, ctx)
                                              : kith::measure(data, settings, ctx);
                                  if (single) singles.put(0, to_dense(made.block).values());
                                  return single ? SimilaritySet{} : made;
                                });
  return single ? singles.array() : array_of(set.block);
}

std::string measures_text() {
  const std::vector<FieldInfo> every = fields<MeasureSettings>();
  Json all = Json::array();
  for (std::size_t i = 0; i < kEnumNames<Measure>.size(); ++i) {
    const MeasureInfo& info = measure_info(static_cast<Measure>(i));
    std::vector<FieldInfo> own;
    for (const FieldInfo& field : every) {
      if (info.takes(field.name) || (is_of_every_measure(field.name) && field.name != "measure")) {
        own.push_back(field);
      }
    }
    Json aliases = Json::array();
    for (const auto& [alias, target] : kEnumAliases<Measure>) {
      if (target == enum_name(info.measure)) aliases.push_back(alias);
    }
    all.push_back({{"name", enum_name(info.measure)},
                   {"aliases", std::move(aliases)},
                   {"data", enum_name(info.data)},
                   {"distance", info.values == PairKind::kDistance},
                   {"labels", learns_from_labels(info.measure)},
                   {"summary", info.explanation},
                   {"settings", fields_json(own)}});
  }
  return all.dump();
}

}  // namespace

void bind_measures(py::module_& module) {
  module.def("measures", &measures_text);
  module.def("measure", &measure_samples, py::arg("measure"), py::arg("samples"),
             py::arg("against"), py::arg("labels"), py::arg("settings"), py::arg("single"),
             py::arg("options"));
}

}  // namespace kith::python

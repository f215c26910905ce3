// SPDX-License-Identifier: Apache-2.0
// Similarities from raw samples: kith/measure.
#include <pybind11/stl.h>

#include <map>
#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "kith/core/error.hpp"
#include "kith/learn/method_json.hpp"
#include "kith/measure/measure.hpp"
#include "kith/measure/measure_rule.hpp"
#include "running.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

using Words = std::vector<std::vector<std::string>>;

RawData raw_data(const py::object& samples, RawKind kind, const std::string& source) {
  switch (kind) {
    case RawKind::kStrings:
      return StringData{source, {}, samples.cast<std::vector<std::string>>()};
    case RawKind::kVectors:
      return VectorData{source, {}, RowMatrix(to_dense(block_of(samples)).values())};
    case RawKind::kSeries: {
      SeriesData data{source, {}, {}};
      for (const py::handle one : samples) {
        data.values.push_back(one.cast<std::vector<double>>());
      }
      return data;
    }
    case RawKind::kSequences:
      return SequenceData{source, {}, samples.cast<std::vector<std::string>>()};
    case RawKind::kSets:
      return SetData{source, {}, samples.cast<Words>()};
    case RawKind::kCategories:
      return CategoryData{source, {}, samples.cast<Words>()};
  }
  throw Error(ErrorCode::kInternal, "a kind of samples without a form in Python");
}

MeasureSettings measure_settings(const std::string& measure,
                                 const std::map<std::string, std::string>& given) {
  MeasureSettings settings;
  set_field(settings, "measure", "measure", measure);
  for (const auto& [key, text] : given) {
    if (!measure_info(settings.measure).takes(key) && key != "perturb" && key != "xi") {
      throw Error(ErrorCode::kInvalidArgument, measure + " has no setting " + key);
    }
    set_field(settings, measure, key, text);
  }
  check_settings(settings);
  return settings;
}

py::object measure_samples(const std::string& measure, const py::object& samples,
                           const py::object& against, const std::vector<std::string>& labels,
                           const std::map<std::string, std::string>& given,
                           const RunOptions& options) {
  const MeasureSettings settings = measure_settings(measure, given);
  const RawKind kind = measure_info(settings.measure).data;
  RawData data = raw_data(samples, kind, "samples");
  std::optional<RawData> columns;
  if (!against.is_none()) columns = raw_data(against, kind, "against");
  if (!labels.empty()) {
    auto* categories = std::get_if<CategoryData>(columns ? &*columns : &data);
    if (categories == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, measure + " learns from no labels");
    }
    categories->labels = make_labels(labels);
  }
  const SimilaritySet set = run(options, size_of(data), [&](RunContext& ctx) {
    return columns ? kith::measure(data, *columns, settings, ctx)
                   : kith::measure(data, settings, ctx);
  });
  return array_of(set.block);
}

std::string measures_text() {
  const std::vector<FieldInfo> every = fields<MeasureSettings>();
  Json all = Json::array();
  for (std::size_t i = 0; i < EnumNames<Measure>::names.size(); ++i) {
    const MeasureInfo& info = measure_info(static_cast<Measure>(i));
    std::vector<FieldInfo> own;
    for (const FieldInfo& field : every) {
      if (info.takes(field.name) || field.name == "perturb" || field.name == "xi") {
        own.push_back(field);
      }
    }
    all.push_back({{"name", enum_name(info.measure)},
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
             py::arg("against"), py::arg("labels"), py::arg("settings"), py::arg("options"));
}

}  // namespace kith::python

// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "kith/core/error.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

using Words = std::vector<std::vector<std::string>>;

void check_ids(const RawData& data) {
  if (ids_of(data).empty() || std::ssize(ids_of(data)) == size_of(data)) return;
  throw Error(ErrorCode::kInvalidArgument, std::to_string(ids_of(data).size()) + " ids for " +
                                               std::to_string(size_of(data)) + " samples");
}

RawData unchecked(const GivenSamples& given, RawKind kind, const std::string& source) {
  const auto& [samples, ids, columns] = given;
  switch (kind) {
    case RawKind::kStrings:
      return StringData{source, ids, samples.cast<std::vector<std::string>>()};
    case RawKind::kVectors:
      return vector_data(given, source);
    case RawKind::kSeries: {
      SeriesData data{source, ids, {}};
      for (const py::handle one : samples) {
        data.values.push_back(one.cast<std::vector<double>>());
      }
      return data;
    }
    case RawKind::kSequences:
      return SequenceData{source, ids, samples.cast<std::vector<std::string>>()};
    case RawKind::kSets:
      return SetData{source, ids, samples.cast<Words>()};
    case RawKind::kCategories:
      return CategoryData{source, ids, samples.cast<Words>(), std::nullopt, columns};
  }
  throw Error(ErrorCode::kInternal, "a kind of samples without a form in Python");
}

/// Vectors of their own: the caller's array may change. What a sparse one does not list is 0.
Block vectors_of(const py::object& samples) {
  if (is_sparse(samples)) return sparse_block(samples, Absent::kZero);
  return DenseBlock(to_dense(block_of(samples)).take());
}

}  // namespace

RawData raw_data(const GivenSamples& given, RawKind kind, const std::string& source) {
  RawData data = unchecked(given, kind, source);
  check_ids(data);
  return data;
}

VectorData vector_data(const GivenSamples& given, const std::string& source) {
  const auto& [samples, ids, columns] = given;
  VectorData data{source, ids, vectors_of(samples), false, columns};
  check_ids(data);
  return data;
}

MeasureSettings measure_settings(const std::string& measure, const Texts& given) {
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

std::vector<RawMatrix> raw_matrices(const std::vector<GivenMeasure>& given) {
  std::vector<RawMatrix> matrices;
  for (const auto& [name, measure, texts, samples, file] : given) {
    const MeasureSettings settings = measure_settings(measure, texts);
    matrices.push_back(
        {name, settings, raw_data(samples, measure_info(settings.measure).data, name), file, {}});
    for (const auto& [key, text] : texts) {
      matrices.back().given.push_back({key, "measure='" + measure + ":" + key + "=" + text + "'"});
    }
  }
  return match_samples(std::move(matrices));
}

}  // namespace kith::python

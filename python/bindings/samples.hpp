// SPDX-License-Identifier: Apache-2.0
// Raw samples and measures as Python hands them over.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kith/measure/measure.hpp"
#include "kith/measure/raw_matrix.hpp"

namespace kith::python {

using Texts = std::map<std::string, std::string>;

/// Samples as Python hands them over: (values, ids or none, names of the columns or none).
using GivenSamples =
    std::tuple<pybind11::object, std::vector<std::string>, std::vector<std::string>>;
[[nodiscard]] RawData raw_data(const GivenSamples& given, RawKind kind, const std::string& source);
[[nodiscard]] VectorData vector_data(const GivenSamples& given, const std::string& source);

/// Throws Error naming a setting that the measure does not take.
[[nodiscard]] MeasureSettings measure_settings(const std::string& measure, const Texts& given);

/// A matrix that is to be measured: (its name, measure, settings, samples, which of the
/// collections of samples it is of).
using GivenMeasure = std::tuple<std::string, std::string, Texts, GivenSamples, Index>;
/// Matched: over the same samples in the same order.
[[nodiscard]] std::vector<RawMatrix> raw_matrices(const std::vector<GivenMeasure>& given);

}  // namespace kith::python

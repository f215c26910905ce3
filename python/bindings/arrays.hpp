// SPDX-License-Identifier: Apache-2.0
// Arrays of NumPy and SciPy as blocks of the library, and back.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "kith/data/block.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"

namespace kith::python {

/// A C-contiguous array of doubles is looked at where it lies; everything else is copied once. A
/// SciPy sparse matrix becomes a sparse block, in which an absent pair is missing, not 0.
[[nodiscard]] Block block_of(const pybind11::object& array);

[[nodiscard]] pybind11::object array_of(const Block& block);
[[nodiscard]] pybind11::array_t<double> array_of(const Matrix& values);
[[nodiscard]] pybind11::object array_or_none(const Matrix& values);

/// One matrix as Python hands it over: (name, array, whether its numbers are distances).
using GivenMatrix = std::tuple<std::string, pybind11::object, bool>;
[[nodiscard]] MatchedSets matched_sets(const std::vector<GivenMatrix>& given,
                                       const std::vector<std::string>& ids);

/// Throws Error unless there is one label per sample.
[[nodiscard]] Labels labels_of(const std::vector<std::string>& labels, Index samples);

}  // namespace kith::python

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads one vector per row: a table in csv, tsv, npy, MatrixMarket or MATLAB format (a first
/// column of text is the ids, a first row of text the names of the features),
/// LIBSVM text `label index:value ...`, whose labels are ignored and whose absent positions are 0,
/// or IDX.
[[nodiscard]] VectorData read_vectors(const std::string& path, const RunContext& ctx);

/// The same of a table, where a number that is missing is NaN.
[[nodiscard]] VectorData read_table(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace kith {

/// Sizes and positions are signed everywhere.
using Index = Eigen::Index;

/// Column-major, the layout LAPACK wants; `S(i, j)` is the similarity of sample i *to* sample j.
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Row-major, the layout of files and of query blocks: one sample's similarities lie side by side.
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using MatrixRef = Eigen::Ref<const Matrix>;
using VectorRef = Eigen::Ref<const Vector>;

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/symmetric_view.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/core/shape.hpp"
#include "optim/dual/vector_kernels.hpp"
#include "optim/engine/box.hpp"

namespace kith::dual {
namespace {

constexpr std::string_view kWhat = "the matrix of a dual problem";

}  // namespace

namespace {

/// What the last block of a thread left behind: fresh memory costs more than the columns of a small
/// block that are read into it.
struct Spare {
  std::unique_ptr<double[]> memory;
  std::size_t size = 0;
};
constexpr std::size_t kMostSpare = std::size_t{1} << 22;  // doubles, 32 MiB

Spare& spare() {
  thread_local Spare kept;
  return kept;
}

std::unique_ptr<double[]> columns_for(std::size_t members) {
  if (spare().size >= members * members) {
    spare().size = 0;
    return std::move(spare().memory);
  }
  return std::unique_ptr<double[]>(new double[members * members]);
}

}  // namespace

LazyBlock::~LazyBlock() {
  const std::size_t size = members_.size() * members_.size();
  if (size <= kMostSpare && size > spare().size) spare() = {std::move(columns_), size};
}

LazyBlock::LazyBlock(const MatrixRef& K, std::vector<Index> members)
    : data_(K.data()),
      stride_(K.outerStride()),
      members_(std::move(members)),
      slot_(members_.size(), -1),
      columns_(columns_for(members_.size())) {}

const double* LazyBlock::column(Index j) {
  Index& slot = slot_[std::size_t(j)];
  if (slot >= 0) return columns_.get() + slot * size();
  slot = used_++;
  double* out = columns_.get() + slot * size();
  const double* source = data_ + members_[std::size_t(j)] * stride_;
  for (std::size_t k = 0; k < members_.size(); ++k) out[k] = source[members_[k]];
  return out;
}

SymmetricView::SymmetricView(Storage storage, Vector diagonal, double shift)
    : storage_(std::move(storage)),
      size_(diagonal.size()),
      shift_(shift),
      diagonal_(diagonal.array() + shift) {}

SymmetricView SymmetricView::dense(const MatrixRef& K, double shift) {
  check_square(kWhat, K.rows(), K.cols());
  return {Dense<double>{K.data(), K.outerStride()}, K.diagonal(), shift};
}

SymmetricView SymmetricView::dense(const Eigen::Ref<const FloatMatrix>& K, double shift) {
  check_square(kWhat, K.rows(), K.cols());
  return {Dense<float>{K.data(), K.outerStride()}, K.diagonal().cast<double>(), shift};
}

SymmetricView SymmetricView::block(const MatrixRef& K, std::vector<Index> members, double shift) {
  check_square(kWhat, K.rows(), K.cols());
  Vector diagonal = K.diagonal()(members);
  return {std::make_shared<LazyBlock>(K, std::move(members)), std::move(diagonal), shift};
}

const double* SymmetricView::stored(Index column) const {
  if (const auto* wide = std::get_if<Dense<double>>(&storage_)) {
    return wide->data + column * wide->stride;
  }
  const auto* block = std::get_if<std::shared_ptr<LazyBlock>>(&storage_);
  return block != nullptr ? (*block)->column(column) : nullptr;
}

SymmetricView SymmetricView::columns(Vector diagonal, ColumnFunction column, double shift) {
  return {std::move(column), std::move(diagonal), shift};
}

SymmetricView SymmetricView::scaled(double factor) const {
  SymmetricView result = *this;
  result.factor_ *= factor;
  result.shift_ *= factor;
  result.diagonal_ *= factor;
  return result;
}

template <class Scalar>
void SymmetricView::gather_as(Index column, std::span<const Index> rows, Scalar* out) const {
  const auto pick = [&](const auto* source) {
    if (factor_ == 1) {
      for (std::size_t k = 0; k < rows.size(); ++k) out[k] = static_cast<Scalar>(source[rows[k]]);
    } else {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        out[k] = static_cast<Scalar>(static_cast<double>(source[rows[k]]) * factor_);
      }
    }
  };
  if (const double* wide = stored(column)) {
    pick(wide);
  } else if (const auto* narrow = std::get_if<Dense<float>>(&storage_)) {
    pick(narrow->data + column * narrow->stride);
  } else {
    std::vector<double> full(static_cast<std::size_t>(size_));
    std::get<ColumnFunction>(storage_)(column, full);
    pick(full.data());
  }
  if (shift_ == 0) return;
  const auto found = std::lower_bound(rows.begin(), rows.end(), column);
  assert(std::is_sorted(rows.begin(), rows.end()) && "the callers keep their rows in order");
  if (found != rows.end() && *found == column) {
    out[found - rows.begin()] = static_cast<Scalar>(diagonal_[column]);
  }
}

void SymmetricView::gather(Index column, std::span<const Index> rows, double* out) const {
  gather_as(column, rows, out);
}

void SymmetricView::gather(Index column, std::span<const Index> rows, float* out) const {
  gather_as(column, rows, out);
}

void SymmetricView::copy_column(Index column, float* out) const {
  // The factor is applied in double: it may be what brings entries into the range of floats.
  const auto round = vector_kernels().round;
  if (const double* wide = stored(column)) {
    round(size_, wide, factor_, out);
  } else if (const auto* narrow = std::get_if<Dense<float>>(&storage_)) {
    const float* source = narrow->data + column * narrow->stride;
    for (Index i = 0; i < size_; ++i) {
      out[i] = static_cast<float>(static_cast<double>(source[i]) * factor_);
    }
  } else {
    std::vector<double> full(static_cast<std::size_t>(size_));
    std::get<ColumnFunction>(storage_)(column, full);
    round(size_, full.data(), factor_, out);
  }
  out[column] = static_cast<float>(diagonal_[column]);
}

const double* SymmetricView::direct(Index column) const {
  return shift_ != 0 || factor_ != 1 ? nullptr : stored(column);
}

void SymmetricView::add_columns(std::span<const Index> columns, std::span<const double> weights,
                                Vector& g) const {
  const std::size_t count = columns.size();
  const auto add_stored = [&]<class Scalar>(const auto& source) {
    std::vector<const Scalar*> sources;
    std::vector<double> scaled;
    for (std::size_t k = 0; k < count; ++k) {
      sources.push_back(source(columns[k]));
      scaled.push_back(weights[k] * factor_);
    }
    dual::add_columns(sources, scaled, g);
  };
  if (const auto* narrow = std::get_if<Dense<float>>(&storage_)) {
    add_stored.template operator()<float>(
        [&](Index j) { return narrow->data + j * narrow->stride; });
  } else if (!std::holds_alternative<ColumnFunction>(storage_)) {
    add_stored.template operator()<double>([&](Index j) { return stored(j); });
  } else {
    Vector full(size_);
    for (std::size_t k = 0; k < count; ++k) {
      std::get<ColumnFunction>(storage_)(columns[k], {full.data(), std::size_t(size_)});
      g += (weights[k] * factor_) * full;
    }
  }
  if (shift_ == 0) return;
  for (std::size_t k = 0; k < count; ++k) g[columns[k]] += shift_ * weights[k];
}

Vector SymmetricView::times(const VectorRef& u) const {
  std::vector<Index> columns;
  std::vector<double> weights;
  for (Index i = 0; i < u.size(); ++i) {
    if (u[i] == 0) continue;
    columns.push_back(i);
    weights.push_back(u[i]);
  }
  Vector result = Vector::Zero(size_);
  add_columns(columns, weights, result);
  return result;
}

double SymmetricView::largest_entry() const {
  std::vector<Index> rows(static_cast<std::size_t>(size_));
  for (Index i = 0; i < size_; ++i) rows[std::size_t(i)] = i;
  Vector column(size_);
  double largest = 0;
  for (Index j = 0; j < size_; ++j) {
    gather(j, rows, column.data());
    largest = std::max(largest, column.cwiseAbs().maxCoeff());
  }
  return largest;
}

}  // namespace kith::dual

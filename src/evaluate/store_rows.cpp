// SPDX-License-Identifier: Apache-2.0
#include "evaluate/store_rows.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/core/xxh64.hpp"

namespace kith::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

template <class T>
std::string_view raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> from_raw(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A cell as bytes: its kind, its length, its content, so that nothing can move between cells.
struct Hasher {
  Xxh64& hash;
  void put(std::int64_t kind, std::string_view bytes) const {
    hash.update(raw(kind));
    hash.update(raw(static_cast<std::int64_t>(bytes.size())));
    hash.update(bytes);
  }
  void operator()(std::monostate) const { put(0, {}); }
  void operator()(std::int64_t value) const { put(1, raw(value)); }
  void operator()(double value) const { put(2, raw(value)); }
  void operator()(const std::string& text) const { put(3, text); }
  void operator()(const Blob& blob) const { put(4, blob.bytes); }
};

std::int64_t checksum(const SqlRow& row) {
  Xxh64 hash;
  for (const SqlValue& value : row) std::visit(Hasher{hash}, value);
  return std::bit_cast<std::int64_t>(hash.digest());
}

[[noreturn]] void row_is_damaged(const std::string& path) {
  throw bad_input({path},
                  "the store is damaged (a row does not have the content it was written with); "
                  "bring back a copy of the file, or delete it and evaluate again");
}

Blob integers_blob(const std::vector<int>& values) {
  static_assert(sizeof(int) == sizeof(std::int32_t));
  return {raw(values)};
}

Blob positions_blob(const std::vector<Index>& positions) {
  std::vector<std::int32_t> narrow;
  narrow.reserve(positions.size());
  for (const Index position : positions) {
    if (position < 0 || position > std::numeric_limits<std::int32_t>::max()) {
      throw invalid("a partition holds sample {}, which a store cannot hold", position);
    }
    narrow.push_back(static_cast<std::int32_t>(position));
  }
  return {raw(narrow)};
}

/// Scores serve to order samples, and probabilities to be averaged: half the digits are enough. A
/// number that is too large for them becomes the largest.
float single(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::isfinite(value) ? std::clamp(value, -kMost, kMost) : value);
}

/// Rows and columns as 64-bit integers, then the rows.
Blob matrix_blob(const Matrix& matrix) {
  std::string bytes;
  bytes += raw(static_cast<std::int64_t>(matrix.rows()));
  bytes += raw(static_cast<std::int64_t>(matrix.cols()));
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) bytes += raw(single(matrix(i, j)));
  }
  return {bytes};
}

std::string checked_text(const std::string& text) {
  if (!is_valid_utf8(text)) {
    throw invalid("{} is not UTF-8; names and ids in a store must be", in_quotes(text));
  }
  return text;
}

std::string texts_json(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(checked_text(text));
  return json_text(json);
}

/// SQLite has no NaN and no negative zero; seconds need neither.
SqlValue seconds_cell(double seconds) {
  if (std::isnan(seconds)) return std::monostate();
  return seconds + 0.0;
}

}  // namespace

SqlRow sealed(SqlRow row) {
  row.emplace_back(checksum(row));
  return row;
}

SqlRow unsealed(SqlRow row, const std::string& path) {
  if (row.empty()) row_is_damaged(path);
  const SqlValue last = row.back();
  row.pop_back();
  if (last != SqlValue(checksum(row))) row_is_damaged(path);
  return row;
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SqlRow experiment_row(const ExperimentRecord& record) {
  return {checked_text(record.name),
          hex_digits(record.fingerprint),
          json_text(record.protocol),
          json_text(record.input),
          json_text(record.about),
          texts_json(record.labels.names),
          integers_blob(record.labels.ids),
          texts_json(record.labels.groups.names),
          integers_blob(record.labels.groups.ids),
          texts_json(record.ids),
          static_cast<std::int64_t>(record.partitions.size())};
}

SqlRow partition_row(const Partition& partition) {
  return {positions_blob(partition.train), positions_blob(partition.test),
          integers_blob(partition.fold_of)};
}

SqlRow candidate_row(const CandidateRecord& record) {
  return {checked_text(record.name), checked_text(record.method), json_text(record.settings),
          json_text(record.grid)};
}

SqlRow fold_row(const FoldResult& result) {
  return {Blob{raw(result.losses)}, seconds_cell(result.seconds)};
}

SqlRow test_row(const TestResult& result) {
  return {json_text(result.chosen),
          Blob{raw(result.inner_losses)},
          integers_blob(result.prediction.labels),
          matrix_blob(result.prediction.scores),
          matrix_blob(result.prediction.probabilities),
          json_text(result.certificate),
          seconds_cell(result.seconds)};
}

void StoredRow::damaged() const { row_is_damaged(path_); }

template <class T>
const T& StoredRow::next() {
  if (place_ >= row_.size()) damaged();
  const T* value = std::get_if<T>(&row_[place_++]);
  if (value == nullptr) damaged();
  return *value;
}

std::int64_t StoredRow::integer() { return next<std::int64_t>(); }

double StoredRow::number() {
  if (place_ < row_.size() && std::holds_alternative<std::monostate>(row_[place_])) {
    ++place_;
    return std::numeric_limits<double>::quiet_NaN();
  }
  return next<double>();
}

std::string StoredRow::text() { return next<std::string>(); }

Json StoredRow::json() {
  Json json = Json::parse(next<std::string>(), nullptr, false);
  if (json.is_discarded()) damaged();
  return json;
}

std::vector<std::string> StoredRow::texts() {
  const Json array = json();
  std::vector<std::string> texts;
  for (const Json& text : array) {
    if (!text.is_string()) damaged();
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::uint64_t StoredRow::hexadecimal() {
  const std::string& digits = next<std::string>();
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value, 16);
  if (code != std::errc() || stop != end) damaged();
  return value;
}

std::vector<int> StoredRow::integers() {
  const std::string& bytes = next<Blob>().bytes;
  if (bytes.size() % sizeof(std::int32_t) != 0) damaged();
  return from_raw<int>(bytes);
}

std::vector<Index> StoredRow::positions() {
  const std::vector<int> narrow = integers();
  return {narrow.begin(), narrow.end()};
}

std::vector<double> StoredRow::numbers() {
  const std::string& bytes = next<Blob>().bytes;
  if (bytes.size() % sizeof(double) != 0) damaged();
  return from_raw<double>(bytes);
}

Matrix StoredRow::matrix() {
  const std::string_view bytes = next<Blob>().bytes;
  constexpr std::size_t kShape = 2 * sizeof(std::int64_t);
  if (bytes.size() < kShape) damaged();
  const std::vector<std::int64_t> shape = from_raw<std::int64_t>(bytes.substr(0, kShape));
  const std::string_view content = bytes.substr(kShape);
  const auto cells = static_cast<std::int64_t>(content.size() / sizeof(float));
  const bool fits =
      shape[0] >= 0 && shape[1] >= 0 && content.size() % sizeof(float) == 0 &&
      (shape[0] == 0 || shape[1] == 0 ? cells == 0
                                      : cells % shape[0] == 0 && cells / shape[0] == shape[1]);
  if (!fits) damaged();
  const std::vector<float> values = from_raw<float>(content);
  Matrix matrix(shape[0], shape[1]);
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      matrix(i, j) = values[static_cast<std::size_t>(i * matrix.cols() + j)];
    }
  }
  return matrix;
}

}  // namespace kith::detail

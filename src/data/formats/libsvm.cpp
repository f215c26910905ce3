// SPDX-License-Identifier: Apache-2.0
// Precomputed kernels of LIBSVM (-t 4): `label 0:serial 1:v 2:v ...`, every position present and in
// order. The value at position p is the similarity to the sample with serial number p, so where the
// rows of a square table are not in serial order the numbers become ids.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/readers.hpp"
#include "data/formats/text_out.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

struct Pair {
  std::string_view position;
  std::string_view value;
};

std::optional<Pair> split_pair(std::string_view field) {
  const std::size_t colon = field.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Pair{field.substr(0, colon), field.substr(colon + 1)};
}

std::string_view next_field(std::string_view& rest) {
  const std::size_t start = std::min(rest.find_first_not_of(" \t"), rest.size());
  rest.remove_prefix(start);
  const std::string_view field = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(field.size());
  return field;
}

/// Reads one line after the other; the first fixes the number of columns.
class LibsvmLines {
 public:
  explicit LibsvmLines(ByteSource& source) : lines_(source) {}

  /// Appends the numbers of the next row to `row`; false at the end.
  [[nodiscard]] bool next(std::vector<double>& row, double& serial) {
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
    } while (trim(line).empty());
    const std::string_view label = next_field(line);
    (void)number_in(label, lines_, MissingWord::kRefused);
    serial = read_serial(next_field(line));
    long position = 1;
    for (std::string_view field = next_field(line); !field.empty(); field = next_field(line)) {
      row.push_back(read_value(field, position));
      ++position;
    }
    check_width(position - 1);
    return true;
  }
  [[nodiscard]] Index cols() const { return cols_; }

 private:
  [[nodiscard]] double read_serial(std::string_view field) const {
    const std::optional<Pair> pair = split_pair(field);
    if (!pair || pair->position != "0") {
      throw bad_input(lines_.place_of(field),
                      "{} is not 0:serial; a line of precomputed similarities is label 0:serial "
                      "1:value 2:value ... (vectors are given with [[data]])",
                      in_quotes(field));
    }
    return number_in(pair->value, lines_, MissingWord::kRefused);
  }
  [[nodiscard]] double read_value(std::string_view field, long position) const {
    const std::optional<Pair> pair = split_pair(field);
    const std::optional<long long> found =
        pair ? parse_integer(pair->position) : std::optional<long long>();
    if (!found || *found != position) {
      throw bad_input(lines_.place_of(field),
                      "{} stands where position {} is due; precomputed similarities list every "
                      "position in order",
                      in_quotes(field), position);
    }
    return number_in(pair->value, lines_, MissingWord::kNan);
  }
  void check_width(long width) {
    if (width == 0) throw bad_input(lines_.place(), "the line has no similarities");
    if (cols_ == 0) cols_ = width;
    if (width == cols_) return;
    throw bad_input(lines_.place(), "the line has {} similarities where the first has {}", width,
                    cols_);
  }

  LineReader lines_;
  Index cols_ = 0;
};

/// Serial numbers 1 .. n in another order, as ids; nothing where they say no more than the order.
void name_by_serial(SimilaritySet& set, const std::vector<double>& serials) {
  if (set.rows() != set.cols()) return;
  std::vector<bool> seen(serials.size(), false);
  bool in_order = true;
  for (std::size_t i = 0; i < serials.size(); ++i) {
    const double serial = serials[i];
    const bool valid = serial >= 1 && serial <= static_cast<double>(serials.size()) &&
                       serial == std::floor(serial);
    if (!valid || seen[static_cast<std::size_t>(serial) - 1]) return;
    seen[static_cast<std::size_t>(serial) - 1] = true;
    in_order = in_order && serial == static_cast<double>(i + 1);
  }
  if (in_order) return;
  for (std::size_t i = 0; i < serials.size(); ++i) {
    set.row_ids.push_back(std::to_string(static_cast<long>(serials[i])));
    set.column_ids.push_back(std::to_string(i + 1));
  }
}

class LibsvmRows final : public RowReader {
 public:
  explicit LibsvmRows(ByteSource source) : source_(std::move(source)), lines_(source_) {
    has_row_ = lines_.next(row_, serial_);
    if (!has_row_) throw bad_input({source_.name()}, "the file has no rows");
  }
  [[nodiscard]] Index cols() const override { return lines_.cols(); }
  [[nodiscard]] std::span<const std::string> column_ids() const override { return {}; }
  [[nodiscard]] bool has_row_ids() const override { return false; }
  [[nodiscard]] bool next(std::span<double> row, std::string& id) override {
    if (!has_row_) return false;
    std::ranges::copy(row_, row.begin());
    id.clear();
    row_.clear();
    has_row_ = lines_.next(row_, serial_);
    return true;
  }

 private:
  ByteSource source_;
  LibsvmLines lines_;
  std::vector<double> row_;
  double serial_ = 0;
  bool has_row_ = false;
};

}  // namespace

bool looks_like_libsvm(std::string_view head) {
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  const std::string_view label = next_field(line);
  const std::optional<Pair> serial = split_pair(next_field(line));
  const std::optional<Pair> first = split_pair(next_field(line));
  return parse_double(label) && serial && serial->position == "0" && parse_double(serial->value) &&
         first && first->position == "1";
}

SimilaritySet read_libsvm(ByteSource& source, const ReadSettings& /*settings*/,
                          const RunContext& ctx) {
  LibsvmLines lines(source);
  std::vector<double> values;
  std::vector<double> serials;
  double serial = 0;
  while (lines.next(values, serial)) {
    ctx.check_stop();
    serials.push_back(serial);
  }
  if (serials.empty()) throw bad_input({source.name()}, "the file has no rows");
  SimilaritySet set;
  const auto held = std::make_shared<const std::vector<double>>(std::move(values));
  set.block = DenseBlock(held->data(), static_cast<Index>(serials.size()), lines.cols(), held);
  name_by_serial(set, serials);
  return set;
}

std::unique_ptr<RowReader> libsvm_rows(ByteSource source, const ReadSettings& /*settings*/,
                                       const RunContext& /*ctx*/) {
  return std::make_unique<LibsvmRows>(std::move(source));
}

void write_libsvm(AtomicFile& file, const SimilaritySet& set, std::span<const int> class_ids,
                  const RunContext& ctx) {
  if (!class_ids.empty() && static_cast<Index>(class_ids.size()) != set.rows()) {
    throw invalid("{}: {} labels for {} rows", file.path(), class_ids.size(), set.rows());
  }
  TextOut out(file);
  std::vector<double> row(static_cast<std::size_t>(set.cols()));
  for (Index i = 0; i < set.rows(); ++i) {
    ctx.check_stop();
    copy_row(set.block, i, row);
    out << (class_ids.empty() ? 0 : class_ids[static_cast<std::size_t>(i)]) << " 0:" << i + 1;
    for (std::size_t j = 0; j < row.size(); ++j) {
      out << ' ' << static_cast<long>(j + 1) << ':' << row[j];
    }
    out.end_line();
  }
  out.flush();
}

}  // namespace kith::detail

// SPDX-License-Identifier: Apache-2.0
#include "model/measure_archive.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/errors.hpp"
#include "data/block_archive.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& rule) {
  throw broken("part {} {}", in_quotes(name), rule);
}

/// Lists of any length one after the other, and where each ends.
template <class Flat, class List>
void flatten(const std::vector<List>& lists, Flat& flat, std::vector<Index>& ends) {
  for (const List& list : lists) {
    flat.insert(flat.end(), list.begin(), list.end());
    ends.push_back(static_cast<Index>(flat.size()));
  }
}

template <class Flat, class List>
void unflatten(const Flat& flat, const std::vector<Index>& ends, std::vector<List>& lists,
               const std::string& name) {
  Index begin = 0;
  for (const Index end : ends) {
    if (end < begin || end > std::ssize(flat)) refuse(name, "does not fit the values it divides");
    lists.emplace_back(flat.begin() + begin, flat.begin() + end);
    begin = end;
  }
  if (begin != std::ssize(flat)) refuse(name, "does not fit the values it divides");
}

void check_finite(const double* values, Index count, const std::string& name) {
  if (std::all_of(values, values + count, [](double x) { return std::isfinite(x); })) return;
  refuse(name, "has a number that is not finite");
}

// One visit per kind of data, so that writing and reading name the same arrays.

template <class Archiver>
void visit_values(Archiver& arrays, const std::string& name, Archived<Archiver, StringData>& data) {
  arrays.texts(name, data.values);
}

template <class Archiver>
void visit_values(Archiver& arrays, const std::string& name,
                  Archived<Archiver, SequenceData>& data) {
  arrays.texts(name, data.values);
  for (const std::string& sequence : data.values) {
    if (sequence.empty()) refuse(name, "has an empty sequence");
  }
}

/// Names of columns are there where the samples have them.
void visit_columns(ArchiveWriter& arrays, const std::string& name,
                   const std::vector<std::string>& columns, Index /*wanted*/) {
  if (!columns.empty()) arrays.texts(name, columns);
}
void visit_columns(ArchiveReader& arrays, const std::string& name,
                   std::vector<std::string>& columns, Index wanted) {
  if (!arrays.has(name + ".bytes") && !arrays.has(name + ".ends")) return;
  arrays.texts(name, columns);
  if (std::ssize(columns) != wanted) refuse(name, "does not name every column");
}

template <class Archiver>
void visit_table(Archiver& arrays, const std::string& name, Archived<Archiver, DenseBlock>& table) {
  Matrix values = table.values();
  arrays(name, values);
  if constexpr (Archiver::kLoading) {
    check_finite(values.data(), values.size(), name);
    table = DenseBlock(RowMatrix(values));
  }
}

template <class Archiver>
void visit_table(Archiver& arrays, const std::string& name,
                 Archived<Archiver, SparseBlock>& table) {
  archive_sparse(table, name + ".width", name + ".", arrays);
  if constexpr (Archiver::kLoading) {
    table.absent = Absent::kZero;
    check_finite(table.values.data(), table.entries(), name + ".values");
  }
}

/// An empty table of the kind that was written.
void choose_table(const ArchiveReader& arrays, const std::string& name, Block& table) {
  if (arrays.has(name + ".width") || arrays.has(name + ".starts")) table = SparseBlock{};
}
void choose_table(const ArchiveWriter& /*arrays*/, const std::string& /*name*/,
                  const Block& /*table*/) {}

template <class Archiver>
void visit_values(Archiver& arrays, const std::string& name, Archived<Archiver, VectorData>& data) {
  choose_table(arrays, name, data.values);
  std::visit([&](auto& table) { visit_table(arrays, name, table); }, data.values);
  arrays(name + ".absent_is_zero", data.absent_is_zero);
  visit_columns(arrays, name + ".names", data.columns, cols(data.values));
}

template <class Archiver>
void visit_values(Archiver& arrays, const std::string& name, Archived<Archiver, SeriesData>& data) {
  std::vector<double> flat;
  std::vector<Index> ends;
  flatten(data.values, flat, ends);
  Vector numbers = Eigen::Map<const Vector>(flat.data(), std::ssize(flat));
  arrays(name, numbers);
  arrays(name + ".ends", ends);
  if constexpr (Archiver::kLoading) {
    check_finite(numbers.data(), numbers.size(), name);
    flat.assign(numbers.data(), numbers.data() + numbers.size());
    unflatten(flat, ends, data.values, name + ".ends");
    for (const std::vector<double>& series : data.values) {
      if (series.empty()) refuse(name, "has an empty series");
    }
  }
}

template <class Archiver>
void visit_words(Archiver& arrays, const std::string& name,
                 Archived<Archiver, std::vector<std::vector<std::string>>>& values) {
  std::vector<std::string> flat;
  std::vector<Index> ends;
  flatten(values, flat, ends);
  arrays.texts(name, flat);
  arrays(name + ".of_sample.ends", ends);
  if constexpr (Archiver::kLoading) unflatten(flat, ends, values, name + ".of_sample.ends");
}

template <class Archiver>
void visit_values(Archiver& arrays, const std::string& name, Archived<Archiver, SetData>& data) {
  visit_words(arrays, name, data.values);
}

template <class Archiver>
void visit_values(Archiver& arrays, const std::string& name,
                  Archived<Archiver, CategoryData>& data) {
  visit_words(arrays, name, data.values);
  if constexpr (Archiver::kLoading) {
    arrays(name + ".labels", data.labels.emplace().ids);
  } else {
    arrays(name + ".labels", data.labels ? data.labels->ids : std::vector<int>{});
  }
  visit_columns(arrays, name + ".names", data.columns,
                data.values.empty() ? 0 : std::ssize(data.values.front()));
  if (!Archiver::kLoading) return;
  if (data.values.empty()) refuse(name, "has no samples, and a measure learns from them");
  for (const std::vector<std::string>& row : data.values) {
    if (row.size() != data.values.front().size()) refuse(name, "has rows of different lengths");
  }
}

template <class Archiver>
void visit_samples(Archiver& arrays, const std::string& prefix,
                   Archived<Archiver, RawData>& samples) {
  std::visit([&](auto& data) { visit_values(arrays, prefix + "samples", data); }, samples);
}

/// The matrix whose samples another one of the same file and kind need not repeat.
const MeasureRule* first_of(std::span<const ModelMatrix> before, Index file, RawKind kind) {
  for (const ModelMatrix& matrix : before) {
    if (matrix.measure && matrix.measure->file == file &&
        kind_of(matrix.measure->training) == kind) {
      return &*matrix.measure;
    }
  }
  return nullptr;
}

/// In all that is written of them.
bool same_samples(const RawData& a, const RawData& b) {
  return std::visit(
      [&](const auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        const Kind* other = std::get_if<Kind>(&b);
        if (other == nullptr) return false;
        if constexpr (requires { one.columns; }) {
          if (one.columns != other->columns) return false;
        }
        if constexpr (std::is_same_v<Kind, VectorData>) {
          return one.absent_is_zero == other->absent_is_zero && one.values == other->values;
        } else if constexpr (std::is_same_v<Kind, CategoryData>) {
          const bool labels = one.labels && other->labels && one.labels->ids == other->labels->ids;
          return labels && one.values == other->values;
        } else {
          return one.values == other->values;
        }
      },
      a);
}

template <std::size_t... K>
RawData nothing_of(RawKind kind, std::index_sequence<K...>) {
  RawData data;
  (void)((static_cast<std::size_t>(kind) == K && (data.emplace<K>(), true)) || ...);
  return data;
}

}  // namespace

void write_measure(ArchiveWriter& arrays, const std::string& prefix, const MeasureRule& rule,
                   std::span<const ModelMatrix> before) {
  arrays(prefix + "columns", rule.columns);
  const MeasureRule* first = first_of(before, rule.file, kind_of(rule.training));
  if (first != nullptr && same_samples(rule.training, first->training)) return;
  visit_samples(arrays, prefix, rule.training);
}

MeasureRule read_measure(ArchiveReader& arrays, const std::string& prefix,
                         const MeasureEntry& entry, const ModelRecord& record,
                         std::span<const ModelMatrix> before) {
  if (!entry.settings.is_object() || !entry.settings.contains("measure")) {
    throw broken("a measure is no JSON object with a name");
  }
  MeasureRule rule;
  rule.file = entry.file;
  settings_from_json(rule.settings, "measure", entry.settings);
  try {
    check_settings(rule.settings);
  } catch (const Error& error) {
    throw broken("its measure, {}, is refused by this version of kith: {}",
                 enum_name(rule.settings.measure), error.what());
  }
  const RawKind kind = measure_info(rule.settings.measure).data;
  arrays(prefix + "columns", rule.columns);
  const MeasureRule* first = first_of(before, rule.file, kind);
  const bool has_samples = arrays.has(prefix + "samples") || arrays.has(prefix + "samples.bytes") ||
                           arrays.has(prefix + "samples.width");
  if (first != nullptr && !has_samples) {
    rule.training = first->training;
    return rule;
  }
  rule.training = nothing_of(kind, std::make_index_sequence<std::variant_size_v<RawData>>());
  visit_samples(arrays, prefix, rule.training);
  // Messages name what was read, and what a user has in hand is the model.
  std::visit([&](auto& data) { data.source = arrays.source(); }, rule.training);
  if (auto* categories = std::get_if<CategoryData>(&rule.training)) {
    categories->labels->names = record.class_names;
  }
  return rule;
}

}  // namespace kith::detail

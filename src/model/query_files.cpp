// SPDX-License-Identifier: Apache-2.0
#include "kith/model/query_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "data/formats/stream.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

using Positions = std::unordered_map<std::string_view, Index>;

Positions positions_of(std::span<const std::string> ids) {
  Positions positions;
  for (std::size_t i = 0; i < ids.size(); ++i) positions.emplace(ids[i], static_cast<Index>(i));
  return positions;
}

/// For each column the model needs, its position among `given` ids.
std::vector<Index> match_ids(const ModelRecord& record, std::span<const std::string> given,
                             const std::string& file, std::string_view what) {
  const Positions positions = positions_of(given);
  std::vector<Index> columns;
  std::vector<std::string> absent;
  for (const std::string& id : record.ids) {
    const auto at = positions.find(id);
    if (at == positions.end()) {
      absent.push_back(in_quotes(id));
    } else {
      columns.push_back(at->second);
    }
  }
  if (absent.empty()) return columns;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}: {} of the {} training samples the model needs have no {}: {}", file,
                          absent.size(), record.ids.size(), what, list_some(absent)));
}

/// The same without ids: the file has just the needed columns, those of the fit, or those given to
/// it.
std::vector<Index> match_positions(const ModelRecord& record, Index given, const std::string& file,
                                   std::string_view what) {
  std::vector<Index> columns;
  const auto needed = static_cast<Index>(record.positions.size());
  for (Index i = 0; i < needed; ++i) {
    const Index position = record.positions[static_cast<std::size_t>(i)];
    if (given == record.samples) {
      columns.push_back(position);
    } else if (given == record.given_samples) {
      columns.push_back(record.kept.empty() ? position
                                            : record.kept[static_cast<std::size_t>(position)]);
    } else if (given == needed) {
      columns.push_back(i);
    } else {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: {} {}s; without ids there must be {}, one per training sample{}",
                              file, given, what, record.given_samples,
                              needed == record.samples
                                  ? ""
                                  : fmt::format(", or the {} that the model needs", needed)));
    }
  }
  return columns;
}

std::vector<Index> match_columns(const ModelRecord& record, std::span<const std::string> ids,
                                 Index given, const std::string& file, std::string_view what) {
  if (!ids.empty() && !record.ids.empty()) return match_ids(record, ids, file, what);
  return match_positions(record, given, file, what);
}

/// A sparse table over the model's columns in the model's order. A training sample that no query
/// lists is no error here: its pairs are absent like any other.
SparseBlock over_model_columns(const ModelRecord& record, const SimilaritySet& set) {
  const auto& given = std::get<SparseBlock>(set.block);
  std::vector<std::int32_t> to_model(static_cast<std::size_t>(given.cols), -1);
  if (!set.column_ids.empty() && !record.ids.empty()) {
    const Positions positions = positions_of(record.ids);
    for (std::size_t j = 0; j < set.column_ids.size(); ++j) {
      const auto at = positions.find(set.column_ids[j]);
      if (at != positions.end()) to_model[j] = static_cast<std::int32_t>(at->second);
    }
  } else {
    const std::vector<Index> columns = match_positions(record, given.cols, set.source, "column");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      to_model[static_cast<std::size_t>(columns[i])] = static_cast<std::int32_t>(i);
    }
  }
  SparseBlock block;
  block.cols = static_cast<Index>(record.positions.size());
  block.absent = given.absent;
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::size_t i = 0; i + 1 < given.starts.size(); ++i) {
    row.clear();
    for (auto at = static_cast<std::size_t>(given.starts[i]);
         at < static_cast<std::size_t>(given.starts[i + 1]); ++at) {
      const std::int32_t column = to_model[static_cast<std::size_t>(given.columns[at])];
      if (column >= 0) row.emplace_back(column, given.values[at]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      block.columns.push_back(column);
      block.values.push_back(value);
    }
    block.starts.push_back(static_cast<std::int64_t>(block.values.size()));
  }
  return block;
}

/// Rows begin .. begin+count-1.
SparseBlock rows_of(const SparseBlock& block, Index begin, Index count) {
  SparseBlock part;
  part.cols = block.cols;
  part.absent = block.absent;
  const std::int64_t first = block.starts[static_cast<std::size_t>(begin)];
  const std::int64_t last = block.starts[static_cast<std::size_t>(begin + count)];
  part.columns.assign(block.columns.begin() + first, block.columns.begin() + last);
  part.values.assign(block.values.begin() + first, block.values.begin() + last);
  for (Index i = 1; i <= count; ++i) {
    part.starts.push_back(block.starts[static_cast<std::size_t>(begin + i)] - first);
  }
  return part;
}

/// Numbers per query: in order, or by id.
struct SelfFile {
  std::string path;
  std::vector<double> values;
  std::vector<std::string> ids;
  Positions positions;
};

SelfFile read_self(const std::string& path) {
  SelfFile file{.path = path, .values = {}, .ids = {}, .positions = {}};
  detail::ByteSource source = detail::ByteSource::open(path);
  detail::LineReader lines(source);
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) file.ids.emplace_back(trim(line.substr(0, tab)));
    const std::string_view number =
        trim(tab == std::string_view::npos ? line : line.substr(tab + 1));
    const auto value = parse_double(number);
    if (!value || !any_number().contains(*value)) {
      throw bad_input(lines.place(),
                      fmt::format("{} is no finite number; a line is a self-similarity, or "
                                  "id<TAB>self-similarity",
                                  in_quotes(number)));
    }
    file.values.push_back(*value);
  }
  if (!file.ids.empty() && file.ids.size() != file.values.size()) {
    throw Error(ErrorCode::kBadInput,
                path + ": some lines have an id and some have none; all or none must");
  }
  file.positions = positions_of(file.ids);
  if (file.positions.size() != file.ids.size()) {
    throw Error(ErrorCode::kBadInput, path + ": an id stands there more than once");
  }
  return file;
}

}  // namespace

std::vector<QueryNames> names_of(const QueryFiles& files, const QueryChunk& chunk,
                                 const ModelRecord& record) {
  std::vector<QueryNames> names;
  for (std::size_t m = 0; m < files.to_training.size(); ++m) {
    names.push_back({.source = files.to_training[m],
                     .from_source = m < files.from_training.size()
                                        ? std::string_view(files.from_training[m])
                                        : std::string_view(),
                     .queries = chunk.ids,
                     .samples = record.ids,
                     .positions = record.positions});
  }
  return names;
}

struct QueryReader::Impl {
  struct Input {
    std::string path;
    std::unique_ptr<RowReader> rows;
    std::vector<Index> columns;
    std::optional<RowMatrix> from;  // queries x needed columns
    std::string from_path;
    std::vector<std::string> from_ids;
    Positions from_positions;
    std::vector<double> buffer;
    std::optional<SparseBlock> sparse;  // the whole table, over the model's columns
  };
  std::vector<Input> inputs;
  std::optional<SelfFile> self;
  Index done = 0;

  void add(const ModelRecord& record, const std::string& path, const ReadSettings& read,
           const RunContext& ctx) {
    Input input;
    input.path = path;
    input.rows = open_rows(path, read, ctx);
    const SimilaritySet* whole = input.rows->whole();
    if (record.matrices.size() == 1 && whole != nullptr && is_sparse(whole->block)) {
      input.sparse = over_model_columns(record, *whole);
      inputs.push_back(std::move(input));
      return;
    }
    input.columns =
        match_columns(record, input.rows->column_ids(), input.rows->cols(), path, "column");
    input.buffer.resize(static_cast<std::size_t>(input.rows->cols()));
    inputs.push_back(std::move(input));
  }

  /// Training samples x queries, turned round. Held whole: its rows are not the queries.
  static void add_from(Input& input, const ModelRecord& record, const std::string& path,
                       const ReadSettings& read, const RunContext& ctx) {
    const SimilaritySet set = read_similarity(path, read, ctx);
    const std::vector<Index> rows = match_columns(record, set.row_ids, set.rows(), path, "row");
    const DenseBlock block = to_dense(set.block);
    input.from = block.values()(rows, Eigen::all).transpose();
    input.from_path = path;
    input.from_ids = set.column_ids;
    input.from_positions = positions_of(input.from_ids);
  }

  [[nodiscard]] QueryChunk next_sparse(Index most_rows) {
    const Input& input = inputs.front();
    const std::vector<std::string>& ids = input.rows->whole()->row_ids;
    const Index count = std::min(most_rows, input.sparse->rows() - done);
    QueryChunk chunk;
    QueryMatrix matrix;
    matrix.to_training = rows_of(*input.sparse, done, count);
    RowMatrix from(input.from ? count : 0, input.sparse->cols);
    Vector psi(self ? count : 0);
    for (Index i = 0; i < count; ++i, ++done) {
      const std::string id =
          ids.empty() ? std::to_string(done + 1) : ids[static_cast<std::size_t>(done)];
      if (input.from) {
        from.row(i) = input.from->row(
            place_of(id, !ids.empty(), input.from_positions, input.from->rows(), input.from_path));
      }
      if (self) {
        psi(i) = self->values[static_cast<std::size_t>(
            place_of(id, !ids.empty(), self->positions, static_cast<Index>(self->values.size()),
                     self->path))];
      }
      chunk.ids.push_back(id);
    }
    if (input.from) matrix.from_training = DenseBlock(std::move(from));
    if (self) matrix.self = psi;
    chunk.queries.matrices.push_back(std::move(matrix));
    if (done == input.sparse->rows()) check_end();
    return chunk;
  }

  /// At the end of the queries: what is known by position must not go on.
  void check_end() const {
    if (self && self->ids.empty() && static_cast<Index>(self->values.size()) != done) {
      throw Error(ErrorCode::kBadInput, fmt::format("{}: {} self-similarities for {} queries",
                                                    self->path, self->values.size(), done));
    }
  }

  /// The row of `from` or the entry of `self` that belongs to query `done`.
  [[nodiscard]] Index place_of(const std::string& id, bool has_id, const Positions& positions,
                               Index count, const std::string& file) const {
    if (has_id && !positions.empty()) {
      const auto at = positions.find(id);
      if (at != positions.end()) return at->second;
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: there is nothing for query {}", file, in_quotes(id)));
    }
    if (done < count) return done;
    throw Error(ErrorCode::kBadInput, fmt::format("{}: there are {} queries here and more in {}",
                                                  file, count, inputs.front().path));
  }
};

QueryReader::QueryReader(const ModelRecord& record, const QueryFiles& files, const RunContext& ctx)
    : impl_(std::make_unique<Impl>()) {
  if (files.to_training.size() != record.matrices.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} files of new rows; the model was trained on {} matri{}",
                            files.to_training.size(), record.matrices.size(),
                            record.matrices.size() == 1 ? "x" : "ces"));
  }
  if (record.matrices.front().rule.kind != files.kind) {
    const bool distances = record.matrices.front().rule.kind == PairKind::kDistance;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model was trained on {}: give new rows with {}",
                            distances ? "distances" : "similarities",
                            distances ? "--distance" : "--similarity"));
  }
  if (!files.from_training.empty() && files.from_training.size() != files.to_training.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} files from training to query for {} from query to training",
                            files.from_training.size(), files.to_training.size()));
  }
  for (const std::string& path : files.to_training) impl_->add(record, path, files.read, ctx);
  for (std::size_t m = 0; m < files.from_training.size(); ++m) {
    Impl::add_from(impl_->inputs[m], record, files.from_training[m], files.read, ctx);
  }
  if (!files.self.empty()) impl_->self = read_self(files.self);
}

QueryReader::~QueryReader() = default;

QueryChunk QueryReader::next(Index most_rows) {
  if (impl_->inputs.front().sparse) return impl_->next_sparse(most_rows);
  QueryChunk chunk;
  std::vector<RowMatrix> to(impl_->inputs.size());
  std::vector<RowMatrix> from(impl_->inputs.size());
  std::vector<double> self;
  for (std::size_t m = 0; m < to.size(); ++m) {
    to[m].resize(most_rows, static_cast<Index>(impl_->inputs[m].columns.size()));
    if (impl_->inputs[m].from) from[m].resize(most_rows, to[m].cols());
  }
  Index count = 0;
  for (; count < most_rows; ++count, ++impl_->done) {
    std::string id;
    bool ended = false;
    for (std::size_t m = 0; m < to.size(); ++m) {
      Impl::Input& input = impl_->inputs[m];
      std::string own;
      const bool more = input.rows->next(input.buffer, own);
      if (m == 0) {
        id = own;
        ended = !more;
      } else if (more == ended || own != id) {
        throw Error(
            ErrorCode::kBadInput,
            fmt::format("{}: query {} is {}, where {} has {}; every matrix must hold the same "
                        "queries in the same order",
                        input.path, impl_->done + 1, more ? in_quotes(own) : "absent",
                        impl_->inputs.front().path, ended ? "none" : in_quotes(id)));
      }
      if (ended) continue;
      for (std::size_t j = 0; j < input.columns.size(); ++j) {
        to[m](count, static_cast<Index>(j)) =
            input.buffer[static_cast<std::size_t>(input.columns[j])];
      }
    }
    if (ended) {
      impl_->check_end();
      break;
    }
    const bool has_id = impl_->inputs.front().rows->has_row_ids();
    for (std::size_t m = 0; m < to.size(); ++m) {
      Impl::Input& input = impl_->inputs[m];
      if (!input.from) continue;
      from[m].row(count) = input.from->row(
          impl_->place_of(id, has_id, input.from_positions, input.from->rows(), input.from_path));
    }
    if (impl_->self) {
      const SelfFile& file = *impl_->self;
      const Index at = impl_->place_of(id, has_id, file.positions,
                                       static_cast<Index>(file.values.size()), file.path);
      self.push_back(file.values[static_cast<std::size_t>(at)]);
    }
    chunk.ids.push_back(has_id ? id : std::to_string(impl_->done + 1));
  }
  for (std::size_t m = 0; m < to.size(); ++m) {
    QueryMatrix matrix;
    matrix.to_training = DenseBlock(RowMatrix(to[m].topRows(count)));
    if (impl_->inputs[m].from) matrix.from_training = DenseBlock(RowMatrix(from[m].topRows(count)));
    if (impl_->self) matrix.self = Eigen::Map<const Vector>(self.data(), count);
    chunk.queries.matrices.push_back(std::move(matrix));
  }
  return chunk;
}

}  // namespace kith

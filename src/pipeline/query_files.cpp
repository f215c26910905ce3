// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/query_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/errors.hpp"
#include "data/formats/stream.hpp"
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
  throw broken("{}: {} of the {} training samples the model needs have no {}: {}", file,
               absent.size(), record.ids.size(), what, list_some(absent));
}

/// The same without ids: the file has the columns of the fit, those given to it, or just the needed
/// ones.
std::vector<Index> match_positions(const ModelRecord& record, Index given, const std::string& file,
                                   std::string_view what) {
  const Index needed = std::ssize(record.positions);
  if (given == record.samples) return record.positions;
  if (given == record.given_samples) {
    std::vector<Index> columns;
    for (const Index i : record.positions) {
      columns.push_back(record.kept[static_cast<std::size_t>(i)]);
    }
    return columns;
  }
  if (given == needed) return all_positions(needed);
  throw broken(
      "{}: {} {}s; without ids there must be {}, one per training sample{}", file, given, what,
      record.given_samples,
      needed == record.samples ? "" : fmt::format(", or the {} that the model needs", needed));
}

std::vector<Index> match_columns(const ModelRecord& record, std::span<const std::string> ids,
                                 Index given, const std::string& file, std::string_view what) {
  if (!ids.empty() && !record.ids.empty()) return match_ids(record, ids, file, what);
  return match_positions(record, given, file, what);
}

/// The ids and the number of one side of a table.
struct Side {
  std::span<const std::string> ids;
  Index count = 0;
};

bool fits(const ModelRecord& record, const Side& side) {
  if (side.ids.empty() || record.ids.empty()) {
    return side.count == record.samples || side.count == record.given_samples ||
           side.count == std::ssize(record.positions);
  }
  const Positions positions = positions_of(side.ids);
  return std::ranges::all_of(record.ids,
                             [&](const std::string& id) { return positions.contains(id); });
}

/// A refusal that says what mends it, where the training samples are on the other side of the
/// table.
[[noreturn]] void refuse_columns(const Error& error, const ModelRecord& record, const Side& other,
                                 std::string_view where) {
  if (!fits(record, other)) throw error;
  throw Error(
      error.code(),
      fmt::format("{}. Its {} are the training samples: [[transpose]] lets rows and columns "
                  "change places",
                  error.what(), where));
}

/// Those of the rows that have not been read yet.
Side rest_of(RowReader& rows, std::vector<std::string>& ids) {
  Side side;
  std::vector<double> row(static_cast<std::size_t>(rows.cols()));
  std::string id;
  while (rows.next(row, id)) {
    ++side.count;
    if (rows.has_row_ids()) ids.push_back(id);
  }
  side.ids = ids;
  return side;
}

bool has_any(const Positions& positions, std::span<const std::string> ids) {
  return std::ranges::any_of(ids, [&](const std::string& id) { return positions.contains(id); });
}

/// Pairs with samples that the model does not know would all be left out.
void check_some_column_known(const SimilaritySet& set, const Positions& known) {
  if (has_any(known, set.column_ids)) return;
  throw broken("{}: none of its {} columns is a training sample of the model: {}{}", set.source,
               set.column_ids.size(), list_some(set.column_ids),
               has_any(known, set.row_ids)
                   ? ". Some of its rows are: [[transpose]] lets rows and columns change places"
                   : "");
}

/// A sparse table over the model's columns in the model's order. A training sample that no query
/// lists is no error here: its pairs are absent like any other.
Block over_model_columns(const ModelRecord& record, const SimilaritySet& set) {
  const auto& given = std::get<SparseBlock>(set.block);
  std::vector<std::int32_t> to_model(static_cast<std::size_t>(given.cols), -1);
  if (!set.column_ids.empty() && !record.ids.empty()) {
    const Positions positions = positions_of(record.ids);
    check_some_column_known(set, positions);
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
  SparseBlock block = given.without_rows();
  block.cols = static_cast<Index>(record.positions.size());
  std::vector<std::pair<std::int32_t, double>> row;
  for (Index i = 0; i < given.rows(); ++i) {
    const SparseRow listed = given.row(i);
    row.clear();
    for (std::size_t e = 0; e < listed.size(); ++e) {
      const std::int32_t column = to_model[static_cast<std::size_t>(listed.columns[e])];
      if (column >= 0) row.emplace_back(column, listed.values[e]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) block.add(column, value);
    block.end_row();
  }
  return block;
}

/// Rows begin .. begin+count-1.
Block rows_of(const Block& block, Index begin, Index count) {
  std::vector<Index> rows = all_positions(count);
  for (Index& row : rows) row += begin;
  return select_rows(block, rows);
}

std::string names_of_matrices(const ModelRecord& record) {
  std::vector<std::string> names;
  for (const ModelMatrix& matrix : record.matrices) names.push_back(in_quotes(matrix.name));
  return list_some(names, 20);
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
                      "{} is no finite number; a line is a self-similarity, or "
                      "id<TAB>self-similarity",
                      in_quotes(number));
    }
    file.values.push_back(*value);
  }
  if (!file.ids.empty() && file.ids.size() != file.values.size()) {
    throw broken("{}: some lines have an id and some have none; all or none must", path);
  }
  file.positions = positions_of(file.ids);
  if (file.positions.size() != file.ids.size()) {
    throw broken("{}: an id stands there more than once", path);
  }
  return file;
}

}  // namespace

std::vector<Index> files_by_matrix(const ModelRecord& record, std::span<const NamedFile> files,
                                   std::string_view flag) {
  const auto named = std::count_if(files.begin(), files.end(),
                                   [](const NamedFile& file) { return !file.name.empty(); });
  if (named != 0 && named != std::ssize(files)) {
    throw invalid("some files of {} have a name and some have none; all or none must", flag);
  }
  if (named == 0) {
    if (files.size() == record.matrices.size()) return all_positions(std::ssize(files));
    throw invalid("{} file{} of {}; the model was trained on {} matri{}: {}", files.size(),
                  files.size() == 1 ? "" : "s", flag, record.matrices.size(),
                  record.matrices.size() == 1 ? "x" : "ces", names_of_matrices(record));
  }
  std::vector<Index> chosen(record.matrices.size(), -1);
  for (std::size_t f = 0; f < files.size(); ++f) {
    const auto matrix =
        std::find_if(record.matrices.begin(), record.matrices.end(),
                     [&](const ModelMatrix& one) { return one.name == files[f].name; });
    if (matrix == record.matrices.end()) {
      throw invalid("{}: the model has no matrix {}; it has {}", flag, in_quotes(files[f].name),
                    names_of_matrices(record));
    }
    Index& at = chosen[static_cast<std::size_t>(matrix - record.matrices.begin())];
    if (at >= 0) throw invalid("{}: two files for matrix {}", flag, in_quotes(files[f].name));
    at = static_cast<Index>(f);
  }
  return chosen;
}

std::vector<QueryNames> names_of(const QueryFiles& files, const QueryChunk& chunk,
                                 const ModelRecord& record) {
  std::vector<QueryNames> names;
  for (const QueryFile& file : files.matrices) {
    names.push_back({.source = file.to_training,
                     .from_source = file.from_training,
                     .queries = chunk.ids,
                     .samples = record.ids,
                     .positions = record.positions});
  }
  return names;
}

namespace {

/// The new rows of one matrix.
struct Input {
  std::string path;
  std::unique_ptr<RowReader> rows;
  std::vector<Index> columns;
  std::optional<RowMatrix> from;  // queries x needed columns
  std::string from_path;
  std::vector<std::string> from_ids;
  Positions from_positions;
  std::optional<SelfFile> self;
  std::vector<double> buffer;
  std::optional<Block> sparse;  // the whole table, over the model's columns
  Index sparse_row = 0;
  std::unordered_map<std::string, Vector> waiting;  // rows that came before their turn

  Input(const ModelRecord& record, const QueryFile& file, const ReadSettings& read,
        const RunContext& ctx)
      : path(file.to_training), rows(open_rows(file.to_training, read, ctx)) {
    const SimilaritySet* whole = rows->whole();
    if (whole != nullptr && is_sparse(whole->block)) {
      sparse = over_model_columns(record, *whole);
    } else {
      find_columns(record);
      buffer.resize(static_cast<std::size_t>(rows->cols()));
    }
    if (!file.from_training.empty()) read_from(record, file.from_training, read, ctx);
    if (!file.self.empty()) self = read_self(file.self);
  }

  void find_columns(const ModelRecord& record) {
    try {
      columns = match_columns(record, rows->column_ids(), rows->cols(), path, "column");
    } catch (const Error& error) {
      std::vector<std::string> ids;
      refuse_columns(error, record, rest_of(*rows, ids), "rows");
    }
  }

  /// Training samples x queries, turned round. Held whole: its rows are not the queries.
  void read_from(const ModelRecord& record, const std::string& file, const ReadSettings& read,
                 const RunContext& ctx) {
    const SimilaritySet set = read_similarity(file, read, ctx);
    const std::vector<Index> at = [&] {
      try {
        return match_columns(record, set.row_ids, set.rows(), file, "row");
      } catch (const Error& error) {
        refuse_columns(error, record, {set.column_ids, set.cols()}, "columns");
      }
    }();
    const DenseBlock block = to_dense(set.block);
    from = block.values()(at, Eigen::all).transpose();
    from_path = file;
    from_ids = set.column_ids;
    from_positions = positions_of(from_ids);
  }

  [[nodiscard]] Index width() const {
    return sparse ? cols(*sparse) : static_cast<Index>(columns.size());
  }

  /// The next row over the model's columns; false at the end.
  [[nodiscard]] bool next(Vector& row, std::string& id) {
    row.resize(width());
    if (sparse) {
      if (sparse_row == kith::rows(*sparse)) return false;
      const std::vector<std::string>& ids = rows->whole()->row_ids;
      id = ids.empty() ? "" : ids[static_cast<std::size_t>(sparse_row)];
      const DenseBlock one = to_dense(rows_of(*sparse, sparse_row++, 1));
      row = one.values().row(0);
      return true;
    }
    if (!rows->next(buffer, id)) return false;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      row[static_cast<Index>(j)] = buffer[static_cast<std::size_t>(columns[j])];
    }
    return true;
  }

  /// The row of query `id`, the `position`th from 1 in the file `first`.
  void find(const std::string& id, bool by_id, Index position, const std::string& first,
            Vector& row) {
    if (const auto at = waiting.find(id); by_id && at != waiting.end()) {
      row = std::move(at->second);
      waiting.erase(at);
      return;
    }
    std::string own;
    while (next(row, own)) {
      if (!by_id || own == id) return;
      waiting.emplace(own, row);
    }
    throw broken(
        "{}: there is no row for query {}, which {} has; every matrix must "
        "hold the same queries",
        path, by_id ? in_quotes(id) : std::to_string(position), first);
  }

  /// After the last query of the file `first`.
  void check_rows_end(const std::string& first) {
    Vector row;
    std::string own;
    const bool more = next(row, own);
    if (waiting.empty() && !more) return;
    const std::string extra = waiting.empty() ? own : waiting.begin()->first;
    throw broken("{}: {} is not in {}; every matrix must hold the same queries", path,
                 extra.empty() ? "a further query" : "query " + in_quotes(extra), first);
  }
};

/// The row of `from` or the entry of `self` that belongs to query number `done`.
Index place_of(const std::string& id, bool has_id, Index done, const Positions& positions,
               Index count, const std::string& file, const std::string& queries) {
  if (has_id && !positions.empty()) {
    const auto at = positions.find(id);
    if (at != positions.end()) return at->second;
    throw broken("{}: there is nothing for query {}", file, in_quotes(id));
  }
  if (done < count) return done;
  throw broken("{}: there are {} queries here and more in {}", file, count, queries);
}

/// Rows of one matrix while a chunk grows.
struct Growing {
  RowMatrix to;
  RowMatrix from;
  Vector self;

  Growing(const Input& input, Index most, bool keeps_rows)
      : to(keeps_rows ? most : 0, input.width()),
        from(input.from ? most : 0, input.width()),
        self(input.self ? most : 0) {}

  /// What is known of the query beside its row.
  void add(const Input& input, const std::string& id, bool has_id, Index done, Index at) {
    if (input.from) {
      from.row(at) = input.from->row(place_of(id, has_id, done, input.from_positions,
                                              input.from->rows(), input.from_path, input.path));
    }
    if (input.self) {
      const SelfFile& file = *input.self;
      self[at] = file.values[static_cast<std::size_t>(place_of(
          id, has_id, done, file.positions, std::ssize(file.values), file.path, input.path))];
    }
  }

  [[nodiscard]] QueryMatrix finish(const Input& input, Block rows, Index count) {
    QueryMatrix matrix;
    matrix.to_training = std::move(rows);
    if (input.from) matrix.from_training = DenseBlock(RowMatrix(from.topRows(count)));
    if (input.self) matrix.self = self.head(count);
    return matrix;
  }
};

}  // namespace

struct QueryReader::Impl {
  std::vector<Input> inputs;
  Index done = 0;

  [[nodiscard]] bool has_ids(std::size_t m) const { return inputs[m].rows->has_row_ids(); }

  /// One sparse table stays sparse.
  [[nodiscard]] QueryChunk next_sparse(Index most_rows) {
    Input& input = inputs.front();
    const std::vector<std::string>& ids = input.rows->whole()->row_ids;
    const Index all = rows(*input.sparse);
    const Index count = std::min(most_rows, all - done);
    QueryChunk chunk;
    Growing growing(input, count, false);
    Block part = rows_of(*input.sparse, done, count);
    for (Index i = 0; i < count; ++i, ++done) {
      const std::string id =
          ids.empty() ? std::to_string(done + 1) : ids[static_cast<std::size_t>(done)];
      growing.add(input, id, !ids.empty(), done, i);
      chunk.ids.push_back(id);
    }
    chunk.queries.matrices.push_back(growing.finish(input, std::move(part), count));
    if (done == all) check_self_end();
    return chunk;
  }

  /// One row of every matrix; false at the end.
  [[nodiscard]] bool next_row(std::vector<Growing>& growing, Index at, std::string& id) {
    Vector row;
    std::string own;
    if (!inputs.front().next(row, own)) {
      for (std::size_t m = 1; m < inputs.size(); ++m) {
        inputs[m].check_rows_end(inputs.front().path);
      }
      check_self_end();
      return false;
    }
    for (std::size_t m = 0; m < inputs.size(); ++m) {
      const bool by_id = has_ids(0) && has_ids(m);
      if (m > 0) inputs[m].find(own, by_id, done + 1, inputs.front().path, row);
      growing[m].to.row(at) = row;
      growing[m].add(inputs[m], own, has_ids(0), done, at);
    }
    id = has_ids(0) ? own : std::to_string(done + 1);
    ++done;
    return true;
  }

  /// At the end of the queries: what is known by position must not go on.
  void check_self_end() const {
    for (const Input& input : inputs) {
      if (!input.self || !input.self->ids.empty() || std::ssize(input.self->values) == done) {
        continue;
      }
      throw broken("{}: {} self-similarities for {} queries", input.self->path,
                   input.self->values.size(), done);
    }
  }
};

QueryReader::QueryReader(const ModelRecord& record, const QueryFiles& files, const RunContext& ctx)
    : impl_(std::make_unique<Impl>()) {
  if (files.matrices.size() != record.matrices.size()) {
    throw invalid("{} files of new rows; the model was trained on {} matri{}",
                  files.matrices.size(), record.matrices.size(),
                  record.matrices.size() == 1 ? "x" : "ces");
  }
  for (std::size_t m = 0; m < files.matrices.size(); ++m) {
    const bool distances = record.matrices[m].rule.kind == PairKind::kDistance;
    if (record.matrices[m].rule.kind != files.matrices[m].kind) {
      throw invalid("the model was trained on {}: give new rows with {}",
                    distances ? "distances" : "similarities",
                    distances ? "[[distance]]" : "[[similarity]]");
    }
    impl_->inputs.emplace_back(record, files.matrices[m], files.read, ctx);
  }
}

QueryReader::~QueryReader() = default;

QueryChunk QueryReader::next(Index most_rows) {
  if (impl_->inputs.size() == 1 && impl_->inputs.front().sparse) {
    return impl_->next_sparse(most_rows);
  }
  QueryChunk chunk;
  std::vector<Growing> growing;
  for (const Input& input : impl_->inputs) growing.emplace_back(input, most_rows, true);
  std::string id;
  Index count = 0;
  for (; count < most_rows && impl_->next_row(growing, count, id); ++count) {
    chunk.ids.push_back(id);
  }
  for (std::size_t m = 0; m < growing.size(); ++m) {
    chunk.queries.matrices.push_back(growing[m].finish(
        impl_->inputs[m], DenseBlock(RowMatrix(growing[m].to.topRows(count))), count));
  }
  return chunk;
}

}  // namespace kith

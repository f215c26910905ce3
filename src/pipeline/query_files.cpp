// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/query_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/errors.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

/// For each column the model needs, its position among `given` ids.
std::vector<Index> match_columns(const ModelRecord& record, std::span<const std::string> given,
                                 const std::string& file, std::string_view what) {
  MatchedIds matched = match_ids(record.ids, positions_of(given));
  if (matched.unknown.empty()) return std::move(matched.positions);
  throw broken("{}: {} of the {} training samples the model needs have no {}: {}", file,
               matched.unknown.size(), record.ids.size(), what, list_some(matched.unknown));
}

/// The same without ids: the file has the columns of the fit, those given to it, or just the needed
/// ones.
std::vector<Index> match_positions(const ModelRecord& record, Index given, const std::string& file,
                                   std::string_view what) {
  const Index needed = std::ssize(record.positions);
  if (given == record.samples) return record.positions;
  if (given == record.given_samples) return values_at(record.kept, record.positions);
  if (given == needed) return all_positions(needed);
  throw broken(
      "{}: {} {}s; without ids there must be {}, one per training sample{}", file, given, what,
      record.given_samples,
      needed == record.samples ? "" : fmt::format(", or the {} that the model needs", needed));
}

std::vector<Index> match_columns(const ModelRecord& record, std::span<const std::string> ids,
                                 Index given, const std::string& file, std::string_view what) {
  if (!ids.empty() && !record.ids.empty()) return match_columns(record, ids, file, what);
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
  return match_ids(record.ids, positions_of(side.ids)).unknown.empty();
}

/// How the side of a table is turned that is on the wrong one.
enum class Turn {
  kAsked,     ///< by asking for it
  kNotAsked,  ///< by asking for it no longer
  kAlone,     ///< by turning this file: the other one would be wrong then
};
Turn turn_of(const ReadSettings& read, bool is_alone) {
  if (!is_alone) return Turn::kAlone;
  return read.transpose ? Turn::kNotAsked : Turn::kAsked;
}

/// A refusal that says what mends it, where the training samples are on the other side of the
/// table.
[[noreturn]] void refuse_columns(const Error& error, const ModelRecord& record, const Side& other,
                                 std::string_view where, Turn turn) {
  if (!fits(record, other)) throw error;
  std::string mend = "[[transpose]] lets rows and columns change places";
  if (turn == Turn::kNotAsked) {
    mend = "they would be on the right side without [[transpose]], which turned them";
  } else if (turn == Turn::kAlone) {
    mend =
        "[[transpose]] would turn the other file as well, so write this one with rows and columns "
        "exchanged";
  }
  throw Error(error.code(),
              fmt::format("{}. Its {} are the training samples: {}", error.what(), where, mend));
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

/// Whether row i has a value.
bool has_values(const Block& block, Index i) {
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) return sparse->row(i).size() > 0;
  return std::ranges::any_of(std::get<DenseBlock>(block).row(i),
                             [](double value) { return !std::isnan(value); });
}

/// Pairs with samples that the model does not know would all be left out.
void check_some_column_known(const SimilaritySet& set, const Positions& known, Turn turn) {
  if (!match_ids(set.column_ids, known).positions.empty()) return;
  throw broken("{}: none of its {} columns is a training sample of the model: {}{}", set.source,
               set.column_ids.size(), list_some(set.column_ids),
               match_ids(set.row_ids, known).positions.empty() ? ""
               : turn == Turn::kNotAsked
                   ? ". Some of its rows are, and would be columns without [[transpose]]"
                   : ". Some of its rows are: [[transpose]] lets rows and columns change places");
}

/// A sparse table over the model's columns in the model's order. A training sample that no query
/// lists is no error here: its pairs are absent like any other.
Block over_model_columns(const ModelRecord& record, const SimilaritySet& set, Turn turn) {
  Block table = set.block;
  auto& given = std::get<SparseBlock>(table);
  std::vector<Index> columns;
  if (set.column_ids.empty() || record.ids.empty()) {
    columns = match_positions(record, given.cols, set.source, "column");
  } else {
    check_some_column_known(set, positions_of(record.ids), turn);
    const Index unlisted = given.cols++;  // a column without entries, for all such samples
    const Positions positions = positions_of(set.column_ids);
    for (const std::string& id : record.ids) {
      const auto at = positions.find(id);
      columns.push_back(at == positions.end() ? unlisted : at->second);
    }
  }
  return select(table, all_positions(given.rows()), columns);
}

std::vector<std::string> without_repeats(std::span<const std::string> ids) {
  std::vector<std::string> distinct;
  std::unordered_set<std::string_view> seen;
  for (const std::string& id : ids) {
    if (seen.insert(id).second) distinct.push_back(id);
  }
  return distinct;
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

/// What a file says of each query beside its row: by id where both have ids, else in order.
struct PerQuery {
  std::string path;
  RowMatrix values;  // a row per query
  std::vector<std::string> ids;
  Positions positions;  // of the ids
  /// Of a list of pairs: what a query has that it lacks.
  std::optional<double> absent{};

  PerQuery(std::string file, RowMatrix rows, std::vector<std::string> row_ids)
      : path(std::move(file)),
        values(std::move(rows)),
        ids(std::move(row_ids)),
        positions(positions_of(ids)) {}

  /// Of query number `number`, whose id is empty where it has none; `queries` is its file.
  [[nodiscard]] Vector row_of(const std::string& id, Index number,
                              const std::string& queries) const {
    if (!id.empty() && !ids.empty()) {
      const auto at = positions.find(id);
      if (at != positions.end()) return values.row(at->second);
      if (absent) return Vector::Constant(values.cols(), *absent);
      throw broken("{}: there is nothing for query {}", path, in_quotes(id));
    }
    if (number < values.rows()) return values.row(number);
    throw broken("{}: there are {} queries here and more in {}", path, values.rows(), queries);
  }
};

PerQuery read_self(const std::string& path) {
  std::vector<double> values;
  std::vector<std::string> ids;
  detail::ByteSource source = detail::ByteSource::open(path);
  detail::LineReader lines(source);
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) ids.emplace_back(trim(line.substr(0, tab)));
    const std::string_view number =
        trim(tab == std::string_view::npos ? line : line.substr(tab + 1));
    const auto value = parse_double(number);
    if (!value || !any_number().contains(*value)) {
      throw bad_input(lines.place(),
                      "{} is no finite number; a line is a self-similarity, or "
                      "id<TAB>self-similarity",
                      in_quotes(number));
    }
    values.push_back(*value);
  }
  if (!ids.empty() && ids.size() != values.size()) {
    throw broken("{}: some lines have an id and some have none; all or none must", path);
  }
  PerQuery self(path, Eigen::Map<const Vector>(values.data(), std::ssize(values)), std::move(ids));
  if (self.positions.size() != self.ids.size()) {
    throw broken("{}: an id stands there more than once", path);
  }
  return self;
}

/// Training samples x queries, turned round. Held whole: its rows are not the queries.
PerQuery read_from(const ModelRecord& record, const std::string& path, const ReadSettings& read,
                   const RunContext& ctx) {
  SimilaritySet set = read_similarity(path, read, ctx);
  const std::vector<Index> at = [&] {
    try {
      return match_columns(record, set.row_ids, set.rows(), path, "row");
    } catch (const Error& error) {
      refuse_columns(error, record, {set.column_ids, set.cols()}, "columns", turn_of(read, false));
    }
  }();
  PerQuery from(path, to_dense(set.block).values()(at, Eigen::all).transpose(),
                std::move(set.column_ids));
  if (const auto* sparse = std::get_if<SparseBlock>(&set.block); sparse && !set.ordered) {
    from.absent = sparse->absent_value();
  }
  return from;
}

}  // namespace

std::vector<Index> files_by_matrix(const ModelRecord& record, std::span<const NamedFile> files,
                                   std::string_view source) {
  const auto named = std::count_if(files.begin(), files.end(),
                                   [](const NamedFile& file) { return !file.name.empty(); });
  if (named != 0 && named != std::ssize(files)) {
    throw invalid("some files of {} have a name and some have none; all or none must", source);
  }
  if (named == 0) {
    if (files.size() == record.matrices.size()) return all_positions(std::ssize(files));
    throw invalid("{} file{} of {}; the model was trained on {} matri{}: {}", files.size(),
                  files.size() == 1 ? "" : "s", source, record.matrices.size(),
                  record.matrices.size() == 1 ? "x" : "ces", names_of_matrices(record));
  }
  std::vector<Index> chosen(record.matrices.size(), -1);
  for (std::size_t f = 0; f < files.size(); ++f) {
    const auto matrix =
        std::find_if(record.matrices.begin(), record.matrices.end(),
                     [&](const ModelMatrix& one) { return one.name == files[f].name; });
    if (matrix == record.matrices.end()) {
      throw invalid("{}: the model has no matrix {}; it has {}", source, in_quotes(files[f].name),
                    names_of_matrices(record));
    }
    Index& at = chosen[static_cast<std::size_t>(matrix - record.matrices.begin())];
    if (at >= 0) throw invalid("{}: two files for matrix {}", source, in_quotes(files[f].name));
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

std::vector<Index> queries_without_pairs(const QueryBlock& queries) {
  std::vector<Index> without;
  if (queries.matrices.empty() || cols(queries.matrices.front().to_training) == 0) return without;
  for (Index i = 0; i < queries.size(); ++i) {
    const bool known = std::ranges::any_of(queries.matrices, [&](const QueryMatrix& matrix) {
      return has_values(matrix.to_training, i) ||
             (matrix.from_training && has_values(*matrix.from_training, i));
    });
    if (!known) without.push_back(i);
  }
  return without;
}

std::string note_without_pairs(std::span<const std::string> names, Index queries) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(in_quotes(name));
  return fmt::format(
      "{} of {} queries {} no pair with a training sample that the model needs, and {} predicted "
      "from an empty row: {}",
      names.size(), queries, names.size() == 1 ? "has" : "have", names.size() == 1 ? "is" : "are",
      list_some(quoted));
}

std::vector<std::string> possible_queries(const ModelRecord& record,
                                          std::span<const std::string> ids) {
  std::vector<std::string> queries;
  if (record.id_hashes.empty()) return queries;
  std::ranges::copy_if(ids, std::back_inserter(queries),
                       [&](const std::string& id) { return !has_training_sample(record, id); });
  return queries;
}

namespace {

/// Of a BLAST table; empty: it was none.
std::string trained_column(const ModelMatrix& matrix) {
  return matrix.given ? matrix.given->score_column : std::string();
}

/// The new rows of one matrix.
struct Input {
  std::string path;
  std::unique_ptr<RowReader> rows;
  std::vector<Index> columns;  // of the model, among those of the file
  std::vector<double> buffer;
  std::optional<Block> sparse;  // a whole sparse table, over the model's columns
  Index next_sparse = 0;
  std::vector<std::string> unlisted;  // queries that a list of pairs lacks: its last rows
  bool stays_sparse = false;  // where it is the only matrix: its rows are cut out in one piece
  std::optional<PerQuery> from;
  std::optional<PerQuery> self;
  std::unordered_map<std::string, Vector> waiting;  // rows that came before their turn

  Input(const ModelRecord& record, const QueryFile& file, const ReadSettings& read,
        const RunContext& ctx)
      : path(file.to_training), rows(open_rows(file.to_training, read, ctx)) {
    const SimilaritySet* whole = rows->whole();
    if (whole != nullptr && is_sparse(whole->block)) {
      sparse = over_model_columns(record, *whole, turn_of(read, true));
      stays_sparse = record.matrices.size() == 1;
    } else {
      find_columns(record, turn_of(read, file.from_training.empty()));
      buffer.resize(static_cast<std::size_t>(rows->cols()));
    }
    if (!file.from_training.empty()) from = read_from(record, file.from_training, read, ctx);
    if (!file.self.empty()) self = read_self(file.self);
  }

  void find_columns(const ModelRecord& record, Turn turn) {
    try {
      columns = match_columns(record, rows->column_ids(), rows->cols(), path, "column");
    } catch (const Error& error) {
      std::vector<std::string> ids;
      refuse_columns(error, record, rest_of(*rows, ids), "rows", turn);
    }
  }

  /// Throws Error where a BLAST table was read by another column than that of training.
  void check_score(std::string_view trained) const {
    const SimilaritySet* whole = rows->whole();
    if (whole == nullptr || whole->score_column.empty() || trained.empty()) return;
    if (may_be_same_score(trained, whole->score_column)) return;
    throw invalid(
        "{}: the model was trained on the column {} of a BLAST table, and [[score-column={}]] asks "
        "for another; without it new rows are read by that of training",
        path, trained, whole->score_column);
  }

  /// Pairs of ids, without an order.
  [[nodiscard]] bool is_list() const {
    const SimilaritySet* whole = rows->whole();
    return sparse && whole != nullptr && !whole->ordered;
  }
  [[nodiscard]] std::span<const std::string> listed() const { return rows->whole()->row_ids; }

  /// Queries without a pair: a list adds a row for each that it does not have.
  void add_unlisted(std::span<const std::string> ids) {
    const Positions known = positions_of(listed());
    for (const std::string& id : ids) {
      if (known.contains(id)) continue;
      std::get<SparseBlock>(*sparse).end_row();
      unlisted.push_back(id);
    }
  }

  [[nodiscard]] std::string sparse_id(Index row) const {
    const std::span<const std::string> ids = listed();
    if (ids.empty()) return {};
    const auto at = static_cast<std::size_t>(row);
    return at < ids.size() ? ids[at] : unlisted[at - ids.size()];
  }

  [[nodiscard]] Index width() const { return sparse ? cols(*sparse) : std::ssize(columns); }

  /// The next row over the model's columns, empty where it stays sparse, and its id, empty where
  /// there are none; false at the end.
  [[nodiscard]] bool next(Vector& row, std::string& id) {
    if (!sparse) {
      if (!rows->next(buffer, id)) return false;
      row = Eigen::Map<const Vector>(buffer.data(), std::ssize(buffer))(columns);
      return true;
    }
    if (next_sparse == kith::rows(*sparse)) return false;
    id = sparse_id(next_sparse);
    if (!stays_sparse) row = to_dense(rows_of(*sparse, next_sparse, 1)).values().row(0);
    ++next_sparse;
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
    if (by_id && is_list()) {
      row = Vector::Constant(width(), std::get<SparseBlock>(*sparse).absent_value());
      return;
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

  /// After `count` queries: what is known by position must not go on.
  void check_self_end(Index count) const {
    if (!self || !self->ids.empty() || self->values.rows() == count) return;
    throw broken("{}: {} self-similarities for {} queries", self->path, self->values.rows(), count);
  }
};

/// What is known of one matrix while a chunk grows.
struct Growing {
  RowMatrix to;
  RowMatrix from;
  Vector self;

  Growing(const Input& input, Index most)
      : to(input.stays_sparse ? 0 : most, input.width()),
        from(input.from ? most : 0, input.width()),
        self(input.self ? most : 0) {}

  /// Query number `number` as row `at`.
  void add(const Input& input, const Vector& row, const std::string& id, Index number, Index at) {
    if (!input.stays_sparse) to.row(at) = row;
    if (input.from) from.row(at) = input.from->row_of(id, number, input.path);
    if (input.self) self[at] = input.self->row_of(id, number, input.path)[0];
  }

  [[nodiscard]] QueryMatrix finish(const Input& input, Index count) const {
    QueryMatrix matrix;
    if (input.stays_sparse) {
      matrix.to_training = rows_of(*input.sparse, input.next_sparse - count, count);
    } else {
      matrix.to_training = DenseBlock(RowMatrix(to.topRows(count)));
    }
    if (input.from) matrix.from_training = DenseBlock(RowMatrix(from.topRows(count)));
    if (input.self) matrix.self = self.head(count);
    return matrix;
  }
};

}  // namespace

struct QueryReader::Impl {
  std::vector<Input> inputs;
  std::size_t lead = 0;  // whose rows are the queries
  Index done = 0;
  bool numbered = false;  // the last query had no id

  /// The queries are those of the first table of rows, in its order; of lists alone, of all of
  /// them.
  void find_lead() {
    const auto table = std::ranges::find_if_not(inputs, &Input::is_list);
    if (table != inputs.end()) lead = static_cast<std::size_t>(table - inputs.begin());
  }

  /// Lists of pairs lack queries without a pair: each gets a row for those that only another one or
  /// `expected` has.
  void complete_lists(std::span<const std::string> expected) {
    if (!inputs[lead].is_list()) return;
    std::vector<std::string> queries(expected.begin(), expected.end());
    for (std::size_t m = 0; m < inputs.size() && inputs.size() > 1; ++m) {
      const std::span<const std::string> ids = inputs[m].listed();
      queries.insert(queries.end(), ids.begin(), ids.end());
    }
    const std::vector<std::string> distinct = without_repeats(queries);
    for (Input& input : inputs) input.add_unlisted(distinct);
  }

  /// One row of every matrix; false at the end.
  [[nodiscard]] bool next_row(std::vector<Growing>& growing, std::vector<std::string>& ids) {
    Input& first = inputs[lead];
    Vector row;
    std::string id;
    if (!first.next(row, id)) {
      for (std::size_t m = 0; m < inputs.size(); ++m) {
        if (m != lead) inputs[m].check_rows_end(first.path);
      }
      for (const Input& input : inputs) input.check_self_end(done);
      return false;
    }
    growing[lead].add(first, row, id, done, std::ssize(ids));
    for (std::size_t m = 0; m < inputs.size(); ++m) {
      if (m == lead) continue;
      const bool by_id = !id.empty() && inputs[m].rows->has_row_ids();
      inputs[m].find(id, by_id, done + 1, first.path, row);
      growing[m].add(inputs[m], row, id, done, std::ssize(ids));
    }
    ++done;
    numbered = id.empty();
    ids.push_back(numbered ? std::to_string(done) : id);
    return true;
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
    const std::string trained = trained_column(record.matrices[m]);
    ReadSettings read = files.read;
    const std::string& asked = files.matrices[m].score_column;
    if (!asked.empty() || !trained.empty()) read.score_column = asked.empty() ? trained : asked;
    impl_->inputs.emplace_back(record, files.matrices[m], read, ctx);
    impl_->inputs.back().check_score(trained);
  }
  impl_->find_lead();
  impl_->complete_lists(files.expected);
}

QueryReader::~QueryReader() = default;

QueryChunk QueryReader::next(Index most_rows) {
  QueryChunk chunk;
  std::vector<Growing> growing;
  for (const Input& input : impl_->inputs) growing.emplace_back(input, most_rows);
  bool more = true;
  while (more && std::ssize(chunk.ids) < most_rows) more = impl_->next_row(growing, chunk.ids);
  for (std::size_t m = 0; m < growing.size(); ++m) {
    chunk.queries.matrices.push_back(growing[m].finish(impl_->inputs[m], std::ssize(chunk.ids)));
  }
  chunk.numbered = impl_->numbered;
  return chunk;
}

std::string_view QueryReader::unordered() const {
  const Input& first = impl_->inputs[impl_->lead];
  return first.is_list() ? std::string_view(first.path) : std::string_view();
}

}  // namespace kith

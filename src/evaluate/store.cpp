// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <utility>

#include "core/errors.hpp"
#include "evaluate/store_differences.hpp"
#include "evaluate/store_file.hpp"
#include "evaluate/store_rows.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/inputs.hpp"

namespace kith {

using detail::SqlIntent;
using detail::SqlRow;
using detail::SqlTransaction;
using detail::SqlValue;
using detail::StoredRow;

struct Store::Implementation {
  Implementation(const std::string& path, StoreAccess access, std::chrono::milliseconds patience)
      : writable(access == StoreAccess::kReadWrite),
        connection(detail::open_store(path, access, patience)) {}
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    if (!connection.read_only()) detail::settle_store(connection);
  }

  void check_writable() const;
  [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view sql, const SqlRow& parameters);
  [[nodiscard]] std::optional<SqlRow> row(std::string_view sql, const SqlRow& parameters);
  void insert(std::string_view sql, SqlRow row);
  [[nodiscard]] ExperimentRecord experiment(std::int64_t number);
  [[nodiscard]] Partition partition(std::int64_t experiment, std::int64_t number,
                                    const std::string& name);
  void insert_partitions(std::int64_t experiment, int size,
                         const std::vector<Partition>& partitions);
  [[nodiscard]] std::vector<SizedPartitions> sizes(std::int64_t experiment);
  [[nodiscard]] CandidateRecord candidate(std::int64_t number);
  void check_same(const ExperimentRecord& stored, const ExperimentRecord& now) const;
  void check_addition(const ExperimentRecord& record, NewData rule);
  void put(const UnitKey& key, std::string_view sql, SqlRow row);

  bool writable;
  std::mutex mutex;
  detail::SqlConnection connection;
};

namespace {

constexpr std::string_view kInsertExperiment =
    "INSERT INTO experiments (name, fingerprint, protocol, input, about, class_names, labels, "
    "group_names, group_ids, sample_ids, partitions, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr std::string_view kSelectExperiment =
    "SELECT name, fingerprint, protocol, input, about, class_names, labels, group_names, "
    "group_ids, sample_ids, partitions, checksum FROM experiments WHERE id = ?";
constexpr std::size_t kAboutCell = 4;  // of these columns
constexpr std::size_t kPartitionsCell = 10;
constexpr std::string_view kInsertPartition =
    "INSERT INTO partitions (experiment, number, train, test, fold_of, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?)";
constexpr std::string_view kSelectPartition =
    "SELECT experiment, number, train, test, fold_of, checksum FROM partitions "
    "WHERE experiment = ? AND number = ?";
constexpr std::string_view kInsertSize =
    "INSERT INTO sizes (experiment, number, size, checksum) VALUES (?, ?, ?, ?)";
constexpr std::string_view kSelectSize =
    "SELECT experiment, number, size, checksum FROM sizes WHERE experiment = ? AND number = ?";
constexpr std::string_view kInsertCandidate =
    "INSERT INTO candidates (experiment, name, method, settings, grid, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?)";
constexpr std::string_view kSelectCandidate =
    "SELECT experiment, name, method, settings, grid, checksum FROM candidates WHERE id = ?";
constexpr std::string_view kInsertFold =
    "INSERT INTO fold_results (candidate, partition, fold, losses, seconds, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (candidate, partition, fold) DO NOTHING";
constexpr std::string_view kSelectFold =
    "SELECT candidate, partition, fold, losses, seconds, checksum FROM fold_results "
    "WHERE candidate = ? AND partition = ? AND fold = ?";
constexpr std::string_view kInsertTest =
    "INSERT INTO test_results (candidate, partition, chosen, inner_losses, labels, scores, "
    "probabilities, certificate, seconds, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (candidate, partition) DO NOTHING";
constexpr std::string_view kSelectTest =
    "SELECT candidate, partition, chosen, inner_losses, labels, scores, probabilities, "
    "certificate, seconds, checksum FROM test_results WHERE candidate = ? AND partition = ?";

/// The cells that name a unit, in the order of the tables.
SqlRow key_cells(const UnitKey& key) {
  SqlRow cells = {key.candidate, std::int64_t{key.partition}};
  if (key.fold != kTestFold) cells.emplace_back(std::int64_t{key.fold});
  return cells;
}

SqlRow joined(SqlRow first, SqlRow second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()),
               std::make_move_iterator(second.end()));
  return first;
}

Error no_such(std::string_view what, std::int64_t number, const std::string& path) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{}: there is no {} {} in the store", path, what, number)};
}

void check_kind(const UnitKey& key, bool test) {
  const bool fits = test ? key.fold == kTestFold : key.fold >= 0;
  if (key.partition >= 0 && fits) return;
  throw invalid("a result of {} cannot belong to partition {}, fold {}",
                test ? "a test part" : "an inner fold", key.partition, key.fold);
}

/// Without the axes over treatments of the input: which are searched is a matter of the data.
Json without_inputs(const Json& grid) {
  Json kept = Json::array();
  for (const Json& axis : grid) {
    const auto field = axis.at("field").get<std::string>();
    if (!is_input_field(field) || field == "gamma") kept.push_back(axis);
  }
  return kept;
}

/// What a name stands for on every data set.
CandidateRecord of_any_input(CandidateRecord record) {
  record.grid = without_inputs(record.grid);
  if (record.settings.contains("members")) {
    for (Json& member : record.settings["members"]) {
      member["grid"] = without_inputs(member.at("grid"));
    }
  }
  return record;
}

/// One name stands for one method with one grid.
void refuse_other(const CandidateRecord& known, const CandidateRecord& record,
                  const std::string& path) {
  const std::vector<std::string> differ = detail::differences(known, record);
  if (differ.empty()) return;
  throw invalid(
      "{}: the store has {} already, but with other settings: {}. Give it "
      "another name, the same settings, or use another store",
      path, in_quotes(record.name), fmt::join(differ, "; "));
}

}  // namespace

void Store::Implementation::check_writable() const {
  const std::string& path = connection.path();
  if (!writable) throw Error(ErrorCode::kIo, path + ": the store was opened for reading only");
  if (connection.moved()) {
    throw Error(ErrorCode::kIo, path + ": the store was moved or deleted while it was in use");
  }
}

std::vector<std::int64_t> Store::Implementation::numbers(std::string_view sql,
                                                         const SqlRow& parameters) {
  std::vector<std::int64_t> found;
  for (const SqlRow& row : connection.run(sql, parameters)) {
    found.push_back(StoredRow(row, connection.path()).integer());
  }
  return found;
}

std::optional<SqlRow> Store::Implementation::row(std::string_view sql, const SqlRow& parameters) {
  std::vector<SqlRow> rows = connection.run(sql, parameters);
  if (rows.empty()) return std::nullopt;
  return detail::unsealed(std::move(rows[0]), connection.path());
}

void Store::Implementation::insert(std::string_view sql, SqlRow row) {
  connection.run(sql, detail::sealed(std::move(row)));
}

ExperimentRecord Store::Implementation::experiment(std::int64_t number) {
  const std::string& path = connection.path();
  const std::optional<SqlRow> found = row(kSelectExperiment, {number});
  if (!found) throw no_such("experiment", number, path);
  StoredRow cells(*found, path);
  ExperimentRecord record;
  record.name = cells.text();
  record.fingerprint = cells.hexadecimal();
  record.protocol = cells.json();
  record.input = cells.json();
  record.about = cells.json();
  record.labels.names = cells.texts();
  record.labels.ids = cells.integers();
  record.labels.groups.names = cells.texts();
  record.labels.groups.ids = cells.integers();
  record.ids = cells.texts();
  const std::int64_t partitions = cells.integer();
  for (std::int64_t i = 0; i < partitions; ++i) {
    record.partitions.push_back(partition(number, i, record.name));
  }
  return record;
}

Partition Store::Implementation::partition(std::int64_t experiment, std::int64_t number,
                                           const std::string& name) {
  const std::optional<SqlRow> found = row(kSelectPartition, {experiment, number});
  if (!found) {
    throw bad_input({connection.path()},
                    "the store is damaged (partition {} of data set {} is "
                    "missing)",
                    number + 1, in_quotes(name));
  }
  StoredRow cells(*found, connection.path());
  cells.skip(2);
  Partition partition;
  partition.train = cells.positions();
  partition.test = cells.positions();
  partition.fold_of = cells.integers();
  return partition;
}

void Store::Implementation::insert_partitions(std::int64_t experiment, int size,
                                              const std::vector<Partition>& partitions) {
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const std::int64_t number = unit_partition(size, static_cast<int>(p), std::ssize(partitions));
    insert(kInsertPartition, joined({experiment, number}, detail::partition_row(partitions[p])));
  }
}

std::vector<SizedPartitions> Store::Implementation::sizes(std::int64_t experiment) {
  const std::optional<SqlRow> found = row(kSelectExperiment, {experiment});
  if (!found) throw no_such("experiment", experiment, connection.path());
  StoredRow cells(*found, connection.path());
  const std::string name = cells.text();
  cells.skip(kPartitionsCell - 1);
  const auto partitions = static_cast<int>(cells.integer());
  std::vector<SizedPartitions> all;
  for (const std::int64_t number :
       numbers("SELECT number FROM sizes WHERE experiment = ? ORDER BY number", {experiment})) {
    const std::optional<SqlRow> size = row(kSelectSize, {experiment, number});
    StoredRow size_cells(size.value(), connection.path());
    size_cells.skip(2);
    SizedPartitions& own = all.emplace_back();
    own.size = size_cells.text();
    for (int p = 0; p < partitions; ++p) {
      own.partitions.push_back(
          partition(experiment, unit_partition(static_cast<int>(number), p, partitions), name));
    }
  }
  return all;
}

CandidateRecord Store::Implementation::candidate(std::int64_t number) {
  const std::optional<SqlRow> found = row(kSelectCandidate, {number});
  if (!found) throw no_such("candidate", number, connection.path());
  StoredRow cells(*found, connection.path());
  cells.skip(1);
  CandidateRecord record;
  record.name = cells.text();
  record.method = cells.text();
  record.settings = cells.json();
  record.grid = cells.json();
  return record;
}

void Store::Implementation::check_same(const ExperimentRecord& stored,
                                       const ExperimentRecord& now) const {
  const std::vector<std::string> found = detail::differences(stored, now);
  if (found.empty()) return;
  throw invalid(
      "{}: the store has data set {} already, but not the same: {}. Results of "
      "the two cannot be mixed; use another store, or repeat what this one "
      "was made with",
      connection.path(), in_quotes(now.name), fmt::join(found, "; "));
}

void Store::Implementation::check_addition(const ExperimentRecord& record, NewData rule) {
  std::vector<std::string> names;
  for (const std::int64_t other : numbers("SELECT id FROM experiments ORDER BY id", {})) {
    const ExperimentRecord stored = experiment(other);
    names.push_back(in_quotes(stored.name));
    if (rule == NewData::kRefuse) continue;
    const std::vector<std::string> found =
        detail::json_differences(stored.protocol, record.protocol);
    if (found.empty()) continue;
    throw invalid(
        "{}: data set {} cannot be added under another protocol than data set "
        "{}: {}. Data sets of one store are compared, which needs one "
        "protocol; use the same, or another store",
        connection.path(), in_quotes(record.name), names.back(), fmt::join(found, "; "));
  }
  if (names.empty() || rule == NewData::kAppend) return;
  throw invalid(
      "{}: the store holds {} {}, not {}; [[append]] adds another data set to "
      "it, or use another store",
      connection.path(), names.size() == 1 ? "data set" : "data sets", list_some(names),
      in_quotes(record.name));
}

void Store::Implementation::put(const UnitKey& key, std::string_view sql, SqlRow row) {
  const SqlRow full = detail::sealed(joined(key_cells(key), std::move(row)));
  const std::lock_guard lock(mutex);
  check_writable();
  SqlTransaction transaction(connection, SqlIntent::kWrite);
  if (numbers("SELECT id FROM candidates WHERE id = ?", {key.candidate}).empty()) {
    throw no_such("candidate", key.candidate, connection.path());
  }
  connection.run(sql, full);
  transaction.commit();
}

int unit_partition(int size, int partition, std::ptrdiff_t partitions) {
  return size * static_cast<int>(partitions) + partition;
}

Store::Store(const std::string& path, StoreAccess access, std::chrono::milliseconds patience)
    : self_(std::make_unique<Implementation>(path, access, patience)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

const std::string& Store::path() const { return self_->connection.path(); }

std::int64_t Store::add_experiment(const ExperimentRecord& record, NewData rule) {
  const std::lock_guard lock(self_->mutex);
  self_->check_writable();
  SqlTransaction transaction(self_->connection, SqlIntent::kWrite);
  const std::vector<std::int64_t> found =
      self_->numbers("SELECT id FROM experiments WHERE name = ?", {record.name});
  if (!found.empty()) {
    self_->check_same(self_->experiment(found[0]), record);
    return found[0];
  }
  self_->check_addition(record, rule);
  self_->insert(kInsertExperiment, detail::experiment_row(record));
  const std::int64_t number = self_->connection.last_id();
  self_->insert_partitions(number, 0, record.partitions);
  transaction.commit();
  return number;
}

int Store::add_size(std::int64_t experiment, const SizedPartitions& size) {
  const std::lock_guard lock(self_->mutex);
  self_->check_writable();
  SqlTransaction transaction(self_->connection, SqlIntent::kWrite);
  const std::vector<SizedPartitions> known = self_->sizes(experiment);
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (known[k].size != size.size) continue;
    if (known[k].partitions == size.partitions) return static_cast<int>(k) + 1;
    throw invalid("{}: the store has other training samples of size {}; use another store", path(),
                  size.size);
  }
  const int number = static_cast<int>(known.size()) + 1;
  self_->insert(kInsertSize, {experiment, std::int64_t{number}, size.size});
  self_->insert_partitions(experiment, number, size.partitions);
  transaction.commit();
  return number;
}

std::vector<SizedPartitions> Store::sizes(std::int64_t experiment) const {
  const std::lock_guard lock(self_->mutex);
  return self_->sizes(experiment);
}

void Store::change_about(std::int64_t experiment, const std::function<void(Json&)>& change) {
  const std::lock_guard lock(self_->mutex);
  self_->check_writable();
  SqlTransaction transaction(self_->connection, SqlIntent::kWrite);
  std::optional<SqlRow> found = self_->row(kSelectExperiment, {experiment});
  if (!found) throw no_such("experiment", experiment, path());
  const SqlValue before = (*found)[kAboutCell];
  StoredRow cells(*found, path());
  cells.skip(kAboutCell);
  Json about = cells.json();
  change(about);
  (*found)[kAboutCell] = detail::json_text(about);
  if ((*found)[kAboutCell] == before) return;
  const SqlRow full = detail::sealed(std::move(*found));
  self_->connection.run("UPDATE experiments SET about = ?, checksum = ? WHERE id = ?",
                        {full[kAboutCell], full.back(), experiment});
  transaction.commit();
}

void Store::check_candidates(const std::vector<CandidateRecord>& records) const {
  const std::lock_guard lock(self_->mutex);
  for (const CandidateRecord& record : records) {
    for (const std::int64_t number :
         self_->numbers("SELECT id FROM candidates WHERE name = ?", {record.name})) {
      refuse_other(of_any_input(self_->candidate(number)), of_any_input(record), path());
    }
  }
}

std::int64_t Store::add_candidate(std::int64_t experiment, const CandidateRecord& record) {
  const std::lock_guard lock(self_->mutex);
  self_->check_writable();
  SqlTransaction transaction(self_->connection, SqlIntent::kWrite);
  if (self_->numbers("SELECT id FROM experiments WHERE id = ?", {experiment}).empty()) {
    throw no_such("experiment", experiment, path());
  }
  const std::vector<std::int64_t> found = self_->numbers(
      "SELECT id FROM candidates WHERE experiment = ? AND name = ?", {experiment, record.name});
  if (found.empty()) {
    self_->insert(kInsertCandidate, joined({experiment}, detail::candidate_row(record)));
    const std::int64_t number = self_->connection.last_id();
    transaction.commit();
    return number;
  }
  refuse_other(self_->candidate(found[0]), record, path());
  return found[0];
}

std::vector<std::int64_t> Store::experiments() const {
  const std::lock_guard lock(self_->mutex);
  return self_->numbers("SELECT id FROM experiments ORDER BY id", {});
}

ExperimentRecord Store::experiment(std::int64_t number) const {
  const std::lock_guard lock(self_->mutex);
  return self_->experiment(number);
}

std::vector<std::int64_t> Store::candidates(std::int64_t experiment) const {
  const std::lock_guard lock(self_->mutex);
  return self_->numbers("SELECT id FROM candidates WHERE experiment = ? ORDER BY id", {experiment});
}

CandidateRecord Store::candidate(std::int64_t number) const {
  const std::lock_guard lock(self_->mutex);
  return self_->candidate(number);
}

bool Store::has(const UnitKey& key) const {
  const std::lock_guard lock(self_->mutex);
  constexpr std::string_view kFold =
      "SELECT 1 FROM fold_results WHERE candidate = ? AND partition = ? AND fold = ?";
  constexpr std::string_view kTest =
      "SELECT 1 FROM test_results WHERE candidate = ? AND partition = ?";
  return !self_->numbers(key.fold == kTestFold ? kTest : kFold, key_cells(key)).empty();
}

std::optional<FoldResult> Store::fold_result(const UnitKey& key) const {
  check_kind(key, false);
  const std::lock_guard lock(self_->mutex);
  const std::optional<SqlRow> found = self_->row(kSelectFold, key_cells(key));
  if (!found) return std::nullopt;
  StoredRow cells(*found, path());
  cells.skip(3);
  FoldResult result;
  result.losses = cells.numbers();
  result.seconds = cells.number();
  return result;
}

std::optional<TestResult> Store::test_result(const UnitKey& key) const {
  check_kind(key, true);
  const std::lock_guard lock(self_->mutex);
  const std::optional<SqlRow> found = self_->row(kSelectTest, key_cells(key));
  if (!found) return std::nullopt;
  StoredRow cells(*found, path());
  cells.skip(2);
  TestResult result;
  result.chosen = cells.json();
  result.inner_losses = cells.numbers();
  result.prediction.labels = cells.integers();
  result.prediction.scores = cells.matrix();
  result.prediction.probabilities = cells.matrix();
  result.certificate = cells.json();
  result.seconds = cells.number();
  return result;
}

void Store::put(const UnitKey& key, const FoldResult& result) {
  check_kind(key, false);
  self_->put(key, kInsertFold, detail::fold_row(result));
}

void Store::put(const UnitKey& key, const TestResult& result) {
  check_kind(key, true);
  self_->put(key, kInsertTest, detail::test_row(result));
}

}  // namespace kith

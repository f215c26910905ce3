// SPDX-License-Identifier: Apache-2.0
// One SQLite file with everything an evaluation found: data fingerprint, protocol, partitions, and
// every finished unit of work in a transaction of its own. docs/formats.md describes the tables.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/data/labels.hpp"
#include "kith/evaluate/partitions.hpp"
#include "kith/evaluate/sizes.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

/// One data set under one protocol.
struct ExperimentRecord {
  std::string name;               ///< of the data set; unique in a store
  std::uint64_t fingerprint = 0;  ///< of the raw numbers, labels and ids
  Json protocol =
      Json::object();  ///< name, repeats, folds, test fraction, ...: all that results depend on
  Json input = Json::object();   ///< the input settings
  Json about = Json::object();   ///< command, versions, sources: for people, compared with nothing
  Labels labels;                 ///< with the groups of the samples, if there are any
  std::vector<std::string> ids;  ///< empty: samples are known by position
  std::vector<Partition> partitions;
};

/// One method as it was asked for: what results depend on.
struct CandidateRecord {
  std::string name;                ///< as shown in tables; unique in its experiment
  std::string method;              ///< of the registry
  Json settings = Json::object();  ///< the fixed ones and the defaults, priors and costs included
  Json grid = Json::array();       ///< [{"field", "values", "simpler"}, ...]

  friend bool operator==(const CandidateRecord&, const CandidateRecord&) = default;
};

/// A piece of work: one candidate on one inner fold of one partition, or (fold = kTestFold) its
/// refit and test.
struct UnitKey {
  std::int64_t candidate = 0;  ///< as Store::add_candidate returned it
  int partition = 0;           ///< counted from 0; with some training samples a unit_partition
  int fold = 0;

  friend auto operator<=>(const UnitKey&, const UnitKey&) = default;
};
inline constexpr int kTestFold = -1;

/// What stands for a partition in the keys of units and in the table of partitions: its own number,
/// counted from 0, with all training samples (`size` 0); beyond all of these with some.
[[nodiscard]] int unit_partition(int size, int partition, std::ptrdiff_t partitions);

/// What an inner fold found: the loss summed over its held-out samples, per grid point.
struct FoldResult {
  std::vector<double> losses;
  double seconds = 0;
};

/// What a test part found.
struct TestResult {
  Json chosen = Json::object();      ///< the settings of the grid point that was refitted
  std::vector<double> inner_losses;  ///< per grid point, summed over the folds
  /// Of the test samples, in the order of the partition. A store keeps single-precision numbers.
  Prediction prediction;
  Json certificate;    ///< as `train --json` prints it: status, gap, ...
  double seconds = 0;  ///< refit and prediction
};

enum class StoreAccess { kReadOnly, kReadWrite };
/// What to do with a data set that a non-empty store does not have yet.
enum class NewData { kRefuse, kAppend };

/// Safe to use from several threads, and from several processes on one file. Whatever a call that
/// changes the store has returned for survives the death of the process. Every call may throw
/// Error: kIo where the disk is full, the file read-only or held by others, kBadInput where it is
/// damaged.
class Store {
 public:
  /// Opens or (kReadWrite) creates the file; ":memory:" keeps everything in memory. Throws Error
  /// naming the file: it is no store, another version, damaged, read-only, cannot be created. Where
  /// another process holds the file, every call waits up to `patience` before it throws Error(kIo).
  explicit Store(const std::string& path, StoreAccess access = StoreAccess::kReadWrite,
                 std::chrono::milliseconds patience = std::chrono::seconds(60));
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  [[nodiscard]] const std::string& path() const;

  /// The number of the experiment `record.name`, added where it is new. Throws Error saying what
  /// differs (data, labels, groups, protocol, input, partitions) when the store has another one of
  /// that name, or others only and `rule` refuses.
  std::int64_t add_experiment(const ExperimentRecord& record, NewData rule = NewData::kRefuse);
  /// Changes what an experiment says for people alone, in one transaction; written where it
  /// differs.
  void change_about(std::int64_t experiment, const std::function<void(Json&)>& change);
  /// Throws Error where some experiment of the store has a candidate of such a name with other
  /// settings or another grid: ranks over data sets go by name. Which treatments of the input are
  /// searched may differ.
  void check_candidates(const std::vector<CandidateRecord>& records) const;
  /// Throws Error when the experiment has that name with other settings or another grid.
  std::int64_t add_candidate(std::int64_t experiment, const CandidateRecord& record);

  /// The number of a size of training parts, counted from 1, added where it is new. Throws Error
  /// where the store has other subsets of that size.
  int add_size(std::int64_t experiment, const SizedPartitions& size);
  /// In the order in which they were added: number k stands at k - 1.
  [[nodiscard]] std::vector<SizedPartitions> sizes(std::int64_t experiment) const;

  /// In the order in which they were added.
  [[nodiscard]] std::vector<std::int64_t> experiments() const;
  [[nodiscard]] ExperimentRecord experiment(std::int64_t number) const;
  [[nodiscard]] std::vector<std::int64_t> candidates(std::int64_t experiment) const;
  [[nodiscard]] CandidateRecord candidate(std::int64_t number) const;

  [[nodiscard]] bool has(const UnitKey& key) const;
  [[nodiscard]] std::optional<FoldResult> fold_result(const UnitKey& key) const;
  [[nodiscard]] std::optional<TestResult> test_result(const UnitKey& key) const;
  /// One transaction. A unit that another process finished meanwhile stays as it is.
  void put(const UnitKey& key, const FoldResult& result);
  void put(const UnitKey& key, const TestResult& result);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace kith

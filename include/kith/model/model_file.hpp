// SPDX-License-Identifier: Apache-2.0
// One file with everything a prediction needs: what was done to the input, the columns a query must
// have, the fitted model, and where they came from. Files are the same for every method: whoever
// saves or loads hands over the function that archives the parts of the model. docs/formats.md
// describes the bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/condition/pipeline.hpp"
#include "kith/core/json.hpp"
#include "kith/learn/decision.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/model/archive.hpp"
#include "kith/model/tensor_file.hpp"
#include "kith/version.hpp"

namespace kith {

inline constexpr TensorFormat kModelFormat{"kith-model", 1};

/// What the numbers of a matrix were like as they were given, over the stored columns.
struct GivenValues {
  std::string score_column;  ///< that a BLAST table was read by; empty: it was none
  bool zeros = false;        ///< pairs that are not known count as 0
  double least_mean = 0;     ///< of the means of training rows, with and without the sample itself
  double largest_mean = 0;
};

/// One training matrix: its name, the rule for new rows, over the stored columns, and how these
/// rows are measured where the matrix was measured from raw data.
struct ModelMatrix {
  std::string name;
  InputRule rule;
  std::optional<MeasureRule> measure = std::nullopt;
  std::optional<GivenValues> given = std::nullopt;  ///< none: measured, or the file does not say
};

/// What a file says beside the parts of the model itself.
struct ModelRecord {
  std::string kith_version{kVersion};  ///< of the library that fitted the model
  std::string method;
  Json settings = Json::object();
  std::vector<std::string> class_names;

  Index samples = 0;                  ///< training samples of the fit
  Index given_samples = 0;            ///< before drop-sample
  std::vector<Index> kept;            ///< their positions among the given ones; empty: all
  std::vector<Index> positions;       ///< columns a query must have, ascending, among `samples`
  std::vector<std::string> ids;       ///< of those columns; empty: known by position
  std::vector<int> classes;           ///< of those columns
  std::vector<Index> class_counts{};  ///< training samples of each class; empty: not known
  /// id_hash of every training sample, ascending: who they are, where only some are columns. Empty:
  /// they have no ids, or the file does not say.
  std::vector<Index> id_hashes{};
  std::vector<ModelMatrix> matrices;
  Index features = 0;  ///< of the vectors that queries are; 0: queries are rows of similarities
  std::vector<std::string> feature_names{};  ///< empty: features are known by position
  DecisionRule decision;
  /// Of training samples that stayed together wherever a fit or a search held samples out; 0: none.
  Index groups = 0;

  std::uint64_t fingerprint = 0;  ///< of the training set (model/fingerprint)
  std::uint64_t seed = 1;
  int blas_threads = 1;
  std::vector<std::string> applied;  ///< what was done to the input, in words
  Json certificate;                  ///< what `train` printed; null: nothing
};

/// What stands for an id in `id_hashes`: its XXH64.
[[nodiscard]] Index id_hash(std::string_view id);
[[nodiscard]] std::vector<Index> id_hashes(std::span<const std::string> ids);
/// Whether a training sample of the model had that id.
[[nodiscard]] bool has_training_sample(const ModelRecord& record, std::string_view id);

/// The columns to store for a method that needs `needed` (ascending): those alone, with the rules
/// for them, or all of them where one of the rules needs whole rows.
struct RequiredColumns {
  std::vector<Index> positions;
  std::vector<InputRule> rules;
};
[[nodiscard]] RequiredColumns required_columns(std::span<const InputRule> rules,
                                               std::span<const Index> needed, Index samples);

using SaveParts = std::function<void(SavingArchive&)>;
using LoadParts = std::function<void(LoadingArchive&)>;

/// Writes through AtomicFile; the same model gives the same bytes. Throws Error(kInternal) naming
/// the rule when the record contradicts itself, Error(kInvalidArgument) for text that is not UTF-8.
void save_model(const std::string& path, const ModelRecord& record, const SaveParts& write_parts);
/// What save_model would write.
[[nodiscard]] std::string model_bytes(const ModelRecord& record, const SaveParts& write_parts);

/// A file that was read and checked; the parts of the model wait to be asked for.
struct LoadedModel {
  ModelRecord record;
  ArchiveReader parts;

  /// Throws Error(kBadInput) naming the file when a part is absent, of another kind, left over or
  /// refused by `read` itself.
  void read_parts(const LoadParts& read);
};

/// Throws as read_tensor_file does, and Error(kBadInput) when the record contradicts itself.
[[nodiscard]] LoadedModel load_model(const std::string& path);
/// The same over bytes in memory; `name` stands for the file in messages.
[[nodiscard]] LoadedModel load_model_bytes(std::string_view bytes, const std::string& name);

}  // namespace kith

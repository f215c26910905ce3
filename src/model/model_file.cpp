// SPDX-License-Identifier: Apache-2.0
// Texts and single numbers of a record are metadata of the tensor file, everything that grows with
// the data is an array: `columns.*`, `decision.*`, `matrix.K.*` for the input rule of matrix K,
// `measure.K.*` for the samples it was measured from, and `model.*` for the parts of the model.
#include "kith/model/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"
#include "kith/core/xxh64.hpp"
#include "model/measure_archive.hpp"
#include "model/record_rules.hpp"
#include "model/strict_json.hpp"

namespace kith {
namespace {

constexpr const char* kModelPrefix = "model.";

std::string matrix_prefix(std::size_t k) { return fmt::format("matrix.{}.", k); }
std::string measure_prefix(std::size_t k) { return fmt::format("measure.{}.", k); }

/// The arrays of a record under their names, so that writing and reading visit the same list.
template <class Archiver>
void visit_arrays(Archiver& archiver, Archived<Archiver, ModelRecord>& record) {
  archiver("columns.classes", record.classes);
  archiver.texts("columns.ids", record.ids);
  archiver("columns.kept", record.kept);
  archiver("columns.positions", record.positions);
  archiver("decision.costs", record.decision.costs);
  archiver("decision.priors", record.decision.priors);
  archiver("decision.training_shares", record.decision.training_shares);
  archiver("training.class_counts", record.class_counts);
  archiver("training.id_hashes", record.id_hashes);
}

// Writing.

Tensor tensor_of(const DenseBlock& block) {
  const auto owner = std::make_shared<const DenseBlock>(block);
  const auto bytes = static_cast<std::size_t>(block.rows() * block.cols()) * sizeof(double);
  return {TensorType::kF64,
          {block.rows(), block.cols()},
          {reinterpret_cast<const char*>(owner->values().data()), bytes},
          owner};
}

Json matrices_json(const ModelRecord& record) {
  Json list = Json::array();
  for (const ModelMatrix& matrix : record.matrices) {
    Json entry = Json::object();
    entry["name"] = matrix.name;
    entry["rule"] = rule_json(matrix.rule);
    if (matrix.measure) {
      entry["measure"] = relevant_settings(matrix.measure->settings);
      entry["file"] = matrix.measure->file;
    }
    if (matrix.given) {
      entry["given"] = {{"score_column", matrix.given->score_column},
                        {"zeros", matrix.given->zeros},
                        {"least_mean", matrix.given->least_mean},
                        {"largest_mean", matrix.given->largest_mean}};
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::map<std::string, std::string> metadata_of(const ModelRecord& record) {
  using detail::strict_text;
  std::map<std::string, std::string> texts = {
      {"applied", strict_text(Json(record.applied), "what was applied")},
      {"blas_threads", std::to_string(record.blas_threads)},
      {"certificate", strict_text(record.certificate, "the certificate")},
      {"class_names", strict_text(Json(record.class_names), "a class name")},
      {"fingerprint", hex_digits(record.fingerprint)},
      {"given_samples", std::to_string(record.given_samples)},
      {"kith_version", record.kith_version},
      {"matrices", strict_text(matrices_json(record), "a matrix name or input rule")},
      {"method", record.method},
      {"samples", std::to_string(record.samples)},
      {"seed", std::to_string(record.seed)},
      {"settings", strict_text(record.settings, "the settings")}};
  if (record.groups > 0) texts["groups"] = std::to_string(record.groups);
  if (record.features > 0) texts["features"] = std::to_string(record.features);
  if (!record.feature_names.empty()) {
    texts["feature_names"] = strict_text(Json(record.feature_names), "a feature name");
  }
  return texts;
}

TensorFile tensor_file(const ModelRecord& record, const SaveParts& write_parts) {
  const std::string rule = detail::broken_rule(record);
  if (!rule.empty()) throw Error(ErrorCode::kInternal, "model to be saved: " + rule);
  TensorFile file;
  file.metadata = metadata_of(record);
  ArchiveWriter arrays(file, "");
  visit_arrays(arrays, record);
  for (std::size_t k = 0; k < record.matrices.size(); ++k) {
    ArchiveWriter writer(file, matrix_prefix(k));
    for (const NamedTensor& part : rule_tensors(record.matrices[k].rule)) {
      writer.tensor(part.name, tensor_of(part.values));
    }
    if (record.matrices[k].measure) {
      detail::write_measure(arrays, measure_prefix(k), *record.matrices[k].measure,
                            std::span(record.matrices).first(k));
    }
  }
  ArchiveWriter parts(file, kModelPrefix);
  write_parts(parts);
  return file;
}

// Reading.

/// The texts of a file, each asked for once.
class Texts {
 public:
  Texts(std::map<std::string, std::string> texts, std::string source)
      : texts_(std::move(texts)), source_(std::move(source)) {}

  [[nodiscard]] bool has(const char* key) const { return texts_.contains(key); }

  std::string text(const char* key) {
    const auto node = texts_.extract(key);
    if (node.empty()) refuse(key, "is absent");
    return node.mapped();
  }

  Json json(const char* key) {
    return detail::parse_strict<Json>(text(key), fmt::format("metadata {}", in_quotes(key)));
  }

  template <class Number>
  Number number(const char* key, int base = 10) {
    const std::string digits = text(key);
    Number value{};
    const char* end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, value, base);
    if (code != std::errc() || stop != end) {
      refuse(key, fmt::format("is {}, which is no count", in_quotes(digits)));
    }
    return value;
  }

  std::vector<std::string> list(const char* key) {
    const Json stored = json(key);
    std::vector<std::string> values;
    if (!stored.is_array()) refuse(key, "is no list");
    for (const Json& value : stored) {
      if (!value.is_string()) refuse(key, "is no list of texts");
      values.push_back(value.get<std::string>());
    }
    return values;
  }

  void finish() const {
    if (!texts_.empty()) refuse(texts_.begin()->first.c_str(), "is unknown");
  }

 private:
  [[noreturn]] void refuse(const char* key, const std::string& rule) const {
    throw bad_input({source_}, "metadata {} {}", in_quotes(key), rule);
  }

  std::map<std::string, std::string> texts_;
  std::string source_;
};

/// The input rule of matrix k out of its JSON and every array under its prefix.
InputRule rule_of(const Json& json, std::size_t k, ArchiveReader& arrays) {
  const std::string prefix = matrix_prefix(k);
  std::vector<NamedTensor> parts;
  for (const std::string& name : arrays.unread()) {
    if (!name.starts_with(prefix)) continue;
    const Tensor& found = arrays.tensor(name);
    if (found.type != TensorType::kF64 || found.shape.size() != 2) {
      throw bad_input({arrays.source()}, "part {} is {}; a matrix was expected", name,
                      found.text());
    }
    const auto* data = reinterpret_cast<const double*>(found.bytes.data());
    parts.push_back({name.substr(prefix.size()),
                     DenseBlock(data, found.shape[0], found.shape[1], found.owner)});
  }
  InputRule rule = restore_rule(json, parts);
  if (rule_tensors(rule).size() != parts.size()) {
    throw bad_input({arrays.source()}, "there are parts {}* that its input rule does not use",
                    prefix);
  }
  return rule;
}

bool is_given(const Json& entry) {
  return entry.is_object() && entry.size() == 4 && entry.contains("score_column") &&
         entry.contains("zeros") && entry.contains("least_mean") &&
         entry.contains("largest_mean") && entry.at("score_column").is_string() &&
         entry.at("zeros").is_boolean() && entry.at("least_mean").is_number() &&
         entry.at("largest_mean").is_number();
}

bool is_matrix(const Json& entry) {
  if (!entry.is_object() || !entry.contains("name") || !entry.contains("rule")) return false;
  const bool measured = entry.contains("measure");
  if (measured && !(entry.contains("file") && entry.at("file").is_number_unsigned())) return false;
  const bool given = entry.contains("given");
  if (given && !is_given(entry.at("given"))) return false;
  const std::size_t parts = 2 + (measured ? 2 : 0) + (given ? 1 : 0);
  return entry.at("name").is_string() && entry.size() == parts;
}

std::vector<ModelMatrix> matrices_of(Texts& texts, const ModelRecord& record,
                                     ArchiveReader& arrays) {
  const Json stored = texts.json("matrices");
  std::vector<ModelMatrix> matrices;
  if (!stored.is_array()) throw bad_input({arrays.source()}, "metadata \"matrices\" is no list");
  for (const Json& entry : stored) {
    if (!is_matrix(entry)) {
      throw bad_input({arrays.source()}, "metadata \"matrices\" is no list of names and rules");
    }
    const std::size_t k = matrices.size();
    matrices.push_back({entry.at("name").get<std::string>(), rule_of(entry.at("rule"), k, arrays)});
    if (entry.contains("given")) {
      const Json& given = entry.at("given");
      matrices.back().given = {.score_column = given.at("score_column").get<std::string>(),
                               .zeros = given.at("zeros").get<bool>(),
                               .least_mean = given.at("least_mean").get<double>(),
                               .largest_mean = given.at("largest_mean").get<double>()};
    }
    if (!entry.contains("measure")) continue;
    matrices.back().measure = detail::read_measure(
        arrays, measure_prefix(k), {entry.at("measure"), entry.at("file").get<Index>()}, record,
        std::span(matrices).first(k));
  }
  return matrices;
}

/// What a file is refused for whose checksum is right.
Error of_another_kith(const std::string& source, std::string message) {
  constexpr std::string_view kWhy =
      "; the file is whole, so another kith wrote it: train the model again";
  if (!message.starts_with(source + ":")) message = source + ": " + message;
  if (!message.ends_with(kWhy)) message += kWhy;
  return {ErrorCode::kBadInput, message};
}

LoadedModel model_of_file(TensorFile read, const std::string& source) {
  Texts texts(std::move(read.metadata), source);
  LoadedModel loaded{{}, ArchiveReader({{}, std::move(read.tensors)}, source)};
  ModelRecord& record = loaded.record;
  record.kith_version = texts.text("kith_version");
  record.method = texts.text("method");
  record.settings = texts.json("settings");
  record.class_names = texts.list("class_names");
  record.samples = texts.number<Index>("samples");
  record.given_samples = texts.number<Index>("given_samples");
  record.fingerprint = texts.number<std::uint64_t>("fingerprint", 16);
  record.seed = texts.number<std::uint64_t>("seed");
  record.blas_threads = texts.number<int>("blas_threads");
  record.applied = texts.list("applied");
  record.certificate = texts.json("certificate");
  if (texts.has("features")) {
    record.features = texts.number<Index>("features");
    if (texts.has("feature_names")) record.feature_names = texts.list("feature_names");
  }
  if (texts.has("groups")) record.groups = texts.number<Index>("groups");
  visit_arrays(loaded.parts, record);
  record.matrices = matrices_of(texts, record, loaded.parts);
  texts.finish();
  const std::string rule = detail::broken_rule(record);
  if (!rule.empty()) throw bad_input({source}, rule);
  loaded.parts.set_prefix(kModelPrefix);
  return loaded;
}

LoadedModel loaded_model(TensorFile read, const std::string& source) {
  try {
    return model_of_file(std::move(read), source);
  } catch (const Error& error) {
    throw of_another_kith(source, error.what());
  }
}

}  // namespace

Index id_hash(std::string_view id) {
  Xxh64 hash;
  hash.update(id);
  return std::bit_cast<Index>(hash.digest());
}

std::vector<Index> id_hashes(std::span<const std::string> ids) {
  std::vector<Index> hashes;
  hashes.reserve(ids.size());
  for (const std::string& id : ids) hashes.push_back(id_hash(id));
  std::ranges::sort(hashes);
  return hashes;
}

bool has_training_sample(const ModelRecord& record, std::string_view id) {
  return std::ranges::binary_search(record.id_hashes, id_hash(id));
}

RequiredColumns required_columns(std::span<const InputRule> rules, std::span<const Index> needed,
                                 Index samples) {
  RequiredColumns required{{needed.begin(), needed.end()}, {}};
  for (const InputRule& rule : rules) {
    std::optional<InputRule> part = restricted(rule, needed);
    if (!part) break;
    required.rules.push_back(*std::move(part));
  }
  if (required.rules.size() == rules.size()) return required;
  required.positions = all_positions(samples);
  required.rules.assign(rules.begin(), rules.end());
  return required;
}

void save_model(const std::string& path, const ModelRecord& record, const SaveParts& write_parts) {
  write_tensor_file(path, tensor_file(record, write_parts), kModelFormat);
}

std::string model_bytes(const ModelRecord& record, const SaveParts& write_parts) {
  return tensor_file_bytes(tensor_file(record, write_parts), kModelFormat);
}

LoadedModel load_model(const std::string& path) {
  return loaded_model(read_tensor_file(path, kModelFormat), path);
}

LoadedModel load_model_bytes(std::string_view bytes, const std::string& name) {
  return loaded_model(read_tensor_bytes(bytes, name, kModelFormat), name);
}

void LoadedModel::read_parts(const LoadParts& read) {
  try {
    read(parts);
    parts.finish();
  } catch (const Error& error) {
    throw of_another_kith(parts.source(), error.what());
  }
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/trained_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/data/classes_note.hpp"
#include "kith/model/fingerprint.hpp"
#include "kith/pipeline/given_values.hpp"
#include "pipeline/committee_members.hpp"
#include "pipeline/matrix_errors.hpp"
#include "pipeline/model_parts.hpp"

namespace kith {
namespace {

std::vector<Index> common_samples(const std::vector<ConditionedInput>& inputs) {
  std::vector<Index> common = inputs.front().kept;
  for (const ConditionedInput& input : inputs) {
    std::vector<Index> both;
    std::set_intersection(common.begin(), common.end(), input.kept.begin(), input.kept.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

Json info_json(const SolveInfo& info) {
  return {{"objective", real(info.objective)},
          {"gap", real(info.gap)},
          {"kkt_residual", real(info.kkt_residual)},
          {"iterations", info.iterations},
          {"status", enum_name(info.status)}};
}

Json weights_json(const std::vector<KernelWeight>& weights) {
  Json json = Json::object();
  for (const KernelWeight& one : weights) json[one.matrix] = real(one.weight);
  return json;
}

/// Whether something holds of the model, or of some member.
template <class Predicate>
bool holds_of_some(const TrainedModel& model, const Predicate& predicate) {
  if (!model.is_committee()) return predicate(model);
  return std::any_of(model.members.begin(), model.members.end(), predicate);
}

}  // namespace

InputSettings settled(InputSettings settings, const AnySettings& method) {
  if (settings.from_distance == FromDistance::kAuto) {
    settings.from_distance =
        takes_neighbours(method) ? FromDistance::kNegative : FromDistance::kDoubleCentre;
  }
  return settings;
}

std::vector<ConditionedInput> condition_all(std::span<const SimilaritySet> sets,
                                            const InputSettings& settings, const RunContext& ctx,
                                            MissingPairs missing) {
  std::vector<ConditionedInput> inputs;
  for (const SimilaritySet& set : sets) {
    inputs.push_back(detail::of_matrix(
        set.name, sets.size(), [&] { return condition_training(set, settings, ctx, missing); }));
  }
  return inputs;
}

MatchedSets select_samples(const MatchedSets& matrices, std::span<const Index> samples) {
  MatchedSets parts{.sets = {}, .ids = values_at(matrices.ids, samples)};
  for (const SimilaritySet& set : matrices.sets) {
    parts.sets.push_back({.name = set.name,
                          .source = set.source,
                          .format = set.format,
                          .kind = set.kind,
                          .block = select(set.block, samples, samples),
                          .row_ids = values_at(set.row_ids, samples),
                          .column_ids = values_at(set.column_ids, samples),
                          .applied = set.applied,
                          .score_column = set.score_column});
  }
  return parts;
}

PreparedTraining prepare_training(const MatchedSets& matrices, const Labels& labels,
                                  const InputSettings& settings, RunContext& ctx,
                                  MissingPairs missing) {
  std::vector<ConditionedInput> inputs = condition_all(matrices.sets, settings, ctx, missing);
  PreparedTraining prepared;
  prepared.kept = common_samples(inputs);
  const bool alike = std::all_of(inputs.begin(), inputs.end(), [&](const ConditionedInput& input) {
    return input.kept == prepared.kept;
  });
  if (!alike) {
    inputs = condition_all(select_samples(matrices, prepared.kept).sets, settings, ctx, missing);
    prepared.applied.push_back(
        fmt::format("{} of {} samples dropped that have missing pairs in one of the matrices",
                    labels.size() - std::ssize(prepared.kept), labels.size()));
    for (ConditionedInput& input : inputs) {  // new rows may come over all that were given
      input.rule.given_samples = labels.size();
      input.rule.kept = prepared.kept;
    }
  }
  for (std::size_t m = 0; m < inputs.size(); ++m) {
    prepared.set.matrices.push_back(std::move(inputs[m].matrix));
    prepared.set.matrices.back().name = matrices.sets[m].name;
    prepared.rules.push_back(std::move(inputs[m].rule));
    const SimilaritySet& set = matrices.sets[m];
    const bool every = std::ssize(prepared.kept) == set.rows();
    prepared.given.push_back(
        {.block = every ? set.block : select(set.block, prepared.kept, prepared.kept),
         .score_column = set.score_column,
         .zeros = settings.missing == MissingRule::kZero});
    for (const std::string& sentence : inputs[m].applied) {
      prepared.applied.push_back(inputs.size() > 1 ? matrices.sets[m].name + ": " + sentence
                                                   : sentence);
    }
  }
  prepared.set.labels = select(labels, prepared.kept);
  prepared.set.ids = values_at(matrices.ids, prepared.kept);
  check_two_classes(prepared.set.labels, "training samples");
  return prepared;
}

PreparedTraining prepare_training(std::span<const RawMatrix> matrices, const Labels& labels,
                                  const InputSettings& settings, RunContext& ctx) {
  std::vector<SimilaritySet> sets;
  std::vector<MeasureRule> measures;
  for (const RawMatrix& matrix : matrices) {
    LearnedMeasure learned = learn_measure(matrix, labels, ctx);
    sets.push_back(std::move(learned.pairs));
    measures.push_back(std::move(learned.rule));
  }
  PreparedTraining prepared = prepare_training(match(std::move(sets)), labels, settings, ctx);
  assert(std::ssize(prepared.kept) == labels.size() && "every pair was measured");
  prepared.measures = std::move(measures);
  prepared.given.clear();
  return prepared;
}

PreparedTraining prepare_training(const VectorData& samples, const Labels& labels) {
  if (cols(samples.values) == 0) {
    throw Error(ErrorCode::kInvalidArgument, samples.source + ": the vectors have no features");
  }
  check_size(largest_magnitude(samples.values), samples.source + ": the features");
  PreparedTraining prepared;
  prepared.set.labels = labels;
  prepared.set.ids = samples.ids;
  prepared.set.vectors = samples.values;
  prepared.feature_names = samples.columns;
  prepared.kept = all_positions(labels.size());
  check_two_classes(labels, "training samples");
  return prepared;
}

namespace {

/// What new samples must be: rows over some columns, with the rules for them, or vectors.
void state_queries(const PreparedTraining& prepared, const AnyModel& model, bool vectors,
                   ModelRecord& record) {
  const TrainingSet& set = prepared.set;
  record.samples = set.size();
  record.given_samples = set.size();
  record.class_counts = set.labels.counts();
  record.id_hashes = id_hashes(set.ids);
  if (vectors) {
    record.features = cols(set.vectors);
    record.feature_names = prepared.feature_names;
    return;
  }
  record.given_samples = prepared.rules.front().given_samples;
  record.kept = prepared.rules.front().kept;
  RequiredColumns required =
      required_columns(prepared.rules, needed_columns(model, set.size()), set.size());
  record.positions = std::move(required.positions);
  record.ids = values_at(set.ids, record.positions);
  for (const Index i : record.positions) {
    record.classes.push_back(set.labels.ids[static_cast<std::size_t>(i)]);
  }
  for (std::size_t m = 0; m < set.matrices.size(); ++m) {
    record.matrices.push_back({set.matrices[m].name, std::move(required.rules[m])});
    if (!prepared.given.empty()) {
      record.matrices.back().given = given_values(prepared.given[m], record.positions);
    }
    if (prepared.measures.empty()) continue;
    record.matrices.back().measure = restricted(prepared.measures[m], record.positions);
  }
}

}  // namespace

Training train(const PreparedTraining& prepared, const MethodChoice& choice, RunContext& ctx) {
  SharedWork work(prepared.set);
  return train(prepared, choice, work, ctx);
}

Training train(const PreparedTraining& prepared, const MethodChoice& choice, SharedWork& work,
               RunContext& ctx) {
  const TrainingSet& set = prepared.set;
  check_input_kind(choice, set.matrices.size(), cols(set.vectors) > 0);
  const DecisionRule decision = make_decision_rule(choice.decision, set.labels);
  Json settings = settings_json(choice.settings);
  const std::optional<FieldInfo> field = field_with(choice.settings, FieldRole::kProbability);
  if (!decision.empty() && field && field->default_value == "no") {
    throw invalid("{}: priors and costs need probabilities; set {}=yes", choice.method,
                  field->name);
  }
  add_decision(choice.decision, settings);
  const Stopwatch clock;
  Fitted<AnyModel> fitted = fit(work, choice.settings, ctx);
  Training training;
  training.seconds = clock.seconds();
  training.info = std::move(fitted.info);

  ModelRecord& record = training.model.record;
  record.method = choice.method;
  record.settings = std::move(settings);
  record.class_names = set.labels.names;
  state_queries(prepared, fitted.model, learns_from_vectors(choice.settings), record);
  record.decision = decision;
  record.groups = count_groups(set.labels.groups.ids);
  record.fingerprint = fingerprint(set);
  record.seed = ctx.rng.seed();
  record.blas_threads = ctx.blas_threads;
  record.applied = prepared.applied;
  record.certificate = certificate_json(training.info);
  training.model.model = std::move(fitted.model);
  return training;
}

Json certificate_json(const FitInfo& info) {
  Json json = info_json({.status = info.status(),
                         .iterations = info.iterations(),
                         .objective = info.objective(),
                         .gap = info.gap(),
                         .kkt_residual = info.kkt_residual()});
  json["consistency"] = real(info.consistency);
  if (info.kernel) {
    json["kernel"] = {{"way", enum_name(info.kernel->way)},
                      {"pairs", info.kernel->pairs},
                      {"error", info.kernel->error}};
  }
  const double offset = info.objective_offset();
  if (std::isfinite(offset)) json["objective_offset"] = offset;
  if (info.subproblems.size() == 1 && !info.subproblems.front().kernel_weights.empty()) {
    json["kernel_weights"] = weights_json(info.subproblems.front().kernel_weights);
  }
  if (info.subproblems.size() > 1) {
    Json parts = Json::array();
    for (const std::size_t p : info.listed()) {
      const Subproblem& part = info.subproblems[p];
      Json one = {{"name", part.name}};
      one.update(info_json(part.info));
      if (std::isfinite(part.objective_offset)) one["objective_offset"] = part.objective_offset;
      if (!part.kernel_weights.empty()) one["kernel_weights"] = weights_json(part.kernel_weights);
      parts.push_back(std::move(one));
    }
    if (parts.size() < info.subproblems.size()) {
      json["subproblem_count"] = info.subproblems.size();
    }
    json["subproblems"] = std::move(parts);
  }
  if (!info.notes.empty()) json["notes"] = info.notes;
  return json;
}

std::optional<TrainingEnd> training_end(const ModelRecord& record) {
  const Json& certificate = record.certificate;
  if (!certificate.is_object() || !certificate.contains("status")) return std::nullopt;
  const Json& text = certificate["status"];
  const std::optional<SolveStatus> status =
      text.is_string() ? find_enum<SolveStatus>(text.get_ref<const std::string&>()) : std::nullopt;
  if (!status) return std::nullopt;
  TrainingEnd end{.status = *status};
  const Json gap = certificate.value("gap", Json());
  if (gap.is_number()) end.gap = gap.get<double>();
  return end;
}

AnySettings method_settings(const ModelRecord& record) {
  return settings_of(record.method, without_decision(record.settings));
}

bool has_probabilities(const TrainedModel& model) {
  if (model.is_committee()) return true;
  const AnySettings settings = method_settings(model.record);
  const std::optional<FieldInfo> asked = field_with(settings, FieldRole::kProbability);
  return method_info(settings).probabilities && !(asked && asked->default_value == "no");
}

bool takes_both_directions(const TrainedModel& model) {
  return holds_of_some(model, [](const TrainedModel& one) {
    return takes_both_directions(method_settings(one.record));
  });
}

bool needs_self_similarities(const TrainedModel& model) {
  return holds_of_some(model, [](const TrainedModel& one) {
    return std::any_of(one.record.matrices.begin(), one.record.matrices.end(),
                       [](const ModelMatrix& matrix) { return needs_self(matrix.rule); }) ||
           needs_self_similarities(one.model);
  });
}

std::vector<bool> self_similarities_needed(const TrainedModel& model) {
  std::vector<bool> needed(model.record.matrices.size(), false);
  for (const TrainedModel& member : model.members) {
    const std::vector<bool> own = self_similarities_needed(member);
    for (std::size_t m = 0; m < own.size(); ++m) {
      if (own[m]) needed[static_cast<std::size_t>(member.sources[m])] = true;
    }
  }
  const bool by_model = !model.is_committee() && needs_self_similarities(model.model);
  for (std::size_t m = 0; m < needed.size(); ++m) {
    const ModelMatrix& matrix = model.record.matrices[m];
    if (matrix.measure) {
      needed[m] = false;
    } else if (!model.is_committee()) {
      needed[m] = by_model || needs_self(matrix.rule);
    }
  }
  return needed;
}

namespace {

/// Bounds by iteration: at the top for one subproblem, else with each. Not part of the certificate:
/// models and stores do not grow with it.
void add_traces(Json& json, const FitInfo& info) {
  const auto trace_json = [](const Subproblem& part) {
    Json trace = Json::array();
    for (std::size_t i = 0; i < part.trace.size(); ++i) {
      const BoundsStep& step = part.trace[i];
      trace.push_back({{"iteration", i + 1},
                       {"lower", step.lower},
                       {"upper", step.upper},
                       {"gap", step.gap},
                       {"set_size", step.set_size}});
    }
    return trace;
  };
  const std::vector<std::size_t> listed = info.listed();
  for (std::size_t k = 0; k < listed.size(); ++k) {
    const Subproblem& part = info.subproblems[listed[k]];
    if (part.trace.empty()) continue;
    Json& where = info.subproblems.size() == 1 ? json : json["subproblems"][k];
    where["trace"] = trace_json(part);
  }
}

/// What a fit and a file both tell of a model.
Json record_json(const ModelRecord& record) {
  Json json = {{"method", record.method},
               {"settings", record.settings},
               {"n", record.samples},
               {"classes", record.class_names}};
  if (record.matrices.size() > 1) {
    for (const ModelMatrix& matrix : record.matrices) json["matrices"].push_back(matrix.name);
  }
  json.update(record.certificate);
  json["columns_needed"] = record.positions.size();
  if (record.features > 0) json["features"] = record.features;
  if (record.groups > 0) json["groups"] = record.groups;
  json["applied"] = record.applied;
  json["fingerprint"] = fmt::format("{:016x}", record.fingerprint);
  json["seed"] = record.seed;
  json["blas_threads"] = record.blas_threads;
  return json;
}

/// What new samples must bring for each matrix: pairs of a kind, or raw samples and the measure.
Json needs_json(const ModelRecord& record) {
  Json needs = Json::array();
  for (const ModelMatrix& matrix : record.matrices) {
    Json need = {{"name", matrix.name}};
    if (matrix.measure) {
      need["input"] = "raw samples";
      need["measure"] = settings_json(matrix.measure->settings);
    } else {
      need["input"] = matrix.rule.kind == PairKind::kDistance ? "distances" : "similarities";
    }
    if (matrix.given && !matrix.given->score_column.empty()) {
      need["score_column"] = matrix.given->score_column;
    }
    need["settings"] = settings_json(matrix.rule.settings);
    needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace

std::vector<std::string> names_of_matrices(const TrainedModel& member,
                                           const ModelRecord& committee) {
  std::vector<std::string> names;
  for (const Index source : member.sources) {
    names.push_back(committee.matrices[static_cast<std::size_t>(source)].name);
  }
  return names;
}

std::vector<std::string> names_of_members(const TrainedModel& model) {
  const Json parts = model.record.certificate.is_object()
                         ? model.record.certificate.value("subproblems", Json::array())
                         : Json::array();
  std::vector<std::string> names;
  for (std::size_t k = 0; k < model.members.size(); ++k) {
    const bool known = parts.size() == model.members.size() && parts[k].contains("name") &&
                       parts[k]["name"].is_string();
    names.push_back(known ? parts[k]["name"].get<std::string>() : model.members[k].record.method);
  }
  return names;
}

Json model_json(const TrainedModel& model) {
  const ModelRecord& record = model.record;
  Json json = record_json(record);
  json["kith"] = record.kith_version;
  json["given_samples"] = record.given_samples;
  json["needs"] = needs_json(record);
  json["needs_ids"] = !record.ids.empty();
  json["needs_self_similarities"] = needs_self_similarities(model);
  json["probabilities"] = has_probabilities(model);
  const std::vector<std::string> names = names_of_members(model);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const TrainedModel& member = model.members[k];
    json["members"].push_back({{"name", names[k]},
                               {"method", member.record.method},
                               {"settings", member.record.settings},
                               {"input", needs_json(member.record)},
                               {"matrices", names_of_matrices(member, record)}});
  }
  if (!record.feature_names.empty()) json["feature_names"] = record.feature_names;
  return json;
}

Json training_json(const Training& training) {
  Json json = record_json(training.model.record);
  if (!training.info.learned.is_null()) json["learned"] = training.info.learned;
  add_traces(json, training.info);
  json["timing"] = {{"seconds", training.seconds}};
  return json;
}

namespace {

void archive_parts(const TrainedModel& model, SavingArchive& archiver) {
  if (model.is_committee()) return detail::archive_members(model.members, archiver);
  archive(model.model, archiver);
}

}  // namespace

TrainedModel detail::with_parts(LoadedModel loaded) {
  TrainedModel model;
  loaded.read_parts([&](LoadingArchive& archiver) {
    if (loaded.record.method == kCommittee) {
      model.members = members_of(loaded.record, archiver);
    } else {
      model.model = model_of(loaded.record.method);
      archive(model.model, archiver);
    }
  });
  model.record = std::move(loaded.record);
  return model;
}

void save(const TrainedModel& model, const std::string& path) {
  save_model(path, model.record, [&](SavingArchive& archiver) { archive_parts(model, archiver); });
}

std::string trained_bytes(const TrainedModel& model) {
  return model_bytes(model.record,
                     [&](SavingArchive& archiver) { archive_parts(model, archiver); });
}

TrainedModel load_trained(const std::string& path) { return detail::with_parts(load_model(path)); }

TrainedModel load_trained_bytes(std::string_view bytes, const std::string& name) {
  return detail::with_parts(load_model_bytes(bytes, name));
}

void detail::check_matrices(const ModelRecord& record, const QueryBlock& raw) {
  if (raw.matrices.size() == record.matrices.size()) return;
  throw invalid("{} matrices of new rows; the model was trained on {}", raw.matrices.size(),
                record.matrices.size());
}

namespace {

/// Rows under the input rules of the model, over the columns it needs.
QueryBlock conditioned_rows(const TrainedModel& model, QueryBlock raw, RunContext& ctx,
                            std::span<const QueryNames> names) {
  const ModelRecord& record = model.record;
  detail::check_matrices(record, raw);
  if (!raw.matrices.empty() && cols(raw.matrices.front().to_training) == record.samples) {
    raw = over_columns(raw, record.positions);
  }
  QueryBlock conditioned;
  for (std::size_t m = 0; m < raw.matrices.size(); ++m) {
    QueryMatrix& matrix = raw.matrices[m];
    const ModelMatrix& known = record.matrices[m];
    conditioned.matrices.push_back(detail::of_matrix(known.name, raw.matrices.size(), [&] {
      return condition_query(known.rule, std::move(matrix), ctx,
                             m < names.size() ? names[m] : QueryNames{});
    }));
  }
  return over_needed(model.model, conditioned);
}

}  // namespace

QueryBlock detail::prepared_queries(const TrainedModel& model, QueryBlock raw, RunContext& ctx,
                                    std::span<const QueryNames> names) {
  // New samples may be as small as they like.
  check_size(std::max(1.0, largest_magnitude(raw.vectors)), "the features of new samples");
  if (model.record.features > 0) return raw;
  return conditioned_rows(model, std::move(raw), ctx, names);
}

Prediction predict(const TrainedModel& model, QueryBlock raw, RunContext& ctx,
                   std::span<const QueryNames> names) {
  Prediction prediction =
      model.is_committee()
          ? detail::predict_together(model, raw, ctx, names)
          : predict(model.model, detail::prepared_queries(model, std::move(raw), ctx, names), ctx);
  apply(model.record.decision, prediction);
  return prediction;
}

}  // namespace kith

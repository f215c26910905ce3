// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/boxed_definition.hpp"
#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/core/unknown_setting.hpp"
#include "kith/learn/method_variants.hpp"
#include "kith/optim/trace/kernel.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

template class Boxed<SettingsVariant>;
template class Boxed<ModelVariant>;

namespace {

/// std::visit for what a Boxed holds.
template <class Visitor, class Any>
decltype(auto) visit_method(Visitor&& visitor, Any&& any) {
  return std::visit(std::forward<Visitor>(visitor), *any);
}

template <class Model>
concept ExplainedModel = requires(const Model& model, const QueryBlock& queries,
                                  std::span<const int> labels, RunContext& ctx) {
  explain(model, queries, labels, ctx);
};

template <class S>
MethodInfo info_of(const S& settings) {
  using Traits = MethodTraits<S>;
  return {.name = std::string(Traits::name),
          .title = std::string(Traits::title),
          .paper = std::string(Traits::paper),
          .summary = std::string(Traits::summary),
          .probabilities = Traits::probabilities,
          .several_matrices = Traits::several_matrices,
          .learns_from_vectors = Traits::learns_from_vectors,
          .explains = ExplainedModel<typename Traits::Model>,
          .fields = fields(settings),
          .grid = Traits::grid(settings)};
}

/// Default settings of every method, in the order of the registry.
template <std::size_t... I>
std::vector<AnySettings> defaults(std::index_sequence<I...>) {
  return {AnySettings(SettingsVariant(std::in_place_index<I>))...};
}
std::vector<AnySettings> defaults() {
  return defaults(std::make_index_sequence<std::variant_size_v<Methods::Settings>>());
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const AnySettings& settings : defaults()) all.emplace_back(method_name(settings));
  return all;
}

/// The names with one of their choices fixed, "svm-clip", which are taken as well.
std::vector<std::string> short_names() {
  std::vector<std::string> all;
  for (const AnySettings& settings : defaults()) {
    for (const FieldInfo& field : method_info(settings).fields) {
      for (const std::string& choice : field.choices) {
        all.push_back(fmt::format("{}-{}", method_name(settings), choice));
      }
    }
  }
  return all;
}

[[noreturn]] void refuse_method(std::string_view method) {
  std::vector<std::string> all = names();
  all.emplace_back("auto");  // of the best of them
  std::vector<std::string> known = all;
  for (std::string& name : short_names()) known.push_back(std::move(name));
  const auto guess = closest_name(method, known);
  throw invalid("there is no method {}{}; there are {}", in_quotes(method),
                guess ? fmt::format(" (did you mean {}?)", *guess) : "", list_some(all, 60));
}

AnySettings defaults_of(std::string_view method) {
  for (const AnySettings& settings : defaults()) {
    if (method_name(settings) == method) return settings;
  }
  refuse_method(method);
}

void set_any(AnySettings& settings, std::string_view key, std::string_view text) {
  visit_method([&](auto& own) { set_field(own, method_name(settings), key, text); }, settings);
}

/// "spectrum: clip, flip, ...; test-treatment: ...", of the fields that are choices.
std::string choices_of(const MethodChoice& choice) {
  std::vector<std::string> all;
  for (const FieldInfo& field : method_info(choice.settings).fields) {
    if (field.type == "choice") all.push_back(fmt::format("{}: {}", field.name, field.rule));
  }
  return all.empty() ? "it has no choices" : fmt::format("there are {}", fmt::join(all, "; "));
}

/// Sets the first choice field that takes `suffix` (aliases included); false where there is none.
bool set_by_choice(MethodChoice& choice, std::string_view suffix) {
  for (const FieldInfo& field : method_info(choice.settings).fields) {
    if (field.type != "choice") continue;
    try {
      set_any(choice.settings, field.name, suffix);
    } catch (const Error&) {
      continue;  // not one of this field's choices
    }
    choice.fixed.push_back(field.name);
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> powers_of_ten(int first, int last) {
  std::vector<std::string> values;
  for (int exponent = first; exponent <= last; ++exponent) {
    values.push_back(format_double(std::pow(10.0, exponent)));
  }
  return values;
}

GridAxis decades(std::string field, int first, int last, Simpler simpler) {
  return {.field = std::move(field), .values = powers_of_ten(first, last), .simpler = simpler};
}

Grid machine_axes(const KernelRule& rule) {
  Grid axes = {decades("cost", -3, 3)};
  if (rule.kernel == VectorKernel::kRbf) axes.push_back(decades("gamma", -3, 3));
  return axes;
}

std::span<const Reference> references() { return kReferences; }

std::vector<MethodInfo> all_methods() {
  std::vector<MethodInfo> all;
  for (const AnySettings& settings : defaults()) all.push_back(method_info(settings));
  return all;
}

void set_own_loss(AnySettings& settings, std::shared_ptr<const trace::ConvexLoss> loss) {
  visit_method(
      [&](auto& own) {
        if constexpr (requires { own.own_loss; }) {
          if (own.loss == trace::KernelLoss::kOwn) {
            own.own_loss = std::move(loss);
            return;
          }
        }
        throw invalid("a loss of one's own is for eskl, emkl and rekl with [[set=loss=own]]");
      },
      settings);
}

std::string_view method_name(const AnySettings& settings) {
  return visit_method([]<class S>(const S&) { return MethodTraits<S>::name; }, settings);
}

MethodInfo method_info(const AnySettings& settings) {
  return visit_method([](const auto& own) { return info_of(own); }, settings);
}

MethodChoice parse_method(std::string_view name) {
  const std::vector<std::string> all = names();
  // The longest method name that is the whole of `name` or stands before a hyphen in it.
  for (std::size_t length = name.size(); length > 0; --length) {
    const std::string_view head = name.substr(0, length);
    if (length < name.size() && name[length] != '-') continue;
    if (std::find(all.begin(), all.end(), head) == all.end()) continue;
    MethodChoice choice{.name = std::string(name),
                        .method = std::string(head),
                        .settings = defaults_of(head),
                        .decision = {},
                        .fixed = {}};
    if (length == name.size() || set_by_choice(choice, name.substr(length + 1))) return choice;
    throw invalid("{}: method {} has no setting with a choice {}; {}", name, head,
                  in_quotes(name.substr(length + 1)), choices_of(choice));
  }
  refuse_method(name);
}

MethodChoice parse_method(std::string_view name, std::span<const std::string> assignments) {
  MethodChoice choice = parse_method(name);
  const std::vector<std::string> by_name = choice.fixed;
  std::set<std::string, std::less<>> given;
  for (const std::string& text : assignments) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos) {
      throw invalid("setting {} has no '='; it must be key=value", in_quotes(text));
    }
    const std::string key(trim(std::string_view(text).substr(0, at)));
    if (std::find(by_name.begin(), by_name.end(), key) != by_name.end()) {
      throw invalid(
          "the name {} already fixes setting {}; give [[method={}]] with "
          "{}, or leave that out",
          name, key, choice.method, in_quotes(text));
    }
    if (!given.insert(key).second) {
      throw invalid("{}: setting {} is given twice, the second time as {}; give it once", name, key,
                    in_quotes(text));
    }
    set(choice, key, std::string_view(text).substr(at + 1));
  }
  return choice;
}

bool is_method(std::string_view name) {
  try {
    (void)parse_method(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

namespace {

/// Where one setting takes the place of another, giving both leaves one of them ignored.
void refuse_ignored(const MethodChoice& choice) {
  const auto pair = visit_method(
      []<class S>(const S& own) { return MethodTraits<S>::in_place_of(own); }, choice.settings);
  if (!pair) return;
  const auto given = [&](std::string_view key) {
    return std::find(choice.fixed.begin(), choice.fixed.end(), key) != choice.fixed.end();
  };
  if (given(pair->first) && given(pair->second)) {
    throw invalid("{}: {} and {} are both given, but {} is in place of {}: leave one out",
                  choice.method, pair->first, pair->second, pair->first, pair->second);
  }
}

}  // namespace

void set(MethodChoice& choice, std::string_view key, std::string_view text) {
  const MethodInfo info = method_info(choice.settings);
  if (is_of_decision(key)) {
    if (!info.probabilities) {
      throw invalid("{} has no probabilities, so {} has no meaning for it", choice.method, key);
    }
    set_field(choice.decision, choice.method, key, text);
    return;
  }
  std::vector<std::string> there_are;
  for (const FieldInfo& field : info.fields) there_are.push_back(field.name);
  if (std::find(there_are.begin(), there_are.end(), key) == there_are.end()) {
    if (info.probabilities) std::ranges::copy(decision_names(), std::back_inserter(there_are));
    refuse_setting(choice.method, key, there_are);
  }
  set_any(choice.settings, key, text);
  choice.fixed.emplace_back(key);
  refuse_ignored(choice);
}

bool takes_missing_pairs(const AnySettings& settings) {
  return visit_method([]<class S>(const S&) { return MethodTraits<S>::takes_missing_pairs; },
                      settings);
}

bool keeps_pairs(const AnySettings& settings) {
  return visit_method(
      []<class S>(const S&) {
        return requires(typename MethodTraits<S>::Model model) { model.pairs; };
      },
      settings);
}

bool takes_both_directions(const AnySettings& settings) {
  return visit_method([]<class S>(const S& own) { return !MethodTraits<S>::one_direction(own); },
                      settings);
}

bool takes_neighbours(const AnySettings& settings) {
  // Those of a method on vectors are neighbours of images, not of similarities.
  return !learns_from_vectors(settings) && field_with(settings, FieldRole::kNeighbours);
}

std::optional<FieldInfo> field_with(const AnySettings& settings, FieldRole role) {
  for (FieldInfo& field : method_info(settings).fields) {
    if (field.role == role) return std::move(field);
  }
  return std::nullopt;
}

FieldRole role_of(const AnySettings& settings, std::string_view field) {
  for (const FieldInfo& one : method_info(settings).fields) {
    if (one.name == field) return one.role;
  }
  return FieldRole::kOwn;
}

void switch_evidence(MethodChoice& choice, bool on) {
  for (const FieldRole role : {FieldRole::kProbability, FieldRole::kCertificate}) {
    const std::optional<FieldInfo> field = field_with(choice.settings, role);
    if (field) set_any(choice.settings, field->name, on ? "yes" : "no");
  }
}

void leave_out_proof(AnySettings& settings) {
  const std::optional<FieldInfo> field = field_with(settings, FieldRole::kProof);
  if (field) set_any(settings, field->name, "no");
}

void switch_probability(MethodChoice& choice) {
  const std::optional<FieldInfo> field = field_with(choice.settings, FieldRole::kProbability);
  if (field) set_any(choice.settings, field->name, "yes");
}

bool learns_from_vectors(const AnySettings& settings) {
  return visit_method([]<class S>(const S&) { return MethodTraits<S>::learns_from_vectors; },
                      settings);
}

bool tunes_itself(const AnySettings& settings) {
  return visit_method([]<class S>(const S&) { return MethodTraits<S>::tunes_itself; }, settings);
}

namespace {

std::vector<std::string> names_with(bool MethodInfo::*ability) {
  std::vector<std::string> able;
  for (const MethodInfo& method : all_methods()) {
    if (method.*ability) able.push_back(method.name);
  }
  return able;
}

}  // namespace

void check_input_kind(const MethodChoice& choice, std::size_t matrices, bool vectors) {
  const auto refuse = [&](const std::string& rule) { throw invalid("{} {}", choice.name, rule); };
  if (learns_from_vectors(choice.settings)) {
    if (!vectors) refuse("learns from vectors, and similarities were given: give [[data]]");
    return;
  }
  if (matrices == 0) {
    refuse(
        fmt::format("learns from similarities, and vectors alone were given: give "
                    "[[measure]]; these learn from vectors: {}",
                    list_some(names_with(&MethodInfo::learns_from_vectors), 60)));
  }
  if (matrices > 1 && !method_info(choice.settings).several_matrices) {
    refuse(fmt::format("learns from one matrix, and {} were given; these learn from several: {}",
                       matrices, list_some(names_with(&MethodInfo::several_matrices), 60)));
  }
}

Json settings_json(const AnySettings& settings) {
  return visit_method([](const auto& own) { return settings_json(own); }, settings);
}

AnySettings settings_of(std::string_view method, const Json& json) {
  AnySettings settings = defaults_of(method);
  visit_method([&](auto& own) { settings_from_json(own, method, json); }, settings);
  return settings;
}

AnyModel model_of(std::string_view method) {
  return visit_method(
      [](const auto& own) -> AnyModel {
        return AnyModel(ModelVariant(typename MethodTraits<std::decay_t<decltype(own)>>::Model{}));
      },
      defaults_of(method));
}

namespace {

/// Finds the first part of a model with a number that no prediction can be made from. Single
/// numbers may be NaN, which says that there is none; a class without samples has -infinity.
class FiniteCheck final : public SavingArchive {
 public:
  std::optional<std::string> broken;

 private:
  void save(std::string_view name, SavedPart part) override {
    const auto* vector = std::get_if<const Vector*>(&part);
    const auto* matrix = std::get_if<const Matrix*>(&part);
    const auto* table = std::get_if<const SavedTable*>(&part);
    if (vector != nullptr) check(name, **vector);
    if (matrix != nullptr) check(name, **matrix);
    if (table != nullptr) check(name, (*table)->transpose());
  }
  void check(std::string_view name, const MatrixRef& value) {
    if (broken || value.size() == 0) return;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (!(value.array() < kInfinity).all()) broken = std::string(name);
  }
};

void check_finite(const AnyModel& model, std::string_view method) {
  FiniteCheck check;
  archive(model, check);
  if (!check.broken) return;
  throw invalid(
      "{}: numerical failure: {} of the model has numbers that are not finite, "
      "and nothing can be predicted from them; bring similarities and settings "
      "nearer to 1",
      method, in_quotes(*check.broken));
}

}  // namespace

Fitted<AnyModel> fit(SharedWork& work, const AnySettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

FittedPath<AnyModel> fit_path(SharedWork& work, Path<AnySettings> path, RunContext& ctx) {
  if (path.empty()) return {};
  return visit_method(
      [&](const auto& first) {
        using S = std::decay_t<decltype(first)>;
        std::vector<S> own;
        for (const AnySettings& settings : path) {
          own.push_back(std::get<S>(*settings));
          validate(own.back(), MethodTraits<S>::name);
        }
        FittedPath<AnyModel> fitted;
        for (auto& one : fit_path(work, Path<S>(own), ctx)) {
          using M = std::decay_t<decltype(one.model)>;
          bool checked = false;
          if constexpr (requires { same_numbers(one.model, one.model); }) {
            checked = !fitted.empty() && same_numbers(std::get<M>(*fitted.back().model), one.model);
          }
          fitted.push_back({AnyModel(ModelVariant(std::move(one.model))), std::move(one.info)});
          if (!checked) check_finite(fitted.back().model, MethodTraits<S>::name);
        }
        return fitted;
      },
      path.front());
}

Prediction predict(const AnyModel& model, const QueryBlock& queries, RunContext& ctx) {
  return visit_method([&](const auto& own) { return predict(own, queries, ctx); }, model);
}

std::vector<Prediction> predict_path(std::span<const AnyModel> models, const QueryBlock& queries,
                                     RunContext& ctx) {
  if (models.empty()) return {};
  return visit_method(
      [&](const auto& first) {
        using M = std::decay_t<decltype(first)>;
        std::vector<Prediction> predictions;
        if constexpr (requires(std::span<const M> own) { predict_path(own, queries, ctx); }) {
          std::vector<M> own;
          for (const AnyModel& model : models) own.push_back(std::get<M>(*model));
          predictions = predict_path(std::span<const M>(own), queries, ctx);
        } else {
          for (const AnyModel& model : models) {
            const M& own = std::get<M>(*model);
            predictions.push_back(predict(own, over_needed(own, queries), ctx));
          }
        }
        return predictions;
      },
      models.front());
}

QueryBlock over_needed(const AnyModel& model, const QueryBlock& queries) {
  return visit_method([&](const auto& own) { return over_needed(own, queries); }, model);
}

bool needs_self_similarities(const AnyModel& model) {
  return visit_method(
      [](const auto& own) {
        if constexpr (requires { needs_self(own); }) return needs_self(own);
        return false;
      },
      model);
}

namespace {

/// Whether the method of a model learns from vectors.
template <class Model, class... S>
constexpr bool is_of_vectors(MethodList<S...>) {
  return ((std::is_same_v<typename MethodTraits<S>::Model, Model> &&
           MethodTraits<S>::learns_from_vectors) ||
          ...);
}

}  // namespace

std::vector<Index> needed_columns(const AnyModel& model, Index samples) {
  return visit_method(
      [&](const auto& own) -> std::vector<Index> {
        using Model = std::decay_t<decltype(own)>;
        if constexpr (is_of_vectors<Model>(Methods{})) return {};
        if constexpr (requires { needed_columns(own); }) return needed_columns(own);
        return all_positions(samples);
      },
      model);
}

namespace {

[[noreturn]] void refuse_explanation(std::string_view method) {
  const std::vector<std::string> able = names_with(&MethodInfo::explains);
  throw invalid("{} cannot name the training samples that decided a prediction; {}", method,
                able.empty() ? "no method here can be explained"
                             : "these methods can: " + list_some(able, 60));
}

}  // namespace

void check_explains(const AnySettings& settings) {
  if (!method_info(settings).explains) refuse_explanation(method_name(settings));
}

std::vector<Explanation> explain(const AnyModel& model, const QueryBlock& queries,
                                 std::span<const int> labels, RunContext& ctx) {
  return visit_method(
      [&](const auto& own) -> std::vector<Explanation> {
        if constexpr (ExplainedModel<std::decay_t<decltype(own)>>) {
          return explain(own, queries, labels, ctx);
        }
        refuse_explanation("the method");
      },
      model);
}

void archive(const AnyModel& model, SavingArchive& archiver) {
  visit_method([&](const auto& own) { archive(own, archiver); }, model);
}

void archive(AnyModel& model, LoadingArchive& archiver) {
  visit_method([&](auto& own) { archive(own, archiver); }, model);
}

namespace {

template <class Model>
concept MetricModel = requires(const Model& model, const Block& vectors, const RunContext& ctx) {
  learned_similarity(model, vectors, ctx);
};

}  // namespace

bool learns_metric(const AnySettings& settings) {
  return visit_method(
      [](const auto& own) {
        return MetricModel<typename MethodTraits<std::decay_t<decltype(own)>>::Model>;
      },
      settings);
}

Matrix learned_similarity(const AnyModel& model, const Block& vectors, const RunContext& ctx) {
  return visit_method(
      [&](const auto& own) -> Matrix {
        if constexpr (MetricModel<std::decay_t<decltype(own)>>) {
          return learned_similarity(own, vectors, ctx);
        }
        throw invalid("the method learns no metric");
      },
      model);
}

}  // namespace kith

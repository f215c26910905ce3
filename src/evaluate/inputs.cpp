// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/errors.hpp"
#include "evaluate/budget.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/text.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/pipeline/trained_model.hpp"

namespace kith {
namespace {

using Assignments = std::vector<std::pair<std::string, std::string>>;

/// These are about the table as it was given, not about how a method sees it.
bool is_searchable(std::string_view field) { return field != "missing"; }

/// "measure.gamma" and "input.gamma" say which gamma is meant, where both could be.
constexpr std::string_view kOfMeasure = "measure.";
constexpr std::string_view kOfInput = "input.";

std::string_view without(std::string_view prefix, std::string_view key) {
  return key.starts_with(prefix) ? key.substr(prefix.size()) : key;
}

bool is_measure_field(std::string_view name) {
  const std::string_view key = without(kOfMeasure, name);
  if (is_of_every_measure(key)) return false;
  const std::vector<FieldInfo> known = fields(MeasureSettings{});
  return std::any_of(known.begin(), known.end(),
                     [&](const FieldInfo& field) { return field.name == key; });
}

bool is_input_setting(std::string_view name) {
  const std::string_view key = without(kOfInput, name);
  const std::vector<FieldInfo> known = fields(InputSettings{});
  return is_searchable(key) && std::any_of(known.begin(), known.end(), [&](const FieldInfo& field) {
           return field.name == key;
         });
}

bool some_measure_takes(std::span<const RawMatrix> samples, std::string_view key) {
  return std::any_of(samples.begin(), samples.end(), [&](const RawMatrix& one) {
    return measure_info(one.measure.measure).takes(key);
  });
}

/// Whether scaling a table changes more than a factor.
struct ScaleFacts {
  bool unit = false;    ///< its values do not run from 0 to 1 yet
  bool cosine = false;  ///< its self-similarities are above 0 and differ
};
ScaleFacts scale_facts(const SimilaritySet& set) {
  const auto* dense = std::get_if<DenseBlock>(&set.block);
  if (dense == nullptr || dense->rows() == 0 || dense->rows() != dense->cols()) return {};
  double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
  for (Index i = 0; i < dense->rows(); ++i) {
    for (const double value : dense->row(i)) {
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double self = (*dense)(i, i);
    least = std::isnan(self) ? -INFINITY : std::min(least, self);
    most = std::max(most, self);
  }
  constexpr double kSame = 1e-9;
  return {.unit = low < high && (std::abs(low) > kSame || std::abs(high - 1) > kSame),
          .cosine = least > 0 && most > least * (1 + kSame)};
}

/// Every combination of one value per axis, the first axis slowest.
std::vector<Assignments> combinations(std::span<const GridAxis> axes) {
  std::vector<Assignments> all = {{}};
  for (const GridAxis& axis : axes) {
    std::vector<Assignments> finer;
    for (const Assignments& before : all) {
      for (const std::string& value : axis.values) {
        finer.push_back(before);
        finer.back().emplace_back(axis.field, value);
      }
    }
    all = std::move(finer);
  }
  return all;
}

class Resolver {
 public:
  Resolver(ExperimentData& data, std::span<const RawMatrix> samples, const InputSearch& search,
           RunContext& ctx)
      : data_(data), samples_(samples), search_(search), ctx_(ctx) {
    for (const SimilaritySet& set : data.matrices.sets) facts_.push_back(scale_facts(set));
    if (is_given("rescale")) search_.spread = false;
    if (search_.spread && !facts_.empty() && !is_sparse(kEveryMatrix)) {
      data_.input.rescale = Rescale::kSpread;
    }
  }

  /// After all candidates.
  void note() const {
    if (!left_out_cosine_) return;
    ctx_.message(
        "the scale cosine is not searched, though self-similarities differ: predictions would need "
        "that of each new sample ([[self]]). [[grid]] with scale=none,unit,cosine searches it");
  }

  void resolve(Candidate& candidate) {
    if (candidate.is_committee()) {
      for (Candidate& member : candidate.members) {
        for (const GridAxis& axis : candidate.input_axes) {
          if (planning_) member.input_axes.push_back(axis);
        }
        resolve(member);
      }
      return;
    }
    candidate.inputs.clear();
    for (const GridAxis& axis : candidate.input_axes) refuse_other_than_given(candidate, axis);
    const MethodInfo method = method_info(candidate.choice.settings);
    const std::size_t tables = data_.matrices.sets.size();
    if (method.learns_from_vectors || tables == 0) {
      if (!candidate.input_axes.empty()) {
        throw invalid("{} learns from vectors, and {} is about similarities", candidate.name,
                      candidate.input_axes.front().field);
      }
      candidate.inputs.push_back({.settings = data_.input});
      return;
    }
    const bool chooses = search_.matrices && tables > 1 && !method.several_matrices;
    for (std::size_t m = 0; m < (chooses ? tables : 1); ++m) {
      const Index matrix = chooses ? static_cast<Index>(m) : kEveryMatrix;
      for (const Assignments& one : combinations(axes_of(candidate, method, matrix))) {
        add(candidate, variant_of(candidate, matrix, one));
      }
    }
    if (!candidate.inputs.empty()) return;
    // All of its ways to measure were left out: the one that was given is there.
    for (std::size_t m = 0; m < (chooses ? tables : 1); ++m) {
      const Index matrix = chooses ? static_cast<Index>(m) : kEveryMatrix;
      for (Assignments one : combinations(axes_of(candidate, method, matrix))) {
        std::erase_if(
            one, [&](const auto& value) { return is_of_measure(candidate, value.first, matrix); });
        add(candidate, variant_of(candidate, matrix, one));
      }
    }
  }

  /// Between planning, which checks every setting and measures nothing, and resolving.
  void end_planning() {
    planning_ = false;
    if (!search_.seconds) return;
    std::vector<double> seconds;
    for (const InputVariant& one : planned_) seconds.push_back(estimated_seconds(one));
    double left = *search_.seconds;
    for (const std::size_t k : detail::cheapest_first(seconds)) {
      left -= seconds[k];
      if (left < 0) leave_out(planned_[k], seconds[k]);
    }
  }

 private:
  /// The default axes for a method on a table, and those of the candidate in their place.
  std::vector<GridAxis> axes_of(const Candidate& candidate, const MethodInfo& method,
                                Index matrix) {
    std::vector<GridAxis> axes;
    const auto taken = [&](const char* field) {
      return std::any_of(
          candidate.input_axes.begin(), candidate.input_axes.end(),
          [&](const GridAxis& axis) { return without(kOfInput, axis.field) == field; });
    };
    const bool distances = are_distances(matrix);
    if (search_.conversions && !is_given("from-distance") && distances &&
        !method.several_matrices && data_.input.from_distance == FromDistance::kAuto &&
        !taken("from-distance")) {
      axes.push_back({.field = "from-distance", .values = {"negative", "exp"}});
      if (!takes_neighbours(candidate.choice.settings)) {
        axes.back().values = {"double-centre", "negative", "negative-square", "exp"};
      }
    }
    if (search_.scales && !is_given("scale") && !distances && !method.several_matrices &&
        data_.input.scale == ScaleRule::kNone && !taken("scale")) {
      const ScaleFacts facts =
          facts_[matrix == kEveryMatrix ? 0 : static_cast<std::size_t>(matrix)];
      GridAxis axis{.field = "scale", .values = {"none"}};
      if (facts.unit) axis.values.emplace_back("unit");
      if (facts.cosine && data_.input.diagonal == DiagonalRule::kGiven) {
        if (search_.cosine) axis.values.emplace_back("cosine");
        left_out_cosine_ = left_out_cosine_ || !search_.cosine;
      }
      if (axis.values.size() > 1) axes.push_back(std::move(axis));
    }
    axes.insert(axes.end(), candidate.input_axes.begin(), candidate.input_axes.end());
    return axes;
  }

  bool is_given(std::string_view field) const {
    return std::ranges::find(search_.given, field) != search_.given.end();
  }

  /// What a user set stays as it is; a list that says otherwise would be ignored.
  void refuse_other_than_given(const Candidate& candidate, const GridAxis& axis) const {
    refuse_other_than_given_to_measure(candidate, axis);
    const std::string_view field = without(kOfInput, axis.field);
    if (!is_given(field) || (is_measure_field(field) && some_measure_takes(samples_, field)))
      return;
    const std::string own = value_of(data_.input, field);
    if (axis.values.size() == 1 && axis.values.front() == own) return;
    throw invalid("{}: {} is set by [[{}={}]], and {}={} asks for something else; give one of them",
                  candidate.name, field, field, own, axis.field, fmt::join(axis.values, ","));
  }

  void refuse_other_than_given_to_measure(const Candidate& candidate, const GridAxis& axis) const {
    const std::string_view field = without(kOfMeasure, axis.field);
    for (const RawMatrix& one : samples_) {
      if (!measure_info(one.measure.measure).takes(field)) continue;
      const auto given = std::ranges::find(one.given, field, &GivenSetting::field);
      if (given == one.given.end() || !can_do_without(one.measure, field)) continue;
      const std::string own = value_of(one.measure, field);
      if (axis.values.size() == 1 && axis.values.front() == own) continue;
      const std::string other = fmt::format("{}={}", axis.field, fmt::join(axis.values, ","));
      throw invalid("{}: {} is set by {}, and {} asks for something else; give one of them",
                    candidate.name, field, given->said,
                    axis.values.size() > 1 ? fmt::format("[[grid={}]]", other) : other);
    }
  }

  /// Where a measure has no value of its own for a setting, the user must give one to search others
  /// as well: the gap costs of some matrices.
  static bool can_do_without(MeasureSettings measure, std::string_view field) {
    set_field(measure, enum_name(measure.measure), field, value_of(MeasureSettings{}, field));
    try {
      check_settings(measure);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  template <class Settings>
  static std::string value_of(const Settings& settings, std::string_view field) {
    for (const FieldInfo& one : fields(settings)) {
      if (one.name == field) return one.default_value;
    }
    return {};
  }

  std::ptrdiff_t distances_among(std::span<const std::size_t> tables) const {
    return std::count_if(tables.begin(), tables.end(), [&](std::size_t m) {
      return data_.matrices.sets[m].kind == PairKind::kDistance;
    });
  }
  std::vector<std::size_t> tables_of(Index matrix) const {
    return tables_used({.settings = {}, .matrix = matrix}, data_.matrices.sets.size());
  }
  bool has_distances(Index matrix) const { return distances_among(tables_of(matrix)) > 0; }
  bool are_distances(Index matrix) const {
    const std::vector<std::size_t> tables = tables_of(matrix);
    return distances_among(tables) == std::ssize(tables);
  }

  InputVariant variant_of(const Candidate& candidate, Index matrix, const Assignments& values) {
    InputVariant variant{.settings = settled(data_.input, candidate.choice.settings),
                         .matrix = matrix};
    if (search_.spread) {
      variant.settings.rescale = is_sparse(matrix) ? Rescale::kNone : Rescale::kSpread;
    }
    for (const auto& [field, value] : values) {
      if (is_of_measure(candidate, field, matrix)) {
        variant.measure.emplace_back(without(kOfMeasure, field), value);
      } else if (is_input_setting(field)) {
        if (!are_distances(matrix)) refuse_distance_field(candidate, without(kOfInput, field));
        set_field(variant.settings, candidate.name, without(kOfInput, field), value);
      } else {
        throw invalid("{}: {} is a setting of measures, and none here takes it", candidate.name,
                      in_quotes(field));
      }
    }
    variant.settings = settled(variant.settings, candidate.choice.settings);
    if (!has_distances(matrix)) {  // what is said of them would make two variants of one
      variant.settings.from_distance = data_.input.from_distance;
    } else if (variant.settings.from_distance != FromDistance::kExp) {
      variant.settings.gamma.reset();  // of exp alone: other conversions are one variant
    }
    if (!variant.measure.empty()) variant.tables = measured(variant);
    return variant;
  }

  /// Whether a field is one of the measures and not one of the input; some are in both.
  bool is_of_measure(const Candidate& candidate, std::string_view field, Index matrix) const {
    if (!is_measure_field(field)) return false;
    const std::string_view key = without(kOfMeasure, field);
    const bool taken = some_measure_takes(samples_, key);
    if (taken && is_input_setting(field) && has_distances(matrix)) {
      throw invalid(
          "{0}: {1} could be a setting of the measure or of the conversion of distances; call it "
          "{2}{1} or {3}{1}",
          candidate.name, key, kOfMeasure, kOfInput);
    }
    return taken;
  }

  static void refuse_distance_field(const Candidate& candidate, std::string_view field) {
    if (field != "from-distance" && field != "gamma") return;
    throw invalid("{}: {} is about distances, and there are similarities", candidate.name, field);
  }

  bool is_sparse(Index matrix) const {
    for (const std::size_t m : tables_of(matrix)) {
      if (!std::holds_alternative<DenseBlock>(data_.matrices.sets[m].block)) return true;
    }
    return false;
  }

  static void add(Candidate& candidate, InputVariant variant) {
    if (variant.tables == kNotMeasured) return;
    auto& known = candidate.inputs;
    if (std::find(known.begin(), known.end(), variant) == known.end()) {
      known.push_back(std::move(variant));
    }
  }

  /// Which tables have these settings of the measure: measured where none has.
  std::size_t measured(const InputVariant& variant) {
    for (std::size_t k = 0; k < data_.alternatives.size(); ++k) {
      if (data_.alternatives[k].measure == variant.measure) return k + 1;
    }
    const std::vector<RawMatrix> raw = with_measure(samples_, variant);
    if (is_as_given(raw)) return 0;
    if (planning_) return plan(variant, raw);
    if (is_left_out(variant)) return kNotMeasured;
    const Stopwatch clock;
    ctx_.message(fmt::format("measuring the pairs with {}", measure_words(variant)));
    ExperimentData other = make_experiment_data(raw, data_.labels, data_.input, ctx_);
    data_.alternatives.push_back({.measure = variant.measure,
                                  .matrices = std::move(other.matrices),
                                  .symmetric = std::move(other.symmetric)});
    data_.measuring = std::max(data_.measuring, other.measuring);
    if (search_.seconds) leave_out_late(clock.seconds());
    return data_.alternatives.size();
  }

  /// Whether the tables of the data were measured by the same settings.
  bool is_as_given(std::span<const RawMatrix> raw) const {
    for (std::size_t m = 0; m < raw.size(); ++m) {
      check_settings(raw[m].measure);
      if (settings_json(with_defaults(raw[m].measure, raw[m].samples)) !=
          settings_json(with_defaults(samples_[m].measure, samples_[m].samples))) {
        return false;
      }
    }
    return true;
  }

  std::size_t plan(const InputVariant& variant, std::span<const RawMatrix> raw) {
    for (const RawMatrix& one : raw) {
      if (!learns_from_labels(one.measure.measure)) continue;
      throw invalid("the settings of {} cannot be searched: it learns from the labels",
                    enum_name(one.measure.measure));
    }
    const auto same = [&](const InputVariant& one) { return one.measure == variant.measure; };
    if (std::ranges::none_of(planned_, same)) planned_.push_back(variant);
    return 0;
  }

  /// Of measuring all pairs, by those of a few samples.
  double estimated_seconds(const InputVariant& variant) const {
    constexpr Index kFewest = 10;
    constexpr Index kMost = 40;
    const Index n = data_.labels.size();
    const Index few = std::min(n, std::clamp(n / 10, kFewest, kMost));
    std::vector<Index> some;
    for (Index k = 0; k < few; ++k) some.push_back(k * n / few);
    RunContext quiet = ctx_;
    quiet.sink = nullptr;
    const Stopwatch clock;
    for (RawMatrix& one : with_measure(samples_, variant)) {
      one.samples = select(one.samples, some);
      (void)learn_measure(one, select(data_.labels, some), quiet);
    }
    const double share = static_cast<double>(few) / static_cast<double>(n);
    return clock.seconds() / (share * share);
  }

  static std::string measure_words(const InputVariant& variant) {
    std::string words;
    for (const auto& [field, value] : variant.measure) {
      words += fmt::format("{}{}={}", words.empty() ? "" : " ", field, value);
    }
    return words;
  }

  void leave_out(const InputVariant& variant, double seconds) {
    left_out_.push_back(variant.measure);
    data_.not_measured.push_back(
        fmt::format("{} (about {:.2g} s)", measure_words(variant), seconds));
  }
  bool is_left_out(const InputVariant& variant) const {
    return std::ranges::find(left_out_, variant.measure) != left_out_.end();
  }

  /// Measuring may take longer than a few samples tell: what is left when the time is over is left
  /// out as well.
  void leave_out_late(double took) {
    *search_.seconds -= took;
    if (*search_.seconds > 0) return;
    for (const InputVariant& one : planned_) {
      const bool measured = std::ranges::any_of(
          data_.alternatives,
          [&](const ExperimentData::Alternative& other) { return other.measure == one.measure; });
      if (!measured && !is_left_out(one)) leave_out(one, took);
    }
  }

  static constexpr std::size_t kNotMeasured = static_cast<std::size_t>(-1);

  ExperimentData& data_;
  std::span<const RawMatrix> samples_;
  InputSearch search_;
  RunContext& ctx_;
  std::vector<ScaleFacts> facts_;
  bool left_out_cosine_ = false;
  bool planning_ = true;
  std::vector<InputVariant> planned_;  ///< one for each way to measure that is searched
  std::vector<std::vector<std::pair<std::string, std::string>>> left_out_;
};

}  // namespace

bool is_input_field(std::string_view key) { return is_input_setting(key) || is_measure_field(key); }

Json variant_json(const InputVariant& variant, const ExperimentData& data) {
  Json json = Json::object();
  if (data.matrices.sets.empty()) return json;
  if (variant.matrix != kEveryMatrix) {
    json["matrix"] = data.matrices.sets[static_cast<std::size_t>(variant.matrix)].name;
  }
  for (const auto& [field, value] : variant.measure) {
    json[json.contains(field) ? std::string(kOfMeasure) + field : field] = value;
  }
  const Json own = settings_json(variant.settings);
  const Json given = settings_json(data.input);
  bool distances = false;
  for (const std::size_t m : tables_used(variant, data.matrices.sets.size())) {
    distances = distances || data.matrices.sets[m].kind == PairKind::kDistance;
  }
  for (const auto& [field, value] : own.items()) {
    const bool always = field == (distances ? "from-distance" : "scale");
    if (field == "from-distance" && !distances) continue;
    if (!always && value == given.at(field)) continue;
    json[json.contains(field) ? std::string(kOfInput) + field : field] = value;
  }
  return json;
}

std::string variant_text(const InputVariant& variant, const ExperimentData& data) {
  std::string text;
  const Json fields = variant_json(variant, data);
  for (const auto& [key, value] : fields.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

void resolve_inputs(ExperimentData& data, std::span<const RawMatrix> samples,
                    const InputSearch& search, std::vector<Candidate>& candidates,
                    RunContext& ctx) {
  Resolver resolver(data, samples, search, ctx);
  for (Candidate& candidate : candidates) resolver.resolve(candidate);
  resolver.end_planning();
  for (Candidate& candidate : candidates) resolver.resolve(candidate);
  resolver.note();
}

std::size_t count_variants(std::span<const Candidate> candidates) {
  std::vector<InputVariant> all;
  for (const Candidate& candidate : candidates) {
    for (const Candidate& part : parts_of(candidate)) {
      for (const InputVariant& one : part.inputs) {
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
      }
    }
  }
  return all.size();
}

std::vector<RawMatrix> with_measure(std::span<const RawMatrix> samples,
                                    const InputVariant& variant) {
  std::vector<RawMatrix> changed(samples.begin(), samples.end());
  for (RawMatrix& one : changed) {
    for (const auto& [field, value] : variant.measure) {
      if (!measure_info(one.measure.measure).takes(field)) continue;
      set_field(one.measure, enum_name(one.measure.measure), field, value);
    }
  }
  return changed;
}

std::vector<std::size_t> tables_used(const InputVariant& variant, std::size_t tables) {
  if (variant.matrix != kEveryMatrix) return {static_cast<std::size_t>(variant.matrix)};
  std::vector<std::size_t> all(tables);
  for (std::size_t m = 0; m < tables; ++m) all[m] = m;
  return all;
}

}  // namespace kith

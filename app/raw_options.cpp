// SPDX-License-Identifier: Apache-2.0
#include "raw_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/data/classes_note.hpp"
#include "kith/inspect/inspect.hpp"

namespace kith::app {
namespace {

/// --measure is parsed here, gamma has a flag already, and noise is of a matrix that `kith measure`
/// makes.
constexpr std::array<std::string_view, 4> kNoFlags = {"measure", "gamma", "perturb", "xi"};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

bool has_flag(std::string_view setting) {
  return std::find(kNoFlags.begin(), kNoFlags.end(), setting) == kNoFlags.end();
}

bool given(const CLI::App& command, const std::string& setting) {
  return command.count("--" + setting) > 0;
}

/// The settings of measures that stand on the command line as flags, with what was typed.
std::vector<std::pair<std::string, std::string>> typed_settings(const CLI::App& command) {
  std::vector<std::pair<std::string, std::string>> typed;
  for (const FieldInfo& field : fields(MeasureSettings{})) {
    if (!has_flag(field.name) || !given(command, field.name)) continue;
    typed.emplace_back(field.name, command.get_option("--" + field.name)->results().back());
  }
  return typed;
}

/// A measure without data would be ignored.
void refuse_measure_flags(const CLI::App& command) {
  std::string flag = given(command, "measure") ? "measure" : "";
  if (const auto typed = typed_settings(command); !typed.empty()) flag = typed.front().first;
  if (flag.empty()) return;
  refuse(fmt::format("--{} is about raw samples, and no --data FILE is given", flag));
}

/// What is done to similarities is nothing to vectors.
void refuse_similarity_flags(const CLI::App& command, const InputNeeds& needs) {
  const auto check = [&](const std::string& field) {
    if (!given(command, field)) return;
    refuse(fmt::format("--{} is about similarities, and {} learns from vectors alone", field,
                       needs.vectors));
  };
  check("measure");
  for (const FieldInfo& field : fields(MeasureSettings{})) {
    if (has_flag(field.name)) check(field.name);
  }
  for (const FieldInfo& field : fields(InputSettings{})) check(field.name);
}

void check_raw_flags(const InputOptions& input, const RawOptions& raw, const InputNeeds& needs) {
  if (!input.similarity.empty() || !input.distance.empty()) {
    refuse(
        "--data and --similarity or --distance exclude each other: the pairs are either measured "
        "or read");
  }
  refuse_read_flags(*raw.command);
  if (!needs.vectors.empty() && raw.data.size() != 1) {
    refuse(fmt::format("{} learns from the vectors of one file, and {} times --data was given",
                       needs.vectors, raw.data.size()));
  }
  if (needs.similarities.empty()) {
    refuse_similarity_flags(*raw.command, needs);
    return;
  }
  if (raw.measures.empty()) {
    refuse(
        fmt::format("--data needs --measure NAME, what is computed for each pair: {} takes "
                    "similarities; `kith measure --help` lists the measures",
                    needs.similarities));
  }
  if (raw.data.size() != 1 && raw.data.size() != raw.measures.size()) {
    refuse(
        fmt::format("{} times --data and {} times --measure: give one file for all measures, or "
                    "one for each in the same order",
                    raw.data.size(), raw.measures.size()));
  }
}

/// --measure as it was typed: [name=]MEASURE[:key=value,...].
struct MeasureText {
  std::string name;
  std::string measure;
  std::vector<std::pair<std::string, std::string>> settings;
};
MeasureText parse_measure(const std::string& text) {
  MeasureText parts;
  const std::size_t colon = text.find(':');
  parts.measure = text.substr(0, colon);
  if (const std::size_t equals = parts.measure.find('='); equals != std::string::npos) {
    parts.name = parts.measure.substr(0, equals);
    parts.measure = parts.measure.substr(equals + 1);
  }
  if (colon == std::string::npos) return parts;
  for (const std::string_view one : split(std::string_view(text).substr(colon + 1), ',')) {
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse(fmt::format("--measure {}: {} is no setting; write it MEASURE:key=value,key=value",
                         in_quotes(text), in_quotes(one)));
    }
    const std::string key(one.substr(0, equals));
    if (std::any_of(parts.settings.begin(), parts.settings.end(),
                    [&](const auto& earlier) { return earlier.first == key; })) {
      refuse(fmt::format("--measure {}: {} is given twice", in_quotes(text), in_quotes(key)));
    }
    parts.settings.emplace_back(key, one.substr(equals + 1));
  }
  return parts;
}

/// "dnafull takes ...": the settings that a measure has, for messages.
std::string setting_list(const MeasureInfo& info) {
  std::string list;
  for (const std::string_view setting : info.settings) {
    if (!setting.empty()) list += (list.empty() ? "" : ", ") + std::string(setting);
  }
  return list.empty() ? "no settings" : list;
}

/// What a measure says of itself goes before what the flags say of all.
void set_own(MeasureSettings& settings, const MeasureText& parts, const std::string& subject) {
  const MeasureInfo& info = measure_info(settings.measure);
  for (const auto& [key, value] : parts.settings) {
    if (!info.takes(key)) {
      refuse(fmt::format("{}: {} is no setting of {}; it has {}", subject, in_quotes(key),
                         enum_name(info.measure), setting_list(info)));
    }
    set_field(settings, subject, key, value);
  }
}

/// One measure with its own settings, and those of the flags that it takes.
RawMatrix parse_matrix(const std::string& text, const RawOptions& raw) {
  const std::string subject = "--measure " + in_quotes(text);
  const MeasureText parts = parse_measure(text);
  RawMatrix matrix;
  matrix.name = parts.name;
  set_field(matrix.measure, subject, "measure", parts.measure);
  const MeasureInfo& info = measure_info(matrix.measure.measure);
  const auto is_own = [&](const std::string& key) {
    return std::any_of(parts.settings.begin(), parts.settings.end(),
                       [&](const auto& own) { return own.first == key; });
  };
  for (const auto& [key, value] : typed_settings(*raw.command)) {
    if (!info.takes(key)) continue;
    set_field(matrix.measure, "--" + key, key, value);
    if (is_own(key)) continue;
    matrix.given.push_back({key, fmt::format("--{} {}", key, value)});
  }
  set_own(matrix.measure, parts, subject);
  for (const auto& [key, value] : parts.settings) {
    matrix.given.push_back({key, fmt::format("--measure {}", text)});
  }
  return matrix;
}

std::string names_of(const std::vector<RawMatrix>& matrices) {
  std::string names;
  for (const RawMatrix& one : matrices) {
    names += (names.empty() ? "" : ", ") + std::string(enum_name(one.measure.measure));
  }
  return names;
}

/// Every flag must be of some measure.
void check_flags_are_taken(const std::vector<RawMatrix>& matrices, const RawOptions& raw) {
  for (const auto& [key, value] : typed_settings(*raw.command)) {
    const bool taken = std::any_of(
        matrices.begin(), matrices.end(),
        [&, &k = key](const RawMatrix& one) { return measure_info(one.measure.measure).takes(k); });
    if (!taken) refuse(fmt::format("--{} is no setting of {}", key, names_of(matrices)));
  }
}

bool is_distance(const RawMatrix& matrix) {
  return measure_info(matrix.measure.measure).values == PairKind::kDistance;
}

/// The flag --gamma is of the measures that take one and have none of their own, else of
/// --from-distance exp.
void share_gamma(LabelledInput& found, const RawOptions& raw) {
  if (!given(*raw.command, "gamma")) return;
  const bool distances = std::any_of(found.samples.begin(), found.samples.end(), is_distance);
  const bool from_distance = distances && found.condition.from_distance == FromDistance::kExp;
  bool taken = false;
  for (RawMatrix& matrix : found.samples) {
    if (!measure_info(matrix.measure.measure).takes("gamma") || matrix.measure.gamma) continue;
    if (from_distance) {
      refuse(
          fmt::format("--gamma could be of {0} or of --from-distance exp; give the one of the "
                      "measure as --measure {0}:gamma=NUMBER",
                      enum_name(matrix.measure.measure)));
    }
    matrix.measure.gamma = found.condition.gamma;
    matrix.given.push_back(
        {"gamma", "--gamma " + raw.command->get_option("--gamma")->results().back()});
    taken = true;
  }
  if (taken) {
    found.condition.gamma = InputSettings{}.gamma;
  } else if (!from_distance) {
    refuse(fmt::format("--gamma is no setting of {}{}", names_of(found.samples),
                       distances ? "; --from-distance exp uses it" : ""));
  }
}

void check_from_distance(const LabelledInput& found, const RawOptions& raw) {
  if (!given(*raw.command, "from-distance")) return;
  if (std::any_of(found.samples.begin(), found.samples.end(), is_distance)) return;
  refuse(
      fmt::format("--from-distance says how distances become similarities, and {} gives "
                  "similarities",
                  names_of(found.samples)));
}

void name_matrices(std::vector<RawMatrix>& matrices, const std::vector<NamedFile>& files) {
  for (RawMatrix& matrix : matrices) {
    const std::string& of_file = files[static_cast<std::size_t>(matrix.file)].name;
    if (!of_file.empty() && files.size() == matrices.size()) {
      if (!matrix.name.empty() && matrix.name != of_file) {
        refuse(
            fmt::format("{} and {} are two names of one matrix; --data and --measure give it "
                        "one",
                        in_quotes(of_file), in_quotes(matrix.name)));
      }
      matrix.name = of_file;
    } else if (matrix.name.empty() && files.size() < matrices.size()) {
      matrix.name = enum_name(matrix.measure.measure);
    }
  }
}

std::vector<RawMatrix> parse_matrices(const RawOptions& raw, const std::vector<NamedFile>& files) {
  std::vector<RawMatrix> matrices;
  for (const std::string& text : raw.measures) {
    matrices.push_back(parse_matrix(text, raw));
    matrices.back().file = files.size() == 1 ? 0 : std::ssize(matrices) - 1;
  }
  check_flags_are_taken(matrices, raw);
  name_matrices(matrices, files);
  return matrices;
}

/// The samples that are measured, where a method learns from them as well.
VectorData vectors_of(const std::vector<RawMatrix>& matrices, const InputNeeds& needs) {
  const RawMatrix& first = matrices.front();
  if (const auto* vectors = std::get_if<VectorData>(&first.samples)) return *vectors;
  refuse(fmt::format("{} learns from vectors, and {} is of {}", needs.vectors,
                     enum_name(first.measure.measure),
                     enum_name(measure_info(first.measure.measure).data)));
}

LabelledInput read_vectors(const InputOptions& input, const RawOptions& raw,
                           const RunContext& ctx) {
  LabelledInput found;
  found.vectors = std::get<VectorData>(
      read_raw(parse_named_file(raw.data.front()).path, RawKind::kVectors, ctx));
  found.labels =
      join_labels(read_labels(input.labels), found.vectors->ids, rows(found.vectors->values), ctx)
          .labels;
  return found;
}

/// The samples of each measure, and what is to be done to the pairs.
LabelledInput read_measured(const InputOptions& input, const RawOptions& raw,
                            const RunContext& ctx) {
  std::vector<NamedFile> files;
  std::vector<std::string> paths;
  for (const std::string& text : raw.data) {
    files.push_back(parse_named_file(text));
    paths.push_back(files.back().path);
  }
  LabelledInput found{.matrices = {},
                      .samples = parse_matrices(raw, files),
                      .vectors = std::nullopt,
                      .labels = {},
                      .condition = input.condition};
  check_from_distance(found, raw);
  share_gamma(found, raw);
  for (const RawMatrix& matrix : found.samples) check_settings(matrix.measure);
  found.samples = read_samples(std::move(found.samples), paths, ctx);
  std::vector<std::string> names;
  names.reserve(found.samples.size());
  for (const RawMatrix& matrix : found.samples) names.push_back(matrix.name);
  check_names_differ(names, "measures", "--measure name=MEASURE");
  return found;
}

JoinedLabels read_sample_labels(const InputOptions& input, const std::vector<RawMatrix>& samples,
                                const RunContext& ctx) {
  return join_labels(read_labels(input.labels), ids_of(samples), size_of(samples.front().samples),
                     ctx);
}

LabelledInput read_raw_input(const InputOptions& input, const RawOptions& raw,
                             const InputNeeds& needs, const RunContext& ctx) {
  check_raw_flags(input, raw, needs);
  if (needs.similarities.empty()) return read_vectors(input, raw, ctx);
  LabelledInput found = read_measured(input, raw, ctx);
  if (!needs.vectors.empty()) found.vectors = vectors_of(found.samples, needs);
  found.labels = read_sample_labels(input, found.samples, ctx).labels;
  return found;
}

std::string measure_help() {
  std::string names;
  for (const std::string_view name : kEnumNames<Measure>) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return "what is computed for each pair of samples (repeatable, for methods of several matrices; "
         "MEASURE:key=value,... gives one its own settings, name=MEASURE a name): " +
         names;
}

}  // namespace

void add_raw_options(CLI::App& command, RawOptions& options) {
  constexpr const char* kGroup = "Raw data instead of a matrix";
  options.command = &command;
  command
      .add_option("--data", options.data,
                  "samples of which --measure computes the pairs (repeatable: one file for all "
                  "measures, or one for each), or vectors for methods that learn from them; `kith "
                  "measure --help` says how they are written")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option("--measure", options.measures, measure_help())
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kGroup);
  add_settings_flags(command, options.flags, kGroup, kNoFlags);
  CLI::Option* gamma = command.get_option("--gamma");
  gamma->description(gamma->get_description() +
                     "; with --data, gamma of the measures gaussian, laplacian, polynomial and "
                     "sigmoid (1 / number of features)");
}

void set_measure(MeasureSettings& settings, const std::string& text) {
  const std::string subject = "--measure " + in_quotes(text);
  const MeasureText parts = parse_measure(text);
  if (!parts.name.empty()) {
    refuse(fmt::format("{}: names tell several matrices apart, and this is the only one", subject));
  }
  set_field(settings, parts.settings.empty() ? "--measure" : subject, "measure", parts.measure);
  set_own(settings, parts, subject);
}

LabelledInput read_labelled(const InputOptions& input, const RawOptions& raw,
                            const InputNeeds& needs, const RunContext& ctx) {
  if (!raw.data.empty()) {
    LabelledInput found = read_raw_input(input, raw, needs, ctx);
    check_classes(found.labels, input.labels, ctx);
    const std::span<const std::string> ids = found.samples.empty()
                                                 ? std::span<const std::string>(found.vectors->ids)
                                                 : ids_of(found.samples);
    found.doubts = add_groups(input, found.labels, ids, ctx);
    return found;
  }
  if (!needs.vectors.empty()) {
    refuse(fmt::format("{} learns from vectors: give them with --data FILE", needs.vectors));
  }
  refuse_measure_flags(*raw.command);
  LabelledInput found;
  found.matrices = read_matrices(input, ctx);
  found.condition = input.condition;
  found.labels = read_joined_labels(input, found.matrices, ctx)->labels;
  check_classes(found.labels, input.labels, ctx);
  found.doubts = texts_of(say_doubts(input, found.matrices, &found.labels, ctx));
  const SimilaritySet& first = found.matrices.sets.front();
  for (std::string& note : add_groups(input, found.labels, found.matrices.ids, ctx,
                                      first.ordered ? "" : first.source)) {
    found.doubts.push_back(std::move(note));
  }
  return found;
}

TablesInput read_tables(const InputOptions& input, const RawOptions& raw, const RunContext& ctx) {
  TablesInput found;
  found.condition = input.condition;
  if (raw.data.empty()) {
    refuse_measure_flags(*raw.command);
    found.matrices = read_matrices(input, ctx);
    found.joined = read_joined_labels(input, found.matrices, ctx);
    return found;
  }
  check_raw_flags(input, raw, {.vectors = {}, .similarities = "kith " + raw.command->get_name()});
  const LabelledInput measured = read_measured(input, raw, ctx);
  found.condition = measured.condition;
  if (!input.labels.empty()) found.joined = read_sample_labels(input, measured.samples, ctx);
  found.matrices =
      measure_all(measured.samples, found.joined ? &found.joined->labels : nullptr, ctx);
  return found;
}

void add_need(InputNeeds& needs, const Candidate& candidate) {
  for (const Candidate& part : parts_of(candidate)) {
    const MethodChoice& choice = part.choice;
    (learns_from_vectors(choice.settings) ? needs.vectors : needs.similarities) = choice.name;
  }
}

ExperimentData experiment_data(const LabelledInput& input, MatchedSets matrices,
                               const InputSettings& condition, RunContext& ctx) {
  if (input.samples.empty() && input.vectors) {
    return make_experiment_data(*input.vectors, input.labels);
  }
  ExperimentData data =
      input.samples.empty()
          ? make_experiment_data(std::move(matrices), input.labels, condition, ctx)
          : make_experiment_data(input.samples, input.labels, condition, ctx);
  if (!input.vectors) return data;
  if (data.samples() != rows(input.vectors->values)) {
    refuse("--missing drop-sample leaves out samples, which methods on vectors would keep");
  }
  data.vectors = input.vectors->values;
  return data;
}

void refuse_read_flags(const CLI::App& command) {
  for (const FieldInfo& field : fields(ReadSettings{})) {
    if (!given(command, field.name)) continue;
    refuse(fmt::format(
        "--{} is about files of matrices; --data FILE is read as its measure or method needs",
        field.name));
  }
}

}  // namespace kith::app

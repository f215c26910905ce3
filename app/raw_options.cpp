// SPDX-License-Identifier: Apache-2.0
#include "raw_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kith/core/error.hpp"

namespace kith::app {
namespace {

/// Noise is of a matrix that `kith measure` makes; gamma has a flag already.
constexpr std::array<std::string_view, 3> kNotHere = {"gamma", "perturb", "xi"};

bool given(const CLI::App& command, const std::string& setting) {
  return command.count("--" + setting) > 0;
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

/// A measure without data would be ignored.
void refuse_measure_flags(const CLI::App& command) {
  for (const FieldInfo& field : fields(MeasureSettings{})) {
    const bool here = std::find(kNotHere.begin(), kNotHere.end(), field.name) == kNotHere.end();
    if (!here || !given(command, field.name)) continue;
    refuse(fmt::format("--{} is about raw samples, and no --data FILE is given", field.name));
  }
}

void check_raw_flags(const InputOptions& input, const RawOptions& raw) {
  if (!input.similarity.empty() || !input.distance.empty()) {
    refuse(
        "--data and --similarity or --distance exclude each other: the pairs are either measured "
        "or read");
  }
  if (!given(*raw.command, "measure")) {
    refuse(
        "--data needs --measure NAME, what is computed for each pair; `kith measure --help` "
        "lists the measures");
  }
  refuse_read_flags(*raw.command);
}

/// The flag --gamma is the measure's where it takes one. Those measures are similarities, so that
/// --from-distance exp, which has the flag otherwise, cannot want it too.
void share_gamma(LabelledInput& found, const RawOptions& raw) {
  if (!given(*raw.command, "gamma") || !measure_info(found.measure.measure).takes("gamma")) return;
  found.measure.gamma = std::exchange(found.condition.gamma, InputSettings{}.gamma);
}

void check_distance_flags(const RawOptions& raw, const LabelledInput& found) {
  const bool distances = measure_info(found.measure.measure).values == PairKind::kDistance;
  if (given(*raw.command, "from-distance") && !distances) {
    refuse(
        fmt::format("--from-distance says how distances become similarities, and {} is a "
                    "similarity",
                    enum_name(found.measure.measure)));
  }
  if (given(*raw.command, "gamma") && !found.measure.gamma &&
      (!distances || found.condition.from_distance != FromDistance::kExp)) {
    refuse(fmt::format("--gamma is no setting of {}{}", enum_name(found.measure.measure),
                       distances ? "; --from-distance exp uses it" : ""));
  }
}

}  // namespace

void add_raw_options(CLI::App& command, RawOptions& options) {
  constexpr const char* kGroup = "Raw data instead of a matrix";
  options.command = &command;
  command
      .add_option("--data", options.data,
                  "samples of which --measure computes the pairs; `kith measure --help` lists the "
                  "measures and the kinds of data")
      ->type_name("FILE")
      ->group(kGroup);
  add_settings_flags(command, options.measure, kGroup, kNotHere);
  command.get_option("--measure")->default_str("");
}

LabelledInput read_labelled(const InputOptions& input, const RawOptions& raw,
                            const RunContext& ctx) {
  LabelledInput found{.matrices = {},
                      .samples = std::nullopt,
                      .measure = raw.measure,
                      .labels = {},
                      .condition = input.condition};
  if (raw.data.empty()) {
    refuse_measure_flags(*raw.command);
    found.matrices = read_matrices(input, ctx);
    found.labels = read_joined_labels(input, found.matrices, ctx)->labels;
    return found;
  }
  check_raw_flags(input, raw);
  share_gamma(found, raw);
  check_distance_flags(raw, found);
  check_settings(found.measure);
  found.samples = read_raw(raw.data, measure_info(found.measure.measure).data, ctx);
  found.labels =
      join_labels(read_labels(input.labels), ids_of(*found.samples), size_of(*found.samples), ctx)
          .labels;
  return found;
}

void refuse_read_flags(const CLI::App& command) {
  for (const FieldInfo& field : fields(ReadSettings{})) {
    if (!given(command, field.name)) continue;
    refuse(fmt::format("--{} is about files of matrices; --data FILE is read as its measure needs",
                       field.name));
  }
}

}  // namespace kith::app

// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure.hpp"
#include "kith/core/stopwatch.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>

#include "commands.hpp"
#include "kith/core/error.hpp"
#include "kith/data/formats.hpp"
#include "kith/data/labels.hpp"
#include "output_options.hpp"
#include "raw_options.hpp"

namespace kith::app {
namespace {

/// --measure takes settings, too.
constexpr std::array<std::string_view, 1> kOwnFlag = {"measure"};

struct MeasureOptions {
  CommonOptions common;
  MeasureSettings settings;
  std::string data;
  std::string against;
  std::string labels;
  std::string measure;  ///< MEASURE[:key=value,...], as typed
  OutputOptions output;
};

/// Gives the samples their labels, where the measure learns from them.
void join(RawData& data, const MeasureOptions& options, const RunContext& ctx) {
  auto* categories = std::get_if<CategoryData>(&data);
  if (options.labels.empty()) {
    if (categories == nullptr) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("measure {} needs --labels, the classes of the samples",
                            enum_name(options.settings.measure)));
  }
  if (categories == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--labels is for measures that learn from classes, and {} does not",
                            enum_name(options.settings.measure)));
  }
  categories->labels =
      join_labels(read_labels(options.labels), ids_of(data), size_of(data), ctx).labels;
}

struct Measured {
  SimilaritySet set;
  MeasureSettings settings;  ///< with what was left open
};

Measured measured(const MeasureOptions& options, const RunContext& ctx) {
  const RawKind kind = measure_info(options.settings.measure).data;
  RawData data = read_raw(options.data, kind, ctx);
  if (options.against.empty()) {
    join(data, options, ctx);
    return {measure(data, options.settings, ctx), with_defaults(options.settings, data)};
  }
  RawData training = read_raw(options.against, kind, ctx);
  join(training, options, ctx);
  return {measure(data, training, options.settings, ctx),
          with_defaults(options.settings, training)};
}

int run(const MeasureOptions& options) {
  const Stopwatch clock;
  const OutputFile out{"--out", options.output.path};
  refuse_overwriting(std::span(&out, 1), std::array{options.data, options.against, options.labels});
  static_cast<void>(writable_format(options.output.path, options.output.format));
  const Session session(options.common);
  const auto [set, settings] = measured(options, session.context);
  write_similarity(options.output.path, options.output.format, set, {}, session.context);
  const double taken = clock.seconds();

  const std::string_view kind = set.kind == PairKind::kDistance ? "distances" : "similarities";
  if (options.common.json) {
    print_json({{"source", set.source},
                {"settings", relevant_settings(settings)},
                {"kind", kind},
                {"out", options.output.path},
                {"rows", set.rows()},
                {"cols", set.cols()},
                {"timing", {{"seconds", taken}}}});
  } else {
    session.context.message(fmt::format("{} x {} {} ({}) of {} written to {}", set.rows(),
                                        set.cols(), kind, enum_name(options.settings.measure),
                                        set.source, options.output.path));
  }
  return kDone;
}

/// "[gamma, degree]", or nothing.
std::string settings_list(const MeasureInfo& info) {
  std::string list;
  for (const std::string_view setting : info.settings) {
    if (!setting.empty()) list += (list.empty() ? "" : ", ") + std::string(setting);
  }
  return list.empty() ? list : " [" + list + "]";
}

std::string measure_list() {
  std::string list;
  for (std::size_t kind = 0; kind < kEnumNames<RawKind>.size(); ++kind) {
    list += fmt::format("Measures of {}:\n", kEnumNames<RawKind>[kind]);
    for (std::size_t i = 0; i < kEnumNames<Measure>.size(); ++i) {
      const MeasureInfo& info = measure_info(static_cast<Measure>(i));
      if (info.data != static_cast<RawKind>(kind)) continue;
      list += fmt::format("  {:<22}{}{}{}\n", kEnumNames<Measure>[i],
                          info.values == PairKind::kDistance ? "distance: " : "", info.explanation,
                          settings_list(info));
    }
  }
  return list;
}

}  // namespace

Command add_measure(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("measure", "similarities or distances from raw data");
  const auto options = std::make_shared<MeasureOptions>();
  parser
      ->add_option(
          "--data", options->data,
          "samples: strings or sets, one per line or id<TAB>...; vectors as a table, LIBSVM "
          "text or IDX; series, one per line; FASTA; categories as a csv (plain, gzip or "
          "zstd)")
      ->required()
      ->type_name("FILE")
      ->group("Input");
  parser
      ->add_option("--against", options->against,
                   "samples that become the columns, for rows of new samples; without it, --data "
                   "against itself")
      ->type_name("FILE")
      ->group("Input");
  parser
      ->add_option("--labels", options->labels,
                   "value-difference: classes of the samples of --against, or else of --data")
      ->type_name("FILE")
      ->group("Input");
  const FieldInfo field = fields(options->settings).front();
  parser
      ->add_option(
          "--measure", options->measure,
          field.help + "; MEASURE:key=value,... gives settings as well (" + field.rule + ")")
      ->required()
      ->type_name("NAME")
      ->group("Measure");
  add_settings_flags(*parser, options->settings, "Measure", kOwnFlag);
  add_output_options(*parser, options->output);
  add_common_options(*parser, options->common);
  parser->footer(
      measure_list() +
      "\nExamples:\n"
      "  kith measure --data words.tsv --measure edit --out words.csv\n"
      "  kith measure --data new.tsv --against words.tsv --measure edit --out rows.csv\n"
      "  kith measure --data features.csv --measure gaussian --gamma 0.5 --out s.npy\n"
      "  kith measure --data proteins.fasta --measure smith-waterman --score p-value --out "
      "s.csv\n"
      "  kith measure --data series.csv --measure dtw --band 10 --out d.csv\n"
      "  kith measure --data features.csv --measure gaussian --perturb cy --xi 0.1 "
      "--out s.npy");
  return {parser, [options] {
            set_measure(options->settings, options->measure);
            return run(*options);
          }};
}

}  // namespace kith::app

// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "kith/data/formats.hpp"
#include "output_options.hpp"

namespace kith::app {
namespace {

struct Options {
  CommonOptions common;
  MeasureSettings settings;
  std::string data;
  std::string against;
  OutputOptions output;
};

SimilaritySet measured(const Options& options, const RunContext& ctx) {
  const RawKind kind = data_kind(options.settings.measure);
  const RawData data = read_raw(options.data, kind, ctx);
  if (options.against.empty()) return measure(data, options.settings, ctx);
  return measure(data, read_raw(options.against, kind, ctx), options.settings, ctx);
}

int run(const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  static_cast<void>(writable_format(options.output.path, options.output.format));
  const Session session(options.common);
  const SimilaritySet set = measured(options, session.context);
  write_similarity(options.output.path, options.output.format, set, {}, session.context);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;

  const std::string_view kind = set.kind == PairKind::kDistance ? "distances" : "similarities";
  if (options.common.json) {
    print_json({{"source", set.source},
                {"settings", settings_json(options.settings)},
                {"kind", kind},
                {"out", options.output.path},
                {"rows", set.rows()},
                {"cols", set.cols()},
                {"timing", {{"seconds", taken.count()}}}});
  } else {
    session.context.message(fmt::format("{} x {} {} ({}) of {} written to {}", set.rows(),
                                        set.cols(), kind, enum_name(options.settings.measure),
                                        set.source, options.output.path));
  }
  return kDone;
}

std::string measure_list() {
  std::string list = "Measures:\n";
  for (std::size_t i = 0; i < EnumNames<Measure>::names.size(); ++i) {
    list += fmt::format("  {:<16}{}\n", EnumNames<Measure>::names[i],
                        explanation(static_cast<Measure>(i)));
  }
  return list;
}

}  // namespace

Command add_measure(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("measure", "similarities or distances from raw data");
  const auto options = std::make_shared<Options>();
  parser
      ->add_option("--data", options->data,
                   "samples: one string per line, or id<TAB>string; vectors as a table or LIBSVM "
                   "text (plain, gzip or zstd)")
      ->required()
      ->type_name("FILE")
      ->group("Input");
  parser
      ->add_option("--against", options->against,
                   "samples that become the columns, for rows of new samples; without it, --data "
                   "against itself")
      ->type_name("FILE")
      ->group("Input");
  add_settings_flags(*parser, options->settings, "Measure");
  parser->get_option("--measure")->required()->default_str("");
  add_output_options(*parser, options->output);
  add_common_options(*parser, options->common);
  parser->footer(measure_list() +
                 "\nExamples:\n"
                 "  kith measure --data words.tsv --measure edit --out words.csv\n"
                 "  kith measure --data new.tsv --against words.tsv --measure edit --out rows.csv\n"
                 "  kith measure --data features.csv --measure gaussian --gamma 0.5 --out s.npy\n"
                 "  kith measure --data features.csv --measure gaussian --perturb cy --xi 0.1 "
                 "--out s.npy");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

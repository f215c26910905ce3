// SPDX-License-Identifier: Apache-2.0
#include "kith/report/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "commands.hpp"
#include "console.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/report/curve_table.hpp"
#include "kith/report/page.hpp"
#include "output_options.hpp"

namespace kith::app {
namespace {

enum class ReportFormat { kText, kCsv, kMarkdown, kLatex, kJson, kHtml };
constexpr auto enum_names(ReportFormat /*of*/) {
  return named("text", "csv", "markdown", "latex", "json", "html");
}

struct ReportOptions {
  CommonOptions common;
  std::string store;
  std::optional<ReportFormat> format;
  std::string out;
  Metric metric = Metric::kError;
  std::string positive;
  SignificanceTest test = SignificanceTest::kAuto;
  std::vector<std::string> data;
  bool sizes = false;
  bool timings = false;
};

template <NamedEnum E>
std::string names_of() {
  std::string text;
  for (const std::string_view name : kEnumNames<E>) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

/// What was asked for, else what the ending of --out says, else text.
ReportFormat chosen_format(const ReportOptions& options) {
  if (options.common.json) {
    if (options.format && *options.format != ReportFormat::kJson) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--json and --format {} contradict each other; give one of them",
                              enum_name(*options.format)));
    }
    return ReportFormat::kJson;
  }
  if (options.format) return *options.format;
  const std::string ending = std::filesystem::path(options.out).extension().string();
  if (ending == ".csv") return ReportFormat::kCsv;
  if (ending == ".md") return ReportFormat::kMarkdown;
  if (ending == ".tex") return ReportFormat::kLatex;
  if (ending == ".json") return ReportFormat::kJson;
  if (ending == ".html" || ending == ".htm") return ReportFormat::kHtml;
  return ReportFormat::kText;
}

/// The experiments to show: all, or those named by --data in that order.
std::vector<std::int64_t> chosen_experiments(const Store& store, const ReportOptions& options) {
  const std::vector<std::int64_t> all = store.experiments();
  if (all.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has no results yet; `kith evaluate --store FILE` puts them there",
                            in_quotes(options.store)));
  }
  if (options.data.empty()) return all;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const std::int64_t number : all) names.push_back(store.experiment(number).name);
  std::vector<std::int64_t> chosen;
  for (const std::string& name : options.data) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--data {}: {} has no such data set; it has {}", in_quotes(name),
                              in_quotes(options.store), list_some(names, 10)));
    }
    const std::int64_t number = all[static_cast<std::size_t>(at - names.begin())];
    if (std::find(chosen.begin(), chosen.end(), number) == chosen.end()) chosen.push_back(number);
  }
  return chosen;
}

void check_positive(const std::vector<ExperimentResult>& results, const ReportOptions& options) {
  if (options.positive.empty()) return;
  for (const ExperimentResult& result : results) {
    if (!result.positive.empty()) return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--positive {} names the class of f1, but no data set here has two "
                          "classes; f-score is the mean over classes",
                          in_quotes(options.positive)));
}

/// Why a table has no numbers.
std::string why_absent(Metric metric) {
  switch (metric) {
    case Metric::kF1:
      return "it needs two classes; f-score is the mean over any number of them";
    case Metric::kLogLoss:
      return "it needs methods with probabilities";
    case Metric::kAuc:
      return "it needs scores or probabilities, and two classes in the test parts";
    case Metric::kError:
    case Metric::kBalancedError:
    case Metric::kFScore:
      break;
  }
  return "no partition is finished";
}

void note_absence(const std::vector<ExperimentResult>& results, const ReportOptions& options,
                  const RunContext& ctx) {
  bool finished = false;
  for (const ExperimentResult& result : results) {
    for (const MethodResult& method : result.methods) {
      if (!std::isnan(method.mean)) return;
      finished = finished || !method.partitions.empty();
    }
  }
  ctx.message(fmt::format("there is no {} to show: {}", enum_name(options.metric),
                          finished ? why_absent(options.metric) : why_absent(Metric::kError)));
}

/// `--sizes`: the learning curves alone.
std::string curves_text(const Store& store, const std::vector<ExperimentResult>& results,
                        const ReportOptions& options, const TableStyle& style) {
  const ReportFormat format = chosen_format(options);
  if (format != ReportFormat::kText && format != ReportFormat::kCsv) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--sizes writes the learning curve as text or csv, not as {}; json and "
                            "html have it beside everything else",
                            enum_name(format)));
  }
  const std::vector<NamedCurve> curves = curves_of(store, results);
  if (curves.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has no learning curve; `kith evaluate --sizes 20%,50% --store {}` "
                            "adds one",
                            in_quotes(options.store), options.store));
  }
  return format == ReportFormat::kCsv ? curve_csv(curves) : curve_text(curves, style);
}

std::string report_text(const Store& store, const std::vector<ExperimentResult>& results,
                        const ReportOptions& options) {
  const OutputStyle output = output_style();
  const TableStyle style{.unicode = output.unicode,
                         .colour = output.colour && options.out.empty(),
                         .timings = options.timings};
  if (options.sizes) return curves_text(store, results, options, style);
  switch (chosen_format(options)) {
    case ReportFormat::kText:
      return table_and_curves(store, results, style);
    case ReportFormat::kCsv:
      return results_table(results, TableFormat::kCsv, style);
    case ReportFormat::kMarkdown:
      return results_table(results, TableFormat::kMarkdown, style);
    case ReportFormat::kLatex:
      return results_table(results, TableFormat::kLatex, style);
    case ReportFormat::kJson:
      return spelled_notes(results_json(store, results), as_flag)
                 .dump(2, ' ', false, Json::error_handler_t::replace) +
             "\n";
    case ReportFormat::kHtml:
      return html_page(spelled_json(report_document(store, results), as_flag));
  }
  throw Error(ErrorCode::kInternal, "a format without a writer");
}

int run(const ReportOptions& options) {
  // A contradiction and a page that cannot be had are said before any work.
  if (chosen_format(options) == ReportFormat::kHtml) check_has_page();
  const OutputFile out{"--out", options.out};
  refuse_overwriting(std::span(&out, 1), std::span(&options.store, 1));
  Session session(options.common);
  const Store store(options.store, StoreAccess::kReadOnly);
  std::vector<ExperimentResult> results;
  for (const std::int64_t number : chosen_experiments(store, options)) {
    results.push_back(summarise(store, number, options.metric, options.positive, options.test));
  }
  check_positive(results, options);
  note_absence(results, options, session.context);
  const std::string text = report_text(store, results, options);
  if (options.out.empty()) {
    print_text(text);
    return kDone;
  }
  AtomicFile file(options.out);
  file.write(text);
  file.commit();
  return kDone;
}

template <NamedEnum E, class Target>
void add_choice(CLI::App& parser, const std::string& flag, Target& target, const std::string& help,
                const std::string& default_text) {
  parser
      .add_option_function<std::string>(
          flag, [flag, &target](const std::string& text) { target = parse_enum<E>(flag, text); },
          help + ": " + names_of<E>())
      ->type_name("NAME")
      ->default_str(default_text);
}

}  // namespace

Command add_report(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "report", "an evaluation as one page to look at, or as the table a paper would print");
  const auto options = std::make_shared<ReportOptions>();
  parser->add_option("--store", options->store, "store that `kith evaluate` wrote")
      ->required()
      ->type_name("FILE");
  add_choice<ReportFormat>(*parser, "--format", options->format, "how to write it",
                           "by the ending of --out (.html, .csv, .md, .tex, .json), else text");
  parser
      ->add_option("--out", options->out,
                   "file to write, complete or not at all; without it standard output")
      ->type_name("FILE");
  add_choice<Metric>(*parser, "--metric", options->metric,
                     "what is shown, and what decides who is best", "error");
  parser
      ->add_option("--positive", options->positive,
                   "of two classes, the one f1 is about (default: the last)")
      ->type_name("CLASS");
  parser
      ->add_option("--data", options->data,
                   "show this data set of the store only (repeatable: these, in this order)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_choice<SignificanceTest>(*parser, "--test", options->test,
                               "how methods are compared; auto is wilcoxon for the protocols of "
                               "papers, else corrected-t, or "
                               "mcnemar on one partition",
                               "auto");
  parser->add_flag("--sizes", options->sizes, "the learning curve alone, as text or csv");
  parser->add_flag("--timings", options->timings, "add a column of seconds");
  add_common_options(*parser, options->common);
  parser->footer(
      "A star or bold face marks the method with the best mean and those that are not\n"
      "significantly worse at 5 % (--test). Several data sets stand side by side, with average\n"
      "ranks. The page (html) is one file that needs no network: the comparison, the data, every\n"
      "method and sample.\n"
      "\nExamples:\n"
      "  kith report --store words.db --out words.html\n"
      "  kith report --store words.db\n"
      "  kith report --store words.db --format latex --out table.tex\n"
      "  kith report --store words.db --metric balanced-error --timings\n"
      "  kith report --store words.db --json");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

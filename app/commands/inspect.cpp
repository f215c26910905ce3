// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "input_options.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/data/classes_note.hpp"
#include "kith/data/folds.hpp"
#include "kith/inspect/inspect_json.hpp"
#include "kith/report/inspection.hpp"
#include "kith/report/page.hpp"
#include "output_options.hpp"
#include "raw_options.hpp"

namespace kith::app {
namespace {

struct InspectOptions {
  CommonOptions common;
  InputOptions input;
  RawOptions raw;
  std::string html;
  const CLI::App* parser = nullptr;
};

/// Flags about the output and the run, which say nothing about the data.
constexpr std::array<std::string_view, 6> kNotOfTheData = {"--html", "--json",         "--quiet",
                                                           "--seed", "--blas-threads", "--threads"};

/// A file that --similarity or --distance named, by the flag that is right for its numbers.
struct MatrixFlag {
  std::string flag;
  std::string value;
};

/// In the order of `doubts`: similarities first, then distances, as they are read.
std::vector<MatrixFlag> matrix_flags(const InputOptions& input, std::span<const Doubt> doubts) {
  std::vector<MatrixFlag> flags;
  const auto add = [&](const std::vector<std::string>& values, const char* typed) {
    for (const std::string& value : values) {
      const Mend mend = doubts.empty() ? Mend::kNothing : doubts[flags.size()].mend;
      const char* flag = mend == Mend::kDistance     ? "--distance"
                         : mend == Mend::kSimilarity ? "--similarity"
                                                     : typed;
      flags.push_back({flag, value});
    }
  };
  add(input.similarity, "--similarity");
  add(input.distance, "--distance");
  return flags;
}

/// What --missing should be where pairs are missing and it was not given, with the reason.
struct MissingChoice {
  std::string value;  ///< empty: nothing is needed
  std::string because;
};

MissingChoice missing_choice(const InputOptions& input, const Inspection& inspection,
                             std::span<const MatrixFlag> flags) {
  if (input.condition.missing != MissingRule::kError) return {};
  std::int64_t missing = 0;
  bool distances = false;
  bool negative = false;
  for (std::size_t m = 0; m < inspection.matrices.size(); ++m) {
    const MatrixSummary& matrix = inspection.matrices[m];
    if (matrix.missing == 0) continue;
    missing += matrix.missing;
    distances = distances || (m < flags.size() && flags[m].flag == "--distance");
    negative = negative || matrix.min < 0;
  }
  if (missing == 0) return {};
  const std::string pairs =
      fmt::format("{} {} no value", missing, missing == 1 ? "pair has" : "pairs have");
  if (distances) {
    return {"min", pairs +
                       ": --missing min takes such samples to be as far apart as any pair that "
                       "is known. --missing drop-sample leaves them out instead"};
  }
  if (negative) {
    return {"min", pairs +
                       ": --missing min takes such samples to be as little alike as any pair "
                       "that is known. --missing zero is right where 0 means not alike"};
  }
  return {"zero", pairs +
                      ": --missing zero takes such samples to be not alike at all, as a search "
                      "that lists only hits means it. --missing min and drop-sample are the "
                      "other choices"};
}

/// What to type next, and why it differs from what was typed.
struct NextCommand {
  std::string command;
  std::vector<std::string> because;
};

bool has_flag(std::span<const MatrixFlag> flags, std::string_view flag) {
  return std::ranges::any_of(flags, [&](const MatrixFlag& one) { return one.flag == flag; });
}

/// The command that learns from what was inspected, files and flags as they were typed but for what
/// would not run or would be wrong. FILE stands for labels that were not given.
NextCommand next_command(const InspectOptions& options, const Inspection& inspection,
                         std::span<const Doubt> doubts) {
  NextCommand next{.command = "kith train --method auto", .because = {}};
  const std::vector<MatrixFlag> flags = matrix_flags(options.input, doubts);
  for (const MatrixFlag& one : flags) {
    next.command += ' ' + one.flag + ' ' + shell_word(one.value);
  }
  const MissingChoice missing = missing_choice(options.input, inspection, flags);
  const bool read_scores = std::ranges::any_of(
      doubts, [](const Doubt& one) { return one.mend == Mend::kScoresOfTable; });
  const bool no_distance = !flags.empty() && !has_flag(flags, "--distance");
  std::set<const CLI::Option*> seen;  // a flag that was repeated has all of its values
  for (const CLI::Option* option : options.parser->parse_order()) {
    const std::string flag = option->get_name();
    const bool of_data =
        std::find(kNotOfTheData.begin(), kNotOfTheData.end(), flag) == kNotOfTheData.end();
    if (!of_data || !seen.insert(option).second) continue;
    if (flag == "--similarity" || flag == "--distance") continue;
    if (flag == "--score-column" && read_scores) continue;
    if (flag == "--missing" && !missing.value.empty()) continue;
    if (no_distance && (flag == "--from-distance" || flag == "--gamma")) continue;
    if (option->get_expected_max() == 0) {  // a switch
      next.command += ' ' + flag;
      continue;
    }
    for (const std::string& value : option->results()) {
      next.command += ' ' + flag + ' ' + shell_word(value);
    }
  }
  next.because = texts_of(doubts);
  if (!missing.value.empty()) {
    next.command += " --missing " + missing.value;
    next.because.push_back(missing.because);
  }
  if (options.input.labels.empty()) next.command += " --labels FILE";
  next.command += " --model model.kith";
  return next;
}

/// Whether training would take these samples.
bool can_train(const Inspection& inspection, const ClassesNote& classes) {
  constexpr Index kFewest = 4;  // two of each of two classes
  if (!inspection.labels) return inspection.matrices.front().n >= kFewest;
  return inspection.labels->has_two_classes() && !classes.nothing_to_learn &&
         !class_without_folds(*inspection.labels);
}

void write_page(const std::string& path, const Inspection& inspection,
                const std::vector<PortrayedMatrix>& matrices) {
  AtomicFile file(path);
  file.write(html_page(spelled_json(inspection_document(inspection, matrices), as_flag)));
  file.commit();
}

int run(const InspectOptions& options) {
  const OutputFile page{"--html", options.html};
  std::vector<std::string> inputs = files_of(options.input);
  add_files(inputs, options.raw.data);
  refuse_overwriting(std::span(&page, 1), inputs);
  if (!options.html.empty()) check_has_page();
  const Stopwatch clock;
  Session session(options.common);
  const TablesInput input = read_tables(options.input, options.raw, session.context);
  const ClassesNote classes =
      input.joined ? note_on_classes(input.joined->labels, options.input.labels) : ClassesNote{};
  if (!classes.text.empty()) session.context.message(classes.text);
  std::vector<Doubt> doubts;
  if (options.raw.data.empty()) {
    doubts = say_doubts(options.input, input.matrices,
                        input.joined ? &input.joined->labels : nullptr, session.context);
  }
  session.use_blas_for(input.matrices.sets.front().rows());

  Inspected inspected =
      inspect(input.matrices, input.joined, input.condition,
              options.html.empty() ? Portraits::kNone : Portraits::kDrawn, session.context);
  Inspection& inspection = inspected.inspection;
  inspection.notes = texts_of(doubts);
  if (!classes.text.empty()) inspection.notes.push_back(classes.text);
  if (can_train(inspection, classes)) {
    NextCommand next = next_command(options, inspection, doubts);
    inspection.next = std::move(next.command);
    inspection.next_because = std::move(next.because);
  }
  inspection.seconds = clock.seconds();
  if (!options.html.empty()) write_page(options.html, inspection, inspected.portraits);
  if (options.common.json) {
    print_json(spelled_json(inspection_json(inspection), as_flag));
  } else {
    const OutputStyle style = output_style();
    print_text(spelled(
        inspection_text(inspection,
                        {.unicode = style.unicode, .colour = style.colour, .width = style.width}),
        as_flag));
  }
  return kDone;
}

}  // namespace

Command add_inspect(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "inspect", "what a matrix is: classes, symmetry, how indefinite, what to try next");
  const auto options = std::make_shared<InspectOptions>();
  options->parser = parser;
  add_input_options(*parser, options->input);
  add_raw_options(*parser, options->raw);
  parser
      ->add_option("--html", options->html,
                   "also write a page to look at: the matrix, its spectrum, a map of the samples")
      ->type_name("FILE");
  add_common_options(*parser, options->common, kBlasBySize);
  parser->footer(
      "Examples:\n"
      "  kith inspect --similarity scores.csv --labels labels.txt\n"
      "  kith inspect --similarity scores.csv --labels labels.txt --html scores.html\n"
      "  kith inspect --distance dtw.npy --from-distance double-centre --json\n"
      "  kith inspect --similarity hits.blast.gz --missing zero --symmetrise mean\n"
      "  kith inspect --similarity sw=sw.csv --similarity nw=nw.csv --labels families.tsv\n"
      "  kith inspect --data words.tsv --measure edit --labels languages.tsv");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

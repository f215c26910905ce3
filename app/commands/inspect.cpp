// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "input_options.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/data/atomic_file.hpp"
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

/// The command that learns from what was inspected, files and flags as they were typed. FILE stands
/// for labels that were not given.
std::string next_command(const InspectOptions& options) {
  std::string command = "kith train --method auto";
  std::set<const CLI::Option*> seen;  // a flag that was repeated has all of its values
  for (const CLI::Option* option : options.parser->parse_order()) {
    const std::string flag = option->get_name();
    const bool of_data =
        std::find(kNotOfTheData.begin(), kNotOfTheData.end(), flag) == kNotOfTheData.end();
    if (!of_data || !seen.insert(option).second) continue;
    if (option->get_expected_max() == 0) {  // a switch
      command += ' ' + flag;
      continue;
    }
    for (const std::string& value : option->results()) {
      command += ' ' + flag + ' ' + shell_word(value);
    }
  }
  if (options.input.labels.empty()) command += " --labels FILE";
  return command + " --model model.kith";
}

/// Whether training would take these samples.
bool can_train(const Inspection& inspection) {
  return !inspection.labels || inspection.labels->has_two_classes();
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
  std::vector<std::string> doubts;
  if (options.raw.data.empty()) {
    doubts = say_doubts(options.input, input.matrices,
                        input.joined ? &input.joined->labels : nullptr, session.context);
  }
  session.use_blas_for(input.matrices.sets.front().rows());

  Inspected inspected =
      inspect(input.matrices, input.joined, input.condition,
              options.html.empty() ? Portraits::kNone : Portraits::kDrawn, session.context);
  Inspection& inspection = inspected.inspection;
  inspection.notes = std::move(doubts);
  if (can_train(inspection)) inspection.next = next_command(options);
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

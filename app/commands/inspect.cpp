// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <span>

#include "commands.hpp"
#include "console.hpp"
#include "input_options.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/inspect/inspect_json.hpp"
#include "kith/report/inspection.hpp"
#include "kith/report/page.hpp"
#include "output_options.hpp"

namespace kith::app {
namespace {

struct InspectOptions {
  CommonOptions common;
  InputOptions input;
  std::string html;
};

void write_page(const std::string& path, const Inspection& inspection,
                const std::vector<PortrayedMatrix>& matrices) {
  AtomicFile file(path);
  file.write(html_page(spelled_json(inspection_document(inspection, matrices), as_flag)));
  file.commit();
}

int run(const InspectOptions& options) {
  const OutputFile page{"--html", options.html};
  refuse_overwriting(std::span(&page, 1), files_of(options.input));
  if (!options.html.empty()) check_has_page();
  const Stopwatch clock;
  Session session(options.common);
  const MatchedSets matrices = read_matrices(options.input, session.context);
  const std::optional<JoinedLabels> joined =
      read_joined_labels(options.input, matrices, session.context);
  say_doubts(options.input, matrices, joined ? &joined->labels : nullptr, session.context);
  session.use_blas_for(matrices.sets.front().rows());

  Inspected inspected =
      inspect(matrices, joined, options.input.condition,
              options.html.empty() ? Portraits::kNone : Portraits::kDrawn, session.context);
  Inspection& inspection = inspected.inspection;
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
  add_input_options(*parser, options->input);
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
      "  kith inspect --similarity sw=sw.csv --similarity nw=nw.csv --labels families.tsv");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

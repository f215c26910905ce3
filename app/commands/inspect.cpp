// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>

#include "commands.hpp"
#include "input_options.hpp"
#include "kith/data/atomic_file.hpp"
#include "kith/report/inspection.hpp"
#include "kith/report/page.hpp"

namespace kith::app {
namespace {

struct InspectOptions {
  CommonOptions common;
  InputOptions input;
  std::string html;
};

struct Conditioned {
  std::optional<ConditionedInput> input;  // none: pairs are missing and --missing is error
  std::optional<Labels> labels;           // of the samples that were kept
};

/// The matrix under the input rules. `inspect` describes incomplete matrices instead of refusing
/// them.
Conditioned condition(const SimilaritySet& set, const std::optional<JoinedLabels>& joined,
                      const InputSettings& settings, const RunContext& ctx) {
  Conditioned result;
  if (joined) result.labels = joined->labels;
  if (settings.missing == MissingRule::kError && missing_pairs(set.block) > 0) return result;
  result.input = condition_training(set, settings, ctx);
  if (joined) result.labels = select(joined->labels, result.input->kept);
  return result;
}

/// The ids of the samples that were kept.
std::vector<std::string> kept_ids(const std::vector<std::string>& ids,
                                  const std::optional<ConditionedInput>& input) {
  if (ids.empty() || !input) return ids;
  std::vector<std::string> kept;
  for (const Index i : input->kept) kept.push_back(ids[static_cast<std::size_t>(i)]);
  return kept;
}

void write_page(const std::string& path, const Inspection& inspection,
                const std::vector<PortrayedMatrix>& matrices) {
  AtomicFile file(path);
  file.write(html_page(inspection_document(inspection, matrices)));
  file.commit();
}

int run(const InspectOptions& options) {
  if (!options.html.empty()) check_has_page();
  const auto began = std::chrono::steady_clock::now();
  Session session(options.common);
  const MatchedSets matrices = read_matrices(options.input, session.context);
  const std::optional<JoinedLabels> joined =
      read_joined_labels(options.input, matrices, session.context);
  session.use_blas_for(matrices.sets.front().rows());

  Inspection inspection;
  std::vector<TrainingMatrix> complete;
  std::vector<PortrayedMatrix> portrayed;
  for (const SimilaritySet& set : matrices.sets) {
    const Conditioned conditioned =
        condition(set, joined, options.input.condition, session.context);
    const Labels* labels = conditioned.labels ? &*conditioned.labels : nullptr;
    const TrainingMatrix* matrix = conditioned.input ? &conditioned.input->matrix : nullptr;
    Portrait portrait;
    if (options.html.empty()) {
      portrait.summary = summarise(set, matrix, labels, {}, session.context);
    } else {
      portrait = portray(set, matrix, labels, {}, session.context);
    }
    if (conditioned.input) portrait.summary.applied = conditioned.input->applied;
    inspection.matrices.push_back(portrait.summary);
    if (!options.html.empty()) {
      portrayed.push_back(
          {std::move(portrait), conditioned.labels, kept_ids(matrices.ids, conditioned.input)});
    }
    if (matrix != nullptr && matrices.sets.size() > 1) complete.push_back(*matrix);
  }
  if (complete.size() == matrices.sets.size() && complete.size() > 1) {
    inspection.agreement = agreement(complete);
  }
  if (joined) {
    inspection.labels = joined->labels;
    inspection.unmatched_labels = joined->unmatched;
  }
  inspection.advice = advise(inspection.matrices, joined ? &joined->labels : nullptr);
  inspection.blas_threads = session.context.blas_threads;
  inspection.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!options.html.empty()) write_page(options.html, inspection, portrayed);
  if (options.common.json) {
    print_json(inspection_json(inspection));
  } else {
    const OutputStyle style = output_style();
    print_text(inspection_text(
        inspection, {.unicode = style.unicode, .colour = style.colour, .width = style.width}));
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
  add_common_options(*parser, options->common);
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

// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>

#include "commands.hpp"
#include "input_options.hpp"
#include "kith/report/inspection.hpp"

namespace kith::app {
namespace {

struct InspectOptions {
  CommonOptions common;
  InputOptions input;
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

int run(const InspectOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  Session session(options.common);
  const MatchedSets matrices = read_matrices(options.input, session.context);
  const std::optional<JoinedLabels> joined =
      read_joined_labels(options.input, matrices, session.context);
  session.use_blas_for(matrices.sets.front().rows());

  Inspection inspection;
  std::vector<TrainingMatrix> complete;
  for (const SimilaritySet& set : matrices.sets) {
    const Conditioned conditioned =
        condition(set, joined, options.input.condition, session.context);
    const Labels* labels = conditioned.labels ? &*conditioned.labels : nullptr;
    const TrainingMatrix* matrix = conditioned.input ? &conditioned.input->matrix : nullptr;
    inspection.matrices.push_back(summarise(set, matrix, labels, {}, session.context));
    if (conditioned.input) inspection.matrices.back().applied = conditioned.input->applied;
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
  add_common_options(*parser, options->common);
  parser->footer(
      "Examples:\n"
      "  kith inspect --similarity scores.csv --labels labels.txt\n"
      "  kith inspect --distance dtw.npy --from-distance double-centre --json\n"
      "  kith inspect --similarity hits.blast.gz --missing zero --symmetrise mean\n"
      "  kith inspect --similarity sw=sw.csv --similarity nw=nw.csv --labels families.tsv");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

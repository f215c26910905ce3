// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "commands.hpp"
#include "input_options.hpp"
#include "output_options.hpp"

namespace kith::app {
namespace {

struct ConvertOptions {
  CommonOptions common;
  InputOptions input;
  OutputOptions output;
};

int run(const ConvertOptions& options) {
  const OutputFile out{"--out", options.output.path};
  refuse_overwriting(std::span(&out, 1), files_of(options.input));
  Session session(options.common);
  const SimilaritySet set = read_one(options.input, session.context);
  std::vector<int> class_ids;
  if (!options.input.labels.empty()) {
    class_ids = join_labels(read_labels(options.input.labels), set.row_ids, set.rows(),
                            session.context, set.ordered ? "" : set.source)
                    .labels.ids;
  }
  write_similarity(options.output.path, options.output.format, set, class_ids, session.context);
  const std::string shape = fmt::format("{} x {}", set.rows(), set.cols());
  if (options.common.json) {
    print_json({{"source", set.source},
                {"format", set.format},
                {"out", options.output.path},
                {"rows", set.rows()},
                {"cols", set.cols()},
                {"sparse", is_sparse(set.block)},
                {"missing", missing_pairs(set.block)},
                {"applied", set.applied}});
  } else {
    session.context.message(fmt::format("{} ({}, {}) written to {}", set.source, set.format, shape,
                                        options.output.path));
  }
  return kDone;
}

}  // namespace

Command add_convert(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("convert", "any matrix format to any writable one");
  const auto options = std::make_shared<ConvertOptions>();
  add_input_options(*parser, options->input, {.labels = true, .conditioning = false});
  add_output_options(*parser, options->output);
  add_common_options(*parser, options->common);
  parser->footer(
      "Numbers are written so that they read back to the same bits. LIBSVM text takes its label "
      "column\n"
      "from --labels (class numbers from 1) and has 0 there without it.\n\n"
      "Examples:\n"
      "  kith convert --similarity scores.csv --out scores.npy\n"
      "  kith convert --similarity hits.blast --score-column bitscore --out hits.edges.gz "
      "--out-format edges\n"
      "  kith convert --similarity all.mat --variable K --out k.mtx");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "commands.hpp"
#include "input_options.hpp"
#include "kith/data/atomic_file.hpp"
#include "output_options.hpp"

namespace kith::app {
namespace {

struct ConvertOptions {
  CommonOptions common;
  InputOptions input;
  OutputOptions output;
};

/// A list of pairs has no order: that of its rows in another format is ours, and labels without ids
/// would follow it.
struct Order {
  std::string note;  ///< what the user should know; empty: nothing
  std::string ids;   ///< the file for ids that the format has no place for; empty: none
};
Order order_of(const SimilaritySet& set, const ConvertOptions& options) {
  const std::string& out = options.output.path;
  const Format format = writable_format(out, options.output.format);
  if (set.ordered || format == Format::kEdges) return {};
  const std::string order = fmt::format(
      "{} lists pairs of ids, which have no order: the rows of {} are in the order in which the "
      "ids first appear",
      set.source, out);
  if (keeps_ids(format)) return {order + ". Labels need ids, or that order", ""};
  if (out.starts_with("/dev/") || out.starts_with("/proc/")) {
    return {fmt::format("{}, and {} has no place for them: give --out a file, and they are written "
                        "beside it",
                        order, enum_name(format)),
            ""};
  }
  const std::string ids = out + ".ids.txt";
  refuse_overwriting(std::array{OutputFile{"--out", out}, OutputFile{"the ids of --out", ids}},
                     files_of(options.input));
  return {fmt::format("{}, which {} has, one per line. Labels need that order", order, ids), ids};
}

void write_ids(const std::string& path, std::span<const std::string> ids) {
  if (path.empty()) return;
  AtomicFile file(path);
  for (const std::string& id : ids) file.write(id + '\n');
  file.commit();
}

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
  const Order order = order_of(set, options);
  write_similarity(options.output.path, options.output.format, set, class_ids, session.context);
  write_ids(order.ids, set.row_ids);
  if (!order.note.empty()) session.context.message(order.note);
  const std::string shape = fmt::format("{} x {}", set.rows(), set.cols());
  if (options.common.json) {
    Json json = {{"source", set.source},
                 {"format", set.format},
                 {"out", options.output.path},
                 {"rows", set.rows()},
                 {"cols", set.cols()},
                 {"sparse", is_sparse(set.block)},
                 {"missing", missing_pairs(set.block)},
                 {"applied", set.applied}};
    if (!order.note.empty()) json["notes"] = {order.note};
    print_json(json);
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
      "from --labels (class numbers from 1) and has 0 there without it. The samples of a list of "
      "pairs\n"
      "(edge list, BLAST table) are written in the order in which their ids first appear; where "
      "the "
      "format\n"
      "has no ids, the file OUT.ids.txt has them, one per line.\n\n"
      "Examples:\n"
      "  kith convert --similarity scores.csv --out scores.npy\n"
      "  kith convert --similarity hits.blast --score-column bitscore --out hits.edges.gz "
      "--out-format edges\n"
      "  kith convert --similarity all.mat --variable K --out k.mtx");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

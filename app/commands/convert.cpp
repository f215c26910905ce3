// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input_options.hpp"
#include "kith/core/error.hpp"
#include "kith/core/positions.hpp"
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

/// Whether what a pair becomes depends on other samples than its own.
bool goes_by_all_samples(const InputRule& rule) {
  const InputSettings& done = rule.settings;
  const bool distances = rule.kind == PairKind::kDistance;
  return done.missing == MissingRule::kMin || done.diagonal == DiagonalRule::kMaxRow ||
         done.scale == ScaleRule::kUnit || done.rescale == Rescale::kSpread ||
         done.transform == InputTransform::kRowsRbf ||
         (distances && (done.from_distance == FromDistance::kDoubleCentre ||
                        done.from_distance == FromDistance::kMaxMinus ||
                        (done.from_distance == FromDistance::kExp && !done.gamma)));
}

/// The whole matrix as the input flags make it.
struct Treated {
  SimilaritySet set;
  std::vector<Index> kept;  ///< positions of the samples that are left
  std::string note;         ///< what the user should know; empty: nothing
};
Treated treated(SimilaritySet given, const InputSettings& settings, const RunContext& ctx) {
  if (given.kind == PairKind::kDistance && settings.from_distance == FromDistance::kAuto) {
    throw Error(ErrorCode::kInvalidArgument,
                "the flags that change values make similarities of distances, and how is not said: "
                "add --from-distance, such as --from-distance double-centre");
  }
  SimilaritySet set = square(std::move(given));
  Block values = std::move(set.block);
  Treated result{.set = set, .kept = {}, .note = ""};
  set.block = std::move(values);
  ConditionedInput made = condition_training(std::move(set), settings, ctx);
  result.set.kind = PairKind::kSimilarity;
  result.set.block = std::move(made.matrix.block);
  result.set.applied = std::move(made.applied);
  if (!result.set.row_ids.empty()) {
    result.set.row_ids = values_at(result.set.row_ids, made.kept);
    result.set.column_ids = result.set.row_ids;
  }
  result.kept = std::move(made.kept);
  if (goes_by_all_samples(made.rule)) {
    result.note =
        "the values were computed from all samples of the file: a cross-validation on the result "
        "has seen its test samples. For honest errors give the same flags to kith evaluate or kith "
        "train, which compute them from training samples alone";
  }
  return result;
}

int run(const ConvertOptions& options) {
  const OutputFile out{"--out", options.output.path};
  refuse_overwriting(std::span(&out, 1), files_of(options.input));
  Session session(options.common);
  SimilaritySet set = read_one(options.input, session.context);
  std::vector<int> class_ids;
  if (!options.input.labels.empty()) {
    class_ids = join_labels(read_labels(options.input.labels), set.row_ids, set.rows(),
                            session.context, set.ordered ? "" : set.source)
                    .labels.ids;
    for (int& id : class_ids) ++id;  // 0 stands for no label
  }
  std::vector<std::string> notes;
  if (options.input.condition != InputSettings{}) {
    Treated made = treated(std::move(set), options.input.condition, session.context);
    set = std::move(made.set);
    if (!class_ids.empty()) class_ids = values_at(class_ids, made.kept);
    if (!made.note.empty()) notes.push_back(made.note);
  }
  const Order order = order_of(set, options);
  if (!order.note.empty()) notes.push_back(order.note);
  write_similarity(options.output.path, options.output.format, set, class_ids, session.context);
  write_ids(order.ids, set.row_ids);
  for (const std::string& note : notes) session.context.message(note);
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
    if (!notes.empty()) json["notes"] = notes;
    print_json(json);
  } else {
    for (const std::string& step : set.applied) session.context.message(step);
    session.context.message(fmt::format("{} ({}, {}) written to {}", set.source, set.format, shape,
                                        options.output.path));
  }
  return kDone;
}

}  // namespace

Command add_convert(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "convert", "any matrix format to any writable one; optionally with its values changed");
  const auto options = std::make_shared<ConvertOptions>();
  add_input_options(*parser, options->input, {.labels = true});
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
      "Without flags under \"What is done to the input\" the values stay as they are, distances "
      "too. With them the\n"
      "whole matrix is changed as `kith train` would change it, and similarities are written.\n\n"
      "Examples:\n"
      "  kith convert --similarity scores.csv --out scores.npy\n"
      "  kith convert --similarity hits.blast --score-column bitscore --out hits.edges.gz "
      "--out-format edges\n"
      "  kith convert --similarity all.mat --variable K --out k.mtx\n"
      "  kith convert --similarity protein.csv --transform rows-rbf --out protein_rbf.npy\n"
      "  kith convert --distance d.npy --from-distance double-centre --out s.npy");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

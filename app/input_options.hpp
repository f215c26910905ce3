// SPDX-License-Identifier: Apache-2.0
// The input flags (docs/input.md), the same for every command that reads similarities.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/condition/pipeline.hpp"
#include "kith/data/doubt.hpp"
#include "kith/data/formats.hpp"
#include "kith/data/labels.hpp"
#include "kith/pipeline/query_files.hpp"
#include "session.hpp"

namespace kith::app {

struct InputOptions {
  std::vector<std::string> similarity;  ///< FILE or name=FILE
  std::vector<std::string> distance;
  std::string labels;
  std::string groups;  ///< of commands that divide samples; empty: every sample stands for itself
  ReadSettings read;
  InputSettings condition;
  /// Flags of `condition` that say nothing without distances; none where a command has them not.
  CLI::Option* from_distance = nullptr;
  CLI::Option* gamma = nullptr;
};

/// Which flags a command takes beside --similarity and --distance.
struct InputFlags {
  bool labels = true;
  bool conditioning = true;
  bool groups = false;
};
void add_input_options(CLI::App& command, InputOptions& options, InputFlags flags = {});

/// Results and models tell several matrices apart by their names. `what` they are called, and the
/// `flag` that gives a name, for the message.
void check_names_differ(std::span<const std::string> names, std::string_view what,
                        std::string_view flag);

/// `name=FILE`, unless a file of that whole name exists.
[[nodiscard]] NamedFile parse_named_file(const std::string& text);
/// The files of flags that take `FILE` or `name=FILE`.
void add_files(std::vector<std::string>& files, const std::vector<std::string>& named);

/// Every file that is read.
[[nodiscard]] std::vector<std::string> files_of(const InputOptions& options);

/// The matrices as read, square and over the same samples, before any conditioning.
[[nodiscard]] MatchedSets read_matrices(const InputOptions& options, const RunContext& ctx);

/// One table, rectangular or square, as read. Throws unless exactly one file is given.
[[nodiscard]] SimilaritySet read_one(const InputOptions& options, const RunContext& ctx);

/// The labels joined to the samples, or nothing when no label file was given.
[[nodiscard]] std::optional<JoinedLabels> read_joined_labels(const InputOptions& options,
                                                             const MatchedSets& matrices,
                                                             const RunContext& ctx);

/// Gives the labels the groups of --groups, which are matched as labels are, and says what a user
/// should know about them: the same in words. Nothing without the flag. `unordered` as in
/// join_labels.
[[nodiscard]] std::vector<std::string> add_groups(const InputOptions& options, Labels& labels,
                                                  std::span<const std::string> ids,
                                                  const RunContext& ctx,
                                                  std::string_view unordered = {});

/// Of each matrix whether it looks like something else than it was given as, which is said;
/// `labels` may be null.
std::vector<Doubt> say_doubts(const InputOptions& options, const MatchedSets& matrices,
                              const Labels* labels, const RunContext& ctx);
/// What was said.
[[nodiscard]] std::vector<std::string> texts_of(std::span<const Doubt> doubts);

}  // namespace kith::app

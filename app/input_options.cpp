// SPDX-License-Identifier: Apache-2.0
#include "input_options.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith::app {
namespace {

constexpr const char* kInput = "Input";
constexpr const char* kConditioning = "What is done to the input";

SimilaritySet read_named(const std::string& text, PairKind kind, const InputOptions& options,
                         const RunContext& ctx) {
  const NamedFile file = parse_named_file(text);
  SimilaritySet set = read_similarity(file.path, options.read, ctx);
  if (!file.name.empty()) set.name = file.name;
  set.kind = kind;
  return set;
}

/// A flag that would be ignored is a misunderstanding.
void check_flags_apply(const InputOptions& options) {
  const auto given = [](const CLI::Option* flag) { return flag != nullptr && flag->count() > 0; };
  if (given(options.from_distance) && options.distance.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--from-distance says how distances become similarities, and no --distance FILE is "
                "given");
  }
  if (given(options.gamma) &&
      (options.distance.empty() || options.condition.from_distance != FromDistance::kExp)) {
    throw Error(ErrorCode::kInvalidArgument,
                "--gamma is used by --distance FILE with --from-distance exp alone");
  }
}

}  // namespace

void check_names_differ(std::span<const std::string> names, std::string_view what,
                        std::string_view flag) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] != names[j]) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} {} and {} are both named {}; names must differ, and {} gives one",
                              what, j + 1, i + 1, in_quotes(names[i]), flag));
    }
  }
}

NamedFile parse_named_file(const std::string& text) {
  if (text.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the name of a file is empty; give FILE or name=FILE");
  }
  struct stat info {};
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || stat(text.c_str(), &info) == 0) return {"", text};
  if (at + 1 == text.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} names no file; give FILE or name=FILE", in_quotes(text)));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

void add_files(std::vector<std::string>& files, const std::vector<std::string>& named) {
  for (const std::string& text : named) files.push_back(parse_named_file(text).path);
}

std::vector<std::string> files_of(const InputOptions& options) {
  std::vector<std::string> files = {options.labels};
  if (!options.groups.empty()) files.push_back(options.groups);
  add_files(files, options.similarity);
  add_files(files, options.distance);
  return files;
}

void add_input_options(CLI::App& command, InputOptions& options, InputFlags flags) {
  command
      .add_option("--similarity", options.similarity,
                  "matrix of similarities (repeatable; name=FILE names one)")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kInput);
  command
      .add_option("--distance", options.distance,
                  "matrix of distances instead of similarities (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kInput);
  if (flags.labels) {
    command
        .add_option("--labels", options.labels, "one label per line, or id<TAB>label joined by id")
        ->type_name("FILE")
        ->group(kInput);
  }
  if (flags.groups) {
    command
        .add_option(
            "--groups", options.groups,
            "one group per line, or id<TAB>group: samples of a group stay together wherever "
            "samples are divided, such as those of one person")
        ->type_name("FILE")
        ->group(kInput);
  }
  add_settings_flags(command, options.read, kInput);
  if (!flags.conditioning) return;
  add_settings_flags(command, options.condition, kConditioning);
  options.from_distance = command.get_option("--from-distance");
  options.gamma = command.get_option("--gamma");
}

MatchedSets read_matrices(const InputOptions& options, const RunContext& ctx) {
  if (options.similarity.empty() && options.distance.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no input: give --similarity FILE or --distance FILE");
  }
  check_flags_apply(options);
  std::vector<SimilaritySet> sets;
  for (const std::string& text : options.similarity) {
    sets.push_back(read_named(text, PairKind::kSimilarity, options, ctx));
  }
  for (const std::string& text : options.distance) {
    sets.push_back(read_named(text, PairKind::kDistance, options, ctx));
  }
  std::vector<std::string> names;
  names.reserve(sets.size());
  for (const SimilaritySet& set : sets) names.push_back(set.name);
  check_names_differ(names, "matrices", "name=FILE");
  MatchedSets matched = match(std::move(sets));
  std::vector<KnownSamples> files;
  for (const SimilaritySet& set : matched.sets) files.push_back({set.row_ids, set.source});
  if (const std::string note = position_note(files); !note.empty()) ctx.message(note);
  return matched;
}

SimilaritySet read_one(const InputOptions& options, const RunContext& ctx) {
  const std::size_t files = options.similarity.size() + options.distance.size();
  if (files != 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} input files; give exactly one with --similarity or --distance", files));
  }
  check_flags_apply(options);
  const bool similarity = !options.similarity.empty();
  return read_named(similarity ? options.similarity.front() : options.distance.front(),
                    similarity ? PairKind::kSimilarity : PairKind::kDistance, options, ctx);
}

std::optional<JoinedLabels> read_joined_labels(const InputOptions& options,
                                               const MatchedSets& matrices, const RunContext& ctx) {
  if (options.labels.empty()) return std::nullopt;
  const SimilaritySet& first = matrices.sets.front();
  return join_labels(read_labels(options.labels), matrices.ids, first.rows(), ctx,
                     first.ordered ? "" : first.source);
}

std::vector<std::string> add_groups(const InputOptions& options, Labels& labels,
                                    std::span<const std::string> ids, const RunContext& ctx,
                                    std::string_view unordered) {
  if (options.groups.empty()) return {};
  const JoinedTexts joined =
      join_texts(read_labels(options.groups, "group"), ids, labels.size(), ctx, unordered);
  set_groups(labels, make_groups(joined.texts), options.groups);
  std::vector<std::string> notes = notes_on_groups(labels, options.groups);
  for (const std::string& note : notes) ctx.message(note);
  return notes;
}

std::vector<Doubt> say_doubts(const InputOptions& options, const MatchedSets& matrices,
                              const Labels* labels, const RunContext& ctx) {
  std::vector<Doubt> doubts;
  for (const SimilaritySet& set : matrices.sets) {
    doubts.push_back(doubt(set, labels, options.read.score_column));
    if (!doubts.back().text.empty()) ctx.message(doubts.back().text);
  }
  return doubts;
}

std::vector<std::string> texts_of(std::span<const Doubt> doubts) {
  std::vector<std::string> texts;
  for (const Doubt& one : doubts) {
    if (!one.text.empty()) texts.push_back(one.text);
  }
  return texts;
}

}  // namespace kith::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/data/groups.hpp"

namespace kith {

/// Class ids 0 .. C-1 per sample with the names users gave. Classes are numbered in natural order
/// of their names (numbers by value, then text), so that the order of the file does not matter.
struct Labels {
  std::vector<int> ids;
  std::vector<std::string> names;
  /// Kept beside the classes, so that they are at hand wherever samples are divided.
  Groups groups{};

  [[nodiscard]] Index size() const { return static_cast<Index>(ids.size()); }
  [[nodiscard]] int class_count() const { return static_cast<int>(names.size()); }
  [[nodiscard]] const std::string& name_of(Index sample) const {
    return names[static_cast<std::size_t>(ids[static_cast<std::size_t>(sample)])];
  }
  /// Samples per class.
  [[nodiscard]] std::vector<Index> counts() const;
  /// Of each class the samples, in the order of `order`.
  [[nodiscard]] std::vector<std::vector<Index>> members(std::span<const Index> order) const;
  /// Whether there are samples of two classes, without which there is nothing to learn.
  [[nodiscard]] bool has_two_classes() const;
};

[[nodiscard]] Labels make_labels(std::span<const std::string> per_sample);
/// The labels of `samples`, in that order, over the same class names, with their groups.
[[nodiscard]] Labels select(const Labels& labels, std::span<const Index> samples);

/// A label file as read: labels, with ids where the file has two columns.
struct LabelFile {
  std::string source;
  std::vector<std::string> ids;  ///< empty: one label per line
  std::vector<std::string> labels;
  std::string what = "label";  ///< what messages call a label: it may be a group
};
/// One label per line; or two cells per line, id and label, separated by a tab or (where every line
/// has exactly two) by a comma, with an optional first line `id label`. A label that holds the
/// separator stands in quotes, which RFC 4180 doubles inside. Or IDX with one number per sample, as
/// the labels of MNIST are. Throws Error naming file, line and
/// rule on an empty or repeated id, an empty label and text that is not UTF-8. With another `what`
/// the first line may be `id what`.
[[nodiscard]] LabelFile read_labels(const std::string& path, std::string_view what = "label");

/// The texts of a label file in the order of the samples: by id where both the file and the samples
/// have ids, else by position. A sample without a label and a number of labels that does not fit
/// throw Error; labels of ids that are not among the samples are listed and counted through
/// `ctx.message` and in `unmatched`. Where the samples come from a table of pairs, `unordered` is
/// its name: they have no order, and labels without ids throw Error.
struct JoinedTexts {
  std::vector<std::string> texts;
  std::vector<std::string> unmatched;
};
[[nodiscard]] JoinedTexts join_texts(const LabelFile& file, std::span<const std::string> sample_ids,
                                     Index sample_count, const RunContext& ctx,
                                     std::string_view unordered = {});

/// The same as labels.
struct JoinedLabels {
  Labels labels;
  std::vector<std::string> unmatched;
};
[[nodiscard]] JoinedLabels join_labels(const LabelFile& file,
                                       std::span<const std::string> sample_ids, Index sample_count,
                                       const RunContext& ctx, std::string_view unordered = {});

/// What is said of ids of a label file that no sample had.
[[nodiscard]] std::string unmatched_note(const LabelFile& file,
                                         std::span<const std::string> unmatched);

/// The same where samples come some at a time, and how many there are is not known before.
class StreamedLabels {
 public:
  /// `file` is kept by reference.
  explicit StreamedLabels(const LabelFile& file, std::string_view unordered = {});
  explicit StreamedLabels(LabelFile&&, std::string_view = {}) = delete;

  /// For each of the next `count` samples the position of its label in the file; `ids` are theirs,
  /// or none. Throws Error naming those without a label.
  [[nodiscard]] std::vector<std::size_t> next(std::span<const std::string> ids, Index count,
                                              const RunContext& ctx);
  /// After the last sample: the ids that none had. Throws Error where labels without ids are left.
  [[nodiscard]] std::vector<std::string> finish() const;

 private:
  [[nodiscard]] std::vector<std::size_t> by_position(std::span<const std::string> ids, Index before,
                                                     const RunContext& ctx) const;

  const LabelFile& file_;
  std::string unordered_;
  std::unordered_map<std::string_view, std::size_t> position_;  // of the ids
  std::vector<char> used_;                                      // by id, of each line
  Index done_ = 0;
};

}  // namespace kith

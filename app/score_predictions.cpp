// SPDX-License-Identifier: Apache-2.0
#include "score_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith::app {
namespace {

constexpr std::size_t kClassesListed = 6;

}  // namespace

PredictionScore::PredictionScore(const std::string& path, const ModelRecord& record)
    : file_(read_labels(path)), record_(record), scorer_(record) {}

std::vector<std::string> PredictionScore::expected() const {
  return possible_queries(record_, file_.ids);
}

void PredictionScore::begin(std::string_view unordered) { labels_.emplace(file_, unordered); }

void PredictionScore::add(const QueryChunk& chunk, const Prediction& prediction,
                          const RunContext& ctx) {
  const std::span<const std::string> ids =
      chunk.numbered ? std::span<const std::string>() : std::span(chunk.ids);
  std::vector<std::string_view> truth;
  for (const std::size_t at : labels_->next(ids, std::ssize(chunk.ids), ctx)) {
    truth.emplace_back(file_.labels[at]);
  }
  scorer_.add(truth, prediction, ids);
}

std::vector<std::string> PredictionScore::notes_on_labels() const {
  const std::vector<std::string> unmatched = labels_->finish();
  const std::vector<std::string> others =
      record_.id_hashes.empty() ? unmatched : possible_queries(record_, unmatched);
  std::vector<std::string> notes;
  if (others.size() < unmatched.size()) {
    notes.push_back(fmt::format("{}: {} of {} ids are those of training samples and are left out",
                                file_.source, unmatched.size() - others.size(), file_.ids.size()));
  }
  if (!others.empty()) notes.push_back(unmatched_note(file_, others));
  return notes;
}

Score PredictionScore::finish() const {
  const std::vector<std::string> notes = notes_on_labels();
  Score score = scorer_.finish();
  score.notes.insert(score.notes.end(), notes.begin(), notes.end());
  return score;
}

PredictionSummary::PredictionSummary(const std::vector<std::string>& class_names)
    : class_names_(class_names), counts_(class_names.size()) {}

void PredictionSummary::add(const Prediction& prediction) {
  for (const int label : prediction.labels) ++counts_[static_cast<std::size_t>(label)];
}

/// Few classes in their order, the most frequent of many.
std::string PredictionSummary::text(const std::string& file) const {
  std::vector<Index> order = all_positions(std::ssize(counts_));
  const auto count = [&](Index c) { return counts_[static_cast<std::size_t>(c)]; };
  if (order.size() > kClassesListed) {
    std::ranges::stable_sort(order, std::ranges::greater{}, count);
  }
  const Index all = std::accumulate(counts_.begin(), counts_.end(), Index{0});
  std::string listed;
  for (const Index c : std::span(order).first(std::min(order.size(), kClassesListed))) {
    listed += fmt::format("{}{} {}", listed.empty() ? ": " : ", ",
                          class_names_[static_cast<std::size_t>(c)], count(c));
  }
  if (order.size() > kClassesListed) {
    listed += fmt::format(" and {} more classes", order.size() - kClassesListed);
  }
  return fmt::format("predicted {}{}; written to {}", counted(all, "sample"), all > 0 ? listed : "",
                     file);
}

}  // namespace kith::app

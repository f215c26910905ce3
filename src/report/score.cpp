// SPDX-License-Identifier: Apache-2.0
#include "kith/report/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kith/core/text.hpp"
#include "kith/report/text_art.hpp"
#include "report/escape.hpp"
#include "report/sections.hpp"

namespace kith {
namespace {

constexpr std::size_t kClassesShown = 30;
constexpr std::size_t kConfusionShown = 12;
constexpr std::size_t kMistakesShown = 10;
constexpr std::size_t kClassNameWidth = 24;

std::string class_name(const ClassScore& one) {
  return shortened(visible(one.name), kClassNameWidth);
}

std::string share_text(const std::optional<double>& share) { return share ? percent(*share) : "-"; }

std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return "-";
  return fmt::format("{:.1f} to {:.1f}", 100 * interval->low, 100 * interval->high);
}

std::string baseline_text(const Score& score) {
  const double baseline = score.baseline->error;
  const std::string meaning =
      score.interval.high < baseline  ? "The interval of the model lies below it"
      : score.interval.low > baseline ? "The interval of the model lies above it"
                                      : "The interval of the model includes it: these samples do "
                                        "not show which of the two is better";
  return fmt::format(
      "{} by always predicting {}, the most frequent class of the training samples. "
      "{}",
      percent(baseline), visible(score.baseline->class_name), meaning);
}

std::string facts(const Score& score, const TextStyle& style) {
  std::string text;
  if (score.baseline) text += fact("baseline", baseline_text(score), style);
  text += fact("balanced error", percent(score.balanced_error), style);
  if (score.auc) text += fact("area under ROC", percent(*score.auc), style);
  if (score.mean_cost) text += fact("mean cost", format_short(*score.mean_cost), style);
  if (score.log_loss) text += fact("log-loss", format_short(*score.log_loss), style);
  return text;
}

std::string class_section(const Score& score, const TextStyle& style) {
  TextTable table{
      .header = {"class", "samples", "recall", "interval", "predicted", "precision", "interval"},
      .rows = {},
      .right = {false, true, true, true, true, true, true}};
  for (std::size_t c = 0; c < std::min(kClassesShown, score.classes.size()); ++c) {
    const ClassScore& one = score.classes[c];
    table.rows.push_back({class_name(one) + (one.known ? "" : " (not in the model)"),
                          std::to_string(one.samples), share_text(one.recall()),
                          interval_text(one.recall_interval()), std::to_string(one.predicted),
                          share_text(one.precision()), interval_text(one.precision_interval())});
  }
  std::string text =
      heading("Classes, with 95 % intervals", style) + draw_table(table, style.unicode);
  if (score.classes.size() > kClassesShown) {
    text += fmt::format("  and {} more classes (all in [[json]])\n",
                        score.classes.size() - kClassesShown);
  }
  return text;
}

/// Who is taken for whom, in full.
std::string confusion_table(const Score& score, const TextStyle& style) {
  TextTable table{.header = {"true class"}, .rows = {}, .right = {false}};
  for (const ClassScore& one : score.classes) {
    if (!one.known) continue;  // it is never predicted
    table.header.push_back(class_name(one));
    table.right.push_back(true);
  }
  for (std::size_t t = 0; t < score.classes.size(); ++t) {
    std::vector<std::string> row = {class_name(score.classes[t])};
    for (std::size_t p = 0; p + 1 < table.header.size(); ++p) {
      row.push_back(std::to_string(
          std::lround(score.confusion(static_cast<Index>(t), static_cast<Index>(p)))));
    }
    table.rows.push_back(std::move(row));
  }
  return draw_table(table, style.unicode);
}

/// The pairs of classes that are confused most often.
std::string mistakes_table(const Score& score, const TextStyle& style) {
  struct Mistake {
    std::size_t truth, predicted;
    Index count;
  };
  std::vector<Mistake> mistakes;
  for (std::size_t t = 0; t < score.classes.size(); ++t) {
    for (std::size_t p = 0; p < score.classes.size(); ++p) {
      const Index count =
          std::lround(score.confusion(static_cast<Index>(t), static_cast<Index>(p)));
      if (t != p && count > 0) mistakes.push_back({t, p, count});
    }
  }
  std::ranges::stable_sort(mistakes, std::ranges::greater{}, &Mistake::count);
  TextTable table{.header = {"true class", "predicted as", "samples"},
                  .rows = {},
                  .right = {false, false, true}};
  for (std::size_t i = 0; i < std::min(kMistakesShown, mistakes.size()); ++i) {
    table.rows.push_back({class_name(score.classes[mistakes[i].truth]),
                          class_name(score.classes[mistakes[i].predicted]),
                          std::to_string(mistakes[i].count)});
  }
  std::string text = draw_table(table, style.unicode);
  if (mistakes.size() > kMistakesShown) {
    text += fmt::format("  and {} more pairs of classes (all in [[json]])\n",
                        mistakes.size() - kMistakesShown);
  }
  return text;
}

std::string confusion_section(const Score& score, const TextStyle& style) {
  if (score.classes.size() <= kConfusionShown) {
    const std::string table = confusion_table(score, style);
    const std::size_t width = display_width(std::string_view(table).substr(0, table.find('\n')));
    if (width <= static_cast<std::size_t>(style.width)) {
      return heading("Predictions (columns) of each true class (rows)", style) + table;
    }
  }
  if (score.wrong == 0) return {};
  return heading("Most frequent mistakes", style) + mistakes_table(score, style);
}

std::string calibration_section(const Score& score, const TextStyle& style) {
  if (score.calibration.empty()) return {};
  TextTable table{.header = {"probability", "samples", "mean", "right"},
                  .rows = {},
                  .right = {false, true, true, true}};
  for (std::size_t b = 0; b < score.calibration.size(); ++b) {
    const CalibrationBin& bin = score.calibration[b];
    if (bin.count == 0) continue;
    table.rows.push_back({fmt::format("{} to {} %", 10 * b, 10 * (b + 1)),
                          std::to_string(bin.count), share_text(bin.said), share_text(bin.right)});
  }
  return heading("Do the probabilities mean what they say?", style) +
         draw_table(table, style.unicode) +
         wrap(fmt::format("of the predicted class; {} off on average (expected calibration error)",
                          percent(calibration_error(score.calibration))),
              style.width, "  ");
}

}  // namespace

std::string score_text(const Score& score, const TextStyle& style) {
  std::string text = heading(fmt::format("Error {}", percent(score.error)), style).substr(1);
  text += wrap(fmt::format("{} of {} predicted wrong; the 95 % interval of the error is {} to {}",
                           score.wrong, counted(score.samples, "sample"),
                           percent(score.interval.low), percent(score.interval.high)),
               style.width, "  ");
  return text + facts(score, style) + class_section(score, style) +
         confusion_section(score, style) + calibration_section(score, style);
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include "kith/report/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kith/core/text.hpp"
#include "kith/report/text_art.hpp"
#include "report/escape.hpp"
#include "report/sections.hpp"

namespace kith {
namespace {

constexpr std::size_t kClassesShown = 30;
constexpr std::size_t kClassNameWidth = 24;

/// -0 is what `--from-distance negative` makes of 0.
std::string number(double value) {
  if (std::isnan(value)) return "-";
  return value == 0 ? "0" : format_short(value, 6);
}

std::string class_section(const MatrixSummary& matrix, const TextStyle& style) {
  TextTable table{.header = {"class", "samples", "", "alike within", "alike to others"},
                  .rows = {},
                  .right = {false, true, false, true, true}};
  Index most = 0;
  std::size_t name_width = display_width(table.header.front());
  for (const ClassSummary& one : matrix.classes) {
    most = std::max(most, one.count);
    name_width = std::max(name_width, display_width(shortened(visible(one.name), kClassNameWidth)));
  }
  constexpr int kOtherColumns = 46;  // the numbers and the gaps
  const int bar = std::clamp(style.width - kOtherColumns - static_cast<int>(name_width), 0, 16);
  for (std::size_t c = 0; c < std::min(kClassesShown, matrix.classes.size()); ++c) {
    const ClassSummary& one = matrix.classes[c];
    table.rows.push_back(
        {visible(one.name), std::to_string(one.count),
         draw_bar(static_cast<double>(one.count), static_cast<double>(most), bar, style.unicode),
         std::isnan(one.within) ? "-" : format_short(one.within),
         std::isnan(one.between) ? "-" : format_short(one.between)});
  }
  std::string text = heading("Classes", style) + draw_table(table, style.unicode);
  if (matrix.classes.size() > kClassesShown) {
    text += fmt::format("  and {} more classes (all in [[json]])\n",
                        matrix.classes.size() - kClassesShown);
  }
  return text;
}

std::string matrix_section(const MatrixSummary& matrix, const TextStyle& style) {
  const bool distance = matrix.kind == PairKind::kDistance;
  std::string text = heading("The matrix", style);
  text += fact("range", fmt::format("{} to {}", number(matrix.min), number(matrix.max)), style);
  text +=
      fact("diagonal",
           matrix.diagonal_min == matrix.diagonal_max
               ? fmt::format("{} everywhere", number(matrix.diagonal_min))
               : fmt::format("{} to {}", number(matrix.diagonal_min), number(matrix.diagonal_max)),
           style);
  text += fact("symmetry",
               matrix.symmetric ? "symmetric"
                                : fmt::format("asymmetric: S and its transpose differ by {} of the "
                                              "norm",
                                              percent(matrix.asymmetry)),
               style);
  if (matrix.missing > 0) {
    text += fact("missing",
                 fmt::format("{} of {} pairs have no value", matrix.missing,
                             matrix.missing + matrix.entries),
                 style);
  }
  if (matrix.triangles && matrix.triangles->checked > 0) {
    const TriangleSummary& triangles = *matrix.triangles;
    text += fact("triangles",
                 fmt::format("{} of {} {}triples break the triangle inequality ({} distances)",
                             percent(triangles.fraction()), triangles.checked,
                             triangles.sampled ? "sampled " : "", distance ? "given" : "implied"),
                 style);
  }
  if (matrix.neighbours) {
    const NeighbourSummary& neighbours = *matrix.neighbours;
    std::string value =
        fmt::format("leave-one-out 1-NN error {} by the {}", percent(neighbours.error),
                    neighbours.by == PairKind::kDistance ? "distances as given" : "similarities");
    if (neighbours.tied > 0) {
      value += fmt::format(" ({} with several equally near: error averaged over them)",
                           counted(neighbours.tied, "sample"));
    }
    if (neighbours.isolated > 0) {
      value += fmt::format("; {} without any known neighbour counted as wrong",
                           counted(neighbours.isolated, "sample"));
    }
    text += fact("neighbours", value, style);
  }
  if (matrix.duplicates && !matrix.duplicates->pairs.empty()) {
    const DuplicateSummary& duplicates = *matrix.duplicates;
    std::string value =
        fmt::format("{} the same, {} nearly so", counted(duplicates.same, "pair"), duplicates.near);
    if (duplicates.contradicting > 0) {
      value += fmt::format("; {} with different labels", duplicates.contradicting);
    }
    text += fact("duplicates", value, style);
  }
  for (std::size_t i = 0; i < matrix.applied.size(); ++i) {
    text += fact(i == 0 ? "applied" : "", matrix.applied[i], style);
  }
  return text;
}

std::string spectrum_section(const MatrixSummary& matrix, const TextStyle& style) {
  std::string text = heading("How indefinite", style);
  if (!matrix.spectrum) return text + wrap(matrix.no_spectrum_because, style.width, "  ");
  const SpectrumSummary& spectrum = *matrix.spectrum;
  const Index n = spectrum.lambda.size();
  text += draw_spectrum(spectrum.lambda, style.width, style.unicode);
  text +=
      wrap("eigenvalues from largest to smallest; height grows with the square root of |lambda|",
           style.width, "  ");
  text +=
      fact("lambda",
           fmt::format("{} to {}", number(spectrum.smallest()), number(spectrum.largest())), style);
  text +=
      fact("signature",
           fmt::format("{} positive, {} zero, {} negative of {}",
                       n - spectrum.negative - spectrum.zero, spectrum.zero, spectrum.negative, n),
           style);
  if (!matrix.centred) {
    return text + fact("negative part",
                       percent(spectrum.negative_fraction) + " of the absolute spectrum", style);
  }
  const SpectrumSummary& centred = *matrix.centred;
  text +=
      fact("negative part",
           "half of the absolute spectrum, as in every matrix whose diagonal adds up to 0: that "
           "says nothing of the pairs",
           style);
  return text +
         fact("centred",
              fmt::format("{} of the absolute spectrum is negative after double centring, {} of {} "
                          "eigenvalues; a machine with an intercept sees no more than that",
                          percent(centred.negative_fraction), centred.negative, n),
              style);
}

std::string agreement_section(const Inspection& inspection, const TextStyle& style) {
  TextTable table{.header = {""}, .rows = {}, .right = {false}};
  for (const MatrixSummary& matrix : inspection.matrices) {
    table.header.push_back(visible(matrix.name));
    table.right.push_back(true);
  }
  for (Index a = 0; a < inspection.agreement.rows(); ++a) {
    std::vector<std::string> row = {visible(inspection.matrices[static_cast<std::size_t>(a)].name)};
    for (Index b = 0; b < inspection.agreement.cols(); ++b) {
      row.push_back(fmt::format("{:.2f}", inspection.agreement(a, b)));
    }
    table.rows.push_back(std::move(row));
  }
  return heading("How much the matrices agree (1: they say the same)", style) +
         draw_table(table, style.unicode);
}

}  // namespace

std::string inspection_text(const Inspection& inspection, const TextStyle& style) {
  std::string text;
  for (const MatrixSummary& matrix : inspection.matrices) {
    text += heading(visible(matrix.name), style).substr(text.empty() ? 1 : 0);
    std::string shape = counted(matrix.n, "sample");
    if (inspection.labels) shape += ", " + counted(inspection.labels->class_count(), "class");
    text +=
        wrap(fmt::format("{}, {} from {} ({}{})", shape,
                         matrix.kind == PairKind::kDistance ? "distances" : "similarities",
                         visible(matrix.source), matrix.format, matrix.sparse ? ", sparse" : ""),
             style.width, "  ");
    if (!matrix.classes.empty()) text += class_section(matrix, style);
    text += matrix_section(matrix, style);
    text += spectrum_section(matrix, style);
  }
  if (inspection.agreement.size() > 0) text += agreement_section(inspection, style);
  if (!inspection.unmatched_labels.empty()) {
    text += heading("Labels without a sample", style);
    text += wrap(fmt::format("{}: {}", counted(std::ssize(inspection.unmatched_labels), "id"),
                             list_some(inspection.unmatched_labels)),
                 style.width, "  ");
  }
  text += heading("What to try, and why", style);
  for (const Advice& advice : inspection.advice) {
    text += fmt::format("  {} {}\n", style.unicode ? "\u2022" : "*", advice.what);
    text += wrap(advice.why, style.width, "      ");
  }
  if (!inspection.next.empty()) {
    // The command in one line and nothing before it, to be copied.
    text += heading("What to type next", style);
    for (const std::string& reason : inspection.next_because) {
      text += wrap(reason, style.width, "  ");
    }
    text += inspection.next + "\n";
  }
  return text;
}

}  // namespace kith

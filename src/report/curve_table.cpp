// SPDX-License-Identifier: Apache-2.0
#include "kith/report/curve_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kith/core/text.hpp"
#include "kith/report/text_art.hpp"
#include "report/escape.hpp"

namespace kith {
namespace {

constexpr int kBarWidth = 40;

std::string percents(double share) { return fmt::format("{:.2f}", 100 * share); }

std::string samples_text(const CurvePoint& point) { return format_short(point.samples, 5); }

/// "12.00 (4.85)".
std::string error_text(const SizedMethod& method) {
  if (std::isnan(method.mean)) return "-";
  const std::string mean = percents(method.mean);
  return method.errors.size() < 2 ? mean : fmt::format("{} ({})", mean, percents(method.sd));
}

std::string draw_errors(const LearningCurve& curve, bool unicode) {
  TextTable table{.header = {"training samples"}, .rows = {}, .right = {false}};
  for (const CurvePoint& point : curve.points) {
    const std::string samples = samples_text(point);
    table.header.push_back(point.size == samples ? samples
                                                 : fmt::format("{} ({})", samples, point.size));
    table.right.push_back(true);
  }
  for (std::size_t m = 0; m < curve.points.front().methods.size(); ++m) {
    std::vector<std::string> row = {escape_text(curve.points.front().methods[m].name)};
    for (const CurvePoint& point : curve.points) row.push_back(error_text(point.methods[m]));
    table.rows.push_back(std::move(row));
  }
  return draw_table(table, unicode);
}

/// A bar for each size, with the interval of the mean behind it.
std::string draw_picture(const LearningCurve& curve, bool unicode) {
  const std::string& name = curve.gain.method;
  const auto of_name = [&](const CurvePoint& point) -> const SizedMethod& {
    return *std::ranges::find(point.methods, name, &SizedMethod::name);
  };
  double largest = 0;
  std::size_t width = 0;
  for (const CurvePoint& point : curve.points) {
    largest = std::max(largest, std::isnan(of_name(point).mean) ? 0 : of_name(point).mean);
    width = std::max(width, samples_text(point).size());
  }
  std::string text =
      fmt::format("  error of {} (%, interval of 95 %) by training samples\n", escape_text(name));
  for (const CurvePoint& point : curve.points) {
    const SizedMethod& one = of_name(point);
    const std::string bar =
        std::isnan(one.mean) ? "" : draw_bar(one.mean, largest, kBarWidth, unicode);
    text +=
        fmt::format("  {:>{}}  {}{}\n", samples_text(point), width, bar + (bar.empty() ? "" : " "),
                    std::isnan(one.mean)
                        ? "-"
                        : fmt::format("{} [{}, {}]", percents(one.mean), percents(one.interval.low),
                                      percents(one.interval.high)));
  }
  return text;
}

std::string full(double value) { return std::isnan(value) ? "" : format_short(100 * value, 15); }

}  // namespace

std::string curve_text(const std::vector<NamedCurve>& curves, const TableStyle& style) {
  std::string text;
  for (const NamedCurve& one : curves) {
    const LearningCurve& curve = one.curve;
    text += fmt::format("{}{}: error (%) by the number of training samples\n\n",
                        text.empty() ? "" : "\n", escape_text(one.data_set));
    text += draw_errors(curve, style.unicode) + "\n";
    if (!curve.gain.method.empty()) text += draw_picture(curve, style.unicode) + "\n";
    text += wrap(escape_text(curve.note), 80, "  ");
  }
  return text;
}

std::vector<NamedCurve> curves_of(const Store& store,
                                  const std::vector<ExperimentResult>& results) {
  std::vector<NamedCurve> curves;
  for (const ExperimentResult& result : results) {
    LearningCurve curve = learning_curve(store, result.number);
    if (!curve.points.empty()) curves.push_back({result.name, std::move(curve)});
  }
  return curves;
}

std::string table_and_curves(const Store& store, const std::vector<ExperimentResult>& results,
                             const TableStyle& style) {
  const std::string curves = curve_text(curves_of(store, results), style);
  return results_table(results, TableFormat::kText, style) + (curves.empty() ? "" : "\n" + curves);
}

std::string curve_csv(const std::vector<NamedCurve>& curves) {
  std::string text =
      "data_set,method,size,training_samples,metric,unit,mean,sd,low,high,partitions\n";
  for (const NamedCurve& one : curves) {
    for (const CurvePoint& point : one.curve.points) {
      for (const SizedMethod& method : point.methods) {
        text += fmt::format("{},{},{},{},error,%,{},{},{},{},{}\n", escape_csv(one.data_set),
                            escape_csv(method.name), point.size, format_short(point.samples, 15),
                            full(method.mean), full(method.sd), full(method.interval.low),
                            full(method.interval.high), method.partitions.size());
      }
    }
  }
  return text;
}

}  // namespace kith

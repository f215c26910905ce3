// SPDX-License-Identifier: Apache-2.0
// One description of the table (Sheet), drawn in each format.
#include "kith/report/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "kith/core/text.hpp"
#include "kith/report/text_art.hpp"
#include "report/escape.hpp"

namespace kith {
namespace {

struct SheetCell {
  std::string text;
  bool best = false;
};

/// The table in words of ours and of the user, before any escaping.
struct Sheet {
  std::string title;
  std::vector<std::string> header;
  std::vector<bool> right;
  std::vector<std::vector<SheetCell>> rows;
  std::vector<std::string> notes;
};

using Results = std::vector<ExperimentResult>;

bool in_percent(Metric metric) { return metric != Metric::kLogLoss; }

std::string metric_words(const ExperimentResult& result) {
  switch (result.metric) {
    case Metric::kError:
      return "error";
    case Metric::kBalancedError:
      return "balanced error";
    case Metric::kFScore:
      return "macro F-score";
    case Metric::kF1:
      return "F1 of " + (result.positive.empty() ? "the positive class" : result.positive);
    case Metric::kLogLoss:
      return "log-loss";
    case Metric::kAuc:
      return "AUC";
  }
  return "";
}

std::string metric_header(const ExperimentResult& result) {
  return metric_words(result) + (in_percent(result.metric) ? " (%)" : "");
}

std::string number(double value, Metric metric) {
  return in_percent(metric) ? fmt::format("{:.2f}", 100 * value) : fmt::format("{:.4f}", value);
}

/// "12.00 (4.85)", with "[12 of 20]" behind it where partitions are missing.
SheetCell value_cell(const ExperimentResult& result, const MethodResult& method) {
  std::string text = "-";
  if (!std::isnan(method.mean)) {
    text = number(method.mean, result.metric);
    if (method.partitions.size() > 1)
      text += fmt::format(" ({})", number(method.sd, result.metric));
  }
  const auto finished = static_cast<int>(method.partitions.size());
  if (finished < result.partitions) {
    const std::string share = fmt::format("[{} of {}]", finished, result.partitions);
    text = finished == 0 ? share : text + " " + share;
  }
  return {text, method.best};
}

std::string p_text(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.0005 ? "<0.001" : fmt::format("{:.3f}", p);
}

std::string p_header(const ExperimentResult& result) {
  const bool adjusted = result.test != SignificanceTest::kWilcoxon && result.methods.size() > 2;
  return adjusted ? "p (Holm)" : "p";
}

bool has_test(const ExperimentResult& result) { return result.test != SignificanceTest::kNone; }

/// "+3.20 [0.40, 6.00]".
std::string difference_text(const ExperimentResult& result, const MethodResult& method) {
  if (!method.to_best || std::isnan(method.to_best->estimate.mean)) return "-";
  const Estimate& one = method.to_best->estimate;
  const std::string mean = number(one.mean, result.metric);
  const std::string sign = mean.starts_with('-') ? "" : "+";
  if (std::isnan(one.low)) return sign + mean;
  return fmt::format("{}{} [{}, {}]", sign, mean, number(one.low, result.metric),
                     number(one.high, result.metric));
}

/// "2/31/67": better than the best by more than a point, within one, worse; in %.
std::string bayes_text(const ExperimentResult& result, const MethodResult& method) {
  if (!method.to_best || !method.to_best->bayes) return "-";
  const Posterior& one = *method.to_best->bayes;
  const bool smaller = smaller_is_better(result.metric);
  return fmt::format("{:.0f}/{:.0f}/{:.0f}", 100 * (smaller ? one.below : one.above),
                     100 * one.within, 100 * (smaller ? one.above : one.below));
}

bool has_bayes(const ExperimentResult& result) {
  return std::any_of(result.methods.begin(), result.methods.end(), [](const MethodResult& method) {
    return method.to_best && method.to_best->bayes;
  });
}

std::string setting_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_short(value.get<double>(), 6);
  return value.dump();
}

std::string settings_text(const Json& settings) {
  std::string text;
  if (!settings.is_object()) return text;
  for (const auto& [key, value] : settings.items()) {
    text += (text.empty() ? "" : ", ") + key + "=" + setting_text(value);
  }
  return text;
}

/// Those that took part at all, the most frequent first.
std::vector<MemberResult> seated(const MethodResult& committee) {
  std::vector<MemberResult> members = committee.members;
  std::erase_if(members, [](const MemberResult& one) { return one.partitions == 0; });
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.partitions > b.partitions; });
  return members;
}

/// Of a committee, its members; their settings stand in rows of their own.
std::string usual_settings(const MethodResult& method) {
  if (method.members.empty()) return settings_text(method.usual);
  std::string text;
  for (const MemberResult& member : seated(method)) {
    text += (text.empty() ? "" : ", ") + member.name;
  }
  return text;
}

std::string usual_text(const MethodResult& method) {
  const std::string settings = usual_settings(method);
  if (settings.empty()) return "-";
  if (!method.members.empty()) {
    return counted(std::ssize(seated(method)), "method took part", "methods took part");
  }
  return fmt::format("{} ({} of {})", settings, method.usual_count, method.chosen.size());
}

/// "took part in 5 of 6: cost=1 (4)".
std::string member_text(const MemberResult& member, const MethodResult& committee) {
  const std::string settings = settings_text(member.usual);
  return fmt::format(
      "{} of {}{}", member.partitions, committee.chosen.size(),
      settings.empty() ? "" : fmt::format(": {} ({})", settings, member.usual_count));
}

const MethodResult* find_method(const ExperimentResult& result, const std::string& name) {
  for (const MethodResult& method : result.methods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

/// Every method of any data set, in the order of their first appearance.
std::vector<std::string> method_names(const Results& results) {
  std::vector<std::string> names;
  for (const ExperimentResult& result : results) {
    for (const MethodResult& method : result.methods) {
      if (std::find(names.begin(), names.end(), method.name) == names.end()) {
        names.push_back(method.name);
      }
    }
  }
  return names;
}

/// None: the method is not on every data set.
std::optional<double> rank_of(const RankTable& ranks, const std::string& name) {
  const auto at = std::find(ranks.methods.begin(), ranks.methods.end(), name);
  if (at == ranks.methods.end()) return std::nullopt;
  return ranks.ranks[static_cast<std::size_t>(at - ranks.methods.begin())];
}

void add_column(Sheet& sheet, const std::string& header, bool right) {
  sheet.header.push_back(header);
  sheet.right.push_back(right);
}

/// What a reader of the numbers must know: who is unfinished, whose solver missed its tolerance.
std::vector<std::string> warnings(const Results& results) {
  std::vector<std::string> notes;
  for (const ExperimentResult& result : results) {
    if (result.complete()) continue;
    notes.emplace_back(
        "[x of y]: only x of y partitions are finished. Rerun the same evaluation to resume. Until "
        "then only the methods with the most partitions can be best.");
    break;
  }
  for (const ExperimentResult& result : results) {
    for (const MethodResult& method : result.methods) {
      if (method.ended_as_asked()) continue;
      notes.push_back(fmt::format("{} on {}: a solver missed its tolerance ({}).", method.name,
                                  result.name, method.worst_status));
    }
  }
  return notes;
}

Sheet sheet_of_one(const ExperimentResult& result, const TableStyle& style) {
  Sheet sheet;
  sheet.title = fmt::format("{}: {}{}, {}, {}", result.name, counted(result.samples, "sample"),
                            result.groups == 0 ? "" : " in " + counted(result.groups, "group"),
                            counted(std::ssize(result.class_names), "class"),
                            counted(result.partitions, "partition"));
  add_column(sheet, "method", false);
  add_column(sheet, metric_header(result), true);
  if (result.methods.size() > 1) {
    add_column(sheet, "to the best", true);
    if (has_test(result)) add_column(sheet, p_header(result), true);
    if (has_bayes(result)) add_column(sheet, "b/s/w (%)", true);
  }
  if (style.timings) add_column(sheet, "seconds", true);
  add_column(sheet, "chosen most often", false);
  for (const MethodResult& method : result.methods) {
    std::vector<SheetCell> row = {{method.name}, value_cell(result, method)};
    if (result.methods.size() > 1) {
      row.push_back({difference_text(result, method)});
      if (has_test(result)) {
        row.push_back({method.to_best ? p_text(deciding_p(*method.to_best, result.test)) : "-"});
      }
      if (has_bayes(result)) row.push_back({bayes_text(result, method)});
    }
    if (style.timings) row.push_back({fmt::format("{:.2f}", method.seconds)});
    row.push_back({usual_text(method)});
    sheet.rows.push_back(std::move(row));
    for (const MemberResult& member : seated(method)) {
      std::vector<SheetCell> own(sheet.header.size());
      own.front().text = "- " + member.name;
      own.back().text = member_text(member, method);
      sheet.rows.push_back(std::move(own));
    }
  }
  return sheet;
}

Sheet sheet_of_several(const Results& results, const TableStyle& style) {
  Sheet sheet;
  sheet.title = fmt::format("{} on {} data sets", metric_header(results.front()), results.size());
  add_column(sheet, "method", false);
  for (const ExperimentResult& result : results) add_column(sheet, result.name, true);
  add_column(sheet, "average rank", true);
  if (style.timings) add_column(sheet, "seconds", true);
  const RankTable ranks = rank_methods(results);
  for (const std::string& name : method_names(results)) {
    std::vector<SheetCell> row = {{name}};
    double seconds = 0;
    for (const ExperimentResult& result : results) {
      const MethodResult* method = find_method(result, name);
      row.push_back(method != nullptr ? value_cell(result, *method) : SheetCell{});
      if (method != nullptr) seconds += method->seconds;
    }
    const std::optional<double> rank = rank_of(ranks, name);
    row.push_back({rank ? fmt::format("{:.2f}", *rank) : "-"});
    if (style.timings) row.push_back({fmt::format("{:.2f}", seconds)});
    sheet.rows.push_back(std::move(row));
  }
  if (!ranks.note.empty()) sheet.notes.push_back(ranks.note);
  sheet.notes.emplace_back(
      "Differences to the best, with their intervals, are in the table of each data set alone, and "
      "in csv and json.");
  return sheet;
}

/// What the numbers, the marks and p mean.
std::vector<std::string> explanations(const Results& results, const std::string& mark) {
  std::string first;
  if (std::any_of(results.begin(), results.end(), [](const auto& r) { return r.partitions > 1; })) {
    first = "Mean over the test parts, standard deviation in brackets.";
  }
  if (std::any_of(results.begin(), results.end(), [](const auto& r) { return r.could_tell; })) {
    first += (first.empty() ? "" : " ") + mark +
             ": the best mean, or not significantly worse than it at 5 %.";
  }
  std::vector<std::string> notes;
  if (!first.empty()) notes.push_back(first);
  if (results.size() > 1) {
    // The same sentence for all data sets that it holds for.
    for (const ExperimentResult& result : results) {
      if (result.test_note.empty() ||
          std::find(notes.begin(), notes.end(), result.test_note) != notes.end()) {
        continue;
      }
      notes.push_back(result.test_note);
    }
    return notes;
  }
  const ExperimentResult& result = results.front();
  if (result.methods.size() > 1) {
    notes.emplace_back(
        "To the best: the mean difference to the best method, with its 95 % "
        "interval in brackets.");
    if (!result.test_note.empty()) notes.push_back(result.test_note);
    if (has_bayes(result)) {
      notes.emplace_back(
          "b/s/w: how probable it is that the method is better than the best one by more than 1 "
          "point, the same to within 1 point, or worse (Bayesian correlated t-test).");
    }
  }
  const double value = result.baseline.metrics[static_cast<std::size_t>(result.metric)];
  if (!std::isnan(value)) {
    notes.push_back(fmt::format(
        "Always predicting the most frequent class ({}): {} {}{}.", result.baseline.name,
        metric_words(result), number(value, result.metric), in_percent(result.metric) ? " %" : ""));
  }
  if (result.tested.never > 0 && result.tested.most > 0) {
    notes.push_back(fmt::format("{} of {} samples were in no finished test part.",
                                result.tested.never, result.samples));
  }
  return notes;
}

Sheet make_sheet(const Results& results, const TableStyle& style, const std::string& mark) {
  Sheet sheet =
      results.size() == 1 ? sheet_of_one(results.front(), style) : sheet_of_several(results, style);
  std::vector<std::string> notes = explanations(results, mark);
  sheet.notes.insert(sheet.notes.begin(), notes.begin(), notes.end());
  for (std::string& note : warnings(results)) sheet.notes.push_back(std::move(note));
  return sheet;
}

/// Whether a column has a star: then a blank in the other cells keeps its numbers in line.
bool has_best(const Sheet& sheet, std::size_t column) {
  return std::any_of(sheet.rows.begin(), sheet.rows.end(),
                     [&](const std::vector<SheetCell>& row) { return row[column].best; });
}

std::string draw_text(const Results& results, const TableStyle& style) {
  const Sheet sheet = make_sheet(results, style, "*");
  TextTable table{.header = {}, .rows = {}, .right = sheet.right};
  table.rows.resize(sheet.rows.size());
  table.bold.resize(sheet.rows.size());
  for (std::size_t c = 0; c < sheet.header.size(); ++c) {
    const std::string blank = has_best(sheet, c) ? " " : "";
    table.header.push_back(escape_text(sheet.header[c]) + blank);
    for (std::size_t r = 0; r < sheet.rows.size(); ++r) {
      const SheetCell& cell = sheet.rows[r][c];
      table.rows[r].push_back(escape_text(cell.text) + (cell.best ? "*" : blank));
      table.bold[r].push_back(cell.best && style.colour);
    }
  }
  std::string text = escape_text(sheet.title) + "\n\n" + draw_table(table, style.unicode) + "\n";
  for (const std::string& note : sheet.notes) text += wrap(escape_text(note), 80, "  ");
  return text;
}

std::string draw_markdown(const Results& results, const TableStyle& style) {
  const Sheet sheet = make_sheet(results, style, "Bold");
  std::string text = escape_markdown(sheet.title) + "\n\n|";
  for (const std::string& title : sheet.header) text += " " + escape_markdown(title) + " |";
  text += "\n|";
  for (const bool right : sheet.right) text += right ? "---:|" : ":---|";
  text += "\n";
  for (const std::vector<SheetCell>& cells : sheet.rows) {
    text += "|";
    for (const SheetCell& cell : cells) {
      const std::string inside = escape_markdown(cell.text);
      text += cell.best ? " **" + inside + "** |" : " " + inside + " |";
    }
    text += "\n";
  }
  for (const std::string& note : sheet.notes) text += "\n" + escape_markdown(note) + "\n";
  return text;
}

std::string draw_latex(const Results& results, const TableStyle& style) {
  const Sheet sheet = make_sheet(results, style, "Bold");
  std::string caption = escape_latex(sheet.title) + ".";
  for (const std::string& note : sheet.notes) caption += "\n    " + escape_latex(note);
  std::string columns;
  for (const bool right : sheet.right) columns += right ? 'r' : 'l';
  std::string text = fmt::format(
      "% \\usepackage{{booktabs}}\n"
      "\\begin{{table}}\n"
      "  \\centering\n"
      "  \\caption{{{}}}\n"
      "  \\begin{{tabular}}{{{}}}\n"
      "    \\toprule\n",
      caption, columns);
  const auto line = [&](const std::vector<std::string>& cells) {
    text += "    ";
    for (std::size_t c = 0; c < cells.size(); ++c) text += (c > 0 ? " & " : "") + cells[c];
    text += " \\\\\n";
  };
  std::vector<std::string> header;
  for (const std::string& title : sheet.header) header.push_back(escape_latex(title));
  line(header);
  text += "    \\midrule\n";
  for (const std::vector<SheetCell>& cells : sheet.rows) {
    std::vector<std::string> row;
    for (const SheetCell& cell : cells) {
      const std::string inside = escape_latex(cell.text);
      row.push_back(cell.best ? "\\textbf{" + inside + "}" : inside);
    }
    line(row);
  }
  return text + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n";
}

/// 15 digits: a double times 100 is not exact, and its 16th digit is noise.
std::string full(double value, double factor) {
  return std::isnan(value) ? "" : format_short(factor * value, 15);
}

std::string draw_csv(const Results& results, const TableStyle& style) {
  const RankTable ranks = rank_methods(results);
  std::string text =
      "data_set,method,metric,unit,mean,sd,partitions,planned,difference,low,high,test,p_value,"
      "p_adjusted,better,equal,worse,best,chosen_most,chosen_count";
  if (results.size() > 1) text += ",average_rank";
  text += style.timings ? ",seconds\n" : "\n";
  for (const ExperimentResult& result : results) {
    const bool percent = in_percent(result.metric);
    const double factor = percent ? 100 : 1;
    for (const MethodResult& method : result.methods) {
      const Difference none;
      const Difference& one = method.to_best ? *method.to_best : none;
      const bool smaller = smaller_is_better(result.metric);
      const auto probability = [&](double Posterior::*which) {
        return one.bayes ? full(*one.bayes.*which, 1) : "";
      };
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", escape_csv(result.name),
          escape_csv(method.name), enum_name(result.metric), percent ? "%" : "",
          full(method.mean, factor), method.partitions.size() > 1 ? full(method.sd, factor) : "",
          method.partitions.size(), result.partitions, full(one.estimate.mean, factor),
          full(one.estimate.low, factor), full(one.estimate.high, factor), enum_name(result.test),
          full(one.p_value, 1), full(one.p_adjusted, 1),
          probability(smaller ? &Posterior::below : &Posterior::above),
          probability(&Posterior::within),
          probability(smaller ? &Posterior::above : &Posterior::below), method.best ? "yes" : "no",
          escape_csv(usual_settings(method)), method.usual_count);
      if (results.size() > 1) {
        const std::optional<double> rank = rank_of(ranks, method.name);
        text += "," + (rank ? full(*rank, 1) : "");
      }
      text += style.timings ? "," + format_double(method.seconds) + "\n" : "\n";
    }
  }
  return text;
}

}  // namespace

std::string results_table(const std::vector<ExperimentResult>& results, TableFormat format,
                          const TableStyle& style) {
  if (results.empty()) return "";
  switch (format) {
    case TableFormat::kText:
      return draw_text(results, style);
    case TableFormat::kCsv:
      return draw_csv(results, style);
    case TableFormat::kMarkdown:
      return draw_markdown(results, style);
    case TableFormat::kLatex:
      return draw_latex(results, style);
  }
  return "";
}

}  // namespace kith

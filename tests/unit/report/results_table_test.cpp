// SPDX-License-Identifier: Apache-2.0
#include "kith/report/results_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kith/core/text.hpp"
#include "report/escape.hpp"

namespace kith::results_table_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

MethodResult method(const std::string& name, double mean, double sd, bool best = false,
                    int finished = 20) {
  MethodResult result{.name = name, .method = "svm"};
  for (int p = 0; p < finished; ++p) result.partitions.push_back(p);
  result.values.assign(result.partitions.size(), mean);
  result.chosen.assign(result.partitions.size(), Json({{"cost", 10.0}}));
  result.usual = {{"cost", 10.0}, {"spectrum", "clip"}};
  result.usual_count = finished / 2;
  if (finished > 0) {
    result.mean = mean;
    result.sd = sd;
  }
  result.best = best;
  result.seconds = 3.25;
  return result;
}

ExperimentResult data_set(const std::string& name, const std::vector<MethodResult>& methods) {
  ExperimentResult result{.name = name};
  result.samples = 100;
  result.class_names = {"no", "yes"};
  result.partitions = 20;
  result.methods = methods;
  result.baseline.metrics.fill(std::numeric_limits<double>::quiet_NaN());
  result.test = SignificanceTest::kCorrectedT;
  result.could_tell = true;
  result.test_note = "p is of some test.";
  return result;
}

std::vector<ExperimentResult> one() {
  MethodResult best = method("svm-clip", 0.12, 0.0485, true);
  best.leads = true;
  MethodResult worse = method("knn", 0.25, 0.125);
  worse.to_best = {.estimate = {.mean = 0.13, .low = 0.021, .high = 0.239},
                   .p_value = 0.0123,
                   .p_adjusted = 0.0123,
                   .bayes = Posterior{.below = 0.01, .within = 0.04, .above = 0.95}};
  return {data_set("sonar", {best, worse})};
}

/// With a third method, so that p-values are adjusted.
std::vector<ExperimentResult> three() {
  std::vector<ExperimentResult> results = one();
  MethodResult close = method("ridge", 0.13, 0.05, true);
  close.to_best = {.estimate = {.mean = 0.01, .low = -0.03, .high = 0.05},
                   .p_value = 0.6,
                   .p_adjusted = 0.6,
                   .bayes = Posterior{.below = 0.2, .within = 0.3, .above = 0.5}};
  results[0].methods.push_back(close);
  results[0].methods[1].to_best->p_adjusted = 0.0246;
  return results;
}

std::vector<ExperimentResult> two() {
  return {data_set("one", {method("a", 0.1, 0.01, true), method("b", 0.2, 0.01)}),
          data_set("two", {method("a", 0.3, 0.01, true), method("only here", 0.4, 0.01),
                           method("b", 0.5, 0.01)})};
}

constexpr TableStyle kPlain = {.unicode = false, .colour = false, .timings = false};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  return lines;
}

std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines_of(text)) {
    if (line.find(part) != std::string::npos) return line;
  }
  return "no line has " + part;
}

/// The fields of every record of RFC 4180 text.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      records.back().emplace_back();
    } else if (!quoted && c == '\n') {
      records.emplace_back(1);
    } else {
      field += c;
    }
  }
  records.pop_back();
  return records;
}

TEST(ResultsTable, TextHasMeanDeviationPValueAndSettings) {
  const std::string text = results_table(one(), TableFormat::kText, kPlain);
  EXPECT_THAT(text, StartsWith("sonar: 100 samples, 2 classes, 20 partitions\n"));
  EXPECT_THAT(line_with(text, "svm-clip"),
              AllOf(HasSubstr("12.00 (4.85)*"), HasSubstr("cost=10, spectrum=clip (10 of 20)")));
  EXPECT_THAT(line_with(text, "knn"),
              AllOf(HasSubstr("25.00 (12.50) "), HasSubstr("0.012"), Not(HasSubstr("*"))));
  EXPECT_THAT(line_with(text, "method"), HasSubstr("error (%)"));
}

TEST(ResultsTable, HasTheDifferenceToTheBestWithItsIntervalInEveryFormat) {
  const auto results = three();
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(line_with(text, "  knn"),
              AllOf(HasSubstr("+13.00 [2.10, 23.90]"), HasSubstr("0.025"), HasSubstr("1/4/95")));
  EXPECT_THAT(line_with(text, "  ridge"),
              AllOf(HasSubstr("+1.00 [-3.00, 5.00]"), HasSubstr("20/30/50")));
  EXPECT_THAT(line_with(text, "method"), AllOf(HasSubstr("to the best"), HasSubstr("p (Holm)")));
  EXPECT_THAT(results_table(results, TableFormat::kMarkdown, kPlain),
              HasSubstr("+13.00 \\[2.10, 23.90\\]"));
  EXPECT_THAT(results_table(results, TableFormat::kLatex, kPlain),
              HasSubstr("+13.00 {[}2.10, 23.90]"));
  const auto records = read_csv(results_table(results, TableFormat::kCsv, kPlain));
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"difference", "13"},    {"low", "2.1"},        {"high", "23.9"},
      {"test", "corrected-t"}, {"p_value", "0.0123"}, {"better", "0.01"},
      {"equal", "0.04"},       {"worse", "0.95"},     {"p_adjusted", "0.0246"}};
  for (const auto& [name, value] : expected) {
    const auto column = std::ranges::find(records[0], name) - records[0].begin();
    ASSERT_LT(column, std::ssize(records[0])) << name;
    EXPECT_EQ(records[2][static_cast<std::size_t>(column)], value) << name;
    if (name == "test") continue;
    EXPECT_EQ(records[1][static_cast<std::size_t>(column)], "") << name;
  }
}

TEST(ResultsTable, OfALargerIsBetterMetricBetterIsAbove) {
  std::vector<ExperimentResult> results = three();
  results[0].metric = Metric::kAuc;
  EXPECT_THAT(line_with(results_table(results, TableFormat::kText, kPlain), "  knn"),
              HasSubstr("95/4/1"));
}

TEST(ResultsTable, HasTheBaselineAndCountsUntestedSamples) {
  std::vector<ExperimentResult> results = one();
  const std::string without = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(without, AllOf(Not(HasSubstr("most frequent class")), Not(HasSubstr("test part."))));
  results[0].baseline.name = "yes";
  results[0].baseline.metrics[0] = 0.46;
  results[0].tested = {.least = 0, .most = 4, .never = 13};
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(text, HasSubstr("most frequent class (yes): error 46.00 %."));
  EXPECT_THAT(text, HasSubstr("13 of 100 samples were in no finished test part."));
}

TEST(ResultsTable, TextIsAsciiUnlessAskedOtherwise) {
  for (const char c : results_table(one(), TableFormat::kText, kPlain)) {
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << static_cast<int>(c);
  }
  EXPECT_THAT(results_table(one(), TableFormat::kText, {.unicode = true}), HasSubstr("\u2500"));
}

TEST(ResultsTable, TextColumnsLineUpWhateverTheNames) {
  std::vector<ExperimentResult> results = one();
  results[0].methods[0].name = "\u65e5\u672c\u8a9e";  // wide
  results[0].methods[1].name = "e\u0301t\u00e9";      // combining
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  const auto end_of = [&](const std::string& name, const std::string& number) {
    const std::string line = line_with(text, name);
    return display_width(line.substr(0, line.find(number) + number.size()));
  };
  EXPECT_EQ(end_of("\u65e5", "(4.85)"), end_of("t\u00e9", "(12.50)"));
}

TEST(ResultsTable, ColourAddsEscapesAndMovesNothing) {
  const std::string plain = results_table(one(), TableFormat::kText, kPlain);
  std::string coloured =
      results_table(one(), TableFormat::kText, {.unicode = false, .colour = true});
  EXPECT_THAT(coloured, HasSubstr("\033[1m"));
  for (const std::string code : {"\033[1m", "\033[0m"}) {
    for (std::size_t at = 0; (at = coloured.find(code)) != std::string::npos;) {
      coloured.erase(at, code.size());
    }
  }
  EXPECT_EQ(coloured, plain);
}

TEST(ResultsTable, SaysWhatIsUnfinished) {
  std::vector<ExperimentResult> results = one();
  EXPECT_THAT(results_table(results, TableFormat::kText, kPlain), Not(HasSubstr("evaluate")));
  results[0].methods.push_back(method("late", 0.3, 0.1, false, 12));
  results[0].methods.push_back(method("none", 0.3, 0.1, false, 0));
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(line_with(text, "late"), HasSubstr("30.00 (10.00) [12 of 20]"));
  EXPECT_THAT(line_with(text, "none"), HasSubstr("[0 of 20]"));
  EXPECT_THAT(text, HasSubstr("Rerun the same evaluation"));
}

TEST(ResultsTable, ExplainsMarksOnlyWhereThereAreSome) {
  std::vector<ExperimentResult> results = one();
  EXPECT_THAT(results_table(results, TableFormat::kText, kPlain),
              AllOf(HasSubstr("*: the best mean"), HasSubstr("p is of some test.")));
  results[0].could_tell = false;
  results[0].methods[0].best = false;
  results[0].test_note = "More is needed.";
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("*")), HasSubstr("More is needed.")));
}

TEST(ResultsTable, NamesSolversThatMissedTheirTolerance) {
  std::vector<ExperimentResult> results = one();
  results[0].methods[0].worst_status = "solved";
  EXPECT_THAT(results_table(results, TableFormat::kText, kPlain), Not(HasSubstr("tolerance")));
  results[0].methods[1].worst_status = "iteration limit";
  EXPECT_THAT(results_table(results, TableFormat::kText, kPlain),
              HasSubstr("knn on sonar: a solver missed its tolerance (iteration limit)"));
}

TEST(ResultsTable, TimesAreShownOnRequestOnly) {
  for (const TableFormat format :
       {TableFormat::kText, TableFormat::kCsv, TableFormat::kMarkdown, TableFormat::kLatex}) {
    for (const auto& results : {one(), two()}) {
      EXPECT_THAT(results_table(results, format, kPlain), Not(HasSubstr("seconds")));
      const bool summed = results.size() > 1 && format != TableFormat::kCsv;
      EXPECT_THAT(results_table(results, format, {.timings = true}),
                  AllOf(HasSubstr("seconds"), HasSubstr(summed ? "6.50" : "3.25")))
          << enum_name(format);
    }
  }
}

TEST(ResultsTable, SeveralDataSetsStandSideBySideWithAverageRanks) {
  const std::string text = results_table(two(), TableFormat::kText, kPlain);
  EXPECT_THAT(line_with(text, "method"),
              AllOf(HasSubstr("one"), HasSubstr("two"), HasSubstr("average rank")));
  EXPECT_THAT(line_with(text, "  a "),
              AllOf(HasSubstr("10.00 (1.00)*"), HasSubstr("30.00 (1.00)*"), HasSubstr("1.00")));
  EXPECT_THAT(line_with(text, "only here"), AllOf(HasSubstr("40.00 (1.00)"), EndsWith("-")));
  EXPECT_THAT(text, AllOf(HasSubstr("from 5 data sets on"), Not(HasSubstr("Nemenyi's critical")),
                          HasSubstr("Differences to the best")));
  std::vector<ExperimentResult> five;
  five.reserve(5);
  for (int d = 0; d < 5; ++d) five.push_back(two()[0]);
  EXPECT_THAT(results_table(five, TableFormat::kText, kPlain),
              AllOf(HasSubstr("Friedman's test finds"), HasSubstr("Nemenyi's")));
}

TEST(ResultsTable, LogLossIsNoPercentage) {
  std::vector<ExperimentResult> results = one();
  results[0].metric = Metric::kLogLoss;
  results[0].methods[1].to_best->bayes.reset();
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(text, AllOf(HasSubstr("log-loss"), HasSubstr("0.1200 (0.0485)*")));
  EXPECT_THAT(line_with(text, "method"), Not(HasSubstr("%")));
}

TEST(ResultsTable, CsvKeepsEveryDigitThatMeansSomething) {
  std::vector<ExperimentResult> results = one();
  results[0].methods[0].mean = 0.07;
  results[0].methods[1].mean = 1.0 / 3;
  const auto records = read_csv(results_table(results, TableFormat::kCsv, kPlain));
  ASSERT_EQ(records.size(), 3U);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(records[0].begin(), records[0].end(), name) -
                                    records[0].begin());
  };
  EXPECT_EQ(records[1].at(column("mean")), "7");
  EXPECT_EQ(records[2].at(column("mean")), "33.3333333333333");
  EXPECT_EQ(records[1].at(column("unit")), "%");
  EXPECT_EQ(records[1].at(column("best")), "yes");
  EXPECT_EQ(records[1].at(column("p_value")), "");
  EXPECT_EQ(records[2].at(column("p_value")), "0.0123");
  EXPECT_EQ(records[2].at(column("chosen_most")), "cost=10, spectrum=clip");
}

TEST(ResultsTable, CsvGivesHostileNamesBack) {
  for (const std::string name :
       {"a,b", "say \"hi\"", "two\nlines", " spaced ", "\r", "\u65e5|$\\"}) {
    std::vector<ExperimentResult> results = one();
    results[0].name = name;
    results[0].methods[1].name = name;
    const auto records = read_csv(results_table(results, TableFormat::kCsv, kPlain));
    ASSERT_EQ(records.size(), 3U);
    for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
    EXPECT_EQ(records[2].at(0), name);
    EXPECT_EQ(records[2].at(1), name);
  }
}

TEST(ResultsTable, MarkdownRowsKeepTheirColumns) {
  std::vector<ExperimentResult> results = one();
  results[0].methods[1].name = "a|b\n| c | `d` **e** <f> $g$ \\";
  const std::string text = results_table(results, TableFormat::kMarkdown, kPlain);
  EXPECT_THAT(line_with(text, "svm-clip"), HasSubstr("| **12.00 (4.85)** |"));
  const auto bars = [](const std::string& line) {
    int count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '|') {
        ++count;
      }
    }
    return count;
  };
  for (const std::string part : {"method", "---", "svm-clip", "25.00"}) {
    EXPECT_EQ(bars(line_with(text, part)), 7) << line_with(text, part);
  }
}

TEST(ResultsTable, LatexUsesBooktabsAndBoldFace) {
  const std::string text = results_table(one(), TableFormat::kLatex, kPlain);
  for (const std::string part :
       {"\\toprule", "\\midrule", "\\bottomrule", "\\begin{tabular}{lrrrrl}",
        "\\textbf{12.00 (4.85)}", "error (\\%)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

/// Whether braces balance and no special character stands bare.
void expect_sound_latex(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    ASSERT_GE(depth, 0) << text;
    EXPECT_EQ(std::string_view("$#_^~%").find(text[i]), std::string_view::npos) << text;
  }
  EXPECT_EQ(depth, 0) << text;
}

TEST(ResultsTable, LatexHasNothingBareOfHostileNames) {
  const std::string hostile = "50% $x_1^2$ {a}} \\end{tabular} #1 ~ a&b [2] \n \"q\"";
  std::vector<ExperimentResult> results = one();
  results[0].name = hostile;
  results[0].methods[0].name = hostile;
  const std::string text = results_table(results, TableFormat::kLatex, kPlain);
  expect_sound_latex(text.substr(text.find('\n')));  // the first line is a comment
  EXPECT_THAT(line_with(text, "50"), Not(HasSubstr("\n")));
  const std::string row = line_with(text, "textbf");
  std::size_t separators = 0;
  for (std::size_t i = 1; i < row.size(); ++i) separators += row[i] == '&' && row[i - 1] != '\\';
  EXPECT_EQ(separators, 5U) << row;
}

TEST(Escape, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(escape_text("a\x1b[31mb\n\t\x7f"), "a\\u{1b}[31mb\\n\\t\\u{7f}");
  EXPECT_EQ(escape_text("x\u202ey\u2028"), "x\\u{202e}y\\u{2028}");
  EXPECT_EQ(escape_text("\xff ok \xc3"), "\\xff ok \\xc3");
  EXPECT_EQ(escape_text("caf\u00e9 \u65e5\u672c"), "caf\u00e9 \u65e5\u672c");
}

TEST(Escape, TellsALineEndFromABackslashAndAnN) {
  EXPECT_NE(escape_text("\n"), escape_text("\\n"));
  EXPECT_EQ(escape_text("\\n"), "\\\\n");
}

TEST(Escape, LatexKeepsRowsFromTakingArguments) {
  EXPECT_EQ(escape_latex("[2]*"), "{[}2]{*}");
  EXPECT_EQ(escape_latex("a--b---c"), "a-{}-b-{}-{}-c");
}

TEST(Escape, MarkdownBeginsNoList) {
  EXPECT_EQ(escape_markdown("1. a"), "1\\. a");
  EXPECT_EQ(escape_markdown("- a-b 1.5"), "\\- a-b 1.5");
}

TEST(ResultsTable, ShowsWhoTookPartInACommitteeAndWithWhat) {
  MethodResult committee = method("auto", 0.1, 0.01, true);
  committee.usual = Json::object();
  committee.members = {{.name = "knn", .partitions = 0, .usual = {}},
                       {.name = "svm", .partitions = 7, .usual = {{"cost", 10}}, .usual_count = 5},
                       {.name = "ridge", .partitions = 20, .usual = Json::object()}};
  const std::vector<ExperimentResult> results = {data_set("sonar", {committee})};
  const std::string text = results_table(results, TableFormat::kText, kPlain);
  EXPECT_THAT(line_with(text, "auto"), HasSubstr("2 methods took part"));
  EXPECT_THAT(line_with(text, "- svm"), HasSubstr("7 of 20: cost=10 (5)"));
  EXPECT_THAT(line_with(text, "- ridge"), HasSubstr("20 of 20"));
  EXPECT_LT(text.find("- ridge"), text.find("- svm"));
  EXPECT_THAT(text, Not(HasSubstr("knn")));
  EXPECT_THAT(results_table(results, TableFormat::kCsv, kPlain), HasSubstr("\"ridge, svm\""));
}

}  // namespace
}  // namespace kith::results_table_test

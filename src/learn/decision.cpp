// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/decision.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/errors.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

Index class_of(std::string_view name, const Labels& labels, const std::string& where) {
  const auto at = std::find(labels.names.begin(), labels.names.end(), name);
  if (at != labels.names.end()) return at - labels.names.begin();
  throw invalid("{}: there is no class {}; the classes are {}", where, in_quotes(name),
                list_some(labels.names, 20));
}

double number_of(std::string_view text, NumberRange range, const std::string& where) {
  const auto value = parse_double(trim(text));
  if (value && range.contains(*value)) return *value;
  throw invalid("{}: {} must be a number, {}", where, in_quotes(text), range.text());
}

/// An entry of a setting: a line of a file whose columns are separated by tabs, or an item of
/// comma-separated text of the form name=number.
struct Entry {
  std::string where;
  std::vector<std::string> parts;
};

std::vector<Entry> entries_of_file(const std::string& path, std::size_t parts) {
  std::vector<Entry> entries;
  detail::ByteSource source = detail::ByteSource::open(path);
  detail::LineReader lines(source);
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    Entry entry{.where = fmt::format("{}:{}", path, lines.line_number()), .parts = {}};
    for (const std::string_view part : split(line, '\t')) entry.parts.emplace_back(trim(part));
    if (entry.parts.size() != parts) {
      throw broken("{}: {} columns separated by tabs; there must be {}", entry.where,
                   entry.parts.size(), parts);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool is_file(const std::string& text) {
  struct stat info {};
  return stat(text.c_str(), &info) == 0;
}

[[noreturn]] void refuse_form(const std::string& setting, std::string_view item,
                              const std::string& form) {
  throw invalid("setting {}: {} is neither a file nor of the form {}", setting, in_quotes(item),
                form);
}

/// Names of classes may contain commas and '=': an item ends at the first comma after a '=', and
/// its number follows the last '='.
std::vector<Entry> entries_of_text(const std::string& text, const std::string& setting,
                                   const std::string& form) {
  std::vector<Entry> entries;
  std::optional<std::string> item;
  for (const std::string_view piece : split(text, ',')) {
    item = item ? fmt::format("{},{}", *item, piece) : std::string(piece);
    const std::size_t at = item->rfind('=');
    if (at == std::string::npos) continue;
    entries.push_back({"setting " + setting,
                       {std::string(trim(std::string_view(*item).substr(0, at))),
                        std::string(trim(std::string_view(*item).substr(at + 1)))}});
    item.reset();
  }
  if (item) refuse_form(setting, *item, form);
  return entries;
}

std::vector<Entry> entries_of_priors(const std::string& text) {
  return is_file(text) ? entries_of_file(text, 2) : entries_of_text(text, "priors", "class=number");
}

/// truth:said as its two classes, whose names may contain ':' too.
std::pair<std::string, std::string> pair_of(const std::string& names, const Labels& labels) {
  const auto is_class = [&](const std::string& name) {
    return std::find(labels.names.begin(), labels.names.end(), name) != labels.names.end();
  };
  const auto cut = [&](std::size_t at) {
    return std::pair(std::string(trim(names.substr(0, at))),
                     std::string(trim(names.substr(at + 1))));
  };
  const std::size_t first = names.find(':');
  if (first == std::string::npos) refuse_form("costs", names, "truth:said=cost");
  for (std::size_t at = first; at != std::string::npos; at = names.find(':', at + 1)) {
    const auto [truth, said] = cut(at);
    if (is_class(truth) && is_class(said)) return {truth, said};
  }
  return cut(first);
}

std::vector<Entry> entries_of_costs(const std::string& text, const Labels& labels) {
  if (is_file(text)) return entries_of_file(text, 3);
  std::vector<Entry> entries = entries_of_text(text, "costs", "truth:said=cost");
  for (Entry& entry : entries) {
    const auto [truth, said] = pair_of(entry.parts[0], labels);
    entry.parts = {truth, said, entry.parts[1]};
  }
  return entries;
}

Vector read_priors(const std::string& text, const Labels& labels) {
  Vector priors = Vector::Constant(labels.class_count(), -1);
  for (const Entry& entry : entries_of_priors(text)) {
    priors(class_of(entry.parts[0], labels, entry.where)) =
        number_of(entry.parts[1], at_least(0), entry.where);
  }
  for (Index c = 0; c < priors.size(); ++c) {
    if (priors(c) < 0) {
      throw invalid("setting priors: class {} has none",
                    in_quotes(labels.names[static_cast<std::size_t>(c)]));
    }
  }
  if (!(priors.sum() > 0)) throw invalid("setting priors: at least one must be above 0");
  return priors / priors.sum();
}

Matrix read_costs(const std::string& text, const Labels& labels) {
  const Index classes = labels.class_count();
  Matrix costs = Matrix::Ones(classes, classes) - Matrix::Identity(classes, classes);
  for (const Entry& entry : entries_of_costs(text, labels)) {
    const Index truth = class_of(entry.parts[0], labels, entry.where);
    const Index said = class_of(entry.parts[1], labels, entry.where);
    costs(truth, said) = number_of(entry.parts[2], at_least(0), entry.where);
  }
  return costs;
}

}  // namespace

void describe(DecisionSettings& settings, FieldVisitor& field) {
  field("priors", settings.priors,
        "class frequencies to expect among new samples: a=0.2,b=0.8 or a file of class<TAB>number");
  field("costs", settings.costs,
        "what mistakes cost: a:b=5 (a called b costs 5; others 1) or a file of "
        "truth<TAB>said<TAB>cost");
}

std::vector<std::string> decision_names() {
  std::vector<std::string> names;
  for (const FieldInfo& one : fields<DecisionSettings>()) names.push_back(one.name);
  return names;
}

bool is_of_decision(std::string_view key) {
  const std::vector<std::string> names = decision_names();
  return std::find(names.begin(), names.end(), key) != names.end();
}

void add_decision(const DecisionSettings& settings, Json& record) {
  const Json all = settings_json(settings);
  for (const auto& [name, value] : all.items()) {
    if (!value.is_string() || !value.get_ref<const std::string&>().empty()) record[name] = value;
  }
}

Json without_decision(Json record) {
  for (const std::string& name : decision_names()) record.erase(name);
  return record;
}

DecisionRule make_decision_rule(const DecisionSettings& settings, const Labels& labels) {
  DecisionRule rule;
  if (!settings.priors.empty()) {
    rule.priors = read_priors(settings.priors, labels);
    const std::vector<Index> counts = labels.counts();
    rule.training_shares.resize(labels.class_count());
    for (std::size_t c = 0; c < counts.size(); ++c) {
      rule.training_shares(static_cast<Index>(c)) =
          static_cast<double>(counts[c]) / static_cast<double>(labels.size());
    }
  }
  if (!settings.costs.empty()) rule.costs = read_costs(settings.costs, labels);
  return rule;
}

void apply(const DecisionRule& rule, Prediction& prediction) {
  if (rule.empty()) return;
  if (prediction.probabilities.size() == 0 && !prediction.labels.empty()) {
    throw invalid("priors and costs need probabilities, which this model does not have");
  }
  Matrix& p = prediction.probabilities;
  const Index classes = p.cols();
  for (Index i = 0; i < p.rows(); ++i) {
    if (rule.priors.size() > 0) {
      Vector weighted =
          p.row(i).transpose().cwiseProduct(rule.priors).cwiseQuotient(rule.training_shares);
      if (weighted.sum() > 0) p.row(i) = weighted.transpose() / weighted.sum();
    }
    Vector expected(classes);
    for (Index said = 0; said < classes; ++said) {
      expected(said) = rule.costs.size() > 0 ? p.row(i).dot(rule.costs.col(said)) : 1 - p(i, said);
    }
    Index best = 0;
    for (Index said = 1; said < classes; ++said) {
      if (expected(said) < expected(best) ||
          (expected(said) == expected(best) && p(i, said) > p(i, best))) {
        best = said;
      }
    }
    prediction.labels[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
}

}  // namespace kith

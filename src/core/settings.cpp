// SPDX-License-Identifier: Apache-2.0
#include "kith/core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/core/unknown_setting.hpp"

namespace kith {
namespace {

std::string bound(double value) { return format_short(value, 6); }

std::string choice_list(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// " (did you mean clip?)", or nothing.
std::string choice_hint(std::string_view text, std::span<const std::string_view> names) {
  constexpr std::size_t kShortest = 4;  // any two shorter words are near each other
  if (text.size() < kShortest) return {};
  const std::vector<std::string> known(names.begin(), names.end());
  const std::optional<std::string> guess = closest_name(text, known);
  return guess ? fmt::format(" (did you mean {}?)", *guess) : "";
}

std::string with_word(const std::string& rule, std::string_view absent_word) {
  return fmt::format("{}, or {}", rule, absent_word);
}

/// Said of what is no number or not finite: "above 0" alone would let infinity pass.
std::string finite(NumberRange range) {
  const std::string rule = range.text();
  return rule == any_number().text() ? "a finite number" : "a finite number " + rule;
}

template <class T>
std::string number_text(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return format_double(value);
  } else {
    return std::to_string(value);
  }
}

Error bad_value(std::string_view subject, std::string_view key, std::string_view shown,
                std::string_view rule) {
  return invalid("{}: setting {} is {}; it must be {}", subject, key, shown, rule);
}

class TableVisitor final : public FieldVisitor {
 public:
  std::vector<FieldInfo> rows;

 protected:
  void on_real(std::string_view name, double& value, NumberRange range,
               std::string_view help) override {
    add(name, "number", format_double(value), range.text(), help);
  }
  void on_count(std::string_view name, Index& value, NumberRange range,
                std::string_view help) override {
    add(name, "count", std::to_string(value), range.text(), help);
  }
  void on_switch(std::string_view name, bool& value, std::string_view help) override {
    add(name, "yes/no", value ? "yes" : "no", "yes, no", help);
  }
  void on_text(std::string_view name, std::string& value, std::string_view help) override {
    add(name, "text", value, "any text", help);
  }
  void on_optional_real(std::string_view name, std::optional<double>& value, NumberRange range,
                        std::string_view absent_word, std::string_view help) override {
    add(name, "number", value ? format_double(*value) : std::string(absent_word),
        with_word(range.text(), absent_word), help);
  }
  void on_optional_count(std::string_view name, std::optional<Index>& value, NumberRange range,
                         std::string_view absent_word, std::string_view help) override {
    add(name, "count", value ? std::to_string(*value) : std::string(absent_word),
        with_word(range.text(), absent_word), help);
  }
  void on_choice(std::string_view name, int& index, std::span<const std::string_view> names,
                 std::span<const Alias> /*aliases*/, std::string_view help) override {
    add(name, "choice", std::string(names[static_cast<std::size_t>(index)]), choice_list(names),
        help);
    rows.back().choices.assign(names.begin(), names.end());
  }

 private:
  void add(std::string_view name, std::string type, std::string value, std::string rule,
           std::string_view help) {
    rows.push_back({std::string(name),
                    std::move(type),
                    std::move(value),
                    std::move(rule),
                    std::string(help),
                    {},
                    take_role()});
  }
};

/// Sets the one field named `key` from text.
class SetVisitor final : public FieldVisitor {
 public:
  SetVisitor(std::string_view subject, std::string_view key, std::string_view text)
      : subject_(subject), key_(key), text_(trim(text)) {}

  bool found = false;
  std::vector<std::string> seen;

 protected:
  void on_real(std::string_view name, double& value, NumberRange range,
               std::string_view /*help*/) override {
    if (matches(name)) value = number<double>(range, range.text());
  }
  void on_count(std::string_view name, Index& value, NumberRange range,
                std::string_view /*help*/) override {
    if (matches(name)) value = number<Index>(range, whole(range));
  }
  void on_switch(std::string_view name, bool& value, std::string_view /*help*/) override {
    if (!matches(name)) return;
    if (text_ == "yes" || text_ == "true" || text_ == "on" || text_ == "1") {
      value = true;
    } else if (text_ == "no" || text_ == "false" || text_ == "off" || text_ == "0") {
      value = false;
    } else {
      throw refuse("yes or no");
    }
  }
  void on_text(std::string_view name, std::string& value, std::string_view /*help*/) override {
    if (matches(name)) value = std::string(text_);
  }
  void on_optional_real(std::string_view name, std::optional<double>& value, NumberRange range,
                        std::string_view absent_word, std::string_view /*help*/) override {
    if (matches(name)) set_optional(value, range, range.text(), absent_word);
  }
  void on_optional_count(std::string_view name, std::optional<Index>& value, NumberRange range,
                         std::string_view absent_word, std::string_view /*help*/) override {
    if (matches(name)) set_optional(value, range, whole(range), absent_word);
  }
  void on_choice(std::string_view name, int& index, std::span<const std::string_view> names,
                 std::span<const Alias> aliases, std::string_view /*help*/) override {
    if (!matches(name)) return;
    std::string_view wanted = text_;
    for (const auto& [alias, target] : aliases) {
      if (alias == wanted) wanted = target;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == wanted) {
        index = static_cast<int>(i);
        return;
      }
    }
    throw refuse("one of " + choice_list(names) + choice_hint(text_, names));
  }

 private:
  bool matches(std::string_view name) {
    seen.emplace_back(name);
    if (name != key_) return false;
    found = true;
    return true;
  }
  static std::string whole(NumberRange range) { return "a whole number, " + range.text(); }

  template <class T>
  T number(NumberRange range, const std::string& rule, std::string_view absent_word = "") {
    const auto absent_rule = [&](const std::string& said) {
      return absent_word.empty() ? said : with_word(said, absent_word);
    };
    if constexpr (std::is_same_v<T, double>) {
      const auto value = parse_double(text_);
      if (!value || !std::isfinite(*value)) throw refuse(absent_rule(finite(range)));
      if (!range.contains(*value)) throw refuse(absent_rule(rule));
      return *value;
    } else {
      const auto value = parse_integer(text_);
      if (!value || !range.contains(static_cast<double>(*value))) throw refuse(absent_rule(rule));
      return static_cast<T>(*value);
    }
  }
  template <class T>
  void set_optional(std::optional<T>& value, NumberRange range, const std::string& rule,
                    std::string_view absent_word) {
    if (text_ == absent_word) {
      value.reset();
    } else {
      value = number<T>(range, rule, absent_word);
    }
  }
  [[nodiscard]] Error refuse(const std::string& rule) const {
    return bad_value(subject_, key_, in_quotes(text_), rule);
  }

  std::string_view subject_;
  std::string_view key_;
  std::string_view text_;
};

class ValidateVisitor final : public FieldVisitor {
 public:
  explicit ValidateVisitor(std::string_view subject) : subject_(subject) {}

 protected:
  void on_real(std::string_view name, double& value, NumberRange range,
               std::string_view /*help*/) override {
    check(name, value, range);
  }
  void on_count(std::string_view name, Index& value, NumberRange range,
                std::string_view /*help*/) override {
    check(name, value, range);
  }
  void on_switch(std::string_view, bool&, std::string_view) override {}
  void on_text(std::string_view, std::string&, std::string_view) override {}
  void on_optional_real(std::string_view name, std::optional<double>& value, NumberRange range,
                        std::string_view /*absent_word*/, std::string_view /*help*/) override {
    if (value) check(name, *value, range);
  }
  void on_optional_count(std::string_view name, std::optional<Index>& value, NumberRange range,
                         std::string_view /*absent_word*/, std::string_view /*help*/) override {
    if (value) check(name, *value, range);
  }
  void on_choice(std::string_view name, int& index, std::span<const std::string_view> names,
                 std::span<const Alias> /*aliases*/, std::string_view /*help*/) override {
    if (index < 0 || static_cast<std::size_t>(index) >= names.size()) {
      throw bad_value(subject_, name, std::to_string(index), "one of " + choice_list(names));
    }
  }

 private:
  template <class T>
  void check(std::string_view name, T value, NumberRange range) const {
    if (!range.contains(static_cast<double>(value))) {
      const bool is_finite = std::isfinite(static_cast<double>(value));
      throw bad_value(subject_, name, number_text(value), is_finite ? range.text() : finite(range));
    }
  }
  std::string_view subject_;
};

class JsonVisitor final : public FieldVisitor {
 public:
  Json json = Json::object();

 protected:
  void on_real(std::string_view name, double& value, NumberRange, std::string_view) override {
    json[std::string(name)] = value;
  }
  void on_count(std::string_view name, Index& value, NumberRange, std::string_view) override {
    json[std::string(name)] = value;
  }
  void on_switch(std::string_view name, bool& value, std::string_view) override {
    json[std::string(name)] = value;
  }
  void on_text(std::string_view name, std::string& value, std::string_view) override {
    json[std::string(name)] = value;
  }
  void on_optional_real(std::string_view name, std::optional<double>& value, NumberRange,
                        std::string_view absent_word, std::string_view) override {
    json[std::string(name)] = value ? Json(*value) : Json(std::string(absent_word));
  }
  void on_optional_count(std::string_view name, std::optional<Index>& value, NumberRange,
                         std::string_view absent_word, std::string_view) override {
    json[std::string(name)] = value ? Json(*value) : Json(std::string(absent_word));
  }
  void on_choice(std::string_view name, int& index, std::span<const std::string_view> names,
                 std::span<const Alias>, std::string_view) override {
    json[std::string(name)] = std::string(names[static_cast<std::size_t>(index)]);
  }
};

std::string json_as_text(const Json& value, std::string_view subject, const std::string& key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return std::to_string(value.get<long long>());
  if (value.is_number()) return format_double(value.get<double>());
  throw bad_value(subject, key, in_quotes(value.dump()), "a number, a text or true/false");
}

}  // namespace

bool NumberRange::contains(double value) const {
  if (std::isnan(value) || std::isinf(value)) return false;
  const bool above_low = low_open ? value > low : value >= low;
  const bool below_high = high_open ? value < high : value <= high;
  return above_low && below_high;
}

std::string NumberRange::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high && !low_open && !high_open) {
    return fmt::format("between {} and {}", bound(low), bound(high));
  }
  const std::string lower = fmt::format("{} {}", low_open ? "above" : "at least", bound(low));
  const std::string upper = fmt::format("{} {}", high_open ? "below" : "at most", bound(high));
  if (has_low && has_high) return lower + " and " + upper;
  if (has_low) return lower;
  if (has_high) return upper;
  return "any number";
}

std::string_view own_name(std::string_view word) {
  struct Names {
    std::string_view theirs;
    std::string_view ours;
  };
  static constexpr std::array<Names, 9> kNames = {{{"C", "cost"},
                                                   {"c", "cost"},
                                                   {"k", "neighbours"},
                                                   {"K", "neighbours"},
                                                   {"n_neighbors", "neighbours"},
                                                   {"n-neighbors", "neighbours"},
                                                   {"neighbors", "neighbours"},
                                                   {"tol", "tolerance"},
                                                   {"eps", "tolerance"}}};
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Names& names) { return names.theirs == word; });
  return found == kNames.end() ? word : found->ours;
}

std::string setting_hint(std::string_view key, const std::vector<std::string>& there_are) {
  const std::string ours(own_name(key));
  const bool known = std::find(there_are.begin(), there_are.end(), ours) != there_are.end();
  const std::optional<std::string> guess = known ? ours : closest(key, there_are);
  return guess ? " (did you mean " + *guess + "?)" : "";
}

void refuse_setting(std::string_view subject, std::string_view key,
                    const std::vector<std::string>& there_are) {
  throw invalid("{} has no setting {}{}; it has {}", subject, in_quotes(key),
                setting_hint(key, there_are),
                there_are.empty() ? "none" : list_some(there_are, 30));
}

namespace detail {

void refuse_choice(std::string_view subject, std::string_view text,
                   std::span<const std::string_view> names) {
  throw invalid("{} is {}; it must be one of {}{}", subject, in_quotes(text), choice_list(names),
                choice_hint(text, names));
}

std::vector<FieldInfo> fields(void* settings, DescribeFunction describe) {
  TableVisitor visitor;
  describe(settings, visitor);
  return std::move(visitor.rows);
}

void set_field(void* settings, DescribeFunction describe, std::string_view subject,
               std::string_view key, std::string_view text) {
  SetVisitor visitor(subject, key, text);
  describe(settings, visitor);
  if (!visitor.found) refuse_setting(subject, key, visitor.seen);
}

void validate(void* settings, DescribeFunction describe, std::string_view subject) {
  ValidateVisitor visitor(subject);
  describe(settings, visitor);
}

Json to_json(void* settings, DescribeFunction describe) {
  JsonVisitor visitor;
  describe(settings, visitor);
  return std::move(visitor.json);
}

void from_json(void* settings, DescribeFunction describe, std::string_view subject,
               const Json& json) {
  if (!json.is_object()) throw bad_value(subject, "(all)", in_quotes(json.dump()), "a JSON object");
  for (const auto& [key, value] : json.items()) {
    set_field(settings, describe, subject, key, json_as_text(value, subject, key));
  }
}

}  // namespace detail
}  // namespace kith

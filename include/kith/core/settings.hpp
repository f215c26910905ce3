// SPDX-License-Identifier: Apache-2.0
// Settings are aggregates with defaults whose fields are described once:
//
//   void describe(SvmSettings& s, FieldVisitor& field) {
//     field("cost", s.cost, above(0.0), "penalty C on margin violations");
//     field("spectrum", s.spectrum, "what is done to negative eigenvalues");
//   }
//
// Validation, JSON, command-line flags, Python keywords and documentation tables visit that
// description.
#pragma once

#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/core/enum_names.hpp"
#include "kith/core/json.hpp"
#include "kith/core/types.hpp"

namespace kith {

namespace detail {
[[noreturn]] void refuse_choice(std::string_view subject, std::string_view text,
                                std::span<const std::string_view> names);
}  // namespace detail

/// The enumerator of that name; throws Error naming the subject, the text and the names there are.
template <NamedEnum E>
[[nodiscard]] E parse_enum(std::string_view subject, std::string_view text) {
  if (const std::optional<E> found = find_enum<E>(text)) return *found;
  detail::refuse_choice(subject, text, kEnumNames<E>);
}

/// A value that a field of an enumeration may take, and what it is called there.
template <NamedEnum E>
struct Choice {
  E value;
  std::string_view name;
  constexpr Choice(E one) : value(one), name(enum_name(one)) {}  // NOLINT(*-explicit-*)
  constexpr Choice(E one, std::string_view called) : value(one), name(called) {}
};

/// The numbers a field may take.
struct NumberRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = true;
  bool high_open = true;

  [[nodiscard]] bool contains(double value) const;
  /// As a rule in words: "above 0", "at least 1", "between 0 and 1", "any number".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] constexpr NumberRange above(double low) { return {.low = low}; }
[[nodiscard]] constexpr NumberRange at_least(double low) { return {.low = low, .low_open = false}; }
[[nodiscard]] constexpr NumberRange between(double low, double high) {
  return {.low = low, .high = high, .low_open = false, .high_open = false};
}
[[nodiscard]] constexpr NumberRange any_number() { return {}; }

/// What a field means to those who do not know whose it is: grids, protocols, notes.
enum class FieldRole {
  kOwn,          ///< nothing beyond its help
  kCost,         ///< the penalty C of a machine
  kKernelCost,   ///< the penalty on a learned kernel's distance from what was given
  kNeighbours,   ///< how many neighbours of a sample count; more than there are samples are no more
  kProbability,  ///< whether probabilities are fitted; labels do not need them
  kCertificate,  ///< whether bounds are computed that only certify; labels do not need them
  kProof,        ///< whether a costly proof is made, for one model; an evaluation never makes it
};
constexpr auto enum_names(FieldRole /*of*/) {
  return named("own", "cost", "kernel-cost", "neighbours", "probability", "certificate", "proof");
}

/// Called once per field by `describe`. Subclasses read or write the field they are handed.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  /// Says what the next field means: field.as(FieldRole::kCost)("cost", ...).
  FieldVisitor& as(FieldRole role) {
    role_ = role;
    return *this;
  }

  void operator()(std::string_view name, double& value, NumberRange range, std::string_view help) {
    on_real(name, value, range, help);
  }
  void operator()(std::string_view name, Index& value, NumberRange range, std::string_view help) {
    on_count(name, value, range, help);
  }
  void operator()(std::string_view name, bool& value, std::string_view help) {
    on_switch(name, value, help);
  }
  void operator()(std::string_view name, std::string& value, std::string_view help) {
    on_text(name, value, help);
  }
  /// A number that may be absent; `absent_word` is what users type for that ("none", "all",
  /// "auto").
  void operator()(std::string_view name, std::optional<double>& value, NumberRange range,
                  std::string_view absent_word, std::string_view help) {
    on_optional_real(name, value, range, absent_word, help);
  }
  void operator()(std::string_view name, std::optional<Index>& value, NumberRange range,
                  std::string_view absent_word, std::string_view help) {
    on_optional_count(name, value, range, absent_word, help);
  }
  template <NamedEnum E>
  void operator()(std::string_view name, E& value, std::string_view help) {
    int index = static_cast<int>(value);
    on_choice(name, index, kEnumNames<E>, kEnumAliases<E>, help);
    value = static_cast<E>(index);
  }
  /// A choice among some of the values. Throws Error where the field has another.
  template <NamedEnum E>
  void operator()(std::string_view name, E& value,
                  const std::type_identity_t<std::initializer_list<Choice<E>>>& choices,
                  std::string_view help) {
    std::vector<std::string_view> names;
    int index = -1;
    for (const Choice<E>& choice : choices) {
      if (choice.value == value) index = static_cast<int>(names.size());
      names.push_back(choice.name);
    }
    if (index < 0) detail::refuse_choice(name, enum_name(value), names);
    on_choice(name, index, names, kEnumAliases<E>, help);
    value = std::next(choices.begin(), index)->value;
  }
  /// A choice that may be left open; `absent_word` is what users type for that.
  template <NamedEnum E>
  void operator()(std::string_view name, std::optional<E>& value, std::string_view absent_word,
                  std::string_view help) {
    std::vector<std::string_view> names(kEnumNames<E>.begin(), kEnumNames<E>.end());
    names.push_back(absent_word);
    const int absent = static_cast<int>(names.size()) - 1;
    int index = value ? static_cast<int>(*value) : absent;
    on_choice(name, index, names, {}, help);
    if (index == absent) {
      value.reset();
    } else {
      value = static_cast<E>(index);
    }
  }

 protected:
  [[nodiscard]] FieldRole take_role() { return std::exchange(role_, FieldRole::kOwn); }

  virtual void on_real(std::string_view name, double& value, NumberRange range,
                       std::string_view help) = 0;
  virtual void on_count(std::string_view name, Index& value, NumberRange range,
                        std::string_view help) = 0;
  virtual void on_switch(std::string_view name, bool& value, std::string_view help) = 0;
  virtual void on_text(std::string_view name, std::string& value, std::string_view help) = 0;
  virtual void on_optional_real(std::string_view name, std::optional<double>& value,
                                NumberRange range, std::string_view absent_word,
                                std::string_view help) = 0;
  virtual void on_optional_count(std::string_view name, std::optional<Index>& value,
                                 NumberRange range, std::string_view absent_word,
                                 std::string_view help) = 0;
  virtual void on_choice(std::string_view name, int& index, std::span<const std::string_view> names,
                         std::span<const Alias> aliases, std::string_view help) = 0;

 private:
  FieldRole role_ = FieldRole::kOwn;
};

template <class S>
concept Described = requires(S& settings, FieldVisitor& field) {
  describe(settings, field);
};

/// One row of a documentation table.
struct FieldInfo {
  std::string name;
  std::string type;           ///< "number", "count", "yes/no", "text", "choice"
  std::string default_value;  ///< the value of the settings at hand, as a user would type it
  std::string rule;           ///< the range in words, or the choices separated by ", "
  std::string help;
  std::vector<std::string> choices;  ///< for "choice"
  FieldRole role = FieldRole::kOwn;
};

namespace detail {
using DescribeFunction = void (*)(void* settings, FieldVisitor& field);
template <Described S>
void describe_erased(void* settings, FieldVisitor& field) {
  describe(*static_cast<S*>(settings), field);
}
std::vector<FieldInfo> fields(void* settings, DescribeFunction describe);
void set_field(void* settings, DescribeFunction describe, std::string_view subject,
               std::string_view key, std::string_view text);
void validate(void* settings, DescribeFunction describe, std::string_view subject);
Json to_json(void* settings, DescribeFunction describe);
void from_json(void* settings, DescribeFunction describe, std::string_view subject,
               const Json& json);
}  // namespace detail

/// The fields of S with their defaults, in the order of `describe`.
template <Described S>
[[nodiscard]] std::vector<FieldInfo> fields(S defaults = {}) {
  return detail::fields(&defaults, detail::describe_erased<S>);
}

/// Sets the field `key` from what a user typed. Throws Error naming subject, key, value and rule
/// (with the closest existing name when there is no such key).
template <Described S>
void set_field(S& settings, std::string_view subject, std::string_view key, std::string_view text) {
  detail::set_field(&settings, detail::describe_erased<S>, subject, key, text);
}

/// Throws Error naming the first field outside its range.
template <Described S>
void validate(S settings, std::string_view subject) {
  detail::validate(&settings, detail::describe_erased<S>, subject);
}

template <Described S>
[[nodiscard]] Json settings_json(S settings) {
  return detail::to_json(&settings, detail::describe_erased<S>);
}

/// Fields missing from `json` keep their value; unknown keys and wrong types throw.
template <Described S>
void settings_from_json(S& settings, std::string_view subject, const Json& json) {
  detail::from_json(&settings, detail::describe_erased<S>, subject, json);
}

}  // namespace kith

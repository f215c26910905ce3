// SPDX-License-Identifier: Apache-2.0
#include "evaluate/store_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "evaluate/store_rows.hpp"
#include "kith/core/text.hpp"
#include "kith/core/xxh64.hpp"

namespace kith::detail {
namespace {

using Texts = std::vector<std::string>;

/// As it comes back from a store, and without an order of keys.
nlohmann::json stored_form(const Json& json) { return nlohmann::json::parse(json_text(json)); }

std::string differs(const std::string& what, const std::string& stored, const std::string& now) {
  return fmt::format("{} is {} in the store and {} now", what, stored, now);
}

constexpr std::size_t kLongest = 100;

std::string shown(const nlohmann::json& json) {
  std::string text = json.dump();
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

/// Where two long texts that differ are shown, the part in which they do.
void show_difference(const nlohmann::json& a, const nlohmann::json& b, std::string& first,
                     std::string& second) {
  first = a.dump();
  second = b.dump();
  const auto [at, other] = std::ranges::mismatch(first, second);
  constexpr std::ptrdiff_t kBefore = 30;
  const auto begin =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at - first.begin() - kBefore));
  for (std::string* text : {&first, &second}) {
    if (text->size() <= kLongest) continue;
    const bool cut = begin + kLongest < text->size();
    *text = (begin > 0 ? "..." : "") + text->substr(begin, kLongest) + (cut ? "..." : "");
  }
}

/// The members of a committee by name, where both are lists of such; else nothing.
std::string names_of_members(const nlohmann::json& list) {
  if (!list.is_array() || list.empty()) return {};
  std::string names;
  for (const nlohmann::json& one : list) {
    if (!one.is_object() || !one.contains("name") || !one.at("name").is_string()) return {};
    names += (names.empty() ? "" : ",") + one.at("name").get<std::string>();
  }
  return names;
}

void add_with(std::string_view prefix, const Texts& from, Texts& to) {
  for (const std::string& text : from) to.push_back(std::string(prefix) + text);
}

/// `name(i)` is the text of item i; the first that differs is shown.
template <class Name>
void compare_lists(const std::string& what, std::size_t stored_size, std::size_t now_size,
                   const Name& name, Texts& found) {
  if (stored_size != now_size) {
    found.push_back(
        differs("the number of " + what, std::to_string(stored_size), std::to_string(now_size)));
    return;
  }
  std::size_t count = 0;
  std::string first;
  for (std::size_t i = 0; i < stored_size; ++i) {
    const auto [stored, now] = name(i);
    if (stored == now) continue;
    if (count++ == 0) first = differs(fmt::format("number {}", i + 1), stored, now);
  }
  if (count > 0)
    found.push_back(fmt::format("{} of {} {} differ ({})", count, stored_size, what, first));
}

void compare_labels(const ExperimentRecord& stored, const ExperimentRecord& now, Texts& found) {
  compare_lists(
      "labels", stored.labels.ids.size(), now.labels.ids.size(),
      [&](std::size_t i) {
        const auto sample = static_cast<Index>(i);
        return std::pair(in_quotes(stored.labels.name_of(sample)),
                         in_quotes(now.labels.name_of(sample)));
      },
      found);
  if (stored.labels.names == now.labels.names) return;
  found.push_back(fmt::format("the classes are {} in the store, {} now",
                              list_some(stored.labels.names), list_some(now.labels.names)));
}

void compare_groups(const Groups& stored, const Groups& now, Texts& found) {
  if (stored.empty() != now.empty()) {
    found.push_back(fmt::format("there are {} in the store and {} now",
                                stored.empty() ? "no groups" : "groups",
                                now.empty() ? "none" : "groups"));
    return;
  }
  compare_lists(
      "groups of samples", stored.ids.size(), now.ids.size(),
      [&](std::size_t i) {
        const auto sample = static_cast<Index>(i);
        return std::pair(in_quotes(stored.name_of(sample)), in_quotes(now.name_of(sample)));
      },
      found);
}

void compare_ids(const ExperimentRecord& stored, const ExperimentRecord& now, Texts& found) {
  compare_lists(
      "sample ids", stored.ids.size(), now.ids.size(),
      [&](std::size_t i) { return std::pair(in_quotes(stored.ids[i]), in_quotes(now.ids[i])); },
      found);
}

void compare_partitions(const ExperimentRecord& stored, const ExperimentRecord& now, Texts& found) {
  if (stored.partitions.size() != now.partitions.size()) {
    found.push_back(differs("the number of partitions", std::to_string(stored.partitions.size()),
                            std::to_string(now.partitions.size())));
    return;
  }
  std::size_t count = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < stored.partitions.size(); ++i) {
    if (stored.partitions[i] == now.partitions[i]) continue;
    if (count++ == 0) first = i + 1;
  }
  if (count > 0) {
    found.push_back(
        fmt::format("{} of {} partitions put samples into other parts, the first of "
                    "them partition {}",
                    count, stored.partitions.size(), first));
  }
}

}  // namespace

Texts json_differences(const Json& stored, const Json& now) {
  const nlohmann::json a = stored_form(stored);
  const nlohmann::json b = stored_form(now);
  Texts found;
  if (a == b) return found;
  if (!a.is_object() || !b.is_object()) {
    found.push_back(differs("it", shown(a), shown(b)));
    return found;
  }
  const auto add = [&](const std::string& key) {
    if (!a.contains(key) || !b.contains(key)) {
      const auto value = [&](const nlohmann::json& object) {
        return object.contains(key) ? shown(object.at(key)) : std::string("not given");
      };
      found.push_back(differs(key, value(a), value(b)));
      return;
    }
    std::string first = names_of_members(a.at(key));
    std::string second = names_of_members(b.at(key));
    if (first.empty() || first == second) show_difference(a.at(key), b.at(key), first, second);
    found.push_back(differs(key, first, second));
  };
  nlohmann::json both = a;
  both.update(b);
  for (const auto& item : both.items()) {
    const std::string& key = item.key();
    const bool equal = a.contains(key) && b.contains(key) && a.at(key) == b.at(key);
    if (!equal) add(key);
  }
  return found;
}

Texts differences(const ExperimentRecord& stored, const ExperimentRecord& now) {
  Texts found;
  if (stored.fingerprint != now.fingerprint) {
    found.push_back(differs("the fingerprint of the data", hex_digits(stored.fingerprint),
                            hex_digits(now.fingerprint)));
  }
  compare_labels(stored, now, found);
  compare_groups(stored.labels.groups, now.labels.groups, found);
  compare_ids(stored, now, found);
  add_with("protocol: ", json_differences(stored.protocol, now.protocol), found);
  add_with("input: ", json_differences(stored.input, now.input), found);
  compare_partitions(stored, now, found);
  return found;
}

Texts differences(const CandidateRecord& stored, const CandidateRecord& now) {
  Texts found;
  if (stored.method != now.method) {
    found.push_back(differs("the method", stored.method, now.method));
  }
  add_with("", json_differences(stored.settings, now.settings), found);
  const nlohmann::json a = stored_form(stored.grid);
  const nlohmann::json b = stored_form(now.grid);
  if (a != b) {
    std::string first;
    std::string second;
    show_difference(a, b, first, second);
    found.push_back(differs("the grid", first, second));
  }
  return found;
}

}  // namespace kith::detail

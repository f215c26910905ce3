// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/method_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kith {

std::vector<FieldInfo> all_fields(const MethodInfo& method) {
  std::vector<FieldInfo> all = method.fields;
  if (method.probabilities) {
    for (FieldInfo& field : fields<DecisionSettings>()) all.push_back(std::move(field));
  }
  return all;
}

Json fields_json(const std::vector<FieldInfo>& fields) {
  Json settings = Json::array();
  for (const FieldInfo& field : fields) {
    settings.push_back({{"name", field.name},
                        {"type", field.type},
                        {"default", field.default_value},
                        {"rule", field.rule},
                        {"help", field.help}});
    if (!field.choices.empty()) settings.back()["choices"] = field.choices;
    if (field.role != FieldRole::kOwn) settings.back()["role"] = enum_name(field.role);
  }
  return settings;
}

Json method_json(const MethodInfo& method) {
  Json grid = Json::array();
  for (const GridAxis& axis : method.grid) {
    grid.push_back({{"setting", axis.field},
                    {"values", axis.values},
                    {"simpler", axis.simpler == Simpler::kSmaller ? "smaller" : "larger"}});
  }
  Json works = Json::object();
  for (const Reference& work : references()) {
    if (method.paper.find(fmt::format("[{}]", work.key)) != std::string::npos) {
      works[std::string(work.key)] = work.text;
    }
  }
  return {{"name", method.name},
          {"title", method.title},
          {"paper", method.paper},
          {"references", works},
          {"summary", method.summary},
          {"probabilities", method.probabilities},
          {"several_matrices", method.several_matrices},
          {"learns_from_vectors", method.learns_from_vectors},
          {"settings", fields_json(all_fields(method))},
          {"grid", grid}};
}

}  // namespace kith

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/selection.hpp"
#include "kith/learn/method_json.hpp"
#include "kith/learn/registry.hpp"
#include "kith/report/text_art.hpp"
#include "method_options.hpp"

namespace kith::app {
namespace {

struct MethodsOptions {
  CommonOptions common;
  std::string name;
};

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::string method_text(const MethodInfo& method, const OutputStyle& style) {
  std::string text = fmt::format("{}  ({})\n", method.name, method.paper);
  text += wrap(method.summary, style.width, "  ");
  if (method.several_matrices) {
    text += wrap("learns from one matrix or several: --similarity name=FILE, repeated", style.width,
                 "  ");
  }
  if (method.learns_from_vectors)
    text += wrap("learns from vectors: --data FILE", style.width, "  ");
  text += "\nSettings (--set NAME=VALUE)\n";
  for (const FieldInfo& field : all_fields(method)) {
    const std::string value = field.default_value.empty() ? "empty" : field.default_value;
    text += fmt::format("  {} = {}\n", field.name, value);
    text += wrap(field.help + "; " + field.rule, style.width, "      ");
  }
  if (!method.grid.empty())
    text += "\nGrid (searched by cross-validation unless the setting is given)\n";
  for (const GridAxis& axis : method.grid) {
    text += wrap(fmt::format("{}: {}; among equals the {} wins", axis.field, joined(axis.values),
                             axis.simpler == Simpler::kSmaller ? "smaller" : "larger"),
                 style.width, "  ");
  }
  std::vector<std::string> short_names;
  for (const FieldInfo& field : method.fields) {
    for (const std::string& choice : field.choices) {
      const std::string name = method.name + "-" + choice;
      const MethodChoice parsed = parse_method(name);
      if (parsed.fixed.front() == field.name) short_names.push_back(name);
    }
  }
  if (!short_names.empty()) {
    text += "\nShort names (the method with that setting fixed)\n";
    text += wrap(joined(short_names), style.width, "  ");
  }
  if (const std::string legend = legend_of(text, style.width); !legend.empty()) {
    text += '\n' + legend;
  }
  return text;
}

std::vector<std::string> names_in(std::string_view list) {
  const std::vector<std::string_view> parts = split(list, ',');
  return {parts.begin(), parts.end()};
}

std::string auto_text(const OutputStyle& style) {
  const auto part = [&](const char* title, const std::string& text) {
    return fmt::format("\n{}\n", title) + wrap(text, style.width, "  ");
  };
  std::string text =
      fmt::format("{}\n", kAutoName) + wrap(std::string(kAutoSummary), style.width, "  ");
  text += part("Members (--among names others)",
               fmt::format("{}; of several matrices also {}", joined(names_in(kAutoMembers)),
                           joined(names_in(kAutoSeveralMembers))));
  text += part(
      "How they are chosen",
      fmt::format("Each method is tried with every setting of its grid and every way to treat the "
                  "input, in cross-validation of {} folds. Those take part whose error is within "
                  "{} standard errors of the least.",
                  SelectionSettings{}.folds, kSeatReach));
  text += part("How they predict",
               fmt::format("Each gives {} of its vote to the class it predicts and the rest to the "
                           "classes by its probabilities. The mean over the members is the "
                           "probability of a class.",
                           kVoteShare));
  text += part("How to use it", "kith train --method auto, kith evaluate --methods auto,...");
  return text;
}

std::string list_text(const std::vector<MethodInfo>& methods, const OutputStyle& style) {
  TextTable table{
      .header = {"method", "paper", "what it is"}, .rows = {}, .right = {false, false, false}};
  for (const MethodInfo& method : methods) {
    table.rows.push_back({method.name, method.paper, method.summary});
  }
  table.rows.push_back({std::string(kAutoName), "", std::string(kAutoSummary)});
  std::string papers;
  for (const MethodInfo& method : methods) papers += method.paper;
  return draw_table(table, style.unicode) + '\n' + legend_of(papers, style.width) +
         "\n`kith methods NAME` explains one and lists its settings.\n";
}

int run(const MethodsOptions& options) {
  const OutputStyle style = output_style();
  if (options.name == kAutoName) {
    if (options.common.json) {
      print_json(auto_json());
    } else {
      print_text(auto_text(style));
    }
    return kDone;
  }
  if (!options.name.empty() && options.name != "all") {
    const MethodInfo method = method_info(parse_method(options.name).settings);
    if (options.common.json) {
      print_json(method_json(method));
    } else {
      print_text(method_text(method, style));
    }
    return kDone;
  }
  const std::vector<MethodInfo> methods = all_methods();
  if (options.common.json) {
    Json all = Json::array();
    for (const MethodInfo& method : methods) all.push_back(method_json(method));
    print_json({{"methods", all}, {"auto", auto_json()}});
  } else {
    print_text(list_text(methods, style));
  }
  return kDone;
}

}  // namespace

Command add_methods(CLI::App& program) {
  CLI::App* parser = program.add_subcommand(
      "methods", "every method, its settings with ranges and defaults, its paper");
  const auto options = std::make_shared<MethodsOptions>();
  parser->add_option("name", options->name, "explain this method, such as svm or svm-flip");
  add_common_options(*parser, options->common);
  parser->footer(
      "Examples:\n"
      "  kith methods\n"
      "  kith methods svm\n"
      "  kith methods svm --json\n"
      "  kith methods auto");
  return {parser, [options] { return run(*options); }};
}

}  // namespace kith::app

// SPDX-License-Identifier: Apache-2.0
#include "describe_program.hpp"

#include <nlohmann/json.hpp>

#include "kith/version.hpp"

namespace kith::app {
namespace {

Json describe_option(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  const std::string type = option.get_type_name();  // "INT:INT in [1 - 64]" where it is checked
  return Json{{"names", names},
              {"positional", option.get_positional() ? option.get_name(true) : ""},
              {"value", takes_value ? type.substr(0, type.find(':')) : ""},
              {"repeatable", option.get_expected_max() > 1},
              {"required", option.get_required()},
              {"default", takes_value ? option.get_default_str() : ""},
              {"group", option.get_group()},
              {"help", option.get_description()}};
}

Json describe_command(const CLI::App& command) {
  Json options = Json::array();
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) options.push_back(describe_option(*option));
  }
  return Json{{"name", command.get_name()},
              {"help", command.get_description()},
              {"footer", command.get_footer()},
              {"options", options}};
}

}  // namespace

Json describe_program(const CLI::App& program) {
  Json commands = Json::array();
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) commands.push_back(describe_command(*command));
  }
  Json document = describe_command(program);
  document["version"] = kVersion;
  document["commands"] = commands;
  return document;
}

}  // namespace kith::app

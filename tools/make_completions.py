#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the completions for bash, zsh and fish from the program's description of itself.

    kith __describe > program.json
    tools/make_completions.py program.json FOLDER      (writes kith, _kith and kith.fish)
"""

import json
import re
import sys
from pathlib import Path

CHOICES = re.compile(r"\(([^()]*)\)$")


def choices(option):
    """The words an option takes: the list that ends the help of an option whose value is a NAME."""
    match = CHOICES.search(option["help"])
    if option["value"] != "NAME" or not match:
        return []
    words = [word.strip() for word in match.group(1).split(",")]
    return words if all(re.fullmatch(r"[\w.+-]+", word) for word in words) else []


def takes_file(option):
    return "FILE" in option["value"]


def first_line(text):
    return text.split("\n")[0]


def bash(program):
    name = program["name"]
    lines = [f"# bash completion for {name} {program['version']}", f"_{name}() {{",
             "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=''",
             "  COMPREPLY=()",
             "  if [ \"$COMP_CWORD\" -eq 1 ]; then",
             f"    words='{' '.join(top_words(program))}'",
             "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))",
             "    return", "  fi",
             "  case \"${COMP_WORDS[1]} $previous\" in"]
    for command in program["commands"]:
        for option in command["options"]:
            patterns = " | ".join(f"'{command['name']} {flag}'" for flag in option["names"])
            if not patterns or not option["value"]:
                continue
            if choices(option):
                lines += [f"    {patterns})",
                          f"      COMPREPLY=($(compgen -W '{' '.join(choices(option))}' -- \"$current\"))",
                          "      return ;;"]
            elif takes_file(option):
                lines += [f"    {patterns})", "      compopt -o filenames",
                          "      COMPREPLY=($(compgen -f -- \"$current\"))", "      return ;;"]
            else:
                lines += [f"    {patterns}) return ;;"]
    lines += ["  esac", "  case \"${COMP_WORDS[1]}\" in"]
    for command in program["commands"]:
        flags = " ".join(flag for option in command["options"] for flag in option["names"])
        lines.append(f"    {command['name']}) words='{flags}' ;;")
    lines += ["  esac", "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))", "}",
              f"complete -F _{name} {name}"]
    return "\n".join(lines) + "\n"


def top_words(program):
    flags = [flag for option in program["options"] for flag in option["names"]]
    return [command["name"] for command in program["commands"]] + flags


def zsh_quoted(text):
    return text.replace("'", "'\\''")


def zsh_spec(option):
    """One argument of _arguments for each name of the option."""
    help_text = re.sub(r"([\[\]:\\])", r"\\\1", first_line(option["help"]))
    for flag in option["names"]:
        spec = ("*" if option["repeatable"] else "") + f"{flag}[{help_text}]"
        if choices(option):
            spec += f":{option['value']}:({' '.join(choices(option))})"
        elif takes_file(option):
            spec += f":{option['value']}:_files"
        elif option["value"]:
            spec += ":" + re.sub(r"([:\\])", r"\\\1", option["value"]) + ":"
        yield f"'{zsh_quoted(spec)}'"


def zsh(program):
    name = program["name"]
    lines = [f"#compdef {name}", f"# zsh completion for {name} {program['version']}", f"_{name}() {{",
             "  local -a commands", "  commands=("]
    for command in program["commands"]:
        text = first_line(command["help"]).replace(":", "\\:")
        lines.append(f"    '{zsh_quoted(command['name'] + ':' + text)}'")
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    if [[ $PREFIX == -* ]]; then"]
    top = " ".join(spec for option in program["options"] for spec in zsh_spec(option))
    lines += [f"      _arguments {top}", "    else", f"      _describe 'command' commands", "    fi",
              "    return", "  fi", "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))",
              "  case $command in"]
    for command in program["commands"]:
        specs = [spec for option in command["options"] for spec in zsh_spec(option)]
        lines += [f"    {command['name']})", "      _arguments \\"]
        lines += [f"        {spec} \\" for spec in specs[:-1]] + [f"        {s}" for s in specs[-1:]]
        lines.append("      ;;")
    lines += ["  esac", "}", f"_{name} \"$@\""]
    return "\n".join(lines) + "\n"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(name, condition, option):
    for flag in option["names"]:
        kind = "-l" if flag.startswith("--") else "-s"
        line = f"complete -c {name} -n {fish_quoted(condition)} {kind} {flag.lstrip('-')}"
        if choices(option):
            line += f" -x -a {fish_quoted(' '.join(choices(option)))}"
        elif takes_file(option):
            line += " -r -F"
        elif option["value"]:
            line += " -x"
        yield line + f" -d {fish_quoted(first_line(option['help']))}"


def fish(program):
    name = program["name"]
    lines = [f"# fish completion for {name} {program['version']}", f"complete -c {name} -f"]
    for option in program["options"]:
        lines += fish_option(name, "__fish_use_subcommand", option)
    for command in program["commands"]:
        lines.append(f"complete -c {name} -n __fish_use_subcommand -a {command['name']}"
                     f" -d {fish_quoted(first_line(command['help']))}")
    for command in program["commands"]:
        for option in command["options"]:
            lines += fish_option(name, f"__fish_seen_subcommand_from {command['name']}", option)
    return "\n".join(lines) + "\n"


def main():
    program = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    name = program["name"]
    for file_name, text in ((name, bash(program)), (f"_{name}", zsh(program)),
                            (f"{name}.fish", fish(program))):
        (folder / file_name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

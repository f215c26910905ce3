#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page from the program's description of itself.

    kith __describe > program.json
    tools/make_man.py program.json kith.1
"""

import json
import re
import sys
from pathlib import Path

EXIT_STATUS = [
    (0, "done"),
    (1, "bad usage or bad input; nothing was written"),
    (2, "a solver missed its tolerance; the result is written and marked"),
    (3, "internal error"),
    (130, "interrupted; resumable work is saved"),
]


def roff(text):
    """Text as roff prints it unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def breakable(text):
    """Lists without spaces may go on in the next line after a comma."""
    return re.sub(r",(?=\S)", r",\\:", text)


def example_block(text):
    return [".PP", ".nf", ".RS 4", roff(text.strip("\n")), ".RE", ".fi"]


def option_lines(option):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option["names"])
    value = option["value"]
    if not names:
        names = f"\\fI{roff(option['positional'])}\\fR"
    elif value:
        names += f" \\fI{roff(value)}\\fR"
    text = option["help"]
    if option["default"]:
        text += f" (default: {option['default']})"
    if option["required"]:
        text += " (required)"
    return [".TP", names, breakable(roff(text))]


def command_lines(command, program):
    lines = [f".SS \"{program} {command['name']}\"", roff(command["help"])]
    groups = {}
    for option in command["options"]:
        groups.setdefault(option["group"], []).append(option)
    for group, options in groups.items():
        lines += [".PP", f"\\fI{roff(group)}:\\fR"]
        for option in options:
            lines += option_lines(option)
    if command["footer"]:
        lines += example_block(command["footer"])
    return lines


def page(program):
    name = program["name"]
    summary = program["help"].split("\n")[0].removeprefix(f"{name}: ").rstrip(".")
    lines = [f".TH {name.upper()} 1 \"\" \"{name} {program['version']}\" \"User Commands\"",
             ".ad l", ".SH NAME", f"{name} \\- {roff(summary)}",
             ".SH SYNOPSIS", f"\\fB{name}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]", ".br",
             f"\\fB{name}\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR",
             ".SH DESCRIPTION", roff(program["help"]),
             ".SH OPTIONS"]
    for option in program["options"]:
        lines += option_lines(option)
    lines.append(".SH COMMANDS")
    for command in program["commands"]:
        lines += command_lines(command, name)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_STATUS:
        lines += [".TP", f".B {code}", roff(meaning)]
    return "\n".join(lines) + "\n"


def main():
    source, target = map(Path, sys.argv[1:3])
    target.write_text(page(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()

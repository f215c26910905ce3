# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completions offer what the program offers.

    program_pages_test.py FOLDER_OF_PAGES PROGRAM
"""

import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

PAGES = Path(sys.argv[1])
PROGRAM = sys.argv[2]
DESCRIPTION = json.loads((PAGES / "program.json").read_text(encoding="utf-8"))
COMMANDS = DESCRIPTION["commands"]


def flags(command):
    return [flag for option in command["options"] for flag in option["names"]]


def bash_completes(*words):
    """What bash offers after these words."""
    script = (f"source '{PAGES}/completions/kith'; compopt() {{ :; }}; COMP_WORDS=(\"$@\");"
              "COMP_CWORD=$(($# - 1)); _kith; printf '%s\\n' \"${COMPREPLY[@]}\"")
    run = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True,
                         check=True)
    return run.stdout.split()


def checked_by(shell, *arguments):
    return subprocess.run([shell, *arguments], capture_output=True, text=True, check=False)


class Description(unittest.TestCase):
    def test_every_command_and_flag_is_in_the_help(self):
        self.assertTrue(COMMANDS)
        for command in COMMANDS:
            help_text = subprocess.run([PROGRAM, command["name"], "--help"], capture_output=True,
                                       text=True, check=True).stdout
            for flag in flags(command):
                self.assertIn(flag, help_text)

    def test_hidden_commands_are_not_offered(self):
        self.assertFalse([c["name"] for c in COMMANDS if c["name"].startswith("_")])


class Manual(unittest.TestCase):
    PAGE = (PAGES / "kith.1").read_text(encoding="utf-8")

    def test_has_every_command_and_flag(self):
        for command in COMMANDS:
            start = self.PAGE.index(f".SS \"kith {command['name']}\"")
            for flag in flags(command):
                self.assertIn(flag.replace("-", "\\-"), self.PAGE[start:])

    def test_uses_only_known_requests(self):
        requests = set(re.findall(r"^\.(\w+)", self.PAGE, re.MULTILINE))
        self.assertLessEqual(requests, {"TH", "SH", "SS", "PP", "TP", "B", "ad", "br", "nf", "fi", "RS", "RE"})

    @unittest.skipUnless(shutil.which("groff"), "there is no groff here")
    def test_groff_has_no_complaint(self):
        run = checked_by("groff", "-man", "-ww", "-Tutf8", str(PAGES / "kith.1"))
        self.assertEqual("", run.stderr)


class Completions(unittest.TestCase):
    def test_bash_offers_commands_flags_and_values(self):
        names = [command["name"] for command in COMMANDS]
        self.assertLessEqual(set(names), set(bash_completes("kith", "")))
        self.assertEqual(["inspect"], bash_completes("kith", "insp"))
        inspect = next(command for command in COMMANDS if command["name"] == "inspect")
        self.assertEqual(set(flags(inspect)), set(bash_completes("kith", "inspect", "-")))
        self.assertIn("npy", bash_completes("kith", "inspect", "--format", "n"))
        self.assertEqual([], bash_completes("kith", "inspect", "--threads", ""))

    def test_zsh_and_fish_have_every_flag(self):
        for name, form in (("_kith", "{}["), ("kith.fish", "-l {} ")):
            text = (PAGES / "completions" / name).read_text(encoding="utf-8")
            for command in COMMANDS:
                for flag in flags(command):
                    if flag.startswith("--"):
                        self.assertIn(form.format(flag if name == "_kith" else flag[2:]), text)

    def test_shells_accept_them(self):
        for shell, name in (("bash", "kith"), ("zsh", "_kith"), ("fish", "kith.fish")):
            with self.subTest(shell=shell):
                if not shutil.which(shell):
                    self.skipTest(f"there is no {shell} here")
                run = checked_by(shell, "-n", str(PAGES / "completions" / name))
                self.assertEqual((0, ""), (run.returncode, run.stderr))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

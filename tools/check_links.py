#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every relative link of the Markdown pages leads to a file of the tree, and every
`#heading` to a heading there.

    tools/check_links.py [ROOT]
"""

import re
import sys
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)
SKIPPED_FOLDERS = {"build", "node_modules", ".git"}


def without_code(text):
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))  # keeps line numbers
    return CODE.sub(blank, FENCE.sub(blank, text))


def anchors(path):
    """The anchors GitHub and most renderers give to the headings of a page."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    names = (re.sub(r"[`*]", "", heading) for heading in HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in names}


def problems_of_page(root, page):
    text = without_code(page.read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        file_part, _, anchor = target.partition("#")
        path = (page.parent / file_part).resolve() if file_part else page
        where = f"{page.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: "
        if not path.exists():
            yield f"{where}{target} leads nowhere"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield f"{where}{target}: there is no such heading"


def check(root):
    pages = sorted(p for p in root.rglob("*.md")
                   if not SKIPPED_FOLDERS & set(p.relative_to(root).parts))
    return len(pages), [problem for page in pages for problem in problems_of_page(root, page)]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    count, problems = check(root)
    for problem in problems:
        print(problem)
    print(f"{count} pages, {len(problems)} dead links")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

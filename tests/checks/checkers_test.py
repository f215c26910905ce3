# SPDX-License-Identifier: Apache-2.0
"""The checkers in tools/ must be able to fail: each is given small trees with and without a fault."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402
import check_links  # noqa: E402
import check_sources  # noqa: E402


def problems(checker, files):
    """What `checker` finds in a tree of these files (path -> text)."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return checker.check(root)[1]


class Layers(unittest.TestCase):
    def test_lower_and_own_layers_are_allowed(self):
        self.assertEqual([], problems(check_layers, {
            "include/kith/core/a.hpp": "",
            "include/kith/learn/b.hpp": '#include "kith/core/a.hpp"\n#include "kith/data/c.hpp"\n',
            "src/learn/d.hpp": "",
            "src/learn/d.cpp": '#include "kith/learn/b.hpp"\n#include "learn/d.hpp"\n',
            "app/main.cpp": '#include "kith/version.hpp"\n#include <kith/learn/b.hpp>\n'}))

    def test_a_higher_layer_is_refused_with_its_line(self):
        found = problems(check_layers, {
            "src/core/a.cpp": '#include <vector>\n#include "kith/data/b.hpp"\n'})
        self.assertEqual(1, len(found))
        self.assertIn("src/core/a.cpp:2:", found[0])
        self.assertIn("data", found[0])

    def test_a_higher_layer_is_refused_through_angle_brackets(self):
        self.assertEqual(1, len(problems(check_layers, {
            "include/kith/optim/a.hpp": "#  include <kith/learn/b.hpp>\n"})))

    def test_a_private_header_of_a_higher_layer_is_refused(self):
        self.assertEqual(1, len(problems(check_layers, {
            "src/learn/d.hpp": "", "src/data/a.cpp": '#include "learn/d.hpp"\n'})))
        self.assertEqual(1, len(problems(check_layers, {
            "src/learn/d.hpp": "", "src/data/a.cpp": '#include "../learn/d.hpp"\n'})))

    def test_a_public_header_must_not_include_a_private_one(self):
        self.assertEqual(1, len(problems(check_layers, {
            "src/data/d.hpp": "", "include/kith/data/a.hpp": '#include "data/d.hpp"\n'})))

    def test_app_and_python_stand_side_by_side(self):
        self.assertEqual(1, len(problems(check_layers, {
            "app/a.hpp": "", "python/b.cpp": '#include "../app/a.hpp"\n'})))

    def test_an_unknown_layer_is_refused(self):
        self.assertEqual(1, len(problems(check_layers, {"src/misc/a.cpp": ""})))

    def test_folders_of_optim_have_an_order(self):
        self.assertEqual([], problems(check_layers, {
            "src/optim/dual/a.hpp": "", "src/optim/papers/b.cpp": '#include "kith/optim/robust/c.hpp"\n#include "optim/dual/a.hpp"\n'}))
        found = problems(check_layers, {"include/kith/optim/dual/a.hpp": '#include "kith/optim/papers/b.hpp"\n'})
        self.assertEqual(1, len(found))
        self.assertIn("include/kith/optim/dual/a.hpp:1:", found[0])
        self.assertEqual(1, len(problems(check_layers, {"src/optim/misc/a.cpp": ""})))

    def test_one_file_uses_tbb(self):
        line = "#include <tbb/parallel_for.h>\n"
        self.assertEqual([], problems(check_layers, {"src/core/parallel.cpp": line}))
        self.assertEqual(1, len(problems(check_layers, {"src/learn/a.cpp": line})))


class Sources(unittest.TestCase):
    SPDX = "// SPDX-License-Identifier: Apache-2.0\n"

    def test_a_complete_header_is_fine(self):
        self.assertEqual([], problems(check_sources, {
            "include/kith/core/a.hpp": self.SPDX + "#pragma once\n"}))

    def test_what_is_missing_is_named(self):
        self.assertEqual(2, len(problems(check_sources, {"include/kith/core/a.hpp": "int a;\n"})))
        self.assertEqual(1, len(problems(check_sources, {
            "src/core/a.cpp": self.SPDX + "// \u03bb\n"})))

    def test_a_source_includes_its_own_header_first(self):
        headers = {"include/kith/core/a.hpp": self.SPDX + "#pragma once\n", "src/core/b.hpp": self.SPDX + "#pragma once\n"}
        own = {"src/core/a.cpp": self.SPDX + '#include "kith/core/a.hpp"\n', "src/core/b.cpp": self.SPDX + '#include "core/b.hpp"\n'}
        self.assertEqual([], problems(check_sources, headers | own))
        other = {"src/core/a.cpp": self.SPDX + '#include <vector>\n#include "kith/core/a.hpp"\n'}
        found = problems(check_sources, headers | other)
        self.assertEqual(1, len(found))
        self.assertIn("kith/core/a.hpp", found[0])

    def test_texts_of_the_library_name_no_flag(self):
        list_of = {"include/kith/core/mention.hpp": self.SPDX + '#pragma once\nkMentioned = {"self"};\n'}
        for text, count in [('"give [[self]]"', 0), ('"give --self"', 1), ('"--self gives it"', 1), ("x--self", 0),
                            ('"---:|"', 0), ('"[[shelf]]"', 1), ("[[nodiscard]] int x;", 0)]:
            self.assertEqual(count, len(problems(check_sources, list_of | {"src/learn/a.cpp": self.SPDX + text})), text)
        self.assertEqual([], problems(check_sources, {"app/a.cpp": self.SPDX + '"give --self"'}))


class Links(unittest.TestCase):
    def test_files_and_headings_are_followed(self):
        self.assertEqual([], problems(check_links, {
            "README.md": "[a](docs/a.md#two-words) [web](https://example.org/x) `[no](link)`\n",
            "docs/a.md": "# Two words\n[back](../README.md) [here](#two-words)\n"}))

    def test_dead_links_are_named_with_their_line(self):
        found = problems(check_links, {"README.md": "\n[a](docs/a.md)\n[b](#none)\n"})
        self.assertEqual(2, len(found))
        self.assertIn("README.md:2:", found[0])


if __name__ == "__main__":
    unittest.main()

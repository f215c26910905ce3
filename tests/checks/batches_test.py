# SPDX-License-Identifier: Apache-2.0
"""What may be compiled together, and what clang-tidy reads together."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAKER = ROOT / "cmake/make_batches.py"
TIDY_MAKER = ROOT / "tools/make_tidy_batches.py"


def inside(namespace, *lines):
    return "\n".join([f"namespace {namespace} {{", *lines, f"}}  // namespace {namespace}", ""])


def unnamed(*declarations, namespace="kith"):
    return inside(namespace, "namespace {", "", *declarations, "", "}  // namespace")


class Batches(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def batches(self, sources, lines=1000):
        for name, text in sources.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        made = self.folder / "made/batches.txt"
        subprocess.run([sys.executable, "-B", MAKER, made, str(lines), *(self.folder / name for name in sources)], check=True)
        return [[Path(source).name for source in line.split(";")] for line in made.read_text().splitlines()]

    def test_sources_without_a_common_name_share_a_batch(self):
        self.assertEqual([["a", "b", "c"]], self.batches({"a": unnamed("struct A {"), "b": unnamed("int f(int x) {"), "c": ""}))

    def test_every_kind_of_local_name_is_kept_apart(self):
        for one in ["struct Step {", "class Step final : public Base {", "enum class Step { kOne };", "using Step = int;",
                    "constexpr double Step = 0.5;", "const char* const Step[] = {", "template <class T>\nclass Step {"]:
            self.assertEqual([["a"], ["b"]], self.batches({"a": unnamed(one), "b": unnamed("struct Step {")}), one)
        for one in ["void f(int n) {", "template <class T> void f(int m) {", "std::vector<int> f(int k) {"]:
            self.assertEqual([["a"], ["b"]], self.batches({"a": unnamed(one), "b": unnamed("int f(int x) {")}), one)
        self.assertEqual([["a"], ["b"]], self.batches({"a": inside("kith", "static int f(int x) {", "}"), "b": unnamed("int f(int x) {")}))

    def test_names_of_different_namespaces_may_share_a_batch(self):
        step, f = "struct Step {", "int f(int x) {"
        robust, trace = unnamed(step, f, namespace="kith::robust"), unnamed(step, f, namespace="kith::trace")
        self.assertEqual([["a", "b", "c"]], self.batches({"a": robust, "b": trace, "c": unnamed(step, f)}))
        self.assertEqual([["a"], ["b"]], self.batches({"a": robust, "b": robust}))
        nested = inside("kith", "int g();", inside("robust", "namespace {", step, "}  // namespace"))
        self.assertEqual([["a"], ["b"]], self.batches({"a": robust, "b": nested}))
        after = inside("kith::robust", "int g();") + unnamed(step)
        self.assertEqual([["d", "e"]], self.batches({"d": robust, "e": after}))
        self.assertEqual([["f"], ["g"]], self.batches({"f": unnamed(step), "g": after}))

    def test_overloads_and_members_may_share_a_batch(self):
        self.assertEqual([["a", "b"]], self.batches({"a": unnamed("int f(const A& a) {"), "b": unnamed("int f(const B& b) {")}))
        self.assertEqual([["a", "b"]], self.batches({"a": unnamed("struct A {", "  int size = 0;"), "b": unnamed("struct B {", "  int size = 0;")}))

    def test_a_batch_has_at_most_the_given_lines_unless_a_source_has_more(self):
        self.assertEqual([["a", "c"], ["b"]], self.batches({"a": "\n" * 6, "b": "\n" * 20, "c": "\n" * 4}, lines=10))

    def test_batches_are_kept_until_they_clash(self):
        sources = {"a": "\n" * 6, "b": "\n" * 6, "c": "\n" * 4}
        first = self.batches(sources, lines=10)
        self.assertEqual([["a", "c"], ["b"]], first)
        self.assertEqual(first, self.batches(sources | {"a": "\n" * 9}, lines=10))
        self.assertEqual([["a"], ["b"], ["c"]],
                         self.batches(sources | {"a": unnamed("struct A {"), "c": unnamed("struct A {")}, lines=10))

    def test_a_new_source_divides_anew(self):
        self.assertEqual([["a", "b"]], self.batches({"a": "\n", "b": "\n"}))
        self.assertEqual([["a", "b", "c"]], self.batches({"a": "\n", "b": "\n", "c": "\n"}))


class TidyBatches(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name).resolve()
        self.addCleanup(self.temporary.cleanup)

    def batches(self, commands):
        """[(options, lines of the batch)] of sources compiled by `commands`: pairs of a source and its options."""
        database = []
        for name, options in commands:
            source = self.folder / name
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(unnamed("struct Own {") if name.startswith("own") else "\n", encoding="utf-8")
            database.append({"directory": str(self.folder), "file": str(source),
                             "command": f"clang++ {options} -o {name}.o -c {source}"})
        (self.folder / "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")
        subprocess.run([sys.executable, "-B", TIDY_MAKER, self.folder], check=True)
        made = json.loads((self.folder / "batches/compile_commands.json").read_text(encoding="utf-8"))
        return [(batch["arguments"][1:-2], Path(batch["file"]).read_text(encoding="utf-8").splitlines()) for batch in made]

    def include(self, name):
        return f'#include "{self.folder / name}"'

    def test_sources_that_search_the_same_folders_share_a_batch_and_all_its_options(self):
        made = self.batches([("a.cpp", "-Iinclude -isystem x -O0"), ("b.cpp", "-Iinclude -isystem y -O0 -DEXTRA"),
                             ("c.cpp", "-Isrc -Iinclude -O0")])
        self.assertEqual([(["-Iinclude", "-isystem", "x", "-O0", "-isystem", "y", "-DEXTRA"],
                           [self.include("a.cpp"), self.include("b.cpp")]),
                          (["-Isrc", "-Iinclude", "-O0"], [self.include("c.cpp")])], made)

    def test_every_source_is_in_one_batch_and_no_header_check_is(self):
        made = self.batches([("a.cpp", "-Iinclude"), ("tests/headers/h.cpp", "-Iinclude"), ("a.cpp", "-Iother -Iinclude")])
        self.assertEqual([(["-Iinclude"], [self.include("a.cpp")])], made)

    def test_a_macro_with_several_values_is_defined_around_each_source(self):
        made = self.batches([("a.cpp", "-DNAME=one -DSAME=1"), ("b.cpp", "-DNAME=two -DSAME=1")])
        self.assertEqual([(["-DSAME=1"], ["#define NAME one", self.include("a.cpp"), "#undef NAME",
                                          "#define NAME two", self.include("b.cpp"), "#undef NAME"])], made)

    def test_sources_with_the_same_local_names_are_kept_apart(self):
        made = self.batches([("own_a.cpp", ""), ("own_b.cpp", "")])
        self.assertEqual([[self.include("own_a.cpp")], [self.include("own_b.cpp")]], [lines for _, lines in made])


if __name__ == "__main__":
    unittest.main()

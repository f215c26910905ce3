# SPDX-License-Identifier: Apache-2.0
"""`kith methods` and the settings tables of the method pages."""

import re

from conftest import SOURCE


TABLE = "| setting | default | values |"


def page_of(method):
    """The text of the page with the method in its title; a page may describe several."""
    for path in sorted((SOURCE / "docs/methods").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.splitlines()[0].partition(":")[0]
        if method in [name.strip("# `") for name in title.split(",")]:
            return text
    return ""


def test_every_tag_of_a_paper_is_explained_where_it_is_printed(kith):
    for arguments in (["methods"], ["evaluate", "--help"],
                      *(["methods", one["name"]] for one in kith.json("methods")["methods"])):
        shown, _, legend = kith(*arguments).stdout.rpartition("Papers\n")
        tags = set(re.findall(r"\[[A-Z]{2,4}\]", shown))
        assert tags == set(re.findall(r"^  (\[[A-Z]+\]) \w", legend, re.M))


def test_every_method_has_name_paper_settings_and_a_page(kith):
    methods = kith.json("methods")["methods"]
    assert "svm" in [method["name"] for method in methods]
    for method in methods:
        assert method["paper"] and method["summary"]
        assert kith.json("methods", method["name"]) == method
        assert page_of(method["name"]), f"no page of docs/methods has {method['name']} in its title"
        for setting in method["settings"]:
            assert setting["help"] and setting["rule"], setting


def test_the_table_of_the_readme_names_methods_that_exist_once_beside_their_page(kith):
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    table = readme.split("\n| methods | what they are |\n")[1].split("\n\n")[0]
    methods = [method["name"] for method in kith.json("methods")["methods"]]
    listed = []
    for names, page in re.findall(r"\[([^]]+)\]\((docs/methods/[^)]+)\)", table):
        for name in names.split(", "):
            assert name in methods and name not in listed, name
            listed.append(name)
            assert (SOURCE / page).read_text(encoding="utf-8") == page_of(name), name
    assert listed


def test_grids_name_settings_that_exist(kith):
    for method in kith.json("methods")["methods"]:
        names = [setting["name"] for setting in method["settings"]]
        for axis in method["grid"]:
            assert axis["setting"] in names
            assert axis["values"] and axis["simpler"] in ("smaller", "larger")


def test_the_svm_grid_is_that_of_the_contract(kith):
    (axis,) = kith.json("methods", "svm")["grid"]
    assert axis["setting"] == "cost"
    assert [float(value) for value in axis["values"]] == [10.0 ** e for e in range(-3, 6)]


def settings_table(page):
    """name -> (default, rule) from a table that begins as TABLE."""
    section = page.split("\n## Settings\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| (.*?) \|", section, re.MULTILINE)
    return {name: (default.strip("`"), rule) for name, default, rule in rows}


def test_settings_tables_of_the_pages_are_what_the_program_says(kith):
    checked = []
    for method in kith.json("methods")["methods"]:
        page = page_of(method["name"])
        if TABLE not in page:
            continue  # refers to `kith methods`, or tells of several methods at once
        expected = {setting["name"]: (setting["default"] or "empty", setting["rule"])
                    for setting in method["settings"]}
        assert settings_table(page) == expected, method["name"]
        checked.append(method["name"])
    assert "svm" in checked


def test_text_explains_one_method(kith):
    result = kith("methods", "svm-flip")
    assert result.returncode == 0
    for word in ("cost", "test-treatment", "priors", "svm-flip", "[CGR]"):
        assert word in result.stdout


def test_an_unknown_method_is_refused_with_the_closest(kith):
    message = kith.refusal("methods", "smv")
    assert "smv" in message and "svm" in message

"""Templates hold no script and no style, and a partial is one element that can be found again."""

from pathlib import Path

import pytest

from tests.architecture.markup import Element, Page, read
from tests.architecture.tree import ROOT, named, write

LONGEST_PARTIAL = 80
LONGEST_SCRIPT = 150
DATA_TYPES = {"application/json", "speculationrules"}


def templates(root: Path) -> list[Path]:
    return sorted((root / "templates").rglob("*.html"))


def inline_code(root: Path) -> list[str]:
    return [
        f"{named(root, path)}: {problem}"
        for path in templates(root)
        for problem in _inline(read(path.read_text("utf-8")))
    ]


def _inline(page: Page) -> list[str]:
    found = []
    for element in page.elements:
        if element.name == "style":
            found.append("<style>")
        if element.name == "script" and _is_inline(element):
            found.append("<script>")
        found += [
            f"{name} on <{element.name}>"
            for name, value in element.attributes.items()
            if name == "style"
            or name.startswith(("on", "hx-on"))
            or value.strip().lower().startswith(("javascript:", "js:"))
        ]
    return found


def _is_inline(script: Element) -> bool:
    if script.attributes.get("type") in DATA_TYPES:
        return False
    return "src" not in script.attributes or bool(script.text.strip())


def broken_partials(root: Path) -> list[str]:
    return [
        f"{named(root, path)}: {problem}"
        for path in templates(root)
        if path.name.startswith("_")
        for problem in _problems(path.read_text("utf-8"))
    ]


def _problems(source: str) -> list[str]:
    page = read(source)
    roots = [element for element in page.elements if element.depth == 0]
    checks = {
        "does not say in its first line what it needs": not source.startswith(("{#", "{% comment")),
        "extends another template": "{% extends" in source,
        "is longer than 80 lines": len(source.splitlines()) > LONGEST_PARTIAL,
        "does not close every element": not page.is_balanced,
        "has text outside its root": bool(page.outside),
        "has not one root": len(roots) != 1,
        "has a root without an id": len(roots) == 1 and not roots[0].attributes.get("id"),
    }
    return [problem for problem, is_so in checks.items() if is_so]


def long_scripts(root: Path) -> list[str]:
    return [
        named(root, path)
        for path in sorted((root / "static" / "js").rglob("*.js"))
        if len(path.read_text("utf-8").splitlines()) > LONGEST_SCRIPT
    ]


def test_no_template_holds_script_or_style():
    assert inline_code(ROOT) == []


def test_every_partial_is_one_element_with_an_id_and_says_what_it_needs():
    assert broken_partials(ROOT) == []


def test_no_script_is_longer_than_150_lines():
    assert long_scripts(ROOT) == []


@pytest.mark.parametrize(
    "markup",
    [
        "<style>p {}</style>",
        "<script>go()</script>",
        '<p style="top: 0">x</p>',
        '<p onclick="go()">x</p>',
        '<p hx-on:click="go()">x</p>',
        '<a href="javascript:go()">x</a>',
        '<p {% if a %}onclick="{{ b }}"{% endif %}>x</p>',
    ],
)
def test_inline_code_is_found(tmp_path, markup):
    write(tmp_path, "templates/page.html", markup)

    assert len(inline_code(tmp_path)) == 1


def test_scripts_by_address_and_data_are_no_inline_code(tmp_path):
    markup = '<script src="{% static "a.js" %}"></script>'
    markup += '<script type="application/json">{}</script><p id="one">on</p>'
    write(tmp_path, "templates/page.html", markup)

    assert inline_code(tmp_path) == []


@pytest.mark.parametrize(
    ("markup", "problem"),
    [
        ('<p id="a"></p>', "first line"),
        ("{# a #}\n<p></p>", "without an id"),
        ('{# a #}\n<p id="a"></p><p id="b"></p>', "not one root"),
        ('{# a #}\n{% if a %}<p id="a"></p>{% else %}<p id="b"></p>{% endif %}', "not one root"),
        ('{# a #}\n<p id="a"></p>text', "outside"),
        ('{# a #}\n<p id="a"><b></p>', "close"),
        ('{# a #}\n{% extends "base.html" %}<p id="a"></p>', "extends"),
        ('{# a #}\n<p id="a">' + "\n" * 80 + "</p>", "80 lines"),
    ],
)
def test_a_broken_partial_is_found(tmp_path, markup, problem):
    write(tmp_path, "templates/runs/_call.html", markup)

    found = broken_partials(tmp_path)

    assert found
    assert problem in found[0]


def test_a_sound_partial_passes(tmp_path):
    markup = (
        '{# call: CallView #}\n<li id="call-{{ call.id }}" {% if a %}hidden{% endif %}><br></li>\n'
    )
    write(tmp_path, "templates/runs/_call.html", markup)

    assert broken_partials(tmp_path) == []

"""Every colour has a name, and the name stands in one file."""

import re
from pathlib import Path

import pytest

from tests.architecture.markup import read
from tests.architecture.tree import ROOT, named, write

TOKENS = "static/css/tokens.css"
# Drawn by the browser outside of the page, where no style sheet of ours reaches.
FREE = {TOKENS, "static/favicon.svg"}
_NAMED = (
    "black|white|red|green|blue|yellow|orange|purple|pink|brown|gr[ae]y|silver|navy|teal|maroon"
)
_FUNCTION = r"\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\("
LITERAL = re.compile(
    rf"#[0-9a-f]{{3,8}}\b|{_FUNCTION}|(?<![\w-])(?:{_NAMED})(?![\w-])", re.IGNORECASE
)
# In a script `#feed` may be an element, so only what cannot be one counts.
SCRIPT_LITERAL = re.compile(rf"#(?:[0-9a-f]{{8}}|[0-9a-f]{{6}})\b|{_FUNCTION}", re.IGNORECASE)
_CSS_REMARK = re.compile(r"/\*.*?\*/|url\([^)]*\)", re.DOTALL)
_CSS_VALUE = re.compile(r"[\w-]+\s*:\s*([^;{}]+)(?=[;}])")
PAINTED = ("fill", "stroke", "color", "bgcolor", "stop-color", "flood-color")


def colour_literals(root: Path) -> list[str]:
    found = []
    for path in sorted([*(root / "static").rglob("*"), *(root / "templates").rglob("*")]):
        name = named(root, path)
        if path.is_file() and name not in FREE and "vendor" not in path.parts:
            found += [f"{name}: {literal}" for literal in _literals(path)]
    return found


def _literals(path: Path) -> list[str]:
    if path.suffix not in {".css", ".js", ".html", ".svg"}:
        return []
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        return SCRIPT_LITERAL.findall(text)
    if path.suffix == ".css":
        values = _CSS_VALUE.findall(_CSS_REMARK.sub(" ", text))
    else:
        elements = read(text).elements
        values = [element.attributes.get(name, "") for element in elements for name in PAINTED]
    return [literal for value in values for literal in LITERAL.findall(value)]


def test_colours_are_written_in_the_tokens_only():
    assert colour_literals(ROOT) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("static/css/base.css", "a { color: #fff }"),
        ("static/css/base.css", "a:hover { border: 1px solid RED; }"),
        ("static/css/base.css", "a { background: oklch(50% 0 0); }"),
        ("static/js/title.js", 'paint("#a1b2c3");'),
        ("static/icons.svg", '<svg><path fill="#000"/></svg>'),
        ("templates/a.html", '<svg><path stroke="black"></path></svg>'),
    ],
)
def test_a_colour_elsewhere_is_found(tmp_path, name, text):
    write(tmp_path, name, text)

    assert len(colour_literals(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (TOKENS, ":root { --ink: #111; }"),
        ("static/css/base.css", "/* #fff */ #feed a:hover { color: var(--red); mask: url(#add); }"),
        ("static/js/live.js", 'find("#feed");'),
        ("templates/a.html", '<a href="#add">red</a><path fill="currentColor"></path>'),
    ],
)
def test_names_and_ids_are_no_colours(tmp_path, name, text):
    write(tmp_path, name, text)

    assert colour_literals(tmp_path) == []

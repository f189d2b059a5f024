"""Templates as a browser would see them: template tags out, elements in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track")
)
_REMARK = re.compile(r"\{#.*?#\}|\{% *comment\b.*?%\}.*?\{% *endcomment *%\}", re.DOTALL)
_TAG = re.compile(r"\{%.*?%\}", re.DOTALL)
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def without_template_tags(source: str) -> str:
    """Return the markup with every value as the letter x and no tags or remarks."""
    return _VALUE.sub("x", _TAG.sub(" ", _REMARK.sub("", source)))


@dataclass(slots=True)
class Element:
    """One element: its name, attributes, depth (0 = root) and the text directly inside it."""

    name: str
    attributes: dict[str, str]
    depth: int
    text: str = ""


@dataclass(slots=True)
class Page:
    """The elements in order, the text outside of them, and whether all of them were closed."""

    elements: list[Element] = field(default_factory=list)
    outside: str = ""
    is_balanced: bool = True


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, len(self.open))
        self.page.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop().name != tag:
            self.page.is_balanced = False

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1].text += data
        else:
            self.page.outside += data


def read(source: str) -> Page:
    """Return the page that the template's markup makes."""
    reader = _Reader()
    reader.feed(without_template_tags(source))
    reader.close()
    reader.page.outside = reader.page.outside.strip()
    reader.page.is_balanced &= not reader.open
    return reader.page

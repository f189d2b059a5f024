"""What a page holds, read as a browser reads it: forms with their fields, links, words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

SPACES = re.compile(r"\s+")


@dataclass
class Form:
    """One form: where it goes, and what it would send without a button pressed."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Document:
    """A page's forms, its links' addresses, its ids and its visible words."""

    forms: list[Form] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    words: str = ""
    title: str = ""

    def form(self, ending: str) -> Form:
        """Return the first form whose address, without its fragment, ends so."""
        return next(one for one in self.forms if one.action.partition("#")[0].endswith(ending))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Document()
        self.area = ""
        self.path: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.path.append(tag)
        if "id" in given:
            self.page.ids.append(given["id"])
        if tag == "a":
            self.page.links.append(given.get("href", ""))
        if tag == "form":
            self.page.forms.append(Form(given.get("action", "")))
        if tag in ("input", "textarea") and self.page.forms and "name" in given:
            self.page.forms[-1].fields[given["name"]] = given.get("value", "")
            self.area = given["name"] if tag == "textarea" else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.area = ""
        while self.path and self.path.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.area:
            self.page.forms[-1].fields[self.area] += data.removeprefix("\n")
        elif self.path and self.path[-1] == "title":
            self.page.title += data
        else:
            self.page.words += data


def read(response: Any) -> Document:
    """Return what the page of an answer holds."""
    reader = _Reader()
    reader.feed(response.content.decode())
    reader.page.words = SPACES.sub(" ", reader.page.words)
    return reader.page

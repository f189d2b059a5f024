"""The words of a message as paragraphs."""

from __future__ import annotations

import re
from typing import Any

BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")


def content_text(content: Any) -> str:
    """Return a message's content as text: a string as it is, of a list of blocks the text ones."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def paragraphs(content: Any) -> tuple[str, ...]:
    """Return the paragraphs, cut at blank lines; none where there is nothing to read."""
    text = content_text(content).replace("\r\n", "\n").strip("\n")
    return tuple(part for part in BLANK_LINE.split(text) if part.strip())

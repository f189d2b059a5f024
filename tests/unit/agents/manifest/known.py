"""Tools that the manifests of these tests may name, and short ways to read and compile one."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from agents.core.compile import CompiledAgent, compile_agent
from agents.core.manifest.document import Document
from agents.core.manifest.problems import ManifestInvalid
from agents.core.manifest.reader import read_document


@dataclass(frozen=True)
class KnownTool:
    """A tool as far as a manifest looks at it."""

    args: type[BaseModel]


def known(*arguments: str) -> KnownTool:
    """Return a tool with these arguments."""
    fields: dict[str, Any] = dict.fromkeys(arguments, (str, ...))
    return KnownTool(create_model("Args", **fields))


TOOLS = {
    "calculator": known("expression"),
    "list_dir": known("path"),
    "list_files": known("pattern", "path", "max_results"),
    "read_file": known("path", "offset", "limit"),
    "search_files": known("query", "path"),
    "write_file": known("path", "content", "append"),
    "edit_file": known("path", "old_string", "new_string", "replace_all"),
}


def compiled(text: str, **options: Any) -> CompiledAgent:
    """Return the agent of an indented manifest text."""
    return compile_agent(read_document(textwrap.dedent(text)), tools=TOOLS, **options)


def compiled_data(data: dict[str, Any], **options: Any) -> CompiledAgent:
    """Return the agent of manifest data."""
    return compile_agent(Document(data), tools=TOOLS, **options)


def refusal(text: str | bytes, **options: Any) -> str:
    """Return what the refusal of a manifest says, one line a problem, as the author sees it."""
    source = textwrap.dedent(text) if isinstance(text, str) else text
    with pytest.raises(ManifestInvalid) as caught:
        compile_agent(read_document(source, file="m.yaml"), tools=TOOLS, **options)
    return str(caught.value)

"""The examples in the documentation are real: each is used as its reader would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from agents.core.compile import compile_agent
from agents.core.manifest.reader import read_document
from agents.core.providers.models_file import read_models
from agents.core.tools.registry import builtin_tools

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def yaml_examples(marker: str) -> list[tuple[str, str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [
        (page.name, block) for page in pages for block in FENCE.findall(page.read_text("utf-8"))
    ]
    return [(name, block) for name, block in blocks if marker in block]


@pytest.mark.parametrize(("page", "text"), yaml_examples("apiVersion"))
def test_a_manifest_in_the_documentation_compiles(page: str, text: str) -> None:
    agent = compile_agent(read_document(text, file=page), tools=builtin_tools())

    assert agent.name


@pytest.mark.parametrize(("page", "text"), yaml_examples("active_model"))
def test_a_models_file_in_the_documentation_is_read(page: str, text: str) -> None:
    models = read_models(text, source=page)

    assert models.active.model_id


def test_every_yaml_example_is_one_of_the_two_kinds() -> None:
    known = len(yaml_examples("apiVersion")) + len(yaml_examples("active_model"))

    assert known == len(yaml_examples(""))
    assert all(yaml.safe_load(text) for _, text in yaml_examples(""))

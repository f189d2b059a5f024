"""YAML of operators: safe, bounded, no key twice, every error with its line."""

from __future__ import annotations

from typing import Any

import yaml

from felix_web.common.errors import InvalidInput

MAX_BYTES = 256 * 1024

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_SafeLoader):  # type: ignore[misc]
    """The safe loader, without merge keys and repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                raise yaml.MarkedYAMLError(None, None, "a key that is not text", key.start_mark)
            if key.value in seen:
                problem = f"the key {key.value!r} a second time"
                raise yaml.MarkedYAMLError(None, None, problem, key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


def _refuse_aliases(text: str) -> None:
    for event in yaml.parse(text, Loader=_SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(None, None, "an alias (*name)", mark)


def _where(source: str, error: yaml.YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source


def read_yaml(text: str, *, source: str) -> Any:
    """Return the value of a YAML document; None for an empty one.

    Args:
        text: The document.
        source: What the text is called in an error, such as `models.yaml`.

    Raises:
        InvalidInput: the text is too long, is not YAML, or holds an alias or a key twice; the
            message names the place.
    """
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise InvalidInput(f"{source}: longer than {MAX_BYTES // 1024} KiB")
    try:
        _refuse_aliases(text)
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        raise InvalidInput(
            f"{_where(source, error)}: {error.problem or 'not valid YAML'}"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise InvalidInput(f"{source}: not valid YAML") from None

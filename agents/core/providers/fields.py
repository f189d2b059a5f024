"""Reads a closed mapping field by field; every error names its path and what was meant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, ClassVar

from felix_web.common.errors import FelixError


class ModelsInvalid(FelixError):
    """The model profiles cannot be used as they are written."""

    code: ClassVar[str] = "models_invalid"
    title = "Invalid model profiles"
    hint = "Correct what is named here, then start again."


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest known word, else the list of them all."""
    names = sorted(known)
    close = get_close_matches(word, names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(names)}" if names else ""


class Fields:
    """One mapping of the file. Each method returns the field asked for, or raises ModelsInvalid."""

    def __init__(self, value: Any, path: str, known: Iterable[str]) -> None:
        self.path = path
        if not isinstance(value, dict):
            raise ModelsInvalid(f"{path or 'the file'}: must be a mapping")
        self._values = value
        for key in value:
            if key not in known:
                raise ModelsInvalid(f"{self.at(str(key))}: unknown key{nearest(str(key), known)}")

    def at(self, key: str) -> str:
        """Return the path of a field, such as `models.fast.provider`."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Return whether the field is written and not null."""
        return self._values.get(key) is not None

    def value(self, key: str) -> Any:
        """Return the field as it stands; None where it is absent or null."""
        return self._values.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text that is not blank; `default` None means it must be written."""
        if not self.has(key) and default is not None:
            return default
        value = self.value(key)
        if not isinstance(value, str) or not value.strip():
            raise ModelsInvalid(f"{self.at(key)}: must be a text and not empty")
        return value

    def whole(self, key: str, default: int, *, least: int = 1) -> int:
        """Return a whole number of at least `least`."""
        value = self.value(key) if self.has(key) else default
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ModelsInvalid(f"{self.at(key)}: must be a whole number of at least {least}")
        return value

    def number(self, key: str, default: float | None, *, above_zero: bool = False) -> float:
        """Return a finite number that is not negative; `default` None means it must be written."""
        value = self.value(key) if self.has(key) else default
        least = "above 0" if above_zero else "of at least 0"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelsInvalid(f"{self.at(key)}: must be a number {least}")
        if not math.isfinite(value) or value < 0 or (above_zero and value == 0):
            raise ModelsInvalid(f"{self.at(key)}: must be a number {least}")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.value(key) if self.has(key) else default
        if not isinstance(value, bool):
            raise ModelsInvalid(f"{self.at(key)}: must be true or false")
        return value

    def entries(self, key: str) -> dict[str, Any]:
        """Return a mapping of names to bodies, which must have at least one."""
        value = self.value(key)
        if not isinstance(value, dict) or not value:
            raise ModelsInvalid(f"{self.at(key)}: must name at least one entry")
        for name in value:
            if not isinstance(name, str) or not name.strip():
                raise ModelsInvalid(f"{self.at(key)}: {name!r} is not a name; write it in quotes")
        return value

"""The content hash of a manifest: the same for two documents that make the same agent."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from agents.core.manifest.schema import Manifest
from felix_web.common.digests import digest


def content_hash(manifest: Manifest) -> str:
    """Return the SHA-256, in hex, of what the manifest says beyond the defaults.

    Key order, comments, quoting and a default that is written out do not move it, nor does a field
    with a default that a later build adds. To change what a default *means* is a migration: the
    hash cannot see it.
    """
    return digest(_said(manifest))


def _said(part: BaseModel) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if value != field.get_default(call_default_factory=True):
            said[field.alias or name] = _plain(value)
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _said(value)
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value + 0.0  # -0.0 is 0.0
    return value

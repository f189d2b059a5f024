"""The manifests that ship with Felix."""

from __future__ import annotations

from importlib.resources import files

from felix_web.common.errors import NotFound

SUFFIX = ".yaml"

_FOLDER = files("agents") / "bundled" / "manifests"


class UnknownManifest(NotFound):
    """No manifest of this name exists here."""

    code = "unknown_manifest"
    title = "Unknown manifest"
    hint = "GET /api/manifests lists the manifests of your tenant."


def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled manifests, sorted; each is also its `metadata.name`."""
    found = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))


def bundled_text(name: str) -> str:
    """Return the YAML text of a bundled manifest.

    Raises:
        UnknownManifest: none has this name.
    """
    if name not in bundled_names():
        raise UnknownManifest
    return (_FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8")

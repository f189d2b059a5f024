"""The tables of the agents; Django finds models here."""

from agents.models.manifest import Manifest, ManifestVersion

__all__ = ["Manifest", "ManifestVersion"]

"""From a document to a valid manifest, or to everything that is wrong with it at once."""

from __future__ import annotations

from itertools import islice

from agents.core.manifest.checks import Tools, rule_problems
from agents.core.manifest.document import Document
from agents.core.manifest.problems import MAX_PROBLEMS, ManifestInvalid
from agents.core.manifest.schema import Manifest
from agents.core.manifest.shape import shape_of


def checked_manifest(
    document: Document, *, tools: Tools, deployment_scope_allowed: bool = False
) -> Manifest:
    """Return the manifest of a document.

    Args:
        tools: The tools of this build by name; a manifest may name no other.
        deployment_scope_allowed: The tenant is on the operator's list for `workspace.scope:
            deployment`.

    Raises:
        ManifestInvalid: names everything that is wrong, each with its place.
    """
    manifest, problems = shape_of(document)
    rules = rule_problems(document, tools=tools, deployment_scope_allowed=deployment_scope_allowed)
    problems += islice(rules, MAX_PROBLEMS + 1)
    if problems or manifest is None:
        raise ManifestInvalid(problems, file=document.file)
    return manifest

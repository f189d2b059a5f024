"""Manifests of a tenant: written as versions, found by name, compiled from what was stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.db.models import F, Max

from agents.core.compile import CompiledAgent, compile_agent
from agents.core.manifest.bundled import UnknownManifest, bundled_names, bundled_text
from agents.core.manifest.document import Document
from agents.core.manifest.problems import ManifestInvalid
from agents.core.manifest.reader import read_document
from agents.core.tools.registry import builtin_tools
from agents.models import Manifest, ManifestVersion
from agents.profiles import deployment_models
from felix_web.audit.services import audit_row, record
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_scope, tenant_snapshot


def check_document(document: Document, *, tenant_slug: str, version: int = 0) -> CompiledAgent:
    """Return the agent of a document, compiled as a run of this tenant would.

    Raises:
        ManifestInvalid: names everything that is wrong, each with its place.
    """
    return compile_agent(
        document,
        tools=builtin_tools(),
        version=version,
        base_system_prompt=deployment_models().system_prompt,
        deployment_scope_allowed=tenant_slug in settings.DEPLOYMENT_SCOPE_TENANTS,
    )


def put_manifest(
    *, principal: Principal, name: str, text: str, comment: str = "", file: str = "manifest.yaml"
) -> tuple[ManifestVersion, bool]:
    """The text is the manifest's live version.

    Returns it, and whether it is new (the same content is not).

    Raises:
        ManifestInvalid: it cannot be used, or names another manifest; nothing was written.
        MissingScope: the caller lacks manifests:write.
    """
    principal.need("manifests:write")
    document = read_document(text, file=file)
    agent = check_document(document, tenant_slug=principal.tenant_slug)
    if agent.name != name:
        message = f"metadata.name is {agent.name!r}, but the manifest is put as {name!r}"
        raise ManifestInvalid([document.problem(("metadata", "name"), message)], file=file)
    draft = _Draft(agent, document, text, by=principal.name, comment=comment)
    return _store(principal.tenant_id, draft)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A checked manifest about to be stored, and who stores it."""

    agent: CompiledAgent
    document: Document
    text: str
    by: str
    comment: str = ""
    is_bundled: bool = False


def _store(tenant_id: int, draft: _Draft) -> tuple[ManifestVersion, bool]:
    agent = draft.agent
    with tenant_scope(tenant_id):
        manifest, _ = Manifest.objects.select_for_update().get_or_create(
            tenant_id=tenant_id, name=agent.name
        )
        live = manifest.versions.filter(number=manifest.live_version).first()
        if live is not None and live.content_hash == agent.content_hash:
            return live, False
        version = _new_version(manifest, draft)
        Manifest.objects.filter(pk=manifest.pk).update(
            live_version=version.number, archived_at=None
        )
        record(
            audit_row(
                tenant_id=tenant_id,
                act="manifest_put",
                actor=draft.by,
                subject=f"{agent.name}@{version.number}",
                content_hash=agent.content_hash,
            )
        )
    return version, True


def _new_version(manifest: Manifest, draft: _Draft) -> ManifestVersion:
    newest = manifest.versions.aggregate(newest=Max("number"))["newest"] or 0
    return ManifestVersion.objects.create(
        tenant_id=manifest.tenant_id,
        manifest=manifest,
        number=newest + 1,
        content_hash=draft.agent.content_hash,
        text=draft.text,
        document=draft.document.data,
        comment=draft.comment,
        created_by=draft.by,
        is_bundled=draft.is_bundled,
    )


def live_version(*, tenant_id: int, name: str) -> ManifestVersion:
    """Return the version a new run takes; a bundled manifest is stored at its first use.

    Raises:
        UnknownManifest: the tenant has none of this name, and none is bundled.
    """
    with tenant_snapshot(tenant_id):
        stored = (
            ManifestVersion.objects.for_tenant(tenant_id)
            .filter(
                manifest__name=name,
                manifest__archived_at=None,
                number=F("manifest__live_version"),
            )
            .select_related("tenant")
            .first()
        )
    if stored is not None and (not stored.is_bundled or name not in bundled_names()):
        return stored
    if name not in bundled_names():
        raise UnknownManifest(f"There is no manifest {name[:128]!r}.")
    return _bundled(tenant_id, name, stored)


def _bundled(tenant_id: int, name: str, stored: ManifestVersion | None) -> ManifestVersion:
    """Return the bundled manifest as a stored version: a new one only where its content changed."""
    agent, document, text = _bundled_agent(name)
    if stored is not None and stored.content_hash == agent.content_hash:
        return stored
    draft = _Draft(agent, document, text, by="felix", comment="bundled", is_bundled=True)
    version, _ = _store(tenant_id, draft)
    return version


@lru_cache(maxsize=64)
def _bundled_agent(name: str) -> tuple[CompiledAgent, Document, str]:
    text = bundled_text(name)
    document = read_document(text, file=f"{name}.yaml")
    return check_document(document, tenant_slug=""), document, text


def version_of(*, tenant_id: int, name: str, number: int) -> ManifestVersion:
    """Return one stored version.

    Raises:
        UnknownManifest: the tenant has no such version.
    """
    with tenant_snapshot(tenant_id):
        version = (
            ManifestVersion.objects.for_tenant(tenant_id)
            .filter(manifest__name=name, number=number)
            .first()
        )
    if version is None:
        raise UnknownManifest(f"There is no version {number} of {name[:128]!r}.")
    return version


@lru_cache(maxsize=256)
def _compiled(version_pk: int, tenant_slug: str, number: int, text: str) -> CompiledAgent:
    return check_document(read_document(text), tenant_slug=tenant_slug, version=number)


def compiled_version(version: ManifestVersion) -> CompiledAgent:
    """Return the agent of a stored version.

    Checked again, so that what this build cannot enforce does not run.

    Raises:
        ManifestInvalid: this build cannot run it.
    """
    return _compiled(version.pk, version.tenant.slug, version.number, version.text)


def manifest_names(*, tenant_id: int) -> list[str]:
    """Return the names a run may be started with: the tenant's own and the bundled ones, sorted."""
    with tenant_snapshot(tenant_id):
        own = Manifest.objects.for_tenant(tenant_id).filter(archived_at=None)
        return sorted({*own.values_list("name", flat=True), *bundled_names()})

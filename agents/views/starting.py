"""Starting a thread: an agent, a first message, and things to try."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agents.core.compile import CompiledAgent
from agents.core.manifest.problems import ManifestInvalid
from agents.services.manifests import compiled_version, live_version, manifest_names
from agents.services.sending import send
from agents.views.page import (
    act_key,
    check_tenant,
    page,
    principal_of,
    status_of,
    take_draft,
    with_query,
)
from agents.views.threads import message_of
from felix_web.common.errors import FelixError
from felix_web.common.ids import new_id
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_snapshot

DEFAULT_AGENT = "quick"


class Choice(NamedTuple):
    """An agent that can be chosen."""

    name: str
    summary: str


class Starter(NamedTuple):
    """A thing to try: a link that fills the form."""

    text: str
    agent: str
    url: str


def _agent(principal: Principal, name: str) -> CompiledAgent | None:
    """Return the live agent of this name, or None where this build cannot run it."""
    try:
        version = live_version(tenant_id=principal.tenant_id, name=name)
        with tenant_snapshot(principal.tenant_id):
            return compiled_version(version)
    except ManifestInvalid:
        return None


def _starters(agents: list[CompiledAgent]) -> list[Starter]:
    url = reverse("threads:new")
    return [
        Starter(
            starter.title, agent.name, with_query(url, agent=agent.name, message=starter.prompt)
        )
        for agent in agents
        for starter in agent.starters
    ]


def _context(
    principal: Principal, *, chosen: str, text: str, key: str, error: str = ""
) -> dict[str, Any]:
    names = manifest_names(tenant_id=principal.tenant_id)
    agents = [agent for name in names if (agent := _agent(principal, name)) is not None]
    if chosen not in {agent.name for agent in agents}:
        chosen = DEFAULT_AGENT
    return {
        "agents": [Choice(agent.name, agent.description) for agent in agents],
        "agent": chosen,
        "starters": _starters(agents),
        "text": text,
        "error": error,
        "act_key": key,
    }


@page
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Show the form, or start the thread and lead to it; what was typed is never lost."""
    principal = principal_of(request)
    if request.method != "POST":
        text = take_draft(request) or request.GET.get("message", "")
        context = _context(principal, chosen=request.GET.get("agent", ""), text=text, key=act_key())
        return render(request, "threads/new.html", context)
    manifest = request.POST.get("agent", "")
    try:
        check_tenant(request, principal)
        sent = send(
            principal=principal,
            message=message_of(request, manifest=manifest, thread=_thread_id(request)),
        )
    except FelixError as error:
        text = request.POST.get("message", "")
        words = f"Not sent. {error.message}"
        context = _context(principal, chosen=manifest, text=text, key=act_key(), error=words)
        return render(request, "threads/new.html", context, status=status_of(error))
    return HttpResponseRedirect(reverse("threads:page", args=[sent.run.thread.suffix]))


def _thread_id(request: HttpRequest) -> str:
    """Return the new thread's id, made of the form's key: a form sent twice starts one thread."""
    key = request.POST.get("key", "")
    fresh = key.removeprefix("act_")
    return f"t-{fresh}" if key.startswith("act_") and fresh.isalnum() else new_id("t")

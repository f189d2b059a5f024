"""Home, and the sections that a later build brings; each says so in plain words."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from agents.views.page import page


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the threads: what runs and what waits is the first thing to see."""
    return HttpResponseRedirect(reverse("threads:list"))


def _not_built(request: HttpRequest, name: str, words: str, instead: str) -> HttpResponse:
    return render(request, "not_built.html", {"name": name, "words": words, "instead": instead})


@page
@require_GET
def manifests(request: HttpRequest) -> HttpResponse:
    """Say what to use until the manifests have a page."""
    return _not_built(
        request,
        "Manifests",
        "This build has no page for manifests yet; it is to check, compare and roll out versions.",
        "Until then: felix manifest check FILE, felix manifest put FILE, PUT /api/manifests/NAME.",
    )


@page
@require_GET
def usage(request: HttpRequest) -> HttpResponse:
    """Say what to use until usage has a page."""
    return _not_built(
        request,
        "Usage",
        "This build has no page for usage and cost over time yet.",
        "What a run used and cost stands on its thread's page, under Meters.",
    )


@page
@require_GET
def audit(request: HttpRequest) -> HttpResponse:
    """Say what to use until the audit trail has a page."""
    return _not_built(
        request,
        "Audit",
        "This build has no page for the audit trail yet. The trail itself is being written.",
        "Every decision of the tenant stands under Approvals, History.",
    )


@page
@require_GET
def tenants(request: HttpRequest) -> HttpResponse:
    """Say what to use until tenants have a page."""
    return _not_built(
        request,
        "Tenants",
        "This build has no page for tenants, members and keys yet.",
        "Until then: felix tenant create, felix user create, felix key create.",
    )

"""Threads: the list, one thread, and the two acts on it: send and stop."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.services.sending import Message, send
from agents.services.stopping import abort_run
from agents.views.list_page import list_context
from agents.views.page import check_tenant, optional_int, page, principal_of, status_of, take_draft
from agents.views.thread_page import read_thread, thread_context
from felix_web.common.digests import digest
from felix_web.common.errors import FelixError, InvalidInput, NotFound
from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import tenant_snapshot
from sessions.selectors import thread_for

LONGEST_MESSAGE = 100_000


@page
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Show the tenant's threads: those that wait first."""
    context = list_context(
        principal=principal_of(request),
        state=request.GET.get("state", ""),
        text=request.GET.get("q", ""),
        agent=request.GET.get("agent", ""),
        before=request.GET.get("before", ""),
    )
    return render(request, "threads/list.html", context)


@page
@require_GET
def thread(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Show one thread: its newest 200 events, or those before `?before=seq`."""
    principal = principal_of(request)
    before_seq = optional_int(request.GET.get("before"))
    view = read_thread(principal=principal, thread_id=thread_id, before_seq=before_seq)
    context = thread_context(
        principal=principal, view=view, before_seq=before_seq, text=take_draft(request)
    )
    return render(request, "runs/panel.html", context)


def posted_message(request: HttpRequest) -> str:
    """Return the message of a form.

    Raises:
        InvalidInput: it is empty or too long; nothing was sent.
    """
    text = request.POST.get("message", "").replace("\r\n", "\n").strip()
    if not text:
        raise InvalidInput("Type a message first.")
    if len(text) > LONGEST_MESSAGE:
        raise InvalidInput(
            f"A message may have {LONGEST_MESSAGE:,} characters at most; this has {len(text):,}."
        )
    return text


def message_of(request: HttpRequest, *, manifest: str, thread: str) -> Message:
    """Return the message of a form under the key that the form was rendered with.

    Raises:
        InvalidInput: the message is empty or too long; nothing was sent.
    """
    text = posted_message(request)
    body = {"manifest": manifest, "message": text, "thread": thread}
    key = request.POST.get("key", "")
    return Message(manifest, (text,), thread=thread, key=key, fingerprint=digest(body))


def _with_error(
    request: HttpRequest, principal: Principal, thread_id: str, error: FelixError
) -> HttpResponse:
    """Return the thread page with what was typed still in it, and why it was not sent."""
    view = read_thread(principal=principal, thread_id=thread_id, before_seq=None)
    context = thread_context(
        principal=principal,
        view=view,
        text=request.POST.get("message", ""),
        error=f"Not sent. {error.message}",
    )
    return render(request, "runs/panel.html", context, status=status_of(error))


@page
@require_POST
def send_message(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Send a message to the thread's agent and lead back to the thread; the text is never lost."""
    principal = principal_of(request)
    with tenant_snapshot(principal.tenant_id):
        found = thread_for(tenant_id=principal.tenant_id, suffix=thread_id)
    try:
        check_tenant(request, principal)
        send(
            principal=principal,
            message=message_of(request, manifest=found.manifest, thread=thread_id),
        )
    except NotFound:
        raise
    except FelixError as error:
        return _with_error(request, principal, thread_id, error)
    return HttpResponseRedirect(reverse("threads:page", args=[thread_id]))


@page
@require_POST
def stop(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Stop the thread's run, if one is still going, and lead back to the thread."""
    principal = principal_of(request)
    check_tenant(request, principal)
    with tenant_snapshot(principal.tenant_id):
        found = thread_for(tenant_id=principal.tenant_id, suffix=thread_id)
    abort_run(principal=principal, thread=found)
    return HttpResponseRedirect(reverse("threads:page", args=[thread_id]))

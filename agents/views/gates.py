"""Approvals: the inbox, a gate as a page, and the decision."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.services.deciding import SHOWS_THE_GATE, Word
from agents.services.deciding import decide as take_decision
from agents.views.gate_page import gate_context, read_gate
from agents.views.inbox_page import inbox_context
from agents.views.page import check_tenant, optional_int, page, principal_of, take_draft
from agents.views.present.evidence import present_evidence
from agents.views.present.moments import clock
from agents.views.present.numbers import counted
from approvals.core.gate import Decision
from approvals.errors import AlreadyDecided, GateExpired, GateWithdrawn, NotExtendable
from approvals.extending import extend_gate
from approvals.models import Gate
from felix_web.common.errors import FelixError, Forbidden, InvalidInput
from felix_web.tenancy.principal import Principal
from sessions.models import ThreadKind

LONGEST_NOTE = 2000
KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
DONE = {"answered": "approved", "denied": "denied"}


@page
@require_GET
def inbox(request: HttpRequest) -> HttpResponse:
    """Show the gates that wait for this person, for the team, or what was decided."""
    principal = principal_of(request)
    context = inbox_context(
        principal=principal,
        queue=request.GET.get("queue", ""),
        before=request.GET.get("before", ""),
    )
    return render(request, "approvals/inbox.html", context)


@page
@require_GET
def gate(request: HttpRequest, gate_id: str) -> HttpResponse:
    """Show one gate, also one of a request without a thread."""
    context = gate_context(
        principal=principal_of(request), gate_id=gate_id, typed_note=take_draft(request)
    )
    return render(request, "approvals/detail.html", context)


def _word(request: HttpRequest) -> Word:
    """Return what the form says.

    Raises:
        InvalidInput: it is not a form that a card shows; nothing was decided.
    """
    said = request.POST.get("decision", "")
    revision = optional_int(request.POST.get("revision"))
    digest = request.POST.get("digest", "")
    if said not in set(Decision) or revision is None or not digest:
        raise InvalidInput("The form is not complete. Open the gate again and decide there.")
    note = request.POST.get("note", "").replace("\r\n", "\n").strip()
    key = request.POST.get("key", "")
    return Word(
        Decision(said),
        note=note,
        digest=digest,
        revision=revision,
        key=f"{key}-{said}" if KEY.fullmatch(key) else "",
    )


def _too_long(note: str) -> str:
    return (
        f"A note may have {LONGEST_NOTE:,} characters at most; this has {len(note):,}. "
        "Nothing was sent."
    )


def _unseen(request: HttpRequest, principal: Principal, gate_id: str, word: Word) -> str:
    """Return the sentence that holds an approval back until all its evidence was shown, or ""."""
    if word.decision is not Decision.APPROVE or request.POST.get("seen") == word.digest:
        return ""
    gate, _, _ = read_gate(principal=principal, gate_id=gate_id)
    evidence = present_evidence(gate["evidence"] or {}, gate["args"] or {})
    if not evidence.is_unseen:
        return ""
    lines = counted(evidence.folded, evidence.unit)
    return f"{lines} you have not seen are now shown. Nothing was sent: read them, then approve."


def _truth(principal: Principal, gate_id: str, error: FelixError) -> str:
    """Return the one sentence of a decision that was not taken."""
    gate, _, now_ms = read_gate(principal=principal, gate_id=gate_id)
    if isinstance(error, GateExpired):
        return f"Denied by time at {clock(gate['expires_at'], now_ms)}. Nothing was sent."
    if isinstance(error, AlreadyDecided) and gate["settled_at"] and gate["status"] in DONE:
        when = clock(gate["settled_at"], now_ms)
        by = "You" if gate["decided_by"] == principal.name else gate["decided_by"]
        return f"{by} {DONE[gate['status']]} this at {when}. Nothing was sent."
    if isinstance(error, GateWithdrawn) and gate["settled_because"] == "evidence_changed":
        return "What this asked about has changed, so it is asked again. Nothing was sent."
    if isinstance(error, GateWithdrawn):
        return "This was withdrawn: the run no longer asks for it. Nothing was sent."
    return f"{error.message} Nothing was sent."


def _back(request: HttpRequest, gate_id: str, thread_id: str | None) -> str:
    """Return the page that the card stood on, at the card."""
    if request.POST.get("where") == "thread" and thread_id:
        return f"{reverse('threads:page', args=[thread_id])}#gate-{gate_id}"
    return f"{reverse('approvals:gate', args=[gate_id])}#gate-{gate_id}"


def _card(
    request: HttpRequest, gate_id: str, notice: str, *, status: int, is_unfolded: bool = False
) -> HttpResponse:
    context = gate_context(
        principal=principal_of(request),
        gate_id=gate_id,
        is_unfolded=is_unfolded,
        notice=notice,
        typed_note=request.POST.get("note", ""),
    )
    return render(request, "approvals/detail.html", context, status=status)


@page
@require_POST
def decide(request: HttpRequest, gate_id: str) -> HttpResponse:
    """Take the decision and lead back to the card, or show the card as it is and say why not.

    An approval while a part of the evidence is folded decides nothing: it unfolds the card.
    """
    principal = principal_of(request)
    check_tenant(request, principal)
    word = _word(request)
    if len(word.note) > LONGEST_NOTE:
        return _card(request, gate_id, _too_long(word.note), status=400)
    notice = _unseen(request, principal, gate_id, word)
    if notice:
        return _card(request, gate_id, notice, status=200, is_unfolded=True)
    try:
        decided = take_decision(principal=principal, gate_id=gate_id, word=word)
    except SHOWS_THE_GATE as error:
        return _card(request, gate_id, _truth(principal, gate_id, error), status=409)
    except Forbidden as error:
        return _card(request, gate_id, _truth(principal, gate_id, error), status=403)
    return _lead_back(request, decided)


def _lead_back(request: HttpRequest, gate: Gate) -> HttpResponse:
    is_hidden = gate.thread.kind == ThreadKind.EPHEMERAL
    return HttpResponseRedirect(_back(request, gate.pk, None if is_hidden else gate.thread.suffix))


@page
@require_POST
def extend(request: HttpRequest, gate_id: str) -> HttpResponse:
    """Give the gate more time and lead back to the card, or show it as it is and say why not."""
    principal = principal_of(request)
    check_tenant(request, principal)
    try:
        longer = extend_gate(principal=principal, gate_id=gate_id)
    except (GateExpired, NotExtendable) as error:
        return _card(request, gate_id, _truth(principal, gate_id, error), status=409)
    except Forbidden as error:
        return _card(request, gate_id, _truth(principal, gate_id, error), status=403)
    return _lead_back(request, longer)

"""`felix up --demo`: a scripted gated run waits in the panel."""

from __future__ import annotations

from felix_web.tenancy.auth import member_principal
from felix_web.tenancy.models import Membership

DEMO_THREAD = "demo"
DEMO_TASK = "Write a short welcome note for the team into notes/hello.md."


def start_demo() -> None:
    """The thread `demo` of the first operator has a run that comes to a gate.

    Nothing where it exists already.
    """
    from agents.services.sending import Message, send
    from sessions.errors import RunInProgress
    from sessions.models import Thread

    member = Membership.objects.select_related("tenant", "user").order_by("pk").first()
    if member is None or Thread.objects.filter(tenant=member.tenant, suffix=DEMO_THREAD).exists():
        return
    message = Message("cowork", (DEMO_TASK,), DEMO_THREAD)
    try:
        send(principal=member_principal(member), message=message)
    except RunInProgress:
        return

"""Idempotency keys: one key, one body, one run; sends and decisions have a space each (L10)."""

from __future__ import annotations

import re
from datetime import timedelta

from felix_web.tenancy.principal import Principal
from felix_web.tenancy.scoping import database_now, tenant_snapshot
from sessions.errors import IdempotencyKeyReused, InvalidIdempotencyKey
from sessions.models import IdempotencyKey, Run

KEY = re.compile(r"\A[\x21-\x7e]{1,255}\Z")
LIFETIME = timedelta(hours=24)
SEND, DECIDE = "send", "decide"


def check_key(key: str) -> None:
    """Return for a usable key.

    Raises:
        InvalidIdempotencyKey: it is empty, over 255 characters, or has a space or a character
            outside ASCII.
    """
    if not KEY.match(key):
        raise InvalidIdempotencyKey()


def known_run(
    *, principal: Principal, message_key: str, fingerprint: str, space: str = SEND
) -> Run | None:
    """Return the run that this principal's request under the key started or decided on; None: the
    key is free.

    Raises:
        IdempotencyKeyReused: that request had another body.
    """
    with tenant_snapshot(principal.tenant_id):
        row = (
            IdempotencyKey.objects.for_tenant(principal.tenant_id)
            .select_related("run__thread")
            .filter(
                principal=principal.identity,
                space=space,
                key=message_key,
                expires_at__gt=database_now(),
            )
            .first()
        )
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise IdempotencyKeyReused()
    return row.run


def claim_key(
    *, principal: Principal, key: str, fingerprint: str, run: Run, space: str = SEND
) -> None:
    """The key is the run's; raises IntegrityError where another request has it since.

    A key that is past its 24 hours gives way.
    """
    mine = IdempotencyKey.objects.for_tenant(principal.tenant_id).filter(
        principal=principal.identity, space=space, key=key
    )
    now = database_now()
    mine.filter(expires_at__lte=now).delete()
    IdempotencyKey.objects.create(
        tenant_id=principal.tenant_id,
        principal=principal.identity,
        space=space,
        key=key,
        fingerprint=fingerprint,
        run=run,
        expires_at=now + LIFETIME,
    )

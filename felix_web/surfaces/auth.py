"""Who sends a request: from its credential to a principal, and no other way (L14)."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest
from ninja.security.base import AuthBase

from felix_web.common.errors import Unauthenticated
from felix_web.tenancy.auth import local_principal, principal_of_key
from felix_web.tenancy.principal import Principal

SCHEMES = ("bearer", "apikey")


def credential_of(request: HttpRequest) -> str | None:
    """Return the key a request carries, or None where it carries none.

    `Authorization: Bearer fx_...`, `Authorization: ApiKey fx_...` or `X-Api-Key: fx_...`.

    Raises:
        Unauthenticated: the header has another scheme, or two headers carry different keys.
    """
    header = request.headers.get("authorization", "").strip()
    plain = request.headers.get("x-api-key", "").strip()
    if not header:
        return plain or None
    scheme, _, key = header.partition(" ")
    if scheme.lower() not in SCHEMES or not key.strip():
        raise Unauthenticated("The Authorization header is not Bearer or ApiKey with a key.")
    if plain and plain != key.strip():
        raise Unauthenticated("Authorization and X-Api-Key carry different keys.")
    return key.strip()


def principal_of(request: HttpRequest) -> Principal:
    """Return who sends the request. Sync; reads the database.

    Raises:
        Unauthenticated: it carries no key, or one that is not valid; the answer does not say which
        kind of invalid.
    """
    key = credential_of(request)
    if key is not None:
        return principal_of_key(key)
    if settings.AUTH_MODE == "none" and settings.IS_LOOPBACK and _is_own_page(request):
        return local_principal()
    raise Unauthenticated("The request carries no key.")


def _is_own_page(request: HttpRequest) -> bool:
    """Without keys a page of any site could make the browser of this machine send requests here;
    it cannot hide that.
    """
    origin = request.headers.get("origin")
    here = f"{request.scheme}://{request.get_host()}"
    site = request.headers.get("sec-fetch-site", "none")
    return origin in (None, here) and site in ("none", "same-origin")


class Credential(AuthBase):
    """Ninja's gate in front of every route: `request.auth` is the principal."""

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = "A key made by `felix key create`; also as ApiKey, or in X-Api-Key."

    async def __call__(self, request: HttpRequest) -> Principal:
        """Return the principal.

        Raises:
            Unauthenticated: as `principal_of`.
        """
        return await sync_to_async(principal_of)(request)


def caller(request: HttpRequest) -> Principal:
    """Return the principal of a request that passed `Credential`.

    Raises:
        Unauthenticated: the route is not behind it.
    """
    principal = getattr(request, "auth", None)
    if not isinstance(principal, Principal):
        raise Unauthenticated()
    return principal

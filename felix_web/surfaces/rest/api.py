"""The REST surface."""

from __future__ import annotations

from ninja import NinjaAPI

api = NinjaAPI(title="Felix", version="1", docs_url=None, openapi_url="/openapi.json")

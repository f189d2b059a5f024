"""The ASGI application."""

from __future__ import annotations

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "felix_web.settings")

django_application = get_asgi_application()

from django.conf import settings  # noqa: E402  settings are read once the application exists

from felix_web.surfaces.edge import App, edge  # noqa: E402

application = edge(cast("App", django_application), largest_body_bytes=settings.LARGEST_BODY_BYTES)

"""Every address of the web process (decisions 2.3)."""

from __future__ import annotations

from django.urls import include, path

from felix_web.surfaces.probes import live, ready
from felix_web.surfaces.rest.api import api

urlpatterns = [
    path("live", live),
    path("ready", ready),
    path("api/", api.urls),
    path("", include("felix_web.panel.urls")),
]

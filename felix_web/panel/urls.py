"""Addresses of the panel; the roof includes this at the root."""

from __future__ import annotations

from django.urls import include, path

from felix_web.panel import pages
from felix_web.panel.new_password import new_password
from felix_web.panel.sign_in import sign_in, sign_out

shell = [
    path("", pages.home, name="home"),
    path("manifests/", pages.manifests, name="manifests"),
    path("usage/", pages.usage, name="usage"),
    path("audit/", pages.audit, name="audit"),
    path("tenants/", pages.tenants, name="tenants"),
    path("sign-in/", sign_in, name="sign-in"),
    path("sign-in/new-password/", new_password, name="new-password"),
    path("sign-out/", sign_out, name="sign-out"),
]

urlpatterns = [
    path("threads/", include("agents.views.thread_urls")),
    path("approvals/", include("agents.views.gate_urls")),
    path("", include((shell, "panel"))),
]

"""Addresses of the panel's shell. The roof includes this at the root, after the apps' own pages."""

from __future__ import annotations

from django.urls import path

from felix_web.panel import pages
from felix_web.panel.new_password import new_password
from felix_web.panel.sign_in import sign_in, sign_out

app_name = "panel"

urlpatterns = [
    path("", pages.home, name="home"),
    path("manifests/", pages.manifests, name="manifests"),
    path("usage/", pages.usage, name="usage"),
    path("audit/", pages.audit, name="audit"),
    path("tenants/", pages.tenants, name="tenants"),
    path("sign-in/", sign_in, name="sign-in"),
    path("sign-in/new-password/", new_password, name="new-password"),
    path("sign-out/", sign_out, name="sign-out"),
]

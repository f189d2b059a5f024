"""Addresses of the approvals."""

from __future__ import annotations

from django.urls import path

from agents.views import gates

app_name = "approvals"

urlpatterns = [
    path("", gates.inbox, name="inbox"),
    path("<str:gate_id>/", gates.gate, name="gate"),
    path("<str:gate_id>/decide/", gates.decide, name="decide"),
    path("<str:gate_id>/extend/", gates.extend, name="extend"),
]

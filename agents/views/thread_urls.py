"""Addresses of the threads. A thread that a program named `new` has no page of its own."""

from __future__ import annotations

from django.urls import path

from agents.views import starting, threads

app_name = "threads"

urlpatterns = [
    path("", threads.index, name="list"),
    path("new/", starting.new, name="new"),
    path("<str:thread_id>/", threads.thread, name="page"),
    path("<str:thread_id>/send/", threads.send_message, name="send"),
    path("<str:thread_id>/stop/", threads.stop, name="stop"),
]

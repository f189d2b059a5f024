"""Django as the house agreed: no hidden work, no unguarded look-ups, the right labels."""

import ast
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, classes, last_name, named, parsed, product_files, write

LABELS = {
    "agents": "agents",
    "approvals": "approvals",
    "felix_web.audit": "audit",
    "felix_web.panel": "panel",
    "felix_web.tenancy": "tenancy",
    "sandboxes": "sandboxes",
    "sessions": "agent_sessions",
}
SIGNAL_MODULES = ("django.dispatch", "django.db.models.signals", "django.core.signals")
SIGNAL_MODULES += ("django.db.backends.signals", "django.contrib.auth.signals")


def save_overrides(root: Path) -> list[str]:
    return [
        f"{named(root, path)}: {node.name}.save"
        for path in product_files(root)
        if "core" not in path.parts
        for node in classes(parsed(path))
        for member in node.body
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
        and member.name in {"save", "asave"}
    ]


def signal_imports(root: Path) -> list[str]:
    found = []
    for path in product_files(root):
        for node in ast.walk(parsed(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            if any(name.startswith(SIGNAL_MODULES) for name in names):
                found.append(named(root, path))
    return found


def unguarded_gets(root: Path) -> list[str]:
    return [
        f"{named(root, path)}:{node.lineno}"
        for path in product_files(root)
        if {"surfaces", "panel", "views"} & set(named(root, path).removesuffix(".py").split("/"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and _is_unguarded(node)
    ]


def _is_unguarded(call: ast.Call) -> bool:
    if last_name(call.func) in {"get_object_or_404", "aget_object_or_404"}:
        return True
    getters = {"get", "aget", "get_or_create", "first"}
    return last_name(call.func) in getters and any(
        isinstance(part, ast.Attribute) and part.attr == "objects" for part in ast.walk(call.func)
    )


def app_labels(root: Path) -> dict[str, str]:
    """Return module name -> label of every AppConfig that says both."""
    labels = {}
    for path in product_files(root, "apps.py"):
        for node in classes(parsed(path)):
            said = {
                last_name(line.targets[0]): line.value.value
                for line in node.body
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
            }
            labels[str(said.get("name", named(root, path)))] = str(said.get("label", ""))
    return labels


def test_no_model_overrides_save():
    assert save_overrides(ROOT) == []


def test_no_signal_of_django_is_used():
    assert signal_imports(ROOT) == []


def test_no_view_or_surface_gets_an_object_past_the_loaders():
    assert unguarded_gets(ROOT) == []


def test_every_app_says_its_label_and_it_is_the_agreed_one():
    found = app_labels(ROOT)

    assert found.items() <= LABELS.items()


def test_our_sessions_do_not_take_the_label_of_djangos():
    from django.apps import apps

    assert apps.get_app_config("agent_sessions").name == "sessions"
    assert apps.get_app_config("sessions").name == "django.contrib.sessions"
    ours = [model._meta.db_table for model in apps.get_app_config("agent_sessions").get_models()]
    assert [table for table in ours if table.startswith("sessions_")] == []


@pytest.mark.parametrize(
    ("rule", "name", "code"),
    [
        (save_overrides, "agents/models/a.py", "class A:\n    def save(self): ...\n"),
        (signal_imports, "agents/apps.py", "from django.db.models.signals import post_save\n"),
        (signal_imports, "agents/apps.py", "from django.db.models import signals\n"),
        (signal_imports, "agents/apps.py", "import django.dispatch\n"),
        (unguarded_gets, "agents/views/a.py", "Thread.objects.get(id=1)\n"),
        (unguarded_gets, "agents/views.py", "Thread.objects.filter(a=1).first()\n"),
        (unguarded_gets, "felix_web/surfaces/a.py", "get_object_or_404(Thread, id=1)\n"),
    ],
)
def test_a_breach_is_found(tmp_path, rule, name, code):
    write(tmp_path, name, code)

    assert len(rule(tmp_path)) == 1


def test_a_missing_label_is_found(tmp_path):
    write(tmp_path, "sessions/apps.py", "class A(AppConfig):\n    name = 'sessions'\n")

    assert app_labels(tmp_path) == {"sessions": ""}

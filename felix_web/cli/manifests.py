"""felix manifest check and put."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from felix_web.cli.setup import migrate
from felix_web.common.errors import InvalidInput


def add_commands(commands: Any) -> None:
    """The parser knows the commands on manifests."""
    group = commands.add_parser("manifest", help="check or store an agent's manifest")
    acts = group.add_subparsers(dest="act", required=True, metavar="ACT")
    check = acts.add_parser("check", help="say what is wrong with a file, by line and column")
    check.add_argument("file")
    check.set_defaults(run=check_file)
    put = acts.add_parser("put", help="store a file as the live version")
    put.add_argument("file")
    put.add_argument("--tenant", default="default")
    put.set_defaults(run=put_file, needs_data=True)


def _read(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {name}.") from None
    except OSError as problem:
        raise InvalidInput(f"The file {name} cannot be read: {problem.strerror}.") from None
    except UnicodeError:
        raise InvalidInput(f"The file {name} is not UTF-8 text.") from None


def check_file(arguments: argparse.Namespace) -> int:
    """Compile the file as a run would, and print its name."""
    from agents.core.manifest.reader import read_document
    from agents.services.manifests import check_document

    document = read_document(_read(arguments.file), file=arguments.file)
    agent = check_document(document, tenant_slug="")
    print(f"{agent.name}: ok")
    return 0


def put_file(arguments: argparse.Namespace) -> int:
    """Store the file as the tenant's live version, and print name and version."""
    from agents.core.manifest.reader import read_document
    from agents.services.manifests import check_document, put_manifest
    from felix_web.tenancy.principal import Principal
    from felix_web.tenancy.services import tenant_by_slug

    migrate()
    tenant = tenant_by_slug(arguments.tenant)
    text = _read(arguments.file)
    agent = check_document(read_document(text, file=arguments.file), tenant_slug=tenant.slug)
    command = Principal(tenant.pk, tenant.slug, "felix command", frozenset({"*"}), via="command")
    version, is_new = put_manifest(
        principal=command, name=agent.name, text=text, file=arguments.file
    )
    print(f"{agent.name}@{version.number}" + ("" if is_new else " (unchanged)"))
    return 0

"""felix tenant, user and key."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from felix_web.cli.setup import migrate

ROLES = ("viewer", "operator", "reviewer", "admin")


def add_commands(commands: Any) -> None:
    """The parser knows the commands that make tenants, people and keys."""
    tenant = _creating(commands, "tenant", "a team with its own threads, agents and keys")
    tenant.add_argument("slug")
    tenant.set_defaults(run=create_tenant)
    user = _creating(commands, "user", "a person in a tenant")
    user.add_argument("name")
    user.add_argument("--tenant", required=True)
    user.add_argument("--role", required=True, choices=ROLES)
    user.set_defaults(run=create_user)
    key = _creating(commands, "key", "a program's credential")
    key.add_argument("--tenant", required=True)
    key.add_argument(
        "--owner", help="the member it belongs to; without one it is its own principal"
    )
    key.add_argument("--name", required=True)
    key.add_argument("--scopes", default="", help="comma-separated; * is all")
    key.set_defaults(run=create_key)


def _creating(commands: Any, noun: str, meaning: str) -> argparse.ArgumentParser:
    group = commands.add_parser(noun, help=meaning)
    acts = group.add_subparsers(dest="act", required=True, metavar="ACT")
    parser: argparse.ArgumentParser = acts.add_parser("create", help=f"make {meaning}")
    return parser


def create_tenant(arguments: argparse.Namespace) -> int:
    """Make a tenant and print its slug."""
    from felix_web.tenancy import services

    migrate()
    print(services.create_tenant(slug=arguments.slug).slug)
    return 0


def create_user(arguments: argparse.Namespace) -> int:
    """Make a member and print the one-time password of a new person."""
    from felix_web.tenancy import services

    migrate()
    tenant = services.tenant_by_slug(arguments.tenant)
    password = services.create_member(username=arguments.name, tenant=tenant, role=arguments.role)
    if password:
        print(password)
    else:
        print(f"{arguments.name} has a password already.", file=sys.stderr)
    return 0


def create_key(arguments: argparse.Namespace) -> int:
    """Make a key and print it, this once."""
    from felix_web.tenancy import services

    migrate()
    tenant = services.tenant_by_slug(arguments.tenant)
    owner = None
    if arguments.owner:
        owner = services.member_by_name(tenant=tenant, username=arguments.owner)
    secret = services.create_key(
        tenant=tenant, name=arguments.name, scopes=arguments.scopes.split(","), owner=owner
    )
    print(secret)
    return 0

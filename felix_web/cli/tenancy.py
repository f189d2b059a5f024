"""felix tenant, user and key."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from felix_web.cli.setup import migrate

ROLES = ("viewer", "operator", "reviewer", "admin")
NOUNS = {
    "tenant": "teams with their own threads, agents and keys",
    "user": "people in a tenant",
    "key": "programs' credentials",
}


def add_commands(commands: Any) -> None:
    """The parser knows the commands for tenants, people and keys."""
    tenant = _acts(commands, "tenant").add_parser(
        "create", help="make a team with its own threads, agents and keys"
    )
    tenant.add_argument("slug")
    tenant.set_defaults(run=create_tenant)
    _add_user_commands(_acts(commands, "user"))
    _add_key_commands(_acts(commands, "key"))


def _acts(commands: Any, noun: str) -> Any:
    group = commands.add_parser(noun, help=NOUNS[noun])
    group.set_defaults(needs_data=True)
    return group.add_subparsers(dest="act", required=True, metavar="ACT")


def _add_user_commands(acts: Any) -> None:
    user = acts.add_parser("create", help="make a person a member of a tenant")
    user.add_argument("name")
    user.add_argument("--tenant", required=True)
    user.add_argument("--role", required=True, choices=ROLES)
    user.set_defaults(run=create_user)
    forgetful = acts.add_parser("password", help="print a new one-time password")
    forgetful.add_argument("name")
    forgetful.set_defaults(run=reset_password)
    leaver = acts.add_parser("remove", help="end a membership, its keys and its runs")
    leaver.add_argument("name")
    leaver.add_argument("--tenant", required=True)
    leaver.set_defaults(run=remove_user)


def _add_key_commands(acts: Any) -> None:
    key = acts.add_parser("create", help="make a program's credential")
    key.add_argument("--tenant", required=True)
    key.add_argument(
        "--owner", help="the member it belongs to; without one it is its own principal"
    )
    key.add_argument("--name", required=True)
    key.add_argument("--scopes", default="", help="comma-separated; * is all")
    key.set_defaults(run=create_key)
    lost = acts.add_parser("revoke", help="end a key and its runs")
    lost.add_argument("name")
    lost.add_argument("--tenant", required=True)
    lost.set_defaults(run=revoke_key)


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
        print(
            f"{arguments.name} has a password already; felix user password makes a new one.",
            file=sys.stderr,
        )
    return 0


def reset_password(arguments: argparse.Namespace) -> int:
    """Print a new one-time password of a person; the old one and every sign-in are over."""
    from felix_web.tenancy import services

    migrate()
    print(services.reset_password(username=arguments.name))
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


def remove_user(arguments: argparse.Namespace) -> int:
    """End a membership, with its keys and its runs."""
    from agents.services.leaving import remove_member
    from felix_web.tenancy.services import tenant_by_slug

    migrate()
    remove_member(tenant=tenant_by_slug(arguments.tenant), username=arguments.name)
    return 0


def revoke_key(arguments: argparse.Namespace) -> int:
    """End a key, with its runs."""
    from agents.services import leaving
    from felix_web.tenancy.services import tenant_by_slug

    migrate()
    leaving.revoke_key(tenant=tenant_by_slug(arguments.tenant), name=arguments.name)
    return 0

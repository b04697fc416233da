"""Grants of permissions as a snapshot holds them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.errors import FirewallError


class GrantError(FirewallError):
    """A grant that cannot be used."""

    code = "grant_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One grant. Every condition that is given must hold; one that gives none is for nobody.

    Args:
        permissions: names, with `*` for any run of characters (`db:*`).
        agent: normal id of the agent that calls, with `*`.
        token: id of the token that makes the call (`tok_…`).
        sender: as the keys of rules by sender: `id:…`, `e164:…`, `username:…`, `name:…`, `channel:<channel>:…`, `*`.
        owner: the sender is known to be an owner.
        role: of the person behind the call.
        session: of the session key, with `*`.
        resources: kind -> patterns, one of which each resource of that kind must fit; a kind that is absent is free.
    """

    key: str
    permissions: tuple[str, ...]
    agent: str = ""
    token: str = ""
    sender: str = ""
    owner: bool = False
    role: str = ""
    session: str = ""
    resources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def write_grant(grant: Grant) -> dict[str, Any]:
    """Return a grant as a snapshot holds it: with the members that say something."""
    members: dict[str, Any] = {"key": grant.key, "permissions": list(grant.permissions)}
    members |= {name: value for name in _CONDITIONS if (value := getattr(grant, name))}
    if grant.resources:
        members["resources"] = {kind: list(patterns) for kind, patterns in grant.resources.items()}
    return members


def read_grant(members: Mapping[str, Any]) -> Grant:
    """Read what `write_grant` wrote."""
    resources = {kind: tuple(patterns) for kind, patterns in members.get("resources", {}).items()}
    return Grant(**{**members, "permissions": tuple(members["permissions"]), "resources": resources})


_CONDITIONS: Final = ("agent", "token", "sender", "owner", "role", "session")

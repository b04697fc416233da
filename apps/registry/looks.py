"""How each kind of source is looked through: one table. The looks themselves know no database."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.found import Failure, Look
from apps.registry.models import DiscoverySource
from apps.registry.source_settings import source_connection

LOOK_LIMIT_S: Final = 120.0

LookOf = Callable[[DiscoverySource, Connection, str], Awaitable[Look]]

LOOKS: Final[Mapping[str, LookOf]] = {}
"""Kind -> what looks through it: the source, its connection, the etag of the look before."""


async def look_through(source: DiscoverySource, *, etag: str = "") -> Look:
    """Look through a source.

    Raises:
        FirewallError: its settings make no connection, or its secrets cannot be opened.
    """
    look = LOOKS.get(source.kind)
    if look is None:
        message = f"sources of kind `{source.kind}` cannot be looked through here"
        return Look(failure=Failure(stage="discover", code="unknown_kind", message=message))
    return await look(source, source_connection(source), etag)

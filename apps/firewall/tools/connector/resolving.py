"""From a name to addresses that may be connected to."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.addresses import Address, address_problem, plain_address
from apps.firewall.tools.connector.errors import AddressRefusedError, NameUnresolvedError

Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""From a name to its addresses; raises OSError when there are none."""

ADDRESSES_LIMIT: Final = 16


async def system_resolve(host: str) -> Sequence[str]:
    """Ask the resolver of this machine."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def addresses_of(host: str, rules: AddressRules, resolve: Resolve) -> list[Address]:
    """Find the addresses of a host and check every one; to these, and to no others, may be connected.

    One that is refused refuses all: a name that leads both outside and inside is no accident.

    Raises:
        NameUnresolvedError, AddressRefusedError.
    """
    addresses = [_read(host, text) for text in await _texts(host, resolve)]
    for address in addresses:
        kind = address_problem(address, rules.networks_allowed)
        if kind is not None:
            where = f"`{host}`" if str(address) == host else f"`{host}` leads to {address}, which"
            raise AddressRefusedError(f"{where} is not public ({kind}) and `allow_networks` does not name it")
    return addresses


async def _texts(host: str, resolve: Resolve) -> Sequence[str]:
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    try:
        found = await resolve(host)
    except (OSError, UnicodeError) as exc:
        raise NameUnresolvedError(f"`{host}` cannot be resolved: {getattr(exc, 'strerror', None) or exc}") from exc
    if not found:
        raise NameUnresolvedError(f"`{host}` has no address")
    return found[:ADDRESSES_LIMIT]


def _read(host: str, text: str) -> Address:
    try:
        return plain_address(ipaddress.ip_address(text))
    except ValueError as exc:
        raise NameUnresolvedError(f"`{host}` leads to `{text[:80]}`, which is no address") from exc

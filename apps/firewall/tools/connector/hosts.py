"""Hosts that are reached by other protocols than HTTP: held against the same rules, and resolved once.

Whoever connects gets the addresses that were judged, and keeps the name for TLS alone.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Final

from apps.firewall.tools.connections import AddressRules, Connection
from apps.firewall.tools.connector.addresses import address_problem
from apps.firewall.tools.connector.errors import AddressRefusedError, UrlRefusedError
from apps.firewall.tools.connector.resolving import Resolve, addresses_of
from apps.firewall.tools.connector.urls import check_domain, check_url, read_host

LOCAL: Final = "localhost"


async def judged_addresses(host: str, rules: AddressRules, resolve: Resolve) -> list[str]:
    """Find the addresses of a host; to these, and to no others, may be connected.

    Raises:
        UrlRefusedError: an odd spelling, or a name that the rules do not allow.
        NameUnresolvedError, AddressRefusedError.
    """
    check_host(host, rules)
    return [str(address) for address in await addresses_of(host.lower(), rules, resolve)]


def check_host(host: str, rules: AddressRules) -> None:
    """Hold a host against the rules as far as its spelling tells where it leads.

    Raises:
        UrlRefusedError: an odd spelling, or a name that the rules do not allow.
        AddressRefusedError: an address that is not public, or a name of this machine.
    """
    name = host.lower()
    address = read_host(name)
    check_domain(name, rules)
    if address is None and (name == LOCAL or name.endswith(f".{LOCAL}")):
        address = IPv4Address("127.0.0.1")
    kind = None if address is None else address_problem(address, rules.networks_allowed)
    if kind is not None:
        raise AddressRefusedError(f"`{host}` is not public ({kind}) and `allow_networks` does not name it")


def address_problems(connection: Connection, hosts: Sequence[tuple[str, str]] = ()) -> list[dict[str, str]]:
    """Say which addresses of a source's settings lead where its rules do not allow; names are resolved when used.

    Args:
        hosts: further hosts that the settings name, each with the path of its setting.
    """
    problems: list[dict[str, str]] = []
    for path in ("url", "usage_url"):
        url = connection.settings.get(path)
        if not isinstance(url, str) or not url:
            continue
        try:
            check_host(check_url(url, connection.rules).host, connection.rules)
        except (UrlRefusedError, AddressRefusedError) as exc:
            problems.append({"path": path, "code": exc.code, "message": exc.message})
    for path, host in hosts:
        try:
            check_host(host, connection.rules)
        except (UrlRefusedError, AddressRefusedError) as exc:
            problems.append({"path": path, "code": exc.code, "message": exc.message})
    return problems

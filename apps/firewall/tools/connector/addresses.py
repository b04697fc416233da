"""What an IP address is, and whether it may be connected to.

Source: the IANA registries of special-purpose addresses for IPv4 and IPv6 (RFC 6890), RFC 4291, RFC 6052.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

PUBLIC: Final = "public"
METADATA: Final = "metadata"

_METADATA: Final = frozenset(
    {
        IPv4Address("169.254.169.254"),  # most clouds
        IPv4Address("169.254.170.2"),  # credentials of containers
        IPv4Address("100.100.100.200"),
        IPv4Address("168.63.129.16"),  # public by its number, and answers inside one cloud only
        IPv4Address("192.0.0.192"),
        IPv6Address("fd00:ec2::254"),
        IPv6Address("fd20:ce::254"),
    }
)

_V4: Final[tuple[tuple[str, str], ...]] = (
    ("0.0.0.0/8", "this_network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link_local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "tunnel"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmark"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("255.255.255.255/32", "broadcast"),
    ("240.0.0.0/4", "reserved"),
)

_V6: Final[tuple[tuple[str, str], ...]] = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::/96", "tunnel"),  # IPv4-compatible
    ("64:ff9b:1::/48", "private"),
    ("100::/64", "reserved"),  # discarded
    ("2001::/32", "tunnel"),  # Teredo
    ("2001:2::/48", "benchmark"),
    ("2001:db8::/32", "documentation"),
    ("2001::/23", "reserved"),
    ("2002::/16", "tunnel"),  # 6to4
    ("3fff::/20", "documentation"),
    ("2000::/3", PUBLIC),
    ("fc00::/7", "unique_local"),
    ("fe80::/10", "link_local"),
    ("fec0::/10", "site_local"),
    ("ff00::/8", "multicast"),
    ("::/0", "reserved"),
)
"""Network -> class; the first match holds. Of IPv6, only 2000::/3 is given out as public."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
_TABLE_V4: Final = tuple((IPv4Network(network), name) for network, name in _V4)
_TABLE_V6: Final = tuple((IPv6Network(network), name) for network, name in _V6)


def plain_address(address: Address) -> Address:
    """Give the IPv4 address that a mapped one (`::ffff:a.b.c.d`) leads to; any other as it is."""
    return getattr(address, "ipv4_mapped", None) or address


def address_class(address: Address) -> str:
    """Name what an address is: `public`, `loopback`, `private`, `link_local`, `metadata`, `tunnel`, …

    A mapped address and one of NAT64 are what the IPv4 address in them is.
    """
    address = _target(address)
    if address in _METADATA:
        return METADATA
    if isinstance(address, IPv4Address):
        return next((name for network, name in _TABLE_V4 if address in network), PUBLIC)
    return next(name for network, name in _TABLE_V6 if address in network)


def address_problem(address: Address, allowed: Iterable[str] = ()) -> str | None:
    """Say why an address may not be connected to.

    Args:
        allowed: ranges that may be reached although they are not public. Metadata services answer with the keys of the
            machine, so that a range allows one only when it is that address alone.
    Returns:
        The class of the address; None when it may be connected to.
    """
    kind = address_class(address)
    if kind == PUBLIC:
        return None
    places = {plain_address(address), _target(address)}
    for network in _networks(tuple(allowed)):
        if kind == METADATA and network.num_addresses > 1:
            continue
        if any(place in network for place in places):
            return None
    return kind


def _target(address: Address) -> Address:
    address = plain_address(address)
    if isinstance(address, IPv6Address) and address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


@lru_cache(maxsize=256)
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)

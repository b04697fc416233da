"""Every address has a class, and only public ones may be connected to unless a rule allows more."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.tools.connector.addresses import address_class, address_problem

CLOSED_V4 = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
"""
CLOSED_V6 = """
::/128 ::1/128 ::/96 64:ff9b:1::/48 100::/64 2001::/32 2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 2002::/16
3fff::/20 4000::/3 8000::/1 fc00::/7 fe80::/10 fec0::/10 ff00::/8
"""

V4 = st.integers(0, 2**32 - 1).map(IPv4Address)
V6 = st.integers(0, 2**128 - 1).map(IPv6Address)


def within(networks: str) -> st.SearchStrategy[IPv4Address | IPv6Address]:
    return st.sampled_from(networks.split()).flatmap(
        lambda text: st.integers(0, ip_network(text).num_addresses - 1).map(lambda offset: ip_network(text)[offset])
    )


def mapped(address: IPv4Address) -> IPv6Address:
    return IPv6Address(f"::ffff:{address}")


def nat64(address: IPv4Address) -> IPv6Address:
    return IPv6Address(int(IPv6Address("64:ff9b::")) | int(address))


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("1.1.1.1", "public"),
        ("2606:4700::1", "public"),
        ("0.0.0.0", "this_network"),
        ("10.9.8.7", "private"),
        ("100.127.255.255", "shared"),
        ("100.128.0.0", "public"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("169.254.1.1", "link_local"),
        ("169.254.169.254", "metadata"),
        ("172.15.255.255", "public"),
        ("172.16.0.0", "private"),
        ("172.32.0.0", "public"),
        ("192.0.0.8", "reserved"),
        ("192.168.1.1", "private"),
        ("198.19.255.255", "benchmark"),
        ("224.0.0.1", "multicast"),
        ("250.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("168.63.129.16", "metadata"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::7f00:1", "tunnel"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "metadata"),
        ("::ffff:1.1.1.1", "public"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "metadata"),
        ("64:ff9b::101:101", "public"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "tunnel"),
        ("2002:7f00:1::", "tunnel"),
        ("2002:101:101::", "tunnel"),
        ("fc00::1", "unique_local"),
        ("fd00:ec2::254", "metadata"),
        ("fe80::1", "link_local"),
        ("fec0::1", "site_local"),
        ("ff02::1", "multicast"),
    ],
)
def test_each_address_is_named(address: str, kind: str) -> None:
    assert address_class(ip_address(address)) == kind
    assert (address_problem(ip_address(address)) is None) == (kind == "public")


@settings(deadline=None)
@given(within(CLOSED_V4) | within(CLOSED_V6))
def test_nothing_inside_a_closed_range_is_public(address: IPv4Address | IPv6Address) -> None:
    assert address_problem(address) is not None


@settings(deadline=None)
@given(V4 | V6)
def test_what_is_public_here_is_never_private_for_the_standard_library(address: IPv4Address | IPv6Address) -> None:
    if address_problem(address) is None:
        plain = getattr(address, "ipv4_mapped", None) or address
        is_nat64 = plain in IPv6Network("64:ff9b::/96")
        assert is_nat64 or not (plain.is_private or plain.is_reserved or plain.is_multicast or plain.is_loopback)


@settings(deadline=None)
@given(V4)
def test_an_ipv4_address_inside_another_is_judged_like_itself(address: IPv4Address) -> None:
    assert address_class(mapped(address)) == address_class(nat64(address)) == address_class(address)


@settings(deadline=None)
@given(V4, st.integers(0, 30))
def test_a_range_opens_its_own_addresses_but_no_metadata_service(address: IPv4Address, length: int) -> None:
    network = str(IPv4Network((address, length), strict=False))
    for spelling in (address, mapped(address), nat64(address)):
        assert (address_problem(spelling, [network]) is None) == (address_class(address) != "metadata")


@settings(deadline=None)
@given(V4, V4)
def test_a_range_opens_nothing_outside_it(address: IPv4Address, other: IPv4Address) -> None:
    network = IPv4Network((other, 24), strict=False)
    if address not in network:
        assert address_problem(address, [str(network)]) == address_problem(address)
        assert address_problem(mapped(address), [str(network)]) == address_problem(mapped(address))


def test_a_metadata_service_can_be_allowed_by_its_own_address_only() -> None:
    address = ip_address("169.254.169.254")
    assert address_problem(address, ["0.0.0.0/0", "169.254.169.254/31"]) == "metadata"
    assert address_problem(address, ["169.254.169.254/32"]) is None

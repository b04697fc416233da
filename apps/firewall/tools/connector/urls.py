"""What may stand in a URL. Strict: two programs that read one text differently are how a check is passed by."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx2

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.addresses import Address
from apps.firewall.tools.connector.errors import UrlRefusedError

URL_LIMIT: Final = 8192
PORTS: Final = {"https": 443, "http": 80}

_PLAIN: Final = re.compile(r"[!#-;=?-Z\[\]_a-z~]*")  # printable ASCII without space " < > \ ^ ` { | }
_PLACE: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a URL leads, in the spelling of rules: lower case, an IPv6 address without brackets.

    Args:
        address: set when the host is an address.
    """

    scheme: str
    host: str
    port: int
    address: Address | None = None

    @property
    def origin(self) -> tuple[str, str, int]:
        return (self.scheme, self.host, self.port)

    @property
    def host_header(self) -> str:
        """The host as the header `Host` has it: with the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def check_url(url: str, rules: AddressRules) -> Target:
    """Read a URL and hold it against the rules; what its name resolves to is checked when it is connected to.

    Raises:
        UrlRefusedError: it has a user, an odd spelling, or a scheme, port or name that the rules do not allow.
    """
    target = read_target(url)
    if target.scheme not in rules.schemes:
        raise UrlRefusedError(f"addresses must begin with {' or '.join(rules.schemes)}, not `{target.scheme}`")
    if target.port not in rules.ports:
        raise UrlRefusedError(f"the port {target.port} of `{target.host}` is not allowed")
    check_domain(target.host, rules)
    return target


def check_domain(host: str, rules: AddressRules) -> None:
    """Hold the name of a host against the lists of domains.

    Raises:
        UrlRefusedError: it is denied, or not among those allowed.
    """
    if any(_fits(host, pattern) for pattern in rules.domains_denied):
        raise UrlRefusedError(f"the name `{host}` is denied")
    if rules.domains_allowed and not any(_fits(host, pattern) for pattern in rules.domains_allowed):
        raise UrlRefusedError(f"the name `{host}` is not among those allowed")


def read_host(host: str) -> Address | None:
    """Read a host that stands alone, in lower case: its address, or None where it is a name.

    Raises:
        UrlRefusedError: it is neither, or spelt in a way that programs read differently.
    """
    if ":" in host:
        try:
            return ipaddress.IPv6Address(host.removeprefix("[").removesuffix("]"))
        except ValueError as exc:
            raise UrlRefusedError(f"`{host[:80]}` is no IPv6 address") from exc
    return _address(host)


def read_target(url: str) -> Target:
    """Read where a URL leads, by its spelling alone.

    Raises:
        UrlRefusedError: it is not http or https, or not in its plain spelling.
    """
    if len(url) > URL_LIMIT or not _PLAIN.fullmatch(url):
        raise UrlRefusedError("the address has characters that must be written otherwise, or is too long")
    try:
        parts = urlsplit(url)
    except ValueError as exc:
        raise UrlRefusedError(f"the address cannot be read: {exc}") from exc
    if parts.scheme not in PORTS:
        raise UrlRefusedError(f"addresses must begin with https or http, not `{parts.scheme}`")
    if "@" in parts.netloc:
        raise UrlRefusedError("the address names a user: leave out what stands before `@`")
    place = _PLACE.fullmatch(parts.netloc)
    if place is None:
        raise UrlRefusedError(f"`{parts.netloc[:80]}` is no name of a host with or without a port")
    port = int(place["port"] or PORTS[parts.scheme])
    host = place["host"].lower()
    if host.startswith("["):
        target = _of_v6(parts.scheme, host, port)
    else:
        target = Target(scheme=parts.scheme, host=host, port=port, address=_address(host))
    _read_alike(url, target)
    return target


def _read_alike(url: str, target: Target) -> None:
    """Refuse what the library that sends the request would send elsewhere."""
    try:
        theirs = httpx2.URL(url)
        place = (theirs.scheme, theirs.raw_host.decode("ascii"), theirs.port or PORTS[target.scheme])
    except (httpx2.InvalidURL, ValueError) as exc:
        raise UrlRefusedError(f"the address cannot be read: {exc}") from exc
    if target.address is None and place != target.origin:
        raise UrlRefusedError(f"the address of `{target.host}` can be read in two ways")


def sent_path(url: str) -> str:
    """Give the path and query of a URL as they are sent."""
    return httpx2.URL(url).raw_path.decode("ascii")


def _of_v6(scheme: str, host: str, port: int) -> Target:
    try:
        address = ipaddress.IPv6Address(host.strip("[]"))
    except ValueError as exc:
        raise UrlRefusedError(f"`{host}` is no IPv6 address") from exc
    return Target(scheme=scheme, host=str(address), port=port, address=address)


def _address(host: str) -> Address | None:
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):  # some programs read 127.1, 0x7f.1, 0177.0.0.1 and 2130706433 as addresses
        try:
            return ipaddress.IPv4Address(host)
        except ValueError as exc:
            raise UrlRefusedError(f"`{host}` is no address in its plain spelling, such as 192.0.2.1") from exc
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlRefusedError(f"`{host[:80]}` is no name of a host")
    return None


def _fits(host: str, pattern: str) -> bool:
    pattern = pattern.lower().strip("[]")
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern

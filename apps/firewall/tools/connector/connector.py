"""Asks an address and reads the whole answer, within limits of time, size and number of redirects."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin

import httpx2

from apps.firewall.tools.connections import AddressRules, Connection
from apps.firewall.tools.connector.errors import (
    AnswerBrokenError,
    ConnectorError,
    TimeLimitError,
    TlsFailedError,
    TooManyRedirectsError,
    UnreachableError,
    UrlRefusedError,
)
from apps.firewall.tools.connector.resolving import Resolve, system_resolve
from apps.firewall.tools.connector.transport import LIMIT_BYTES, PinnedTransport
from apps.firewall.tools.connector.urls import check_url, read_target

TIME_LIMIT_S: Final = 20.0
CONNECT_LIMIT_S: Final = 10.0
ANSWER_LIMIT_BYTES: Final = 8 * 1024 * 1024
REDIRECTS_LIMIT: Final = 5
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
SEE_OTHER: Final = 303
POST_BECOMES_GET: Final = frozenset({301, 302})
WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
CARRIED: Final = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""Headers that hold nobody's secret, so that another origin may have them."""
AGENT: Final = "openclaw-admin"

_NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_BROKEN: Final = (httpx2.ProtocolError, httpx2.DecodingError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back.

    Args:
        url: that answered in the end.
        headers: names in lower case.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """The way out under one set of rules. Holds no connection: each request opens and closes its own.

    Args:
        ca: certificates in PEM, the only ones to trust; empty trusts those of the system.
        resolve: what tells the addresses of a name.
    """

    rules: AddressRules = field(default_factory=AddressRules)
    ca: str = ""
    resolve: Resolve = system_resolve

    @classmethod
    def of(cls, connection: Connection, resolve: Resolve = system_resolve) -> "Connector":
        """Give the connector of a source."""
        return cls(rules=connection.rules, ca=connection.ca, resolve=resolve)

    def transport(self, *, limit_bytes: int = LIMIT_BYTES, reuses: bool = True) -> PinnedTransport:
        """Make a transport for a client of httpx2 that somebody else drives.

        Raises:
            TlsFailedError: `ca` holds no certificates.
        """
        try:
            return PinnedTransport(self.rules, resolve=self.resolve, ca=self.ca, limit_bytes=limit_bytes, reuses=reuses)
        except ssl.SSLError as exc:
            raise TlsFailedError("`ca` holds no certificates in PEM") from exc

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        time_limit_s: float = TIME_LIMIT_S,
        limit_bytes: int = ANSWER_LIMIT_BYTES,
    ) -> Answer:
        """Fetch a document. Redirects are followed, each checked anew; headers go to the first origin only.

        Args:
            time_limit_s: for everything together.
        Raises:
            ConnectorError.
        """
        async with self._opened(time_limit_s, limit_bytes) as transport:
            origin = read_target(url).origin
            for _ in range(REDIRECTS_LIMIT + 1):
                is_first_origin = read_target(url).origin == origin
                answer = await self._ask(transport, "GET", url, headers if is_first_origin else None, b"")
                if answer.status not in REDIRECTS or "location" not in answer.headers:
                    return answer
                url = self._next(url, answer.headers["location"])
            raise TooManyRedirectsError(f"more than {REDIRECTS_LIMIT} redirects, the last one to `{url}`")

    async def post(
        self,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        time_limit_s: float = TIME_LIMIT_S,
        limit_bytes: int = ANSWER_LIMIT_BYTES,
    ) -> Answer:
        """Send a document once, to this address and no other: a redirect is the answer.

        Raises:
            ConnectorError: with `was_sent` when the other side may have got it.
        """
        async with self._opened(time_limit_s, limit_bytes) as transport:
            return await self._ask(transport, "POST", url, headers, body)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        time_limit_s: float = TIME_LIMIT_S,
        limit_bytes: int = ANSWER_LIMIT_BYTES,
    ) -> Answer:
        """Send a request, and follow where its answers lead, each address checked anew.

        A redirect changes the method as browsers do it. To another origin goes nothing but a GET with `CARRIED`
        headers; of any other method the redirect is the answer.

        Args:
            time_limit_s: for everything together.
        Raises:
            ConnectorError: with `was_sent` when somebody may have got the request.
        """
        sent = dict(headers or {})
        async with self._opened(time_limit_s, limit_bytes) as transport:
            for _ in range(REDIRECTS_LIMIT + 1):
                answer = await self._ask(transport, method, url, sent, body)
                if answer.status not in REDIRECTS or "location" not in answer.headers:
                    return answer
                following = self._next(url, answer.headers["location"])
                if answer.status == SEE_OTHER or (method == "POST" and answer.status in POST_BECOMES_GET):
                    method, body = "GET", b""
                    sent = {name: value for name, value in sent.items() if name.lower() != "content-type"}
                if read_target(following).origin != read_target(url).origin:
                    if method != "GET":
                        return answer
                    sent = {name: value for name, value in sent.items() if name.lower() in CARRIED}
                url = following
            raise TooManyRedirectsError(f"more than {REDIRECTS_LIMIT} redirects, the last one to `{url}`")

    @asynccontextmanager
    async def _opened(self, time_limit_s: float, limit_bytes: int) -> AsyncIterator[PinnedTransport]:
        async with self.transport(limit_bytes=limit_bytes, reuses=False) as transport:
            try:
                async with asyncio.timeout(time_limit_s):
                    yield transport
            except TimeoutError as exc:
                message = f"no complete answer in {time_limit_s:g} s"
                raise TimeLimitError(message, was_sent=transport.is_connected) from exc

    async def _ask(
        self, transport: PinnedTransport, method: str, url: str, headers: Mapping[str, str] | None, body: bytes
    ) -> Answer:
        check_url(url, self.rules)  # before httpx2 reads it in its own way
        request = httpx2.Request(
            method,
            url,
            headers={"User-Agent": AGENT} | dict(headers or {}),
            content=body if body or method in WITH_BODY else None,
            extensions={"timeout": {"connect": CONNECT_LIMIT_S}},
        )
        try:
            answer = await transport.handle_async_request(request)
            try:
                content = await answer.aread()
            finally:
                await answer.aclose()
        except httpx2.HTTPError as exc:
            raise _our_error(url, exc, transport) from exc
        names = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(status=answer.status_code, url=url, headers=names, body=content)

    def _next(self, url: str, location: str) -> str:
        try:
            following = urljoin(url, location)
        except ValueError as exc:
            raise UrlRefusedError(f"a redirect to an address that cannot be read: {exc}") from exc
        if url.startswith("https:") and not following.startswith("https:"):
            raise UrlRefusedError("a redirect from https to an address without it")
        return following


def _our_error(url: str, exc: httpx2.HTTPError, transport: PinnedTransport) -> ConnectorError:
    host = read_target(url).host
    was_sent = transport.is_connected and not isinstance(exc, _NOT_SENT)
    if isinstance(exc, httpx2.ConnectError) and _is_tls(exc):
        return TlsFailedError(f"`{host}` does not prove its name: {exc}")
    if isinstance(exc, httpx2.TimeoutException):
        return TimeLimitError(f"`{host}` took too long", was_sent=was_sent)
    if isinstance(exc, _BROKEN):
        return AnswerBrokenError(f"`{host}` does not speak HTTP: {exc}", was_sent=was_sent)
    return UnreachableError(f"the line to `{host}` broke: {exc}", was_sent=was_sent)


def _is_tls(exc: BaseException | None) -> bool:
    while exc is not None and not isinstance(exc, ssl.SSLError):
        exc = exc.__cause__ or exc.__context__
    return exc is not None

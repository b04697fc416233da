"""HTTP to checked addresses only: the name stays in TLS and in `Host`, the socket goes to what was checked.

Names are resolved once for each connection, here, and the socket is given the address, so that nothing resolves them a
second time. For any client of httpx2, ours and that of the `mcp` package.
"""

import ssl
from collections.abc import AsyncIterator, Iterable
from functools import lru_cache
from typing import Final

import httpcore2
import httpx2

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.errors import (
    AnswerBrokenError,
    AnswerTooLargeError,
    ConnectorError,
    UnreachableError,
    UrlRefusedError,
)
from apps.firewall.tools.connector.resolving import Resolve, addresses_of, system_resolve
from apps.firewall.tools.connector.urls import Target, check_url

LIMIT_BYTES: Final = 32 * 1024 * 1024
IDLE_S: Final = 5.0

_ERRORS: Final[dict[type[Exception], type[httpx2.TransportError]]] = {
    httpcore2.ConnectTimeout: httpx2.ConnectTimeout,
    httpcore2.ReadTimeout: httpx2.ReadTimeout,
    httpcore2.WriteTimeout: httpx2.WriteTimeout,
    httpcore2.PoolTimeout: httpx2.PoolTimeout,
    httpcore2.ConnectError: httpx2.ConnectError,
    httpcore2.ReadError: httpx2.ReadError,
    httpcore2.WriteError: httpx2.WriteError,
    httpcore2.LocalProtocolError: httpx2.LocalProtocolError,
    httpcore2.RemoteProtocolError: httpx2.RemoteProtocolError,
    httpcore2.UnsupportedProtocol: httpx2.UnsupportedProtocol,
    httpcore2.TimeoutException: httpx2.ReadTimeout,
    httpcore2.NetworkError: httpx2.ReadError,
    httpcore2.ProtocolError: httpx2.RemoteProtocolError,
    OSError: httpx2.ReadError,  # a peer that breaks TLS once it is up
}
"""What can come out of a pool -> what clients of httpx2 expect; the first that fits."""


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Opens sockets to addresses that were checked, never to names."""

    def __init__(self, rules: AddressRules, resolve: Resolve) -> None:
        self._rules = rules
        self._resolve = resolve
        self._sockets = httpcore2.AnyIOBackend()
        self.is_connected = False

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await addresses_of(host, self._rules, self._resolve)
        share = None if timeout is None else timeout / len(addresses)
        for position, address in enumerate(addresses, 1):
            try:
                stream = await self._sockets.connect_tcp(str(address), port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as exc:
                if position == len(addresses):
                    raise UnreachableError(f"`{host}` ({address}, port {port}) does not answer: {_cause(exc)}") from exc
            else:
                self.is_connected = True
                return stream
        raise UnreachableError(f"`{host}` has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        raise UrlRefusedError(f"`{path}` is a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


class PinnedTransport(httpx2.AsyncBaseTransport):
    """A transport for `httpx2.AsyncClient(transport=…, trust_env=False)`.

    Each request is checked anew, redirects included, whoever follows them. What is refused raises a `ConnectorError`,
    all other trouble the errors of httpx2.

    Args:
        ca: certificates in PEM, the only ones to trust; empty trusts those of the system.
        limit_bytes: of one answer's body.
        reuses: connections stay open for the next request to the same origin.
    """

    def __init__(
        self,
        rules: AddressRules,
        *,
        resolve: Resolve = system_resolve,
        ca: str = "",
        limit_bytes: int = LIMIT_BYTES,
        reuses: bool = True,
    ) -> None:
        self._rules = rules
        self._limit_bytes = limit_bytes
        self._backend = _PinnedBackend(rules, resolve)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trust(ca),
            network_backend=self._backend,
            max_keepalive_connections=None if reuses else 0,
            keepalive_expiry=IDLE_S,
        )

    @property
    def is_connected(self) -> bool:
        """Say whether a connection ever came about; before, nobody can have got a request."""
        return self._backend.is_connected

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        target = check_url(str(request.url), self._rules)
        if not isinstance(request.stream, httpx2.AsyncByteStream):
            raise TypeError("the request has a body that blocks")
        try:
            answer = await self._pool.handle_async_request(
                httpcore2.Request(
                    request.method,
                    httpcore2.URL(
                        scheme=target.scheme, host=target.host, port=target.port, target=request.url.raw_path
                    ),
                    headers=_headers(request, target),
                    content=request.stream,
                    extensions={"timeout": request.extensions.get("timeout", {})},
                )
            )
        except tuple(_ERRORS) as exc:
            raise _translated(exc) from exc
        body = _Body(answer, self._limit_bytes)
        try:
            body.check()
        except ConnectorError:
            await answer.aclose()
            raise
        return httpx2.Response(answer.status, headers=answer.headers, stream=body, request=request)

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    """An answer's body up to a limit."""

    def __init__(self, answer: httpcore2.Response, limit_bytes: int) -> None:
        self._answer = answer
        self._limit_bytes = limit_bytes

    def check(self) -> None:
        headers = {name.lower(): value for name, value in self._answer.headers}
        packing = headers.get(b"content-encoding", b"identity").strip().lower()
        if packing not in {b"", b"identity"}:  # a few bytes of it can be gigabytes
            raise AnswerBrokenError(f"the answer is packed as `{packing[:40]!r}`, nobody asked for that", was_sent=True)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self._limit_bytes:
            raise self._too_large()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for part in self._answer.aiter_stream():
                read += len(part)
                if read > self._limit_bytes:
                    raise self._too_large()
                yield part
        except tuple(_ERRORS) as exc:
            raise _translated(exc) from exc

    async def aclose(self) -> None:
        await self._answer.aclose()

    def _too_large(self) -> AnswerTooLargeError:
        return AnswerTooLargeError(f"the answer has more than {self._limit_bytes} bytes", was_sent=True)


def _headers(request: httpx2.Request, target: Target) -> list[tuple[bytes, bytes]]:
    """Give the request's headers with the `Host` that was checked, and ask for bodies that are not packed."""
    kept = [(name, value) for name, value in request.headers.raw if name.lower() not in {b"host", b"accept-encoding"}]
    return [(b"Host", target.host_header.encode()), (b"Accept-Encoding", b"identity"), *kept]


@lru_cache(maxsize=16)
def _trust(ca: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=ca or None)


def _translated(exc: Exception) -> httpx2.TransportError:
    words = _cause(exc)
    if isinstance(exc, httpcore2.ProtocolError):
        words = words.partition(":")[0]  # what follows is what the other side said, which is for nobody's eyes
    return next(theirs for kind, theirs in _ERRORS.items() if isinstance(exc, kind))(words)


def _cause(exc: BaseException) -> str:
    """Say what went wrong in the words of the innermost error that has some."""
    words = type(exc).__name__
    seen: BaseException | None = exc
    while seen is not None:
        words = getattr(seen, "strerror", None) or str(seen) or words
        seen = seen.__cause__ or seen.__context__
    return str(words)[:300]

"""The ways out: each hands a batch of entries to one system, and returns once that system has it.

Every address is judged by the rules of what this installation posts (`apps.keys.outgoing`), and the socket goes to the
address that was judged.
"""

import asyncio
import hashlib
import json
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings

from apps.audit.rows import EntryRow
from apps.audit.streaming.records import json_bytes, otlp_body, record_of, syslog_frame
from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector import Answer, Connector, ConnectorError
from apps.firewall.tools.connector.addresses import address_problem
from apps.firewall.tools.connector.errors import TlsFailedError, UnreachableError, UrlRefusedError
from apps.firewall.tools.connector.resolving import addresses_of, system_resolve
from apps.firewall.tools.connector.urls import Target, check_url
from apps.keys.outgoing import outgoing_headers, outgoing_rules

TIME_LIMIT_S: Final = 10.0
ANSWER_LIMIT_BYTES: Final = 64 * 1024
# The request itself is at fault, and will be for ever; whatever else is wrong may be put right at the other side.
AT_FAULT: Final = frozenset({400, 413, 414, 415, 422})
SYSLOG: Final = {"syslog+tls": "https", "syslog+tcp": "http"}
END_BYTES: Final = 4096

Batch = Sequence[EntryRow]


class TargetRefusedError(Exception):
    """The other side will never take these entries as they are; one of them alone may be the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where a stream leads.

    Args:
        secret: value of `Authorization`; for an object store `KEY:SECRET`; empty for syslog.
        ca: certificates in PEM, the only ones to trust; empty trusts those of the system.
        region, prefix: of an object store.
    """

    kind: str
    url: str
    secret: str = field(default="", repr=False)
    ca: str = ""
    region: str = "us-east-1"
    prefix: str = ""
    with_content: bool = True


def stream_rules() -> AddressRules:
    """Give the rules for addresses of streams: those of all that is posted, and the ports of such systems."""
    rules = outgoing_rules()
    return replace(rules, ports=(*rules.ports, *settings.AUDIT_STREAM_PORTS))


def check_way(way: Way) -> Target:
    """Let through an address that may be kept.

    Raises:
        UrlRefusedError: nothing may be sent there.
    """
    rules = stream_rules()
    scheme, _, rest = way.url.partition("://")
    if way.kind == "syslog":
        if scheme not in SYSLOG:
            raise UrlRefusedError(f"addresses must begin with {' or '.join(SYSLOG)}, not `{scheme}`")
        target = check_url(f"{SYSLOG[scheme]}://{rest}", rules)
    else:
        target = check_url(way.url, rules)
    problem = None if target.address is None else address_problem(target.address, rules.networks_allowed)
    if problem is not None:
        raise UrlRefusedError(f"`{target.host}` is no public address: {problem}")
    return target


def hand_over(way: Way, batch: Batch) -> None:
    """Hand entries of one chain to the other side, in their order.

    Raises:
        ConnectorError: it did not take them; it may later.
        TargetRefusedError: it never will.
    """
    check_way(way)
    _WAYS[way.kind](way, batch)


def _syslog(way: Way, batch: Batch) -> None:
    text = b"".join(
        syslog_frame(entry, record_of(entry, with_content=way.with_content), host=_host(), version=settings.VERSION)
        for entry in batch
    )
    target = check_way(way)
    try:
        with _line(way, target) as line:
            line.sendall(text)
            # Neither transport answers a message. The end of the line does: who answers it has read what came before.
            if isinstance(line, ssl.SSLSocket):
                with suppress(ssl.SSLEOFError):  # an end without a farewell; unread bytes would have reset the line
                    line.unwrap()
            else:
                line.shutdown(socket.SHUT_WR)
                while line.recv(END_BYTES):
                    pass
    except ssl.SSLCertVerificationError as exc:
        raise TlsFailedError(f"`{target.host}` does not prove its name: {exc.verify_message}") from exc
    except OSError as exc:
        raise UnreachableError(f"the line to `{target.host}` broke: {exc}", was_sent=True) from exc


def _line(way: Way, target: Target) -> socket.socket:
    addresses = asyncio.run(addresses_of(target.host, stream_rules(), system_resolve))
    line = socket.create_connection((str(addresses[0]), target.port), timeout=TIME_LIMIT_S)
    if target.scheme != "https":
        return line
    try:
        trust = ssl.create_default_context(cadata=way.ca or None)
        trust.minimum_version = ssl.TLSVersion.TLSv1_2
        return trust.wrap_socket(line, server_hostname=target.host)
    except BaseException:
        line.close()
        raise


def _http(way: Way, batch: Batch) -> None:
    body = b"[" + b",".join(json_bytes(record_of(entry, with_content=way.with_content)) for entry in batch) + b"]"
    shown = batch[0].shown_id
    _judge(
        _post(way, body, outgoing_headers(way.url, body, shown_id=shown, secret="", attempt=1) | _authorization(way))
    )


def _otlp(way: Way, batch: Batch) -> None:
    told = [(entry, record_of(entry, with_content=way.with_content)) for entry in batch]
    body = otlp_body(told, host=_host(), version=settings.VERSION)
    answer = _post(way, body, {"Content-Type": "application/json"} | _authorization(way))
    _judge(answer)
    if _rejected(answer):
        raise TargetRefusedError(f"it rejected {_rejected(answer)} of {len(batch)} records")


def _s3(way: Way, batch: Batch) -> None:
    from botocore.auth import S3SigV4Auth  # a large library, which nobody else needs
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    body = b"".join(json_bytes(record_of(entry, with_content=way.with_content)) + b"\n" for entry in batch)
    first, last = batch[0], batch[-1]
    name = f"{first.at:%Y/%m/%d}/{first.chain_id}-{first.seq:012}-{last.seq:012}.jsonl"
    url = "/".join(part.strip("/") for part in (way.url, quote(way.prefix), name) if part)
    key, _, secret = way.secret.partition(":")
    asked = AWSRequest("PUT", url, data=body, headers={"Content-Type": "application/x-ndjson"})
    asked.headers["X-Amz-Content-SHA256"] = hashlib.sha256(body).hexdigest()
    S3SigV4Auth(Credentials(key, secret), "s3", way.region).add_auth(asked)
    headers = {name: value for name, value in asked.headers.items() if name.lower() != "host"}
    _judge(_request(way, "PUT", url, body, headers))


def _post(way: Way, body: bytes, headers: Mapping[str, str]) -> Answer:
    return _request(way, "POST", way.url, body, headers)


def _request(way: Way, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    return asyncio.run(
        Connector(rules=stream_rules(), ca=way.ca).request(
            method, url, headers=headers, body=body, time_limit_s=TIME_LIMIT_S, limit_bytes=ANSWER_LIMIT_BYTES
        )
    )


def _judge(answer: Answer) -> None:
    if 200 <= answer.status < 300:
        return
    message = f"the other side answered {answer.status}"
    if answer.status in AT_FAULT:
        raise TargetRefusedError(message)
    raise ConnectorError(message, was_sent=True)


def _rejected(answer: Answer) -> int:
    try:
        told: Any = json.loads(answer.body or b"{}")
        return int((told.get("partialSuccess") or {}).get("rejectedLogRecords") or 0)
    except (ValueError, TypeError, AttributeError):
        return 0


def _authorization(way: Way) -> dict[str, str]:
    return {"Authorization": way.secret} if way.secret else {}


def _host() -> str:
    return socket.gethostname()


_WAYS: Final[Mapping[str, Callable[[Way, Batch], None]]] = {"syslog": _syslog, "http": _http, "otlp": _otlp, "s3": _s3}
KINDS: Final = tuple(_WAYS)

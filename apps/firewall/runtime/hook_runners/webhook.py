"""Hooks behind an address: one signed POST for each event, one answer that proves where it comes from."""

import json
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.identifiers import trace_headers
from apps.firewall.runtime.hook_runners.wire import EventName
from apps.firewall.runtime.hooks.handlers import FailureKind, HookFailedError
from apps.firewall.tools.answer_signing import AnswerUnprovenError, SignedAnswer, check_answer
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Answer, Connector, ConnectorError, Resolve, system_resolve
from apps.firewall.tools.connector.errors import AnswerBrokenError, AnswerTooLargeError, TimeLimitError
from apps.firewall.tools.http_tool import signed_headers
from apps.firewall.tools.remote_json import JsonRefusedError, read_json
from apps.firewall.tools.signing import SigningKeyError

ANSWER_LIMIT_BYTES: Final = 1024 * 1024

_KINDS: Final[tuple[tuple[type[ConnectorError], FailureKind], ...]] = (
    (TimeLimitError, "slow"),
    (AnswerTooLargeError, "huge_answer"),
    (AnswerBrokenError, "wrong_answer"),
    (ConnectorError, "unreachable"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A hook on a server.

    Args:
        connection: its address, with the key that signs requests.
        answer_key: the public key that proves answers where requests are signed with `ed25519`.
    """

    connection: Connection
    answer_key: str = ""


async def ask_webhook(
    webhook: Webhook,
    event: EventName,
    payload: dict[str, Any],
    *,
    call_id: str,
    time_limit_ms: int,
    trace_id: str = "",
    resolve: Resolve = system_resolve,
) -> Any:
    """Send an event to a server and return what it answers; an empty answer is None.

    Args:
        trace_id: of the trace that the call belongs to; it goes on at the server.
    Raises:
        HookFailedError.
    """
    connection = webhook.connection
    body = json.dumps({"event": event, **payload}, separators=(",", ":")).encode()
    try:
        headers = signed_headers(connection.url, connection, body, call_id) | trace_headers(trace_id)
        answer = await Connector.of(connection, resolve).post(
            connection.url,
            body,
            headers=headers,
            time_limit_s=time_limit_ms / 1000,
            limit_bytes=ANSWER_LIMIT_BYTES,
        )
    except ConnectorError as exc:
        kind = next(kind for error, kind in _KINDS if isinstance(exc, error))
        raise HookFailedError(f"its server did not answer: {exc.message}", kind=kind) from exc
    except SigningKeyError as exc:
        raise HookFailedError(f"its requests cannot be signed: {exc.message}", kind="bad_signature") from exc
    _check(webhook, answer, headers, body)
    return _read(answer)


def _check(webhook: Webhook, answer: Answer, headers: dict[str, str], body: bytes) -> None:
    signing = webhook.connection.signing
    if signing is None:
        raise HookFailedError("it has no key to sign with", kind="bad_signature")
    if not 200 <= answer.status < 300:
        raise HookFailedError(f"its server answers with status {answer.status}")
    signed = SignedAnswer(
        call_id=headers["OpenClaw-Call-Id"],
        timestamp=headers["OpenClaw-Timestamp"],
        request=body,
        status=answer.status,
        answer=answer.body,
    )
    try:
        check_answer(signing, signed, answer.headers.get("openclaw-signature", ""), answer_key=webhook.answer_key)
    except AnswerUnprovenError as exc:
        raise HookFailedError(exc.message, kind="bad_signature") from exc


def _read(answer: Answer) -> Any:
    if not answer.body.strip():
        return None
    try:
        return read_json(answer.body)
    except JsonRefusedError as exc:
        raise HookFailedError(f"its answer cannot be read: {exc.message}") from exc

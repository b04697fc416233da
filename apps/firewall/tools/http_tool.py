"""Calls a tool that lives behind an address: one signed POST, one answer (docs/tools.md, "Tool servers")."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.identifiers import trace_headers
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Answer, Connector, ConnectorError, Resolve, system_resolve
from apps.firewall.tools.connector.urls import read_target, sent_path
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.executors import HttpExecutor
from apps.firewall.tools.output import broken_promise
from apps.firewall.tools.remote_json import JsonRefusedError, plain_text, read_json
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.signing import Signed, SigningKeyError, signature_headers

TIME_LIMIT_MS: Final = 30_000
TIME_CEILING_MS: Final = 600_000
MESSAGE_CHARACTERS: Final = 2_000
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")

# status -> (our code, what it says, whether the server may have acted)
_STATUSES: Final[Mapping[int, tuple[str, str, bool]]] = {
    400: ("tool_input_invalid", "the tool server does not accept these parameters", False),
    401: ("tool_server_refused", "the tool server does not accept our credentials", False),
    403: ("tool_server_refused", "the tool server does not accept our credentials", False),
    404: ("tool_server_refused", "the tool server has no such tool", False),
    410: ("tool_server_refused", "the tool server has no such tool any more", False),
    413: ("tool_server_refused", "the tool server takes no parameters of this size", False),
    422: ("tool_input_invalid", "the tool server does not accept these parameters", False),
    429: ("tool_server_busy", "the tool server takes no more calls now", False),
    502: ("tool_server_failed", "the tool server is not behind its address", True),
    503: ("tool_server_busy", "the tool server takes no calls now", False),
    504: ("tool_server_failed", "the tool server did not answer whoever stands before it", True),
}


async def run_http_tool(
    executor: HttpExecutor,
    definition: Definition,
    params: JsonObject,
    *,
    connection: Connection,
    timeout_ms: int | None,
    call_id: str,
    trace_id: str = "",
    resolve: Resolve = system_resolve,
) -> ToolOutcome:
    """Send one call to a tool server and read what became of it.

    The headers of the source, its token among them, go to the origin of the source only; a tool that lives elsewhere
    sees the signature.

    Args:
        timeout_ms: for everything together; None for 30 s, never more than ten minutes, whatever a registry says.
        call_id: the same for each attempt at one call, so that a server can tell a repetition.
        trace_id: of the trace that the call belongs to; it goes on at the server.
    Returns:
        `unknown` where the server may have acted and its answer is missing or unreadable.
    """
    body = _body(definition, params, call_id)
    try:
        headers = signed_headers(executor.url, connection, body, call_id) | trace_headers(trace_id)
        limit_ms = min(timeout_ms or TIME_LIMIT_MS, TIME_CEILING_MS)
        answer = await Connector.of(connection, resolve).post(
            executor.url, body, headers=headers, time_limit_s=limit_ms / 1000
        )
    except ConnectorError as exc:
        return _ended(exc.code, exc.message, is_unknown=exc.was_sent)
    except SigningKeyError as exc:
        return failed(exc.code, exc.message)
    return _outcome(answer, definition)


def _body(definition: Definition, params: JsonObject, call_id: str) -> bytes:
    order: dict[str, Any] = {"call_id": call_id, "tool": definition.name, "version": definition.version}
    order["params"] = dict(params)
    if definition.config:
        order["config"] = dict(definition.config)
    return json.dumps(order, separators=(",", ":")).encode()


def signed_headers(url: str, connection: Connection, body: bytes, call_id: str) -> dict[str, str]:
    target = read_target(url)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if connection.url and target.origin == read_target(connection.url).origin:
        headers = dict(connection.headers) | headers
    if connection.signing is not None:
        signed = Signed(
            method="POST",
            host=target.host_header,
            path=sent_path(url),
            timestamp=int(time.time()),
            call_id=call_id,
            body=body,
        )
        headers |= signature_headers(connection.signing, signed)
    return headers


def _outcome(answer: Answer, definition: Definition) -> ToolOutcome:
    is_fine = 200 <= answer.status < 300
    try:
        said = read_json(answer.body)
    except JsonRefusedError as exc:
        if is_fine:
            return _ended(
                "answer_unreadable", f"the tool server's answer cannot be read: {exc.message}", is_unknown=True
            )
        return _of_status(answer.status)
    error = said.get("error") if isinstance(said, dict) else None
    if isinstance(error, dict | str):
        return _of_error(error)
    if not is_fine:
        return _of_status(answer.status)
    if not isinstance(said, dict) or "result" not in said:
        message = "the tool server's answer has neither `result` nor `error`"
        return _ended("answer_unreadable", message, is_unknown=True)
    return _of_result(said["result"], definition)


def _of_result(result: Any, definition: Definition) -> ToolOutcome:
    given = result if isinstance(result, dict) else _told(result)
    problem = broken_promise(definition, result)
    return failed("output_invalid", problem, given) if problem else ToolOutcome(result=given)


def _told(result: Any) -> dict[str, Any]:
    """Give a result that is no object the form in which models get content."""
    if isinstance(result, str):
        return {"content": [{"type": "text", "text": result}]}
    return {"content": [{"type": "text", "text": json.dumps(result)}], "details": result}


def _of_error(error: dict[str, Any] | str) -> ToolOutcome:
    members = error if isinstance(error, dict) else {"message": error}
    code = members.get("code")
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        code = "tool_failed"
    message = plain_text(members.get("message"), MESSAGE_CHARACTERS) or "the tool server says that it failed"
    return failed(code, message)


def _of_status(status: int) -> ToolOutcome:
    if 300 <= status < 400:
        return failed("redirected", "the tool server points to another address, which calls do not follow")
    fallback = ("tool_server_failed", "the tool server failed", False)
    code, message, is_unknown = _STATUSES.get(
        status, fallback if status >= 500 else ("tool_server_refused", "the tool server refuses the call", False)
    )
    return _ended(code, f"{message} (status {status})", is_unknown=is_unknown)


def _ended(code: str, message: str, *, is_unknown: bool) -> ToolOutcome:
    return ToolOutcome(ended="unknown" if is_unknown else "failed", error={"code": code, "message": message})

"""The tool `http_request`: one request to an address that the source's rules allow, and its answer."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.tools.connections import OUR_HEADERS
from apps.firewall.tools.connector import Answer, Connector, ConnectorError
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.work import Work

METHODS: Final = ("GET", "POST", "PUT", "DELETE", "PATCH")
TIME_LIMIT_S: Final = 30
ANSWER_LIMIT_BYTES: Final = 10 * 1024 * 1024
BODY_LIMIT_CHARACTERS: Final = 1_000_000
SHOWN_LIMIT_BYTES: Final = 256 * 1024
NOT_THEIRS: Final = OUR_HEADERS - {"content-type"}
HEADER_NAME: Final = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"

DEFINITION = Definition(
    name="http_request",
    result_limit=400_000,  # a whole part of an answer: it states its own cut
    label="Send a request",
    description=(
        "Send one HTTP request and return status, headers and body. Addresses that are not public, and names outside "
        "the list of allowed ones, are refused; up to five redirects are followed. Of a long body a part comes back: "
        "send the request again with `next_offset` as `offset` for what follows."
    ),
    section="web",
    parameters={
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "minLength": 1,
                "maxLength": 8192,
                "description": "Address, beginning with https:// or http://.",
            },
            "method": {"type": "string", "enum": list(METHODS), "default": "GET", "description": "What to ask for."},
            "headers": {
                "type": "object",
                "propertyNames": {"pattern": HEADER_NAME},
                "additionalProperties": {"type": "string", "maxLength": 8192, "pattern": "^[ -~\\t]*$"},
                "maxProperties": 50,
                "description": "Headers by name.",
            },
            "body": {
                "type": "string",
                "maxLength": BODY_LIMIT_CHARACTERS,
                "description": "Body of the request, sent in UTF-8; name its type in `Content-Type`.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "First byte of the body to return, counted from 0.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": SHOWN_LIMIT_BYTES,
                "description": "Bytes of the body to return at most.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": TIME_LIMIT_S,
                "default": TIME_LIMIT_S,
                "description": "Seconds for everything together.",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    },
    sensitive=("headers.Authorization", "headers.Cookie", "headers.Proxy-Authorization", "headers.X-Api-Key"),
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    """Send the request. Whatever status comes back is an answer; without one the call failed, or nobody knows."""
    headers: Mapping[str, str] = params.get("headers") or {}
    ours = sorted(name for name in headers if name.lower() in NOT_THEIRS or name.lower().startswith("proxy-"))
    if ours:
        return failed("header_refused", f"the header `{ours[0]}` is set by the connection itself")
    method = params.get("method", "GET")
    try:
        answer = await Connector.of(work.connection, work.resolve).request(
            method,
            params["url"],
            headers=headers,
            body=str(params.get("body", "")).encode("utf-8", "replace"),
            time_limit_s=float(params.get("timeout", TIME_LIMIT_S)),
            limit_bytes=ANSWER_LIMIT_BYTES,
        )
    except ConnectorError as exc:
        # A server may have acted on what it got, but to ask is harmless.
        ended = "unknown" if exc.was_sent and method != "GET" else "failed"
        return ToolOutcome(ended=ended, error={"code": exc.code, "message": exc.message})
    return ToolOutcome(result=_told(answer, params.get("offset", 0), params.get("limit", SHOWN_LIMIT_BYTES)))


def _told(answer: Answer, offset: int, limit: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "status": answer.status,
        "url": answer.url,
        "headers": dict(answer.headers),
        "size": len(answer.body),
    }
    kept = answer.body[offset : offset + limit]
    told["truncated"] = offset + len(kept) < len(answer.body)
    if told["truncated"]:
        told["next_offset"] = offset + len(kept)
    text = _text(kept, answer.headers.get("content-type", ""), is_cut=len(kept) < len(answer.body))
    return told | ({"body": text} if text is not None else {"body_base64": base64.b64encode(kept).decode("ascii")})


def _text(body: bytes, content_type: str, *, is_cut: bool) -> str | None:
    """Read a body as text in the encoding that it names; None for what is none."""
    charset = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \"'") or "utf-8"
    try:
        return body.decode(charset if charset.isascii() else "utf-8", "ignore" if is_cut else "strict")
    except (UnicodeError, LookupError, ValueError):
        return None

"""What OpenClaw Gateways send, read once. Facts of session, channel and sender are the gateway's claims."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from apps.accounts.access import Permission
from apps.audit.chain import storable_text
from apps.firewall.engine.unknown_facts import FACTS
from apps.gateway.database import in_database
from apps.gateway.runtime_api.http import Problem, mistakes
from apps.gateway.runtime_api.reading import Asker, Details, read_asker, require, whole_number
from apps.gateway.tokens import TokenGrant
from apps.openclaw_gateways.alarms import Ungoverned
from apps.openclaw_gateways.calls import Question, Report
from apps.openclaw_gateways.models import OpenClawGateway
from apps.openclaw_gateways.selectors import gateway_of_token
from apps.openclaw_gateways.services import Heartbeat

WAIT_LIMIT_MS = 25_000
PERSON_LIMIT_S = 570
TEXT_LIMIT = 300
MESSAGE_LIMIT = 4_000
FACT_LIMIT = 512
MEANT = ("agent", "session", "context", "tool", "tool_kind", "params", "run", "tool_call", "boot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it was sent.

    Args:
        wait_ms: how long the gateway wants to wait for this answer.
        person_s: how long it will wait for a person in all.
        tool_kind: what the gateway says the tool is, where its params are not those of its name.
        known: facts of the context that the gateway knows: a member that is null is one of which it knows that there
            is none, one that is missing it never heard of.
    """

    question: Question
    asker: Asker
    params: dict[str, Any]
    tool_kind: str
    known: list[str]
    wait_ms: int
    person_s: int


async def gateway_of(grant: TokenGrant) -> OpenClawGateway:
    """Find the gateway that a request comes from.

    Raises:
        PermissionDeniedError: the token is none of a gateway's.
        Problem: 404, it has no gateway, or that was revoked.
    """
    require(grant, Permission.GATEWAY_CALLS)
    found = await in_database(gateway_of_token, grant.token_id)
    if found is None:
        raise Problem(404, "gateway_not_found", "this token belongs to no gateway, or to one that was revoked")
    return found


def read_asked(grant: TokenGrant, body: dict[str, Any]) -> Asked:
    """Read a question.

    Raises:
        Problem: 422, it has mistakes.
    """
    details: Details = []
    asker = read_asker(grant, body, details)
    params = body.get("params", {})
    if not isinstance(params, dict):
        details.append({"path": "params", "code": "invalid", "message": "`params` must be an object"})
    texts = {name: _text(body, name, details) for name in ("boot", "run", "tool_call", "tool_kind")}
    texts["key"] = own_name(body, "key", details)
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    person_s = whole_number(body.get("person_s"), "person_s", details, default=PERSON_LIMIT_S, maximum=PERSON_LIMIT_S)
    if asker is not None:
        _check_texts(asker, details)
    if details or asker is None:
        raise mistakes(details)
    known = sorted(FACTS.intersection(body.get("context") or ()))
    meant = {name: body.get(name) for name in MEANT}
    question = Question(
        key=texts["key"],
        body_digest=hashlib.sha256(orjson.dumps(meant, option=orjson.OPT_SORT_KEYS)).hexdigest(),
        boot=texts["boot"][:64],
        run=texts["run"][:200],
        tool_call=texts["tool_call"],
        tool=asker.tool,
        agent=asker.agent,
        session_key=asker.context.session_key or "",
        channel=asker.context.channel or "",
        members=tuple(params),
        context={"context": asker.context.to_json(), "known": known},
    )
    return Asked(
        question=question,
        asker=asker,
        params=params,
        tool_kind=texts["tool_kind"],
        known=known,
        wait_ms=wait_ms,
        person_s=person_s,
    )


def read_report(body: dict[str, Any]) -> Report:
    """Read how a call ended.

    Raises:
        Problem: 422, it has mistakes.
    """
    details: Details = []
    is_error, result = body.get("is_error"), body.get("result")
    if not isinstance(is_error, bool):
        details.append({"path": "is_error", "code": "invalid", "message": "`is_error` must be true or false"})
    if result is not None and not isinstance(result, dict):
        details.append({"path": "result", "code": "invalid", "message": "`result` must be an object"})
    error = _text(body, "error", details, limit=MESSAGE_LIMIT)
    if details:
        raise mistakes(details)
    return Report(is_error=bool(is_error), result=result, error=error)


def read_ungoverned(body: dict[str, Any]) -> Ungoverned:
    """Read what a gateway tells of a call that was never asked about. What cannot be read is kept as it may be."""
    params, result = body.get("params"), body.get("result")
    return Ungoverned(
        tool=loose_text(body, "tool") or "(unnamed)",
        agent=loose_text(body, "agent"),
        session_key=loose_text(body, "session"),
        run=loose_text(body, "run")[:200],
        tool_call=loose_text(body, "tool_call"),
        seen_by=loose_text(body, "seen_by"),
        params=params if isinstance(params, dict) else {},
        result=result if isinstance(result, dict) else None,
        error=loose_text(body, "error", MESSAGE_LIMIT),
        is_unknown_tool=body.get("is_unknown_tool") is True,
    )


def read_beat(body: dict[str, Any]) -> Heartbeat:
    """Read a heartbeat.

    Raises:
        Problem: 422, it has mistakes.
    """
    details: Details = []
    boot = own_name(body, "boot", details)
    versions = {name: _text(body, name, details) for name in ("openclaw", "plugin", "node")}
    facts = body.get("facts", [])
    if not isinstance(facts, list) or not all(isinstance(each, str) for each in facts):
        details.append({"path": "facts", "code": "invalid", "message": "`facts` must be a list of texts"})
        facts = []
    if details:
        raise mistakes(details)
    return Heartbeat(boot=boot, facts=tuple(sorted(FACTS.intersection(facts))), **versions)


def _check_texts(asker: Asker, details: Details) -> None:
    """Refuse texts of the context that are too long, or that no record can keep."""
    for name, value in asker.context.to_json().items():
        if isinstance(value, str) and (len(value) > FACT_LIMIT or "\0" in value):
            message = f"`context.{name}` must be a text of at most {FACT_LIMIT} characters"
            details.append({"path": f"context.{name}", "code": "invalid", "message": message})


def own_name(body: Mapping[str, Any], name: str, details: Details, *, path: str = "") -> str:
    """Read the gateway's own name for a call or for its process.

    Args:
        path: where it stands in what was sent; `name` where that is empty.
    """
    value = body.get(name)
    if isinstance(value, str) and 8 <= len(value) <= 64 and value == storable_text(value):
        return value
    message = f"`{path or name}` must be a text of 8 to 64 characters"
    details.append({"path": path or name, "code": "invalid", "message": message})
    return ""


def loose_text(body: Mapping[str, Any], name: str, limit: int = TEXT_LIMIT) -> str:
    """Read a text as far as it is one that can be stored; empty where it is none."""
    value = body.get(name)
    return storable_text(value[:limit]) if isinstance(value, str) else ""


def _text(body: Mapping[str, Any], name: str, details: Details, *, limit: int = TEXT_LIMIT) -> str:
    value = body.get(name)
    if value is None:
        return ""
    if isinstance(value, str) and len(value) <= limit and "\0" not in value:
        return value
    message = f"`{name}` must be a text of at most {limit} characters"
    details.append({"path": name, "code": "invalid", "message": message})
    return ""

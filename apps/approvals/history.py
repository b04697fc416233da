"""Hints for the person who is asked that only the past can give, each with its evidence: a count and the last time."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from apps.approvals.drafts import ApprovalDraft
from apps.audit.history import PastLines, past_lines, sender_is_known

HOSTS_LIMIT: Final = 5
TEXT_LIMIT: Final = 120
VERB: Final = re.compile(r"[a-z]{1,24}(-[a-z]{1,24}){0,3}")
Hint = dict[str, Any]


def history_hints(draft: ApprovalDraft, *, command: str, evidence: Sequence[Hint], at: datetime) -> list[Hint]:
    """Compare a request with the ledger: at most two bounded reads, once, when it is asked.

    Args:
        command, evidence: masked, as people see them and as the ledger keeps them.
    Returns:
        `host_new` or `host_seen` for each host of the line, `shape_denied` or `shape_seen` for its first words, and
        `sender_new`; those that were seen have `count` and `last`.
    """
    return [*_of_the_line(draft, command, evidence, at), *_of_the_sender(draft, at)]


def _of_the_line(draft: ApprovalDraft, command: str, evidence: Sequence[Hint], at: datetime) -> list[Hint]:
    if not draft.agent or not command.strip():
        return []
    named = [str(item["text"]) for item in evidence if item.get("code") == "network" and "." in str(item.get("text"))]
    hosts = list(dict.fromkeys(named))[:HOSTS_LIMIT]
    past = past_lines(
        environment=draft.environment.slug,
        agent=draft.agent,
        tool=draft.tool,
        until=at,
        apart_from=draft.call_id,
        line=command,
        holding=hosts,
    )
    return [*(_host(past, host) for host in hosts), _shape(past, shape_of(command))]


def _host(past: PastLines, host: str) -> Hint:
    names = re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", re.IGNORECASE)
    seen = [each for each in past.holding if names.search(each.command)]
    return _told("host_seen", host, len(seen), seen[0].at) if seen else {"code": "host_new", "text": host}


def _shape(past: PastLines, shape: str) -> Hint:
    if past.denied:
        return _told("shape_denied", shape, past.denied, past.denied_last) | {"of": past.alike}
    return _told("shape_seen", shape, past.alike, past.last) if past.alike else {"code": "shape_new", "text": shape}


def shape_of(command: str) -> str:
    """Tell the shape of a line: its program, and the verb that follows where one does."""
    words = command.split(maxsplit=2)[:2]
    return " ".join(word for at, word in enumerate(words) if at == 0 or VERB.fullmatch(word))[:TEXT_LIMIT]


def _of_the_sender(draft: ApprovalDraft, at: datetime) -> list[Hint]:
    if not draft.sender or sender_is_known(
        environment=draft.environment.slug,
        channel=draft.channel,
        sender=draft.sender,
        until=at,
        apart_from=draft.call_id,
    ):
        return []
    return [{"code": "sender_new", "text": (draft.sender_name or draft.sender)[:TEXT_LIMIT]}]


def _told(code: str, text: str, count: int, last: datetime | None) -> Hint:
    return {"code": code, "text": text, "count": count, "last": None if last is None else last.isoformat()}

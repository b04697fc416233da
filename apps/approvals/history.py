"""Hints for the person who is asked that only the past can give, each with its evidence: a count and the last time."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from apps.approvals.drafts import ApprovalDraft
from apps.audit.history import PastCommand, past_commands, sender_is_known

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
    past = past_commands(
        environment=draft.environment.slug, agent=draft.agent, tool=draft.tool, until=at, apart_from=draft.call_id
    )
    hosts = [str(item["text"]) for item in evidence if item.get("code") == "network" and "." in str(item.get("text"))]
    found = [_host(past, host) for host in list(dict.fromkeys(hosts))[:HOSTS_LIMIT]]
    return [*found, *_shape(past, shape_of(command))]


def _host(past: Sequence[PastCommand], host: str) -> Hint:
    names = re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", re.IGNORECASE)
    seen = _those(past, lambda line: names.search(line) is not None)
    return _told("host_seen", host, seen) if seen else {"code": "host_new", "text": host}


def _shape(past: Sequence[PastCommand], shape: str) -> list[Hint]:
    alike = _those(past, lambda line: shape_of(line) == shape)
    denied = [each for each in alike if each.is_denied]
    if denied:
        return [_told("shape_denied", shape, denied) | {"of": len(alike)}]
    return [_told("shape_seen", shape, alike)] if alike else [{"code": "shape_new", "text": shape}]


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


def _those(past: Sequence[PastCommand], fits: Callable[[str], bool]) -> list[PastCommand]:
    return [each for each in past if fits(each.command)]


def _told(code: str, text: str, seen: Sequence[PastCommand]) -> Hint:
    return {"code": code, "text": text, "count": len(seen), "last": seen[0].at.isoformat()}

"""From what a tool returned to what callers get and what the record keeps."""

import hashlib
import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from apps.firewall.redaction import MaskNote, mask_text, mask_value
from apps.firewall.redaction.masks import MASK, MASK_START
from apps.firewall.runtime.results.cutting import Cut, bytes_of, characters_of, cut_to_bytes, cut_value
from apps.firewall.runtime.results.media import take_media
from apps.firewall.runtime.results.rules import ResultRules
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.running import ToolOutcome

OVERLAP: Final = 8192
"""Characters behind the end that are masked too and then dropped: longer than a secret that only its end gives away."""
MESSAGE_LIMIT: Final = 2_000
GoOn = Callable[[], str]


def no_way_on() -> str:
    """Say nothing of how to go on."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """An outcome without secrets and within its limits.

    Args:
        sent: what callers get.
        kept: the result as the record keeps it: more of its text, none of its images and files.
        notes: what was masked in it.
        facts: `characters` of the whole, `shown` and `limit` in characters, `truncated`, `size_bytes` of its JSON,
            `go_on` where the cut says how, `kept_bytes` where the record keeps less, `digest` of the whole by the
            installation's key, `masked`, and `media` when there are images or files.
    """

    sent: ToolOutcome
    kept: JsonObject | None = None
    notes: tuple[MaskNote, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_less(self) -> bool:
        """Say whether callers or the record get less than the tool gave."""
        return bool(self.facts.get("truncated")) or "digest" in self.facts


def settle(
    outcome: ToolOutcome, rules: ResultRules, *, limit: int, sensitive: Collection[str] = (), go_on: GoOn = no_way_on
) -> Settled:
    """Mask an outcome and cut it, for callers and for the record.

    Masking comes before cutting: a secret that lies across the end is seen whole. What lies far behind it is not
    looked at.

    Args:
        outcome: as JSON can carry it (`executors.sendable`).
        limit: characters that callers get of `content`, and as many of everything else.
        sensitive: names of fields that the tool declares secret.
        go_on: says how to get what is cut; asked where something is.
    Raises:
        TypeError: the result is no JSON.
    """
    error = None if outcome.error is None else _error(outcome.error, rules)
    if outcome.result is None:
        return Settled(sent=replace(outcome, error=error))
    whole = orjson.dumps(outcome.result)
    taken = take_media(outcome.result, lambda text: mask_text(text, key=rules.key).text)
    plain = taken.result
    size, masked, notes = _masked(plain, rules, max(limit, rules.kept_bytes), sensitive)
    kept = _kept(masked, plain, rules.kept_bytes)
    shown = shown_of(masked, limit, whole=plain, go_on=go_on)
    facts: dict[str, Any] = {
        "characters": size,
        "shown": shown.kept,
        "limit": limit,
        "truncated": shown.is_cut,
        "size_bytes": len(whole),
        "masked": len(notes),
        **({"go_on": go_on()} if shown.is_cut and go_on() else {}),
        **({"media": len(taken.bytes_by_place)} if taken.bytes_by_place else {}),
    }
    if kept.is_cut or taken.bytes_by_place:
        digest = hmac.digest(rules.key, whole, hashlib.sha256).hex()
        facts |= {"kept_bytes": kept.kept, "digest": digest}
    sent = replace(outcome, result=taken.put_back(shown.value), error=error)
    return Settled(sent=sent, kept=kept.value, notes=notes, facts=facts)


def _masked(
    plain: JsonObject, rules: ResultRules, room: int, sensitive: Collection[str]
) -> tuple[int, dict[str, Any], tuple[MaskNote, ...]]:
    """Mask as much of a value as anybody gets, and what lies across its end."""
    size = characters_of(plain)
    head = cut_value(plain, room + OVERLAP, size=size, states=False)
    masked = mask_value(head.value, key=rules.key, sensitive_fields=sensitive, path="result")
    if not head.is_cut:
        return size, masked.value, masked.notes
    # A secret that the end of the head cuts in two cannot be told from text: the last part is for looking only.
    behind = 0 if _ends_masked(masked.value) else OVERLAP
    safe = max(1, characters_of(masked.value) - behind)
    return size, cut_value(masked.value, min(room, safe), states=False).value, masked.notes


def _ends_masked(value: Any) -> bool:
    """Say whether the last thing in a value is a mask: nothing of what it covers is left to be seen."""
    while isinstance(value, Mapping | list) and value:
        value = value[-1] if isinstance(value, list) else list(value.values())[-1]
    at = value.rfind(MASK_START) if isinstance(value, str) else -1
    return at >= 0 and MASK.fullmatch(value, at) is not None


def _kept(masked: JsonObject, plain: JsonObject, limit_bytes: int) -> Cut:
    size = bytes_of(plain)
    if size <= limit_bytes:
        return Cut(masked, size, size)
    return cut_to_bytes(masked, limit_bytes, size=size)


def shown_of(masked: JsonObject, limit: int, *, whole: JsonObject | None = None, go_on: GoOn = no_way_on) -> Cut:
    """Cut what models read and what programs read beside it, each by itself: the one must not cost the other.

    Args:
        masked: what is left of a result.
        whole: what it was before, whose size is told; `masked` itself when absent.
    """
    plain = masked if whole is None else whole
    if not isinstance(plain.get("content"), list):
        return _part(masked, plain, limit, go_on)
    parts = [
        _part(
            {name: value for name, value in masked.items() if (name == "content") is is_content},
            {name: value for name, value in plain.items() if (name == "content") is is_content},
            limit,
            go_on,
        )
        for is_content in (True, False)
    ]
    members = {name: value for part in parts for name, value in part.value.items()}
    ordered = {name: members[name] for name in masked if name in members} | members
    return Cut(ordered, sum(part.size for part in parts), sum(part.kept for part in parts))


def _part(masked: JsonObject, plain: JsonObject, limit: int, go_on: GoOn) -> Cut:
    size = characters_of(plain)
    if size <= limit:
        return Cut(masked, size, size)
    return cut_value(masked, limit, size=size, go_on=go_on())


def _error(error: Mapping[str, str], rules: ResultRules) -> dict[str, str]:
    masked = {name: mask_text(str(text)[: 2 * MESSAGE_LIMIT], key=rules.key).text for name, text in error.items()}
    return masked | {"code": str(error["code"]), "message": masked["message"][:MESSAGE_LIMIT]}

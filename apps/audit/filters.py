"""What a person or program may look for, and how it is written in a URL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from apps.audit.chain import storable_text
from apps.audit.errors import FilterError
from apps.firewall.identifiers import read_id

SEARCH_LIMIT = 500
EARLIEST_YEAR, LATEST_YEAR = 2000, 2200
ID_PREFIXES = {"call_id": "call", "approval_id": "ap"}
_FIELD_TERM = re.compile(
    r"(?P<name>tool|agent|session|sender|channel|status|layer|kind|decision|actor|rule|trace|snapshot)"
    r":(?P<value>\"[^\"]*\"|\S+)"
)
_TERM_NAMES = {"session": "session_key", "trace": "trace_id", "snapshot": "snapshot_digest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilters:
    """What to look for; an empty member filters nothing. Lists mean "any of these".

    Args:
        environment: slug.
        kind: kinds of entries; of calls those that have such an entry.
        status: of a call ("completed", "failed", "unknown", "denied", "expired", "awaiting_approval", "running"), or
            the entry's own.
        layer: key of the layer that decided; `rule` is the path of its rule.
        duration_min, duration_max: milliseconds that the call took; both are included.
        text: words, all of which occur in what a call was asked, gave and failed with; the last letters of a word may
            be missing.
        since, until: aware instants; since is included, until is not.
    """

    environment: str = ""
    kind: tuple[str, ...] = ()
    actor: str = ""
    agent: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    decision: tuple[str, ...] = ()
    layer: tuple[str, ...] = ()
    sender: str = ""
    channel: str = ""
    session_key: tuple[str, ...] = ()
    rule: str = ""
    snapshot_digest: str = ""
    trace_id: str = ""
    duration_min: int | None = None
    duration_max: int | None = None
    call_id: UUID | None = None
    approval_id: UUID | None = None
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "EntryFilters":
        """Read filters from the parameters of a URL or the members of JSON. Unknown names are ignored.

        Args:
            given: values are text or lists of text; with a `getlist` (Django's QueryDict) repeated names count.
        Raises:
            FilterError: names each value that cannot be read.
        """
        values: dict[str, Any] = {}
        mistakes: list[dict[str, str]] = []
        for field in fields(cls):
            texts = _texts(given, field.name)
            if not texts:
                continue
            try:
                values[field.name] = _value(field.name, texts)
            except ValueError as exc:
                mistakes.append({"path": field.name, "code": "invalid", "message": f"{field.name}: {exc}"})
        if mistakes:
            raise FilterError(mistakes)
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """Write what is set, as `read` reads it."""
        written = {field.name: _written(getattr(self, field.name)) for field in fields(self)}
        return {name: value for name, value in written.items() if value not in ("", [], None)}

    def with_search(self, search: str) -> "EntryFilters":
        """Add what a person typed into the search box: an id, `tool:exec agent:bot` terms, words."""
        added: dict[str, Any] = {}
        search = storable_text(search)[:SEARCH_LIMIT]
        for match in _FIELD_TERM.finditer(search):
            name = _TERM_NAMES.get(match["name"], match["name"])
            value = match["value"].strip('"')
            added[name] = (*added.get(name, ()), value) if name in LISTS else value
        words = []
        for word in _FIELD_TERM.sub(" ", search).split():
            field_name = next((name for name, prefix in ID_PREFIXES.items() if _is_id(prefix, word)), None)
            if field_name is None:
                words.append(word)
            else:
                added[field_name] = read_id(ID_PREFIXES[field_name], word)
        return replace(self, **added, text=" ".join([self.text, *words]).strip())


LISTS = frozenset({"kind", "agent", "tool", "status", "decision", "layer", "session_key"})
INSTANTS = frozenset({"since", "until"})
DURATIONS = frozenset({"duration_min", "duration_max"})
DURATION_LIMIT_MS = 2**40


def _texts(given: Mapping[str, Any], name: str) -> list[str]:
    values = given.getlist(name) if hasattr(given, "getlist") else given.get(name, [])
    if isinstance(values, str):
        values = [values]
    texts = [storable_text(str(value)).strip() for value in values or []]
    return [text for text in texts if text]


def _value(name: str, texts: list[str]) -> Any:
    if name in LISTS:
        return tuple(texts)
    text = texts[-1]
    if name in ID_PREFIXES:
        return _read_uuid(ID_PREFIXES[name], text)
    if name in INSTANTS:
        return _read_instant(text)
    if name in DURATIONS:
        return _read_duration(text)
    if len(text) > SEARCH_LIMIT:
        raise ValueError(f"longer than {SEARCH_LIMIT} characters")
    return text


def _read_uuid(prefix: str, text: str) -> UUID:
    if _is_id(prefix, text):
        return read_id(prefix, text)
    try:
        return UUID(text)
    except ValueError:
        raise ValueError(f"`{text}` is not an identifier") from None


def _read_duration(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 13 or int(text) > DURATION_LIMIT_MS:
        raise ValueError(f"`{text[:40]}` is not a number of milliseconds")
    return int(text)


def _read_instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"`{text}` is not a date or time of ISO 8601") from None
    if not EARLIEST_YEAR <= at.year <= LATEST_YEAR:
        raise ValueError(f"`{text}` is not between {EARLIEST_YEAR} and {LATEST_YEAR}")
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _is_id(prefix: str, text: str) -> bool:
    try:
        read_id(prefix, text)
    except ValueError:
        return False
    return True


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, UUID) else value

"""What a person or program may look for, and how it is written in a URL."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from apps.accounts.access import Principal, bound_of, require_agents
from apps.audit.chain import storable_text
from apps.audit.drafts import EntryKind
from apps.audit.errors import FilterError
from apps.firewall.engine.subjects import kept_name, tool_spellings
from apps.firewall.identifiers import read_id
from apps.firewall.tools.members import unknown_member
from apps.firewall.tools.near import did_you_mean

SEARCH_LIMIT = 500
EARLIEST_YEAR, LATEST_YEAR = 2000, 2200
ID_PREFIXES = {"call_id": "call", "approval_id": "ap"}
_FIELD_TERM = re.compile(
    r"(?<!\S)(?:(?P<name>tool|agent|session|sender|channel|status|layer|kind|decision|actor|rule|trace|snapshot)"
    r":(?P<value>\"[^\"]*\"|\S+)|\"(?P<quoted>[^\"]*)\")"
)
UUID_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
WORDS: Mapping[str, frozenset[str]] = {
    "kind": frozenset(EntryKind),
    "decision": frozenset({"allow", "ask", "deny"}),
}
"""Filters whose words are known in full; those of `status` the ledger itself knows."""
_TERM_NAMES = {"session": "session_key", "trace": "trace_id", "snapshot": "snapshot_digest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilters:
    """What to look for; an empty member filters nothing. Lists mean "any of these".

    Args:
        environment: slug.
        kind: kinds of entries; of calls those that have such an entry.
        status: of a call ("completed", "failed", "unknown", "denied", "joined", "expired", "awaiting_approval",
            "running"), or the entry's own.
        layer: key of the layer that decided; `rule` is the path of its rule.
        duration_min, duration_max: milliseconds that the call took; both are included.
        text: words, all of which occur in what a call was asked, gave and failed with; the last letters of a word may
            be missing.
        actor: as the ledger has it ("token:tok_…", "user:ann"), or a name: of a person, a token, an agent.
        since, until: aware instants; since is included, until is not. As text a date means its whole day.
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
    def read(cls, given: Mapping[str, Any], *, zone: tzinfo = UTC) -> "EntryFilters":
        """Read filters from the parameters of a URL or the members of JSON.

        Args:
            given: values are text or lists of text; with a `getlist` (Django's QueryDict) repeated names count, and
                names that are no filter are its reader's matter.
            zone: of instants and dates that say none.
        Raises:
            FilterError: names each value that cannot be read, and each member of JSON that is no filter.
        """
        values: dict[str, Any] = {}
        strangers = () if hasattr(given, "getlist") else sorted(given.keys() - NAMES)
        mistakes = [unknown_member("", name, NAMES) for name in strangers]
        for field in fields(cls):
            texts = _texts(given, field.name)
            if not texts:
                continue
            try:
                values[field.name] = _value(field.name, texts, zone)
            except ValueError as exc:
                mistakes.append(_mistake(field.name, str(exc)))
        mistakes += _reversed(values)
        if mistakes:
            raise FilterError(mistakes)
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """Write what is set, as `read` reads it."""
        written = {field.name: _written(getattr(self, field.name)) for field in fields(self)}
        return {name: value for name, value in written.items() if value not in ("", [], None)}

    def with_search(self, search: str) -> "EntryFilters":
        """Add what a person typed into the search box: an id, `tool:exec agent:bot` terms, words.

        It narrows what is filtered already, and never widens it. Text in quotes is text, whatever it looks like.

        Raises:
            FilterError: a term has a word that does not exist.
        """
        added: dict[str, Any] = {}
        search = storable_text(search)[:SEARCH_LIMIT]
        words = []
        for match in _FIELD_TERM.finditer(search):
            if match["name"] is None:
                words.append(match["quoted"])
                continue
            name = _TERM_NAMES.get(match["name"], match["name"])
            kept = _as_kept(name, [match["value"].strip('"')])
            added[name] = (*added.get(name, ()), *kept) if name in LISTS else kept[0]
        mistakes = [_mistake(name, problem) for name, value in added.items() for problem in _unknown_words(name, value)]
        if mistakes:
            raise FilterError(mistakes)
        for word in _FIELD_TERM.sub(" ", search).split():
            found = _id_in(word)
            if found is None:
                words.append(word)
            else:
                added |= found
        return replace(self, **self._narrowed(added), text=" ".join([self.text, *words]).strip())

    def _narrowed(self, added: Mapping[str, Any]) -> dict[str, Any]:
        """Join values with those of this filter; what excludes each other finds the call that there is not."""
        joined = {}
        for name, value in added.items():
            mine = getattr(self, name)
            if mine in ("", (), None) or mine == value:
                joined[name] = value
            elif name in LISTS and (both := tuple(each for each in mine if each in value)):
                joined[name] = both
            else:
                joined["call_id"] = NO_CALL
        return {**joined, "call_id": NO_CALL} if joined.get("call_id") == NO_CALL else joined


NAMES = frozenset(field.name for field in fields(EntryFilters))
NO_CALL = UUID(int=0)
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


def _as_kept(name: str, texts: Sequence[str]) -> list[str]:
    """Spell names as entries may have them."""
    if name == "tool":
        spelt = [each for text in texts for each in tool_spellings(text)]
    elif name == "agent":
        spelt = [*(kept_name("agent", text) for text in texts), *texts]
    else:
        spelt = [kept_name("channel", text) for text in texts] if name == "channel" else list(texts)
    return list(dict.fromkeys(spelt))


def _mistake(name: str, problem: str) -> dict[str, str]:
    return {"path": name, "code": "invalid", "message": f"{name}: {problem}"}


def _reversed(values: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for low, high in (("since", "until"), ("duration_min", "duration_max")):
        if low in values and high in values and values[low] > values[high]:
            yield _mistake(high, f"lies before `{low}`")


def _unknown_words(name: str, words: Sequence[str]) -> Iterator[str]:
    """Say of each word that the filter does not have what it has."""
    known = WORDS.get(name, frozenset())
    for word in words if known else ():
        if word not in known:
            listed = ", ".join(sorted(known))
            yield f"no {name} is named `{word[:40]}`{did_you_mean(word, sorted(known))}: there are {listed}"


def _value(name: str, texts: list[str], zone: tzinfo) -> Any:
    if name in LISTS:
        for problem in _unknown_words(name, texts):
            raise ValueError(problem)
        return tuple(_as_kept(name, texts))
    text = _as_kept(name, texts)[-1]
    if name in ID_PREFIXES:
        return _read_uuid(ID_PREFIXES[name], text)
    if name in INSTANTS:
        return _read_instant(text, zone, is_end=name == "until")
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


def _read_instant(text: str, zone: tzinfo, *, is_end: bool) -> datetime:
    """Read an instant; a date is the beginning of its day, or as an end the beginning of the next."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"`{text}` is not a date or time of ISO 8601") from None
    if not EARLIEST_YEAR <= at.year <= LATEST_YEAR:
        raise ValueError(f"`{text}` is not between {EARLIEST_YEAR} and {LATEST_YEAR}")
    if is_end and _is_date(text):
        at += timedelta(days=1)
    return at.replace(tzinfo=zone).astimezone(UTC) if at.tzinfo is None else at


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _id_in(word: str) -> dict[str, UUID] | None:
    """Read the id of a call or an approval from a word: as pages show it, or a call's as a plain UUID."""
    for name, prefix in ID_PREFIXES.items():
        if _is_id(prefix, word):
            return {name: read_id(prefix, word)}
    return {"call_id": UUID(word)} if UUID_TEXT.fullmatch(word) else None


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


def filters_within(by: Principal, filters: EntryFilters) -> EntryFilters:
    """Hold filters to the agents that a token is bound to.

    Raises:
        PermissionDeniedError: they ask for another agent.
    """
    bound = bound_of(by)
    if not bound:
        return filters
    if filters.agent:
        require_agents(by, filters.agent)
        return filters
    return replace(filters, agent=tuple(sorted(bound)))

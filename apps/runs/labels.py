"""Labelled queries: what people say that a query means. Search is measured with them; they change no search."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.audit.chain import storable_text
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.tools.near import did_you_mean
from apps.policies.selectors import live_snapshot
from apps.registry.models import Environment
from apps.runs.errors import LabelError
from apps.runs.models import SearchLabel

By = Principal | None
"""A person, a token, or None for the system itself."""

QUERY_LETTERS: Final = 512
TOOLS_MOST: Final = 20
LABELS_MOST: Final = 2_000
LINE_LETTERS: Final = 16_384
MEMBERS: Final = frozenset({"query", "tools"})


def labels_of(environment: Environment) -> list[SearchLabel]:
    """List an environment's labelled queries, the newest first."""
    return list(SearchLabel.objects.filter(environment=environment)[:LABELS_MOST])


def label_find(environment: Environment, label_id: UUID) -> SearchLabel | None:
    return SearchLabel.objects.select_related("environment").filter(environment=environment, pk=label_id).first()


def label_add(environment: Environment, query: str, tools: Sequence[str], *, by: By, at: datetime) -> SearchLabel:
    """Keep that a query means some tools, beside those that it is known to mean. Harmless to repeat.

    Args:
        tools: their names, as they are live.
    Raises:
        PermissionDeniedError: `by` may not change policy.
        LabelError: names every mistake; nothing was kept.
    """
    _allow(by)
    query, names = _read(query, tools, _known(environment), place="")
    with transaction.atomic():
        _lock(environment)
        label, is_changed = _kept(environment, query, names, by=by, at=at)
        _check_count(environment)
        if is_changed:
            _tell(environment, by, "added", {"query": label.query, "tools": label.tools})
    return label


def label_remove(label: SearchLabel, *, by: By) -> None:
    """Forget a labelled query. Harmless to repeat.

    Raises:
        PermissionDeniedError: `by` may not change policy.
    """
    _allow(by)
    with transaction.atomic():
        removed, _rows = SearchLabel.objects.filter(pk=label.pk).delete()
        if removed:
            _tell(label.environment, by, "removed", {"query": label.query, "tools": label.tools})


def labels_export(environment: Environment) -> Iterator[str]:
    """Write each labelled query as one line of JSON, the oldest first."""
    for label in reversed(labels_of(environment)):
        yield json.dumps({"query": label.query, "tools": label.tools}, ensure_ascii=False)


def labels_import(environment: Environment, lines: Iterable[str], *, by: By, at: datetime) -> int:
    """Add the labelled queries of lines as `labels_export` writes them: all or, where one has a mistake, none.

    Returns:
        How many queries mean something that they did not mean before.
    Raises:
        PermissionDeniedError: `by` may not change policy.
        LabelError: names every mistake with its line.
    """
    _allow(by)
    known = _known(environment)
    details: list[dict[str, str]] = []
    wanted: list[tuple[str, tuple[str, ...]]] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                wanted.append(_read_line(line, known, place=f"line {number}"))
            except LabelError as exc:
                details += exc.details
    if details:
        raise LabelError(_("the labelled queries have mistakes"), details)
    with transaction.atomic():
        _lock(environment)
        moments = (at + timedelta(microseconds=place) for place in count())  # the order of the lines is kept
        made = [_kept(environment, *each, by=by, at=moment) for each, moment in zip(wanted, moments, strict=False)]
        _check_count(environment)
        changed = sum(is_changed for _label, is_changed in made)
        if changed:
            _tell(environment, by, "imported", {"count": changed})
    return changed


def _kept(
    environment: Environment, query: str, tools: Sequence[str], *, by: By, at: datetime
) -> tuple[SearchLabel, bool]:
    label, is_new = SearchLabel.objects.get_or_create(
        environment=environment,
        query=query,
        defaults={"tools": list(tools), "added_by": actor_of(by), "added_at": at},
    )
    together = list(dict.fromkeys([*label.tools, *tools]))
    if len(together) > TOOLS_MOST:
        raise _wrong("tools", "max_items_violation", _("a query means at most %(most)s tools") % {"most": TOOLS_MOST})
    if together == label.tools:
        return label, is_new
    label.tools = together
    label.save(update_fields=["tools"])
    return label, True


def _read_line(line: str, known: Collection[str], *, place: str) -> tuple[str, tuple[str, ...]]:
    try:
        said: Any = json.loads(line) if len(line) <= LINE_LETTERS else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.keys() - MEMBERS or not isinstance(said.get("query"), str):
        raise _wrong(place, "invalid", _("must be an object with `query` and `tools`"))
    tools = said.get("tools")
    if not isinstance(tools, list) or not all(isinstance(each, str) for each in tools):
        raise _wrong(f"{place}.tools", "invalid", _("must be a list of names"))
    return _read(said["query"], tools, known, place=f"{place}.")


def _read(query: str, tools: Sequence[str], known: Collection[str], *, place: str) -> tuple[str, tuple[str, ...]]:
    """Read a query and its tools; the blanks of a query count once."""
    query = " ".join(storable_text(query).split())
    names = tuple(dict.fromkeys(name for name in (each.strip() for each in tools) if name))
    details: list[dict[str, str]] = []
    if not 0 < len(query) <= QUERY_LETTERS:
        message = _("must have 1 to %(most)s characters") % {"most": QUERY_LETTERS}
        details.append({"path": f"{place}query", "code": "invalid", "message": message})
    if not 0 < len(names) <= TOOLS_MOST:
        message = _("must name 1 to %(most)s tools") % {"most": TOOLS_MOST}
        details.append({"path": f"{place}tools", "code": "invalid", "message": message})
    else:
        details += [_unknown(name, known, place) for name in names if name not in known]
    if details:
        raise LabelError(_("the labelled query has mistakes"), details)
    return query, names


def _unknown(name: str, known: Collection[str], place: str) -> dict[str, str]:
    message = _("no tool named `%(name)s` is live%(hint)s") % {
        "name": storable_text(name[:QUERY_LETTERS]),
        "hint": did_you_mean(name, sorted(known)),
    }
    return {"path": f"{place}tools", "code": "tool_unknown", "message": message}


def _known(environment: Environment) -> frozenset[str]:
    live = live_snapshot(environment)
    return frozenset() if live is None else frozenset(live.tool_names)


def _allow(by: By) -> None:
    if by is not None:
        require(by, Permission.POLICY_WRITE)


def _lock(environment: Environment) -> None:
    """Let one change of an environment's labels happen at a time: their number is bounded."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"search labels {environment.pk}"])


def _check_count(environment: Environment) -> None:
    if SearchLabel.objects.filter(environment=environment).count() > LABELS_MOST:
        message = _("an environment keeps at most %(most)s labelled queries") % {"most": LABELS_MOST}
        raise _wrong("", "too_many", message)


def _wrong(path: str, code: str, message: str) -> LabelError:
    return LabelError(message, [{"path": path, "code": code, "message": message}])


def _tell(environment: Environment, by: By, status: str, changes: dict[str, Any]) -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.SEARCH_LABEL,
            actor=actor_of(by),
            environment=environment.slug,
            status=status,
            changes=changes,
        )
    )

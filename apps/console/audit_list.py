"""What stands around the list of calls: choices, chips, ready-made and saved searches, columns, the time zone."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import cache
from typing import Any
from urllib.parse import urlencode
from zoneinfo import available_timezones

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from apps.audit.pictures import Bucket, Histogram
from apps.console.calls import STATUSES
from apps.console.templatetags.console import milliseconds

CHOICES: dict[str, Promise] = {
    "agent": _("Agent"),
    "tool": _("Tool"),
    "status": _("Status"),
    "channel": _("Channel"),
    "layer": _("Layer"),
}
CHIPS: dict[str, Promise] = CHOICES | {
    "decision": _("Decision"),
    "kind": _("Entry"),
    "sender": _("Sender"),
    "session_key": _("Session"),
    "actor": _("Actor"),
    "rule": _("Rule"),
    "snapshot_digest": _("Snapshot"),
    "trace_id": _("Trace"),
    "approval_id": _("Approval"),
    "call_id": _("Call"),
    "text": _("Words"),
    "q": _("Search"),
}
# Filters that are typed, behind "More filters": name, label, kind of input.
FIELDS: tuple[tuple[str, Promise, str], ...] = (
    ("since", _("From"), "datetime-local"),
    ("until", _("Until"), "datetime-local"),
    ("sender", _("Sender"), "text"),
    ("session_key", _("Session"), "text"),
    ("actor", _("Actor"), "text"),
    ("rule", _("Rule"), "text"),
    ("snapshot_digest", _("Snapshot"), "text"),
    ("trace_id", _("Trace"), "text"),
    ("approval_id", _("Approval"), "text"),
    ("duration_min", _("At least (ms)"), "number"),
    ("duration_max", _("At most (ms)"), "number"),
)
DECISIONS: dict[str, Promise] = {"allow": _("Allowed"), "deny": _("Denied"), "ask": _("Asked")}
KINDS: dict[str, Promise] = {
    "approval_asked": _("asked a person"),
    "approval_answered": _("was answered"),
    "approval_expired": _("timed out"),
    "approval_escalated": _("was escalated"),
    "approval_cancelled": _("was withdrawn"),
    "approval_superseded": _("was superseded"),
    "denial": _("was refused"),
    "grant_used": _("used a standing approval"),
    "command_ended": _("went on in the background"),
}
COLUMN_LABELS: dict[str, Promise] = {
    "agent": _("Agent"),
    "tool": _("Tool"),
    "status": _("Status"),
    "decision": _("Decision"),
    "layer": _("Layer"),
    "rule": _("Rule"),
    "duration": _("Duration"),
    "approval": _("Approval"),
    "session": _("Session"),
    "channel": _("Channel"),
    "sender": _("Sender"),
    "actor": _("Actor"),
    "snapshot": _("Snapshot"),
    "trace": _("Trace"),
}
PRESETS: tuple[tuple[Promise, str], ...] = (
    (_("All calls"), ""),
    (_("Commands"), "tool=exec"),
    (_("Failed"), "status=failed&status=unknown"),
    (_("Denied"), "status=denied"),
    (_("Waiting"), "status=awaiting_approval"),
)


def choices_of(query: QueryDict, facets: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, label in CHOICES.items():
        values = [(facet.value, facet.count, facet.value in query.getlist(name)) for facet in facets.get(name, ())]
        missing = [value for value in query.getlist(name) if value not in {facet[0] for facet in values}]
        options = [(value, None, True) for value in missing] + values
        labels = {name: kind.label for name, kind in STATUSES.items()} if name == "status" else {}
        found.append({"name": name, "label": label, "options": options, "labels": labels})
    return found


def more_choices_of(query: QueryDict) -> list[dict[str, Any]]:
    """Choices whose values are known without looking."""
    found = []
    for name, label, values in (("decision", _("Decision"), DECISIONS), ("kind", _("Entry"), KINDS)):
        options = [(value, None, value in query.getlist(name)) for value in values]
        found.append({"name": name, "label": label, "options": options, "labels": values})
    return found


def fields_of(query: QueryDict) -> list[dict[str, Any]]:
    """The typed filters, with what was typed."""
    return [
        {"name": name, "label": label, "type": kind, "value": _typed(kind, query.get(name, ""))}
        for name, label, kind in FIELDS
    ]


def _typed(kind: str, text: str) -> str:
    """Write an instant as its input takes it: in the zone in which the person reads."""
    if kind != "datetime-local" or not text:
        return text
    try:
        return f"{_aware(datetime.fromisoformat(text)):%Y-%m-%dT%H:%M:%S}"
    except (ValueError, OverflowError):
        return ""


def columns_shown(names: Sequence[str]) -> list[tuple[str, Promise]]:
    """The columns of the table after the time; a call is always named by its tool."""
    return [(name, label) for name, label in COLUMN_LABELS.items() if name in names or name == "tool"]


def bars_of(query: QueryDict, histogram: Histogram) -> list[tuple[Bucket, str]]:
    """The bars of the histogram, each with the URL of the list of its span alone."""
    step = timedelta(seconds=histogram.step_s)
    rest = _without(query, "span", "since", "until").urlencode()
    url = f"{reverse('audit')}?{rest}&" if rest else f"{reverse('audit')}?"
    bars = []
    for bucket in histogram.buckets:
        since, until = max(bucket.at, histogram.since), min(bucket.at + step, histogram.until)
        bars.append((bucket, url + urlencode({"since": since.isoformat(), "until": until.isoformat()})))
    return bars


@cache
def zones() -> tuple[str, ...]:
    return tuple(sorted(available_timezones()))


def zone_text(zone: tzinfo, at: datetime) -> str:
    """Write a time zone with how far it is from UTC: Europe/Berlin (UTC+01:00)."""
    name = str(zone)
    offset = f"{at.astimezone(zone):%z}"
    return name if name == "UTC" else f"{name} (UTC{offset[:3]}:{offset[3:]})"


def saved_of(query: QueryDict, saved: Iterable[Any], by: Any, *, may_manage: bool) -> list[dict[str, Any]]:
    """The saved searches, one's own first."""
    ordered = sorted(saved, key=lambda one: (one.owner_id != by.pk, one.name.casefold(), one.pk))
    return [
        {
            "id": one.pk,
            "name": one.name,
            "url": url_of(QueryDict(one.query)),
            "is_current": dict(QueryDict(one.query).lists()) == dict(query.lists()),
            "is_own": one.owner_id == by.pk,
            "is_shared": one.is_shared,
            "owner": str(one.owner),
            "may_remove": one.owner_id == by.pk or may_manage,
        }
        for one in ordered
    ]


def chips_of(query: QueryDict) -> list[dict[str, Any]]:
    """What is filtered, each with the URL that takes it away."""
    chips = []
    for name, label in CHIPS.items():
        if name in query:
            shown = [_shown(name, value) for value in query.getlist(name)]
            chips.append({"label": label, "value": ", ".join(shown), "url": url_of(_without(query, name))})
    for label, names, write in (
        (_("Time"), ("since", "until"), _moment),
        (_("Duration"), ("duration_min", "duration_max"), _length),
    ):
        if any(name in query for name in names):
            shown = [write(query.get(name, "")) for name in names]
            chips.append({"label": label, "value": " – ".join(shown), "url": url_of(_without(query, *names))})
    return chips


def filters_told(filters: Mapping[str, Any]) -> list[tuple[Promise, str]]:
    """What an export was asked to hold, label and value, as the list of calls names its filters."""
    query = QueryDict(mutable=True)
    for name, value in filters.items():
        query.setlist(name, [str(each) for each in (value if isinstance(value, list) else [value])])
    where = [(_("Environment"), query["environment"])] if query.get("environment") else []
    return where + [(chip["label"], chip["value"]) for chip in chips_of(query)]


def _without(query: QueryDict, *names: str) -> QueryDict:
    rest = query.copy()
    for name in names:
        rest.pop(name, None)
    return rest


def _shown(name: str, value: str) -> str:
    if name == "status" and value in STATUSES:
        return str(STATUSES[value].label)
    return str(KINDS[value]) if name == "kind" and value in KINDS else value


def _length(text: str) -> str:
    return milliseconds(int(text)) if text.isascii() and text.isdigit() and len(text) < 14 else text


def _moment(text: str) -> str:
    try:
        return f"{_aware(datetime.fromisoformat(text)):%Y-%m-%d %H:%M:%S}" if text else ""
    except (ValueError, OverflowError):
        return text


def _aware(at: datetime) -> datetime:
    return localtime(at) if at.tzinfo is not None else at


def presets_of(query: QueryDict) -> list[dict[str, Any]]:
    time = {name: query.getlist(name) for name in ("span", "since", "until") if name in query}
    presets = []
    for label, text in PRESETS:
        wanted = QueryDict(text, mutable=True)
        for name, values in time.items():
            wanted.setlist(name, values)
        presets.append(
            {"label": label, "url": url_of(wanted), "is_current": dict(wanted.lists()) == dict(query.lists())}
        )
    return presets


def url_of(query: QueryDict) -> str:
    encoded = query.urlencode()
    return f"{reverse('audit')}?{encoded}" if encoded else reverse("audit")

"""The page of each record of the draft: one address that knows the kind and the id, whatever the page's own is."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from django.urls import reverse


def _provider(rule: Any) -> str:
    if rule.agent is None:
        return reverse("global-provider", args=[rule.pk])
    return reverse("agent", args=[rule.agent.key]) + "#providers"


def _sender(rule: Any) -> str:
    if rule.group_id is not None:
        return reverse("group-sender", args=[rule.group_id, rule.pk])
    if rule.agent is None:
        return reverse("global-sender", args=[rule.pk])
    return reverse("agent-sender", args=[rule.agent.key, rule.pk])


PAGES: Final[Mapping[str, Callable[[Any], str]]] = {
    "global": lambda _record: reverse("global"),
    "agent": lambda record: reverse("agent", args=[record.key]),
    "profile": lambda record: reverse("profile", args=[record.key]),
    "provider": _provider,
    "group": lambda record: reverse("group", args=[record.pk]),
    "channel": lambda record: f"{reverse('groups')}?groups_q={quote(record.key, safe='')}",
    "account": lambda record: f"{reverse('groups')}?groups_q={quote(record.key, safe='')}",
    "sender": _sender,
    "permission_grant": lambda record: reverse("permission", args=[record.pk]),
    "content_filter": lambda record: reverse("filter", args=[record.pk]),
}
"""For each kind of record that has a page, its address; empty where this one has none."""


def record_url(kind: str, record_id: UUID | None) -> str:
    """Return an address that leads to a record's page; empty while its kind has none."""
    return reverse("record-page", args=[kind, record_id]) if kind in PAGES and record_id is not None else ""


def page_of_record(kind: str, record: Any) -> str:
    """Return the address of a record's own page; empty while its kind has none."""
    page = PAGES.get(kind)
    return "" if page is None else page(record)

"""Reads of groups and rules by sender in pages: ten thousand of the ones, a hundred thousand of the others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, F, IntegerField, OrderBy, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from apps.policies.changes import draft_mark
from apps.policies.kept import Kept
from apps.policies.kinds import event_model, kind_of
from apps.policies.models import Agent, Channel, ChannelAccount, ChannelGroup, SenderRule
from apps.policies.models.base import PolicyRecord
from apps.policies.selectors import live_publication
from apps.registry.models import Environment

GROUPS_SHOWN: Final = 60
RULES_SHOWN: Final = 50
_RANKS: Final = ("channel:", "e164:", "username:", "name:")
"""Beginnings of keys by when they are tried; ids, which may have none, come after the first."""
# Sorting bare ids is many times as fast as sorting groups, and tells all at once where one stands.
_orders: Kept[list[UUID]] = Kept(8)


@dataclass(frozen=True, slots=True)
class GroupShown:
    """A group with the number of its rules by sender."""

    record: ChannelGroup
    senders: int


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; `number` counts from 1."""

    rows: list[Any]
    number: int
    pages: int
    total: int

    @property
    def before(self) -> int:
        return self.number - 1

    @property
    def after(self) -> int:
        return self.number + 1 if self.number < self.pages else 0


def groups_page(environment: Environment, *, query: str = "", number: int = 0, holding: UUID | None = None) -> Page:
    """Return a page of the groups, by channel and account, what lies in a guild or team below it.

    Args:
        query: a part of the key, or of the names around it.
        number: which page; 0 for the one that holds a group.
    """
    rows = ChannelGroup.objects.filter(environment=environment)
    if query:
        names = ("key", "parent__key", "account__key", "channel__key", "extra__name")
        matches = Q()
        for name in names:
            matches |= Q(**{f"{name}__icontains": query})
        rows = rows.filter(matches)
    key = (environment.pk, draft_mark(), query)
    order = _orders.get(key, lambda: list(rows.order_by(*_group_order()).values_list("pk", flat=True)))
    pages = max(1, -(-len(order) // GROUPS_SHOWN))
    if number < 1:
        number = order.index(holding) // GROUPS_SHOWN + 1 if holding in order else 1
    number = min(number, pages)
    asked = order[(number - 1) * GROUPS_SHOWN : number * GROUPS_SHOWN]
    found = ChannelGroup.objects.select_related("channel", "account", "parent").in_bulk(asked)
    counts = _rules_in(asked)
    shown = [GroupShown(found[pk], counts.get(pk, 0)) for pk in asked if pk in found]
    return Page(shown, number, pages, len(order))


def groups_known(environment: Environment, *, limit: int) -> list[tuple[str, str]]:
    """Name some groups, each by its channel and its key."""
    rows = ChannelGroup.objects.filter(environment=environment).exclude(key="*").order_by("channel__key", "key")
    return list(rows.values_list("channel__key", "key").distinct()[:limit])


def senders_known(environment: Environment, *, limit: int) -> list[str]:
    """Name some senders, by the keys that rules have for them."""
    rows = SenderRule.objects.filter(environment=environment).exclude(key="*").order_by("key")
    return list(rows.values_list("key", flat=True).distinct()[:limit])


def _group_order() -> list[OrderBy]:
    root = {name: Coalesce(F(f"parent__{name}"), F(name)) for name in ("kind", "position", "id")}
    return [
        OrderBy(F("channel__position")),
        OrderBy(F("channel_id")),
        OrderBy(F("account__position"), nulls_first=True),
        *(OrderBy(root[name]) for name in ("kind", "position", "id")),
        OrderBy(F("parent_id"), nulls_first=True),
        OrderBy(F("position")),
        OrderBy(F("id")),
    ]


def _rules_in(groups: Iterable[UUID]) -> Mapping[Any, int]:
    counted = SenderRule.objects.filter(group__in=list(groups)).values("group").annotate(number=Count("id"))
    return dict(counted.order_by().values_list("group", "number"))


def group_find(environment: Environment, record_id: UUID) -> ChannelGroup | None:
    """Find a group with all that lies around it."""
    rows = ChannelGroup.objects.select_related("environment", "channel", "account", "parent")
    return rows.filter(environment=environment, pk=record_id).first()


def groups_inside(group: ChannelGroup) -> QuerySet[ChannelGroup]:
    """The channels of a guild or team."""
    return ChannelGroup.objects.filter(parent=group).order_by("position", "id")


@dataclass(frozen=True, slots=True)
class ChannelCounts:
    """A channel with its accounts, and how many groups it has; `default` is its group `*`."""

    record: Channel
    accounts: list[str]
    groups: int
    default: UUID | None


def channel_counts(environment: Environment) -> list[ChannelCounts]:
    """List the channels in the order of the document."""
    accounts: dict[Any, list[str]] = {}
    for channel, key in ChannelAccount.objects.filter(environment=environment).values_list("channel", "key"):
        accounts.setdefault(channel, []).append(key)
    groups = ChannelGroup.objects.filter(environment=environment).order_by()
    totals = dict(groups.values("channel").annotate(number=Count("id")).values_list("channel", "number"))
    defaults = dict(groups.filter(key="*", account=None, parent=None).values_list("channel", "id"))
    return [
        ChannelCounts(each, accounts.get(each.pk, []), totals.get(each.pk, 0), defaults.get(each.pk))
        for each in Channel.objects.filter(environment=environment).order_by("position", "id")
    ]


def rules_page(
    environment: Environment,
    *,
    agent: Agent | None = None,
    group: ChannelGroup | None = None,
    query: str = "",
    number: int = 1,
) -> Page:
    """Return a page of the rules by sender of one scope, in the order in which their keys are tried."""
    rows = SenderRule.objects.filter(environment=environment, agent=agent, group=group)
    if query:
        rows = rows.filter(key__icontains=query)
    total = rows.count()
    pages = max(1, -(-total // RULES_SHOWN))
    number = min(max(1, number), pages)
    ranks = [When(key__istartswith=start, then=Value(at if at == 0 else at + 1)) for at, start in enumerate(_RANKS)]
    rank = Case(*ranks, When(key="*", then=Value(9)), default=Value(1), output_field=IntegerField())
    first = (number - 1) * RULES_SHOWN
    shown = rows.annotate(rank=rank).order_by("rank", "position", "id")[first : first + RULES_SHOWN]
    return Page(list(shown), number, pages, total)


def rule_blank(
    environment: Environment, *, agent: Agent | None = None, group: ChannelGroup | None = None
) -> SenderRule:
    """Return a rule of a scope that is not stored yet: it has the version 0."""
    return SenderRule(environment=environment, agent=agent, group=group, version=0)


def rule_find(
    environment: Environment, record_id: UUID, *, agent: Agent | None = None, group: ChannelGroup | None = None
) -> SenderRule | None:
    """Find a rule of a scope."""
    rows = SenderRule.objects.select_related("environment").filter(environment=environment, agent=agent, group=group)
    return rows.filter(pk=record_id).first()


def rules_written(
    environment: Environment, *, agent: Agent | None = None, group: ChannelGroup | None = None
) -> list[tuple[Any, ...]]:
    """Return every rule of a scope in the order of the document: id, key, allow, also_allow, deny."""
    rows = SenderRule.objects.filter(environment=environment, agent=agent, group=group).order_by("position", "id")
    return list(rows.values_list("pk", "key", "allow", "also_allow", "deny"))


def rules_like(rule: SenderRule, part: str, *, limit: int) -> list[SenderRule]:
    """Return other rules of the same scope whose key holds a text: among them are those that mean the same sender."""
    rows = SenderRule.objects.filter(environment=rule.environment_id, agent=rule.agent_id, group=rule.group_id)
    return list(rows.filter(key__icontains=part).exclude(pk=rule.pk).order_by("position", "id")[:limit])


class Written:
    """What was written since the publication that is live."""

    def __init__(self, environment: Environment) -> None:
        live = live_publication(environment)
        self._marks: Mapping[str, int] | None = None if live is None else live.log_marks

    def of(self, records: Iterable[PolicyRecord]) -> dict[UUID, str]:
        """Say of records of one kind which were `created` or `changed`; nothing while nothing is live."""
        records = list(records)
        if self._marks is None or not records:
            return {}
        log = event_model(type(records[0])).objects.filter(pgh_id__gt=self._marks.get(kind_of(records[0]), 0))
        mine = log.filter(pgh_obj_id__in=[each.pk for each in records])
        found: dict[UUID, str] = {}
        for identifier, label in mine.values_list("pgh_obj_id", "pgh_label"):
            if found.get(identifier) != "created":
                found[identifier] = "created" if label == "insert" else "changed"
        return found

    def ruled(self, groups: Iterable[ChannelGroup]) -> frozenset[UUID]:
        """Name the groups whose rules by sender were written, those that are gone included."""
        if self._marks is None:
            return frozenset()
        log = event_model(SenderRule).objects.filter(pgh_id__gt=self._marks.get("sender", 0))
        return frozenset(log.filter(group_id__in=[each.pk for each in groups]).values_list("group_id", flat=True))


def group_named(environment: Environment, path: str) -> ChannelGroup | None:
    """Find a group by its path below `channels`, its parts joined by dots: `discord.guilds.9.channels.help`.

    Keys may hold dots themselves, so the path is compared whole; of several that read alike there is none.
    """
    rows = ChannelGroup.objects.select_related("environment", "channel", "account", "parent")
    found = [group for group in rows.filter(environment=environment) if path == ".".join(path_of(group))]
    return found[0] if len(found) == 1 else None


def path_of(group: ChannelGroup) -> tuple[str, ...]:
    """Return the way to a group: its channel, then as the engine walks from there."""
    account = ("accounts", group.account.key) if group.account is not None else ()
    around = (group.parent.kind, group.parent.key) if group.parent is not None else ()
    return (group.channel.key, *account, *around, group.kind, group.key)

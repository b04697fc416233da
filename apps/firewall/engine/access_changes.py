"""What a step from one snapshot to another lets run, besides the tools that somebody gains: permissions and filters.

Who has which tool is compared elsewhere (`diff`). A tool can stay in everybody's set and yet do more: because a grant
gives a permission, or because a filter that stopped a call is gone. Grants are compared by asking both snapshots about
callers and resources that each differing grant is for, never by comparing what is written.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from apps.firewall.engine.content import ContentFilter, FilterAction
from apps.firewall.engine.grants import Grant, write_grant
from apps.firewall.engine.permissions import Caller, Needs, Resource
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry

Direction: TypeAlias = Literal["wider", "narrower", "other"]
Subject: TypeAlias = Literal["commands", "permissions", "filters", "settings"]

ORDER: Final[tuple[Direction, ...]] = ("wider", "other", "narrower")
"""The worst first."""
STRENGTH: Final = ("none", "warn", "mask", "block")
RESOURCES_TRIED: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessChange:
    """Calls that are judged alike by each of two snapshots, and otherwise by one than by the other.

    Attributes:
        direction: `other` where no verdict says whether more runs.
        before, after: of commands `denied`, `asks`, `unanswered` (asks, and runs when nobody answers) or `runs`; of
            permissions `missing`, `depends`, `granted` or `unneeded`; of filters `none`, `warn`, `mask`, `block`; of
            settings what is written.
        agents: `*` is any other agent; empty for all.
        examples: commands, permissions, patterns or the path of a setting.
        example_count: how many there are; `examples` holds the first of them.
        tools: that it is about; empty for commands and settings.
        caller: who must ask, where not everybody is met.
        sandboxed: inside the sandbox only, outside only, or None for both.
    """

    subject: Subject
    direction: Direction
    before: str
    after: str
    agents: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    example_count: int = 0
    tools: tuple[str, ...] = ()
    caller: str = ""
    sandboxed: bool | None = None


def worst_first(changes: Iterable[AccessChange]) -> tuple[AccessChange, ...]:
    """Put changes into the order in which people must read them."""
    subjects = ("commands", "permissions", "filters", "settings")
    return tuple(
        sorted(
            changes,
            key=lambda each: (ORDER.index(each.direction), subjects.index(each.subject), each.agents, each.examples),
        )
    )


def permission_changes(old: Snapshot, new: Snapshot) -> Iterator[AccessChange]:
    """Compare what grants give to callers of tools that both snapshots have."""
    alike: dict[tuple[str, str, tuple[str, ...], tuple[str, ...], str], list[str]] = {}
    for name in sorted(set(old.tool_names) & set(new.tool_names)):
        for change in _of_tool(old, new, name):
            key = (change.before, change.after, change.agents, change.examples, change.caller)
            alike.setdefault(key, []).append(name)
    for (before, after, agents, examples, caller), tools in alike.items():
        yield AccessChange(
            subject="permissions",
            direction="wider" if _GIVEN.index(after) > _GIVEN.index(before) else "narrower",
            before=before,
            after=after,
            agents=agents,
            examples=examples,
            example_count=len(examples),
            tools=tuple(dict.fromkeys(tools)),
            caller=caller,
        )


_GIVEN: Final = ("missing", "depends", "granted", "unneeded")


def _of_tool(old: Snapshot, new: Snapshot, name: str) -> Iterator[AccessChange]:
    before, after = old.tool(name), new.tool(name)
    asked, asks = _permissions(before), _permissions(after)
    for permission in sorted(asked ^ asks):
        is_gone = permission in asked
        yield AccessChange(
            subject="permissions",
            direction="wider" if is_gone else "narrower",
            before="missing" if is_gone else "unneeded",
            after="unneeded" if is_gone else "missing",
            examples=(permission,),
        )
    for permission in sorted(asked & asks):
        for grant in _differing(old, new, permission):
            yield from _of_grant(old, new, permission, grant, kinds=_kinds(before) & _kinds(after))


def _differing(old: Snapshot, new: Snapshot, permission: str) -> Iterator[Grant]:
    sides = [{grant.key: grant for grant in each.permissions.giving(permission)} for each in (old, new)]
    for key in sorted(sides[0].keys() | sides[1].keys()):
        was, now = (side.get(key) for side in sides)
        if was is None or now is None or write_grant(was) != write_grant(now):
            yield from (each for each in (was, now) if each is not None)


def _of_grant(
    old: Snapshot, new: Snapshot, permission: str, grant: Grant, *, kinds: frozenset[str]
) -> Iterator[AccessChange]:
    """Ask both snapshots about the very caller, and each resource, that a grant is for."""
    caller = _caller_for(grant)
    for resources, shown in _resources_for(grant, kinds):
        needs = Needs(permissions=(permission,), kinds=kinds, resources=resources)
        was, now = (each.permissions.answers(needs, caller)[0].verdict for each in (old, new))
        if was != now:
            yield AccessChange(
                subject="permissions",
                direction="other",
                before=was,
                after=now,
                agents=(grant.agent,) if grant.agent else (),
                examples=(permission, shown) if shown else (permission,),
                caller=_conditions(grant),
            )


def _caller_for(grant: Grant) -> Caller:
    return Caller(
        agent=witness(grant.agent) or "any-other-agent",
        token=grant.token,
        role=grant.role,
        session=witness(grant.session),
        sender=_sender_for(grant.sender),
        is_owner=True if grant.owner else None,
    )


def _sender_for(key: str) -> Sender:
    """Return somebody whom a key of a rule by sender means."""
    channel, kind, value = None, "id", key
    if key.startswith("channel:"):
        _, channel, value = (*key.split(":", 2), "")[:3]
    else:
        named, colon, rest = key.partition(":")
        if colon and named in {"id", "username", "name", "e164"}:
            kind, value = named, rest
    return replace_member(Sender(channel=channel), kind, value if value != "*" else "x")


def replace_member(sender: Sender, kind: str, value: str) -> Sender:
    """Return a sender of a channel who is known by one member."""
    return Sender(**{kind: value or None}, channel=sender.channel)


def _resources_for(grant: Grant, kinds: frozenset[str]) -> Iterator[tuple[tuple[Resource, ...], str]]:
    """Return resources that a grant covers, each pattern of it once; of kinds that it leaves free any."""
    free = tuple(Resource(kind, "x") for kind in sorted(kinds - grant.resources.keys()))
    first = {kind: witness(patterns[0]) for kind, patterns in grant.resources.items() if patterns}
    tried = [(kind, pattern) for kind, patterns in grant.resources.items() for pattern in patterns]
    if not tried:
        yield free, ""
    for kind, pattern in tried[:RESOURCES_TRIED]:
        here = first | {kind: witness(pattern)}
        yield (*free, *(Resource(each, value) for each, value in here.items())), f"{kind} {pattern}"


def _conditions(grant: Grant) -> str:
    """Say in words of rules whom a grant is for, besides its agent."""
    named = [(name, getattr(grant, name)) for name in ("token", "sender", "role", "session")]
    return ", ".join([f"{name} {value}" for name, value in named if value] + (["owner"] if grant.owner else []))


def witness(pattern: str) -> str:
    """Return a text that a glob fits, and hardly any other one does."""
    return pattern.replace("**", "any").replace("*", "any").replace("?", "x")


def _permissions(tool: ToolEntry | None) -> frozenset[str]:
    return frozenset(each for each in _traits(tool).get("permissions", ()) if isinstance(each, str))


def _kinds(tool: ToolEntry | None) -> frozenset[str]:
    named = _traits(tool).get("resources")
    return frozenset(named if isinstance(named, Mapping) else ())


def _traits(tool: ToolEntry | None) -> Mapping[str, Any]:
    return {} if tool is None else tool.traits or {}


def filter_changes(old: Snapshot, new: Snapshot) -> Iterator[AccessChange]:
    """Compare how strictly each expression is looked for in what goes to each tool, and in what comes back."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for name in sorted(set(old.tool_names) & set(new.tool_names)):
        before, after = (_strictest(each.content.concerning(name)) for each in (old, new))
        for key in sorted(before.keys() | after.keys()):
            was, now = before.get(key, "none"), after.get(key, "none")
            if was != now:
                alike.setdefault((key[0], was, now), []).append(name)
    for (pattern, was, now), tools in alike.items():
        yield AccessChange(
            subject="filters",
            direction="wider" if STRENGTH.index(now) < STRENGTH.index(was) else "narrower",
            before=was,
            after=now,
            examples=(pattern,),
            example_count=1,
            tools=tuple(dict.fromkeys(tools)),
        )


def _strictest(filters: Iterable[ContentFilter]) -> dict[tuple[str, str], FilterAction]:
    found: dict[tuple[str, str], FilterAction] = {}
    for each in filters:
        for side in ("params", "result") if each.where == "both" else (each.where,):
            known = found.get((each.pattern, side), "warn")
            found[each.pattern, side] = max(known, each.action, key=STRENGTH.index)
    return found


def shortened(change: AccessChange, most: int) -> AccessChange:
    """Return a change with the first of its examples; it still says how many there are."""
    return replace(change, examples=change.examples[:most], example_count=len(change.examples))

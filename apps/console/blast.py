"""The difference of two snapshots as people read it: who gains and loses which tools, and where.

Holds facts, not words: templates say them in the reader's language. Comparing takes a second or two for a large policy,
so the last few answers are kept by the digests of both sides; a digest names its content, so none grows stale.
"""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeVar

from apps.console.access_changes import ShownChange
from apps.firewall.engine.access_changes import AccessChange
from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.contexts import ANY_OTHER, Classes, Conversation, Model, SenderClass
from apps.firewall.engine.diff import Change, SnapshotDiff, Tools, diff_snapshots
from apps.firewall.engine.diff_guards import GuardDifference, guard_differences
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import SnapshotSource
from apps.firewall.runtime.command_changes import access_changes

ROWS = 24  # more kinds of change than this are told agent by agent
SHOWN_AGENTS = 40
SHOWN_CHANGES = 40
KEPT = 16

Value = TypeVar("Value", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Reach:
    """How far gains, or losses, go: in how many contexts, for which agents, about which tools."""

    contexts: int
    agents: tuple[str, ...]
    groups: int
    tools: Tools


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a change is limited to in one dimension: only these values or, where that is shorter, all but these."""

    is_except: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Conversations of one channel; an empty channel stands for calls that come from none.

    Attributes:
        channel: `*` any other one.
        groups: names of groups; `*` any other one, empty for what is outside groups. None when `is_whole`.
    """

    channel: str
    is_whole: bool
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One gain or loss. Members that narrow nothing are None; an empty `places` means everywhere.

    Attributes:
        agents: `*` any other agent; empty for all.
        contexts: how many classes of contexts it meets.
        owners: "owner" or "other".
        sandbox: "inside" or "outside".
        depth: "sub" or "main".
    """

    agents: tuple[str, ...]
    gained: Tools
    lost: Tools
    contexts: int
    places: tuple[Place, ...] = ()
    models: Narrowing | None = None
    senders: Narrowing | None = None
    owners: str = ""
    sandbox: str = ""
    depth: str = ""


@dataclass(frozen=True, slots=True)
class Blast:
    """What a step from one snapshot to another does.

    Attributes:
        by_agent: rows sum up all contexts of an agent.
        guards: tools that meet other grants of permissions or content filters, whoever has them.
        changes: what else runs or no longer runs, the worst first.
    """

    contexts: int
    unchanged: int
    lose: Reach
    gain: Reach
    rows: tuple[Row, ...]
    rows_left: int
    by_agent: bool
    tools_added: Tools
    tools_removed: Tools
    guards: tuple[GuardDifference, ...]
    changes: tuple[AccessChange, ...] = ()

    @property
    def shown_changes(self) -> tuple[ShownChange, ...]:
        return tuple(map(ShownChange, self.changes[:SHOWN_CHANGES]))

    @property
    def changes_left(self) -> int:
        return max(0, len(self.changes) - SHOWN_CHANGES)

    @property
    def wider(self) -> int:
        """How many changes let more run."""
        return sum(each.direction == "wider" for each in self.changes)

    @property
    def unchanged_percent(self) -> float:
        return int(self.unchanged * 1000 / self.contexts) / 10 if self.contexts else 100.0


_kept: OrderedDict[tuple[str, str], Blast] = OrderedDict()
_changes_kept: OrderedDict[tuple[str, str], tuple[AccessChange, ...]] = OrderedDict()
_lock = Lock()


def blast_of(old: Snapshot | None, new: Snapshot) -> Blast:
    """Compare two snapshots; without an old one, with an environment in which there is no tool to use."""
    before = _nothing(new) if old is None else old

    def compared() -> Blast:
        known = summed_up(diff_snapshots(before, new), guard_differences(before, new))
        return replace(known, changes=changes_of(old, new))

    return _remembered(_kept, old, new, compared)


def changes_of(old: Snapshot | None, new: Snapshot) -> tuple[AccessChange, ...]:
    """Say what else runs after a step, besides tools that are gained; without an old snapshot nothing ran before."""

    def compared() -> tuple[AccessChange, ...]:
        if old is not None:
            return access_changes(old, new)
        found = access_changes(_nothing(new), new)
        return tuple(replace(each, before="denied") if each.subject == "commands" else each for each in found)

    return _remembered(_changes_kept, old, new, compared)


def _remembered(
    kept: OrderedDict[tuple[str, str], Answer], old: Snapshot | None, new: Snapshot, compared: Callable[[], Answer]
) -> Answer:
    key = ("" if old is None else old.digest, new.digest)
    with _lock:
        known = kept.get(key)
    if known is None:
        known = compared()
    with _lock:
        kept[key] = known
        kept.move_to_end(key)
        while len(kept) > KEPT:
            kept.popitem(last=False)
    return known


def _nothing(like: Snapshot) -> Snapshot:
    return build_snapshot(SnapshotSource(dialect=like.dialect, tools=[]))


def summed_up(
    diff: SnapshotDiff, guards: tuple[GuardDifference, ...] = (), *, most: int | None = SHOWN_AGENTS
) -> Blast:
    """Sum up a comparison that somebody made.

    Args:
        most: how many rows are kept; None for all.
    """
    classes, contexts = diff.classes, diff.contexts
    by_agent = len(diff.changes) > ROWS
    by_agents = contexts_by_agent(diff.changes)
    rows = _agent_rows(diff, by_agents) if by_agent else [_row(change, classes) for change in diff.changes]
    rows.sort(key=lambda row: (-row.contexts, row.agents))
    return Blast(
        contexts=contexts,
        unchanged=contexts - by_agents.total(),
        lose=_reach([change for change in diff.changes if change.lost]),
        gain=_reach([change for change in diff.changes if change.gained], gained=True),
        rows=tuple(rows[:most]),
        rows_left=len(rows) - len(rows[:most]),
        by_agent=by_agent,
        tools_added=diff.tools_added,
        tools_removed=diff.tools_removed,
        guards=guards,
    )


def _reach(changes: Sequence[Change], *, gained: bool = False) -> Reach:
    agents, groups, tools = set[str](), set[Conversation](), set[str]()
    for change in changes:
        agents.update(change.agents)
        groups.update(change.conversations)
        tools.update(change.gained if gained else change.lost)
    named = {each for each in groups if each.group or each.space or each.peer}
    return Reach(contexts_by_agent(changes).total(), tuple(sorted(agents)), len(named), tuple(sorted(tools)))


def _agent_rows(diff: SnapshotDiff, contexts: Counter[str]) -> list[Row]:
    """Sum up by agent; agents that gain and lose the same stand together."""
    gained: dict[str, set[str]] = defaultdict(set)
    lost: dict[str, set[str]] = defaultdict(set)
    for change in diff.changes:
        for agent in change.agents:
            gained[agent].update(change.gained)
            lost[agent].update(change.lost)
    alike: dict[tuple[Tools, Tools], list[str]] = defaultdict(list)
    for agent in contexts:
        alike[tuple(sorted(gained[agent])), tuple(sorted(lost[agent]))].append(agent)
    every = set(diff.classes.agents)
    return [
        Row(_unless_all(agents, every), gains, losses, sum(contexts[agent] for agent in agents))
        for (gains, losses), agents in alike.items()
    ]


def _row(change: Change, classes: Classes) -> Row:
    return Row(
        agents=_unless_all(change.agents, set(classes.agents)),
        gained=change.gained,
        lost=change.lost,
        contexts=change.classes,
        places=_places(change.conversations, classes.conversations),
        models=_narrowing(_model_names(change.models, classes.models), _model_names(classes.models, classes.models)),
        senders=_narrowing([_sender(each) for each in change.senders], [_sender(each) for each in classes.senders]),
        owners=_either(change.owners, True, False, ("owner", "other")),
        sandbox=_either(change.sandboxed, True, False, ("inside", "outside")),
        depth=_depth(change.depths, classes.depths),
    )


def _unless_all(agents: Sequence[str], every: set[str]) -> tuple[str, ...]:
    """Return names, any other last; nothing when it is everybody."""
    if every <= set(agents):
        return ()
    return tuple(sorted(agents, key=lambda agent: (agent == ANY_OTHER, agent)))


def _sender(sender: SenderClass) -> str:
    return str(sender)


def _model_names(models: Sequence[Model], known: Sequence[Model]) -> list[str]:
    """Name models by provider where all of the provider's are there; a model of any provider by its own name."""
    present, by_provider = set(models), defaultdict(set)
    for model in known:
        by_provider[model.provider].add(model)
    names: list[str] = []
    for provider, own in by_provider.items():
        if own <= present:
            names.append(provider)
        else:
            names += [model.key for model in sorted(own & present)]
    return names


def _narrowing(present: Sequence[str], every: Sequence[str]) -> Narrowing | None:
    there = set(present)
    missing = [value for value in every if value not in there]
    if not missing:
        return None
    is_except = len(missing) < len(present)
    values = missing if is_except else present
    return Narrowing(is_except, tuple(sorted(values, key=lambda value: (value == ANY_OTHER, value))))


def _either(present: Sequence[Value], one: Value, other: Value, words: tuple[str, str]) -> str:
    if one in present and other not in present:
        return words[0]
    return words[1] if other in present and one not in present else ""


def _depth(present: Sequence[int], every: Sequence[int]) -> str:
    if set(present) == {0}:
        return "main"
    return "sub" if 0 not in present and 0 in every else ""


def _places(present: Sequence[Conversation], every: Sequence[Conversation]) -> tuple[Place, ...]:
    if set(every) <= set(present):
        return ()
    known: dict[str, set[Conversation]] = defaultdict(set)
    for conversation in every:
        known[conversation.channel].add(conversation)
    found: dict[str, list[Conversation]] = defaultdict(list)
    for conversation in present:
        found[conversation.channel].append(conversation)
    return tuple(
        Place(channel, True, ())
        if known[channel] <= set(here)
        else Place(channel, False, tuple(_group_name(each) for each in here))
        for channel, here in sorted(found.items())
    )


def _group_name(conversation: Conversation) -> str:
    return " / ".join(
        part for part in (conversation.account, conversation.space, conversation.group, conversation.peer) if part
    )

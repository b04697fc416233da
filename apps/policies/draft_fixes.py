"""The smallest fix in the draft: which records its edits stand in, and why there is none."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext as _

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.edits import Edit
from apps.firewall.engine.fixes import Fix, beyond_lists, smallest_fix
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.simulate import Block
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.surroundings import Surroundings
from apps.policies.document.findings import show_path
from apps.policies.errors import RecordGoneError
from apps.policies.kinds import MEMBERS, kind_of
from apps.policies.models import Agent, ChannelGroup, GlobalPolicy, ProviderPolicy, SenderRule
from apps.policies.models.base import PolicyRecord
from apps.policies.places import Places
from apps.policies.selectors import draft_snapshot
from apps.registry.models import Environment

_PREFIXES: Final = {"sandbox": "sandbox_", "subagent": "subagent_"}
_KEPT: Final = 2
_kept: OrderedDict[str, Surroundings] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftEdit:
    """One entry of one list of a record, added or removed.

    Attributes:
        kind, record, version: the record, and the version in which its list was read.
        field: the list, as the record's column is named.
        path: where the list stands in the document; empty where an editor named none.
    """

    kind: str
    record: UUID
    version: int
    field: str
    entry: str
    is_added: bool
    path: str = ""


@dataclass(frozen=True, slots=True)
class DraftFix:
    """The smallest fix of a verdict in the draft.

    Attributes:
        allowed: the verdict as it is.
        fix: None when three edits do not flip it.
        edits: those of the fix, each with its record.
        contexts: how many classes of contexts there are, among which the effects are counted.
        beyond: the layers that refuse the tool and that no list reaches.
    """

    tool: str
    allowed: bool
    fix: Fix | None
    edits: tuple[DraftEdit, ...]
    contexts: int
    beyond: tuple[str, ...]


def draft_fix(environment: Environment, context: CallContext, tool: str) -> DraftFix:
    """Find the fewest edits of the draft's lists that flip the verdict on a tool in a context.

    Raises:
        UnknownToolError: the draft has no such tool.
        ResolutionError: nothing can be decided in this context.
        SnapshotError: the draft has no canonical form.
    """
    snapshot = draft_snapshot(environment)
    around = _surroundings(snapshot)
    fix = smallest_fix(around, context, tool)
    decision = decide(snapshot, context, tool)
    beyond = beyond_lists(snapshot.engine, context, decision.tool) if fix is None else ()
    edits = tuple(_draft_edit(environment, edit) for edit in fix.edits) if fix is not None else ()
    return DraftFix(decision.tool, decision.allowed, fix, edits, around.contexts, beyond)


def _surroundings(snapshot: Snapshot) -> Surroundings:
    """Read all classes of contexts, which takes a second or two for a large policy; the last ones stay in memory."""
    with _lock:
        known = _kept.get(snapshot.digest)
    if known is None:
        known = Surroundings(snapshot)
    with _lock:
        _kept[snapshot.digest] = known
        _kept.move_to_end(snapshot.digest)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    return known


def _draft_edit(environment: Environment, edit: Edit) -> DraftEdit:
    record = record_of(environment, edit.block)
    field = _PREFIXES.get(edit.block.layer, "") + edit.member
    inner = next(member.path for member in MEMBERS[type(record)] if member.field == field)
    place = Places(environment).of(record)
    path = show_path(inner if isinstance(record, GlobalPolicy) else (*place, *inner))
    return DraftEdit(
        kind=kind_of(record),
        record=record.pk,
        version=record.version,
        field=field,
        entry=edit.entry,
        is_added=edit.is_added,
        path=path,
    )


def record_of(environment: Environment, block: Block) -> PolicyRecord:
    """Find the record of the draft that holds a block.

    Raises:
        RecordGoneError: there is none, or no longer.
    """
    here: dict[str, Any] = {"environment": environment}
    agent = _agent(environment, block.agent) if block.agent is not None else None
    found: PolicyRecord | None
    if block.layer in ("global_provider", "agent_provider"):
        found = ProviderPolicy.objects.filter(**here, agent=agent, key=block.provider).first()
    elif block.layer in ("group", "sender"):
        group = _group(environment, block.path) if block.path else None
        found = group
        if block.sender is not None:
            found = SenderRule.objects.filter(**here, agent=agent, group=group, key=block.sender).first()
    else:
        found = agent or GlobalPolicy.objects.filter(**here).first()
    if found is None:
        raise RecordGoneError(_("the draft has no record for this list any more"))
    return found


def _agent(environment: Environment, name: str) -> Agent:
    """Find an agent by its normal id; of several with the same the first counts, as in the engine."""
    for agent in Agent.objects.filter(environment=environment).order_by("position", "id"):
        if normalize_agent_id(agent.key) == name:
            return agent
    raise RecordGoneError(_("the draft has no agent `%(name)s` any more") % {"name": name})


def _group(environment: Environment, path: tuple[str, ...]) -> ChannelGroup | None:
    channel, *way = path
    account = None
    if way[0] == "accounts":
        account, way = way[1], way[2:]
    group: ChannelGroup | None = None
    for kind, key in zip(way[::2], way[1::2], strict=True):
        rows = ChannelGroup.objects.filter(environment=environment, channel__key=channel, parent=group)
        rows = rows.filter(account__key=account) if account is not None else rows.filter(account=None)
        group = rows.filter(kind=kind, key=key).first()
        if group is None:
            return None
    return group

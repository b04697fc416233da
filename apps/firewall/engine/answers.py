"""What the engine answers: a decision, an explanation, and the reasons in them."""

from dataclasses import dataclass
from typing import NamedTuple

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.policy import Policy


class Decision(NamedTuple):
    """The answer for one tool in one context.

    Attributes:
        tool: the tool's own name; as asked when there is none of that name.
        layer: key of the layer that removed the tool, `unknown_tool`, or `error`; None when allowed.
        label: the recorded name of that layer.
        rule: where the entry stands that removed it, and the entry (`agents.bot.tools.deny memory_*`).
        reason: one sentence, for a verdict of either kind.
    """

    tool: str
    allowed: bool
    layer: str | None
    label: str | None
    rule: str | None
    reason: str


class Removal(NamedTuple):
    """A tool that a layer removed, the rule that did it, and its entry (None when an allow list lacks the tool)."""

    tool: str
    rule: str
    entry: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class LayerResult:
    """One layer in an explanation.

    Attributes:
        number: from 1, over all layers of the release, applied or not.
        applied: whether the layer had a policy in this context.
        is_gate: it removes candidates before the recorded layers.
        source: where its block stands; "" when it does not apply.
        policy: its lists as the layer sees them; None for a gate.
        before, after: how many tools came in and how many were left.
        remaining: those left, in the order of the source.
    """

    number: int
    key: str
    label: str
    applied: bool
    is_gate: bool
    source: str
    policy: Policy | None
    before: int
    after: int
    removed: tuple[Removal, ...]
    remaining: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One layer's answer for one tool.

    Attributes:
        permits: the layer's own answer, also after another one removed the tool; None when it does not apply.
        removed_here: this is the layer that removed the tool.
    """

    number: int
    key: str
    label: str
    applied: bool
    source: str
    permits: bool | None
    removed_here: bool
    rule: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ListWarning:
    """Entries of an allow list that name nothing here.

    Attributes:
        layer: key of the layer.
        label: its recorded name.
        entries: as written in normal form, core tools that are absent before unknown names.
        kinds: `core_unavailable`, `unknown`; none for an allow list that was ignored.
        allowlist_ignored: the release dropped the allow list because it names no core tool.
    """

    layer: str
    label: str
    entries: tuple[str, ...]
    kinds: tuple[str, ...]
    allowlist_ignored: bool


@dataclass(frozen=True, slots=True)
class ContextResolution:
    """How the engine read a context.

    Attributes:
        agent: normal id of the agent whose blocks hold; None when none is named or needed.
        agent_known: whether the snapshot has such an agent.
        depth: how many sub-agents deep; 0 is no sub-agent.
        channel, group_ids: the conversation, ids from the most specific on.
        group: where the group's rule stands that holds (`channels.telegram.groups.-100.tools`); None when none does.
        group_dropped: the caller named a group that its keys do not lead to.
        sender: where the sender's rule of the sender layer stands; None when none matches.
        is_owner: None when it is not known.
        sandboxed: as the call says, else as configured.
        provider_key, agent_provider_key: the keys of the provider blocks that hold, as written.
    """

    agent: str | None
    agent_known: bool
    depth: int
    channel: str | None
    group_ids: tuple[str, ...]
    group: str | None
    group_dropped: bool
    sender: str | None
    is_owner: bool | None
    sandboxed: bool
    profile: str | None
    provider_profile: str | None
    provider_key: str | None
    agent_provider_key: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every layer of a decision over all tools.

    Attributes:
        layers: each layer of the release in order, also those that do not apply.
        allowed: the tools left, in the order of the source.
        error: why nothing could be decided and everything is denied; None normally.
    """

    context: CallContext
    resolution: ContextResolution | None
    layers: tuple[LayerResult, ...]
    allowed: tuple[str, ...]
    warnings: tuple[ListWarning, ...]
    error: str | None = None

    def removal_of(self, tool: str) -> tuple[LayerResult, Removal] | None:
        """Return the layer that removed a tool and how; None when it is allowed or unknown."""
        for layer in self.layers:
            for removal in layer.removed:
                if removal.tool == tool:
                    return layer, removal
        return None

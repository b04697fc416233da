"""What changes when the same policy is read as another release of OpenClaw, and which of their differences does it.

The two releases differ in the fields of `Dialect`. They are exchanged one cause after the other, from the old dialect
to the new one, and each step is compared with the step before it: whatever a cause changes, it changes after those
before it. The steps together are the whole way, so nothing is left unexplained.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from apps.firewall.engine.compile import Engine, compile_document
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import ANY_OTHER, agent_of, classes_of
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.diff import SnapshotDiff, diff_snapshots
from apps.firewall.engine.exec_policy.explaining import ExplainedCommand, explain_command
from apps.firewall.engine.snapshot import Snapshot

CAUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "catalogue": ("catalogue", "sections", "document_keys", "recorded_version"),
    "agents": ("agent_entries", "agent_required"),
    "names": ("aliases", "renames", "families", "plugin_ids_trimmed", "optional_by_pattern"),
    "groups": ("groups",),
    "profiles": ("profiles",),
    "owner_only": ("owner_only", "owner_unknown_is_stranger", "owner_flag_counts"),
    "stripping": ("unknown_allowlist_dropped",),
    "apply_patch": ("apply_patch_companion", "apply_patch_opt_in", "apply_patch_providers"),
    "providers": ("model_key_with_provider", "provider_last_spelling_wins"),
    "sandbox": (
        "sandbox_allow",
        "sandbox_deny",
        "sandbox_also_allow",
        "sandbox_image_tool",
        "sandbox_image_old_name",
    ),
    "subagents": ("subagent_deny_always", "subagent_deny_leaf", "max_spawn_depth", "subagent_allow_lifts_deny"),
    "sender_layer": (
        "release",
        "layers",
        "sender_channel_keys",
        "sender_policy_mode",
        "sender_prefixes",
        "sender_slug_ascii",
    ),
    "conversations": (
        "direct_channels",
        "group_candidates",
        "group_keys_trimmed",
        "empty_account_groups_count",
        "caller_group_unchecked",
        "channel_aliases",
        "resolver_location",
        "key_case_ignored",
        "key_agent_strict",
        "key_leading_subagent_counts",
        "key_topic_is_thread",
        "key_chat_type_by_place",
        "cron_run_open_ended",
    ),
    "transports": ("message_provider_deny", "message_provider_allow", "gateway_http_deny"),
    "exec": (
        "exec_host_default",
        "exec_security_default",
        "exec_ask_default",
        "approvals_security_default",
        "approvals_ask_default",
        "approvals_nobody",
        "approvals_words_trimmed",
        "approvals_entries_by_arguments",
        "exec_modes",
        "exec_host_strict",
        "exec_call_security",
        "exec_chat_keeps_off",
        "exec_host_denied",
        "elevated_lifts_settings",
        "elevated_from_needs_direct",
    ),
}
"""Cause -> the fields of a dialect that belong to it, in the order in which causes are exchanged."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as a dialect reads it, perhaps one between two releases."""

    engine: Engine
    tool_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What one cause changes, after those before it."""

    cause: str
    diff: SnapshotDiff


@dataclass(frozen=True, slots=True)
class WordChange:
    """One word of command execution that is another one: `security`, `ask`, `askFallback`, `host`, `elevated`."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ExecChange:
    """Agents for whose commands the same words change. `*` is any other agent."""

    agents: tuple[str, ...]
    sandboxed: bool
    words: tuple[WordChange, ...]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The way from one release to another.

    Attributes:
        shares: in the order of `CAUSES`, those that change something.
    """

    diff: SnapshotDiff
    shares: tuple[Share, ...]
    commands: tuple[ExecChange, ...]

    @property
    def is_empty(self) -> bool:
        return self.diff.is_empty and not self.commands


def upgrade_of(old: Snapshot, new: Snapshot) -> Upgrade:
    """Say what changes between two snapshots of one draft, each read as its own release, and by which cause."""
    diff = diff_snapshots(old, new)
    found = () if diff.is_empty else tuple(share for share in shares(old, new) if not share.diff.is_empty)
    return Upgrade(diff, found, tuple(command_changes(old, new)))


def shares(old: Snapshot, new: Snapshot) -> Iterator[Share]:
    """Go the way cause by cause, over the classes of both ends; the steps begin with `old` and end with `new`."""
    classes, steps = classes_of(old, new), readings(old, new)
    _, before = next(steps)
    for cause, after in steps:
        yield Share(cause, diff_snapshots(before, after, classes=classes))
        before = after


def readings(old: Snapshot, new: Snapshot) -> Iterator[tuple[str, Reading]]:
    """Read what the two releases make of one draft in every dialect between them; the old one has no cause."""
    start, goal = old.document, new.document
    dialect, target = dialect_named(old.dialect), dialect_named(new.dialect)
    yield "", _reading(start, dialect)
    for cause, fields in CAUSES.items():
        mixed = replace(dialect, **{name: getattr(target, name) for name in fields})
        document = {**start, "tools": goal["tools"]} if cause == "catalogue" else goal
        yield cause, _reading(document, mixed)
        dialect = mixed


def _reading(document: Mapping[str, Any], dialect: Dialect) -> Reading:
    return Reading(compile_document(document, dialect), tuple(tool["name"] for tool in document["tools"]))


def command_changes(old: Snapshot, new: Snapshot) -> Iterator[ExecChange]:
    """Compare what holds for commands, agent by agent, outside a sandbox and inside; alike ones stand together."""
    agents = sorted({*(old.engine.agents or {}), *(new.engine.agents or {})})
    alike: dict[tuple[bool, tuple[WordChange, ...]], list[str]] = {}
    for sandboxed in (False, True):
        for agent in (*agents, ANY_OTHER):
            before, after = (_command(snapshot, agent, sandboxed=sandboxed) for snapshot in (old, new))
            words = tuple(_words(before, after))
            if words:
                alike.setdefault((sandboxed, words), []).append(agent)
    for (sandboxed, words), names in alike.items():
        yield ExecChange(tuple(names), sandboxed, words)


def _command(snapshot: Snapshot, agent: str, *, sandboxed: bool) -> ExplainedCommand:
    name = agent_of(agent)
    context = CallContext(agent_id=name, sandboxed=sandboxed)
    return explain_command(snapshot.exec_settings(name), context, dialect=snapshot.dialect)


def _words(before: ExplainedCommand, after: ExplainedCommand) -> Iterator[WordChange]:
    for was, now in zip(before.words, after.words, strict=True):
        if was.value != now.value:
            yield WordChange(was.name, was.value, now.value)
    refused, refuses = ("" if each.refusal is None else each.refusal.code for each in (before, after))
    if refused != refuses:
        yield WordChange("refusal", refused, refuses)

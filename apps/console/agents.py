"""What the pages of agents show: the list, an agent's fields against what is live, the preview of unsaved values."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.forms import Form
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.access import PERMISSIONS, Permission
from apps.console.funnel import Funnel, funnel_of
from apps.console.policy_forms import INHERIT
from apps.console.remarks import Shown, counts, lists_of, reviewer
from apps.console.situations import Situation
from apps.console.vocabulary import tools_meant
from apps.firewall.engine.compile import AgentRules
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, explain
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.exec_policy import ExecRules, exec_rules
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.simulate import Block, simulate
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.errors import ConflictError, Sides
from apps.policies.selectors import agents, draft_snapshot, live_snapshot, provider_policies

if TYPE_CHECKING:
    from apps.policies.models import Agent, ProviderPolicy
    from apps.registry.models import Environment

    # views name records without knowing the models
    AgentRecord: TypeAlias = Agent
    ProviderRecord: TypeAlias = ProviderPolicy
    EnvironmentRecord: TypeAlias = Environment

AGENTS_SHOWN: Final = 50
LABELS: Final[Mapping[str, Promise]] = {
    "profile": gettext_lazy("Profile"),
    "also_allow": gettext_lazy("Also allow"),
    "allow": gettext_lazy("Allow"),
    "deny": gettext_lazy("Deny"),
    "sandbox_also_allow": gettext_lazy("Also allow"),
    "sandbox_allow": gettext_lazy("Allow"),
    "sandbox_deny": gettext_lazy("Deny"),
    "name": gettext_lazy("Name"),
    "labels": gettext_lazy("Labels"),
    "fs_workspace_only": gettext_lazy("Files: workspace only"),
    "mode": gettext_lazy("Mode"),
    "security": gettext_lazy("Security"),
    "ask": gettext_lazy("Ask"),
    "key": gettext_lazy("Key"),
    "has_tools": gettext_lazy("Answers by itself"),
}
NOTES: Final[Mapping[str, Promise]] = {
    "also_allow": gettext_lazy("added to the profile"),
    "allow": gettext_lazy("empty means no extra limit"),
    "deny": gettext_lazy("always wins"),
}
HINTS: Final[Mapping[str, Promise]] = {
    "also_allow": gettext_lazy("Names, groups or * patterns. Plugin tools belong here, not in Allow."),
}


def label_of(name: str) -> str:
    """Name a field of a record for people; an unknown one is called as the code does."""
    return str(LABELS.get(name, name))


def roles_with(permission: Permission) -> str:
    """Name the roles that have a permission."""
    return ", ".join(str(getattr(role, "label", role)) for role, held in PERMISSIONS.items() if permission in held)


# --- one agent's fields ---


@dataclass(frozen=True, slots=True)
class ListField:
    """One list of names in a form, beside what is live.

    Attributes:
        live: what the live publication says; None when the agent is not in it.
        vocabulary: id of the element that holds the words to suggest.
    """

    name: str
    label: str
    note: str
    hint: str
    names: tuple[str, ...]
    live: tuple[str, ...] | None
    remarks: Sequence[Shown] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    vocabulary: str = "vocabulary"

    @property
    def text(self) -> str:
        return "\n".join(self.names)

    @property
    def added(self) -> int:
        return 0 if self.live is None else len(set(self.names) - set(self.live))

    @property
    def removed(self) -> int:
        return 0 if self.live is None else len(set(self.live) - set(self.names))

    @property
    def state(self) -> str:
        """What the script of the chips needs beside the text, as JSON."""
        warned = [remark.entry for remark in self.remarks if remark.severity != "info"]
        return json.dumps({"live": self.live, "warned": warned, "counts": self.counts}, ensure_ascii=False)


def live_rules(live: Snapshot | None, key: str) -> AgentRules | None:
    """Return what the live publication says of an agent; None when it does not know it."""
    return None if live is None else (live.engine.agents or {}).get(normalize_agent_id(key))


def list_fields(
    environment: "Environment",
    draft: Snapshot,
    values: Mapping[str, Sequence[str] | None],
    live: Policy | None,
    *,
    has_live: bool,
    prefix: str = "",
    names: Sequence[str] = ("also_allow", "allow", "deny"),
) -> list[ListField]:
    """Lay the lists of a block beside what is live, each with its remarks."""
    remarks = reviewer(environment, draft)(values)
    fields = []
    for name in names:
        listed = tuple(values.get(name) or ())
        known = () if live is None else tuple(getattr(live, name) or ())
        fields.append(
            ListField(
                name=prefix + name,
                label=label_of(name),
                note=str(NOTES[name]),
                hint=str(HINTS.get(name, "")),
                names=listed,
                live=known if has_live else None,
                remarks=remarks[name],
                counts={entry: len(tools_meant(draft, entry)) for entry in listed},
            )
        )
    return fields


def labels_field(values: Mapping[str, Any], live: AgentRules | None) -> ListField:
    """Lay the labels of an agent beside what is live."""
    return ListField(
        name="labels",
        label=label_of("labels"),
        note=_("for guardrails; OpenClaw does not see them"),
        hint=_("A guardrail about label:production means every agent with that label."),
        names=tuple(values.get("labels") or ()),
        live=None if live is None else live.labels,
        vocabulary="label-vocabulary",
    )


@dataclass(frozen=True, slots=True)
class ProfileOption:
    value: str
    label: str
    is_chosen: bool
    hint: str


def profile_options(environment: "Environment", known: Sequence[str], chosen: str | None) -> list[ProfileOption]:
    """List the profiles to choose from, with what each holds; `chosen` None inherits the global one."""
    built_in = DIALECTS[environment.dialect].profiles
    options = [ProfileOption(INHERIT, _("Inherit"), chosen is None, _("The global profile holds."))]
    if chosen == "":
        options.append(ProfileOption("", _("None"), True, _("No profile, not even the global one.")))
    for name in dict.fromkeys((*known, *([chosen] if chosen else []))):
        policy = built_in.get(name)
        if policy is None:
            hint = _("A profile of your own.") if name in known else _("There is no profile of this name.")
        elif policy.allow is None:
            hint = _("%(name)s limits nothing.") % {"name": name}
        else:
            shown = ", ".join(policy.allow[:8]) + (", …" if len(policy.allow) > 8 else "")
            hint = _("%(name)s holds %(names)s.") % {"name": name, "names": shown}
        options.append(ProfileOption(name, name, name == chosen, hint))
    return options


def fields_changed(record: "Agent", live: AgentRules | None) -> int:
    """Count the fields of the agent's form that differ from what is live."""
    if live is None:
        return 0
    policy = live.policy or Policy()
    lists = sum(tuple(getattr(policy, name) or ()) != tuple(getattr(record, name) or ()) for name in NOTES)
    return lists + (policy.profile != record.profile) + (live.labels != tuple(record.labels))


# --- the funnel ---


def block_of(values: Mapping[str, Any]) -> Policy | None:
    """Make the block that a form's values stand for; None when it says nothing."""
    lists = {name: None if values.get(name) is None else tuple(values[name]) for name in NOTES}
    policy = Policy(profile=values.get("profile"), **lists)
    return None if policy == Policy() else policy


def preview(environment: "Environment", record: "Agent", values: Mapping[str, Any], situation: Situation) -> Funnel:
    """Ask the engine what an agent would have if its block said something else, beside what is live."""
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    context = situation.context()
    started = perf_counter()
    after = simulate(draft, context, Block(layer="agent", agent=record.key), block_of(values))
    before = None if live is None else explain(live, context)
    duration_ms = max(1, round(1000 * (perf_counter() - started)))
    return funnel_of(after, before, total=len(draft.tool_names), situation=situation, duration_ms=duration_ms)


# --- conflicts ---


@dataclass(frozen=True, slots=True)
class Mistake:
    """Why a form was refused; `label` names the field, empty for the form as a whole."""

    name: str
    label: str
    text: str


def mistakes_of(form: Form) -> list[Mistake]:
    """List every mistake of a form."""
    return [Mistake(name, _label_in(form, name), str(text)) for name, texts in form.errors.items() for text in texts]


def _label_in(form: Form, name: str) -> str:
    return "" if name == "__all__" else str(form.fields[name].label or label_of(name))


@dataclass(frozen=True, slots=True)
class ConflictField:
    """One field of which two people had different ideas; `keeps` is what a save does unless told otherwise."""

    name: str
    label: str
    theirs: tuple[str, ...]
    yours: tuple[str, ...]
    keeps: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """A refused save, both sides beside each other."""

    version: int
    fields: list[ConflictField] = field(default_factory=list)


def conflict_of(error: ConflictError) -> Conflict:
    """Lay both sides of a conflict beside each other; what only they changed is theirs unless said otherwise."""
    shown = [
        ConflictField(
            name=name,
            label=label_of(name),
            theirs=_words(sides.theirs),
            yours=_words(sides.yours),
            keeps="theirs" if sides.yours == sides.base else "yours",
            is_open=_differs(sides) and sides.base not in (sides.theirs, sides.yours),
        )
        for name, sides in error.fields.items()
        if _differs(sides)
    ]
    return Conflict(error.current.version, shown)


def _differs(sides: Sides) -> bool:
    return bool(sides.theirs != sides.yours)


def _words(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)


# --- the list of agents ---


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent in the list. Numbers of tools are those of a call without model, place and sender."""

    record: "Agent"
    allowed: int
    allowed_live: int | None
    exec: ExecRules
    remarks: dict[str, int]
    is_changed: bool

    @property
    def gained(self) -> int:
        return 0 if self.allowed_live is None else self.allowed - self.allowed_live

    @property
    def lost(self) -> int:
        return max(0, -self.gained)

    @property
    def allows(self) -> list[str]:
        return [*(self.record.allow or ()), *(self.record.also_allow or ())]


@dataclass(frozen=True, slots=True)
class AgentPage:
    """A stretch of the agents that were asked for, of the draft's `tools`.

    Attributes:
        count: agents that fit; `first` and `last` say which of them these are, from 1.
        earlier, later: numbers of the pages beside this one; None at an end.
    """

    rows: list[AgentRow]
    count: int
    first: int
    earlier: int | None
    later: int | None
    tools: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


def agent_page(environment: "Environment", *, words: str = "", page: int = 1) -> AgentPage:
    """List agents of the draft whose key or name holds some words."""
    found = agents(environment, words=words)
    count = found.count()
    page = max(1, min(page, -(-count // AGENTS_SHOWN)))
    start = (page - 1) * AGENTS_SHOWN
    rows = _agent_rows(environment, found[start : start + AGENTS_SHOWN])
    later = page + 1 if start + len(rows) < count else None
    tools = len(draft_snapshot(environment).tool_names)
    return AgentPage(rows, count, start + 1, page - 1 if page > 1 else None, later, tools)


def _agent_rows(environment: "Environment", records: "Iterable[Agent]") -> list[AgentRow]:
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    remarks = reviewer(environment, draft)
    rows = []
    for record in records:
        context = CallContext(agent_id=record.key)
        rules = live_rules(live, record.key)
        rows.append(
            AgentRow(
                record=record,
                allowed=len(allowed_tools(draft, context)),
                allowed_live=len(allowed_tools(live, context)) if live is not None and rules is not None else None,
                exec=exec_rules(draft.exec_settings(record.key), dialect=draft.dialect),
                remarks=counts(remarks(lists_of(record))),
                is_changed=live is not None and (rules is None or fields_changed(record, rules) > 0),
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One rule by provider: its parts, each with a word, a colour and names."""

    record: "ProviderPolicy"
    parts: list[tuple[str, str, list[str]]]


def provider_rows(environment: "Environment", agent: "Agent | None" = None) -> list[ProviderRow]:
    """List the rules by provider of an agent, or those of every agent."""
    rows = []
    for record in provider_policies(environment, agent):
        parts: list[tuple[str, str, list[str]]] = []
        if record.profile:
            parts.append((_("profile"), "", [record.profile]))
        for name, css in (("also_allow", "c-allow"), ("allow", "c-allow"), ("deny", "c-deny")):
            names = getattr(record, name)
            if names:
                parts.append((label_of(name).lower(), css, names))
        rows.append(ProviderRow(record, parts))
    return rows


def words_in_use(snapshot: Snapshot, agent: str) -> frozenset[str]:
    """Return what an agent has in the draft, for the words of the autocomplete."""
    return frozenset(allowed_tools(snapshot, CallContext(agent_id=agent)))

"""Grants and filters as their pages show them, and what they would say to a call that somebody tries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import Role
from apps.accounts.selectors import tokens
from apps.console.agents import Conflict
from apps.console.agents import conflict_of as sides_of
from apps.console.situations import Choice, Situation, agent_names, choices_of
from apps.firewall.engine.answers import Decision
from apps.firewall.engine.content import ContentFilter, ContentRules, Filtered
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.decide import decide
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.permissions import PermissionAnswer, PermissionRules, caller_of
from apps.firewall.engine.resolve import ResolutionError
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.permitting import asks, permission_answers
from apps.policies.errors import ConflictError
from apps.texts import read_json

if TYPE_CHECKING:
    from django.forms import Form
    from django.http import QueryDict

    from apps.policies.models import ContentFilter as StoredFilter
    from apps.policies.models import PermissionGrant
    from apps.registry.models import Environment

    # Views take the types from here: models are not theirs.
    FilterRecord: TypeAlias = StoredFilter
    GrantRecord: TypeAlias = PermissionGrant

PREFIX: Final = "q-"
TEXT_LIMIT: Final = 20_000
TRIAL_LIMIT_S: Final = 0.5
CONTEXT: Final = ("agent", "where", "sender", "owner")
TONES: Final = {"granted": "allow", "depends": "ask", "missing": "deny"}
WORDS: Final[Mapping[str, Promise]] = {
    "granted": gettext_lazy("granted"),
    "depends": gettext_lazy("depends on the call"),
    "missing": gettext_lazy("missing"),
}
CONDITIONS: Final[Mapping[str, Promise]] = {
    "agent": gettext_lazy("agent"),
    "token": gettext_lazy("token"),
    "sender": gettext_lazy("sender"),
    "role": gettext_lazy("role"),
    "session": gettext_lazy("session"),
}
ACTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "mask": ("eye-off", "info"),
    "block": ("ban", "deny"),
    "warn": ("alert-triangle", "ask"),
}


@dataclass(frozen=True, slots=True)
class GrantRow:
    """One grant in the list: what, to whom, for what, and how many tools ask for it."""

    record: "GrantRecord"
    conditions: Sequence[tuple[str, str]]
    limits: Sequence[tuple[str, Sequence[str]]]
    tools: Sequence[str]


def grant_rows(snapshot: Snapshot, records: Iterable["GrantRecord"]) -> list[GrantRow]:
    """Show the grants of a draft."""
    asked = {name: _permissions_of(snapshot, name) for name in asking_tools(snapshot)}
    return [
        GrantRow(record, conditions_of(record), list(record.resources.items()), _served(snapshot, record, asked))
        for record in records
    ]


def conditions_of(record: "GrantRecord") -> list[tuple[str, str]]:
    """Say to whom a grant is, condition by condition."""
    values = {name: getattr(record, name) for name in CONDITIONS}
    if record.role:
        values["role"] = str(Role(record.role).label)
    shown = [(str(CONDITIONS[name]), value) for name, value in values.items() if value]
    return [*shown, *([(_("owners"), "")] if record.owner else [])]


def _served(snapshot: Snapshot, record: "GrantRecord", asked: Mapping[str, Sequence[str]]) -> list[str]:
    rules = PermissionRules(
        dialect_named(snapshot.dialect), [Grant(key=record.key, permissions=tuple(record.permissions))]
    )
    return [name for name, permissions in asked.items() if any(map(rules.giving, permissions))]


def asking_tools(snapshot: Snapshot) -> list[str]:
    """Name the tools that ask for a permission."""
    found = ((name, snapshot.tool(name)) for name in snapshot.tool_names)
    return [name for name, tool in found if tool is not None and asks(tool)]


def permissions_asked(snapshot: Snapshot) -> list[str]:
    """Name every permission that a tool asks for."""
    return sorted({each for name in asking_tools(snapshot) for each in _permissions_of(snapshot, name)})


def _permissions_of(snapshot: Snapshot, name: str) -> Sequence[str]:
    tool = snapshot.tool(name)
    return () if tool is None else (tool.traits or {}).get("permissions", ())


def token_choices(environment: "Environment") -> list[tuple[str, str]]:
    """Offer the tokens that may call in an environment."""
    usable = [each for each in tokens() if each.revoked_at is None and each.environment in {"", environment.slug}]
    return [(each.shown_id, f"{each.name} ({each.shown_id[:12]}…)") for each in usable]


def conflict_of(error: ConflictError, form: "Form") -> Conflict:
    """Lay both sides of a refused save beside each other, in the words of its form."""
    shown = sides_of(error)
    told = []
    for each in shown.fields:
        field_of = form.fields.get(each.name)
        label = str(field_of.label) if field_of is not None else _("Limited to")
        sides = error.fields[each.name]
        if each.name == "resources":
            each = replace(each, theirs=_limits(sides.theirs), yours=_limits(sides.yours))
        told.append(replace(each, label=label))
    return replace(shown, fields=told)


def _limits(resources: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{kind}: {', '.join(patterns)}" for kind, patterns in resources.items())


# --- would this call pass? ---


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What the grants say about one permission that a tool asks for."""

    answer: PermissionAnswer

    @property
    def css(self) -> str:
        return TONES[self.answer.verdict]

    @property
    def word(self) -> str:
        return str(WORDS[self.answer.verdict])


@dataclass(frozen=True, slots=True)
class PermissionTrial:
    """A call that somebody tries, and what would become of it.

    Attributes:
        decision: of the layers; None where nothing was asked yet.
        unsaved: the grant that is being typed takes part.
    """

    tools: Sequence[str]
    tool: str
    choices: Sequence[Choice]
    role: str = ""
    token: str = ""
    session: str = ""
    raw: str = ""
    mistake: str = ""
    decision: Decision | None = None
    answers: Sequence[ShownAnswer] = ()
    unsaved: bool = False
    roles: Sequence[tuple[str, Any]] = field(default_factory=lambda: [("", ""), *Role.choices])

    @property
    def css(self) -> str:
        """The colour of the whole: worst first."""
        if self.decision is not None and not self.decision.allowed:
            return "deny"
        tones = {each.css for each in self.answers}
        return next((tone for tone in ("deny", "ask") if tone in tones), "allow")


def permissions_in(snapshot: Snapshot, context: CallContext, name: str) -> list[ShownAnswer]:
    """Say what the grants of a snapshot say about a tool in a context, whatever its params."""
    tool = snapshot.tool(name)
    if tool is None or not asks(tool):
        return []
    try:
        caller = caller_of(snapshot.engine, context)
    except ResolutionError:
        return []  # the decision says why nothing can be said here
    return [ShownAnswer(answer) for answer in permission_answers(snapshot.permissions, tool, caller, None)]


def permission_trial(snapshot: Snapshot, given: "QueryDict", *, unsaved: Grant | None = None) -> PermissionTrial:
    """Try a call against the draft's grants, and against the one that is being typed in place of its stored self."""
    texts = {name: given.get(PREFIX + name, "")[:TEXT_LIMIT] for name in ("tool", "role", "token", "session", "params")}
    tools = asking_tools(snapshot)
    situation, mistake = _situation(snapshot, given)
    choices = choices_of(snapshot, situation)
    trial = PermissionTrial(
        tools=tools,
        tool=texts["tool"] or next(iter(tools), ""),
        choices=[choices[name] for name in CONTEXT],
        role=texts["role"],
        token=texts["token"].strip(),
        session=texts["session"].strip(),
        raw=texts["params"],
        unsaved=unsaved is not None,
    )
    if not texts["tool"]:
        return trial
    params, unread = _params(trial.raw)
    if mistake or unread:
        return replace(trial, mistake=mistake or unread)
    return _tried(snapshot, trial, situation, params, unsaved)


def _tried(
    snapshot: Snapshot,
    trial: PermissionTrial,
    situation: Situation,
    params: Mapping[str, Any] | None,
    unsaved: Grant | None,
) -> PermissionTrial:
    tool, context = snapshot.tool(trial.tool), situation.context()
    if tool is None:
        return replace(trial, mistake=_("there is no tool of this name in the draft"))
    rules = snapshot.permissions
    if unsaved is not None:
        others = [grant for grant in rules.grants if grant.key != unsaved.key]
        rules = PermissionRules(dialect_named(snapshot.dialect), [*others, unsaved])
    decision = decide(snapshot, context, trial.tool)
    try:
        caller = caller_of(snapshot.engine, context, token=trial.token, role=trial.role)
        answers = permission_answers(rules, tool, replace(caller, session=trial.session or caller.session), params)
    except ResolutionError:
        return replace(trial, decision=decision)
    except FirewallError as error:
        return replace(trial, decision=decision, mistake=error.message)
    return replace(trial, decision=decision, answers=[ShownAnswer(answer) for answer in answers])


def _situation(snapshot: Snapshot, given: "QueryDict") -> tuple[Situation, str]:
    try:
        situation = Situation.read(given.dict(), prefix=PREFIX)
    except ContextError as error:
        return Situation(), error.message
    agents = agent_names(snapshot)
    return situation if situation.agent or not agents else replace(situation, agent=agents[0]), ""


def _params(text: str) -> tuple[Mapping[str, Any] | None, str]:
    if not text.strip():
        return None, ""
    try:
        params = read_json(text)
    except ValueError:
        return None, _("the parameters are no JSON")
    return (params, "") if isinstance(params, dict) else (None, _("the parameters must be an object"))


# --- filters ---


@dataclass(frozen=True, slots=True)
class FilterRow:
    """One filter in the list."""

    record: "FilterRecord"

    @property
    def icon(self) -> str:
        return ACTIONS[self.record.action][0]

    @property
    def css(self) -> str:
        return ACTIONS[self.record.action][1]


@dataclass(frozen=True, slots=True)
class FilterTrial:
    """A text that somebody tries, and what filters make of it."""

    text: str = ""
    mistake: str = ""
    found: Filtered | None = None


def filter_trial(dialect: str, filters: Iterable[ContentFilter], text: str) -> FilterTrial:
    """Search a text with filters, whatever tools and sides they are for."""
    text = text[:TEXT_LIMIT]
    if not text:
        return FilterTrial()
    everywhere = [replace(each, tools=(), where="both") for each in filters]
    try:
        found = ContentRules(dialect_named(dialect), everywhere).search("", "params", text, limit_s=TRIAL_LIMIT_S)
    except FirewallError as error:
        return FilterTrial(text, error.message)
    return FilterTrial(text, "", found)

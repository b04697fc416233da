"""The records behind a page of exec rules, of every agent or of one, each with its form and what the review says."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, require
from apps.console import agents as shown
from apps.console.exec_forms import AgentElevatedForm, ApprovalsForm, ElevatedForm, ExecForm, PartForm
from apps.console.gate import ConsoleRequest
from apps.firewall.engine.exec_policy import ExecRules
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.kinds import MEMBERS
from apps.policies.selectors import LintFinding, approvals, approvals_agent, exec_settings, global_policy, lint_commands
from apps.policies.services import (
    approvals_agent_create,
    approvals_create,
    draft_start,
    exec_settings_create,
    record_update,
)

if TYPE_CHECKING:
    from apps.console.agents import AgentRecord, EnvironmentRecord

EVERY_AGENT: Final = "*"
AGENTS_SHOWN: Final = 50
WORDS: Final = tuple(word + where for word in ("security", "ask", "ask_fallback", "host") for where in ("", "_from"))
"""What the page shows of the rules that hold for an agent."""
Make = Callable[..., Any]
T = TypeVar("T")


@dataclass(slots=True)
class Part:
    """One form of the page: what it changes, and how it stands.

    Attributes:
        name: which form was sent. `path` is where its record stands in the document.
        make: makes the record when there is none.
    """

    name: str
    title: Promise
    path: str
    record: Any
    form: PartForm
    make: Make
    conflict: shown.Conflict | None = None
    remarks: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def version(self) -> Any:
        return self.conflict.version if self.conflict else self.form["version"].value()

    @property
    def rows(self) -> list[tuple[Any, list[Any]]]:
        """Every field that is shown, with what the review says of it."""
        return [(bound, self.remarks.get(bound.name, [])) for bound in self.form if bound.name != "version"]


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    title: Promise
    path: str
    form: type[PartForm]


def parts_of(request: ConsoleRequest, environment: "EnvironmentRecord", agent: "AgentRecord | None") -> list[Part]:
    """Gather the forms of every agent's page (`agent` None) or of one agent's."""
    by = request.user
    kinds: list[tuple[_Kind, Any, Make]] = []
    settings = exec_settings(environment, agent)
    scope = "tools" if agent is None else f"agents.{agent.key}.tools"
    kinds.append(
        (
            _Kind("exec", _("Settings"), f"{scope}.exec", ExecForm),
            settings,
            lambda **fields: exec_settings_create(environment, by=by, agent=agent, **fields),
        )
    )
    if agent is None:
        kinds += [
            (
                _Kind("approvals", _("Approvals: defaults"), "execApprovals.defaults", ApprovalsForm),
                approvals(environment),
                lambda **fields: approvals_create(environment, by=by, **fields),
            ),
            _words_of(environment, "everyone", _("Approvals: every agent"), EVERY_AGENT, by),
        ]
    else:
        kinds.append(_words_of(environment, "approvals", _("Approvals: this agent"), agent.key, by))
    elevated = _Kind(
        "elevated", _("Elevated"), f"{scope}.elevated", ElevatedForm if agent is None else AgentElevatedForm
    )
    kinds.append((elevated, agent or global_policy(environment), lambda **fields: _started(environment, by, fields)))
    findings = lint_commands([record for _kind, record, _make in kinds if record is not None])
    return [_part(request, kind, record, make, findings, inherits=agent is not None) for kind, record, make in kinds]


def _words_of(
    environment: "EnvironmentRecord", name: str, title: Promise, key: str, by: Any
) -> tuple[_Kind, Any, Make]:
    return (
        _Kind(name, title, f"execApprovals.agents.{key}", ApprovalsForm),
        approvals_agent(environment, key),
        lambda **fields: approvals_agent_create(environment, key, by=by, **fields),
    )


def _started(environment: "EnvironmentRecord", by: Any, fields: Mapping[str, Any]) -> Any:
    policy = draft_start(environment, by=by)
    return record_update(policy, fields, by=by, expected_version=policy.version)


def _part(
    request: ConsoleRequest, kind: _Kind, record: Any, make: Make, findings: list[LintFinding], *, inherits: bool
) -> Part:
    is_sent = request.method == "POST" and request.POST.get("part", "exec") == kind.name
    form = kind.form(
        request.POST if is_sent else None,
        initial=kind.form.initial_of(record),
        auto_id=f"id_{kind.name}_%s",
        inherits=inherits,
    )
    return Part(kind.name, kind.title, kind.path, record, form, make, remarks=_remarks(record, findings))


def _remarks(record: Any, findings: list[LintFinding]) -> dict[str, list[Any]]:
    """Sort what the review says of a record by the column that it speaks of."""
    found: dict[str, list[Any]] = {}
    if record is None:
        return found
    for finding in findings:
        if finding.record != record.pk:
            continue
        for member in MEMBERS.get(type(record), ()):
            if finding.path.endswith("." + ".".join(member.path)) or finding.path.endswith("." + member.path[-1]):
                found.setdefault(member.field, []).append(finding)
                break
    return found


@dataclass(frozen=True, slots=True)
class HeldRules:
    """What holds for the commands of an agent; without one, for `others` more whom the list leaves out."""

    rules: ExecRules | None
    agent: str = ""
    others: int = 0


def rules_by_agent(rules: Mapping[str, ExecRules]) -> list[HeldRules]:
    """List agents with what holds for them; of many, those for whom the usual holds are counted in one line."""
    if len(rules) <= AGENTS_SHOWN:
        return [HeldRules(each, agent) for agent, each in rules.items()]
    words = {agent: tuple(getattr(each, name) for name in WORDS) for agent, each in rules.items()}
    usual, times = Counter(words.values()).most_common(1)[0]
    apart = [agent for agent in rules if words[agent] != usual]
    alike = next(each for agent, each in rules.items() if words[agent] == usual)
    left = len(apart) - AGENTS_SHOWN
    return [
        *(HeldRules(rules[agent], agent) for agent in apart[:AGENTS_SHOWN]),
        *([HeldRules(None, others=left)] if left > 0 else []),
        HeldRules(alike, others=times),
    ]


def save_sent(request: ConsoleRequest, parts: list[Part]) -> tuple[int, Any]:
    """Save the form that was sent, if one was.

    Returns:
        The status of the page, and the record as it is saved; None when nothing is.
    """
    sent = next((part for part in parts if part.form.is_bound), None)
    if sent is None:
        return 200, None
    require(request.user, Permission.POLICY_WRITE)
    if not sent.form.is_valid():
        return 422, None
    changes = sent.form.changes(sent.record)
    wanted = {name: value for name, value in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
    try:
        if sent.record is None:
            saved = sent.make(**wanted)
        else:
            seen = sent.form.cleaned_data["version"] or 0
            saved = record_update(sent.record, wanted, by=request.user, expected_version=seen)
    except ConflictError as error:
        sent.conflict = shown.conflict_of(error)
        return 409, None
    except RecordInvalidError as error:
        sent.form.take_refusal(error)
        return 422, None
    return 200, saved

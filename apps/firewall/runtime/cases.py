"""Cases of policy tests: what a snapshot answers to a call that is only thought of, held against what was expected.

The layers of the context answer first, then permissions, then what holds for commands. Nothing of the moment takes
part: no session, no standing answer of a person, no hook, no limit. The same snapshot gives the same answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import UNKNOWN_TOOL, decide, explain_tool
from apps.firewall.engine.exec_policy import (
    ExecHostError,
    ExecRules,
    FileSystem,
    Where,
    exec_rules,
    judge,
    rules_of_call,
)
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.permissions import LAYER as PERMISSIONS
from apps.firewall.engine.permissions import PermissionAnswer, caller_of
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.permitting import permission_answers
from apps.firewall.runtime.stages.command_lists import takes_command
from apps.firewall.shell import read_line
from apps.firewall.tools.builtin.exec import PATH

Verdict = Literal["allowed", "denied", "asks"]

ERROR: Final = "error"
EXEC_POLICY: Final = "exec_policy"
CASE_LAYERS: Final = (*LAYERS, UNKNOWN_TOOL, PERMISSIONS, EXEC_POLICY)
"""Everything that a case may name as what decides."""

ALLOWED: Final = "everything that applies admits it"
NO_COMMAND: Final = "no command runs"
SOME_COMMANDS: Final = "a person is asked about commands that no list admits"
NO_TEXT: Final = "a command is a text"
NOTHING: Final[Mapping[str, Any]] = {}
OUTCOMES: Final[Mapping[str, Verdict]] = {"run": "allowed", "ask": "asks", "deny": "denied"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCase:
    """A call that is thought of, and the verdict that is expected.

    Args:
        params: of the call; None where only the tool is asked about.
        layer: one of `CASE_LAYERS` that must decide; empty where it does not matter.
    """

    name: str
    context: CallContext
    tool: str
    verdict: Verdict
    params: Mapping[str, Any] | None = None
    layer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """What a snapshot answers to a case.

    Args:
        layer, rule: what decided; both empty for what is allowed.
        grants: keys of the grants of permissions that took part.
        pattern: of the allowlist's entry that admits a command; of a line of several commands the first one's.
        patterns: of all entries that admit it.
    """

    verdict: Verdict
    reason: str
    layer: str = ""
    rule: str = ""
    grants: tuple[str, ...] = ()
    pattern: str = ""
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case with its answer; `places` are the blocks of the policy that decided it, where that was asked."""

    case: PolicyCase
    answer: CaseAnswer
    places: tuple[str, ...] = ()

    @property
    def has_passed(self) -> bool:
        """Say whether the answer is the expected one; one that failed on its way never is."""
        wanted, answer = self.case, self.answer
        return answer.layer != ERROR and wanted.verdict == answer.verdict and wanted.layer in ("", answer.layer)


def run_cases(
    snapshot: Snapshot, cases: Sequence[PolicyCase], *, files: FileSystem, with_places: bool = False
) -> list[CaseResult]:
    """Answer every case, in its order.

    Args:
        files: where programs of commands are looked for.
        with_places: work out what decided each of them, which takes longer.
    """
    results = []
    for case in cases:
        answer = answer_case(snapshot, case, files=files)
        places = deciding_places(snapshot, case, answer) if with_places else ()
        results.append(CaseResult(case, answer, places))
    return results


def answer_case(snapshot: Snapshot, case: PolicyCase, *, files: FileSystem) -> CaseAnswer:
    """Answer one case. An error on the way is a denial that says so; nothing is raised."""
    try:
        return _answer(snapshot, case, files)
    except Exception as exc:  # noqa: BLE001 - fail closed: whatever went wrong, the case has not passed
        message = exc.message if isinstance(exc, FirewallError) else str(exc)
        return CaseAnswer(verdict="denied", reason=f"the case cannot be answered: {message}", layer=ERROR)


def deciding_places(snapshot: Snapshot, case: PolicyCase, answer: CaseAnswer) -> tuple[str, ...]:
    """Name the blocks of the policy that decided a case.

    Of a tool that a layer removed that is the layer's own, otherwise those of every layer that let it pass; gates are
    no rules.
    """
    steps = explain_tool(snapshot, case.context, case.tool)
    removing = [step for step in steps if step.removed_here]
    deciding = removing or [step for step in steps if step.permits and not LAYERS[step.key].is_gate]
    places = [step.source for step in deciding if step.source]
    return tuple(dict.fromkeys([*places, *([answer.rule] if answer.layer == EXEC_POLICY else [])]))


def _answer(snapshot: Snapshot, case: PolicyCase, files: FileSystem) -> CaseAnswer:
    decision = decide(snapshot, case.context, case.tool)
    if not decision.allowed:
        return CaseAnswer(
            verdict="denied", reason=decision.reason, layer=decision.layer or ERROR, rule=decision.rule or ""
        )
    tool = snapshot.tool(decision.tool)
    if tool is None:
        return CaseAnswer(verdict="denied", reason=f"there is no tool named `{decision.tool}`", layer=UNKNOWN_TOOL)
    caller = caller_of(snapshot.engine, case.context)
    params = None if case.params is None else dict(case.params)
    permissions = permission_answers(snapshot.permissions, tool, caller, params)
    grants = tuple(dict.fromkeys(key for each in permissions for key in each.grants))
    lacking = _lacking(permissions)
    if lacking is not None:
        reason = f"{lacking.reason}: needs {lacking.remedy}"
        return CaseAnswer(verdict="denied", reason=reason, layer=PERMISSIONS, rule=lacking.permission, grants=grants)
    if takes_command(tool):
        return replace(_command(snapshot, tool, case, caller.agent, files), grants=grants)
    return CaseAnswer(verdict="allowed", reason=ALLOWED, grants=grants)


def _lacking(answers: Sequence[PermissionAnswer]) -> PermissionAnswer | None:
    return next((each for each in answers if each.verdict == "missing"), None)


def _command(snapshot: Snapshot, tool: ToolEntry, case: PolicyCase, agent: str, files: FileSystem) -> CaseAnswer:
    """Answer for a tool that runs commands: for the command of the case, or for commands as such where it has none."""
    settings = snapshot.exec_settings(agent)
    rules = exec_rules(settings, dialect=snapshot.dialect)
    asked = case.params or NOTHING
    try:
        rules = rules_of_call(rules, settings, asked if tool.name == "exec" else NOTHING, case.context)
    except ExecHostError as exc:
        return CaseAnswer(verdict="denied", reason=exc.message, layer=EXEC_POLICY, rule=exc.rule)
    if "command" not in asked:
        return _commands_as_such(rules)
    command = asked["command"]
    if not isinstance(command, str) or not command.strip():
        return CaseAnswer(verdict="denied", reason=NO_TEXT, layer=EXEC_POLICY, rule="params.command")
    where = Where(cwd="/", workspace="/", home=str(Path.home()), search_path=tuple(PATH.split(":")))
    verdict = judge(read_line(command), rules, files=files, where=where)
    if verdict.outcome == "run":
        pattern = "" if verdict.matched is None else verdict.matched.pattern
        admitting = (part.pattern for part in verdict.parts if part.pattern)
        patterns = tuple(dict.fromkeys((*((pattern,) if pattern else ()), *admitting)))
        return CaseAnswer(verdict="allowed", reason=verdict.message, pattern=pattern, patterns=patterns)
    rule = rules.security_from if verdict.outcome == "deny" else rules.ask_from
    return CaseAnswer(verdict=OUTCOMES[verdict.outcome], reason=verdict.message, layer=EXEC_POLICY, rule=rule)


def _commands_as_such(rules: ExecRules) -> CaseAnswer:
    if rules.security == "deny":
        return CaseAnswer(verdict="denied", reason=NO_COMMAND, layer=EXEC_POLICY, rule=rules.security_from)
    if rules.ask == "always" or (rules.ask == "on-miss" and rules.security == "allowlist"):
        return CaseAnswer(verdict="asks", reason=SOME_COMMANDS, layer=EXEC_POLICY, rule=rules.ask_from)
    return CaseAnswer(verdict="allowed", reason=ALLOWED)

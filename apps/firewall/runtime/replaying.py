"""Replay of the parts of a decision that come after the layers: permissions, and commands that people are asked about.

They take part only where the two snapshots differ in them, as far as the record carries what they need. Nothing of the
moment takes part: no standing answer of a person, no hook, no limit, no halt.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.diff_guards import guard_differences
from apps.firewall.engine.exec_policy import FileSystem
from apps.firewall.engine.replay import ALLOWED, Answer, Outcome, RecordedCall, Replayer, policy_answer
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.cases import PolicyCase, answer_case
from apps.firewall.runtime.stages.command_lists import takes_command

PARAMS: Final = "params"
FILTERS: Final = "filters"


@dataclass(frozen=True, slots=True)
class Later:
    """Which tools meet other rules after the layers; `filtered` other content filters that refuse."""

    judged: frozenset[str] = frozenset()
    filtered: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CallWithParams(RecordedCall):
    """A recorded call of a tool whose params take part; None where they are not on record, or not whole."""

    params: Mapping[str, Any] | None = None


class CallReplayer:
    """Holds recorded calls against a snapshot with everything that a record can answer.

    Args:
        files: where programs of commands are looked for.
    """

    def __init__(
        self,
        now: Snapshot | None,
        draft: Snapshot,
        *,
        decider: Callable[[str], Snapshot | None],
        files: FileSystem,
    ) -> None:
        self.later = Later() if now is None else later_of(now, draft)
        self._files = files
        self._policy = Replayer(now, draft, decider=decider)
        self._whole = Replayer(now, draft, decider=decider, judge=self._answer)

    def replay(self, call: RecordedCall) -> Outcome:
        """Say what becomes of a call."""
        outcome = self._policy.replay(call)
        if outcome.change != "same" or outcome.draft is None or outcome.draft.verdict == "denied":
            return outcome
        if call.tool in self.later.judged:
            if not isinstance(call, CallWithParams) or call.params is None:
                return Outcome("unknown", reason=PARAMS)
            outcome = self._whole.replay(call)
        if outcome.change == "same" and call.tool in self.later.filtered:
            return Outcome("unknown", reason=FILTERS)
        return outcome

    def _answer(self, snapshot: Snapshot, context: CallContext, call: RecordedCall) -> Answer:
        params = call.params if isinstance(call, CallWithParams) else None
        case = PolicyCase(name="", context=context, tool=call.tool, verdict="allowed", params=params)
        answer = answer_case(snapshot, case, files=self._files)
        if answer.verdict == "allowed":
            return ALLOWED
        if answer.verdict == "denied":
            plain = policy_answer(snapshot, context, call)
            if plain.verdict == "denied":
                return plain
        return Answer(answer.verdict, answer.layer, "", answer.rule)


def later_of(now: Snapshot, draft: Snapshot) -> Later:
    """Find the tools that meet other rules after the layers in one snapshot than in the other."""
    found = guard_differences(now, draft)
    judged = {tool for each in found if each.grants for tool in each.tools}
    filtered = {tool for each in found if each.filters for tool in each.tools}
    both = set(now.tool_names) & set(draft.tool_names)
    judged.update(name for name in both if _permissions(now, name) != _permissions(draft, name))
    if _exec_differs(now, draft):
        judged.update(name for name in both if _runs_commands(draft, name) or _runs_commands(now, name))
    blocking = {each.key for side in (now, draft) for each in side.content.filters if each.action == "block"}
    refusing = {
        tool
        for tool in filtered
        if blocking & {each.key for side in (now, draft) for each in side.content.concerning(tool)}
    }
    return Later(frozenset(judged), frozenset(refusing))


def _exec_differs(now: Snapshot, draft: Snapshot) -> bool:
    agents = {*(now.engine.agents or {}), *(draft.engine.agents or {}), "any-other-agent"}
    return any(now.exec_settings(agent) != draft.exec_settings(agent) for agent in agents)


def _runs_commands(snapshot: Snapshot, name: str) -> bool:
    tool = snapshot.tool(name)
    return tool is not None and takes_command(tool)


def _permissions(snapshot: Snapshot, name: str) -> object:
    tool = snapshot.tool(name)
    return None if tool is None else (tool.traits or {}).get("permissions")

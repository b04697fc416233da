"""Which rules of a snapshot past calls match: of lists, of groups and senders, and of the allowlists of commands.

What a record lacks takes every value that it may have had. A rule that matches with all of them has matched; one that
matches with some of them may have, and nobody says more.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from apps.audit.past_calls import AlikeCalls
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.matching import Rule, rules_about, rules_matched, rules_of
from apps.firewall.engine.replay import Replayer
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.cases import PolicyCase, answer_case
from apps.firewall.runtime.executors.workspaces import HostFiles
from apps.firewall.runtime.replaying import CallWithParams
from apps.firewall.runtime.stages.command_lists import takes_command
from apps.policies.replays.reading import OUTCOMES_KEPT, CallReader, deciders, left_out, question_of


class Command(NamedTuple):
    """An entry of the allowlists of commands; entries with the same pattern are told apart by nobody."""

    pattern: str


AnyRule: TypeAlias = Rule | Command


class Matches(NamedTuple):
    """The numbers of the rules that calls match, and of those that they may have matched.

    `is_vague`: their record says too little.
    """

    certain: frozenset[int]
    possible: frozenset[int]
    is_vague: bool = False


NOTHING: Final = Matches(frozenset(), frozenset())


class RuleBook:
    """The rules of one snapshot in a fixed order, so that a number is enough to name one."""

    def __init__(self, snapshot: Snapshot) -> None:
        commands = dict.fromkeys(_patterns(snapshot))
        self.rules: tuple[AnyRule, ...] = (*rules_of(snapshot.engine), *map(Command, commands))

    @cached_property
    def numbers(self) -> dict[AnyRule, int]:
        """The number of each rule."""
        return {rule: number for number, rule in enumerate(self.rules)}

    @cached_property
    def listed(self) -> tuple[Rule, ...]:
        """The rules of lists, groups and senders."""
        return tuple(rule for rule in self.rules if isinstance(rule, Rule))

    @cached_property
    def commands(self) -> frozenset[AnyRule]:
        """The entries of allowlists."""
        return frozenset(rule for rule in self.rules if isinstance(rule, Command))

    def numbered(self, rules: Iterable[AnyRule]) -> frozenset[int]:
        """Return the numbers of rules."""
        return frozenset(self.numbers[rule] for rule in rules if rule in self.numbers)


def _patterns(snapshot: Snapshot) -> Iterable[str]:
    agents = snapshot.engine.exec_approvals.get("agents")
    for agent in agents.values() if isinstance(agents, dict) else ():
        entries = agent.get("allowlist") if isinstance(agent, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("pattern"), str):
                yield entry["pattern"]


class AlikeMatcher:
    """Finds the rules that calls match, and asks no question twice."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._book = RuleBook(snapshot)
        self._replayer = Replayer(snapshot, snapshot, decider=deciders())
        self._calls, self._files = CallReader(), HostFiles()
        self._known: dict[tuple[Any, ...], Matches] = {}
        self._about: dict[str, frozenset[AnyRule]] = {}

    @property
    def with_params_of(self) -> frozenset[str]:
        """Name the tools whose calls depend on their params: those that run commands, where a list admits any."""
        return self._running if self._book.commands else frozenset()

    @cached_property
    def _running(self) -> frozenset[str]:
        tools = ((name, self._snapshot.tool(name)) for name in self._snapshot.tool_names)
        return frozenset(name for name, tool in tools if tool is not None and takes_command(tool))

    def match(self, alike: AlikeCalls) -> Matches:
        """Say which rules each of these calls matches."""
        key = question_of(alike)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= OUTCOMES_KEPT:
                self._known.clear()
                self._calls.forget()
            found = self._known[key] = self._match(alike)
        return found

    def _match(self, alike: AlikeCalls) -> Matches:
        if left_out(alike) or not alike.digest:
            return NOTHING  # no rule of a policy was asked
        call = self._calls.read(alike)
        contexts = self._replayer.contexts(call)
        if not contexts:
            about = self._book.numbered(self._may_match(call.tool))
            return Matches(frozenset(), about, is_vague=bool(about))
        answers = [self._matched(context, call) for context in contexts]
        certain = frozenset.intersection(*(sure for sure, _ in answers))
        possible = frozenset().union(*(sure | maybe for sure, maybe in answers)) - certain
        return Matches(self._book.numbered(certain), self._book.numbered(possible), is_vague=bool(possible))

    def _may_match(self, tool: str) -> frozenset[AnyRule]:
        known = self._about.get(tool)
        if known is None:
            about: frozenset[AnyRule] = frozenset(rules_about(self._snapshot.engine, self._book.listed, tool))
            known = self._about[tool] = about | (self._book.commands if tool in self._running else frozenset())
        return known

    def _matched(self, context: CallContext, call: CallWithParams) -> tuple[frozenset[AnyRule], frozenset[AnyRule]]:
        """Return the rules that match in a context, and those that may: without its params a command is not known."""
        rules: frozenset[AnyRule] = frozenset(rules_matched(self._snapshot.engine, context, call.tool))
        if call.tool not in self.with_params_of:
            return rules, frozenset()
        if call.params is None:
            return rules, self._book.commands
        case = PolicyCase(name="", context=context, tool=call.tool, verdict="allowed", params=call.params)
        answer = answer_case(self._snapshot, case, files=self._files)
        return rules | frozenset(map(Command, answer.patterns)), frozenset()


@dataclass(slots=True)
class RuleTally:
    """The rules that matched so far, and those that may have; `vague` counts the calls that leave it open."""

    certain: set[int] = field(default_factory=set)
    possible: set[int] = field(default_factory=set)
    vague: int = 0

    def add(self, matches: Matches, count: int) -> None:
        """Count calls that are alike."""
        self.certain |= matches.certain
        self.possible |= matches.possible
        self.vague += count if matches.is_vague else 0

    def to_json(self) -> dict[str, Any]:
        """Write it down; a set as a number whose bits are its members."""
        return {"certain": _written(self.certain), "possible": _written(self.possible), "vague": self.vague}

    @classmethod
    def read(cls, written: dict[str, Any]) -> "RuleTally":
        """Read what `to_json` wrote; an empty object is an empty tally."""
        certain, possible = (_read(written.get(name, "")) for name in ("certain", "possible"))
        return cls(certain, possible, written.get("vague", 0))


def _written(numbers: set[int]) -> str:
    digits = bytearray(max(numbers, default=-1) // 8 + 1)
    for number in numbers:
        digits[number // 8] |= 1 << number % 8
    return digits.hex()


def _read(text: str) -> set[int]:
    digits = bytes.fromhex(text)
    return {at * 8 + bit for at, digit in enumerate(digits) for bit in range(8) if digit >> bit & 1}

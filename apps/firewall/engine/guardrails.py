"""Guardrails held against a snapshot: over all classes of contexts, exactly, with a context in which one fails.

Who has a tool at all is found as a difference: the snapshot against itself without these tools. What is gained is all
verdicts that allow, as boxes, of which a guardrail's scope cuts out its own.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.answers import Decision
from apps.firewall.engine.blast import Met, Region, State, met_by
from apps.firewall.engine.columns import numbers_of
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import ContextClass, Conversation, SenderClass, context_of
from apps.firewall.engine.decide import decide
from apps.firewall.engine.diff import combined
from apps.firewall.engine.diff_boxes import Box, Frame
from apps.firewall.engine.diff_places import ANYBODY
from apps.firewall.engine.diff_sides import Sides
from apps.firewall.engine.exec_policy import ExecRules, exec_rules
from apps.firewall.engine.guardrail_form import GuardrailForm
from apps.firewall.engine.guardrail_prints import Fingerprints
from apps.firewall.engine.guardrail_scope import Scope, Scopes
from apps.firewall.engine.guardrail_witness import Witnesses
from apps.firewall.engine.snapshot import Snapshot

EXEC: Final = frozenset({"exec"})


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One context in which a guardrail fails, with what is decided there about the tool.

    Attributes:
        unasked_from: the setting by which nobody is asked, where that is what is wrong.
    """

    context_class: ContextClass
    context: CallContext
    tool: str
    decision: Decision
    unasked_from: str = ""


@dataclass(frozen=True, slots=True)
class GuardrailCheck:
    """What became of one guardrail.

    Attributes:
        tools: those about which it fails, sorted; entries that name no tool where one must always be there.
        agents: those with whom it fails, sorted; `*` is any other.
        classes: how many classes of contexts fail; `asked` how many there are of which it speaks.
        unmatched: entries of its tools and agents that match nothing in this snapshot.
        fingerprint: of everything that fails; it stays as long as exactly the same fails. Empty when nothing does.
    """

    tools: tuple[str, ...]
    agents: tuple[str, ...]
    classes: int
    asked: int
    unmatched: tuple[str, ...]
    counterexample: Counterexample | None
    fingerprint: str

    @property
    def holds(self) -> bool:
        return self.counterexample is None


def check_guardrails(
    snapshot: Snapshot, forms: Sequence[GuardrailForm], *, commands: Collection[str] = EXEC
) -> list[GuardrailCheck]:
    """Hold guardrails against a snapshot, in their order.

    Args:
        commands: names of the tools about whose commands people are asked.
    """
    verdicts = Verdicts(snapshot, forms, frozenset(commands))
    return [verdicts.check(number) for number in range(len(forms))]


def asks(rules: ExecRules, ask: str) -> bool:
    """Say whether people are asked about commands: about each, or about what no list admits.

    Where no command runs at all, nothing is left to ask about.
    """
    if rules.security == "deny" or rules.ask == "always":
        return True
    return ask != "always" and rules.ask == "on-miss" and rules.security == "allowlist"


class Verdicts:
    """All verdicts about the tools of some guardrails.

    Attributes:
        classes: of the snapshot, and of what the guardrails name.
    """

    def __init__(self, snapshot: Snapshot, forms: Sequence[GuardrailForm], commands: frozenset[str]) -> None:
        self._snapshot = snapshot
        self._engine = engine = snapshot.engine
        self._forms = forms
        self._commands = commands
        every = engine.candidates(engine.universe.full)
        self._masks = [[(entry, every.entry_mask(entry)) for entry in form.tools] for form in forms]
        touched = 0
        for masks in self._masks:
            for _, mask in masks:
                touched |= mask
        self._scopes = Scopes(snapshot, forms)
        self._sides = Sides(
            engine,
            engine,
            self._scopes.classes,
            self._scopes.naming,
            also=self._scopes.named,
            mark=self._scopes.mark,
            without=touched,
        )
        self._frame = Frame(self._sides)
        self._boxes = combined(self._sides, self._frame)
        self._witnesses = Witnesses(self._frame)
        self._prints = Fingerprints(self._frame)
        self._there = frozenset(self._frame.voices)
        self._unasked: dict[tuple[str, str], str] = {}
        self.classes = self._scopes.classes

    def tells_apart(self, conversation: Conversation, sender: SenderClass) -> bool:
        """Say whether a sender counts as more than anybody in a conversation."""
        return sender in self._sides.apart or sender == ANYBODY or (conversation, sender) in self._there

    def check(self, number: int) -> GuardrailCheck:
        """Check one guardrail."""
        form = self._forms[number]
        scope = self._scopes.scope(number, self._sides, self._frame)
        failing = {tool: boxes for tool, boxes in self._failing(number, form, scope).items() if boxes}
        every = [box for boxes in failing.values() for box in boxes]
        tools = tuple(sorted(failing))
        agents, classes = self._counted(every)
        return GuardrailCheck(
            tools=tools,
            agents=agents,
            classes=classes,
            asked=self._size(scope),
            unmatched=self._unmatched(number, form),
            counterexample=self._counterexample(form, failing) if failing else None,
            fingerprint=self._prints.of(tools, agents, classes, every) if failing else "",
        )

    # --- what fails ---

    def _failing(self, number: int, form: GuardrailForm, scope: Scope) -> dict[str, list[Box]]:
        touched = 0
        for _, mask in self._masks[number]:
            touched |= mask
        names = self._engine.universe.names_of(touched)
        if form.requires == "always":
            missing = [entry for entry, mask in self._masks[number] if not mask]
            return {
                **{name: self._outside(self._allowed(name, scope), scope) for name in names},
                **{entry: self._outside([], scope) for entry in missing},
            }
        if form.requires == "never":
            return {name: self._allowed(name, scope) for name in names}
        return {name: self._allowed(name, scope._replace(whos=self._whos_unasked(name, form, scope))) for name in names}

    def _allowed(self, tool: str, scope: Scope) -> list[Box]:
        """Return where a tool is allowed within a scope."""
        found: list[Box] = []
        for box in self._boxes.get((tool, True), ()):
            whos = box.whos & scope.whos
            states: dict[int, list[State]] = defaultdict(list)
            for state in box.states if whos else ():
                states[box.groups & scope.groups.get(state, 0)].append(state)
            for groups, own in states.items():
                silent, voices = self._frame.allowed(groups)
                silent, voices = box.silent & scope.silent & silent, box.voices & scope.voices & voices
                if groups and self._frame.count(groups, silent, voices):
                    found.append(Box(self._frame, whos, groups, silent, voices, tuple(own)))
        return found

    def _outside(self, boxes: list[Box], scope: Scope) -> list[Box]:
        """Return everything of a scope that is in none of some boxes within it."""
        cells = list(met_by(boxes))
        rest = scope.whos
        for cell in cells:
            rest &= ~cell.whos
        found: list[Box] = []
        for cell in (*cells, Met(rest, {})):
            if not cell.whos:
                continue
            alike: dict[tuple[int, int, int], list[State]] = defaultdict(list)
            for state, groups in scope.groups.items():
                for where in self._remaining(cell.regions.get(state), groups, scope):
                    alike[where].append(state)
            found += [Box(self._frame, cell.whos, *where, tuple(states)) for where, states in alike.items()]
        return found

    def _remaining(self, region: Region | None, groups: int, scope: Scope) -> Iterator[tuple[int, int, int]]:
        """Return where a scope is outside a region; groups of speakers with the same conversations together."""
        taken = dict(region.silent) if region is not None else {}
        spoken = region.voices if region is not None else 0
        alike: dict[int, int] = defaultdict(int)
        for group in numbers_of(groups):
            alike[scope.silent & self._frame.groups[group].channel & ~taken.get(group, 0)] |= 1 << group
        for silent, together in alike.items():
            where = (together, silent, scope.voices & ~spoken & self._frame.allowed(together)[1])
            if self._frame.count(*where):
                yield where

    def _whos_unasked(self, tool: str, form: GuardrailForm, scope: Scope) -> int:
        """Return those of a scope with whom nobody is asked about a tool."""
        if tool not in self._commands:
            return scope.whos
        found = 0
        for number in numbers_of(scope.whos):
            if self._unasked_from(self._frame.whos[number][0], form.ask):
                found |= 1 << number
        return found

    def _unasked_from(self, agent: str, ask: str) -> str:
        """Name the setting by which people are not asked about an agent's commands; empty when they are."""
        known = self._unasked.get((agent, ask))
        if known is None:
            known = self._unasked[agent, ask] = _unasked_from(self._engine, agent, ask)
        return known

    # --- what is said about it ---

    def _counted(self, boxes: list[Box]) -> tuple[tuple[str, ...], int]:
        agents: set[str] = set()
        classes = 0
        sizes: dict[Region, int] = {}
        for met in met_by(boxes):
            agents.update(self._frame.whos[number][0] for number in numbers_of(met.whos))
            for region in met.regions.values():
                if region not in sizes:
                    sizes[region] = region.count(self._frame)
                classes += sizes[region] * met.whos.bit_count()
        return tuple(sorted(agents)), classes

    def _size(self, scope: Scope) -> int:
        places: dict[int, int] = {}
        for groups in scope.groups.values():
            silent, voices = self._frame.allowed(groups)
            places[groups] = self._frame.count(groups, scope.silent & silent, scope.voices & voices)
        return scope.whos.bit_count() * sum(places[groups] for groups in scope.groups.values())

    def _unmatched(self, number: int, form: GuardrailForm) -> tuple[str, ...]:
        tools = [entry for entry, mask in self._masks[number] if not mask]
        return (*tools, *self._scopes.agents_unmatched(form))

    def _counterexample(self, form: GuardrailForm, failing: dict[str, list[Box]]) -> Counterexample:
        tool, found = self._witnesses.most_readable(failing)
        context = context_of(found)
        unasked = form.requires == "asks" and tool in self._commands
        return Counterexample(
            context_class=found,
            context=context,
            tool=tool,
            decision=decide(self._snapshot, context, tool),
            unasked_from=self._unasked_from(found.agent, form.ask) if unasked else "",
        )


def _unasked_from(engine: Engine, agent: str, ask: str) -> str:
    settings = engine.exec_settings("any-other-agent" if agent == "*" else agent)
    rules = exec_rules(settings, dialect=engine.dialect.release)
    if not asks(rules, ask):
        is_loose = rules.ask == "on-miss" and ask != "always"
        return rules.security_from if is_loose else rules.ask_from
    lifts = engine.dialect.elevated_lifts_settings and settings.elevated_level == "full"
    blocks = (settings.elevated, settings.elevated_own)
    if rules.security == "deny" or not lifts or any(block.get("enabled") is False for block in blocks):
        return ""
    lists = settings.elevated.get("allowFrom")
    named = isinstance(lists, dict) and any(isinstance(each, list) and each for each in lists.values())
    return "agents.defaults.elevatedDefault" if named else ""

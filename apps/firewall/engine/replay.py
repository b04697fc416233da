"""Replay: what another policy would have decided about a call that is on record.

The record says what the policy decided then. What it lacks takes every value that it may have had; those that the
policy of then would have decided otherwise are out. If the rest agree, the answer is known, otherwise it is not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from apps.firewall.engine.completions import completions, lacking_dimensions
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import classes_of
from apps.firewall.engine.decide import UNKNOWN_TOOL, decide
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.recorded import RecordedContext
from apps.firewall.engine.resolve import CONTEXT_CODES
from apps.firewall.engine.snapshot import Snapshot

Verdict: TypeAlias = Literal["allowed", "asks", "denied"]
Change: TypeAlias = Literal["blocked", "allowed", "asked", "unasked", "same", "unknown"]
"""`asked`: it ran by itself and would ask a person; `unasked` the other way round."""

POLICY_LAYERS: Final = frozenset((*LAYERS, UNKNOWN_TOOL, *CONTEXT_CODES))
"""What a record names as deciding layer where the policy itself refused."""

BROUGHT: Final = "brought"
UNEXPLAINED: Final = "unexplained"
NOT_ASKED: Final = "not_asked"
OPEN: Final = "context"


class Answer(NamedTuple):
    """What one snapshot says to a call, and by what."""

    verdict: Verdict
    layer: str = ""
    label: str = ""
    rule: str = ""


ALLOWED: Final = Answer("allowed")


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as its record tells it.

    Args:
        denied_by: the layer of the policy that refused it; empty when the policy let it pass.
        digest: of the snapshot that decided; empty where none was asked.
        is_brought: the run's caller brought the tool: no snapshot need have it.
    """

    context: RecordedContext
    tool: str
    denied_by: str
    digest: str
    is_brought: bool = False


class Outcome(NamedTuple):
    """What becomes of a call.

    Attributes:
        now, draft: what is live says, and what is replayed against; None of both for an unknown one.
        reason: of an unknown one: a code of this module, or the dimension of the context that the record lacks.
    """

    change: Change
    now: Answer | None = None
    draft: Answer | None = None
    reason: str = ""


Judge: TypeAlias = Callable[[Snapshot, CallContext, RecordedCall], Answer]


def policy_answer(snapshot: Snapshot, context: CallContext, call: RecordedCall) -> Answer:
    """Answer with the layers of the policy alone."""
    decision = decide(snapshot, context, call.tool)
    if decision.allowed:
        return ALLOWED
    return Answer("denied", decision.layer or "", decision.label or "", decision.rule or "")


class Replayer:
    """Holds recorded calls against a snapshot.

    Args:
        now: what is live; None before the first publication, when the record alone says what was.
        draft: what is replayed against.
        decider: finds a snapshot of the past by its digest; None for one that cannot be had.
        judge: answers for a snapshot; the policy alone unless told.
    """

    def __init__(
        self,
        now: Snapshot | None,
        draft: Snapshot,
        *,
        decider: Callable[[str], Snapshot | None],
        judge: Judge = policy_answer,
    ) -> None:
        self._now, self._draft, self._judge = now, draft, judge
        self._decider = decider
        self._classes = classes_of(*([draft] if now is None else [now, draft]))

    def replay(self, call: RecordedCall) -> Outcome:
        """Say what becomes of a call."""
        if not call.digest:
            return Outcome("unknown", reason=NOT_ASKED)
        possible = completions(call.context, self._classes)
        if not possible:
            return Outcome("unknown", reason=OPEN)
        contexts = self._consistent(call, possible)
        if not contexts:
            return Outcome("unknown", reason=BROUGHT if call.is_brought else UNEXPLAINED)
        first = self._outcome(contexts[0], call)
        for context in contexts[1:]:
            if self._outcome(context, call).change != first.change:
                return Outcome("unknown", reason=self._lacking(call, contexts))
        return first

    def contexts(self, call: RecordedCall) -> list[CallContext]:
        """Return every context that a record may have been about.

        None of them, where it leaves too much open, or the snapshot that decided gives another answer.
        """
        return self._consistent(call, completions(call.context, self._classes))

    def _consistent(self, call: RecordedCall, possible: tuple[CallContext, ...]) -> list[CallContext]:
        """Return the contexts for which the snapshot that decided gives the answer that is on record."""
        then = self._snapshot(call)
        if then is None:
            return list(possible)
        return [context for context in possible if _denied_by(then, context, call.tool) == call.denied_by]

    def _snapshot(self, call: RecordedCall) -> Snapshot | None:
        for known in (self._now, self._draft):
            if known is not None and known.digest == call.digest:
                return known
        if call.context.lacks:  # it may tell apart what the two do not, so that the completions do not stand for all
            return None
        return self._decider(call.digest)

    def _outcome(self, context: CallContext, call: RecordedCall) -> Outcome:
        now = self._now_answer(context, call)
        draft = self._judge(self._draft, context, call)
        return Outcome(change_of(now.verdict, draft.verdict), now, draft)

    def _now_answer(self, context: CallContext, call: RecordedCall) -> Answer:
        if self._now is None:
            return Answer("denied", call.denied_by) if call.denied_by else ALLOWED
        if self._judge is policy_answer and call.digest == self._now.digest and not call.denied_by:
            return ALLOWED  # this very snapshot let it pass, and the context agrees
        return self._judge(self._now, context, call)

    def _lacking(self, call: RecordedCall, contexts: list[CallContext]) -> str:
        """Name what decides and is not on record: the first of it that, alone, makes a difference."""
        lacking = lacking_dimensions(call.context)
        for dimension in lacking:
            rest: dict[tuple[object, ...], str] = {}
            others = [name for each in lacking if each is not dimension for name in sorted(each.members)]
            for context in contexts:
                key = tuple(repr(getattr(context, name)) for name in others)
                change = self._outcome(context, call).change
                if rest.setdefault(key, change) != change:
                    return dimension.name
        return lacking[0].name


def change_of(now: Verdict, draft: Verdict) -> Change:
    """Say what becomes of a call whose verdict changes."""
    if now == draft:
        return "same"
    if draft == "denied":
        return "blocked"
    if now == "denied":
        return "allowed"
    return "asked" if draft == "asks" else "unasked"


def _denied_by(snapshot: Snapshot, context: CallContext, tool: str) -> str:
    decision = decide(snapshot, context, tool)
    return "" if decision.allowed else decision.layer or UNKNOWN_TOOL

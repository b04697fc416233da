"""Which rule wins for somebody who speaks: every key that is tried, in order, and what is not read any more.

Asks the same chains and indexes as a decision does; only the telling is here.
Source: conformance README, "Rules of `by_sender`" and "Rules of `tools`".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.groups import Place
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.resolve import open_resolution
from apps.firewall.engine.senders import Sender, SenderIndex

TOOLS: Final = "tools"
"""The kind of the step that asks an entry's own block, whoever speaks."""

SENDER_LAYER: Final = "sender"


class Outcome(StrEnum):
    """What becomes of one step."""

    NO_MATCH = "no_match"
    DECIDES = "decides"
    PASSES_ON = "passes_on"
    NOT_READ = "not_read"
    NOT_ASKED = "not_asked"


_ANSWERS: Final = (Outcome.DECIDES, Outcome.PASSES_ON)


@dataclass(frozen=True, slots=True)
class Rung:
    """One step.

    Attributes:
        place: the entry that is asked, below `channels`; of the sender layer `("agents", <name>)`, or nothing.
        kind: a kind of sender key, or `tools`.
        value: what of the sender is looked for; "" when the sender has no such name.
        key: the key of the rule that is found, as written.
        policy: what is found there.
    """

    place: tuple[str, ...]
    kind: str
    value: str
    key: str | None
    policy: Policy | None
    outcome: Outcome


def group_ladder(engine: Engine, context: CallContext) -> tuple[Rung, ...]:
    """Tell which block of the context's channel holds; none decides where no rung says so.

    Raises:
        ResolutionError: nothing can be decided in this context.
    """
    resolution = open_resolution(engine, context)
    rungs: list[Rung] = []
    told: dict[object, bool | None] = {}  # whether a place answered; None when it was not read
    decided, sender = False, resolution.group_sender
    for path, chain in resolution.chains:
        answered = decided
        for each in chain:
            place = each.of_sender(sender)
            if place is None:
                continue
            mark = (place.path, place.senders, place.phones)
            if mark in told and (answered or told[mark] is not None):  # asked again, a place says what it said
                answered = answered or bool(told[mark])
                continue
            own = _of_place(engine, (path.removeprefix("channels."), *place.path), place, sender, answered)
            if answered:
                told[mark] = None
            else:
                told[mark] = answered = any(rung.outcome in _ANSWERS for rung in own)
            decided = decided or any(rung.outcome is Outcome.DECIDES for rung in own)
            rungs += own
    return tuple(rungs)


def _of_place(engine: Engine, where: tuple[str, ...], place: Place[int], sender: Sender, answered: bool) -> list[Rung]:
    rungs = []
    for kind, value, found in _asked(engine, place, sender):
        rungs.append(_rung(engine, where, kind, value, found, is_read=not answered))
        answered = answered or rungs[-1].outcome in _ANSWERS
    return rungs


def sender_ladder(engine: Engine, context: CallContext) -> tuple[Rung, ...]:
    """Tell which rule of the sender layer holds: the agent's, then those of everybody.

    Raises:
        ResolutionError: nothing can be decided in this context.
    """
    resolution = open_resolution(engine, context)
    if SENDER_LAYER not in engine.dialect.layers:
        return ()
    agent = resolution.opening.agent
    scopes: list[tuple[tuple[str, ...], SenderIndex[int] | None]] = [((), engine.senders)]
    if agent is not None:
        scopes.insert(0, (("agents", resolution.opening.agent_name or "main"), agent.senders))
    is_exempt = bool(resolution.is_owner) and resolution.talk.is_webchat
    rungs: list[Rung] = []
    for where, index in scopes:
        for kind, value, found in _tried(engine, index, resolution.sender):
            is_read = not any(rung.outcome is Outcome.DECIDES for rung in rungs)
            rung = _rung(engine, where, kind, value, found, is_read=is_read, says_nothing=Outcome.DECIDES)
            rungs.append(replace(rung, outcome=Outcome.NOT_ASKED) if is_exempt else rung)
    return tuple(rungs)


_Asked = tuple[str, str, tuple[str | None, int] | None]


def _asked(engine: Engine, place: Place[int], sender: Sender) -> Iterator[_Asked]:
    entry = place.entry
    if entry is None:
        return
    if entry.senders is not None:
        if place.senders:
            yield from _tried(engine, entry.senders, sender if place.phones else replace(sender, e164=None))
        else:
            yield "", "", None
    yield TOOLS, "", None if entry.tools is None else (None, entry.tools)


def _tried(engine: Engine, index: SenderIndex[int] | None, sender: Sender) -> Iterator[_Asked]:
    for kind, value, found in index.tries(sender) if index is not None else ():
        if kind != "channel" or engine.dialect.sender_channel_keys:
            yield kind, value, found


def _rung(
    engine: Engine,
    where: Sequence[str],
    kind: str,
    value: str,
    found: tuple[str | None, int] | None,
    *,
    is_read: bool,
    says_nothing: Outcome = Outcome.PASSES_ON,
) -> Rung:
    if not kind:
        outcome = Outcome.NOT_ASKED
    elif not is_read:
        outcome = Outcome.NOT_READ
    elif found is None:
        outcome = Outcome.NO_MATCH
    else:
        outcome = says_nothing if engine.blocks[found[1]] is None else Outcome.DECIDES
    key, position = found or (None, None)
    policy = None if position is None else engine.policies[position]
    return Rung(tuple(where), kind, value, key, policy, outcome)

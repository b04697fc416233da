"""Of whom guardrails speak: the classes of contexts with all that they name, and each one's share of them as masks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from apps.firewall.engine.blast import State
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.contexts import (
    ANY_OTHER,
    Classes,
    Conversation,
    Naming,
    SenderClass,
    classes_of,
    sender_of,
)
from apps.firewall.engine.diff_boxes import Frame
from apps.firewall.engine.diff_places import ANYBODY, mask_of_numbers
from apps.firewall.engine.diff_sides import Bearing, Sides
from apps.firewall.engine.guardrail_form import LABEL, GuardrailForm
from apps.firewall.engine.names import fold, read_glob
from apps.firewall.engine.owners import WEBCHAT
from apps.firewall.engine.senders import SenderIndex, compile_senders, normalize_channel
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.snapshot import Snapshot


class Marking(NamedTuple):
    """Who a sender is to guardrails: an owner by the snapshot's list, and in which of their lists of senders."""

    is_owner: bool | None
    lists: frozenset[int]


class Scope(NamedTuple):
    """Of whom one guardrail speaks, as masks of a frame; `groups` are the speakers who are meant in each state."""

    whos: int
    silent: int
    voices: int
    groups: Mapping[State, int]


class Scopes:
    """The scopes of several guardrails over one snapshot.

    Attributes:
        classes: of the snapshot, and whatever the guardrails name besides.
        named: the senders whom they name.
    """

    def __init__(self, snapshot: Snapshot, forms: Sequence[GuardrailForm]) -> None:
        self.engine: Engine = snapshot.engine
        self.naming = Naming()
        self._forms = forms
        dialect = self.engine.dialect
        self._lists: list[SenderIndex[int] | None] = [
            compile_senders(dialect, ((key, 0) for key in form.senders)) if form.senders else None for form in forms
        ]
        self.named = tuple(
            dict.fromkeys(each for index in self._lists if index for each in self.naming.classes_in(index))
        )
        self.classes = self._widened(classes_of(snapshot, naming=self.naming))
        self._inside: dict[str, list[int]] = {}
        self._heard: dict[int, int] = {}

    def mark(self, sender: SenderClass, channel: str) -> Marking:
        """Say who somebody is that speaks on a channel."""
        speaking = sender_of(sender, Conversation(channel=channel))
        found = (at for at, index in enumerate(self._lists) if index is not None and index.find(speaking) is not None)
        return Marking(self.engine.owners.knows(speaking.channel, speaking), frozenset(found))

    def scope(self, number: int, sides: Sides, frame: Frame) -> Scope:
        """Return the scope of one of the guardrails."""
        form = self._forms[number]
        silent = self._conversations(form, sides)
        bearings = tuple(sides.bearings)
        groups = {
            (is_owner, depth): _mask(self._is_meant(number, bearing, is_owner) for bearing in bearings)
            for is_owner in self.classes.owners
            for depth in self.classes.depths
            if depth >= form.min_depth
        }
        return Scope(
            whos=_mask(self._is_who(form, agent, sandboxed) for agent, _, sandboxed in frame.whos),
            silent=silent,
            voices=self._voices(silent, frame),
            groups=groups,
        )

    def agents_unmatched(self, form: GuardrailForm) -> Iterator[str]:
        """Return the entries that fit no agent of the snapshot."""
        for entry in form.agents:
            if not any(self._fits(entry, agent) for agent in self.classes.agents if agent != ANY_OTHER):
                yield entry

    # --- what guardrails name ---

    def _widened(self, classes: Classes) -> Classes:
        """Add what guardrails tell apart though no layer does: groups from direct conversations, depths, names."""
        conversations = {*classes.conversations, *self._conversations_named(classes)}
        depths = {*classes.depths, *(form.min_depth for form in self._forms)}
        return replace(
            classes,
            conversations=tuple(sorted(conversations)),
            senders=(*sorted({*classes.senders[:-1], *self.named}), ANYBODY) if self.named else classes.senders,
            depths=tuple(sorted(depths)),
        )

    def _conversations_named(self, classes: Classes) -> Iterator[Conversation]:
        dialect = self.engine.dialect
        named = {normalize_channel(dialect, channel) for form in self._forms for channel in form.channels}
        named |= {sender.channel for sender in self.named}
        named |= {WEBCHAT, *(each.channel for each in classes.conversations)}
        split = [_split(entry) for form in self._forms for entry in form.groups]
        named |= {normalize_channel(dialect, channel) for channel, _ in split if channel}
        for channel in named - {""}:
            yield Conversation(channel)
            yield Conversation(channel, "", "", ANY_OTHER)
            for place, group in split:
                if not place or normalize_channel(dialect, place) == channel:
                    yield Conversation(channel, "", "", group)

    # --- who is meant ---

    def _is_who(self, form: GuardrailForm, agent: str, sandboxed: bool) -> bool:
        if form.sandboxed is not None and form.sandboxed is not sandboxed:
            return False
        return not form.agents or (agent != ANY_OTHER and any(self._fits(entry, agent) for entry in form.agents))

    def _fits(self, entry: str, agent: str) -> bool:
        folded = fold(entry)
        if not folded.startswith(LABEL):
            return read_glob(folded).matches(agent) if "*" in folded else normalize_agent_id(folded) == agent
        wanted, rules = fold(folded.removeprefix(LABEL)), (self.engine.agents or {}).get(agent)
        labels = () if rules is None else map(fold, rules.labels)
        return any(read_glob(wanted).matches(label) if "*" in wanted else wanted == label for label in labels)

    def _is_meant(self, number: int, bearing: Bearing, is_owner: bool | None) -> bool:
        mark, kind = cast(Marking, bearing.mark), self._forms[number].sender
        known = mark.is_owner if is_owner is None else is_owner
        if kind == "named":
            return number in mark.lists
        return kind == "anybody" or (known is True) is (kind == "owner")

    def _voices(self, silent: int, frame: Frame) -> int:
        """Return the voices of some conversations."""
        known = self._heard.get(silent)
        if known is None:
            digits = format(silent, f"0{len(frame.conversations)}b")[::-1]
            known = self._heard[silent] = int("".join([digits[at] for at in reversed(frame.voice_at)]) or "0", 2)
        return known

    def _conversations(self, form: GuardrailForm, sides: Sides) -> int:
        every = self.classes.conversations
        channels = {normalize_channel(self.engine.dialect, each) for each in form.channels}
        numbers = [
            at
            for at in (self._grouped(form, sides) if form.groups else range(len(every)))
            if (form.place == "anywhere" or (form.place == "group") is bool(every[at].group))
            and (not channels or every[at].channel in channels)
        ]
        return mask_of_numbers(numbers, len(every))

    def _grouped(self, form: GuardrailForm, sides: Sides) -> set[int]:
        """Return the conversations in the groups that a guardrail names."""
        if not self._inside:
            self._inside = self._conversations_by_group(sides)
        found: set[int] = set()
        for channel, group in map(_split, form.groups):
            inside = self._inside.get(fold(group), ())
            if channel:
                own = normalize_channel(self.engine.dialect, channel)
                inside = [at for at in inside if self.classes.conversations[at].channel == own]
            found.update(inside)
        return found

    def _conversations_by_group(self, sides: Sides) -> dict[str, list[int]]:
        """List the conversations by the ids of the groups around them: their own, those above, their space."""
        inside: dict[str, list[int]] = defaultdict(list)
        for at, where in enumerate(self.classes.conversations):
            ids = (*sides.places.group_ids[at], where.group, where.space) if where.group else ()
            for name in {fold(each) for each in ids if each and each != ANY_OTHER}:
                inside[name].append(at)
        return inside


def _split(entry: str) -> tuple[str, str]:
    """Take a group apart: its channel, or nothing, and its id."""
    channel, slash, group = entry.strip().partition("/")
    return (channel, group) if slash else ("", channel)


def _mask(chosen: Iterable[bool]) -> int:
    digits = "".join("1" if each else "0" for each in chosen)
    return int(digits[::-1] or "0", 2)

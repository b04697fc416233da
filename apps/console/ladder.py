"""The ladder of a sender as people read it: what is tried, what matches, what is not read any more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.agents import label_of
from apps.console.layers import layer_name
from apps.console.situations import Situation
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.ladder import TOOLS, Outcome, Rung, group_ladder, sender_ladder
from apps.firewall.engine.layers import layers_of
from apps.firewall.engine.policy import Policy
from apps.firewall.errors import FirewallError

FIELDS: Final = ("id", "e164", "username", "name", "channel")
TEXT_LIMIT: Final = 512
UNKNOWN: Final[Mapping[str, Promise]] = {
    "channel": gettext_lazy("the sender has no id on a channel"),
    "id": gettext_lazy("the sender has no id"),
    "e164": gettext_lazy("the sender has no phone number"),
    "username": gettext_lazy("the sender has no user name"),
    "name": gettext_lazy("the sender has no display name"),
}
WORDS: Final[Mapping[Outcome, Promise]] = {
    Outcome.NO_MATCH: gettext_lazy("no match"),
    Outcome.DECIDES: gettext_lazy("decides"),
    Outcome.PASSES_ON: gettext_lazy("says nothing"),
    Outcome.NOT_READ: gettext_lazy("not read"),
    Outcome.NOT_ASKED: gettext_lazy("not asked"),
}
CSS: Final = {Outcome.DECIDES: "hit", Outcome.NOT_READ: "after", Outcome.NOT_ASKED: "after"}

Part = tuple[str, str, Sequence[str]]
"""A list of a block: its name, a colour, its entries."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """The sender that is tried, as typed."""

    id: str = ""
    e164: str = ""
    username: str = ""
    name: str = ""
    channel: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Speaker":
        return cls(**{field: str(given.get(f"try_{field}", ""))[:TEXT_LIMIT].strip() for field in FIELDS})

    @classmethod
    def of_key(cls, key: str) -> "Speaker":
        """Make the sender whom a key names; nobody for `*`."""
        kind, colon, value = key.strip().partition(":")
        kind = kind.lower()
        if colon and kind == "channel":
            channel, _colon, sender = value.partition(":")
            return cls(id=sender.strip(), channel=channel.strip())
        if colon and kind in FIELDS:
            return cls(**{kind: value.strip()})
        return cls() if key.strip() in {"", "*"} else cls(id=key.strip())

    @property
    def is_nobody(self) -> bool:
        return not (self.id or self.e164 or self.username or self.name)

    @property
    def key(self) -> str:
        """Name the sender as the explorer's form does."""
        if self.id:
            return f"channel:{self.channel}:{self.id}" if self.channel else f"id:{self.id}"
        return next((f"{kind}:{value}" for kind in FIELDS[1:4] if (value := getattr(self, kind))), "")

    def speaks_in(self, context: CallContext) -> CallContext:
        """Return a context in which this sender speaks."""
        return replace(
            context,
            channel=self.channel or context.channel,
            sender_id=self.id or None,
            sender_e164=self.e164 or None,
            sender_username=self.username or None,
            sender_name=self.name or None,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the ladder; `note` says why nothing was found."""

    title: str
    key: str
    parts: Sequence[Part]
    note: str
    outcome: str
    word: str
    css: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """Every line, and where the layer stands among those of the release.

    Attributes:
        error: why nothing can be told; empty normally.
        explorer: the address of the whole explanation for this sender.
    """

    steps: Sequence[Step]
    error: str
    number: int
    layers: int
    name: str
    explorer: str


def parts_of(policy: Policy | None) -> list[Part]:
    """Lay out what a block says, list by list."""
    found: list[Part] = []
    for name, css in (("also_allow", "c-allow"), ("allow", "c-allow"), ("deny", "c-deny")):
        names = getattr(policy, name, None)
        if names:
            found.append((label_of(name).lower(), css, names))
    return found


def ladder_of(
    engine: Engine, context: CallContext, *, own: tuple[str, ...] | None, situation: Situation, speaker: Speaker
) -> Ladder:
    """Tell which rule wins.

    Args:
        own: the group of the page, as its channel and the path below; None for the sender layer.
        situation: what the link to the explorer carries.
    """
    layer = "sender" if own is None else "group"
    try:
        rungs = sender_ladder(engine, context) if own is None else group_ladder(engine, context)
        error = ""
    except FirewallError as exc:
        rungs, error = (), exc.message
    layers = [each.key for each in layers_of(engine.dialect)]
    return Ladder(
        steps=[*_steps(rungs, own), *_end(rungs, layer, error)],
        error=error,
        number=layers.index(layer) + 1 if layer in layers else 0,
        layers=len(layers),
        name=layer_name(layer),
        explorer=replace(situation, sender=speaker.key).url(reverse("explorer"), at="draft"),
    )


def _steps(rungs: Sequence[Rung], own: tuple[str, ...] | None) -> list[Step]:
    steps: list[Step] = []
    skipped: set[tuple[str, ...]] = set()
    for rung in rungs:
        is_empty = rung.outcome is Outcome.NOT_READ and rung.policy is None
        if is_empty and rung.kind == TOOLS:
            continue
        if is_empty:
            if rung.place not in skipped:
                steps.append(_step(rung, _("%(place)s, by sender") % {"place": _place(rung.place, own)}))
            skipped.add(rung.place)
        else:
            steps.append(_step(rung, _title(rung, own)))
    return steps


def _step(rung: Rung, title: str) -> Step:
    note = ""
    if rung.outcome is Outcome.NO_MATCH and rung.kind in UNKNOWN:
        note = _("%(value)s is not listed") % {"value": rung.value} if rung.value else str(UNKNOWN[rung.kind])
    elif rung.outcome is Outcome.NO_MATCH:
        note = _("there is no such rule") if rung.kind == "*" else _("it has no rule for everyone")
    elif rung.outcome is Outcome.NOT_ASKED:
        note = _("rules by sender do not count here")
    elif rung.policy is not None and not parts_of(rung.policy):
        note = _("no lists at all")
    return Step(
        title=title,
        key=rung.key or "",
        parts=parts_of(rung.policy),
        note=note,
        outcome=str(rung.outcome),
        word=str(WORDS[rung.outcome]),
        css=CSS.get(rung.outcome, ""),
    )


def _title(rung: Rung, own: tuple[str, ...] | None) -> str:
    place = {"place": _place(rung.place, own)}
    if rung.kind == TOOLS:
        return _("%(place)s, everyone") % place
    if rung.kind == "*":
        return _("%(place)s, any other sender") % place
    if not rung.kind:
        return _("%(place)s, by sender") % place
    return _("%(place)s, by %(kind)s") % (place | {"kind": rung.kind})


def _place(place: tuple[str, ...], own: tuple[str, ...] | None) -> str:
    if own is None:
        return _("Agent %(name)s") % {"name": place[1]} if place else _("Every agent")
    if place == own:
        return _("This group")
    names = [name for at, name in enumerate(place) if at == 0 or at % 2 == 0]
    return " › ".join(names)


def _end(rungs: Sequence[Rung], layer: str, error: str) -> list[Step]:
    """Say what holds when no rule does."""
    if error:
        return []
    is_open = all(rung.outcome is not Outcome.DECIDES for rung in rungs)
    title = _("No rule of the channel") if layer == "group" else _("No rule by sender")
    outcome = Outcome.DECIDES if is_open else Outcome.NOT_READ
    note = _("this layer takes nothing away") if is_open else ""
    return [Step(title, "", (), note, str(outcome), str(WORDS[outcome]), CSS[outcome])]

"""The funnel: what is left after each layer, in the draft and against what is live."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from apps.console.layers import layer_name, why_not
from apps.console.situations import Situation
from apps.console.why import why_url
from apps.firewall.engine.answers import Explanation, LayerResult, Removal

CHIPS_SHOWN = 6
RULES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Chip:
    """A tool's name with the way to its trace; `is_new` marks what is not so in the live publication."""

    name: str
    url: str
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One layer.

    Attributes:
        keep, cut: widths in percent, as text.
        restored: tools that the live publication removes here and the draft does not.
        why: why the layer does not apply; empty when it does.
    """

    number: int
    key: str
    name: str
    label: str
    applied: bool
    before: int
    after: int
    keep: str
    cut: str
    removed: tuple[Chip, ...]
    more: tuple[Chip, ...]
    restored: tuple[str, ...]
    rules: tuple[str, ...]
    why: str
    is_changed: bool

    @property
    def gone(self) -> int:
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class Funnel:
    """All layers. `error` says why nothing could be decided; `has_live` whether there is something to compare with."""

    total: int
    rows: tuple[Row, ...]
    allowed: tuple[Chip, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    has_live: bool
    error: str
    duration_ms: int
    situation: Situation


def funnel_of(
    draft: Explanation, live: Explanation | None, *, total: int, situation: Situation, duration_ms: int
) -> Funnel:
    """Lay the explanation of the draft beside that of the live publication.

    Args:
        total: how many tools there are before the first layer.
        situation: what the links to the explorer carry.
    """

    def chip(name: str, *, is_new: bool) -> Chip:
        return Chip(name, why_url(name, situation, at="draft"), is_new)

    removed_live = _removed_by_layer(live)
    rows = tuple(_row(layer, draft, removed_live, total, chip) for layer in draft.layers)
    before = set() if live is None else set(live.allowed)
    return Funnel(
        total=total,
        rows=rows,
        allowed=tuple(chip(name, is_new=live is not None and name not in before) for name in draft.allowed),
        gained=tuple(name for name in draft.allowed if name not in before) if live is not None else (),
        lost=tuple(name for name in live.allowed if name not in set(draft.allowed)) if live is not None else (),
        has_live=live is not None,
        error=draft.error or "",
        duration_ms=duration_ms,
        situation=situation,
    )


def _removed_by_layer(live: Explanation | None) -> dict[str, tuple[str, ...]] | None:
    if live is None or live.error is not None:
        return None
    return {layer.key: tuple(removal.tool for removal in layer.removed) for layer in live.layers}


def _row(
    layer: LayerResult,
    draft: Explanation,
    removed_live: dict[str, tuple[str, ...]] | None,
    total: int,
    chip: Callable[..., Chip],
) -> Row:
    names = [removal.tool for removal in layer.removed]
    known = names if removed_live is None else removed_live.get(layer.key, ())
    chips = [chip(name, is_new=name not in known) for name in names]
    cut_off = len(chips) if len(chips) <= CHIPS_SHOWN + 1 else CHIPS_SHOWN
    return Row(
        number=layer.number,
        key=layer.key,
        name=layer_name(layer.key),
        label=layer.label,
        applied=layer.applied,
        before=layer.before,
        after=layer.after,
        keep=_percent(layer.after, total),
        cut=_percent(layer.before - layer.after, total),
        removed=tuple(chips[:cut_off]),
        more=tuple(chips[cut_off:]),
        restored=tuple(name for name in known if name not in names),
        rules=_rules(layer.removed),
        why="" if layer.applied else why_not(layer.key, draft.resolution),
        is_changed=set(known) != set(names),
    )


def _rules(removals: Iterable[Removal]) -> tuple[str, ...]:
    """Name each rule once; entries of one list stand behind its place (`tools.deny memory_*, image`)."""
    places: dict[str, dict[str, None]] = {}
    for removal in removals:
        entries = places.setdefault(removal.rule.removesuffix(f" {removal.entry}"), {})
        if removal.entry is not None:
            entries[removal.entry] = None
    written = [f"{place} {', '.join(entries)}" if entries else place for place, entries in places.items()]
    return tuple(written[:RULES_SHOWN]) + (("…",) if len(written) > RULES_SHOWN else ())


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "0"

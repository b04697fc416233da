"""Words that a policy list may hold: groups, plugins, patterns, tools, each with how many tools it means."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.dialect import PLUGIN_GROUP
from apps.firewall.engine.guardrail_form import LABEL
from apps.firewall.engine.snapshot import Snapshot

ICONS: Final = {
    "group": "folders",
    "plugin": "puzzle",
    "pattern": "asterisk",
    "tool": "tool",
    "label": "id-badge-2",
    "agent": "robot",
    "channel": "messages",
    "sender": "users",
}
WORDS_LIMIT: Final = 2000


@lru_cache(maxsize=8)
def _everything(snapshot: Snapshot) -> tuple[Engine, Candidates]:
    engine = snapshot.engine
    return engine, engine.candidates(engine.universe.full)


def tools_meant(snapshot: Snapshot, entry: str) -> tuple[str, ...]:
    """Name the tools that one entry of a list means, in the order of the catalogue."""
    engine, candidates = _everything(snapshot)
    return engine.universe.names_of(candidates.entry_mask(entry))


@lru_cache(maxsize=8)
def _words(snapshot: Snapshot) -> tuple[tuple[str, str, int], ...]:
    """Return kind, word and number of tools of everything that may stand in a list."""
    engine, candidates = _everything(snapshot)
    found: list[tuple[str, str]] = [("group", name) for name in engine.dialect.groups]
    if candidates.plugins:
        found.append(("group", PLUGIN_GROUP))
    found += [("plugin", name) for name in candidates.plugins]
    heads: dict[str, int] = {}
    for name in snapshot.tool_names:
        head, mark, _rest = name.partition("__")
        head = f"{head}__*" if mark else f"{name.partition('_')[0]}_*" if "_" in name else ""
        if head:
            heads[head] = heads.get(head, 0) + 1
    found += [("pattern", head) for head, count in heads.items() if count > 1]
    found += [("tool", name) for name in snapshot.tool_names]
    counted = [(kind, word, candidates.entry_mask(word).bit_count()) for kind, word in found[:WORDS_LIMIT]]
    return tuple(each for each in counted if each[2] or each[0] == "tool")


def label_words(snapshot: Snapshot, *, prefix: str = "") -> list[dict[str, Any]]:
    """Write the labels of agents for the script of the chips, each with how many agents have it.

    Args:
        prefix: what a list writes before a label.
    """
    counted = Counter(label for rules in (snapshot.engine.agents or {}).values() for label in rules.labels)
    return [_word("label", f"{prefix}{label}", _agents_told(count)) for label, count in sorted(counted.items())]


def plain_words(kind: str, names: Iterable[str]) -> list[dict[str, Any]]:
    """Write names of which nothing more is said."""
    return [_word(kind, name, "") for name in names]


def agent_words(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Write what may stand in a guardrail's list of agents: labels first, then ids."""
    words = [*label_words(snapshot, prefix=LABEL), *plain_words("agent", snapshot.engine.agents or {})]
    return words[:WORDS_LIMIT]


def _agents_told(count: int) -> str:
    return ngettext("%(number)s agent", "%(number)s agents", count) % {"number": count}


def _word(kind: str, word: str, note: str) -> dict[str, Any]:
    return {"word": word, "icon": ICONS[kind], "note": note}


def vocabulary_of(snapshot: Snapshot, allowed: frozenset[str]) -> list[dict[str, Any]]:
    """Write the words for the script of the chips.

    Args:
        allowed: tools that the agent has now, so that a word can say how many of its tools are in use.
    """
    shown = []
    for kind, word, count in _words(snapshot):
        meant = (word,) if kind == "tool" else tools_meant(snapshot, word)
        in_use = sum(name in allowed for name in meant)
        if kind == "tool":
            note = _("in use") if in_use else ""
        else:
            note = ngettext("%(number)s tool", "%(number)s tools", count) % {"number": count}
            note += " · " + _("%(number)s in use") % {"number": in_use} if in_use else ""
        shown.append({"word": word, "icon": ICONS[kind], "count": count, "isTool": kind == "tool", "note": note})
    return shown

"""Who looks at which request, and who is deciding. It informs and never keeps anybody from answering.

Kept in the cache as presence is, lost without harm: what a tab does not repeat is forgotten.
"""

import time
from dataclasses import dataclass, replace
from threading import Lock

from django.core.cache import cache

LASTS_S = 30
LOOKING, DECIDING, TAKING, STILL = "looking", "deciding", "taking", "still"
DOINGS = frozenset({LOOKING, DECIDING, TAKING, STILL})


@dataclass(frozen=True, slots=True)
class Watcher:
    """One tab with one request before somebody's eyes; `taken_by` names who took the decision over."""

    username: str
    name: str
    approval: str
    doing: str
    seen: float
    taken_by: str = ""

    @property
    def is_deciding(self) -> bool:
        return self.doing == DECIDING


_lock = Lock()


def _key(environment: str) -> str:
    return f"console.watching.{environment}"


def watchers(environment: str) -> dict[str, Watcher]:
    """Give who looks at what now, by tab."""
    tabs: dict[str, Watcher] = cache.get(_key(environment)) or {}
    limit = time.time() - LASTS_S
    return {tab: each for tab, each in tabs.items() if each.seen >= limit}


def watch(environment: str, tab: str, *, approval: str, doing: str, username: str, name: str) -> set[str]:
    """Note what somebody does with a request.

    Args:
        doing: of `DOINGS`; `still` repeats what the tab did, `taking` makes others who decide look on.
    Returns:
        The requests about which something changed.
    """
    with _lock:
        tabs = watchers(environment)
        before = tabs.get(tab)
        if doing == STILL:
            doing = before.doing if before is not None and before.approval == approval else LOOKING
        elif doing == TAKING:
            tabs = {key: _handed_over(each, approval, username, name) for key, each in tabs.items()}
            doing = DECIDING
        taken_by = before.taken_by if before is not None and (before.approval, doing) == (approval, LOOKING) else ""
        now = Watcher(username, name, approval, doing, time.time(), taken_by)
        changed = set() if before is not None and replace(before, seen=now.seen) == now else {approval}
        if before is not None and before.approval != approval:
            changed.add(before.approval)
        tabs[tab] = now
        cache.set(_key(environment), tabs, LASTS_S)
    return changed


def unwatch(environment: str, tab: str) -> set[str]:
    """Note that a tab looks at nothing any more.

    Returns:
        The requests about which something changed.
    """
    with _lock:
        tabs = watchers(environment)
        gone = tabs.pop(tab, None)
        if gone is not None:
            cache.set(_key(environment), tabs, LASTS_S)
    return set() if gone is None else {gone.approval}


def watched_by_others(environment: str, username: str) -> dict[str, list[Watcher]]:
    """Give for each request who else looks at it, each person once, whoever decides first."""
    found: dict[str, dict[str, Watcher]] = {}
    for each in sorted(watchers(environment).values(), key=lambda one: (one.is_deciding, one.name)):
        if each.username != username:
            found.setdefault(each.approval, {})[each.username] = each
    return {
        approval: sorted(people.values(), key=lambda one: (not one.is_deciding, one.name))
        for approval, people in found.items()
    }


def taken_from(environment: str, username: str) -> dict[str, str]:
    """Tell for each request who took its decision over from a person."""
    own = (each for each in watchers(environment).values() if each.username == username)
    return {each.approval: each.taken_by for each in own if each.taken_by}


def _handed_over(each: Watcher, approval: str, username: str, name: str) -> Watcher:
    if each.approval != approval or each.username == username or not each.is_deciding:
        return each
    return replace(each, doing=LOOKING, taken_by=name)

"""Who is on duty: the people whose open tabs were heard of in the last minute. Kept in the cache, lost without harm."""

import time
from dataclasses import dataclass

from django.core.cache import cache

LASTS_S = 40


@dataclass(frozen=True, slots=True)
class Present:
    """One person with at least one open tab."""

    username: str
    name: str


def _key(environment: str) -> str:
    return f"console.presence.{environment}"


def _alive(environment: str) -> dict[str, tuple[float, str, str]]:
    tabs: dict[str, tuple[float, str, str]] = cache.get(_key(environment)) or {}
    limit = time.time() - LASTS_S
    return {tab: entry for tab, entry in tabs.items() if entry[0] >= limit}


def tab_seen(environment: str, tab: str, *, username: str, name: str) -> bool:
    """Note that a tab is open; say whether it was unknown. Two tabs at once may hide one for a few seconds."""
    tabs = _alive(environment)
    is_new = tab not in tabs
    tabs[tab] = (time.time(), username, name)
    cache.set(_key(environment), tabs, LASTS_S)
    return is_new


def tab_gone(environment: str, tab: str) -> None:
    """Note that a tab was closed."""
    tabs = _alive(environment)
    if tabs.pop(tab, None) is not None:
        cache.set(_key(environment), tabs, LASTS_S)


def present(environment: str) -> list[Present]:
    """List the people on duty, each once, by name."""
    people = {username: name for _seen, username, name in _alive(environment).values()}
    return sorted((Present(username, name) for username, name in people.items()), key=lambda one: one.name)

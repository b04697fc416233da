"""Patterns for what tools touch: paths, domains, databases. Each is read once and compared in bounded time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from apps.firewall.engine.names import Glob, read_glob

Matcher = Callable[[str], bool]

VALUE_LIMIT: Final = 4096
SEGMENTS_LIMIT: Final = 64
DEEP: Final = "**"


def path_matcher(pattern: str) -> Matcher:
    """Read a pattern for paths: `*` stands within one part of a path, `**` for any number of parts.

    A path with `..` in it fits nothing: where it leads depends on links that nobody here can see. A path that is not
    absolute fits only patterns that are not.
    """
    parts = [_part(part) for part in _parts(pattern)]

    def fits(path: str) -> bool:
        if not _is_plain(path):
            return False
        steps = _parts(path)
        return ".." not in steps and len(steps) <= SEGMENTS_LIMIT * 4 and _walk(parts, steps)

    return fits


def name_matcher(pattern: str) -> Matcher:
    """Read a pattern for names in which `*` stands for any run of characters; upper and lower case differ."""
    glob = _glob(pattern)
    return lambda name: _is_plain(name) and glob(name)


def domain_matcher(pattern: str) -> Matcher:
    """Read a pattern for domains: `*.example.com` is every name below `example.com`, not that one itself."""
    glob = _glob(pattern.lower().rstrip("."))
    return lambda domain: _is_plain(domain) and glob(domain.lower().rstrip("."))


MATCHERS: Final[Mapping[str, Callable[[str], Matcher]]] = {
    "path": path_matcher,
    "domain": domain_matcher,
    "database": name_matcher,
}
"""Kind of a resource -> what reads its patterns."""


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= VALUE_LIMIT and text.isprintable()


def _parts(path: str) -> list[str]:
    """Split a path; an absolute one begins with an empty part."""
    steps = [step for step in path.split("/") if step not in {"", "."}]
    return ["", *steps] if path.startswith("/") else steps


def _part(text: str) -> Matcher | None:
    if text == DEEP:
        return None
    fits = _glob(text)
    return fits if "*" not in text else lambda step: step != "" and fits(step)  # the root is no name


def _glob(text: str) -> Matcher:
    if "*" not in text:
        return text.__eq__
    glob: Glob = read_glob(text)
    return glob.matches


def _walk(parts: Sequence[Matcher | None], steps: Sequence[str]) -> bool:
    """Follow every reading at once: the places in the path that the pattern has reached."""
    places = {0}
    for part in parts:
        if part is None:
            places = set(range(min(places), len(steps) + 1)) if places else set()
        else:
            places = {at + 1 for at in places if at < len(steps) and part(steps[at])}
    return len(steps) in places

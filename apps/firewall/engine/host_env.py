"""Which environment variables a command may be given, and what it may inherit from its surroundings.

A variable can make a program load other code, trust another server or find other programs. What a call asks for is
refused by name; what the surroundings hold is left out silently.
Source: conformance README, `host_env.jsonl`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from apps.firewall.engine import host_env_names as names
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import trim
from apps.firewall.errors import FirewallError

_PATH: Final = "PATH"
_PORTABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PORTABLE_OR_WINDOWS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_()]*")
_CARGO_PROGRAM: Final = re.compile(r"CARGO_TARGET_[A-Z0-9_]+_(?:LINKER|RUNNER)")
_OBJECT_MEMBERS: Final = frozenset({"__proto__", "prototype", "constructor"})
_SAFE_PROTOCOLS: Final = frozenset({"git", "http", "https", "ssh"})
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_PAGERS: Final = frozenset({"GIT_PAGER", "PAGER"})
_NO_PAGER: Final = frozenset({"", "cat"})
_SHOWN: Final = 10
_SHOWN_CHARACTERS: Final = 80


def _said(kind: str, found: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name[:_SHOWN_CHARACTERS]}`" for name in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{kind} {shown}{more}"


class HostEnvRefusedError(FirewallError):
    """A call asks for variables it may not set; `blocked` and `invalid` name them, in order."""

    code = "environment_refused"

    def __init__(self, blocked: tuple[str, ...], invalid: tuple[str, ...]) -> None:
        parts = [
            _said(kind, found) for kind, found in (("forbidden", blocked), ("no portable names", invalid)) if found
        ]
        super().__init__(f"the call sets environment variables it may not: {'; '.join(parts)}")
        self.blocked = blocked
        self.invalid = invalid


@dataclass(frozen=True, slots=True)
class SanitizedEnv:
    """The environment of a command.

    Args:
        env: name to value.
        rejected_blocked, rejected_invalid: what the call asked for in vain, sorted; the older release does not tell.
    """

    env: Mapping[str, str]
    rejected_blocked: tuple[str, ...] = ()
    rejected_invalid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEnvRules:
    """One release: its tables, then the rules in which it differs from the other. Names are in capitals."""

    everywhere: frozenset[str]
    override: frozenset[str]
    inherited: frozenset[str]
    prefixes: tuple[str, ...]
    override_prefixes: tuple[str, ...]

    odd_names_inherited: bool  # the surroundings may hold names that are not portable
    odd_names_refused: bool  # a call that asks for such a name is refused, instead of going without it
    override_names_refused: bool  # a call is also refused for what only calls may not set
    values_count: bool  # what is no text is not asked for, and a few values make a refused name harmless
    marked: Mapping[str, str]  # set at last, whatever was asked for

    def blocks(self, name: str) -> bool:
        """Say whether a name is refused wherever it comes from."""
        return name in self.everywhere or name.startswith(self.prefixes)

    def blocks_override(self, name: str) -> bool:
        """Say whether a call may not set a name."""
        if self.blocks(name) or name in self.override:
            return True
        return bool(self.override_prefixes) and (
            name.startswith(self.override_prefixes) or _CARGO_PROGRAM.fullmatch(name) is not None
        )

    def blocks_inherited(self, name: str) -> bool:
        """Say whether a name is left out of what the surroundings hold."""
        return name in self.inherited or name.startswith(self.prefixes)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULES: Final[Mapping[str, HostEnvRules]] = MappingProxyType(
    {
        "2026.9": HostEnvRules(
            everywhere=_names(names.EVERYWHERE_2026_9),
            override=_names(names.OVERRIDE_2026_9),
            inherited=_names(names.EVERYWHERE_2026_9)
            | (_names(names.OVERRIDE_2026_9) - _names(names.INHERITED_ALLOWED_2026_9)),
            prefixes=tuple(names.PREFIXES_2026_9.split()),
            override_prefixes=tuple(names.OVERRIDE_PREFIXES_2026_9.split()),
            odd_names_inherited=True,
            odd_names_refused=True,
            override_names_refused=True,
            values_count=True,
            marked=MappingProxyType({"OPENCLAW_CLI": "1"}),
        ),
        "2026.2": HostEnvRules(
            everywhere=_names(names.EVERYWHERE_2026_2),
            override=_names(names.OVERRIDE_2026_2),
            inherited=_names(names.EVERYWHERE_2026_2),
            prefixes=tuple(names.PREFIXES_2026_2.split()),
            override_prefixes=(),
            odd_names_inherited=False,
            odd_names_refused=False,
            override_names_refused=False,
            values_count=False,
            marked=MappingProxyType({}),
        ),
    }
)


def host_env_rules(dialect: Dialect) -> HostEnvRules:
    """Return the rules of a release."""
    return _RULES[dialect.release]


def validate_env(dialect: Dialect, env: Mapping[str, Any]) -> None:
    """Check the variables that a call asks for.

    Args:
        env: name to value, as the call gives them.
    Raises:
        HostEnvRefusedError: one of them may not be set by a call; all are named.
    """
    rules = host_env_rules(dialect)
    if rules.override_names_refused:
        _, blocked, invalid = _overrides(rules, env)
    else:
        blocked = [name for name in env if rules.blocks(trim(name.upper())) or name.upper() == _PATH]
        invalid = []
    if blocked or invalid:
        raise HostEnvRefusedError(_sorted(blocked), _sorted(invalid))


def sanitize_env(dialect: Dialect, base: Mapping[str, Any], overrides: Mapping[str, Any] | None) -> SanitizedEnv:
    """Make the environment of a command: what the surroundings hold, cleaned, and over it what the call may set.

    Args:
        base: the surroundings, name to value; what is no text is left out.
        overrides: what the call asks for; None when nothing.
    """
    rules = host_env_rules(dialect)
    env: dict[str, str] = dict(_inherited(rules, base))
    accepted, blocked, invalid = _overrides(rules, overrides or {})
    env.update(accepted)
    env.update(rules.marked)
    if not rules.odd_names_refused:
        return SanitizedEnv(env)
    return SanitizedEnv(env, _sorted(blocked), _sorted(invalid))


def _inherited(rules: HostEnvRules, base: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for written, value in base.items():
        name = trim(written)
        if not isinstance(value, str) or not name:
            continue
        if not rules.odd_names_inherited and not _PORTABLE.fullmatch(name):
            continue
        harmless = _MADE_HARMLESS.get(name.upper()) if rules.values_count else None
        if harmless is not None:
            yield name, harmless(value)
        elif not _is_reserved(rules, name) and not rules.blocks_inherited(name.upper()):
            yield name, value


def _is_reserved(rules: HostEnvRules, name: str) -> bool:
    """Say whether a name is not an ordinary variable to the newer release: its own, or a member of every object."""
    return rules.values_count and (name in _OBJECT_MEMBERS or name.upper() == "OPENCLAW_CHANNEL_CONTEXT")


def _protocols(value: str) -> str:
    """Keep the protocols that git allows anyway: without the variable it would allow more than was meant."""
    return ":".join(each for each in trim(value).split(":") if each in _SAFE_PROTOCOLS)


def _protocol_from_user(value: str) -> str:
    """Turn a yes into a no; git takes the absence of the variable for a yes."""
    word = trim(value).lower()
    is_yes = word in ("true", "yes", "on") or (_NUMBER.fullmatch(word) is not None and word.lstrip("+-0") != "")
    return "0" if is_yes else value


_MADE_HARMLESS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {"GIT_ALLOW_PROTOCOL": _protocols, "GIT_PROTOCOL_FROM_USER": _protocol_from_user}
)


def _overrides(rules: HostEnvRules, overrides: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Sort what a call asks for into accepted variables, blocked names and names that are none."""
    accepted: list[tuple[str, str]] = []
    blocked: list[str] = []
    invalid: list[str] = []
    form = _PORTABLE_OR_WINDOWS if rules.odd_names_refused else _PORTABLE
    for written, value in overrides.items():
        name = trim(written)
        if not isinstance(value, str):
            continue
        if not form.fullmatch(name):
            invalid.append(name or written)
        elif rules.values_count and name in _OBJECT_MEMBERS:
            blocked.append(name)
        elif rules.values_count and name.upper() in _PAGERS and value in _NO_PAGER:
            accepted.append((name, ""))
        elif name.upper() == _PATH or rules.blocks_override(name.upper()):
            blocked.append(name.upper())
        else:
            accepted.append((name, value))
    return accepted, blocked, invalid


def _sorted(found: list[str]) -> tuple[str, ...]:
    return tuple(sorted(set(found)))

"""A line by a shell's grammar, with the lines that its shells are given: its commands, and what nobody can tell of it.

Source: conformance README, `exec_approval.jsonl`, "Analysis fails"; OpenClaw 2026.9.6.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.script import Command, Place, Script, ShellReader
from apps.firewall.engine.exec_policy.shells import Inline, has_line_option, is_shell, shell_call
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.wrappers import (
    carried_by_any,
    carried_by_builtin,
    classified,
    skip_options,
    tool_name,
)

LINES_DEPTH: Final = 2
"""How many lines, one in the other, are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a line.

    Args:
        call: the line that it has a shell run; None when it runs none.
        inside: that line, read; None when it is not.
        asks: it is put to a person by its own words, whatever a list says.
    """

    command: Command
    call: Inline | None
    inside: "Explanation | None"
    asks: bool
    is_shell: bool

    @property
    def starts_shell(self) -> bool:
        """Say whether it is a shell with a line, or has such a shell in its line."""
        inner = () if self.inside is None else self.inside.steps
        return (self.is_shell and self.call is not None) or any(step.starts_shell for step in inner)

    @property
    def asks_anywhere(self) -> bool:
        """Say whether it, or a command of its line, is put to a person."""
        return self.asks or (self.inside is not None and any(step.asks_anywhere for step in self.inside.steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is known of a line."""

    script: Script
    steps: tuple[Step, ...] = ()

    @property
    def outer(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if not step.command.is_inner)

    @property
    def has_error(self) -> bool:
        return self.script.has_error or any(inside.has_error for inside in self._insides())

    def commands(self) -> Iterator[Command]:
        """List the commands of the line, then all others, as they are met."""
        yield from (step.command for step in self.outer)
        for step in sorted(self.steps, key=lambda step: (step.command.start, -step.command.end)):
            if step.command.is_inner:
                yield step.command
            if step.inside is not None:
                yield from step.inside.commands()

    def faults(self) -> Iterator[Place]:
        """List what nobody can tell, as it is met; what is in a shell's line stands at its command."""
        yield from self._places(is_shape=False)

    def fault(self) -> str:
        """Name the first thing that keeps the line from being understood; empty for none."""
        for is_shape in (False, True):
            first = next(self._places(is_shape=is_shape), None)
            if first is not None:
                return first.kind
        return "dynamic-argument" if self._is_dynamic(is_excused=False) else ""

    def _insides(self) -> Iterator["Explanation"]:
        return (step.inside for step in self.steps if step.inside is not None)

    def _places(self, *, is_shape: bool) -> Iterator[Place]:
        waiting = sorted((step for step in self.steps if step.inside is not None), key=lambda step: step.command.start)
        if self.script.fault and not (is_shape or self.script.faults or self.script.shapes):
            yield Place(self.script.fault, 0, len(self.script.text))
        for place in self.script.shapes if is_shape else self.script.faults:
            while waiting and _comes_first(waiting[0].command, place):
                yield from _standing_at(waiting.pop(0), is_shape=is_shape)
            yield place
        for step in waiting:
            yield from _standing_at(step, is_shape=is_shape)

    def _is_dynamic(self, *, is_excused: bool) -> bool:
        """Say whether a shell decides about an argument of a command that a list could speak for."""
        asking = [step.command for step in self.steps if step.asks_anywhere]
        own = any(not is_excused and not any(_holds(each, at) for each in asking) for at in self.script.dynamic)
        return own or any(
            step.inside._is_dynamic(
                is_excused=is_excused or any(_holds(each, (step.command.start, step.command.end)) for each in asking)
            )
            for step in self.steps
            if step.inside is not None
        )


def _comes_first(command: Command, place: Place) -> bool:
    return place.start > command.start or (place.start == command.start and place.end < command.end)


def _standing_at(step: Step, *, is_shape: bool) -> Iterator[Place]:
    if step.inside is not None:
        if step.inside.script.has_error and not is_shape:
            yield Place("syntax-error", step.command.start, step.command.end)
        for place in step.inside._places(is_shape=is_shape):
            yield Place(place.kind, step.command.start, step.command.end)


def _holds(command: Command, place: tuple[int, int]) -> bool:
    return command.start <= place[0] and place[1] <= command.end


def explain(text: str, shell: ShellReader, tables: Tables, *, depth: int = 0) -> Explanation:
    """Read a line, and the lines that its shells are given."""
    script = shell.script(text)
    return Explanation(script=script, steps=tuple(_step(command, shell, tables, depth) for command in script.commands))


def _step(command: Command, shell: ShellReader, tables: Tables, depth: int) -> Step:
    call = shell_call(command.argv, tables)
    inside = None
    if call is not None and depth < LINES_DEPTH and _is_readable(command, call, tables):
        inside = explain(call.line, shell, tables, depth=depth + 1)
    return Step(
        command=command,
        call=call,
        inside=inside,
        asks=_asks(command.argv, call, tables),
        is_shell=is_shell(command.argv, tables),
    )


def _is_readable(command: Command, call: Inline, tables: Tables) -> bool:
    direct = classified(command.argv, tables)
    is_known = direct is not None and tool_name(direct[0]) in tables.shells.parseable
    return is_known and call.flag_is_read and call.line not in command.untold


def _asks(argv: tuple[str, ...], call: Inline | None, tables: Tables) -> bool:
    """Say whether a command is put to a person, by its name as it is written and what it carries."""
    name = tool_name(argv[0])
    if name in tables.always_ask or not tables.carriers_by_option.get(name, frozenset()).isdisjoint(argv):
        return True
    wrapper = tables.wrappers.get(name)
    if wrapper is not None:
        splits = wrapper.options.split_string
        if carried_by_any(argv, wrapper) is None or any(_is_among(word, splits) for word in argv[1:]):
            return True
    if call is not None:
        return not is_shell(argv, tables)
    return _carries_asked(argv, tables)


def _is_among(word: str, options: frozenset[str]) -> bool:
    """Say whether a word is one of these options, alone, with its value, or among other letters."""
    if word.partition("=")[0] in options:
        return True
    return word.startswith("-") and not word.startswith("--") and any(f"-{letter}" in options for letter in word[1:])


def _carries_asked(argv: tuple[str, ...], tables: Tables) -> bool:
    """Say whether a builtin, `env` or `sudo` carries a shell with a line, `eval` or a script for this shell."""
    carried = _carried(argv, tables)
    if not carried:
        return False
    name = tool_name(carried[0])
    if name == "eval" or name in tables.sourcing or (is_shell(carried, tables) and has_line_option(carried, tables)):
        return True
    return _carries_asked(carried, tables)


def _carried(argv: tuple[str, ...], tables: Tables) -> tuple[str, ...] | None:
    name = tool_name(argv[0])
    if name not in tables.carrier_names:
        return None
    if name in tables.argv_carriers:
        return carried_by_builtin(argv, tables.argv_carriers[name].options)
    options = tables.carrier_options.get(name)
    if options is None:
        return carried_by_any(argv, tables.wrappers[name])
    at = skip_options(argv, options)
    return None if at is None else argv[at:]

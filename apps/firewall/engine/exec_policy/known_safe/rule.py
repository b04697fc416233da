"""The notation in which a program's known-safe arguments are written, and the reading of a command by it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(r"(?P<need>[+!]?)(?P<name>-[^=?\s]*)(?P<mark>[=?]?)(?P<values>\S*)\Z")
_NUMBER: Final = re.compile(r"[-+]\d+\Z")
_GLOBAL_END: Final = "--"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a program, or a subcommand of it, may be given so that it neither runs, nor writes, nor loads anything.

    Args:
        options: each with what it takes: "" nothing, "=" a value, "?" a value only when it is attached.
        values: the values that an option is limited to.
        operands: how many words may stand alone; None for any number.
        one_of: at least one of these must be given; `needed`: all of these.
        long_dash: options are whole words behind one dash, as `find` has them; `--` means nothing to it.
        numbers: `-5` is an option.
        clusters_first: the first word is a cluster of options even without a dash, as `tar` has it.
        anything: whatever words follow, it only reads them.
        subcommands: the first word that stands alone must be one of these.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    operands: int | None = 0
    one_of: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    long_dash: bool = False
    numbers: bool = False
    clusters_first: bool = False
    anything: bool = False
    subcommands: Mapping[str, "Rule"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A command as a rule reads it. `beyond` is the first word that the rule does not know; empty when it knows all."""

    path: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    operands: tuple[str, ...] = ()
    beyond: str = ""


def read_rules(text: Mapping[str, str]) -> dict[str, Rule]:
    """Read a table: `"git log": "* -p --since="`.

    `*` stands for any number of operands, a digit for at most so many; `-x` is an option, `-x=` one with a value,
    `-x=a|b` one with one of these values, `-x?` one whose value may be attached. In front of an option `+` says that
    one of those so marked must be given, `!` that it must. `#` admits `-5`, `~` whole words behind one dash,
    `^` a first cluster without a dash, `@` any words at all.
    """
    tree: dict[str, dict[str, str]] = {}
    for key, notation in text.items():
        program, _, rest = key.partition(" ")
        tree.setdefault(program, {})[rest] = notation
    return {program: _rule(commands, "") for program, commands in tree.items()}


def _rule(commands: Mapping[str, str], path: str) -> Rule:
    depth = len(path.split())
    below = {key.split()[depth] for key in commands if len(key.split()) > depth and key.split()[:depth] == path.split()}
    subcommands = {name: _rule(commands, f"{path} {name}".strip()) for name in sorted(below)}
    return _parsed(commands.get(path, ""), subcommands)


def _parsed(notation: str, subcommands: Mapping[str, Rule]) -> Rule:
    options: dict[str, str] = {}
    values: dict[str, frozenset[str]] = {}
    marks: set[str] = set()
    operands: int | None = 0
    needs: dict[str, set[str]] = {"+": set(), "!": set()}
    for piece in notation.split():
        match = _TOKEN.match(piece)
        if match is None:
            operands = None if piece == "*" else int(piece) if piece.isdigit() else operands
            marks.add(piece)
            continue
        name = match["name"]
        options[name] = match["mark"]
        if match["values"]:
            values[name] = frozenset(match["values"].split("|"))
        if match["need"]:
            needs[match["need"]].add(name)
    return Rule(
        options=options,
        values=values,
        operands=operands,
        one_of=frozenset(needs["+"]),
        needed=frozenset(needs["!"]),
        long_dash="~" in marks,
        numbers="#" in marks,
        clusters_first="^" in marks,
        anything="@" in marks,
        subcommands=subcommands,
    )


def read_command(rule: Rule, words: tuple[str, ...]) -> Reading:
    """Read the words behind a program's name; a word that the rule does not know ends it."""
    path: tuple[str, ...] = ()
    options: list[tuple[str, str]] = []
    if rule.anything:
        return Reading(operands=words)
    while True:
        reading, rest = _read_level(rule, words)
        options += reading.options
        if reading.beyond or not rule.subcommands or not reading.operands:
            return Reading(path=path, options=tuple(options), operands=reading.operands, beyond=reading.beyond)
        name = reading.operands[0]
        if name not in rule.subcommands:
            return Reading(path=path, options=tuple(options), operands=reading.operands, beyond=name)
        path, rule, words = (*path, name), rule.subcommands[name], rest


def _read_level(rule: Rule, words: tuple[str, ...]) -> tuple[Reading, tuple[str, ...]]:
    """Read one level; one with subcommands ends at its first operand, and the rest is given back."""
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    waiting = list(words)
    if rule.clusters_first and waiting and not waiting[0].startswith("-"):
        waiting[0] = f"-{waiting[0]}"
    only_operands = False
    while waiting:
        word = waiting.pop(0)
        if only_operands or not word.startswith("-") or word == "-":
            operands.append(word)
            if rule.subcommands:
                return Reading(options=tuple(options), operands=tuple(operands)), tuple(waiting)
        elif word == _GLOBAL_END and not rule.long_dash:
            only_operands = True
        elif rule.numbers and _NUMBER.match(word):
            continue
        else:
            known = _read_option(rule, word, waiting)
            if known is None:
                return Reading(beyond=word), ()
            options += known
    given = {name for name, _ in options}
    lacks = bool(rule.one_of and not rule.one_of & given) or not rule.needed <= given
    too_many = rule.operands is not None and len(operands) > rule.operands
    beyond = operands[rule.operands or 0] if too_many else " ".join(words)[:80] or "no argument" if lacks else ""
    return Reading(options=tuple(options), operands=tuple(operands), beyond=beyond), ()


def _read_option(rule: Rule, word: str, waiting: list[str]) -> list[tuple[str, str]] | None:
    """Read one word of options, and its value from the words that follow; None when the rule does not know it."""
    if not rule.long_dash and not word.startswith("--"):
        return _read_cluster(rule, word[1:], waiting)
    name, equals, attached = (word, "", "") if rule.long_dash else word.partition("=")
    takes = rule.options.get(name)
    if takes is None or (equals and not takes):
        return None
    value = _value(waiting) if takes == "=" and not equals else attached
    return None if value is None or not _fits(rule, name, value) else [(name, value)]


def _read_cluster(rule: Rule, letters: str, waiting: list[str]) -> list[tuple[str, str]] | None:
    read: list[tuple[str, str]] = []
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        takes = rule.options.get(name)
        if takes is None:
            return None
        value: str | None = ""
        if takes:
            value, letters = letters, ""
            if takes == "=" and not value:
                value = _value(waiting)
        if value is None or not _fits(rule, name, value):
            return None
        read.append((name, value))
    return read


def _value(waiting: list[str]) -> str | None:
    """Take the next word as a value; never one that a program could take as an option of its own."""
    if not waiting or (waiting[0].startswith("-") and waiting[0] != "-" and not _NUMBER.match(waiting[0])):
        return None
    return waiting.pop(0)


def _fits(rule: Rule, name: str, value: str) -> bool:
    return name not in rule.values or value in rule.values[name]

"""What two snapshots say to the same commands: which of them one asks about, and the other lets run.

Both are asked for their verdict on example commands: some that no list is likely to name, and one for each entry of a
list that only one of them has. Programs are taken to exist, so that the answer does not depend on this machine. What no
example tells is named as a setting that differs, so that a difference is never shown as none.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from apps.firewall.engine.access_changes import (
    AccessChange,
    Direction,
    filter_changes,
    permission_changes,
    witness,
    worst_first,
)
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import ANY_OTHER, agent_of
from apps.firewall.engine.exec_policy import (
    AllowEntry,
    CommandLine,
    ExecHostError,
    ExecRules,
    Where,
    exec_rules,
    judge,
    rules_of_call,
)
from apps.firewall.engine.exec_policy.patterns import PatternError, arguments_match
from apps.firewall.engine.exec_policy.safe_bins import safe_bin_names
from apps.firewall.engine.exec_policy.tables import exec_tables
from apps.firewall.engine.exec_policy.unanswered import runs_unanswered
from apps.firewall.engine.exec_settings import ExecSettings
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.shell import read_line

Verdict: TypeAlias = Literal["denied", "asks", "unanswered", "runs"]

FREEDOM: Final[tuple[Verdict, ...]] = ("denied", "asks", "unanswered", "runs")
"""The strictest first. `unanswered`: a person is asked, and it runs when nobody answers."""

COMMANDS: Final = (
    "rm -rf build",
    "curl -s https://example.com/install.sh | sh",
    "python3 -c 'print(1)'",
    "git push origin main",
    "ls -la",
    "/opt/any/program --flag",
)
"""Commands of every kind: plain, with a shell's syntax, with code in its arguments, by its path."""
ENTRIES_TRIED: Final = 300
COMMON_TRIED: Final = 20
SENDERS_TRIED: Final = 20
EXAMPLES_KEPT: Final = 40

PROGRAMS: Final = "/usr/bin"
SKILLS: Final = "/opt/skills"
WHERE: Final = Where(cwd="/work", workspace="/work", home="/home/agent", search_path=(SKILLS, PROGRAMS))
SKILL: Final = "a-skill"
LENT: Final = frozenset({"main"})
"""Agents to whom a document of approvals gives what it says of `default`."""
JUDGED: Final = frozenset(
    {
        *("exec.security", "exec.ask", "exec.mode", "exec.safeBins", "exec.safeBinTrustedDirs", "elevatedDefault"),
        *("execApprovals.security", "execApprovals.ask", "execApprovals.askFallback"),
        *("execApprovals.autoAllowSkills", "execApprovals.allowlist"),
    }
)
"""Settings whose every effect the examples tell; the others are named where they differ."""
WIDER_WHEN: Final[Mapping[str, tuple[Any, ...]]] = {
    "fs.workspaceOnly": (True, None, False),
    "exec.applyPatch.workspaceOnly": (True, None, False),
    "exec.strictInlineEval": (True, None, False),
    "loopDetection.enabled": (True, None, False),
    "sandbox.mode": ("all", "non-main", None, "off"),
    "sandbox.workspaceAccess": ("none", "ro", "rw"),
    "exec.host": ("sandbox", "auto", None, "gateway", "node"),
}
"""Setting -> its values, the strictest first; a value that is not listed is told, and not judged."""


class AnyPrograms:
    """A machine on which every program exists where it is called, and one skill in a folder of its own."""

    def is_program(self, path: str) -> bool:
        """Say so of every path that names a file."""
        return path == f"{SKILLS}/{SKILL}" if path.startswith(f"{SKILLS}/") else not path.endswith("/")

    def real_path(self, path: str) -> str:
        """No path is a link."""
        return path


FILES: Final = AnyPrograms()


@dataclass(frozen=True, slots=True)
class Example:
    """A command to ask about.

    Attributes:
        shown: as people read it: the command, or the entry that it stands for.
        is_undecided: it stands for an entry for which no command was found; the entry is taken at its word.
    """

    line: CommandLine
    shown: str
    is_undecided: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for a command, and how: `label` is empty for anybody."""

    label: str = ""
    context: CallContext = field(default_factory=CallContext)
    is_elevated: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """What one snapshot says of one agent's commands."""

    settings: ExecSettings
    rules: ExecRules
    other: Mapping[str, Any]


_Told: TypeAlias = dict[tuple[Verdict, Verdict, str, bool], dict[str, None]]
"""Before, after, who asks, inside the sandbox -> the examples that are judged so."""


def access_changes(old: Snapshot, new: Snapshot) -> tuple[AccessChange, ...]:
    """Say what else runs, or no longer runs, besides tools that are gained and lost; the worst first."""
    return worst_first((*command_changes(old, new), *permission_changes(old, new), *filter_changes(old, new)))


def command_changes(old: Snapshot, new: Snapshot) -> Iterator[AccessChange]:
    """Compare the verdicts on commands, agent by agent; agents that are met alike stand together."""
    agents = (*sorted({*(old.engine.agents or {}), *(new.engine.agents or {})}), ANY_OTHER)
    comparison = _Comparison(old, new)
    alike: dict[AccessChange, list[str]] = {}
    for agent in agents:
        for change in comparison.of_agent(agent_of(agent)):
            alike.setdefault(change, []).append(agent)
    for change, met in alike.items():
        yield replace(change, agents=() if len(met) == len(agents) else tuple(met))


class _Comparison:
    """Compares two snapshots agent by agent, and asks nothing twice: most agents have no rules of their own."""

    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self._old, self._new = old, new
        self._is_shared_alike = old.dialect == new.dialect and _shared(old) == _shared(new)
        self._by_writing: dict[str, tuple[AccessChange, ...]] = {}
        self._by_rules: dict[str, _Told] = {}

    def of_agent(self, agent: str) -> tuple[AccessChange, ...]:
        """Return what changes for an agent."""
        own = [_written_of(each, agent) for each in (self._old, self._new)]
        if self._is_shared_alike and own[0] == own[1]:
            return ()
        key = json.dumps(own, sort_keys=True, default=str)
        if key not in self._by_writing:
            sides = (_side(self._old, agent), _side(self._new, agent))
            self._by_writing[key] = () if sides[0] == sides[1] else tuple(self._compared(*sides))
        return self._by_writing[key]

    def _compared(self, before: Side, after: Side) -> Iterator[AccessChange]:
        key = repr([_judged_by(side) for side in (before, after)])
        if key not in self._by_rules:
            self._by_rules[key] = _flips(before, after)
        told = self._by_rules[key]
        yield from _changes(told)
        yield from _settings(before.other, after.other, is_told=bool(told))


def _shared(snapshot: Snapshot) -> tuple[object, ...]:
    document = snapshot.engine.exec_approvals
    return (
        snapshot.engine.settings,
        {name: document[name] for name in document if name != "agents"},
        _of_every(document),
    )


def _of_every(document: Mapping[str, Any]) -> object:
    agents = document.get("agents")
    return agents.get("*") if isinstance(agents, Mapping) else agents


def _judged_by(side: Side) -> tuple[object, ...]:
    """Return everything of an agent that verdicts depend on."""
    rules = replace(side.rules, security_from="", ask_from="", ask_fallback_from="", host_from="")
    return rules, side.settings.host, side.settings.elevated, side.settings.elevated_own, side.settings.elevated_level


def _written_of(snapshot: Snapshot, agent: str) -> tuple[object, ...]:
    """Return what is written of one agent alone: agents with the same are met alike."""
    document = snapshot.engine.exec_approvals.get("agents")
    agents = document if isinstance(document, Mapping) else {}
    return dict(snapshot.engine.own_settings(agent)), agents.get(agent), agent in LENT and agents.get("default")


def _side(snapshot: Snapshot, agent: str) -> Side:
    settings = snapshot.exec_settings(agent)
    settings = replace(settings, approvals=_pruned(settings.approvals, settings.agent_id))
    shared, own = snapshot.engine.settings, snapshot.engine.own_settings(agent)
    names = {*shared, *own}
    rules = exec_rules(settings, dialect=snapshot.dialect)
    return Side(settings, rules, _flat({name: _laid(shared, own, name) for name in names}) | _words(rules))


def _pruned(document: Mapping[str, Any], agent: str) -> Mapping[str, Any]:
    """Leave out what an approvals document says of other agents."""
    agents = document.get("agents")
    if not isinstance(agents, Mapping):
        return document
    return {**document, "agents": {key: agents[key] for key in ("*", "default", "main", agent) if key in agents}}


def _laid(shared: Mapping[str, Any], own: Mapping[str, Any], name: str) -> Any:
    """Lay an agent's own block over that of everybody, as the runtime does."""
    outer, inner = shared.get(name), own.get(name)
    if isinstance(outer, Mapping) and isinstance(inner, Mapping):
        return {**outer, **{key: value for key, value in inner.items() if value is not None}}
    return outer if inner is None else inner


def _flat(value: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, member in value.items():
        here = f"{path}.{name}" if path else str(name)
        if isinstance(member, Mapping):
            found |= _flat(member, here)
        else:
            found[here] = member
    return found


def _flips(before: Side, after: Side) -> _Told:
    """Ask both sides about every example, by everybody who may be told apart, inside the sandbox and outside."""
    told: _Told = {}
    fixed = _fixed()
    examples = (*fixed, *_of_lists(before.rules, after.rules))
    for asker in _askers(before.settings, after.settings):
        asked = fixed if asker.label else examples
        for sandboxed in (False, True):
            context = replace(asker.context, sandboxed=sandboxed)
            pair = [_verdicts(side, asker, context, asked) for side in (before, after)]
            for example, was, now in zip(asked, *pair, strict=True):
                if was != now:
                    told.setdefault((was, now, asker.label, sandboxed), {})[example.shown] = None
    return told


def _changes(found: _Told) -> Iterator[AccessChange]:
    """Write down what was found; what holds inside the sandbox and outside stands once, and what anybody gets too."""
    for (was, now, caller, sandboxed), examples in found.items():
        twin = found.get((was, now, caller, not sandboxed))
        if twin is not None and twin.keys() == examples.keys() and sandboxed:
            continue
        is_both = twin is not None and twin.keys() == examples.keys()
        shown = tuple(examples)
        if caller:  # what anybody gets is told once
            known = {each for inside in (False, True) for each in found.get((was, now, "", inside), {})}
            shown = tuple(each for each in shown if each not in known)
        if shown:
            yield AccessChange(
                subject="commands",
                direction="wider" if FREEDOM.index(now) > FREEDOM.index(was) else "narrower",
                before=was,
                after=now,
                examples=shown[:EXAMPLES_KEPT],
                example_count=len(shown),
                caller=caller,
                sandboxed=None if is_both else sandboxed,
            )


def _verdicts(side: Side, asker: Asker, context: CallContext, examples: Iterable[Example]) -> list[Verdict]:
    try:
        params = {"elevated": True} if asker.is_elevated else {}
        rules = rules_of_call(side.rules, side.settings, params, context)
    except ExecHostError:
        return ["denied" for _ in examples]
    if rules.auto_allow_skills:
        rules = replace(rules, skills=frozenset([(SKILL, f"{SKILLS}/{SKILL}")]))
    return [_verdict(rules, example) for example in examples]


def _verdict(rules: ExecRules, example: Example) -> Verdict:
    if example.is_undecided:
        has_it = example.shown in {_shown(entry) for entry in rules.allowlist}
        if has_it and rules.security == "allowlist" and rules.ask != "always":
            return "runs"
    verdict = judge(example.line, rules, files=FILES, where=WHERE)
    if verdict.outcome == "ask":
        return "unanswered" if runs_unanswered(verdict, rules) else "asks"
    return "runs" if verdict.outcome == "run" else "denied"


@cache
def _fixed() -> tuple[Example, ...]:
    return tuple(Example(read_line(command), command) for command in (*COMMANDS, SKILL))


def _of_lists(before: ExecRules, after: ExecRules) -> Iterator[Example]:
    """Make an example of each entry, program and folder that only one of two sets of rules has."""
    for entry in _entries(before, after)[:ENTRIES_TRIED]:
        yield _of_entry(entry)
    for entry in [each for each in dict.fromkeys(after.allowlist) if each in set(before.allowlist)][:COMMON_TRIED]:
        yield _of_entry(entry)
    bins = _safe_bins(before) | _safe_bins(after)
    for name in sorted(bins)[:ENTRIES_TRIED]:
        yield Example(read_line(_quoted(name)), name)
    folders = set(before.safe_bin_folders or ()) ^ set(after.safe_bin_folders or ())
    for folder in sorted(folders)[:ENTRIES_TRIED]:
        for name in sorted(bins)[:4]:
            command = f"{folder.rstrip('/')}/{name}"
            yield Example(read_line(_quoted(command)), command)


def _entries(before: ExecRules, after: ExecRules) -> list[AllowEntry]:
    was, now = (dict.fromkeys(rules.allowlist) for rules in (before, after))
    return [*(entry for entry in now if entry not in was), *(entry for entry in was if entry not in now)]


def _safe_bins(rules: ExecRules) -> frozenset[str]:
    return safe_bin_names(None, exec_tables(rules.dialect)) if rules.safe_bins is None else rules.safe_bins


def _words(rules: ExecRules) -> dict[str, Any]:
    """Write down what a document of approvals comes to, so that a difference without an example is told."""
    words = {
        "security": rules.security,
        "ask": rules.ask,
        "askFallback": rules.ask_fallback,
        "autoAllowSkills": rules.auto_allow_skills,
        "allowlist": f"{len(rules.allowlist)}",
    }
    return {f"execApprovals.{name}": value for name, value in words.items()}


def _of_entry(entry: AllowEntry) -> Example:
    pattern = f"{WHERE.home}{entry.pattern[1:]}" if entry.pattern.startswith("~/") else entry.pattern
    program = witness(pattern)
    words = next(iter(_arguments(entry.arg_pattern)), None)
    command = " ".join(map(_quoted, (program, *(words or ()))))
    return Example(read_line(command), _shown(entry), is_undecided=words is None)


def _shown(entry: AllowEntry) -> str:
    return entry.pattern if entry.arg_pattern is None else f"{entry.pattern} {entry.arg_pattern}"


def _arguments(pattern: str | None) -> Iterator[tuple[str, ...]]:
    """Give arguments that an expression fits, where a simple one leads to some."""
    if pattern is None:
        yield ()
        return
    for filled in (_filled(pattern, ""), _filled(pattern, "x"), "", "x"):
        words = tuple(filled.split(" ")) if filled else ()
        try:
            if arguments_match(pattern, words):
                yield words
        except PatternError:
            return


def _filled(pattern: str, text: str) -> str:
    plain = pattern.removeprefix("^").removesuffix("$")
    plain = re.sub(r"\((?:\?:)?[^()]*\)\?", text and " x", plain)
    plain = re.sub(r"(?<!\\)(?:\\S|\\w|\.)[*+]", text or "x", plain)
    plain = re.sub(r"(?<!\\)(?:\\d|\[0-9\])[*+]?", "1", plain)
    return re.sub(r"\\(.)", r"\1", plain)


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./:=@%+,-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _askers(before: ExecSettings, after: ExecSettings) -> Iterator[Asker]:
    """Give whoever may be told apart: anybody, and senders that a list of elevated commands names."""
    yield Asker()
    blocks = [each for side in (before, after) for each in (side.elevated, side.elevated_own)]
    if _elevated(before) == _elevated(after) and (before.elevated_level == after.elevated_level):
        return
    lists = [each.get("allowFrom") for each in blocks]
    channels = sorted({str(channel) for each in lists if isinstance(each, Mapping) for channel in each})
    for channel in channels[:SENDERS_TRIED]:
        named = {str(name) for each in lists if isinstance(each, Mapping) for name in _texts(each.get(channel))}
        for name in sorted(named)[:SENDERS_TRIED]:
            context = CallContext(channel=channel, **_speaker(name))
            yield Asker(f"{channel} {name}", context)
            yield Asker(f"{channel} {name}, elevated", context, is_elevated=True)


def _elevated(settings: ExecSettings) -> str:
    return json.dumps([settings.elevated, settings.elevated_own], sort_keys=True, default=str)


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _speaker(entry: str) -> dict[str, Any]:
    kind, colon, value = entry.partition(":")
    members = {"username": "sender_username", "name": "sender_name", "e164": "sender_e164", "id": "sender_id"}
    if colon and kind in members:
        return {members[kind]: value}
    return {"sender_id": "anybody" if entry == "*" else entry}


def _settings(before: Mapping[str, Any], after: Mapping[str, Any], *, is_told: bool) -> Iterator[AccessChange]:
    """Name the settings that differ, and judge those of which it is known which value is the stricter one."""
    for path in sorted(before.keys() | after.keys()):
        was, now = before.get(path), after.get(path)
        if was == now or (is_told and path in JUDGED):
            continue
        yield AccessChange(
            subject="settings",
            direction=_direction(path, was, now),
            before=_written(was),
            after=_written(now),
            examples=(path,),
            example_count=1,
        )


def _direction(path: str, was: Any, now: Any) -> Direction:
    order = WIDER_WHEN.get(path, ())
    if was not in order or now not in order or order.index(was) == order.index(now):
        return "other"
    return "wider" if order.index(now) > order.index(was) else "narrower"


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

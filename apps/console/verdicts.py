"""The explorer's answers: a verdict for each tool in one or two situations, and the trace of one tool."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.guards import ShownAnswer, permissions_in
from apps.console.layers import layer_name, page_of
from apps.console.situations import Situation
from apps.firewall.engine.answers import Decision, Explanation, Step
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide, explain, explain_tool
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.exec_policy import ExecRules, exec_rules
from apps.firewall.engine.exec_policy.explaining import EXEC, ExplainedCommand, explain_command
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.warn import MCP_PLUGIN

WORDS: Final = {
    "security": gettext_lazy("Security"),
    "ask": gettext_lazy("Ask"),
    "askFallback": gettext_lazy("When nobody answers"),
    "host": gettext_lazy("Host"),
    "elevated": gettext_lazy("Elevated"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One tool in one situation: `allow`, `ask` or `deny`, and who decided.

    Attributes:
        number, layer: the layer that removed the tool; None and "" when none did.
        note: what else decides about its calls; for `exec` the exec settings.
    """

    kind: str
    number: int | None = None
    layer: str = ""
    rule: str = ""
    note: str = ""

    @property
    def decider(self) -> tuple[str, int | None, str]:
        return self.kind, self.number, self.rule


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine says of one situation."""

    name: str
    situation: Situation
    context: CallContext
    explanation: Explanation
    exec: ExecRules
    verdicts: dict[str, Verdict]

    def count(self, kind: str) -> int:
        return sum(verdict.kind == kind for verdict in self.verdicts.values())

    @property
    def allowed(self) -> int:
        return self.count("allow")

    @property
    def asking(self) -> int:
        return self.count("ask")

    @property
    def denied(self) -> int:
        return self.count("deny")


def answer_of(snapshot: Snapshot, situation: Situation, name: str) -> Answer:
    """Ask the engine about every tool of a snapshot in one situation."""
    context = situation.context()
    explanation = explain(snapshot, context)
    agent = explanation.resolution.agent if explanation.resolution is not None else None
    rules = exec_rules(snapshot.exec_settings(agent or situation.agent), dialect=snapshot.dialect)
    removed = {
        removal.tool: Verdict("deny", layer.number, layer_name(layer.key), removal.rule)
        for layer in explanation.layers
        for removal in layer.removed
    }
    verdicts = {tool: removed.get(tool) or _admitted(tool, rules) for tool in snapshot.tool_names}
    if explanation.error is not None:
        verdicts = dict.fromkeys(snapshot.tool_names, Verdict("deny", rule=explanation.error))
    return Answer(name, situation, context, explanation, rules, verdicts)


def _admitted(tool: str, rules: ExecRules) -> Verdict:
    """Every layer lets the tool pass; what the exec settings say of its calls comes on top."""
    if tool != EXEC:
        return Verdict("allow")
    if rules.security == "deny":
        return Verdict("deny", rule=f"{rules.security_from} deny", note=_("no command runs"))
    number = len(rules.allowlist)
    note = _("%(security)s, %(ask)s · %(number)s rules") % {
        "security": rules.security,
        "ask": rules.ask,
        "number": number,
    }
    asks = rules.ask == "always" or (rules.ask == "on-miss" and rules.security == "allowlist")
    return Verdict("ask" if asks else "allow", note=note)


# --- the table ---


@dataclass(frozen=True, slots=True)
class ToolRow:
    tool: str
    label: str
    verdicts: tuple[Verdict, ...]
    differs: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class Section:
    label: str
    rows: tuple[ToolRow, ...]


def sections_of(snapshot: Snapshot, answers: Sequence[Answer], *, opened: str, only_differences: bool) -> list[Section]:
    """Group the tools as the catalogue does, each with its verdict in every situation."""
    found: dict[str, list[ToolRow]] = {}
    for tool in snapshot.tool_names:
        verdicts = tuple(answer.verdicts[tool] for answer in answers)
        differs = len(verdicts) > 1 and verdicts[0].kind != verdicts[1].kind
        if only_differences and not differs and tool != opened:
            continue
        row = ToolRow(tool, _label(snapshot, tool), verdicts, differs, tool == opened)
        found.setdefault(section_of(snapshot, tool), []).append(row)
    return [Section(label, tuple(rows)) for label, rows in found.items()]


def differences(answers: Sequence[Answer]) -> int:
    """Count the tools whose verdict is not the same in two situations."""
    if len(answers) < 2:
        return 0
    first, second = answers[0].verdicts, answers[1].verdicts
    return sum(first[tool].kind != second[tool].kind for tool in first)


def section_of(snapshot: Snapshot, tool: str) -> str:
    """Name the section of a tool: of the catalogue, of its plugin, of its MCP server."""
    entry = snapshot.tool(tool)
    if entry is None:
        return ""
    if entry.plugin == MCP_PLUGIN or entry.source == "mcp":
        return _("MCP: %(name)s") % {"name": tool.partition("__")[0]}
    if entry.plugin:
        return _("Plugin: %(name)s") % {"name": entry.plugin}
    return DIALECTS[snapshot.dialect].sections.get(entry.section, entry.section or _("Other"))


def _label(snapshot: Snapshot, tool: str) -> str:
    entry = snapshot.tool(tool)
    return entry.label if entry is not None and entry.label != tool else ""


# --- one tool ---


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One layer's own answer; `url` leads to where its block is edited."""

    step: Step
    name: str
    url: str

    @property
    def css(self) -> str:
        if self.step.removed_here:
            return "hit"
        return "idle" if self.step.permits is None else ""


@dataclass(frozen=True, slots=True)
class Trace:
    """Every layer's answer for one tool in one situation, as API and command line give it."""

    answer: Answer
    decision: Decision
    verdict: Verdict
    steps: tuple[TraceStep, ...]
    permissions: tuple[ShownAnswer, ...] = ()
    command: ExplainedCommand | None = None

    @property
    def test_query(self) -> str:
        """The question as parameters of a policy test's form."""
        return urlencode(self.answer.situation.query() | {"tool": self.decision.tool})

    @property
    def fix_id(self) -> str:
        """The element that takes the smallest fix, which is found after the page has come."""
        return f"fix-{self.answer.name}"

    @property
    def fix_url(self) -> str:
        """Where it is found."""
        return self.answer.situation.url(reverse("explorer-fix"), tool=self.decision.tool, name=self.answer.name)

    @property
    def words(self) -> list[tuple[str, str, str]]:
        """What holds for commands, of the tool that runs them: word, value, and the setting that said so."""
        if self.command is None:
            return []
        return [(str(WORDS[word.name]), word.value, word.source) for word in self.command.words]

    @property
    def decider(self) -> TraceStep | None:
        return next((each for each in self.steps if each.step.removed_here), None)

    @property
    def facts(self) -> list[tuple[str, str, bool]]:
        """How the engine read the context: what, how, and whether it deserves attention."""
        return list(_facts(self.answer))


def trace_of(snapshot: Snapshot, answer: Answer, tool: str, pages: frozenset[str]) -> Trace:
    """Explain one tool.

    Args:
        pages: keys of the agents that have a page.
    """
    decision = decide(snapshot, answer.context, tool)
    resolution = answer.explanation.resolution
    agent = resolution.agent if resolution is not None and resolution.agent in pages else None
    steps = tuple(
        TraceStep(step, layer_name(step.key), page_of(step.key, step.source, agent) if step.applied else "")
        for step in explain_tool(snapshot, answer.context, tool)
    )
    verdict = answer.verdicts.get(decision.tool) or Verdict("deny", rule=decision.reason)
    permissions = tuple(permissions_in(snapshot, answer.context, decision.tool))
    command = _command_in(snapshot, answer) if decision.tool == EXEC else None
    return Trace(answer, decision, verdict, steps, permissions, command)


def _command_in(snapshot: Snapshot, answer: Answer) -> ExplainedCommand:
    resolution = answer.explanation.resolution
    agent = (resolution.agent if resolution is not None else None) or answer.situation.agent
    return explain_command(snapshot.exec_settings(agent), answer.context, dialect=snapshot.dialect)


def _facts(answer: Answer) -> Iterator[tuple[str, str, bool]]:
    resolution = answer.explanation.resolution
    if resolution is None:
        return
    known = resolution.agent or _("none")
    yield (
        _("Agent"),
        known if resolution.agent_known else _("%(name)s, not configured") % {"name": known},
        not resolution.agent_known,
    )
    yield _("Depth"), str(resolution.depth), False
    if resolution.channel:
        yield _("Channel"), resolution.channel, False
    if resolution.group_dropped:
        yield _("Group"), _("dropped: the session key does not lead to it"), True
    elif resolution.group_ids:
        yield _("Group"), ", ".join(resolution.group_ids), False
    if answer.situation.group or resolution.group:
        yield _("Group rule"), resolution.group or _("none"), False
    if answer.situation.sender or resolution.sender:
        yield _("Sender rule"), resolution.sender or _("none"), False
    owner = {True: _("yes"), False: _("no"), None: _("not known")}[resolution.is_owner]
    yield _("Owner"), owner, False
    yield _("Sandbox"), _("yes") if resolution.sandboxed else _("no"), False
    if resolution.provider_key or resolution.agent_provider_key:
        keys = dict.fromkeys(key for key in (resolution.provider_key, resolution.agent_provider_key) if key)
        yield _("Provider rule"), ", ".join(keys), False


# --- export ---


def export_of(snapshot: Snapshot, at: str, answers: Sequence[Answer], tool: str) -> dict[str, Any]:
    """Write what the page shows as plain JSON."""
    return {
        "at": at,
        "environment": snapshot.environment,
        "dialect": snapshot.dialect,
        "digest": snapshot.digest,
        "situations": [_exported(snapshot, answer, tool) for answer in answers],
    }


def _exported(snapshot: Snapshot, answer: Answer, tool: str) -> dict[str, Any]:
    explanation = answer.explanation
    shown: dict[str, Any] = {
        "name": answer.name,
        "context": answer.context.to_json(),
        "error": explanation.error,
        "resolution": None if explanation.resolution is None else asdict(explanation.resolution),
        "allowed": list(explanation.allowed),
        "tools": [decide(snapshot, answer.context, name)._asdict() for name in snapshot.tool_names],
        "exec": _command_in(snapshot, answer).to_json(),
    }
    if tool:
        shown["decision"] = decide(snapshot, answer.context, tool)._asdict()
        shown["steps"] = [asdict(step) for step in explain_tool(snapshot, answer.context, tool)]
    return shown

"""What the authoring lint says of registered tools, in the reader's language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint import RULES, Finding, lint_definition
from apps.registry.definitions import tool_definition
from apps.registry.errors import ToolInvalidError
from apps.registry.models import SourceKind, Tool, ToolSource

SEVERITIES = ("error", "warning", "hint")
SAID = 3
RUNS_ELSEWHERE = frozenset({SourceKind.OPENCLAW_PLUGINS})
"""Sources whose tools the OpenClaw Gateway runs itself: here they are decided about only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinding:
    """One finding about one tool. `path` is where in the definition, `message` is for people."""

    tool: str
    code: str
    severity: str
    path: str
    message: str


def tool_findings(tool: Tool) -> tuple[ToolFinding, ...]:
    """Judge a tool's definition, the worst first; core tools are OpenClaw's own and are not judged."""
    if tool.source == ToolSource.CORE:
        return ()
    findings = lint_definition(tool_definition(tool))
    ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    return tuple(_shown(tool.name, finding) for finding in ordered)


def error_findings(name: str, definition: Definition) -> tuple[ToolFinding, ...]:
    """Give what keeps a tool of this definition from being offered: models or providers would fail on it."""
    return tuple(_shown(name, each) for each in lint_definition(definition) if each.severity == "error")


def findings_text(findings: Iterable[ToolFinding]) -> str:
    """Write findings in one line, each with its place."""
    return "; ".join(f"{each.path or '-'}: {each.message}" for each in findings)


def raise_errors(
    tool: Tool, definition: Definition | None = None, *, known: frozenset[tuple[str, str]] = frozenset()
) -> None:
    """Keep a tool with errors from being offered.

    Core tools are OpenClaw's own, and what an OpenClaw Gateway runs is described there: neither is judged.

    Args:
        definition: what the tool is about to say; what its record says when absent.
        known: path and code of errors that are there already and stop nobody.
    Raises:
        ToolInvalidError: every error, with its place in the definition.
    """
    if tool.source == ToolSource.CORE or runs_elsewhere(tool):
        return
    details = [
        {"path": each.path, "code": each.code, "message": each.message}
        for each in error_findings(tool.name, definition or tool_definition(tool))
        if (each.path, each.code) not in known
    ]
    if definition is None and tool.discovery_source_id is not None and not tool.executor:
        details.append({"path": "executor", "code": "no_executor", "message": _("nothing here can run it")})
    if details:
        said = "; ".join(f"{each['path'] or '-'}: {each['message']}" for each in details[:SAID])
        message = _("`%(name)s` cannot be offered before its errors are mended: %(said)s")
        raise ToolInvalidError(message % {"name": tool.name, "said": said}, details)


def runs_elsewhere(tool: Tool) -> bool:
    """Say whether an OpenClaw Gateway runs a tool: here it is decided about only."""
    source = tool.discovery_source
    return source is not None and source.kind in RUNS_ELSEWHERE


def findings_of(tools: Iterable[Tool]) -> Iterator[ToolFinding]:
    """Judge many tools."""
    for tool in tools:
        yield from tool_findings(tool)


def _shown(tool: str, finding: Finding) -> ToolFinding:
    return ToolFinding(
        tool=tool,
        code=finding.code,
        severity=finding.severity,
        path=finding.path,
        message=_(RULES[finding.code].text) % finding.values,
    )

"""What the authoring lint says of registered tools, in the reader's language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.firewall.tools.lint import RULES, Finding, lint_definition
from apps.registry.definitions import tool_definition
from apps.registry.models import Tool, ToolSource

SEVERITIES = ("error", "warning", "hint")


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

"""Links from tools' names to their traces."""

from typing import Any

from django import template

from apps.console.blast import Row
from apps.console.situations import Situation
from apps.console.why import situation_of_call, situation_of_row, why_url

register = template.Library()


@register.simple_tag
def why_in(tool: str, situation: Situation, at: str = "live") -> str:
    """Return the address of a tool's trace in a situation."""
    return why_url(tool, situation, at=at)


@register.simple_tag
def why_of_call(call: Any) -> str:
    """Return the address of the trace of a recorded call, or of a request for approval."""
    return why_url(call.tool, situation_of_call(call))


@register.simple_tag
def why_of_row(tool: str, row: Row, at: str) -> str:
    """Return the address of a tool's trace in a context of which a line of a blast radius speaks."""
    return why_url(tool, situation_of_row(row), at=at)

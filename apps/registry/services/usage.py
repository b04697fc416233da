"""Telling remote registries how their tools were used since the look before, where an admin gave an address for it."""

import asyncio
from typing import Final

import structlog

from apps.audit.figures import Span, tool_figures
from apps.firewall.errors import FirewallError
from apps.firewall.tools.discovery.remote_usage import SETTING, ToolUsage, report_usage
from apps.registry.models import DiscoveryRun, DiscoverySource, RunState, Tool
from apps.registry.source_settings import source_connection

log = structlog.get_logger(__name__)

TOOLS_LIMIT: Final = 10_000


def usage_report(run: DiscoveryRun) -> bool:
    """Post the sums of a source's tools from the look before to this one, once. Not for coroutines.

    A report that is not taken is lost, and leaves the look as it is: figures for others stop nothing here.

    Returns:
        Whether a report was taken.
    """
    source = run.source
    if not source.settings.get(SETTING):
        return False
    looks = source.runs.filter(state=RunState.COMPLETED, started_at__lt=run.started_at)
    before = looks.order_by("-started_at").values_list("started_at", flat=True).first()
    if before is None:
        return False
    span = Span(environment=source.environment.slug, since=before, until=run.started_at)
    try:
        return asyncio.run(
            report_usage(
                source_connection(source),
                _usages(source, span),
                since=span.since,
                until=span.until,
                report_id=run.shown_id,
            )
        )
    except FirewallError as exc:
        log.warning("usage.not_reported", source=source.key, code=exc.code)
        return False


def _usages(source: DiscoverySource, span: Span) -> list[ToolUsage]:
    """Count the calls that ran; what was refused here is nobody else's business."""
    traits = dict(Tool.objects.filter(discovery_source=source).values_list("name", "traits"))
    return [
        ToolUsage(
            name=figures.tool,
            version=traits[figures.tool].get("version", ""),
            calls=figures.calls - figures.denied,
            failures=figures.failed,
            p95_ms=figures.p95_ms,
        )
        for figures in tool_figures(span, limit=TOOLS_LIMIT, points=1)
        if figures.tool in traits and figures.calls > figures.denied
    ]

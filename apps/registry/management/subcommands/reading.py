"""Subcommands that change nothing: list, lint, docs."""

import json
from argparse import ArgumentParser
from collections import Counter
from textwrap import indent
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.firewall.identifiers import show_id
from apps.firewall.tools.catalogue_page import CatalogueEntry, catalogue_markdown
from apps.registry.definitions import tool_definition
from apps.registry.findings import tool_findings
from apps.registry.management.subcommands.subcommand import Options, named_tool
from apps.registry.models import Environment, Tool, ToolState
from apps.registry.selectors import tool_failures, tools_of


def list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--state", choices=ToolState.values, default="", help="only tools in this state")
    parser.add_argument("--json", action="store_true", help="as JSON, one object a line")


def list_tools(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Write a line for each tool."""
    wanted = options["state"]
    rows = Tool.objects.filter(environment=environment, state=wanted) if wanted else tools_of(environment)
    for tool in rows.select_related("plugin", "discovery_source").order_by("position", "name"):
        facts = _facts(tool)
        if options["json"]:
            command.stdout.write(json.dumps(facts, ensure_ascii=False))
        else:
            reason = f"  ({facts['reason']})" if facts["reason"] else ""
            command.stdout.write(f"{facts['name']:<40} {facts['state']:<13} {facts['origin']}{reason}")


def _facts(tool: Tool) -> dict[str, Any]:
    origin = tool.server_name or ("" if tool.plugin is None else tool.plugin.key)
    return {
        "name": tool.name,
        "state": tool.state,
        "origin": f"{tool.source}:{origin}" if origin else tool.source,
        "executor": tool.executor.get("kind", ""),
        "reason": tool.state_reason,
    }


def lint_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="TOOL", help="tools to check; all of them by default")
    parser.add_argument("--strict", action="store_true", help="fail on warnings, too")


def lint(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Write a line for each finding; fails on errors."""
    names = options["names"]
    tools = [named_tool(environment, name) for name in names] if names else list(tools_of(environment))
    severities: Counter[str] = Counter()
    for tool in tools:
        for finding in tool_findings(tool):
            severities[finding.severity] += 1
            command.stdout.write(
                f"{finding.severity}: {tool.name}: {finding.path or '-'}: {finding.message} [{finding.code}]"
            )
    failed = severities["error"] + (severities["warning"] if options["strict"] else 0)
    if failed:
        raise CommandError(f"{failed} of {severities.total()} findings must be mended")


def failures_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="TOOL")
    parser.add_argument("--limit", type=int, default=5, help="of failures, the newest first")


def failures(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Write each failure with its traceback, as its author reads it."""
    tool = named_tool(environment, options["name"])
    rows = list(tool_failures(tool, limit=max(options["limit"], 1)))
    for each in rows:
        command.stdout.write(f"{each.at:%F %T} {show_id('call', each.call_id)} {each.code}: {each.exception}")
        command.stdout.write(indent(each.traceback or each.message or "-", "  "))
    if not rows:
        command.stdout.write(f"`{tool.name}` has raised nothing, as far as failures are kept")


def docs_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--title", default="Tools", help="the heading of the page")


def docs(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Write a page of Markdown."""
    entries = [
        CatalogueEntry(definition=tool_definition(tool), source=_facts(tool)["origin"], state=tool.state)
        for tool in tools_of(environment)
    ]
    command.stdout.write(catalogue_markdown(entries, title=options["title"]))

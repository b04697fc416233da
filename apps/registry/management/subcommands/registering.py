"""Registering tools and sources from files."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.firewall.tools.discovery.tool_file import read_tool_file
from apps.registry.management.subcommands.subcommand import Options, read_document, read_file
from apps.registry.models import DiscoverySource, Environment, SourceKind, ToolState
from apps.registry.registering import read_order
from apps.registry.selectors import plugin_find, source_find
from apps.registry.services import source_create, source_save, tool_register, tool_set_state


def register_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a definition, a list of them, or `tools: […]`; - for standard input"
    )
    parser.add_argument("--plugin", default="", help="key of the plugin that they belong to")
    parser.add_argument("--activate", action="store_true", help="offer them from the next publication on")


def register(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Register every tool of a file, or none."""
    plugin = plugin_find(environment, options["plugin"]) if options["plugin"] else None
    if options["plugin"] and plugin is None:
        raise CommandError(f"no plugin named `{options['plugin']}`")
    with transaction.atomic():
        for definition, executor in _orders(read_document(options["file"])):
            order = read_order(environment, definition, executor)
            tool = tool_register(environment, order.definition, executor=order.executor, plugin=plugin)
            if options["activate"]:
                tool = tool_set_state(tool, state=ToolState.ACTIVE)
            command.stdout.write(f"{tool.name}: {tool.state}")


def _orders(document: Any) -> list[tuple[Any, Mapping[str, Any] | None]]:
    listed = document.get("tools", [document]) if isinstance(document, Mapping) else document
    if not isinstance(listed, list) or not listed:
        raise CommandError("the file holds no definition")
    return [(each, each.get("executor") if isinstance(each, Mapping) else None) for each in listed]


def import_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a YAML file with `tools`, `tool_discovery`, `tool_loading`")
    parser.add_argument("--key", default="", help="of the source; the name of the file by default")


def import_file(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Make a source of the file, and one of the registry that it names; run again, it changes what differs."""
    path = Path(options["file"]).resolve()
    listed = read_tool_file(read_file(str(path)), folder=path.parent, variables=settings.TOOL_VARIABLES)
    key = options["key"] or path.stem.lower().replace("_", "-").replace(".", "-")
    with transaction.atomic():
        made = [_source(environment, key, SourceKind.FILE, {"path": str(path)}, 0)]
        remote = listed.remote_registry
        if remote:
            wanted = {"url": remote.get("url", ""), "auth_token": remote.get("auth_token", "")}
            interval = int(remote.get("sync_interval") or 0)
            made.append(_source(environment, f"{key}-registry", SourceKind.REMOTE, wanted, interval))
    for source in made:
        command.stdout.write(f"{source.key}: {source.get_kind_display()}")


def _source(
    environment: Environment, key: str, kind: str, wanted: Mapping[str, Any], interval_s: int
) -> DiscoverySource:
    source = source_find(environment, key)
    if source is None:
        return source_create(environment, key=key, kind=kind, settings=wanted, interval_s=interval_s)
    if source.kind != kind:
        raise CommandError(f"the source `{key}` is of another kind: name another with --key")
    return source_save(source, settings=wanted, interval_s=interval_s)

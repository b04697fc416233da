"""Registering tools and sources from files."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.firewall.tools.discovery.tool_file import read_tool_file
from apps.registry.errors import ToolInvalidError
from apps.registry.management.subcommands.subcommand import Options, read_document, read_file
from apps.registry.models import DiscoverySource, Environment, Plugin, SourceKind, Tool, ToolState
from apps.registry.registering import Order, read_order
from apps.registry.selectors import plugin_find, source_find, tool_find
from apps.registry.services import source_create, source_save, tool_register, tool_restate, tool_set_state
from apps.registry.services.sources import OPTIONS

EXECUTOR: Final = "executor"
SOURCE_MEMBERS: Final = frozenset({"kind", "settings", "secrets", *OPTIONS})


def register_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a definition, a list of them, or `tools: […]`; - for standard input"
    )
    parser.add_argument("--plugin", default="", help="key of the plugin that they belong to")
    parser.add_argument("--activate", action="store_true", help="offer them from the next publication on")


def register(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Register every tool of a file, or none; run again, it changes what the file says."""
    plugin = plugin_find(environment, options["plugin"]) if options["plugin"] else None
    if options["plugin"] and plugin is None:
        raise CommandError(f"no plugin named `{options['plugin']}`")
    with transaction.atomic():
        for order in _orders(environment, read_document(options["file"])):
            known = tool_find(environment, order.definition.name)
            tool = _registered(environment, order, plugin, known)
            change = "" if known is None else ", unchanged" if known.version == tool.version else ", changed"
            if options["activate"]:
                tool = tool_set_state(tool, state=ToolState.ACTIVE)
            command.stdout.write(f"{tool.name}: {tool.state}{change}")


def _registered(environment: Environment, order: Order, plugin: Plugin | None, known: Tool | None) -> Tool:
    if known is None:
        return tool_register(environment, order.definition, executor=order.executor, plugin=plugin)
    if plugin is not None and known.plugin_id != plugin.pk:
        raise CommandError(f"`{known.name}` belongs to another plugin, or to none: leave `--plugin` out")
    return tool_restate(known, order.definition, executor=order.executor)


def _orders(environment: Environment, document: Any) -> list[Order]:
    """Read the definitions of a file, each with what runs it; every mistake of all of them is told at once."""
    is_list = isinstance(document, list) or (isinstance(document, Mapping) and "tools" in document)
    listed = document["tools"] if isinstance(document, Mapping) and is_list else document if is_list else [document]
    if not isinstance(listed, list) or not listed or not document:
        raise CommandError("the file holds no definition")
    orders, details = [], []
    if isinstance(document, Mapping) and is_list:
        unknown = (name for name in document if name != "tools")
        details += [{"path": str(name), "code": "unknown_field", "message": "is not known here"} for name in unknown]
    for index, each in enumerate(listed):
        executor = each.get(EXECUTOR) if isinstance(each, Mapping) else None
        path = f"tools[{index}]." if is_list else ""
        try:
            orders.append(read_order(environment, each, executor, path=path, beside=EXECUTOR))
        except ToolInvalidError as exc:
            details += exc.details
    if details:
        count = len(details)
        raise ToolInvalidError(f"the file has {count} mistake{'s' * (count != 1)}: nothing is registered", details)
    return orders


def import_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a YAML file with `tools`, `tool_discovery`, `tool_loading`")
    parser.add_argument("--key", default="", help="of the source; the name of the file by default")
    parser.add_argument(
        "--secrets", default="", metavar="FILE", help="a YAML or JSON object of what the file calls ${NAME}"
    )


def import_file(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Make a source of the file, and one of the registry that it names; run again, it changes what differs."""
    path = Path(options["file"]).resolve()
    listed = read_tool_file(read_file(str(path)), folder=path.parent, variables=settings.TOOL_VARIABLES)
    key = options["key"] or path.stem.lower().replace("_", "-").replace(".", "-")
    with transaction.atomic():
        members = {"settings": {"path": str(path)}, "secrets": _secrets(options["secrets"]), "interval_s": 0}
        made = [_source(environment, key, SourceKind.FILE, members)]
        remote = listed.remote_registry
        if remote:
            wanted = {"url": remote.get("url", ""), "auth_token": remote.get("auth_token", "")}
            interval = int(remote.get("sync_interval") or 0)
            members = {"settings": wanted, "interval_s": interval}
            made.append(_source(environment, f"{key}-registry", SourceKind.REMOTE, members))
    for source in made:
        command.stdout.write(f"{source.key}: {source.get_kind_display()}")


def _secrets(file: str) -> dict[str, str] | None:
    if not file:
        return None
    texts = read_document(file)
    if not isinstance(texts, Mapping) or not all(isinstance(each, str) for pair in texts.items() for each in pair):
        raise CommandError(f"`{file}` holds no object of texts")
    return dict(texts)


def source_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="names the source; lower-case letters, digits and hyphens")
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a YAML or JSON object: `kind`, `settings` and what else the API takes; - for standard input",
    )


def source(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Make a source of any kind; run again, it changes what the file says."""
    members = read_document(options["file"])
    if not isinstance(members, Mapping) or not members.keys() <= SOURCE_MEMBERS or "kind" not in members:
        names = ", ".join(f"`{name}`" for name in sorted(SOURCE_MEMBERS - {"kind"}))
        raise CommandError(f"`{options['file']}` has to be an object with `kind`, and none but it, {names}")
    rest = {"settings": {}, **members}
    if not all(isinstance(rest.get(name, {}), Mapping) for name in ("settings", "secrets")):
        raise CommandError("`settings` and `secrets` have to be objects")
    kind = rest.pop("kind")
    made = _source(environment, options["key"], str(kind), rest)
    command.stdout.write(f"{made.key}: {made.get_kind_display()}")


def _source(environment: Environment, key: str, kind: str, members: Mapping[str, Any]) -> DiscoverySource:
    found = source_find(environment, key)
    if found is None:
        return source_create(environment, key=key, kind=kind, **members)
    if found.kind != kind:
        raise CommandError(f"the source `{key}` is of another kind, {found.kind}: name another")
    return source_save(found, **members)

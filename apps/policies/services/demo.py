"""The demo: a small haulier's `openclaw.json`, and the tools of its plugins and MCP servers, who may run them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pghistory
from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.events.notices import announce
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import read_definition
from apps.policies.actors import By, logged_as
from apps.policies.demo_records import MARK, WATCHED, DemoRecords, demo_records
from apps.policies.errors import DraftNotEmptyError
from apps.policies.locks import draft_lock
from apps.policies.models import Agent
from apps.policies.services.documents import ImportReport, document_import
from apps.registry.models import Environment, ToolSource
from apps.registry.services import plugin_save, tools_import

FOLDER = Path(__file__).resolve().parent.parent / "demo"


def demo_import(environment: Environment, *, by: User | None) -> ImportReport:
    """Make the demo the draft of an environment that has no agents, and register the tools that it speaks of.

    Raises:
        DraftNotEmptyError: the draft holds agents; nothing has changed.
        PermissionDeniedError: `by` may not change policies.
    """
    with transaction.atomic(), pghistory.context(**{MARK: True}):
        environment = draft_lock(environment)
        if Agent.objects.filter(environment=environment).exists():
            raise DraftNotEmptyError(_("the draft holds agents already: the demo is not loaded over them"))
        _register(environment, by)
        documents = {"approvals": _read("exec-approvals.json"), "guards": _read("guards.json")}
        return document_import(environment, _read("openclaw.json"), by=by, **documents)


def demo_records_remove(environment: Environment, *, by: By) -> DemoRecords:
    """Delete what the demo brought and nobody changed: a part of removing it, which the ledger is told as a whole.

    Returns:
        What went, and what stayed.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        found = demo_records(environment, lock=True)
        with logged_as(by, reason="delete"):
            for model in reversed(WATCHED):  # what belongs to a record goes before it
                model._default_manager.filter(pk__in=found.goes[model]).delete()
        if found.counts:
            announce("draft.changed", id=environment.pk, environment=environment.slug)
            announce("registry.changed", id=environment.pk, environment=environment.slug)
    return found


def _register(environment: Environment, by: User | None) -> None:
    catalogue = json.loads(_read("tools.json"))
    for plugin in catalogue["plugins"]:
        fields = {name: plugin[name] for name in ("key", "name", "description", "release")}
        record = plugin_save(environment, by=by, **fields)
        tools_import(environment, _definitions(plugin["tools"]), source=ToolSource.PLUGIN, plugin=record, by=by)
    for server in catalogue["servers"]:
        definitions = _definitions(server["tools"])
        tools_import(environment, definitions, source=ToolSource.MCP, server_name=server["name"], by=by)


def _definitions(tools: Iterable[Mapping[str, Any]]) -> list[Definition]:
    return [read_definition(tool) for tool in tools]


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")

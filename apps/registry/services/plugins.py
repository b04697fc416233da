"""Plugins: who brings tools, and the id that policies name."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.tools.definition_json import NAME, NAME_RULE
from apps.registry.errors import ToolInvalidError
from apps.registry.models import Environment, Plugin
from apps.registry.services.changing import By, change, check_version, write_fields
from apps.registry.services.lists import is_policy_word


def plugin_save(
    environment: Environment,
    *,
    key: str,
    name: str = "",
    description: str = "",
    release: str = "",
    is_enabled: bool = True,
    expected_version: int | None = None,
    by: By = None,
) -> Plugin:
    """Add a plugin, or change the one with this key.

    Args:
        key: the id that policies name; kept as written, found in any case.
        expected_version: of the one that was shown; None takes whatever is there.
    Raises:
        PermissionDeniedError: to switch one on again takes the right to publish.
        ToolInvalidError: not a key; RecordChangedError.
    """
    if not NAME.fullmatch(key):
        details = [{"path": "key", "code": "bad_name", "message": NAME_RULE}]
        raise ToolInvalidError(_("`%(key)s` cannot be the id of a plugin") % {"key": key[:128]}, details)
    fields = {"name": name or key, "description": description, "release": release, "is_enabled": is_enabled}
    with change(by):
        plugin = Plugin.objects.select_for_update().filter(environment=environment, key__iexact=key).first()
        if plugin is None:
            _check_key(environment, key)
            plugin = Plugin.objects.create(environment=environment, key=key, **fields)
            before: dict[str, Any] = {}
        else:
            check_version(plugin, expected_version, fields)
            _check_return(plugin, by, is_enabled=is_enabled)
            before = {field: getattr(plugin, field) for field in fields}
            if not write_fields(plugin, fields):
                return plugin
        _tell(plugin, by, "plugin_changed" if before else "plugin_added", before, fields)
    return plugin


def _check_key(environment: Environment, key: str) -> None:
    if is_policy_word(environment, key):
        message = _("`%(name)s` means other tools in policies") % {"name": key}
        raise ToolInvalidError(message, [{"path": "key", "code": "policy_word", "message": message}])


def _check_return(plugin: Plugin, by: By, *, is_enabled: bool) -> None:
    """Calls meet its tools again at once, whatever was published since."""
    if by is not None and is_enabled and not plugin.is_enabled:
        require(by, Permission.PUBLISH)


def plugin_set_enabled(
    plugin: Plugin, *, is_enabled: bool, expected_version: int | None = None, by: By = None
) -> Plugin:
    """Switch a plugin on or off. Calls to the tools of one that is off are refused at once.

    Raises:
        PermissionDeniedError: to switch it on takes the right to publish; RecordChangedError.
    """
    with change(by):
        plugin = Plugin.objects.select_for_update(of=("self",)).select_related("environment").get(pk=plugin.pk)
        check_version(plugin, expected_version, {"is_enabled": is_enabled})
        _check_return(plugin, by, is_enabled=is_enabled)
        before, after = {"is_enabled": plugin.is_enabled}, {"is_enabled": is_enabled}
        if write_fields(plugin, after):
            _tell(plugin, by, "plugin_switched_on" if is_enabled else "plugin_switched_off", before, after)
    return plugin


def _tell(plugin: Plugin, by: By, action: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Tell every process, and the ledger, what became of a plugin. Last in a transaction."""
    announce("registry.changed", id=plugin.pk, environment=plugin.environment.slug)
    changed = {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}
    entry_record(
        EntryDraft(
            kind=EntryKind.TOOL_CHANGE,
            actor=actor_of(by),
            environment=plugin.environment.slug,
            status=action,
            changes={"plugin": plugin.key, "version": plugin.version, "fields": changed},
        )
    )

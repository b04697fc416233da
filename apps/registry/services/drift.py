"""Changed definitions: an admin accepts the new one, or goes on with the old one."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of
from apps.registry.definitions import as_strict, definition_fields, read_pinned
from apps.registry.differences import json_differences
from apps.registry.errors import DriftDecidedError
from apps.registry.findings import raise_errors
from apps.registry.models import OFFERED_STATES, DefinitionDrift, DriftState, Tool, ToolState
from apps.registry.services.changing import By, change, write_fields
from apps.registry.services.tools import tool_tell


def drift_accept(drift: DefinitionDrift, *, by: By, at: datetime | None = None) -> Tool:
    """Take over a changed definition; the tool returns to the state it had. Agents see it once it is published.

    Raises:
        PermissionDeniedError: it takes the right to publish.
        DriftDecidedError: somebody was faster, or the source has changed the tool again.
        ToolInvalidError: it would be offered, and its definition has errors.
    """
    return _decide(drift, DriftState.ACCEPTED, by, at, _accepted)


def drift_dismiss(drift: DefinitionDrift, *, by: By, at: datetime | None = None) -> Tool:
    """Go on with the accepted definition; the same change is not brought up again, a further one is.

    Raises:
        PermissionDeniedError: it takes the right to publish.
        DriftDecidedError: as `drift_accept`.
    """
    return _decide(drift, DriftState.DISMISSED, by, at, lambda _drift, _tool: {})


def _accepted(drift: DefinitionDrift, tool: Tool) -> dict[str, Any]:
    pinned = read_pinned(as_strict(drift.found, tool))  # as it is now: admins may have been stricter since
    return definition_fields(pinned.definition) | {
        "executor": pinned.executor,
        "is_optional": pinned.is_optional,
        "digest": drift.found_digest,
    }


def _decide(
    drift: DefinitionDrift,
    state: DriftState,
    by: By,
    at: datetime | None,
    fields_of: Callable[[DefinitionDrift, Tool], dict[str, Any]],
) -> Tool:
    with change(by, permission=Permission.PUBLISH):
        tool = Tool.objects.select_for_update(of=("self",)).select_related("environment").get(pk=drift.tool_id)
        drift = DefinitionDrift.objects.select_for_update().get(pk=drift.pk)
        if drift.state != DriftState.PENDING:
            raise DriftDecidedError(
                _("the change of `%(name)s` is `%(state)s` already") % {"name": tool.name, "state": drift.state}
            )
        drift.state, drift.decided_at, drift.decided_by = state, at or timezone.now(), actor_of(by)
        drift.save(update_fields=["state", "decided_at", "decided_by"])
        fields = fields_of(drift, tool)
        if tool.state == ToolState.QUARANTINED and drift.tool_state:
            fields |= {"state": drift.tool_state, "state_reason": ""}
        if state == DriftState.ACCEPTED and fields.get("state", tool.state) in OFFERED_STATES:
            raise_errors(tool, read_pinned(drift.found).definition)
        write_fields(tool, fields)
        paths = [difference.path for difference in json_differences(drift.pinned, drift.found)]
        changes = {"drift": drift.shown_id, "digest": drift.found_digest, "paths": paths[:50], "state": tool.state}
        tool_tell(tool, by, f"drift_{state.value}", changes)
    return tool

"""Where a record stands in its document, also one that is gone."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.policies.document.findings import Path
from apps.policies.kinds import event_model
from apps.policies.models import (
    Agent,
    AllowlistEntry,
    Channel,
    ChannelAccount,
    ChannelGroup,
    ContentFilter,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecSettings,
    PermissionGrant,
    Profile,
    ProviderPolicy,
    SenderRule,
)
from apps.policies.models.base import PolicyRecord
from apps.registry.models import Environment

APPROVALS = "approvals"
GUARDS: Mapping[type[PolicyRecord], str] = {PermissionGrant: "permissionGrants", ContentFilter: "contentFilters"}


class Places:
    """Finds the paths of records; parents are read at the first need, from the change log, so that they may be gone."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._parents: dict[type[PolicyRecord], dict[UUID, Any]] = {}

    def of(self, record: Any, model: type[PolicyRecord] | None = None) -> Path:
        """Return the place of a record, or of a row of its model's change log."""
        model = model or type(record)
        if model is Agent:
            return ("agents", "entries", record.key)
        if model is Channel:
            return ("channels", record.key)
        if model is ChannelAccount:
            return (*self._place(Channel, record.channel_id), "accounts", record.key)
        if model is ChannelGroup:
            return self._group(record)
        if model is SenderRule:
            return self._sender(record)
        if model in (ProviderPolicy, ExecSettings):
            tools: Path = (*self._place(Agent, record.agent_id), "tools")
            return (*tools, "exec") if model is ExecSettings else (*tools, "byProvider", record.key)
        return self._other(record, model)

    def _other(self, record: Any, model: type[PolicyRecord]) -> Path:
        if model is Profile:
            return ("profiles", record.key)
        if model in GUARDS:
            return (GUARDS[model], record.key)
        if model is ExecApprovals:
            return (APPROVALS,)
        if model is ExecApprovalsAgent:
            return (APPROVALS, "agents", record.key)
        if model is AllowlistEntry:
            return (*self._place(ExecApprovalsAgent, record.approvals_agent_id), "allowlist", record.position)
        return ("tools",)

    def _group(self, record: Any) -> Path:
        if record.parent_id is not None:
            return (*self._place(ChannelGroup, record.parent_id), record.kind, record.key)
        holder = self._place(ChannelAccount, record.account_id) or self._place(Channel, record.channel_id)
        return (*holder, record.kind, record.key)

    def _sender(self, record: Any) -> Path:
        if record.group_id is not None:
            return (*self._place(ChannelGroup, record.group_id), "toolsBySender", record.key)
        return (*self._place(Agent, record.agent_id), "tools", "toolsBySender", record.key)

    def _place(self, model: type[PolicyRecord], identifier: UUID | None) -> Path:
        if identifier is None:
            return ()
        if model not in self._parents:
            log = event_model(model).objects.filter(environment=self.environment)
            last = log.order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id")
            self._parents[model] = {event.pgh_obj_id: event for event in last}
        return self.of(self._parents[model][identifier], model)

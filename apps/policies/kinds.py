"""The kinds of records: their words for doors and logs, their tables of members, and what people may edit."""

from collections.abc import Mapping
from typing import Any, cast

from django.db.models import Model

from apps.policies.document import members as m
from apps.policies.document.shapes import names
from apps.policies.models import (
    Agent,
    AllowlistEntry,
    Channel,
    ChannelAccount,
    ChannelGroup,
    ContentFilter,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecMode,
    ExecSettings,
    GlobalPolicy,
    PermissionGrant,
    Profile,
    ProviderPolicy,
    SenderRule,
)
from apps.policies.models.base import PolicyRecord

KINDS: Mapping[str, type[PolicyRecord]] = {
    "global": GlobalPolicy,
    "profile": Profile,
    "agent": Agent,
    "provider": ProviderPolicy,
    "exec": ExecSettings,
    "channel": Channel,
    "account": ChannelAccount,
    "group": ChannelGroup,
    "sender": SenderRule,
    "approvals": ExecApprovals,
    "approvals_agent": ExecApprovalsAgent,
    "allowlist": AllowlistEntry,
    "permission_grant": PermissionGrant,
    "content_filter": ContentFilter,
}
KIND_OF: Mapping[type[PolicyRecord], str] = {model: kind for kind, model in KINDS.items()}

MEMBERS: Mapping[type[PolicyRecord], tuple[m.Member, ...]] = {
    GlobalPolicy: m.GLOBAL,
    Profile: (
        m.Member(("allow",), "allow", names),
        m.Member(("deny",), "deny", names),
    ),
    Agent: m.AGENT,
    ProviderPolicy: m.PROVIDER,
    ExecSettings: m.EXEC,
    ChannelGroup: m.GROUP,
    SenderRule: m.SENDER,
    ExecApprovals: m.APPROVALS,
    ExecApprovalsAgent: m.APPROVAL_WORDS,
    AllowlistEntry: m.ALLOWLIST,
}

_FIXED = frozenset({"id", "environment", "version", "extra", "kind"})


def kind_of(record: PolicyRecord) -> str:
    return KIND_OF[type(record)]


def editable_fields(model: type[PolicyRecord]) -> frozenset[str]:
    """Name the fields that people may change; parents, and what is kept verbatim, stay as they are."""
    return frozenset(field.name for field in model._meta.fields if not field.is_relation) - _FIXED


def event_model(model: type[Model]) -> Any:
    """Return the change log of a model."""
    return cast(Any, model).pgh_event_model


EXEC_MODES: tuple[tuple[str, Any], ...] = tuple(ExecMode.choices)
"""Each mode of the exec tool with its label."""

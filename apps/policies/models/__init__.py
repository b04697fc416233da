"""The working draft of each environment, record by record, and what was published of it."""

from apps.policies.models.bulk_edits import BulkEdit, BulkEditRow
from apps.policies.models.channels import Channel, ChannelAccount, ChannelGroup, GroupKind, SenderRule
from apps.policies.models.execution import (
    AllowlistEntry,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecAsk,
    ExecHost,
    ExecMode,
    ExecSecurity,
    ExecSettings,
)
from apps.policies.models.guardrails import Guardrail, GuardrailAcceptance, GuardrailSeverity
from apps.policies.models.guards import ContentAction, ContentFilter, ContentWhere, PermissionGrant
from apps.policies.models.policy_tests import CaseOrigin, ExpectedVerdict, PolicyTest
from apps.policies.models.publications import Publication, StoredSnapshot
from apps.policies.models.releasing import PublishRequest, PublishRule, RequestState
from apps.policies.models.replays import Replay, ReplayRule
from apps.policies.models.scopes import Agent, ElevatedLevel, GlobalPolicy, Profile, ProviderPolicy
from apps.policies.models.shadows import ShadowRule

DRAFT_MODELS = (
    Profile,
    GlobalPolicy,
    Agent,
    ProviderPolicy,
    Channel,
    ChannelAccount,
    ChannelGroup,
    SenderRule,
    ExecSettings,
    ExecApprovals,
    ExecApprovalsAgent,
    AllowlistEntry,
    PermissionGrant,
    ContentFilter,
)
"""Every model of the draft, parents before children."""

__all__ = [
    "DRAFT_MODELS",
    "Agent",
    "AllowlistEntry",
    "BulkEdit",
    "BulkEditRow",
    "CaseOrigin",
    "Channel",
    "ChannelAccount",
    "ChannelGroup",
    "ContentAction",
    "ContentFilter",
    "ContentWhere",
    "ElevatedLevel",
    "ExecApprovals",
    "ExecApprovalsAgent",
    "ExecAsk",
    "ExecHost",
    "ExecMode",
    "ExecSecurity",
    "ExecSettings",
    "ExpectedVerdict",
    "GlobalPolicy",
    "GroupKind",
    "Guardrail",
    "GuardrailAcceptance",
    "GuardrailSeverity",
    "PermissionGrant",
    "PolicyTest",
    "Profile",
    "ProviderPolicy",
    "Publication",
    "PublishRequest",
    "PublishRule",
    "Replay",
    "ReplayRule",
    "RequestState",
    "SenderRule",
    "ShadowRule",
    "StoredSnapshot",
]

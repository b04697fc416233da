"""URL converters for shown identifiers: `<approval_id:…>` takes `ap_…` and gives a UUID.

Importing this module registers them; a door's urls.py imports it before its first path.
"""

import uuid

from django.urls import register_converter
from django.urls.converters import IntConverter

from apps.firewall.identifiers import read_id, show_id

BODY = r"[0-7][0-9a-hjkmnp-tv-z]{25}"


class IdConverter:
    """One kind of identifier in a URL; another prefix does not match, so the page is a 404."""

    prefix = ""
    regex = ""

    def to_python(self, value: str) -> uuid.UUID:
        return read_id(self.prefix, value)

    def to_url(self, value: uuid.UUID | str) -> str:
        return value if isinstance(value, str) else show_id(self.prefix, value)


class EnvironmentId(IdConverter):
    prefix = "env"
    regex = f"env_{BODY}"


class UserId(IdConverter):
    prefix = "usr"
    regex = f"usr_{BODY}"


class TokenId(IdConverter):
    prefix = "tok"
    regex = f"tok_{BODY}"


class InvitationId(IdConverter):
    prefix = "inv"
    regex = f"inv_{BODY}"


class ResetId(IdConverter):
    prefix = "rst"
    regex = f"rst_{BODY}"


class AgentId(IdConverter):
    prefix = "agt"
    regex = f"agt_{BODY}"


class ToolId(IdConverter):
    prefix = "tool"
    regex = f"tool_{BODY}"


class CallId(IdConverter):
    prefix = "call"
    regex = f"call_{BODY}"


class ApprovalId(IdConverter):
    prefix = "ap"
    regex = f"ap_{BODY}"


class GrantId(IdConverter):
    prefix = "grant"
    regex = f"grant_{BODY}"


class HaltId(IdConverter):
    prefix = "halt"
    regex = f"halt_{BODY}"


class PublishRequestId(IdConverter):
    prefix = "preq"
    regex = f"preq_{BODY}"


class PublicationId(IdConverter):
    prefix = "pub"
    regex = f"pub_{BODY}"


class RecordId(IdConverter):
    prefix = "rec"
    regex = f"rec_{BODY}"


class AuditEntryId(IdConverter):
    prefix = "aud"
    regex = f"aud_{BODY}"


class SourceId(IdConverter):
    prefix = "src"
    regex = f"src_{BODY}"


class SessionId(IdConverter):
    prefix = "ses"
    regex = f"ses_{BODY}"


class RunId(IdConverter):
    prefix = "run"
    regex = f"run_{BODY}"


class ToolRunId(IdConverter):
    prefix = "trun"
    regex = f"trun_{BODY}"


class SearchLabelId(IdConverter):
    prefix = "label"
    regex = f"label_{BODY}"


class CommandId(IdConverter):
    prefix = "proc"
    regex = f"proc_{BODY}"


class RateId(IdConverter):
    prefix = "rate"
    regex = f"rate_{BODY}"


class PolicyTestId(IdConverter):
    prefix = "ptest"
    regex = f"ptest_{BODY}"


class GuardrailId(IdConverter):
    prefix = "grail"
    regex = f"grail_{BODY}"


class GatewayId(IdConverter):
    prefix = "gw"
    regex = f"gw_{BODY}"


class AlarmId(IdConverter):
    prefix = "alarm"
    regex = f"alarm_{BODY}"


class SubscriptionId(IdConverter):
    prefix = "sub"
    regex = f"sub_{BODY}"


class DriftId(IdConverter):
    prefix = "drift"
    regex = f"drift_{BODY}"


class ExportId(IdConverter):
    prefix = "exp"
    regex = f"exp_{BODY}"


class HoldId(IdConverter):
    prefix = "hold"
    regex = f"hold_{BODY}"


class ErasureId(IdConverter):
    prefix = "ers"
    regex = f"ers_{BODY}"


class ReplayId(IdConverter):
    prefix = "replay"
    regex = f"replay_{BODY}"


class ShadowId(IdConverter):
    prefix = "shadow"
    regex = f"shadow_{BODY}"


class IdNumber(IntConverter):
    """A number of a row; one that no row can have does not match."""

    regex = "[0-9]{1,18}"


CONVERTERS: dict[str, type[IdConverter]] = {
    "environment_id": EnvironmentId,
    "user_id": UserId,
    "token_id": TokenId,
    "invitation_id": InvitationId,
    "reset_id": ResetId,
    "agent_id": AgentId,
    "tool_id": ToolId,
    "call_id": CallId,
    "approval_id": ApprovalId,
    "grant_id": GrantId,
    "halt_id": HaltId,
    "publication_id": PublicationId,
    "request_id": PublishRequestId,
    "record_id": RecordId,
    "audit_id": AuditEntryId,
    "source_id": SourceId,
    "run_id": RunId,
    "session_id": SessionId,
    "tool_run_id": ToolRunId,
    "label_id": SearchLabelId,
    "command_id": CommandId,
    "rate_id": RateId,
    "drift_id": DriftId,
    "export_id": ExportId,
    "hold_id": HoldId,
    "erasure_id": ErasureId,
    "policy_test_id": PolicyTestId,
    "replay_id": ReplayId,
    "shadow_id": ShadowId,
    "guardrail_id": GuardrailId,
    "gateway_id": GatewayId,
    "alarm_id": AlarmId,
    "subscription_id": SubscriptionId,
}

for _name, _converter in CONVERTERS.items():
    register_converter(_converter, _name)
register_converter(IdNumber, "id_number")

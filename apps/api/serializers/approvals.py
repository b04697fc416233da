"""Requests to a person, and the answers."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.approvals.models import Approval
from apps.approvals.states import Decision
from apps.registry.models import Environment


class ApprovalSerializer(serializers.ModelSerializer[Approval]):
    """A request as people see it: masked, never the sealed action."""

    id = serializers.CharField(source="shown_id", read_only=True)
    call_id = serializers.CharField(source="shown_call_id", read_only=True)
    environment = serializers.SlugRelatedField[Environment](slug_field="slug", read_only=True)
    decided_by = serializers.CharField(source="decided_by_label", read_only=True)
    kind = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True)

    class Meta:
        model = Approval
        fields: ClassVar = [
            "id", "call_id", "environment", "kind", "version", "state", "tool", "title", "severity", "command", "argv",
            "resolved_path", "cwd", "host", "params", "evidence", "warnings", "agent", "session_key", "channel",
            "sender", "sender_name", "sender_is_owner", "requester", "reason_layer", "reason_rule", "reason",
            "snapshot_digest", "trace_id", "decisions", "requested_at", "expires_at", "decided_by", "decided_at",
            "decision_reason", "scope",
        ]  # fmt: skip


class GrantScopeSerializer(serializers.Serializer[Any]):
    arg_pattern = serializers.CharField(default="", allow_blank=True, max_length=2000)
    every_agent = serializers.BooleanField(default=False)
    days = serializers.IntegerField(default=None, allow_null=True, min_value=1, max_value=3650)


class ResolveSerializer(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=[decision.value for decision in Decision])
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)
    scope = GrantScopeSerializer(required=False, allow_null=True, help_text="How far `allow-always` reaches.")

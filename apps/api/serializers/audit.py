"""Entries of the ledger, and calls put together from them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


@extend_schema_field({"type": "string", "pattern": "^[0-9a-f]*$"})
class HexField(serializers.Field[bytes, str, str, Any]):
    def to_representation(self, value: bytes) -> str:
        return value.hex()


class EntrySerializer(serializers.Serializer[Any]):
    """One entry as stored: content masked, with its place in its chain."""

    id = serializers.CharField(source="shown_id")
    at = serializers.DateTimeField()
    kind = serializers.CharField()
    environment = serializers.CharField()
    actor = serializers.CharField()
    agent = serializers.CharField()
    session_key = serializers.CharField()
    channel = serializers.CharField()
    sender = serializers.CharField()
    tool = serializers.CharField()
    call_id = serializers.CharField(source="shown_call_id")
    status = serializers.CharField()
    duration_ms = serializers.IntegerField(allow_null=True)
    decision = serializers.CharField()
    decision_layer = serializers.CharField()
    decision_label = serializers.CharField()
    decision_rule = serializers.CharField()
    decision_reason = serializers.CharField()
    snapshot_digest = serializers.CharField()
    trace_id = serializers.CharField()
    phases = serializers.JSONField(allow_null=True)
    changes = serializers.JSONField(allow_null=True)
    params = serializers.JSONField(allow_null=True)
    result = serializers.JSONField(allow_null=True)
    error = serializers.JSONField(allow_null=True)
    masked = serializers.JSONField(allow_null=True)
    chain_id = serializers.UUIDField()
    seq = serializers.IntegerField()
    prev_hash = HexField()
    hash = HexField()


class CallSerializer(serializers.Serializer[Any]):
    """One call: what was asked, what decided, what came of it."""

    id = serializers.CharField(source="shown_id")
    at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    environment = serializers.CharField()
    actor = serializers.CharField()
    agent = serializers.CharField()
    session_key = serializers.CharField()
    channel = serializers.CharField()
    sender = serializers.CharField()
    tool = serializers.CharField()
    status = serializers.CharField()
    duration_ms = serializers.IntegerField(allow_null=True)
    decision = serializers.CharField()
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the engine's word
    rule = serializers.CharField()
    reason = serializers.CharField()
    params = serializers.JSONField(allow_null=True)
    result = serializers.JSONField(allow_null=True)
    error = serializers.JSONField(allow_null=True)
    phases = serializers.JSONField()
    warnings = serializers.JSONField(help_text="What its caller was told beside the answer.")
    approval_id = serializers.CharField(source="shown_approval_id")
    approval_state = serializers.CharField()
    approval_by = serializers.CharField()
    approval_wait_ms = serializers.IntegerField(allow_null=True)
    snapshot_digest = serializers.CharField()
    trace_id = serializers.CharField()


class CallDetailSerializer(CallSerializer):
    entries = EntrySerializer(many=True)


class CallPageSerializer(serializers.Serializer[Any]):
    rows = CallSerializer(many=True)
    older = serializers.CharField(allow_null=True, help_text="Cursor for `after`.")
    newer = serializers.CharField(allow_null=True, help_text="Cursor for `before`.")


class EntryPageSerializer(serializers.Serializer[Any]):
    rows = EntrySerializer(many=True)
    older = serializers.CharField(allow_null=True, help_text="Cursor for `after`.")
    newer = serializers.CharField(allow_null=True, help_text="Cursor for `before`.")

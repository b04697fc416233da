"""Asynchronous calls, and the attempts to tell of their ends."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.gateway.models import AsyncCall, CallbackAttempt
from apps.registry.models import Environment


class CallbackAttemptSerializer(serializers.ModelSerializer[CallbackAttempt]):
    class Meta:
        model = CallbackAttempt
        fields: ClassVar = ["number", "at", "duration_ms", "status", "error_code", "message"]


class AsyncCallSerializer(serializers.ModelSerializer[AsyncCall]):
    """Where a call is; its params and result stand in the audit, masked."""

    id = serializers.CharField(source="shown_id", read_only=True)
    environment = serializers.SlugRelatedField[Environment](slug_field="slug", read_only=True)
    state = serializers.CharField(read_only=True)
    callback = serializers.CharField(read_only=True)
    callback_address = serializers.CharField(source="callback_shown", read_only=True)

    class Meta:
        model = AsyncCall
        fields: ClassVar = [
            "id", "environment", "agent", "actor", "tool", "session_key", "channel", "sender", "state", "outcome",
            "error_code", "asked_at", "queued_at", "claimed_at", "ended_at", "callback", "callback_address",
            "callback_attempts", "callback_due_at", "trace_id",
        ]  # fmt: skip


class AsyncCallDetailSerializer(AsyncCallSerializer):
    attempts = CallbackAttemptSerializer(many=True, read_only=True)

    class Meta(AsyncCallSerializer.Meta):
        fields: ClassVar = [*AsyncCallSerializer.Meta.fields, "attempts"]


class AsyncCallPageSerializer(serializers.Serializer[Any]):
    rows = AsyncCallSerializer(many=True)
    older = serializers.CharField(allow_null=True, help_text="Cursor for `after`.")


class CallbackKeySerializer(serializers.Serializer[Any]):
    algorithm = serializers.CharField()
    key_id = serializers.CharField(help_text="As the header `OpenClaw-Key-Id` of a callback has it.")
    public_key = serializers.CharField(help_text="In PEM.")

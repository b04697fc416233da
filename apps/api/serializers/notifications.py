"""Webhooks that are told of requests, and what became of messages."""

from typing import Any, ClassVar

from django.conf import settings
from rest_framework import serializers

from apps.notifications.models import Delivery, Preference, Webhook


class ChoicesSerializer(serializers.ModelSerializer[Preference]):
    """How a person wants to be told: `quiet` is empty for every request, `low` for high risk, `all` for none."""

    language = serializers.ChoiceField(choices=["", *dict(settings.LANGUAGES)], required=False)

    class Meta:
        model = Preference
        fields: ClassVar = ["email", "language", "quiet"]


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """An address that is told; its secret and its query are written and never read."""

    secret = serializers.CharField(write_only=True, required=False, allow_blank=True, max_length=500)
    has_secret = serializers.BooleanField(read_only=True)

    class Meta:
        model = Webhook
        fields: ClassVar = ["name", "url", "secret", "has_secret", "is_active", "version"]
        read_only_fields: ClassVar = ["version"]
        validators: ClassVar[list[Any]] = []

    def to_representation(self, row: Webhook) -> dict[str, Any]:
        return super().to_representation(row) | {"url": row.shown_url}


class WebhookChangeSerializer(WebhookSerializer):
    """Only what changes, and the `version` that was seen. An empty secret removes the one there is."""

    class Meta(WebhookSerializer.Meta):
        read_only_fields: ClassVar = []
        extra_kwargs: ClassVar = {"version": {"required": True, "min_value": 1}}


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """One message to one place, and where it stands."""

    id = serializers.CharField(source="shown_id", read_only=True)
    approval = serializers.CharField(source="approval.shown_id", read_only=True)
    to = serializers.CharField(source="shown", read_only=True)
    channel = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True)

    class Meta:
        model = Delivery
        fields: ClassVar = [
            "id", "approval", "channel", "to", "state", "attempts", "created_at", "due_at", "ended_at", "status",
            "error_code", "message",
        ]  # fmt: skip

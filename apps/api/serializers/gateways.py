"""OpenClaw Gateways, their calls and alarms."""

from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers

from apps.openclaw_gateways.models import Alarm, GatewayCall, OpenClawGateway, Standing
from apps.registry.models import Environment


class GatewaySerializer(serializers.ModelSerializer[OpenClawGateway]):
    id = serializers.CharField(source="shown_id", read_only=True)
    environment = serializers.SlugRelatedField[Environment](slug_field="slug", read_only=True)
    standing = serializers.SerializerMethodField()
    alarms = serializers.IntegerField(source="alarms_standing", read_only=True, help_text="That nobody has cleared.")
    enrolled_by = serializers.CharField(source="enrolled_by_label", read_only=True)
    revoked_by = serializers.CharField(source="revoked_by_label", read_only=True)
    facts = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        allow_null=True,
        help_text="What its plugin can tell of a call; null before its first heartbeat, empty where it does not say.",
    )

    class Meta:
        model = OpenClawGateway
        fields: ClassVar = [
            "id", "environment", "name", "standing", "alarms", "enrolled_at", "enrolled_by", "revoked_at", "revoked_by",
            "last_seen_at", "booted_at", "proven_at", "openclaw_version", "plugin_version", "node_version",
            "snapshot_digest", "facts",
        ]  # fmt: skip

    def get_standing(self, gateway: OpenClawGateway) -> Standing:
        return gateway.standing(timezone.now())


class GatewayCallSerializer(serializers.ModelSerializer[GatewayCall]):
    id = serializers.CharField(source="shown_id", read_only=True)

    class Meta:
        model = GatewayCall
        fields: ClassVar = [
            "id", "tool", "agent", "session_key", "run", "tool_call", "state", "outcome", "asked_at", "told_at",
            "ended_at",
        ]  # fmt: skip


class AlarmSerializer(serializers.ModelSerializer[Alarm]):
    id = serializers.CharField(source="shown_id", read_only=True)
    gateway = serializers.CharField(source="gateway.shown_id", read_only=True)
    cleared_by = serializers.CharField(source="cleared_by_label", read_only=True)

    class Meta:
        model = Alarm
        fields: ClassVar = [
            "id", "gateway", "kind", "tool", "agent", "count", "first_at", "last_at", "cleared_at", "cleared_by",
        ]  # fmt: skip


class GatewayDetailSerializer(GatewaySerializer):
    calls = GatewayCallSerializer(source="newest_calls", many=True, read_only=True)
    standing_alarms = AlarmSerializer(source="alarms_now", many=True, read_only=True)

    class Meta(GatewaySerializer.Meta):
        fields: ClassVar = [*GatewaySerializer.Meta.fields, "calls", "standing_alarms"]


class EnrolmentSerializer(serializers.Serializer[Any]):
    """A gateway that is to be enrolled."""

    name = serializers.CharField(max_length=100)


class EnrolmentMadeSerializer(serializers.Serializer[Any]):
    """Leave to enrol one gateway; the secret is shown this once."""

    name = serializers.CharField()
    environment = serializers.CharField()
    secret = serializers.CharField()
    expires_at = serializers.DateTimeField()
    is_published = serializers.BooleanField(help_text="False: every call of the gateway is refused until you publish.")

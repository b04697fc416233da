"""Rate limits, their use, and breakers."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.limits.models import BreakerPolicy, Per, RateLimit, ToolBreaker

Values = dict[str, Any]


class RateLimitSerializer(serializers.ModelSerializer[RateLimit]):
    """So many calls a minute; `per` says whose calls are counted together."""

    id = serializers.CharField(source="shown_id", read_only=True)
    per = serializers.ChoiceField(choices=Per.choices, default=Per.EVERYBODY)

    class Meta:
        model = RateLimit
        fields: ClassVar = [
            "id", "version", "name", "per", "per_minute", "tools", "agents", "is_enabled", "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields: ClassVar = ["id", "version", "created_at", "updated_at"]


class RateLimitChangeSerializer(serializers.Serializer[Any]):
    """The members to change; `version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    name = serializers.CharField(required=False, max_length=100)
    per = serializers.ChoiceField(choices=Per.choices, required=False)
    per_minute = serializers.IntegerField(required=False, min_value=1, max_value=1_000_000)
    tools = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=200)
    agents = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=200)
    is_enabled = serializers.BooleanField(required=False)


class CounterSerializer(serializers.Serializer[Any]):
    """One subject of a rate: how many of its calls count now. `rate` is empty for what a definition states."""

    rate = serializers.CharField(source="counter.rate", allow_blank=True)
    subject = serializers.CharField(source="counter.subject", allow_blank=True)
    used = serializers.FloatField()
    refused = serializers.IntegerField(source="counter.refused")
    refused_at = serializers.DateTimeField(source="counter.refused_at", allow_null=True)


class BreakerPolicySerializer(serializers.ModelSerializer[BreakerPolicy]):
    """After how many failures in a row a tool on another server is left alone, and for how many seconds."""

    class Meta:
        model = BreakerPolicy
        fields: ClassVar = ["version", "failures", "pause_s", "is_enabled"]
        read_only_fields: ClassVar = ["version"]


class BreakerPolicyChangeSerializer(serializers.Serializer[Any]):
    """The members to change; `version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    failures = serializers.IntegerField(required=False, min_value=1, max_value=1000)
    pause_s = serializers.IntegerField(required=False, min_value=1, max_value=86_400)
    is_enabled = serializers.BooleanField(required=False)


class ToolBreakerSerializer(serializers.ModelSerializer[ToolBreaker]):
    """A tool that failed last; it is left alone while `opened_at` is set."""

    class Meta:
        model = ToolBreaker
        fields: ClassVar = ["tool", "failures", "opened_at", "tried_at", "error_code"]
        read_only_fields = fields


class BreakerCloseSerializer(serializers.Serializer[Any]):
    """The tool whose calls go through again."""

    tool = serializers.CharField(max_length=512)


class BreakerClosedSerializer(serializers.Serializer[Any]):
    """Whether the tool had a breaker."""

    closed = serializers.BooleanField()

"""Reports about calls and answers."""

from datetime import datetime, timedelta
from typing import Any

from rest_framework import serializers

from apps.api.serializers.fatigue import PersonTempoSerializer


class TotalSerializer(serializers.Serializer[Any]):
    calls = serializers.IntegerField()
    ran = serializers.IntegerField()
    denied = serializers.IntegerField()
    failed = serializers.IntegerField()


class CallsRowSerializer(TotalSerializer):
    """Durations in milliseconds of the newest calls that ran; null when none did."""

    name = serializers.CharField()
    p50_ms = serializers.IntegerField(allow_null=True)
    p95_ms = serializers.IntegerField(allow_null=True)


class LayerRowSerializer(serializers.Serializer[Any]):
    """An empty layer stands for what a person or time refused."""

    layer = serializers.CharField()
    denied = serializers.IntegerField()


class ErrorRowSerializer(serializers.Serializer[Any]):
    """An empty code is not on record any more, or of a call nobody knows the end of."""

    tool = serializers.CharField()
    status = serializers.CharField()
    code = serializers.CharField()
    count = serializers.IntegerField()
    last_at = serializers.DateTimeField()
    last_call = serializers.UUIDField()


class SlowRowSerializer(serializers.Serializer[Any]):
    tool = serializers.CharField()
    measured = serializers.IntegerField()
    p50_ms = serializers.IntegerField()
    p95_ms = serializers.IntegerField()
    longest_ms = serializers.IntegerField()
    longest_call = serializers.UUIDField(source="call")


class ReportSerializer(serializers.Serializer[Any]):
    """Whole hours; fifty rows of each at most. `unread` records are not counted yet."""

    since = serializers.DateTimeField(source="calls.span.since")
    until = serializers.DateTimeField(source="calls.span.until")
    unread = serializers.IntegerField(source="calls.unread")
    is_measured_whole = serializers.BooleanField(source="calls.is_measured_whole")
    total = TotalSerializer(source="calls.total")
    agents = CallsRowSerializer(many=True, source="calls.agents")
    tools = CallsRowSerializer(many=True, source="calls.tools")
    layers = LayerRowSerializer(many=True, source="calls.layers")
    errors = ErrorRowSerializer(many=True, source="calls.errors")  # type: ignore[assignment]  # a field, not the mistakes
    slowest = SlowRowSerializer(many=True, source="calls.slowest")
    operators = PersonTempoSerializer(many=True, source="answers.people")
    answers_expired = serializers.IntegerField(source="answers.total.expired")


class ReportQuerySerializer(serializers.Serializer[Any]):
    """Without `since`, the days before `until`; without `until`, up to now."""

    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    days = serializers.IntegerField(default=7, min_value=1, max_value=92)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        since, until = attrs.get("since"), attrs.get("until")
        for at in (since, until):
            if at is not None and not 2000 <= at.year <= 2200:
                raise serializers.ValidationError("times are between 2000 and 2200")
        if since is not None and until is not None and not since < until:
            raise serializers.ValidationError({"until": "not after `since`"})
        return attrs


def times_of(query: dict[str, Any], at: datetime) -> dict[str, datetime]:
    until = query.get("until") or at
    return {"since": query.get("since") or until - timedelta(days=query["days"]), "until": until}

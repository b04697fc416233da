"""How long records are kept, legal holds, purges and erasures."""

from typing import Any

from rest_framework import serializers

from apps.audit.models import PurgeRun
from apps.audit.retention.classes import CLASSES, LONGEST_DAYS
from apps.audit.retention.holds import FIELDS, REASON_LIMIT, TEXT_LIMIT


class RetentionClassSerializer(serializers.Serializer[Any]):
    """`days` null is for ever, `floor_days` null that nothing of it ever goes."""

    name = serializers.ChoiceField(choices=list(CLASSES))
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the framework, and of ours
    why = serializers.CharField()
    days = serializers.IntegerField(allow_null=True)
    floor_days = serializers.IntegerField(allow_null=True)
    changed_by = serializers.CharField()
    changed_at = serializers.DateTimeField(allow_null=True)


class DaysSerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField(min_value=1, max_value=LONGEST_DAYS, allow_null=True)


class PurgeRunSerializer(serializers.Serializer[Any]):
    """One purge; `error` says why it failed."""

    state = serializers.ChoiceField(choices=PurgeRun.State.choices)
    requested_by = serializers.CharField()
    requested_at = serializers.DateTimeField()
    records_total = serializers.IntegerField()
    records_done = serializers.IntegerField()
    finished_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField()


class PurgePreviewSerializer(serializers.Serializer[Any]):
    """What a purge would take now, and the last one of the class; sizes are an estimate."""

    records = serializers.IntegerField()
    size_bytes = serializers.IntegerField()
    first = serializers.DateTimeField(allow_null=True)
    last = serializers.DateTimeField(allow_null=True)
    held = serializers.IntegerField()
    run = PurgeRunSerializer(allow_null=True)


class HoldAskSerializer(serializers.Serializer[Any]):
    """What is left out means any."""

    reason = serializers.CharField(max_length=REASON_LIMIT)
    environment = serializers.CharField(max_length=TEXT_LIMIT, default="", allow_blank=True)
    agent = serializers.CharField(max_length=TEXT_LIMIT, default="", allow_blank=True)
    channel = serializers.CharField(max_length=TEXT_LIMIT, default="", allow_blank=True)
    sender = serializers.CharField(max_length=TEXT_LIMIT, default="", allow_blank=True)
    session_key = serializers.CharField(max_length=TEXT_LIMIT, default="", allow_blank=True)
    since = serializers.DateTimeField(default=None, allow_null=True)
    until = serializers.DateTimeField(default=None, allow_null=True)


class HoldSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(source="shown_id")
    reason = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    until = serializers.DateTimeField(allow_null=True)
    placed_at = serializers.DateTimeField()
    placed_by = serializers.CharField()
    lifted_at = serializers.DateTimeField(allow_null=True)
    lifted_by = serializers.CharField()
    lift_reason = serializers.CharField()

    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {name: serializers.CharField() for name in FIELDS}


class HoldsSerializer(serializers.Serializer[Any]):
    holds = HoldSerializer(many=True)
    lifted = HoldSerializer(many=True)


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=REASON_LIMIT)


class SubjectSerializer(serializers.Serializer[Any]):
    channel = serializers.CharField(max_length=TEXT_LIMIT)
    sender = serializers.CharField(max_length=TEXT_LIMIT)


class ErasureAskSerializer(SubjectSerializer):
    reason = serializers.CharField(max_length=REASON_LIMIT)


class PlaceSerializer(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the framework, and of ours
    count = serializers.IntegerField()


class ErasurePreviewSerializer(serializers.Serializer[Any]):
    """What would go, and where; `holds` and `open` say what stands against it."""

    contents = serializers.IntegerField()
    first = serializers.DateTimeField(allow_null=True)
    last = serializers.DateTimeField(allow_null=True)
    sessions = serializers.ListField(child=serializers.CharField())
    elsewhere = PlaceSerializer(many=True)
    exports = serializers.IntegerField()
    holds = serializers.ListField(child=serializers.CharField())
    open = serializers.IntegerField()


class ErasureSerializer(serializers.Serializer[Any]):
    """How far an erasure is; of the subject, only a salted hash is told."""

    id = serializers.CharField(source="shown_id")
    subject = serializers.CharField()
    reason = serializers.CharField()
    state = serializers.CharField()
    requested_by = serializers.CharField()
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    contents_total = serializers.IntegerField()
    contents_done = serializers.IntegerField()
    error = serializers.CharField()

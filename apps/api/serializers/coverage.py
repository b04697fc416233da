"""Ways to run a call, and what their last probes found."""

from typing import Any

from rest_framework import serializers


class DoorSerializer(serializers.Serializer[Any]):
    """`why` is a code, or the words of an error; the entry is the last one of the probe's call."""

    name = serializers.CharField()
    state = serializers.ChoiceField(["recorded", "missing", "failed", "running", "never"])
    why = serializers.CharField()
    tried_at = serializers.DateTimeField(source="probe.finished_at", default=None, allow_null=True)
    asked_by = serializers.CharField(source="probe.asked_by", default="")
    call_id = serializers.UUIDField(source="probe.call_id", default=None, allow_null=True)
    chain_id = serializers.UUIDField(source="probe.chain_id", default=None, allow_null=True)
    seq = serializers.IntegerField(source="probe.seq", default=None, allow_null=True)


class AuditCoverageSerializer(serializers.Serializer[Any]):
    doors = DoorSerializer(many=True)
    is_running = serializers.BooleanField()

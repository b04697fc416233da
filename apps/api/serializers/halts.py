"""Stops of the kill switch, and the processes that hold to them."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.halts.models import Halt, Scope


class HaltSerializer(serializers.ModelSerializer[Halt]):
    """One stop; `frozen` is how many pending approvals it froze when it was placed."""

    id = serializers.CharField(source="shown_id", read_only=True)
    placed_by = serializers.CharField(source="placed_by_label", read_only=True)
    asking_by = serializers.CharField(source="asking_by_label", read_only=True)
    lifted_by = serializers.CharField(source="lifted_by_label", read_only=True)

    class Meta:
        model = Halt
        fields: ClassVar = [
            "id", "scope", "name", "state", "reason", "ends_running", "frozen", "placed_at", "placed_by", "asking_at",
            "asking_by", "lifted_at", "lifted_by",
        ]  # fmt: skip
        read_only_fields: ClassVar = fields


class HaltPlaceSerializer(serializers.Serializer[Any]):
    """What to stop; `name` is that of the agent, channel or tool, and empty for everything."""

    scope = serializers.ChoiceField(choices=Scope.choices)
    name = serializers.CharField(required=False, allow_blank=True, max_length=512, default="")
    reason = serializers.CharField(max_length=500)
    ends_running = serializers.BooleanField(default=True)


class HaltProcessSerializer(serializers.Serializer[Any]):
    """A process that runs calls, and whether it holds to every stop there is."""

    host = serializers.CharField()
    pid = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["server", "worker"])
    has_heard = serializers.BooleanField()
    heard_at = serializers.DateTimeField(allow_null=True)


class HaltsSerializer(serializers.Serializer[Any]):
    """Every stop that holds, and who holds to them."""

    halts = HaltSerializer(many=True)
    processes = HaltProcessSerializer(many=True)
    heard_by_all = serializers.BooleanField()

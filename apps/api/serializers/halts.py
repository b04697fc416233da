"""Stops of the kill switch, and the processes that hold to them."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.halts.models import Halt, Scope
from apps.openclaw_gateways.models import Standing


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


class StopEffectSerializer(serializers.Serializer[Any]):
    """What a stop meets now.

    `running` are calls that began within the last hour, `commands` those that go on in the background, `queued` calls
    that run later, `requests` approvals that wait, `sessions` those with a call within the last hour. `problem` says
    why it would stop nothing.
    """

    name = serializers.CharField(allow_blank=True)
    agents = serializers.ListField(child=serializers.CharField())
    running = serializers.IntegerField()
    commands = serializers.IntegerField()
    queued = serializers.IntegerField()
    requests = serializers.IntegerField()
    sessions = serializers.IntegerField()
    problem = serializers.CharField(allow_blank=True)


class HaltMeetsSerializer(HaltSerializer):
    """One stop that holds, with what it meets now."""

    meets = StopEffectSerializer(read_only=True)

    class Meta(HaltSerializer.Meta):
        fields: ClassVar = [*HaltSerializer.Meta.fields, "meets"]
        read_only_fields: ClassVar = fields


class StopQuerySerializer(serializers.Serializer[Any]):
    """What somebody thinks of stopping."""

    scope = serializers.ChoiceField(choices=Scope.choices)
    name = serializers.CharField(required=False, allow_blank=True, max_length=512, default="")


class StopNamesSerializer(serializers.Serializer[Any]):
    """Everything that can be stopped by its name, as calls carry it."""

    agent = serializers.ListField(child=serializers.CharField())
    channel = serializers.ListField(child=serializers.CharField())
    tool = serializers.ListField(child=serializers.CharField())


class HaltPlaceSerializer(serializers.Serializer[Any]):
    """What to stop; `name` is that of the agent, channel or tool, and empty for everything.

    A name that nothing has stops nothing and is refused; `unknown` places the stop all the same, for what comes later.
    """

    scope = serializers.ChoiceField(choices=Scope.choices)
    name = serializers.CharField(required=False, allow_blank=True, max_length=512, default="")
    reason = serializers.CharField(max_length=500)
    ends_running = serializers.BooleanField(default=True)
    unknown = serializers.BooleanField(default=False)


class HaltProcessSerializer(serializers.Serializer[Any]):
    """A process that runs calls, and whether it holds to every stop there is."""

    host = serializers.CharField()
    pid = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["server", "worker"])
    has_heard = serializers.BooleanField()
    heard_at = serializers.DateTimeField(allow_null=True)


class HaltGatewaySerializer(serializers.Serializer[Any]):
    """An OpenClaw Gateway, and whether it holds to every stop: it reports, and nothing runs there against one."""

    id = serializers.CharField(source="shown_id")
    name = serializers.CharField()
    standing = serializers.ChoiceField(choices=Standing.choices)
    holds = serializers.BooleanField()
    heard_at = serializers.DateTimeField(allow_null=True)


class HaltsSerializer(serializers.Serializer[Any]):
    """Every stop that holds, and who holds to them."""

    halts = HaltMeetsSerializer(many=True)
    processes = HaltProcessSerializer(many=True)
    gateways = HaltGatewaySerializer(many=True)
    heard_by_all = serializers.BooleanField(help_text="By every process, and every gateway that reports.")

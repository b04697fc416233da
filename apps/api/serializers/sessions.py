"""Sessions of agents, and what bounds them."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.registry.models import Environment
from apps.sessions.models import Session, SessionRun
from apps.sessions.selectors import STATES


class BudgetsSerializer(serializers.Serializer[Any]):
    """How much a session may do in all; null where it has no bound."""

    max_calls = serializers.IntegerField(allow_null=True, default=None)
    max_denied = serializers.IntegerField(allow_null=True, default=None)
    max_duration_s = serializers.IntegerField(allow_null=True, default=None)


class SessionSerializer(serializers.ModelSerializer[Session]):
    id = serializers.CharField(source="shown_id", read_only=True)
    environment = serializers.SlugRelatedField[Environment](slug_field="slug", read_only=True)
    state = serializers.SerializerMethodField()
    ended_by = serializers.CharField(source="ended_by_label", read_only=True)
    budgets = BudgetsSerializer(read_only=True)

    class Meta:
        model = Session
        fields: ClassVar = [
            "id", "environment", "agent", "key", "channel", "sender", "parent_key", "depth", "started_at",
            "last_call_at", "last_tool", "calls", "denied", "state", "ended_at", "ended_by", "end_reason", "budgets",
        ]  # fmt: skip

    def get_state(self, session: Session) -> str:
        return STATES[not session.is_open]


class SessionRunSerializer(serializers.ModelSerializer[SessionRun]):
    class Meta:
        model = SessionRun
        fields: ClassVar = ["run_id", "is_given", "started_at", "last_call_at", "ended_at", "calls", "client_tools"]


class RepeatSerializer(serializers.Serializer[Any]):
    """A call that was made more than once with the same parameters."""

    tool = serializers.CharField()
    count = serializers.IntegerField()
    stuck = serializers.IntegerField(help_text="How many came to the same end as the one before.")


class LoopStateSerializer(serializers.Serializer[Any]):
    remembered = serializers.IntegerField(help_text="Calls in the history.")
    repeats = RepeatSerializer(many=True)
    problem = serializers.CharField()


class SessionDetailSerializer(SessionSerializer):
    runs = SessionRunSerializer(many=True, source="newest_runs")
    sub_sessions = SessionSerializer(many=True)
    loops = LoopStateSerializer(source="loop_state")

    class Meta(SessionSerializer.Meta):
        fields: ClassVar = [*SessionSerializer.Meta.fields, "runs", "sub_sessions", "loops"]


class SessionPageSerializer(serializers.Serializer[Any]):
    rows = SessionSerializer(many=True)
    older = serializers.CharField(allow_null=True, help_text="Cursor for `after`.")


class EndSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(default="", allow_blank=True, max_length=500, help_text="Told to the agent.")

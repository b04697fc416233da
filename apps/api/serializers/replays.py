"""Replays of past calls: what is asked for, how far it is, what would change."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.firewall.identifiers import show_id
from apps.policies.models import Replay
from apps.policies.replays.asking import DAYS_MOST
from apps.policies.replays.tallying import CHANGES


class ReplayAskSerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField(min_value=1, max_value=DAYS_MOST, default=7)
    at = serializers.CharField(
        default="draft", help_text="What is replayed against: `draft`, `live`, or the digest of a publication."
    )


class ReplayRuleSerializer(serializers.Serializer[Any]):
    is_required = serializers.BooleanField(help_text="Every door publishes only what was replayed.")


class ReplayAnswerSerializer(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=["allowed", "asks", "denied"])
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the engine's word
    rule = serializers.CharField()


class ReplayGroupSerializer(serializers.Serializer[Any]):
    """Calls of one agent and tool that change alike; of unknown ones, why nobody can tell."""

    change = serializers.ChoiceField(choices=CHANGES)
    agent = serializers.CharField()
    tool = serializers.CharField()
    now = ReplayAnswerSerializer(allow_null=True)
    draft = ReplayAnswerSerializer(allow_null=True)
    reason = serializers.CharField()
    count = serializers.IntegerField()
    calls = serializers.ListField(child=serializers.CharField(), help_text="A few of them, the newest first.")


class ReplaySerializer(serializers.ModelSerializer[Replay]):
    """A replay and how far it is; `calls_total` is null until somebody has counted."""

    id = serializers.CharField(source="shown_id", read_only=True)
    percent = serializers.IntegerField(read_only=True, allow_null=True)
    counts = serializers.SerializerMethodField()

    class Meta:
        model = Replay
        fields: ClassVar = [
            "id", "state", "days", "actor", "requested_at", "live_digest", "draft_digest", "calls_total", "calls_done",
            "percent", "counts", "error", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_counts(self, replay: Replay) -> dict[str, int]:
        counts = replay.tally.get("counts", {})
        return {change: counts.get(change, 0) for change in (*CHANGES, "same")}


class ReplayDetailSerializer(ReplaySerializer):
    """A replay with its groups; `left` counts, by change, the calls of groups beyond those that are kept."""

    groups = serializers.SerializerMethodField()
    left = serializers.SerializerMethodField()

    class Meta(ReplaySerializer.Meta):
        fields: ClassVar = [*ReplaySerializer.Meta.fields, "groups", "left"]
        read_only_fields = fields

    @extend_schema_field(ReplayGroupSerializer(many=True))
    def get_groups(self, replay: Replay) -> list[dict[str, Any]]:
        groups = replay.tally.get("groups", ())
        return [{**group, "calls": [show_id("call", UUID(call)) for call in group["calls"]]} for group in groups]

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_left(self, replay: Replay) -> dict[str, int]:
        left: dict[str, int] = replay.tally.get("left", {})
        return left

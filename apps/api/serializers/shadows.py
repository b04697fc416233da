"""Shadow rules: what is watched, and what it would have done to calls."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.api.serializers.fixes import EDITS_LIMIT, DraftEditSerializer
from apps.api.serializers.records import RecordReferenceField
from apps.api.serializers.replays import ReplayGroupSerializer
from apps.firewall.identifiers import show_id
from apps.policies.models import ShadowRule
from apps.policies.replays.tallying import CHANGES


class ShadowAskSerializer(serializers.Serializer[Any]):
    """What is watched: a record that the draft changes, or edits of lists as a smallest fix has them."""

    kind = serializers.CharField(
        required=False, max_length=64, help_text="Kind of the record, as in the draft's changes."
    )
    record = RecordReferenceField(
        required=False, help_text="A record that the draft changes, as `/draft/changes` names it (`rec_…`)."
    )
    edits = serializers.ListField(child=DraftEditSerializer(), required=False, min_length=1, max_length=EDITS_LIMIT)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("edits" in attrs) == ("record" in attrs) or ("record" in attrs) != ("kind" in attrs):
            raise serializers.ValidationError("give `kind` and `record`, or `edits`")
        return attrs


class RuleEditSerializer(serializers.Serializer[Any]):
    """One value of the rules that says something else; `before` or `after` is absent where there is none."""

    path = serializers.ListField(child=serializers.CharField())
    before = serializers.JSONField(required=False)
    after = serializers.JSONField(required=False)
    behind = serializers.CharField(allow_null=True, help_text="The key behind which a new one stands.")


class ShadowSerializer(serializers.ModelSerializer[ShadowRule]):
    """A shadow rule and its counter: how many calls it would have changed, by change."""

    id = serializers.CharField(source="shown_id", read_only=True)
    counts = serializers.SerializerMethodField()

    class Meta:
        model = ShadowRule
        fields: ClassVar = [
            "id", "state", "kind", "place", "actor", "started_at", "counted_at", "ended_at", "live_digest",
            "calls_seen", "counts", "error",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_counts(self, shadow: ShadowRule) -> dict[str, int]:
        return {change: shadow.counts.get(change, 0) for change in (*CHANGES, "same")}


class ShadowDetailSerializer(ShadowSerializer):
    """A shadow rule with its change and the calls by tool and agent; ids of calls for who may read the ledger."""

    edits = RuleEditSerializer(many=True, read_only=True)
    groups = serializers.SerializerMethodField()
    left = serializers.SerializerMethodField()

    class Meta(ShadowSerializer.Meta):
        fields: ClassVar = [*ShadowSerializer.Meta.fields, "edits", "groups", "left"]
        read_only_fields = fields

    @extend_schema_field(ReplayGroupSerializer(many=True))
    def get_groups(self, shadow: ShadowRule) -> list[dict[str, Any]]:
        names_calls = self.context["names_calls"]
        return [
            {**group, "calls": [show_id("call", UUID(call)) for call in group["calls"] if names_calls]}
            for group in shadow.tally.get("groups", ())
        ]

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_left(self, shadow: ShadowRule) -> dict[str, int]:
        left: dict[str, int] = shadow.tally.get("left", {})
        return left

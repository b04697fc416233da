"""Many requests at once: similar ones, and one answer to several."""

from typing import Any

from rest_framework import serializers

from apps.api.serializers.approvals import ApprovalSerializer
from apps.approvals.batch import DECISIONS, MOST
from apps.firewall.identifiers import read_id


class ApprovalIdField(serializers.CharField):
    """An id as `ap_…`."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return read_id("ap", super().to_internal_value(data))
        except ValueError:
            raise serializers.ValidationError("not the id of a request") from None


class PileSerializer(serializers.Serializer[Any]):
    """Requests of one shape that wait; `first` has the least time left. `shape` is null for one without its like."""

    shape = serializers.SerializerMethodField()
    count = serializers.IntegerField()
    first = ApprovalSerializer()

    def get_shape(self, pile: Any) -> str | None:
        return None if pile.is_alone else str(pile.first.shape)


class BatchSerializer(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=[each.value for each in DECISIONS])
    ids = serializers.ListField(child=ApprovalIdField(), min_length=1, max_length=MOST)
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)
    dry_run = serializers.BooleanField(default=False, help_text="Only tell what the answer would do.")


class BatchItemSerializer(serializers.Serializer[Any]):
    """`code` is `applied` (`will_apply` in a dry run), `stands_already`, `waits_for_others`, or why it is refused."""

    id = serializers.CharField(source="shown_id")
    code = serializers.CharField()
    message = serializers.CharField()
    state = serializers.CharField(source="approval.state", allow_null=True, default=None)
    decided_by = serializers.CharField(source="approval.decided_by_label", allow_null=True, default=None)


class BatchAnswerSerializer(serializers.Serializer[Any]):
    """What became of each request, or would; `batch` is how the ledger names it, null in a dry run."""

    batch = serializers.UUIDField(allow_null=True)
    applied = serializers.IntegerField()
    items = BatchItemSerializer(many=True)

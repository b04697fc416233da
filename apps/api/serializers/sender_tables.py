"""Tables of rules by sender, as programs send them, and what they are told."""

from typing import Any

from rest_framework import serializers

from apps.api.serializers.records import RecordIdField
from apps.policies.services import SenderReport

ROWS_SHOWN = 1000
CSV_LIMIT = 7 * 1024 * 1024


class SenderScopeSerializer(serializers.Serializer[Any]):
    """Where the rules stand: with an agent, in a group, or neither for those of everybody."""

    agent = RecordIdField(required=False, allow_null=True, default=None)
    group = RecordIdField(required=False, allow_null=True, default=None)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("agent") and attrs.get("group"):
            raise serializers.ValidationError({"group": "an agent is named already"})
        return attrs


class SenderTableSerializer(SenderScopeSerializer):
    csv = serializers.CharField(max_length=CSV_LIMIT, trim_whitespace=False)


class SenderRowSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField()
    key = serializers.CharField()
    outcome = serializers.ChoiceField(choices=["added", "changed", "refused"])
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True)


class SenderCountsSerializer(serializers.Serializer[Any]):
    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField()


class SenderReportSerializer(serializers.Serializer[Any]):
    """`rows` holds the first thousand that are not unchanged; `rows_left` how many more there are."""

    is_applied = serializers.BooleanField()
    counts = SenderCountsSerializer()
    rows = SenderRowSerializer(many=True)
    rows_left = serializers.IntegerField()


def report_of(report: SenderReport) -> dict[str, Any]:
    """Tell a program what a table does."""
    told = [row for row in report.rows if row.outcome != "unchanged"]
    return {
        "is_applied": report.is_applied,
        "counts": dict(report.counts),
        "rows": [
            {
                "line": row.line,
                "key": row.key,
                "outcome": row.outcome,
                "field": row.mistake.field if row.mistake else "",
                "code": row.mistake.code if row.mistake else "",
                "message": row.mistake.message if row.mistake else row.remark,
            }
            for row in told[:ROWS_SHOWN]
        ],
        "rows_left": max(0, len(told) - ROWS_SHOWN),
    }

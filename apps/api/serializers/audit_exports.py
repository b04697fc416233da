"""Files of the ledger: what is asked for, and how far it is."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.audit.formats import FORMATS
from apps.audit.models import Export


class ExportAskSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=sorted(FORMATS))
    filters = serializers.JSONField(
        default=dict, help_text="Members as the parameters of `audit/entries`; lists mean any of these."
    )

    def validate_filters(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise serializers.ValidationError("must be an object")
        return value


class ExportSerializer(serializers.ModelSerializer[Export]):
    """A file and how far it is; `rows_total` is null until somebody has counted."""

    id = serializers.CharField(source="shown_id", read_only=True)
    percent = serializers.IntegerField(read_only=True, allow_null=True)
    has_file = serializers.SerializerMethodField()

    class Meta:
        model = Export
        fields: ClassVar = [
            "id", "format", "filters", "state", "requested_by_label", "requested_at", "rows_total", "rows_done",
            "percent", "size_bytes", "sha256", "error", "finished_at", "expires_at", "has_file",
        ]  # fmt: skip
        read_only_fields = fields

    def get_has_file(self, export: Export) -> bool:
        return export.state == Export.State.DONE


class ExportPageSerializer(serializers.Serializer[Any]):
    rows = ExportSerializer(many=True)
    older = serializers.CharField(allow_null=True)

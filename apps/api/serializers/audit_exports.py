"""Files of the ledger: what is asked for, and how far it is."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.audit.filters import LISTS, NAMES
from apps.audit.formats import FORMATS
from apps.audit.models import Export
from apps.firewall.tools.members import Members

VALUE = {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}


@extend_schema_field(
    {
        "type": "object",
        "properties": dict.fromkeys(sorted(NAMES), VALUE),
        "additionalProperties": False,
    }
)
class FiltersField(serializers.JSONField):
    """Filters of the ledger by their names."""

    members = Members(NAMES)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("must be an object")
        for name, value in data.items():
            each = value if isinstance(value, list) and name in LISTS else [value]
            if not all(isinstance(part, str | int) and not isinstance(part, bool) for part in each):
                raise serializers.ValidationError({name: "must be a text, or a list of texts where any of them may be"})
        return data


class ExportAskSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=sorted(FORMATS))
    filters = FiltersField(
        default=dict, help_text="Members as the parameters of `audit/entries`; lists mean any of these."
    )


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

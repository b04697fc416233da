"""Background commands of a session."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.firewall.identifiers import show_id
from apps.gateway.models import BackgroundCommand

TEXT = {"type": "string"}


class BackgroundCommandSerializer(serializers.ModelSerializer[BackgroundCommand]):
    """A command that ran on when its call had ended; what it said is masked."""

    id = serializers.CharField(source="shown_id", read_only=True, help_text="The `sessionId` of `process`.")
    call = serializers.SerializerMethodField()
    status = serializers.SerializerMethodField(help_text="`running`, or how it ended.")
    is_ending = serializers.SerializerMethodField(help_text="Its end was asked for.")
    tail = serializers.CharField(read_only=True, help_text="The last that it said.")
    error = serializers.SerializerMethodField()

    class Meta:
        model = BackgroundCommand
        fields: ClassVar = [
            "id", "call", "status", "is_ending", "command", "workdir", "has_terminal", "time_limit_s", "started_at",
            "ended_at", "exit_code", "signal", "error", "tail", "output_total",
        ]  # fmt: skip

    def get_call(self, row: BackgroundCommand) -> str:
        return show_id("call", row.pk)

    def get_status(self, row: BackgroundCommand) -> str:
        return "running" if row.is_open else row.outcome

    def get_is_ending(self, row: BackgroundCommand) -> bool:
        return row.is_open and bool(row.end_asked_code)

    @extend_schema_field({"type": "object", "nullable": True, "properties": {"code": TEXT, "message": TEXT}})
    def get_error(self, row: BackgroundCommand) -> dict[str, str] | None:
        return {"code": row.error_code, "message": row.error_message} if row.error_code else None


class BackgroundCommandsSerializer(serializers.Serializer[Any]):
    rows = BackgroundCommandSerializer(many=True)

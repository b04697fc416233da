"""How the ledger stands: chains, what is signed, who keeps it, what walks found."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.api.serializers.audit import HexField
from apps.audit.models import VerificationRun, Witness
from apps.audit.statements import StatementKind
from apps.firewall.identifiers import show_id


class StatementSerializer(serializers.Serializer[Any]):
    """A signed statement in the form in which it travels; `hash` and `signature` are those of docs/audit.md."""

    format = serializers.IntegerField()
    number = serializers.IntegerField()
    at = serializers.CharField()
    kind = serializers.ChoiceField(choices=[kind.value for kind in StatementKind])
    body = serializers.CharField(help_text="Canonical JSON as text: its digest is what was signed.")
    prev_hash = serializers.CharField()
    hash = serializers.CharField()
    signature = serializers.CharField()
    public_key = serializers.CharField()


class VerificationSerializer(serializers.ModelSerializer[VerificationRun]):
    """A walk over the whole ledger; `report` and `is_intact` are there once it is done."""

    id = serializers.SerializerMethodField()
    percent = serializers.IntegerField(read_only=True, allow_null=True)

    class Meta:
        model = VerificationRun
        fields: ClassVar = [
            "id", "requested_by", "requested_at", "state", "entries_total", "entries_done", "percent", "started_at",
            "finished_at", "is_intact", "report", "error",
        ]  # fmt: skip
        read_only_fields = fields

    def get_id(self, run: VerificationRun) -> str:
        return show_id("run", run.pk)


class WitnessSerializer(serializers.ModelSerializer[Witness]):
    class Meta:
        model = Witness
        fields: ClassVar = ["name", "kind", "last_number", "last_at", "attempts", "error"]
        read_only_fields = fields


class LedgerAlarmSerializer(serializers.Serializer[Any]):
    code = serializers.ChoiceField(["broken", "failed", "overdue", "unsigned", "clock", "witness"])
    at = serializers.DateTimeField()
    detail = serializers.CharField()


class ChainSerializer(serializers.Serializer[Any]):
    """One chain; `covered` is the number up to which checkpoints vouch for it."""

    id = serializers.UUIDField(source="chain_id")
    host = serializers.CharField()
    pid = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    seq = serializers.IntegerField()
    head = HexField()
    covered = serializers.IntegerField()
    checkpoint = serializers.IntegerField(allow_null=True)
    covered_at = serializers.DateTimeField(allow_null=True)


class IntegritySerializer(serializers.Serializer[Any]):
    chains = serializers.IntegerField()
    entries = serializers.IntegerField()
    open_entries = serializers.IntegerField(help_text="Entries that no checkpoint covers yet.")
    statements = serializers.IntegerField()
    public_key = serializers.CharField()
    fingerprint = serializers.CharField()
    key_problem = serializers.CharField()
    checkpoint = serializers.SerializerMethodField()
    verification = VerificationSerializer(source="newest", allow_null=True)
    last_verification = VerificationSerializer(source="last", allow_null=True)
    witnesses = WitnessSerializer(many=True)
    alarms = LedgerAlarmSerializer(many=True)

    def get_checkpoint(self, state: Any) -> dict[str, Any] | None:
        return None if state.checkpoint is None else dict(StatementSerializer(state.checkpoint.document()).data)


class ChainPageSerializer(serializers.Serializer[Any]):
    rows = ChainSerializer(many=True)
    older = serializers.UUIDField(allow_null=True)


class StatementPageSerializer(serializers.Serializer[Any]):
    rows = StatementSerializer(many=True)
    after = serializers.IntegerField(help_text="What to ask for next time: the number of the last one here.")

"""Policy tests, and what a snapshot answers to them."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from apps.api.serializers.policies import ContextField
from apps.api.serializers.records import RecordIdField
from apps.firewall.identifiers import read_id, show_id
from apps.policies.models import PolicyTest
from apps.policies.models.policy_tests import ExpectedVerdict

REQUIRED: Final = serializers.Field.default_error_messages["required"]


class PolicyTestSerializer(serializers.ModelSerializer[PolicyTest]):
    """What must be allowed, denied or asked about, whatever is published."""

    id = serializers.CharField(source="shown_id", read_only=True)
    call = serializers.SerializerMethodField(help_text="The recorded call (`call_…`) that it was made from, or null.")
    context = ContextField(help_text="Members of the schema Context.")  # type: ignore[assignment]  # the engine's word
    params = serializers.DictField(allow_null=True, help_text="Of the call; null where only the tool is asked about.")

    class Meta:
        model = PolicyTest
        fields: ClassVar = [
            "id", "version", "name", "tool", "context", "params", "verdict", "layer", "is_enabled", "origin", "call",
            "made_by", "created_at", "updated_at",
        ]  # fmt: skip

    def get_call(self, test: PolicyTest) -> str | None:
        return None if test.call is None else show_id("call", test.call)


class PolicyTestNewSerializer(serializers.Serializer[Any]):
    """A new policy test. With `call` everything but the name is that call's unless it is given."""

    name = serializers.CharField(max_length=200)
    call = serializers.CharField(required=False, help_text="A recorded call (`call_…`); takes the scope `audit_read`.")
    tool = serializers.CharField(required=False, max_length=512)
    context = ContextField(required=False)  # type: ignore[assignment]  # the engine's word
    params = serializers.DictField(required=False, allow_null=True)
    verdict = serializers.ChoiceField(choices=ExpectedVerdict.choices, required=False)
    layer = serializers.CharField(required=False, allow_blank=True, max_length=64)
    is_enabled = serializers.BooleanField(required=False)

    def validate_call(self, value: str) -> Any:
        try:
            return read_id("call", value)
        except ValueError as exc:
            raise serializers.ValidationError(str(exc), code="invalid_id") from exc

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "call" not in attrs:
            lacking = [name for name in ("tool", "verdict") if name not in attrs]
            if lacking:
                raise serializers.ValidationError({name: [REQUIRED] for name in lacking})
        return attrs


class PolicyTestChangeSerializer(serializers.Serializer[Any]):
    """The members to change; `version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    name = serializers.CharField(required=False, max_length=200)
    tool = serializers.CharField(required=False, max_length=512)
    context = ContextField(required=False)  # type: ignore[assignment]  # the engine's word
    params = serializers.DictField(required=False, allow_null=True)
    verdict = serializers.ChoiceField(choices=ExpectedVerdict.choices, required=False)
    layer = serializers.CharField(required=False, allow_blank=True, max_length=64)
    is_enabled = serializers.BooleanField(required=False)


class CaseAnswerSerializer(serializers.Serializer[Any]):
    """What a snapshot answers; `layer` and `rule` decided, and are empty for what is allowed."""

    verdict = serializers.ChoiceField(choices=ExpectedVerdict.choices)
    reason = serializers.CharField()
    layer = serializers.CharField(allow_blank=True)
    rule = serializers.CharField(allow_blank=True)
    grants = serializers.ListField(child=serializers.CharField())
    pattern = serializers.CharField(allow_blank=True)


class CaseResultSerializer(serializers.Serializer[Any]):
    """One policy test and its answer."""

    id = serializers.CharField(source="test.shown_id")
    name = serializers.CharField(source="test.name")
    tool = serializers.CharField(source="test.tool")
    verdict = serializers.ChoiceField(source="test.verdict", choices=ExpectedVerdict.choices)
    layer = serializers.CharField(source="test.layer", allow_blank=True)
    has_passed = serializers.BooleanField()
    answer = CaseAnswerSerializer()


class CoveredRecordSerializer(serializers.Serializer[Any]):
    """A record of the draft, and how many of the cases it decided."""

    kind = serializers.CharField()
    id = RecordIdField()
    path = serializers.CharField()
    cases = serializers.IntegerField()


class PolicyTestRunSerializer(serializers.Serializer[Any]):
    """Every policy test that is switched on, asked of one snapshot. `coverage` is of the draft's records."""

    digest = serializers.CharField()
    passed = serializers.SerializerMethodField()
    failed = serializers.SerializerMethodField()
    skipped = serializers.IntegerField(help_text="How many are switched off.")
    results = CaseResultSerializer(many=True, source="cases")
    coverage = CoveredRecordSerializer(many=True, source="records")

    def get_passed(self, run: Any) -> int:
        return len(run.cases) - len(run.failed)

    def get_failed(self, run: Any) -> int:
        return len(run.failed)


class RunQuerySerializer(serializers.Serializer[Any]):
    at = serializers.CharField(
        default="draft", help_text="`draft`, `live`, or the digest of a snapshot that was published."
    )

"""Guardrails, and what a snapshot makes of them."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.api.serializers.policies import ContextSerializer, DecisionSerializer
from apps.firewall.engine.guardrail_form import (
    ASK_MODES,
    DEPTH_MOST,
    PLACES,
    REQUIREMENTS,
    SENDER_KINDS,
    GuardrailForm,
)
from apps.firewall.engine.guardrails import Counterexample
from apps.firewall.identifiers import read_id
from apps.policies.guardrail_words import counterexample_words, sentence
from apps.policies.guardrails import CheckedGuardrail
from apps.policies.models import Guardrail, GuardrailSeverity


class GuardrailFormSerializer(serializers.Serializer[Any]):
    """What a guardrail demands, and of whom; a condition that is absent holds for everybody."""

    requires = serializers.ChoiceField(choices=REQUIREMENTS)
    tools = serializers.ListField(child=serializers.CharField(), help_text="As in lists: names, groups, patterns.")
    agents = serializers.ListField(child=serializers.CharField(), required=False, help_text="Ids, with `*`.")
    channels = serializers.ListField(child=serializers.CharField(), required=False)
    place = serializers.ChoiceField(choices=PLACES, required=False)
    groups = serializers.ListField(child=serializers.CharField(), required=False, help_text="`-100`, `telegram/-100`.")
    sender = serializers.ChoiceField(choices=SENDER_KINDS, required=False)
    senders = serializers.ListField(child=serializers.CharField(), required=False, help_text="Keys of sender rules.")
    sandboxed = serializers.BooleanField(required=False, allow_null=True)
    min_depth = serializers.IntegerField(required=False, min_value=0, max_value=DEPTH_MOST)
    ask = serializers.ChoiceField(choices=ASK_MODES, required=False)


@extend_schema_field(GuardrailFormSerializer)
class FormField(serializers.DictField):
    """A form; the engine itself reads it and names what is wrong."""


class GuardrailSerializer(serializers.ModelSerializer[Guardrail]):
    """A house rule that every publication is held against."""

    id = serializers.CharField(source="shown_id", read_only=True)
    form = FormField(help_text="Members of the schema GuardrailForm.")
    sentence = serializers.SerializerMethodField(help_text="The form in words.")

    class Meta:
        model = Guardrail
        fields: ClassVar = [
            "id", "version", "name", "description", "sentence", "form", "severity", "is_enabled", "made_by",
            "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields: ClassVar = ["version", "made_by"]

    def get_sentence(self, guardrail: Guardrail) -> str:
        return sentence(GuardrailForm.from_json(guardrail.form))


class GuardrailNewSerializer(serializers.Serializer[Any]):
    """A new guardrail."""

    name = serializers.CharField(max_length=200)
    description = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    form = FormField(help_text="Members of the schema GuardrailForm.")
    severity = serializers.ChoiceField(choices=GuardrailSeverity.choices, required=False)
    is_enabled = serializers.BooleanField(required=False)


class GuardrailChangeSerializer(GuardrailNewSerializer):
    """The members to change; `version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    name = serializers.CharField(required=False, max_length=200)
    form = FormField(required=False)


class AcceptanceSerializer(serializers.Serializer[Any]):
    """Who accepted that a guardrail fails, and why."""

    reason = serializers.CharField()
    accepted_by = serializers.CharField()
    accepted_at = serializers.DateTimeField()


class AcceptSerializer(serializers.Serializer[Any]):
    """What is accepted: the failure with this fingerprint, in the draft or in a publication's snapshot."""

    fingerprint = serializers.CharField(max_length=64)
    reason = serializers.CharField(max_length=2000)
    publication = serializers.CharField(required=False, help_text="One to go back to (`pub_…`); the draft without it.")

    def validate_publication(self, value: str) -> Any:
        try:
            return read_id("pub", value)
        except ValueError as exc:
            raise serializers.ValidationError(str(exc), code="invalid_id") from exc


class CounterexampleSerializer(serializers.Serializer[Any]):
    """A context in which a guardrail fails."""

    tool = serializers.CharField()
    context = serializers.SerializerMethodField()  # type: ignore[assignment]  # the engine's word
    decision = DecisionSerializer()
    unasked_from = serializers.CharField(allow_blank=True, help_text="The setting by which nobody is asked.")
    sentence = serializers.SerializerMethodField()

    @extend_schema_field(ContextSerializer)
    def get_context(self, shown: Counterexample) -> Any:
        return shown.context.to_json()

    def get_sentence(self, shown: Counterexample) -> str:
        return counterexample_words(shown)


class CheckedGuardrailSerializer(serializers.Serializer[Any]):
    """One guardrail against one snapshot. A `stops` that is true lets nothing be published."""

    id = serializers.CharField(source="guardrail.shown_id")
    name = serializers.CharField(source="guardrail.name")
    version = serializers.IntegerField(source="guardrail.version")
    severity = serializers.ChoiceField(source="guardrail.severity", choices=GuardrailSeverity.choices)
    state = serializers.SerializerMethodField(help_text="`holds`, `fails`, `accepted`, `skipped` or `unchecked`.")
    stops = serializers.BooleanField()
    error = serializers.CharField(allow_blank=True)
    tools = serializers.SerializerMethodField()
    agents = serializers.SerializerMethodField(help_text="With whom it fails; `*` is any other.")
    classes = serializers.SerializerMethodField(help_text="How many classes of contexts fail.")
    asked = serializers.SerializerMethodField(help_text="Of how many it speaks.")
    unmatched = serializers.SerializerMethodField(help_text="Entries that match nothing in this snapshot.")
    fingerprint = serializers.SerializerMethodField(help_text="Of everything that fails; to accept it.")
    counterexample = CounterexampleSerializer(source="check.counterexample", allow_null=True, default=None)
    acceptance = AcceptanceSerializer(allow_null=True)

    def get_state(self, checked: CheckedGuardrail) -> str:
        if checked.error:
            return "unchecked"
        if checked.is_skipped:
            return "skipped"
        if checked.holds:
            return "holds"
        return "accepted" if checked.acceptance is not None else "fails"

    def get_tools(self, checked: CheckedGuardrail) -> list[str]:
        return list(checked.check.tools) if checked.check else []

    def get_agents(self, checked: CheckedGuardrail) -> list[str]:
        return list(checked.check.agents) if checked.check else []

    def get_classes(self, checked: CheckedGuardrail) -> int:
        return checked.check.classes if checked.check else 0

    def get_asked(self, checked: CheckedGuardrail) -> int:
        return checked.check.asked if checked.check else 0

    def get_unmatched(self, checked: CheckedGuardrail) -> list[str]:
        return list(checked.check.unmatched) if checked.check else []

    def get_fingerprint(self, checked: CheckedGuardrail) -> str:
        return checked.check.fingerprint if checked.check else ""


class GuardrailCheckSerializer(serializers.Serializer[Any]):
    """Every guardrail against one snapshot."""

    digest = serializers.CharField()
    stops = serializers.BooleanField(help_text="Whether any of them lets nothing be published.")
    results = CheckedGuardrailSerializer(many=True)

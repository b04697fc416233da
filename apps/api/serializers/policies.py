"""Publications, snapshots, documents, and what the engine explains."""

from dataclasses import asdict
from typing import Any, ClassVar

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts.models import Role
from apps.api.serializers.records import url_of
from apps.firewall.engine.answers import Decision, Explanation, Step
from apps.firewall.engine.exec_policy.explaining import ExplainedCommand
from apps.firewall.engine.permissions import PermissionAnswer
from apps.firewall.identifiers import show_id
from apps.policies.models import Publication


class PublicationSerializer(serializers.ModelSerializer[Publication]):
    id = serializers.SerializerMethodField()
    digest = serializers.CharField(source="snapshot_id", read_only=True)
    rollback_of = serializers.SerializerMethodField()

    class Meta:
        model = Publication
        fields: ClassVar = [
            "id", "number", "digest", "message", "actor", "published_at", "rollback_of", "is_emergency",
        ]  # fmt: skip

    def get_id(self, publication: Publication) -> str:
        return show_id("pub", publication.pk)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_rollback_of(self, publication: Publication) -> str | None:
        return None if publication.rollback_of_id is None else show_id("pub", publication.rollback_of_id)


class PublishSerializer(serializers.Serializer[Any]):
    message = serializers.CharField(allow_blank=True, help_text="Why; people read it in the history.")
    expected_live = serializers.CharField(
        allow_blank=True, help_text="Digest that was live when the draft was reviewed; empty when nothing was."
    )


class PublishNowSerializer(PublishSerializer):
    expected_draft = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="Digest of the draft that was reviewed: 409 `draft_moved` when it has changed since.",
    )
    force = serializers.BooleanField(
        required=False, default=False, help_text="Publish also a draft that is exactly what is live already."
    )


class RollbackSerializer(PublishSerializer):
    publication = serializers.CharField(help_text="The publication (`pub_…`) whose snapshot becomes live again.")
    is_emergency = serializers.BooleanField(
        required=False, default=False, help_text="Go back alone where two must publish; it is marked so for good."
    )


class DocumentSerializer(serializers.Serializer[Any]):
    document = serializers.CharField(
        required=False, allow_null=True, trim_whitespace=False, help_text="openclaw.json as JSON5 text."
    )
    approvals = serializers.CharField(
        required=False, allow_null=True, trim_whitespace=False, help_text="The exec approvals document as JSON5 text."
    )
    guards = serializers.CharField(
        required=False,
        allow_null=True,
        trim_whitespace=False,
        help_text="Grants of permissions and content filters, as JSON5 text.",
    )


class DocumentQuerySerializer(serializers.Serializer[Any]):
    unread = serializers.ChoiceField(
        choices=["keep", "drop"],
        default="keep",
        help_text="Whether the document has the keys that its release refuses.",
    )


class DocumentsSerializer(serializers.Serializer[Any]):
    document = serializers.DictField(help_text="openclaw.json in its current form; secrets are placeholders.")
    unread = serializers.ListField(
        child=serializers.CharField(), help_text="Places of keys that OpenClaw refuses in a file of this release."
    )
    approvals = serializers.DictField(allow_null=True)
    guards = serializers.DictField(help_text="Grants of permissions and content filters; empty when there are none.")


class DiagnosticSerializer(serializers.Serializer[Any]):
    severity = serializers.CharField()
    path = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class ImportReportSerializer(serializers.Serializer[Any]):
    counts = serializers.DictField(child=serializers.IntegerField())
    records = serializers.DictField(child=serializers.IntegerField())
    diagnostics = DiagnosticSerializer(many=True)


class DraftChangeSerializer(serializers.Serializer[Any]):
    action = serializers.CharField()
    kind = serializers.CharField()
    record = serializers.SerializerMethodField()
    label = serializers.CharField(help_text="Place in the document.")  # type: ignore[assignment]  # the room's word
    field = serializers.CharField(allow_blank=True)
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    actor = serializers.CharField()
    at = serializers.DateTimeField()
    url = serializers.SerializerMethodField(help_text="Path of the record or tool; empty for what is gone.")

    def get_record(self, change: Any) -> str:
        return show_id("tool" if change.kind == "tool" else "rec", change.record)

    def get_url(self, change: Any) -> str:
        if change.action == "deleted":
            return ""
        return (
            reverse("api-tool", args=[change.record]) if change.kind == "tool" else url_of(change.kind, change.record)
        )


class UndoSerializer(serializers.Serializer[Any]):
    change = serializers.UUIDField(required=False, help_text="Of `GET`; without one, the draft's newest change.")


class UndoableChangeSerializer(serializers.Serializer[Any]):
    change = serializers.UUIDField()
    action = serializers.CharField(help_text="created, changed or deleted.")
    kind = serializers.CharField()
    record = serializers.SerializerMethodField()
    place = serializers.CharField(help_text="Place of the record in the document.")
    at = serializers.DateTimeField()

    def get_record(self, change: Any) -> str:
        return show_id("rec", change.record)


class ContextSerializer(serializers.Serializer[Any]):
    """What is known about a call; absent means not known. Agent, depth and group follow from `session_key`."""

    agent_id = serializers.CharField(required=False)
    session_key = serializers.CharField(required=False)
    spawned_by = serializers.CharField(required=False)
    provider = serializers.CharField(required=False)
    model_id = serializers.CharField(required=False)
    channel = serializers.CharField(required=False)
    account_id = serializers.CharField(required=False)
    group_id = serializers.CharField(required=False)
    group_channel = serializers.CharField(required=False)
    group_space = serializers.CharField(required=False)
    sender_id = serializers.CharField(required=False)
    sender_username = serializers.CharField(required=False)
    sender_name = serializers.CharField(required=False)
    sender_e164 = serializers.CharField(required=False)
    sender_is_owner = serializers.BooleanField(required=False, allow_null=True, default=None)
    sandboxed = serializers.BooleanField(required=False)
    subagent_depth = serializers.IntegerField(required=False, min_value=0)
    runtime_tools = serializers.ListField(child=serializers.CharField(), required=False)
    inherit_runtime_tools = serializers.BooleanField(required=False)


@extend_schema_field(ContextSerializer)
class ContextField(serializers.DictField):
    """A context; the engine itself reads it and names what is wrong."""


class ExplainSerializer(serializers.Serializer[Any]):
    context = ContextField(help_text="Members of the schema Context.")  # type: ignore[assignment]  # the engine's word
    tool = serializers.CharField(required=False, help_text="Explain this tool alone, every layer's answer.")
    params = serializers.DictField(
        required=False, help_text="Of a call of this tool: which resources it would touch decides about permissions."
    )
    token = serializers.CharField(required=False, help_text="The token (`tok_…`) that would make the call.")
    role = serializers.ChoiceField(choices=Role.choices, required=False, help_text="Role of the person behind it.")
    at = serializers.CharField(
        default="live", help_text="`live`, `draft`, or the digest of a snapshot that was published here."
    )


class DecisionSerializer(serializers.Serializer[Any]):
    tool = serializers.CharField()
    allowed = serializers.BooleanField()
    layer = serializers.CharField(allow_null=True)
    label = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # the engine's word
    rule = serializers.CharField(allow_null=True)
    reason = serializers.CharField()


class ExplanationSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField()
    error = serializers.CharField(allow_null=True)
    resolution = serializers.DictField(allow_null=True)
    allowed = serializers.ListField(child=serializers.CharField())
    layers = serializers.ListField(child=serializers.DictField())
    warnings = serializers.ListField(child=serializers.DictField())


class PermissionAnswerSerializer(serializers.Serializer[Any]):
    permission = serializers.CharField()
    verdict = serializers.ChoiceField(
        choices=["granted", "depends", "missing"], help_text="`depends`: on the resources of the call."
    )
    grants = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True, help_text="What would give it.")


class WordSerializer(serializers.Serializer[Any]):
    value = serializers.CharField()
    source = serializers.CharField(  # type: ignore[assignment]  # the engine's word
        help_text="Path of the setting that decided; `params.…` for what the call asks, `default` for none."
    )


class CommandRefusalSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    rule = serializers.CharField(allow_blank=True)


class CommandExplanationSerializer(serializers.Serializer[Any]):
    security = WordSerializer()
    ask = WordSerializer()
    askFallback = WordSerializer()  # noqa: N815 - the member's name
    host = WordSerializer()
    elevated = WordSerializer(help_text="`allowed` or `refused`, and the gate that says so.")
    refusal = CommandRefusalSerializer(allow_null=True)


class ToolExplanationSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField()
    decision = DecisionSerializer()
    steps = serializers.ListField(child=serializers.DictField())
    permissions = PermissionAnswerSerializer(
        many=True, help_text="Each permission that the tool asks for; empty also where no caller can be told."
    )
    exec = CommandExplanationSerializer(allow_null=True, help_text="Of `exec`: what holds for its commands.")


def explanation_json(digest: str, explanation: Explanation) -> dict[str, Any]:
    """Write an explanation as JSON; tools that a layer removed stand in it with rule and reason."""
    return {
        "digest": digest,
        "error": explanation.error,
        "resolution": None if explanation.resolution is None else asdict(explanation.resolution),
        "allowed": list(explanation.allowed),
        "layers": [
            {
                "number": layer.number,
                "key": layer.key,
                "label": layer.label,
                "applied": layer.applied,
                "source": layer.source,
                "policy": None if layer.policy is None else asdict(layer.policy),
                "before": layer.before,
                "after": layer.after,
                "removed": [removal._asdict() for removal in layer.removed],
            }
            for layer in explanation.layers
        ],
        "warnings": [asdict(warning) for warning in explanation.warnings],
    }


def tool_explanation_json(
    digest: str,
    decision: Decision,
    steps: tuple[Step, ...],
    permissions: tuple[PermissionAnswer, ...],
    command: ExplainedCommand | None = None,
) -> dict[str, Any]:
    return {
        "digest": digest,
        "decision": decision._asdict(),
        "steps": [asdict(step) for step in steps],
        "permissions": PermissionAnswerSerializer(permissions, many=True).data,
        "exec": None if command is None else command.to_json(),
    }

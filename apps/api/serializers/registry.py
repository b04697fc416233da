"""What exists in an environment: tools, plugins, groups, and the sources that bring tools."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.api.serializers.shared import LimitField
from apps.firewall.identifiers import show_id
from apps.registry.definitions import tool_definition
from apps.registry.differences import KINDS
from apps.registry.models import (
    DefinitionDrift,
    DiscoveryRun,
    DiscoverySource,
    DriftState,
    OnDrift,
    OnNew,
    Plugin,
    SourceKind,
    Tool,
    ToolFailure,
    ToolGroup,
    ToolSource,
    ToolState,
)
from apps.registry.selectors import drift_changes
from apps.registry.source_settings import secrets_shown
from apps.registry.tool_search import ToolFilters

Values = dict[str, Any]


class ToolSerializer(serializers.ModelSerializer[Tool]):
    """One tool; `traits` holds the members of its definition that have no field here."""

    id = serializers.CharField(source="shown_id", read_only=True)
    plugin = serializers.SlugRelatedField[Any](slug_field="key", read_only=True)
    discovery_source = serializers.SlugRelatedField[Any](slug_field="key", read_only=True)

    class Meta:
        model = Tool
        fields: ClassVar = [
            "id", "version", "name", "label", "description", "section", "params_schema", "source", "plugin",
            "server_name", "owner_only", "is_optional", "state", "state_reason", "sensitive_fields", "traits",
            "executor", "discovery_source", "digest", "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields = fields


class AcceptedToolSerializer(ToolSerializer):
    """A tool whose changed definition was accepted; `left` is what still has to be done before agents see it."""

    left = serializers.SerializerMethodField()

    class Meta(ToolSerializer.Meta):
        fields: ClassVar = [*ToolSerializer.Meta.fields, "left"]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=["publish"]))
    def get_left(self, _tool: Tool) -> str:
        return "publish"


class ToolPageSerializer(serializers.Serializer[Any]):
    """One page; `next` and `previous` are what `after` and `before` take, empty where nothing follows."""

    next = serializers.CharField(source="after", allow_blank=True)
    previous = serializers.CharField(source="before", allow_blank=True)
    total = serializers.IntegerField()
    results = ToolSerializer(source="rows", many=True)


class ToolQuerySerializer(serializers.Serializer[Any]):
    """What to look for; an absent member filters nothing. Unregistered tools are found by their state only."""

    q = serializers.CharField(required=False, max_length=200, help_text="Letters of name, label or description.")
    source = serializers.ChoiceField(required=False, choices=ToolSource.choices)  # type: ignore[assignment]  # its name
    section = serializers.CharField(required=False, max_length=64)
    state = serializers.ChoiceField(required=False, choices=ToolState.choices)
    plugin = serializers.CharField(required=False, max_length=128, help_text="Id of a plugin.")
    server = serializers.CharField(required=False, max_length=128, help_text="Name of an MCP server.")
    after = serializers.CharField(required=False, max_length=200)
    before = serializers.CharField(required=False, max_length=200)
    limit = LimitField(required=False, min_value=1, max_value=200, default=50)

    def filters(self) -> ToolFilters:
        values: Values = dict(self.validated_data)
        return ToolFilters(**{name: values[name] for name in ToolFilters.__dataclass_fields__ if name in values})


@extend_schema_field({"type": "object", "additionalProperties": True})
class ObjectField(serializers.JSONField):
    """A JSON object."""

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        if not isinstance(value, dict):
            raise serializers.ValidationError("must be an object", code="bad_type")
        return value


class ToolRegisterSerializer(serializers.Serializer[Any]):
    """A tool to register by hand. `definition` has the members of docs/tools.md; MCP's own names are read, too."""

    definition = ObjectField()
    executor = ObjectField(required=False, help_text="What runs it: `kind` http or mcp, and the key of its `source`.")
    plugin = serializers.CharField(required=False, max_length=128, help_text="Key of the plugin that it belongs to.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field of that name
        choices=["client", "channel"], default="client"
    )


class ToolChangeSerializer(serializers.Serializer[Any]):
    """Fields to change; `version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    label = serializers.CharField(  # type: ignore[assignment]  # a field of that name
        required=False, allow_blank=True, max_length=200
    )
    description = serializers.CharField(required=False, allow_blank=True, max_length=20_000)
    section = serializers.CharField(required=False, allow_blank=True, max_length=64)
    params_schema = ObjectField(required=False)
    owner_only = serializers.BooleanField(required=False)
    sensitive_fields = serializers.ListField(child=serializers.CharField(max_length=128), required=False)
    traits = ObjectField(required=False)


class ToolStateSerializer(serializers.Serializer[Any]):
    """Where a tool is to be moved; which ways there are is the registry's table."""

    state = serializers.ChoiceField(choices=ToolState.choices)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=500)
    successor = serializers.CharField(
        required=False, allow_blank=True, max_length=128, help_text="What takes the place of a deprecated tool."
    )
    version = serializers.IntegerField(required=False, min_value=1)


class ToolUseSerializer(serializers.Serializer[Any]):
    """How a tool was used; durations in milliseconds of the calls that ran."""

    days = serializers.IntegerField()
    calls = serializers.IntegerField()
    denied = serializers.IntegerField()
    failed = serializers.IntegerField()
    success_rate = serializers.FloatField(allow_null=True, help_text="Of the calls that ran; null when none did.")
    p50_ms = serializers.IntegerField(allow_null=True)
    p95_ms = serializers.IntegerField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)
    last_agent = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True, help_text="The commonest error.")
    error_count = serializers.IntegerField()


class ToolFindingSerializer(serializers.Serializer[Any]):
    """What the authoring lint says of a definition; `code` is stable."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "hint"])
    path = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class SchemaChangeSerializer(serializers.Serializer[Any]):
    """One thing that was changed or stripped of a schema, and why."""

    path = serializers.CharField(allow_blank=True, help_text="JSON Pointer.")
    kind = serializers.CharField(help_text="removed, converted, added or merged")
    keyword = serializers.CharField()
    reason = serializers.CharField()


class RemarkSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class PreviewSerializer(serializers.Serializer[Any]):
    """What a provider is sent for a tool, and what differs from its definition."""

    provider = serializers.CharField(required=False)
    sent = ObjectField()
    changes = SchemaChangeSerializer(many=True)
    remarks = RemarkSerializer(many=True)


class ToolFailureSerializer(serializers.ModelSerializer[ToolFailure]):
    """What a tool raised, for its author, with secrets masked; callers get a sentence with the class alone."""

    call_id = serializers.SerializerMethodField()

    class Meta:
        model = ToolFailure
        fields: ClassVar = ["at", "call_id", "code", "exception", "message", "traceback"]
        read_only_fields = fields

    def get_call_id(self, failure: ToolFailure) -> str:
        return show_id("call", failure.call_id)


class HistoryEntrySerializer(serializers.Serializer[Any]):
    """One change of a tool's record; `fields` is the record after it."""

    change = serializers.ChoiceField(choices=["insert", "update", "delete"], source="kind")
    actor = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()
    version = serializers.IntegerField(source="fields.version")
    state = serializers.CharField(source="fields.state")
    state_reason = serializers.CharField(source="fields.state_reason", allow_blank=True)


class DefinitionSerializer(serializers.Serializer[Any]):
    """A tool with its whole definition, what the lint says of it, and the states whoever asks may move it to."""

    tool = ToolSerializer()
    definition = ObjectField()
    findings = ToolFindingSerializer(many=True)
    moves = serializers.ListField(child=serializers.ChoiceField(choices=ToolState.choices))
    drift = serializers.CharField(allow_null=True, help_text="The change of its definition that waits.")


def definition_members(tool: Tool) -> Values:
    """Give a tool's definition as JSON."""
    from apps.firewall.tools.definition_json import definition_json

    return definition_json(tool_definition(tool))


class PluginSerializer(serializers.ModelSerializer[Plugin]):
    class Meta:
        model = Plugin
        fields: ClassVar = ["key", "version", "name", "description", "release", "is_enabled"]
        read_only_fields: ClassVar = ["version"]
        extra_kwargs: ClassVar[Values] = {"key": {"validators": []}}


class PluginChangeSerializer(PluginSerializer):
    """Members that are absent stay; `version` is the one that was seen."""

    class Meta(PluginSerializer.Meta):
        read_only_fields: ClassVar = ["key"]
        extra_kwargs: ClassVar[Values] = {"name": {"required": False}, "version": {"required": True}}


class ToolGroupSerializer(serializers.ModelSerializer[ToolGroup]):
    class Meta:
        model = ToolGroup
        fields: ClassVar = ["name", "version", "members"]
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer[DiscoveryRun]):
    """One look at a source."""

    id = serializers.CharField(source="shown_id", read_only=True)
    source = serializers.SlugRelatedField[Any](  # type: ignore[assignment]  # a field of that name
        slug_field="key", read_only=True
    )

    class Meta:
        model = DiscoveryRun
        fields: ClassVar = [
            "id", "source", "state", "actor", "started_at", "ended_at", "error_code", "error_message", "found",
            "added", "changed", "removed", "broken",
        ]  # fmt: skip
        read_only_fields = fields


class FindingSerializer(serializers.Serializer[Any]):
    """What a look made of one tool; `key` is what the source calls it."""

    key = serializers.CharField()
    tool = serializers.CharField()
    outcome = serializers.ChoiceField(choices=["added", "changed", "same", "removed", "disabled", "broken"])
    stage = serializers.CharField(required=False)
    code = serializers.CharField(required=False)
    message = serializers.CharField(required=False)
    digest = serializers.CharField(required=False)
    facts = ObjectField(required=False)


class RunDetailSerializer(RunSerializer):
    findings = FindingSerializer(many=True, read_only=True)

    class Meta(RunSerializer.Meta):
        fields: ClassVar = [*RunSerializer.Meta.fields, "findings"]
        read_only_fields = fields


class SecretShownSerializer(serializers.Serializer[Any]):
    """What is told of a secret."""

    name = serializers.CharField()
    length = serializers.IntegerField()
    hash = serializers.CharField()


class SourceSerializer(serializers.ModelSerializer[DiscoverySource]):
    """A place that brings tools; secrets stand in `settings` as `{"$secret": "name"}`."""

    id = serializers.CharField(source="shown_id", read_only=True)
    secrets = serializers.SerializerMethodField()
    last_run = serializers.SerializerMethodField()

    class Meta:
        model = DiscoverySource
        fields: ClassVar = [
            "id", "version", "key", "name", "kind", "settings", "secrets", "on_drift", "on_new", "interval_s",
            "is_enabled", "created_at", "updated_at", "last_run",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(SecretShownSerializer(many=True))
    def get_secrets(self, source: DiscoverySource) -> Any:
        return SecretShownSerializer(secrets_shown(source), many=True).data

    @extend_schema_field(RunSerializer(allow_null=True))
    def get_last_run(self, source: DiscoverySource) -> Any:
        seen = getattr(source, "runs_seen", None)
        run = source.runs.first() if seen is None else next(iter(seen), None)
        return None if run is None else RunSerializer(run).data


class SourceOptionsSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, allow_blank=True, max_length=200)
    on_drift = serializers.ChoiceField(required=False, choices=OnDrift.choices)
    on_new = serializers.ChoiceField(required=False, choices=OnNew.choices)
    interval_s = serializers.IntegerField(required=False, min_value=0, max_value=30 * 86400, help_text="0: on demand.")
    is_enabled = serializers.BooleanField(required=False)


class SourceCreateSerializer(SourceOptionsSerializer):
    """A new source. What may hold a secret is sealed, also when it is given in clear within `settings`."""

    key = serializers.CharField(max_length=63)
    kind = serializers.ChoiceField(choices=SourceKind.choices)
    settings = ObjectField()
    secrets = serializers.DictField(child=serializers.CharField(trim_whitespace=False), required=False)


class SourceChangeSerializer(SourceOptionsSerializer):
    """What changes; `settings` are replaced as a whole, of `secrets` those that are named (null takes one away)."""

    version = serializers.IntegerField(min_value=1)
    settings = ObjectField(required=False)
    secrets = serializers.DictField(child=serializers.CharField(allow_null=True, trim_whitespace=False), required=False)


class DifferenceSerializer(serializers.Serializer[Any]):
    path = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class DriftSerializer(serializers.ModelSerializer[DefinitionDrift]):
    """A definition that its source has changed, place by place."""

    id = serializers.CharField(source="shown_id", read_only=True)
    tool = serializers.CharField(source="tool.name", read_only=True)
    tool_id = serializers.CharField(source="tool.shown_id", read_only=True)
    source = serializers.CharField(  # type: ignore[assignment]  # a field of that name
        source="tool.discovery_source.key", read_only=True, default=None
    )
    changes = serializers.SerializerMethodField()

    class Meta:
        model = DefinitionDrift
        fields: ClassVar = [
            "id", "tool", "tool_id", "source", "state", "found_at", "found_digest", "decided_at", "decided_by",
            "changes",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(DifferenceSerializer(many=True))
    def get_changes(self, drift: DefinitionDrift) -> Any:
        return DifferenceSerializer(drift_changes(drift), many=True).data


class DriftQuerySerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(required=False, choices=DriftState.choices)

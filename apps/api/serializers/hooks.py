"""Hooks and their failures as JSON."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.api.serializers.registry import ObjectField, SecretShownSerializer
from apps.firewall.identifiers import show_id
from apps.registry.models import Hook, HookFailure, HookKind, HookMoment, HookPolicy, HookTally
from apps.registry.services.hooks import PRIORITY_LIMIT, TIMEOUT_LIMIT_MS
from apps.registry.source_settings import secrets_shown


class HookTallySerializer(serializers.ModelSerializer[HookTally]):
    """What came of a hook so far."""

    class Meta:
        model = HookTally
        fields: ClassVar = ["passed", "rewrote", "asked", "blocked", "failed", "last_at"]
        read_only_fields = fields


class HookSerializer(serializers.ModelSerializer[Hook]):
    """A hook; secrets stand in `settings` as `{"$secret": "name"}`, a null `timeout_ms` for the usual limit."""

    id = serializers.CharField(source="shown_id", read_only=True)
    plugin = serializers.CharField(source="plugin.key", read_only=True)
    secrets = serializers.SerializerMethodField()
    tally = HookTallySerializer(read_only=True)

    class Meta:
        model = Hook
        fields: ClassVar = [
            "id", "version", "name", "plugin", "event", "kind", "priority", "timeout_ms", "tools", "settings",
            "secrets", "is_enabled", "created_at", "updated_at", "tally",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(SecretShownSerializer(many=True))
    def get_secrets(self, hook: Hook) -> Any:
        return SecretShownSerializer(secrets_shown(hook), many=True).data


class HookPolicySerializer(serializers.ModelSerializer[HookPolicy]):
    """Whether a hook that fails stops the call under release 2026.2, too; under 2026.9 it always does."""

    class Meta:
        model = HookPolicy
        fields: ClassVar = ["version", "is_strict"]
        read_only_fields = fields


class HookPolicyChangeSerializer(serializers.Serializer[Any]):
    """`version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    is_strict = serializers.BooleanField()


class HookOptionsSerializer(serializers.Serializer[Any]):
    priority = serializers.IntegerField(required=False, min_value=-PRIORITY_LIMIT, max_value=PRIORITY_LIMIT)
    timeout_ms = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=TIMEOUT_LIMIT_MS)
    tools = serializers.ListField(
        child=serializers.CharField(max_length=128), required=False, help_text="As policies name them; empty for all."
    )
    is_enabled = serializers.BooleanField(required=False)


class HookCreateSerializer(HookOptionsSerializer):
    """A new hook. What may hold a secret is sealed, also when it is given in clear within `settings`."""

    name = serializers.CharField(max_length=63)
    plugin = serializers.CharField(max_length=128, help_text="The id of its plugin.")
    event = serializers.ChoiceField(choices=HookMoment.choices)
    kind = serializers.ChoiceField(choices=HookKind.choices)
    settings = ObjectField()
    secrets = serializers.DictField(child=serializers.CharField(trim_whitespace=False), required=False)


class HookChangeSerializer(HookOptionsSerializer):
    """What changes; `settings` are replaced as a whole, of `secrets` those that are named (null takes one away)."""

    version = serializers.IntegerField(min_value=1)
    settings = ObjectField(required=False)
    secrets = serializers.DictField(child=serializers.CharField(allow_null=True, trim_whitespace=False), required=False)


class HookFailureSerializer(serializers.ModelSerializer[HookFailure]):
    """A failure of a hook; `cause` is ours, `said` are its own words, masked."""

    call_id = serializers.SerializerMethodField()

    class Meta:
        model = HookFailure
        fields: ClassVar = ["at", "kind", "cause", "said", "tool", "call_id", "duration_ms"]
        read_only_fields = fields

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_call_id(self, failure: HookFailure) -> str | None:
        return None if failure.call_id is None else show_id("call", failure.call_id)


class HookTryRequestSerializer(serializers.Serializer[Any]):
    tool = serializers.CharField(max_length=128)
    params = ObjectField(required=False)


class HookFailedSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    message = serializers.CharField()
    said = serializers.CharField()


class HookTrialSerializer(serializers.Serializer[Any]):
    """How a hook answered about a call that nobody makes."""

    answer = serializers.JSONField(allow_null=True)
    failure = HookFailedSerializer(allow_null=True)
    duration_ms = serializers.IntegerField()


class InstalledPluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="As `package:name`, for the setting `entry_point`.")
    release = serializers.CharField()

"""Tools and plugins of an environment."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.registry.models import Plugin, Tool


class ToolSerializer(serializers.ModelSerializer[Tool]):
    id = serializers.CharField(source="shown_id", read_only=True)
    plugin = serializers.SlugRelatedField[Any](slug_field="key", read_only=True)

    class Meta:
        model = Tool
        fields: ClassVar = [
            "id", "version", "name", "label", "description", "section", "params_schema", "source", "plugin",
            "server_name", "owner_only", "state", "state_reason", "sensitive_fields",
        ]  # fmt: skip


class PluginSerializer(serializers.ModelSerializer[Plugin]):
    class Meta:
        model = Plugin
        fields: ClassVar = ["key", "version", "name", "description", "release", "is_enabled"]

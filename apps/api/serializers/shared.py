"""Shapes that every subject shares."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.registry.models import Environment


class MistakeSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="Where in the request, or the document, the mistake stands.")
    code = serializers.CharField()
    message = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """The one shape of every answer that is not a success."""

    code = serializers.CharField(help_text="Stable, in snake_case.")
    message = serializers.CharField()
    details = MistakeSerializer(many=True)


class VersionSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=1)


class EnvironmentSerializer(serializers.ModelSerializer[Environment]):
    id = serializers.CharField(source="shown_id", read_only=True)

    class Meta:
        model = Environment
        fields: ClassVar = ["id", "slug", "name", "dialect"]

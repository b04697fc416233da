"""Shapes that every subject shares."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.api.errors import RequestInvalidError
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


class LimitField(serializers.IntegerField):
    """How many rows a page may have; a number that is none is refused as at every other list."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        try:
            if isinstance(data, str) and not data.isascii():
                self.fail("invalid")
            return super().run_validation(data)
        except serializers.ValidationError as exc:
            message = f"`limit` must be a whole number from {self.min_value} to {self.max_value}"
            raise RequestInvalidError([{"path": "limit", "code": "invalid", "message": message}]) from exc


class VersionSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=1)


class EnvironmentSerializer(serializers.ModelSerializer[Environment]):
    id = serializers.CharField(source="shown_id", read_only=True)

    class Meta:
        model = Environment
        fields: ClassVar = ["id", "slug", "name", "dialect"]

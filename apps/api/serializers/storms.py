"""After how many denials an agent is paused."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.approvals.models import STORM_DENIALS_MOST, STORM_MINUTES_MOST, AnswerPolicy


class StormSerializer(serializers.ModelSerializer[AnswerPolicy]):
    """`storm_denials` is null where nobody is paused."""

    class Meta:
        model = AnswerPolicy
        fields: ClassVar = ["version", "storm_denials", "storm_minutes"]
        read_only_fields: ClassVar = fields


class StormChangeSerializer(serializers.Serializer[Any]):
    """`version` is the one that was seen; it counts every change of the settings about answering."""

    version = serializers.IntegerField(min_value=1)
    storm_denials = serializers.IntegerField(allow_null=True, min_value=2, max_value=STORM_DENIALS_MOST)
    storm_minutes = serializers.IntegerField(min_value=1, max_value=STORM_MINUTES_MOST)

"""Suggestions from use, as programs read them."""

from typing import Any

from rest_framework import serializers

from apps.policies.suggesting import LOOK_BACKS


class LookBackSerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField(required=False, default=30)

    def validate_days(self, days: int) -> int:
        if days not in LOOK_BACKS:
            raise serializers.ValidationError(f"one of {', '.join(map(str, LOOK_BACKS))}", code="invalid_choice")
        return days


class AgentUseSerializer(serializers.Serializer[Any]):
    agent = serializers.CharField(source="agent.key")
    calls = serializers.IntegerField()
    is_enough = serializers.BooleanField(help_text="Whether there are enough calls to say something.")
    used = serializers.DictField(child=serializers.DateTimeField(), help_text="Each tool with its newest call.")
    unused = serializers.ListField(child=serializers.CharField(), help_text="Tools that it has and never called.")


class AgentUsePageSerializer(serializers.Serializer[Any]):
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = AgentUseSerializer(many=True)


class NarrowerSerializer(serializers.Serializer[Any]):
    list = serializers.CharField(source="member", help_text="Which list of the agent would change: allow or deny.")
    entries = serializers.ListField(child=serializers.CharField(), help_text="The whole list as it would be.")
    lost = serializers.ListField(
        child=serializers.CharField(), help_text="Tools that the agent loses somewhere; it has called none of them."
    )


class SuggestionSerializer(AgentUseSerializer):
    narrower = NarrowerSerializer(allow_null=True, help_text="Null where there is too little to say, or to take away.")

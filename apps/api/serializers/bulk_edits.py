"""Bulk edits, as programs ask for and read them."""

from typing import Any

from rest_framework import serializers

from apps.policies.bulk.changes import ACTIONS, LISTS


class BulkChangeSerializer(serializers.Serializer[Any]):
    action = serializers.CharField(help_text=f"One of {', '.join(ACTIONS)}.")
    list = serializers.CharField(required=False, help_text=f"For add and remove: one of {', '.join(LISTS)}.")
    entry = serializers.CharField(required=False, help_text="For add and remove: the name in the list.")
    value = serializers.CharField(
        required=False, allow_blank=True, help_text="The profile, or the mode of commands; empty to inherit it."
    )


class BulkAskSerializer(BulkChangeSerializer):
    agents = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of agents; without them, every agent."
    )


class BulkRowSerializer(serializers.Serializer[Any]):
    agent = serializers.CharField(source="key")
    result = serializers.CharField(help_text="waiting, done, unchanged, changed (by somebody meanwhile), refused, gone")
    reason = serializers.CharField(allow_blank=True)


class BulkEditSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    change = BulkChangeSerializer()
    actor = serializers.CharField()
    state = serializers.CharField(help_text="waiting, running or done")
    rows_total = serializers.IntegerField()
    rows_done = serializers.IntegerField()
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class BulkEditDetailSerializer(BulkEditSerializer):
    rows = BulkRowSerializer(many=True)

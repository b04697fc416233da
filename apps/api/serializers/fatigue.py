"""How answering goes."""

from typing import Any

from rest_framework import serializers


class SharesSerializer(serializers.Serializer[Any]):
    """What became of requests; half of them waited at most `wait_ms`."""

    ended = serializers.IntegerField()
    allowed = serializers.IntegerField()
    denied = serializers.IntegerField()
    expired = serializers.IntegerField()
    wait_ms = serializers.IntegerField(allow_null=True)


class PersonTempoSerializer(SharesSerializer):
    """`longest_row` is how many answers in a row took less than two seconds each, `fast` how many in all.

    `decision_ms` counts from the asking or the person's last answer, `look_ms` from their own first look.
    """

    who = serializers.CharField()
    look_ms = serializers.IntegerField(allow_null=True)
    decision_ms = serializers.IntegerField(allow_null=True)
    fast = serializers.IntegerField()
    longest_row = serializers.IntegerField()


class RuleLoadSerializer(SharesSerializer):
    layer = serializers.CharField()
    rule = serializers.CharField()


class StepSerializer(SharesSerializer):
    at = serializers.DateTimeField()


class FatigueSerializer(serializers.Serializer[Any]):
    """How answering went; people and rules with the most answers first, fifty of each at most."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    total = SharesSerializer()
    people = PersonTempoSerializer(many=True)
    rules = RuleLoadSerializer(many=True)
    steps = StepSerializer(many=True)


class FatigueQuerySerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField(default=7, min_value=1, max_value=90)

"""Rules that never match, as programs read them."""

from typing import Any

from rest_framework import serializers

from apps.api.serializers.shared import LimitField
from apps.policies.models import Replay
from apps.policies.unmatched import STANDINGS

PAGE = 100
PAGE_MOST = 1000


class UnmatchedAskSerializer(serializers.Serializer[Any]):
    standing = serializers.ChoiceField(choices=STANDINGS, required=False, default="never")
    after = serializers.IntegerField(required=False, default=0, min_value=0)
    limit = LimitField(required=False, default=PAGE, min_value=1, max_value=PAGE_MOST)


class RuleAskSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(max_length=32)
    record = serializers.UUIDField()
    field = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)
    entry = serializers.CharField(max_length=512, required=False, default="", allow_blank=True, trim_whitespace=False)


class RuleCountSerializer(serializers.ModelSerializer[Replay]):
    id = serializers.CharField(source="shown_id")

    class Meta:
        model = Replay
        fields = ["id", "state", "days", "live_digest", "calls_total", "calls_done", "requested_at", "finished_at"]


class UnmatchedRuleSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="Kind of the record; empty where the draft has it no longer.")
    record = serializers.UUIDField(allow_null=True, help_text="Null where the draft has the rule no longer.")
    version = serializers.IntegerField(help_text="Of the record.")
    field = serializers.CharField(help_text="The list; empty for a whole rule.")
    entry = serializers.CharField(help_text="A name, pattern or group; empty for a whole rule.")
    path = serializers.CharField(help_text="Where it stands in the document.")


class UnmatchedPageSerializer(serializers.Serializer[Any]):
    count = RuleCountSerializer(allow_null=True, help_text="The newest count; null before the first.")
    is_stale = serializers.BooleanField(help_text="Other rules are live now than were counted.")
    rules = serializers.IntegerField(allow_null=True, help_text="How many rules were counted; null before it is done.")
    never = serializers.IntegerField(allow_null=True, help_text="How many of them no recorded call matched.")
    unknown = serializers.IntegerField(
        allow_null=True, help_text="How many may have matched calls whose record says too little."
    )
    idle = serializers.IntegerField(
        allow_null=True, help_text="How many entries name no tool that there is; the review of the draft names them."
    )
    vague = serializers.IntegerField(
        allow_null=True, help_text="How many calls leave it open which rules they matched."
    )
    results = UnmatchedRuleSerializer(many=True)
    next = serializers.IntegerField(allow_null=True, help_text="`after` of the next page; null on the last one.")

"""Pages of requests that ended, and what an "always" would have covered."""

from typing import Any

from rest_framework import serializers

from apps.api.serializers.approvals import ApprovalSerializer


class ApprovalPageSerializer(serializers.Serializer[Any]):
    """A page, newest first; `older` is the cursor of the next one, null after the last."""

    rows = ApprovalSerializer(many=True)
    older = serializers.CharField(allow_null=True)


class CoverageSerializer(serializers.Serializer[Any]):
    """One reach. `arg_pattern` is what `scope.arg_pattern` takes; empty for exactly this action."""

    reach = serializers.ChoiceField(source="reach.name", choices=["exact", "first", "any"])
    arg_pattern = serializers.CharField(source="reach.arg_pattern", allow_blank=True)
    is_broad = serializers.BooleanField(source="reach.is_broad")
    calls = serializers.IntegerField(help_text="Past calls that it would have covered.")
    denied = serializers.IntegerField(help_text="How many of them were denied.")


class CoveragePageSerializer(serializers.Serializer[Any]):
    """What is offered; `off` says why nothing is: `shell`, `variables`, `runs_elsewhere` or `rule`."""

    off = serializers.CharField(allow_blank=True)
    reaches = CoverageSerializer(many=True)

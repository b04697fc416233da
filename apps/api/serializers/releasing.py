"""How an environment publishes: its rule, requests, and promoting."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from apps.api.serializers.policies import PublicationSerializer, PublishNowSerializer, PublishSerializer
from apps.firewall.identifiers import show_id
from apps.policies.models import PublishRequest
from apps.policies.models.releasing import HOURS_MOST


class PublishRuleSerializer(serializers.Serializer[Any]):
    needs_second_person = serializers.BooleanField(help_text="One person asks, another one confirms the same draft.")
    hours = serializers.IntegerField(min_value=1, max_value=HOURS_MOST, help_text="How long a request waits.")


@extend_schema_serializer(component_name="RequestedPublication")
class PublishRequestSerializer(serializers.ModelSerializer[PublishRequest]):
    id = serializers.CharField(source="shown_id", read_only=True)
    publication = serializers.SerializerMethodField()
    rollback_of = serializers.SerializerMethodField(help_text="The publication to go back to; null for the draft.")

    class Meta:
        model = PublishRequest
        fields: ClassVar = [
            "id",
            "state",
            "digest",
            "expected_live",
            "message",
            "actor",
            "asked_at",
            "publish_at",
            "expires_at",
            "confirmed_actor",
            "confirmed_at",
            "ended_at",
            "outcome",
            "publication",
            "rollback_of",
        ]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_publication(self, request: PublishRequest) -> str | None:
        return None if request.publication_id is None else show_id("pub", request.publication_id)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_rollback_of(self, request: PublishRequest) -> str | None:
        return None if request.rollback_of_id is None else show_id("pub", request.rollback_of_id)


class PublishAskSerializer(PublishNowSerializer):
    publish_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="When to publish; needed where no second person confirms."
    )
    rollback_of = serializers.CharField(
        required=False, allow_null=True, help_text="Go back to this publication (`pub_…`) instead, at once."
    )


class PromoteSerializer(PublishSerializer):
    publication = serializers.CharField(help_text="What is live in another environment (`pub_…`).")


class PromotedSerializer(serializers.Serializer[Any]):
    publication = PublicationSerializer(allow_null=True)
    request = PublishRequestSerializer(allow_null=True, help_text="Where a second person must confirm it.")

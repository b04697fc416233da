"""The demo of an environment: what of it goes, and what stays."""

from typing import Any

from rest_framework import serializers


class DemoStaySerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField(help_text="How the record is called.")
    why = serializers.CharField(help_text="`changed` by somebody, or it `holds` what somebody made or changed.")


class DemoSerializer(serializers.Serializer[Any]):
    goes = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="How many go, or went, by kind: kinds of records, and `token`, `run`, `waiting`, `session`.",
    )
    stays = DemoStaySerializer(many=True, help_text="Records of the demo that people changed since.")
    live = serializers.CharField(
        allow_blank=True,
        help_text="The publication that is live and speaks of agents of the demo; else empty.",
    )

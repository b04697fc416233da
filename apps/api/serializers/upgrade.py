"""What another release would change for an environment."""

from typing import Any

from rest_framework import serializers

from apps.api.serializers.snapshots import BlastSerializer, blast_json
from apps.firewall.engine.upgrade import CAUSES, Upgrade


class CauseSerializer(serializers.Serializer[Any]):
    cause = serializers.ChoiceField(choices=list(CAUSES), help_text="Which difference of the releases.")
    blast = BlastSerializer(help_text="What it changes, after those before it.")


class WordChangeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class CommandChangeSerializer(serializers.Serializer[Any]):
    agents = serializers.ListField(child=serializers.CharField(), help_text="`*` is any other agent.")
    sandboxed = serializers.BooleanField()
    words = WordChangeSerializer(many=True)


class UpgradeSerializer(serializers.Serializer[Any]):
    before = serializers.CharField(help_text="The release that the draft speaks.")
    after = serializers.CharField()
    blast = BlastSerializer()
    causes = CauseSerializer(many=True, help_text="Those that change something; together they are the whole way.")
    commands = CommandChangeSerializer(many=True, help_text="Defaults of commands that change, by agent.")


class UpgradeRequestSerializer(serializers.Serializer[Any]):
    release = serializers.CharField(help_text="The release that the draft is to speak from now on.")


class UpgradedSerializer(serializers.Serializer[Any]):
    environment = serializers.CharField()
    release = serializers.CharField()


def upgrade_json(before: str, after: str, upgrade: Upgrade) -> dict[str, Any]:
    """Write an upgrade."""
    return {
        "before": before,
        "after": after,
        "blast": blast_json(upgrade.diff),
        "causes": [{"cause": share.cause, "blast": blast_json(share.diff)} for share in upgrade.shares],
        "commands": CommandChangeSerializer(upgrade.commands, many=True).data,
    }

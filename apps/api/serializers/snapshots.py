"""The difference of two snapshots: blocks, tools, and who gains and loses what."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from apps.firewall.engine.access_changes import AccessChange
from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.diff import Change, SnapshotDiff
from apps.firewall.engine.diff_blocks import block_differences
from apps.firewall.engine.diff_guards import tool_differences
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.command_changes import access_changes

LISTED = 500
NAMED = 100


class BlockDifferenceSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField(choices=["added", "changed", "removed"])
    kind = serializers.CharField()
    place = serializers.CharField(help_text="Place in the document.")
    members = serializers.ListField(child=serializers.CharField(), help_text="Members that differ, of a changed block.")
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)


class ToolDifferenceSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField(choices=["added", "changed", "removed"])
    name = serializers.CharField()
    members = serializers.ListField(child=serializers.CharField(), help_text="Members that differ, of a changed tool.")


class ChangeSerializer(serializers.Serializer[Any]):
    gained = serializers.ListField(child=serializers.CharField())
    lost = serializers.ListField(child=serializers.CharField(), help_text="One of `gained` and `lost` is empty.")
    contexts = serializers.IntegerField(help_text="How many classes of contexts it meets.")
    agents = serializers.ListField(child=serializers.CharField(), help_text="`*` is any other agent.")
    conversations = serializers.ListField(child=serializers.CharField(), help_text=f"At most {NAMED} of them.")
    conversation_count = serializers.IntegerField()


class BlastSerializer(serializers.Serializer[Any]):
    contexts = serializers.IntegerField(help_text="Classes of contexts that were compared.")
    unchanged = serializers.IntegerField()
    changes = ChangeSerializer(many=True, help_text=f"Those that meet most contexts first, at most {LISTED}.")
    change_count = serializers.IntegerField()


class AccessChangeSerializer(serializers.Serializer[Any]):
    direction = serializers.ChoiceField(
        choices=["wider", "other", "narrower"],
        help_text="`wider`: more runs than before; `other`: no verdict says whether more runs.",
    )
    subject = serializers.ChoiceField(choices=["commands", "permissions", "filters", "settings"])
    before = serializers.CharField(
        allow_blank=True,
        help_text="Of commands `denied`, `asks`, `unanswered` (runs when the request expires) or `runs`; of "
        "permissions `missing`, `depends`, `granted` or `unneeded`; of filters `none`, `warn`, `mask` or `block`; of "
        "settings the value.",
    )
    after = serializers.CharField(allow_blank=True)
    agents = serializers.ListField(child=serializers.CharField(), help_text="`*` is any other agent; empty for all.")
    tools = serializers.ListField(child=serializers.CharField())
    caller = serializers.CharField(allow_blank=True, help_text="Who must ask; empty for everybody.")
    sandboxed = serializers.BooleanField(allow_null=True, help_text="Only inside, only outside; null for both.")
    examples = serializers.ListField(
        child=serializers.CharField(), help_text="Commands, permissions, expressions or the setting, the first of them."
    )
    example_count = serializers.IntegerField()


class SnapshotDifferenceSerializer(serializers.Serializer[Any]):
    a = serializers.CharField(help_text="Digest of the one side.")
    b = serializers.CharField(help_text="Digest of the other.")
    blocks = BlockDifferenceSerializer(many=True, help_text=f"At most {LISTED}.")
    block_count = serializers.IntegerField()
    tools = ToolDifferenceSerializer(many=True)
    access = AccessChangeSerializer(
        many=True, help_text=f"What else runs, besides tools that are gained; the worst first, at most {LISTED}."
    )
    access_count = serializers.IntegerField()
    wider_count = serializers.IntegerField(help_text="How many of them let more run.")
    blast = BlastSerializer()


def blast_json(diff: SnapshotDiff) -> dict[str, Any]:
    """Write who gains and loses what."""
    return {
        "contexts": diff.contexts,
        "unchanged": diff.contexts - contexts_by_agent(diff.changes).total(),
        "changes": [_change(change) for change in diff.changes[:LISTED]],
        "change_count": len(diff.changes),
    }


def difference_json(old: Snapshot, new: Snapshot, diff: SnapshotDiff) -> dict[str, Any]:
    """Write what differs between two snapshots."""
    blocks = block_differences(old, new)
    tools = tool_differences(old.document["tools"], new.document["tools"])
    changes = access_changes(old, new)
    return {
        "a": old.digest,
        "b": new.digest,
        "blocks": BlockDifferenceSerializer(blocks[:LISTED], many=True).data,
        "block_count": len(blocks),
        "tools": ToolDifferenceSerializer(tools, many=True).data,
        **access_json(changes),
        "blast": blast_json(diff),
    }


def access_json(changes: Sequence[AccessChange]) -> dict[str, Any]:
    """Write what else runs, or no longer runs."""
    return {
        "access": AccessChangeSerializer(changes[:LISTED], many=True).data,
        "access_count": len(changes),
        "wider_count": sum(each.direction == "wider" for each in changes),
    }


def _change(change: Change) -> dict[str, Any]:
    conversations = change.conversations
    return {
        "gained": list(change.gained),
        "lost": list(change.lost),
        "contexts": change.classes,
        "agents": list(change.agents),
        "conversations": [str(each) for each in conversations[:NAMED]],
        "conversation_count": len(conversations),
    }

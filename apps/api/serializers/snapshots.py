"""The difference of two snapshots: blocks, tools, and who gains and loses what."""

from typing import Any

from rest_framework import serializers

from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.diff import Change, SnapshotDiff
from apps.firewall.engine.diff_blocks import block_differences
from apps.firewall.engine.diff_guards import tool_differences
from apps.firewall.engine.snapshot import Snapshot

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


class SnapshotDifferenceSerializer(serializers.Serializer[Any]):
    a = serializers.CharField(help_text="Digest of the one side.")
    b = serializers.CharField(help_text="Digest of the other.")
    blocks = BlockDifferenceSerializer(many=True, help_text=f"At most {LISTED}.")
    block_count = serializers.IntegerField()
    tools = ToolDifferenceSerializer(many=True)
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
    return {
        "a": old.digest,
        "b": new.digest,
        "blocks": BlockDifferenceSerializer(blocks[:LISTED], many=True).data,
        "block_count": len(blocks),
        "tools": ToolDifferenceSerializer(tools, many=True).data,
        "blast": blast_json(diff),
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

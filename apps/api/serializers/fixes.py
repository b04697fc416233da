"""Edits of single entries of lists, and the smallest fix that is made of them."""

from typing import Any

from rest_framework import serializers

from apps.api.serializers.policies import ContextField
from apps.api.serializers.records import RecordReferenceField
from apps.api.serializers.snapshots import BlastSerializer, blast_json
from apps.firewall.engine.diff import SnapshotDiff
from apps.policies.draft_fixes import DraftFix
from apps.policies.kinds import KINDS

EDITS_LIMIT = 12


class FixAskSerializer(serializers.Serializer[Any]):
    context = ContextField(help_text="Members of the schema Context.")  # type: ignore[assignment]  # the engine's word
    tool = serializers.CharField(max_length=512, help_text="The tool whose verdict is to be flipped.")
    with_blast = serializers.BooleanField(
        default=False, help_text="Whether to say who gains and loses what, which takes longer in a large policy."
    )


class DraftEditSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=sorted(KINDS), help_text="Kind of the record.")
    record = RecordReferenceField(help_text="Id of the record, also as `rec_…`.")
    version = serializers.IntegerField(min_value=1, help_text="The version in which the list was read.")
    field = serializers.CharField(max_length=64, help_text="The list: `allow`, `sandbox_deny`, `subagent_also_allow`.")
    entry = serializers.CharField(max_length=512, trim_whitespace=False, help_text="A name, pattern or group.")
    is_added = serializers.BooleanField(help_text="Whether the entry is added; else it is removed.")
    path = serializers.CharField(
        max_length=512, default="", allow_blank=True, help_text="Where the list stands in the document; not read."
    )


class DraftEditsSerializer(serializers.Serializer[Any]):
    edits = serializers.ListField(child=DraftEditSerializer(), min_length=1, max_length=EDITS_LIMIT)


class EditedRecordSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    record = serializers.UUIDField()
    version = serializers.IntegerField()


class EffectSerializer(serializers.Serializer[Any]):
    tool = serializers.CharField()
    opened = serializers.IntegerField(help_text="In how many contexts it becomes allowed.")
    closed = serializers.IntegerField(help_text="In how many contexts it becomes denied.")


class DraftFixSerializer(serializers.Serializer[Any]):
    tool = serializers.CharField()
    allowed = serializers.BooleanField(help_text="The verdict of the draft as it is.")
    edits = DraftEditSerializer(many=True, help_text="At most three; none when three do not flip the verdict.")
    opened = serializers.ListField(
        child=serializers.CharField(), help_text="Other tools that become allowed in the asked context."
    )
    closed = serializers.ListField(
        child=serializers.CharField(), help_text="Other tools that become denied in the asked context."
    )
    effects = EffectSerializer(many=True, help_text="What changes over all contexts, the asked one among them.")
    contexts = serializers.IntegerField(help_text="How many classes of contexts there are.")
    blast = BlastSerializer(allow_null=True, help_text="Who gains and loses what; null where nobody asked, or no fix.")
    beyond = serializers.ListField(
        child=serializers.CharField(), help_text="Without edits: layers that refuse, whatever the lists say."
    )


def fix_json(found: DraftFix, diff: SnapshotDiff | None = None) -> dict[str, Any]:
    """Write a fix as programs read it."""
    fix = found.fix
    said = {
        "tool": found.tool,
        "allowed": found.allowed,
        "edits": found.edits,
        "opened": fix.opened if fix is not None else (),
        "closed": fix.closed if fix is not None else (),
        "effects": [effect._asdict() for effect in fix.effects] if fix is not None else [],
        "contexts": found.contexts,
        "blast": None if diff is None else blast_json(diff),
        "beyond": found.beyond,
    }
    return dict(DraftFixSerializer(said).data)

"""Tool search: runs, labelled queries, and figures over both."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.runs.figures import NEVER, RANKS, Figures
from apps.runs.models import SearchLabel, ToolRun


class ToolRunSerializer(serializers.ModelSerializer[ToolRun]):
    """A run in a list. `direct_bytes` is what all schemas would take in a request, `offered_bytes` what it took."""

    id = serializers.CharField(source="shown_id", read_only=True)
    session = serializers.CharField(source="session_key", read_only=True)
    offered_bytes = serializers.IntegerField(source="surface_bytes", read_only=True)

    class Meta:
        model = ToolRun
        fields: ClassVar = [
            "id", "agent", "session", "provider", "model", "begun_at", "ended_at", "outcome", "mode", "asked_mode",
            "why", "catalogue_size", "visible", "direct_bytes", "offered_bytes", "searches", "describes", "codes",
            "calls",
        ]  # fmt: skip


class ToolRunPageSerializer(serializers.Serializer[Any]):
    rows = ToolRunSerializer(many=True)
    older = serializers.CharField(allow_null=True, help_text="Cursor for `after`.")


class CatalogueSerializer(serializers.Serializer[Any]):
    size = serializers.IntegerField()
    sources = serializers.DictField(child=serializers.IntegerField(), help_text="core, plugin, mcp, client.")
    visible = serializers.IntegerField(help_text="Tools whose schemas the model saw at the start.")


class RunBytesSerializer(serializers.Serializer[Any]):
    direct = serializers.IntegerField()
    offered = serializers.IntegerField()
    directory_characters = serializers.IntegerField()


class RunCountsSerializer(serializers.Serializer[Any]):
    search = serializers.IntegerField()
    describe = serializers.IntegerField()
    code = serializers.IntegerField()
    call = serializers.IntegerField()


class RunSearchSerializer(serializers.Serializer[Any]):
    query = serializers.CharField(help_text="Masked.")
    found = serializers.ListField(child=serializers.CharField(), help_text="Ids of tools, best first.")


class RunCallSerializer(serializers.Serializer[Any]):
    """A call of a run; `rank` is its tool's best place in what the run had searched."""

    id = serializers.CharField()
    tool = serializers.CharField()
    name = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a member of the answer, not of the field
    through = serializers.ChoiceField(choices=["direct", "hydrated", "tool_call", "code"])
    rank = serializers.IntegerField(allow_null=True)
    status = serializers.CharField()


class ToolRunDetailSerializer(serializers.Serializer[Any]):
    """What a run was offered, searched and called."""

    id = serializers.CharField()
    agent = serializers.CharField()
    session = serializers.CharField(allow_null=True)
    provider = serializers.CharField()
    model = serializers.CharField(allow_null=True)
    begun_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(allow_null=True)
    mode = serializers.CharField()
    asked_mode = serializers.CharField()
    why = serializers.CharField()
    snapshot = serializers.CharField(allow_null=True)
    catalogue = CatalogueSerializer()
    bytes = RunBytesSerializer()
    counts = RunCountsSerializer()
    described = serializers.ListField(child=serializers.CharField())
    searches = RunSearchSerializer(many=True)
    calls = RunCallSerializer(many=True)


class SearchLabelSerializer(serializers.ModelSerializer[SearchLabel]):
    """A query and the names of the live tools that it means; adding it again adds tools."""

    id = serializers.CharField(source="shown_id", read_only=True)
    query = serializers.CharField(max_length=512)
    tools = serializers.ListField(child=serializers.CharField(max_length=512), max_length=20)

    class Meta:
        model = SearchLabel
        fields: ClassVar = ["id", "query", "tools", "added_by", "added_at"]
        read_only_fields: ClassVar = ["added_by", "added_at"]


class OfferedSerializer(serializers.Serializer[Any]):
    """Runs that were offered their tools alike."""

    mode = serializers.CharField()
    why = serializers.CharField()
    runs = serializers.IntegerField()
    direct_bytes = serializers.IntegerField()
    offered_bytes = serializers.IntegerField()


class DaySerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    runs = serializers.IntegerField()
    direct_bytes = serializers.IntegerField()
    offered_bytes = serializers.IntegerField()


class MissedSerializer(serializers.Serializer[Any]):
    query = serializers.CharField()
    count = serializers.IntegerField()
    last_at = serializers.DateTimeField()


class WorthSerializer(serializers.Serializer[Any]):
    """What search is worth on labelled queries, asked now.

    `recall` is the share of right tools among the first k, by k; `absent` counts queries none of whose tools is live.
    """

    tools = serializers.IntegerField()
    queries = serializers.IntegerField()
    recall = serializers.DictField(child=serializers.FloatField())
    mrr = serializers.FloatField()
    absent = serializers.IntegerField()


class SearchFiguresSerializer(serializers.Serializer[Any]):
    """Figures over the runs of some days.

    `ranks` counts calls by the rank of their tool: 1 to 10, `lower`, and `never` for what no search had found.
    """

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    runs = serializers.IntegerField()
    direct_bytes = serializers.IntegerField()
    offered_bytes = serializers.IntegerField()
    totals = serializers.DictField(child=serializers.IntegerField())
    modes = OfferedSerializer(many=True)
    days = DaySerializer(many=True)
    outcomes = serializers.DictField(child=serializers.IntegerField(), help_text="The empty one counts open runs.")
    through = serializers.DictField(child=serializers.IntegerField())
    sources = serializers.DictField(child=serializers.IntegerField())
    ranks = serializers.SerializerMethodField()
    missed = MissedSerializer(many=True)
    missed_count = serializers.IntegerField()

    def get_ranks(self, figures: Figures) -> dict[str, int]:
        names = {NEVER: "never", RANKS + 1: "lower"}
        return {names.get(rank, str(rank)): count for rank, count in figures.ranks.items()}


class SearchReportSerializer(serializers.Serializer[Any]):
    """`shipped` measures the queries that come with this release, `own` those of the environment."""

    figures = SearchFiguresSerializer()
    shipped = WorthSerializer()
    own = WorthSerializer()


class SearchReportQuerySerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField(default=7, min_value=1, max_value=30)

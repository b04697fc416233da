"""What the pages of tool search show: figures as pictures, runs in words, what search is worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.selectors import calls_by_id
from apps.console.calls import STATUSES, StatusKind
from apps.firewall.runtime.bridge import CLIENT
from apps.gateway.tool_runs.measuring import ASKED_AT_ONCE, DEPTHS, Measured, labels_measured, shipped_measured
from apps.policies.selectors import live_snapshot
from apps.runs.figures import NEVER, RANKS, Figures, run_figures
from apps.runs.labels import labels_of
from apps.runs.listing import MODES, OUTCOMES, RunFilters, run_calls, run_searches

if TYPE_CHECKING:
    from django.http import QueryDict

    from apps.registry.models import Environment
    from apps.runs.models import RunCall, RunSearch, SearchLabel, ToolRun

    # views name records without knowing the models
    RunRecord: TypeAlias = ToolRun
    LabelRecord: TypeAlias = SearchLabel

SPANS: Final[Mapping[str, tuple[Promise, int]]] = {
    "7d": (gettext_lazy("7 d"), 7),
    "30d": (gettext_lazy("30 d"), 30),
}
USUAL: Final = "7d"
FILTERS: Final = ("agent", "mode", "outcome")
FOUND_SHOWN: Final = 5
DAY_S: Final = 86_400

MODE_WORDS: Final[Mapping[str, Promise]] = {
    "direct": gettext_lazy("Direct"),
    "tools": gettext_lazy("Tools"),
    "directory": gettext_lazy("Directory"),
    "code": gettext_lazy("Code"),
}
WHYS: Final[Mapping[str, Promise]] = {
    "configured": gettext_lazy("as configured"),
    "default": gettext_lazy("the release's own way, nothing is configured"),
    "off": gettext_lazy("tool search is off"),
    "small_catalogue": gettext_lazy("the catalogue is small: its schemas take fewer bytes than the search"),
    "nothing_hidden": gettext_lazy("every tool is visible anyway"),
    "no_code_for_model": gettext_lazy("the model takes no code"),
    "no_isolation": gettext_lazy("code cannot be isolated on this machine"),
    "no_publication": gettext_lazy("nothing was published"),
}
WAYS: Final[Mapping[str, Promise]] = {
    "tool_call": gettext_lazy("through tool_call"),
    "code": gettext_lazy("from code"),
    "hydrated": gettext_lazy("by its name, from the directory"),
    "direct": gettext_lazy("directly, its schema was visible"),
}
SOURCE_WORDS: Final[Mapping[str, Promise]] = {
    "core": gettext_lazy("own tools"),
    "plugin": gettext_lazy("plugins"),
    "mcp": gettext_lazy("MCP servers"),
    "client": gettext_lazy("the caller"),
}
OUTCOME_WORDS: Final[Mapping[str, Promise]] = {
    "open": gettext_lazy("open"),
    "completed": gettext_lazy("completed"),
    "failed": gettext_lazy("failed"),
    "cancelled": gettext_lazy("cancelled"),
    "abandoned": gettext_lazy("abandoned"),
}
OUTCOME_TONES: Final = {"completed": "allow", "failed": "deny", "open": "info"}


def words(table: Mapping[str, Promise], value: str) -> str:
    """Say a code for people; an unknown one stays as it is."""
    return str(table.get(value, value))


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a picture: `width` in percent of the longest."""

    label: str
    count: int
    width: int
    note: str = ""


def bars_of(counts: Iterable[tuple[str, int, str]]) -> list[Bar]:
    rows = list(counts)
    most = max((count for _label, count, _note in rows), default=0) or 1
    return [Bar(label, count, round(100 * count / most), note) for label, count, note in rows]


# --- the figures of a time ---


def figures_page(environment: "Environment", span: str, *, at: datetime) -> dict[str, Any]:
    """Gather the figures of one time.

    Args:
        span: of `SPANS`; anything else is the usual one.
    """
    span = span if span in SPANS else USUAL
    found = run_figures(environment, days=SPANS[span][1], until=at)
    return {
        "found": found,
        "span": span,
        "spans": [(name, label, name == span) for name, (label, _days) in SPANS.items()],
        "bytes_chart": _bytes_chart(found),
        "modes": [
            (words(MODE_WORDS, each.mode), words(WHYS, each.why), each, round(100 * each.runs / (found.runs or 1)))
            for each in found.modes
        ],
        "ways": bars_of((words(WAYS, way), count, "") for way, count in _descending(found.through)),
        "sources": bars_of((words(SOURCE_WORDS, each), count, "") for each, count in _descending(found.sources)),
        "ranks": bars_of((_rank_words(rank), count, "") for rank, count in found.ranks.items()),
        "called": sum(found.through.values()),
        "mean_catalogue": found.mean("catalogue_size"),
        "mean_visible": found.mean("visible"),
        "outcomes": [(words(OUTCOME_WORDS, each or "open"), count) for each, count in found.outcomes.items()],
    }


def _descending(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _rank_words(rank: int) -> str:
    if rank == NEVER:
        return _("not searched")
    return _("%(rank)s or lower") % {"rank": rank} if rank > RANKS else str(rank)


def _bytes_chart(found: Figures) -> dict[str, Any]:
    times = [round(day.at.timestamp()) for day in found.days]
    offered = [round(day.offered_bytes / 1000) for day in found.days]
    saved = [round(day.saved_bytes / 1000) for day in found.days]
    return {
        "stepSeconds": DAY_S,
        "unit": " kB",
        "colours": ["--chart", "--chart-line"],
        "data": [times, saved, offered],
    }


# --- lists of runs ---


def filters_of(query: "QueryDict") -> RunFilters:
    """Read the filters of a URL; a mode or outcome that is none filters nothing."""
    mode, outcome = query.get("mode", ""), query.get("outcome", "")
    return RunFilters(
        agent=query.get("agent", "").strip(),
        mode=mode if mode in MODES else "",
        outcome=outcome if outcome in OUTCOMES else "",
    )


def address(query: "QueryDict", **more: str) -> str:
    """Write the list's address with the filters that are set."""
    given = {name: query.get(name, "") for name in FILTERS} | more
    kept = {name: value for name, value in given.items() if value}
    return f"{reverse('tool-search-runs')}?{urlencode(kept)}" if kept else reverse("tool-search-runs")


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as lists and its page show it."""

    run: "ToolRun"

    @property
    def mode(self) -> str:
        return words(MODE_WORDS, self.run.mode) if self.run.mode else "–"

    @property
    def why(self) -> str:
        return words(WHYS, self.run.why)

    @property
    def outcome(self) -> str:
        return words(OUTCOME_WORDS, self.run.outcome or ("open" if self.run.is_open else ""))

    @property
    def tone(self) -> str:
        return OUTCOME_TONES.get(self.run.outcome or "open", "")

    @property
    def saved_percent(self) -> int:
        run = self.run
        return round(100 * max(0, run.direct_bytes - run.surface_bytes) / run.direct_bytes) if run.direct_bytes else 0

    @property
    def offered_percent(self) -> int:
        run = self.run
        return min(100, round(100 * run.surface_bytes / run.direct_bytes)) if run.direct_bytes else 100


# --- one run ---


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call of a run, with what the ledger says of it."""

    call: "RunCall"
    status: StatusKind
    is_known: bool

    @property
    def way(self) -> str:
        return words(WAYS, self.call.through)

    @property
    def source(self) -> str:
        return words(SOURCE_WORDS, self.call.source)


@dataclass(frozen=True, slots=True)
class Followed:
    """A tool that was called after a search had found it, and whether the query is known to mean it.

    Args:
        is_live: it may be labelled; tools that a run's caller brings are not.
    """

    name: str
    rank: int | None
    is_labelled: bool
    is_live: bool


@dataclass(frozen=True, slots=True)
class ShownSearch:
    search: "RunSearch"
    followed: Sequence[Followed]

    @property
    def found(self) -> list[tuple[int, str]]:
        return list(enumerate(self.search.found[:FOUND_SHOWN], start=1))

    @property
    def more(self) -> int:
        return max(0, len(self.search.found) - FOUND_SHOWN)


def run_page(run: "ToolRun") -> dict[str, Any]:
    """Gather what the page of a run shows."""
    calls = run_calls(run)
    records = calls_by_id([each.call_id for each in calls], since=run.begun_at)
    known = {label.query: frozenset(label.tools) for label in labels_of(run.environment)}
    live = live_snapshot(run.environment)
    names = frozenset() if live is None else frozenset(live.tool_names)
    shown = [
        ShownCall(
            each,
            STATUSES[records[each.call_id].status if each.call_id in records else "running"],
            each.call_id in records,
        )
        for each in calls
    ]
    sources = [(words(SOURCE_WORDS, name), count) for name, count in run.sources.items()]
    return {
        "row": RunRow(run),
        "run": run,
        "sources": sources,
        "searches": [ShownSearch(each, _followed(each, calls, known, names)) for each in run_searches(run)],
        "calls": shown,
        "asked": words(MODE_WORDS, run.asked_mode) if run.asked_mode not in ("", "off") else "",
    }


def _followed(
    search: "RunSearch", calls: Iterable["RunCall"], known: Mapping[str, frozenset[str]], live: frozenset[str]
) -> list[Followed]:
    after = {call.name: call for call in calls if call.query == search.query and call.at >= search.at}
    labelled = known.get(" ".join(search.query.split()), frozenset())
    return [
        Followed(name, call.rank, name in labelled, name in live and call.source != CLIENT)
        for name, call in after.items()
    ]


# --- what search is worth ---


@dataclass(frozen=True, slots=True)
class Worth:
    """What search is worth on one set of labelled queries."""

    name: str
    note: str
    measured: Measured

    @property
    def recall(self) -> list[tuple[int, float, int]]:
        return [(k, self.measured.recall[k], round(100 * self.measured.recall[k])) for k in DEPTHS]


def quality_page(environment: "Environment") -> dict[str, Any]:
    """Gather recall and reciprocal rank, and the labelled queries of an environment."""
    live = live_snapshot(environment)
    known = labels_of(environment)
    labels = known[:ASKED_AT_ONCE]
    names = frozenset() if live is None else frozenset(live.tool_names)
    shipped = Worth(_("Shipped with this release"), _("tools and queries of our own"), shipped_measured())
    own = Worth(
        environment.name, _("your labelled queries, against the tools that are live"), labels_measured(live, labels)
    )
    return {
        "worths": [shipped, own],
        "depths": DEPTHS,
        "labels": [(label, [(name, name in names) for name in label.tools]) for label in labels],
        "count": len(known),
        "more": len(known) - len(labels),
        "has_live": live is not None,
    }

"""Figures over runs, and their list."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.runs.errors import RunFilterError
from apps.runs.figures import NEVER, RANKS, run_figures
from apps.runs.listing import RunFilters, runs_page
from tests.runs.making import MakeRun

pytestmark = pytest.mark.django_db
FOUND = [f"plugin:crm:tool_{n}" for n in range(30)]


def test_bytes_modes_ways_and_ranks_are_added_up(environment: Any, make_run: MakeRun) -> None:
    searched = [("make an invoice", FOUND), ("fly to the moon", []), ("fly to the moon", [])]
    called = [(FOUND[0], "tool_call"), (FOUND[2], "code"), (FOUND[20], "tool_call"), ("core:read", "direct")]
    make_run(searched=searched, called=called)
    make_run(mode="direct", why="small_catalogue", direct_bytes=10_000, surface_bytes=10_000)

    figures = run_figures(environment, days=7, until=timezone.now())

    assert (figures.runs, figures.direct_bytes, figures.offered_bytes) == (2, 100_000, 19_000)
    assert figures.saved_percent == 81
    assert {(each.mode, each.why, each.saved_percent) for each in figures.modes} == {
        ("tools", "default", 90),
        ("direct", "small_catalogue", 0),
    }
    assert figures.through == {"tool_call": 2, "code": 1, "direct": 1}
    assert {rank: count for rank, count in figures.ranks.items() if count} == {1: 1, 3: 1, RANKS + 1: 1, NEVER: 1}
    assert [(each.query, each.count) for each in figures.missed] == [("fly to the moon", 2)]
    assert figures.missed_count == 2
    assert (figures.totals["searches"], figures.totals["calls"]) == (3, 4)


def test_each_day_has_its_place_and_older_runs_count_no_more(environment: Any, make_run: MakeRun) -> None:
    now = timezone.now()
    make_run(at=now)
    make_run(at=now - timedelta(days=6))
    make_run(at=now - timedelta(days=7, minutes=1))

    figures = run_figures(environment, days=7, until=now)

    assert [day.runs for day in figures.days] == [1, 0, 0, 0, 0, 0, 1]
    assert figures.days[0].saved_bytes == 81_000


def test_a_principal_of_some_agents_is_told_of_these_alone(environment: Any, make_run: MakeRun) -> None:
    make_run(agent="main", searched=[("x", [])], called=[("core:read", "direct")])
    make_run(agent="clerk")

    figures = run_figures(environment, days=7, until=timezone.now(), agents=("clerk",))

    assert (figures.runs, figures.through, figures.missed_count) == (1, {}, 0)


def test_nothing_is_nothing(environment: Any) -> None:
    figures = run_figures(environment, days=30, until=timezone.now())

    assert (figures.runs, figures.saved_percent, figures.mean("visible")) == (0, 0, 0)


def test_figures_take_six_queries(environment: Any, make_run: MakeRun, django_assert_num_queries: Any) -> None:
    for _ in range(3):
        make_run(searched=[("x", [])], called=[("core:read", "direct")])

    with django_assert_num_queries(6):
        run_figures(environment, days=7, until=timezone.now())


def test_the_list_goes_from_page_to_page(environment: Any, make_run: MakeRun) -> None:
    at = timezone.now()
    made = [make_run(at=at).pk for _ in range(5)]

    first = runs_page(environment, RunFilters(), limit=3)
    second = runs_page(environment, RunFilters(), after=first.older or "", limit=3)

    assert [run.pk for run in (*first.rows, *second.rows)] == sorted(made, reverse=True)
    assert second.older is None


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (RunFilters(agent="main"), 1),
        (RunFilters(mode="direct"), 1),
        (RunFilters(outcome="open"), 2),
        (RunFilters(outcome="failed"), 0),
        (RunFilters(agents=("clerk",)), 1),
        (RunFilters(agent="main", mode="direct"), 0),
    ],
)
def test_the_list_keeps_to_its_filters(environment: Any, make_run: MakeRun, filters: RunFilters, count: int) -> None:
    make_run(agent="main")
    make_run(agent="clerk", mode="direct")

    assert len(runs_page(environment, filters).rows) == count


@pytest.mark.parametrize("after", ["x", "1~", "1~run_01", "²~x"])
def test_a_cursor_that_is_none_is_refused(environment: Any, after: str) -> None:
    with pytest.raises(RunFilterError, match="cursor"):
        runs_page(environment, RunFilters(), after=after)


def test_an_unknown_filter_is_refused_with_what_there_is(environment: Any) -> None:
    with pytest.raises(RunFilterError, match="tools, directory"):
        runs_page(environment, RunFilters(mode="x"))

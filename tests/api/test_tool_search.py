"""Tool search for programs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.firewall.identifiers import new_id, show_id
from apps.runs.models import SearchLabel
from apps.runs.services import run_end
from tests.runs.making import published_in, run_made

Programs = Callable[..., Any]
PATH = "tool-search"


@pytest.fixture
def published(environment: Any, admin: Any) -> Any:
    return published_in(environment, admin)


def test_runs_are_listed_filtered_and_paged(program: Programs, environment: Any) -> None:
    for _ in range(3):
        run_made(environment, agent="main")
    run_end(run_made(environment, agent="clerk", mode="code"), outcome="failed", at=timezone.now())
    asking = program("audit_read")

    first = asking.get(f"{PATH}/runs?limit=3").json()
    second = asking.get(f"{PATH}/runs?limit=3&after={first['older']}").json()
    failed = asking.get(f"{PATH}/runs?mode=code&outcome=failed").json()["rows"]

    assert [len(first["rows"]), len(second["rows"]), second["older"]] == [3, 1, None]
    assert [(run["agent"], run["outcome"], run["offered_bytes"]) for run in failed] == [("clerk", "failed", 9_000)]


@pytest.mark.parametrize("query", ["after=x", "mode=fast", "outcome=open2"])
def test_a_list_that_cannot_be_read_is_refused(program: Programs, environment: Any, query: str) -> None:
    answer = program("audit_read").get(f"{PATH}/runs?{query}")

    assert (answer.status_code, answer.json()["code"]) == (422, "run_filter_invalid")


def test_a_run_is_read_as_its_agent_reads_it(program: Programs, environment: Any) -> None:
    run = run_made(environment, searched=[("look", ["core:read"])], called=[("core:read", "tool_call")])

    told = program("audit_read").get(f"{PATH}/runs/{run.shown_id}").json()

    assert told["searches"] == [{"query": "look", "found": ["core:read"]}]
    assert (told["calls"][0]["rank"], told["calls"][0]["status"]) == (1, "running")
    assert told["bytes"] == {"direct": 90_000, "offered": 9_000, "directory_characters": 0}


def test_a_token_of_some_agents_sees_theirs_alone(program: Programs, environment: Any) -> None:
    mine, other = run_made(environment, agent="main"), run_made(environment, agent="clerk", searched=[("x", [])])
    asking = program("audit_read", agents=["main"])

    assert [run["id"] for run in asking.get(f"{PATH}/runs").json()["rows"]] == [mine.shown_id]
    assert asking.get(f"{PATH}/runs/{other.shown_id}").status_code == 404
    figures = asking.get(f"{PATH}/report").json()["figures"]
    assert (figures["runs"], figures["missed"]) == (1, [])


def test_a_token_of_another_environment_sees_nothing(program: Programs, environment: Any) -> None:
    run = run_made(environment)
    asking = program("audit_read", environment="elsewhere")

    assert asking.get(f"{PATH}/runs/{run.shown_id}").status_code == 404
    assert asking.get(f"{PATH}/runs?environment={environment.slug}").status_code == 404


def test_labels_are_added_listed_and_removed(program: Programs, published: Any) -> None:
    writing = program("audit_read", "policy_write")

    added = writing.post(f"{PATH}/labels", {"query": "查看文件", "tools": ["read"]})
    again = writing.post(f"{PATH}/labels", {"query": "查看文件", "tools": ["exec"]})
    listed = writing.get(f"{PATH}/labels").json()

    assert (added.status_code, again.status_code) == (201, 201)
    assert [(label["query"], label["tools"]) for label in listed] == [("查看文件", ["read", "exec"])]
    removed = writing.ask("DELETE", f"{PATH}/labels/{listed[0]['id']}")
    assert removed.status_code == 204 and not SearchLabel.objects.exists()
    assert writing.ask("DELETE", f"{PATH}/labels/{show_id('label', new_id())}").status_code == 404


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"query": "look", "tools": ["raed"]}, "tools"),
        ({"query": "", "tools": ["read"]}, "query"),
        ({"tools": "read"}, "query"),
        ({"query": "look", "tools": []}, "tools"),
    ],
)
def test_a_label_with_a_mistake_is_refused_with_its_field(
    program: Programs, published: Any, body: dict[str, Any], path: str
) -> None:
    answer = program("policy_write").post(f"{PATH}/labels", body)

    assert answer.status_code in {400, 422}
    assert path in [each["path"] for each in answer.json()["details"]]
    assert not SearchLabel.objects.exists()


def test_who_only_reads_labels_nothing(program: Programs, published: Any) -> None:
    answer = program("audit_read").post(f"{PATH}/labels", {"query": "look", "tools": ["read"]})

    assert answer.status_code == 403


def test_the_report_adds_up_and_measures(program: Programs, published: Any) -> None:
    run_made(published, searched=[("x", [])], called=[("core:read", "code"), ("core:exec", "direct")])
    program("policy_write").post(f"{PATH}/labels", {"query": "exec", "tools": ["exec"]})

    report = program("audit_read").get(f"{PATH}/report?days=30").json()

    figures = report["figures"]
    assert (figures["runs"], figures["direct_bytes"], len(figures["days"])) == (1, 90_000, 30)
    assert figures["through"] == {"code": 1, "direct": 1} and figures["ranks"]["never"] == 2
    assert [each["query"] for each in figures["missed"]] == ["x"]
    assert report["shipped"]["queries"] >= 150 and report["shipped"]["recall"]["5"] >= 0.9
    assert report["own"] == {
        "tools": report["own"]["tools"],
        "queries": 1,
        "recall": {"1": 1.0, "3": 1.0, "5": 1.0, "10": 1.0},
        "mrr": 1.0,
        "absent": 0,
    }


@pytest.mark.parametrize("days", ["0", "31", "x"])
def test_a_report_of_too_many_days_is_refused(program: Programs, environment: Any, days: str) -> None:
    assert program("audit_read").get(f"{PATH}/report?days={days}").status_code in {400, 422}

"""The page of reports: figures with links to their calls, chosen days, files for spreadsheets, and programs."""

import csv
import io
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.reports import TABLES
from apps.approvals.services import approval_resolve
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id

ClientOf = Callable[..., Client]
PATH = "/audit/reports/"
HOSTILE = '=HYPERLINK("//evil")<b>\u202e'

pytestmark = pytest.mark.usefixtures("empty_ledger")


def _refused(environment: Any, layer: str, agent: str = "bot") -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.DENIAL,
            actor="token:oca_1",
            environment=environment.slug,
            agent=agent,
            tool="exec",
            call_id=new_id(),
            status="denied",
            decision=EntryDecision(verdict="deny", layer=layer),
        )
    )


def _rows(client: Client, table: str, query: str = "") -> list[list[str]]:
    answer = client.get(f"{PATH}{table}/file/{query}")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{table}-')
    return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_a_time_without_calls_is_said(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    page = client_of(auditor).get(PATH).content.decode()
    assert "No calls in this time" in page
    assert "data-chart" not in page


@pytest.mark.parametrize("span", ["24h", "7d", "30d", "90d", "nonsense"])
def test_it_shows_pictures_and_tables(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any], span: str
) -> None:
    called(agent="main")
    _refused(environment, "agent")
    page = client_of(auditor).get(f"{PATH}?span={span}").content.decode()
    assert page.count("data-chart=") == page.count('class="plot-table"') == 1
    assert 'class="bar"' in page
    assert page.count("/file/?span=") == len(TABLES)
    assert "1 denied by agent" in page


def test_each_figure_leads_to_its_calls(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any]
) -> None:
    called(agent="a & b", tool="write")
    _refused(environment, "agent", agent="other")
    client = client_of(auditor)
    page = unescape(client.get(PATH).content.decode())
    for wanted, unwanted in (
        ("agent=a+%26+b", "other"),
        ("tool=write", "other"),
        ("status=denied&layer=agent", "a & b"),
    ):
        address = re.search(rf'"(/audit/\?{re.escape(wanted)}&since=[^"]+)"', page)
        assert address is not None, wanted
        listed = client.get(address[1])
        assert listed.status_code == 200
        assert [row.call.agent for row in listed.context["rows"]] == [{"other": "a & b", "a & b": "other"}[unwanted]]


def test_answers_are_counted_by_person(
    client_of: ClientOf, auditor: Any, operator: Any, ask: Callable[..., Any], called: Callable[..., Any]
) -> None:
    called()
    approval_resolve(ask(), decision="allow-once", by=operator, at=timezone.now())
    approval_resolve(ask(), decision="deny", by=operator, at=timezone.now())
    head, first, *_ = _rows(client_of(auditor), "operators")
    row = dict(zip(head, first, strict=True))
    assert (row["answers"], row["allowed"], row["denied"]) == ("2", "1", "1")
    assert row["who"] in client_of(auditor).get(PATH).content.decode()


def test_days_are_chosen_and_days_that_are_none_refused(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any]
) -> None:
    called(agent="main")
    client, today = client_of(auditor), f"{timezone.now():%Y-%m-%d}"
    assert "1" in client.get(f"{PATH}?from={today}&to={today}").content.decode()
    assert client.get(f"{PATH}?from=2020-01-01&to=2020-01-02").context["report"].total.calls == 0
    for wrong in ("from=x&to=y", f"from={today}", f"from={today}&to=2020-01-01", "from=0001-01-01&to=9999-12-31"):
        answer = client.get(f"{PATH}?{wrong}")
        assert (answer.status_code, "These days cannot be read." in answer.content.decode()) == (422, True)
        assert client.get(f"{PATH}agents/file/?{wrong}").status_code == 404


def test_hostile_names_are_shown_and_never_run(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any]
) -> None:
    called(agent=HOSTILE)
    client = client_of(auditor)
    page = client.get(PATH).content.decode()
    assert "<b>\u202e" not in page
    assert "\u202e" not in page.replace("report-calls", "")
    assert _rows(client, "agents")[1][0] == f"'{HOSTILE}"


@pytest.mark.parametrize("table", list(TABLES))
def test_every_table_is_a_file(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any], table: str
) -> None:
    called()
    assert tuple(_rows(client_of(auditor), table)[0]) == TABLES[table].columns


def test_a_table_that_is_none_is_not_found(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    assert client_of(auditor).get(f"{PATH}secrets/file/").status_code == 404


@pytest.mark.parametrize("name", ["viewer", "outsider"])
def test_who_may_not_read_the_ledger_is_refused(
    name: str, request: pytest.FixtureRequest, client_of: ClientOf, environment: Any
) -> None:
    for path in (PATH, f"{PATH}agents/file/"):
        assert client_of(request.getfixturevalue(name)).get(path).status_code == 403


def test_the_page_costs_the_same_however_much_it_shows(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any], django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        called()
    client = client_of(auditor)
    assert client.get(PATH).content.decode().count('<th scope="row"><a class="mono any" href="/audit/?agent=') == 15
    with django_assert_max_num_queries(26):
        assert client.get(PATH).context["report"].total.calls == 20


def test_programs_read_the_same(environment: Any, called: Callable[..., Any], token: Callable[..., Any]) -> None:
    called(agent="main", tool="write")
    _refused(environment, "agent")
    headers = {"Authorization": f"Bearer {token('audit_read')[1]}"}
    body = Client().get("/api/v1/audit/report?days=1", headers=headers).json()
    assert body["total"] == {"calls": 2, "ran": 1, "denied": 1, "failed": 0}
    assert {row["name"] for row in body["agents"]} == {"main", "bot"}
    assert (body["layers"], body["slowest"][0]["tool"]) == ([{"layer": "agent", "denied": 1}], "write")
    for wrong in ("days=93", "since=x", "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z"):
        assert Client().get(f"/api/v1/audit/report?{wrong}", headers=headers).status_code == 422

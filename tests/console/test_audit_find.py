"""What stands around the list: saved searches, columns, the time zone, a session in order; and that looking is told."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.filters import EntryFilters
from apps.audit.models import SavedFilter
from apps.audit.selectors import entries
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id
from tests.audit.drafts import intent, outcome

pytestmark = pytest.mark.usefixtures("empty_ledger")


def looks(actor: Any) -> list[Any]:
    return [row.changes for row in entries(EntryFilters(kind=("search",), actor=actor.actor)).rows]


def test_each_search_is_one_entry_and_its_older_pages_are_none(
    client_of: Callable[..., Client], auditor: Any, environment: Any, called: Callable[..., Any]
) -> None:
    called(agent="looked-at")
    browser = client_of(auditor)
    browser.get("/audit/")
    assert looks(auditor) == []
    first = browser.get("/audit/?agent=looked-at")
    browser.get("/audit/", {"agent": "looked-at", "look": first.context["look"]})
    [told] = looks(auditor)
    assert told["of"] == "calls" and told["filters"]["agent"] == ["looked-at"]
    browser.get("/audit/?agent=looked-at")
    assert len(looks(auditor)) == 2


def test_a_signature_of_another_person_or_search_hides_nothing(
    client_of: Callable[..., Client], auditor: Any, admin: Any, environment: Any
) -> None:
    look = client_of(admin).get("/audit/?agent=a").context["look"]
    client_of(auditor).get("/audit/", {"agent": "a", "look": look})
    client_of(admin).get("/audit/", {"agent": "b", "look": look})
    assert (len(looks(auditor)), len(looks(admin))) == (1, 2)


def test_a_call_that_is_opened_is_one_entry(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    call_id = called()
    client_of(auditor).get(f"/audit/calls/{show_id('call', call_id)}/")
    assert looks(auditor) == [{"of": "call", "call": show_id("call", call_id)}]


def test_a_search_is_saved_shared_and_removed(
    client_of: Callable[..., Client], auditor: Any, operator: Any, admin: Any, environment: Any
) -> None:
    query = "tool=exec&status=failed"
    client_of(auditor).post("/audit/saved/", {"name": "minemine <b>\u202e", "query": query})
    client_of(auditor).post("/audit/saved/", {"name": "ours", "query": query, "is_shared": "on"})
    own = client_of(auditor).get("/audit/").content.decode()
    assert "minemine &lt;b&gt;" in own and "\u202e" not in own and 'href="/audit/?tool=exec&amp;status=failed"' in own
    others = client_of(operator).get("/audit/").content.decode()
    assert "minemine" not in others and "ours" in others
    shared = SavedFilter.objects.get(name="ours")
    address = f"/audit/saved/{shared.pk}/remove/"
    assert address not in others
    assert client_of(operator).post(address).status_code == 403
    assert (
        client_of(operator).post(f"/audit/saved/{SavedFilter.objects.get(is_shared=False).pk}/remove/").status_code
        == 404
    )
    assert client_of(admin).post(address).status_code == 302
    told = [row.status for row in entries(EntryFilters(kind=("search",))).rows if row.status]
    assert sorted(told) == ["removed", "shared"]


@pytest.mark.parametrize(
    "form",
    [{"name": ""}, {"name": "x" * 81}, {"name": "x", "query": "a" * 4001}, {"name": "x", "query": "&a" * 1999}],
)
def test_a_search_that_cannot_be_kept_is_refused(
    client_of: Callable[..., Client], auditor: Any, environment: Any, form: dict[str, str]
) -> None:
    assert client_of(auditor).post("/audit/saved/", form | {"is_shared": "on"}).status_code == 422
    assert client_of(auditor).get("/audit/").status_code == 200  # nobody's list breaks of what another one shares


def test_columns_and_zone_are_a_persons_own(
    client_of: Callable[..., Client], auditor: Any, operator: Any, environment: Any, called: Callable[..., Any]
) -> None:
    called(agent="zoned", trace_id="4bf92f3577b34da6")
    chosen = {"columns": ["trace", "agent"], "time_zone": "Asia/Shanghai"}
    assert client_of(auditor).post("/audit/display/", chosen).status_code == 302
    own = client_of(auditor).get("/audit/?agent=zoned").content.decode()
    assert "Asia/Shanghai (UTC+08:00)" in own and "4bf92f3577b34da6" in own and 'class="col-approval"' not in own
    other = client_of(operator).get("/audit/?agent=zoned").content.decode()
    assert "Time (UTC)" in other and 'class="col-approval"' in other


@pytest.mark.parametrize("form", [{"columns": ["password"]}, {"time_zone": "Mars/Olympus"}, {"time_zone": "../../etc"}])
def test_a_column_or_zone_that_does_not_exist_is_refused(
    client_of: Callable[..., Client], auditor: Any, environment: Any, form: dict[str, Any]
) -> None:
    assert client_of(auditor).post("/audit/display/", form).status_code == 422


def test_an_instant_without_a_zone_is_read_in_ones_own(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    client_of(auditor).post("/audit/display/", {"time_zone": "Asia/Shanghai"})
    page = client_of(auditor).get("/audit/?since=2026-11-20T08:00&until=2026-11-20T09:00")
    assert page.context["histogram"].since == datetime(2026, 11, 20, 0, tzinfo=UTC)
    assert 'value="2026-11-20T08:00:00"' in page.content.decode()


def test_each_bar_is_a_link_to_its_span(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called(agent="barred")
    page = client_of(auditor).get("/audit/?agent=barred")
    [url] = [url for bar, url in page.context["bars"] if bar.calls]
    assert client_of(auditor).get(url).context["histogram"].total == 1


def test_a_session_is_told_in_order_with_what_changed_in_between(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    at, key = timezone.now() - timedelta(hours=1), "agent:ops:<b>\u202e"
    for number, tool in enumerate(("first_tool", "second_tool")):
        begun = intent(new_id(), at=at + timedelta(minutes=2 * number), tool=tool, session_key=key,
                       environment=environment.slug)  # fmt: skip
        entry_record(begun)
        assert begun.call_id is not None
        entry_record(outcome(begun.call_id, at=at + timedelta(minutes=2 * number, seconds=3), tool=tool,
                             session_key=key, environment=environment.slug))  # fmt: skip
    entry_record(
        EntryDraft(
            kind=EntryKind.PUBLISH, actor="user:anna", environment=environment.slug, at=at + timedelta(minutes=1)
        )
    )
    page = client_of(auditor).get("/audit/timeline/", {"key": key}).content.decode()
    assert page.index("first_tool") < page.index("user:anna") < page.index("second_tool")
    assert "\u202e" not in page and "U+202E" in page
    assert looks(auditor) == [{"of": "session", "filters": {"session_key": [key]}}]


def test_a_session_nobody_knows_and_no_key_at_all(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    assert "No calls in this session" in client_of(auditor).get("/audit/timeline/?key=nobody").content.decode()
    assert client_of(auditor).get("/audit/timeline/").status_code == 404
    assert client_of(auditor).get("/audit/timeline/?key=a&after=zzz").status_code == 422


def test_a_call_can_be_copied_and_leads_to_those_like_it(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    call_id = show_id("call", called(tool="exec", agent="copied", params={"command": "df -h /srv"}))
    page = client_of(auditor).get(f"/audit/calls/{call_id}/").content.decode()
    assert f"/api/v1/audit/calls/{call_id}" in page and "$OPENCLAW_ADMIN_TOKEN" in page
    assert "?span=all&amp;tool=exec&amp;agent=copied&amp;text=df+-h+%2Fsrv" in page
    like = client_of(auditor).get("/audit/?span=all&tool=exec&agent=copied&text=df+-h+%2Fsrv")
    assert len(like.context["rows"]) == 1


def test_a_time_chosen_in_the_picture_leaves_the_page_where_it_is(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    browser = client_of(auditor)
    zoomed = browser.get("/audit/?since=2026-11-03T10:00:00Z&until=2026-11-03T11:00:00Z").content.decode()
    assert "2026-11-03 10:00:00 – 2026-11-03 11:00:00" in zoomed
    assert '<details class="more-filters">' in zoomed
    assert '<details class="more-filters" open>' in browser.get("/audit/?rule=tools.deny").content.decode()

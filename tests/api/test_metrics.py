"""The figures of this installation, as Prometheus scrapes them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from apps.audit.drafts import EntryDraft
from apps.audit.following import follow
from apps.audit.services import entry_record
from apps.audit.streaming.streams import stream_add, stream_pause
from apps.firewall.identifiers import new_id
from tests.console.conftest import ask  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_ledger")]

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def scrape(token: Callable[..., Any], client: Client) -> Callable[[], Samples]:
    def read() -> Samples:
        secret = token("metrics_read")[1]
        answer = client.get("/metrics", headers={"authorization": f"Bearer {secret}", "accept": "text/plain"})
        assert answer.status_code == 200 and answer["Content-Type"].startswith("text/plain")
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.content.decode())
            for sample in family.samples
        }

    return read


def found(samples: Samples, name: str, **labels: str) -> float:
    return samples[(name, frozenset(labels.items()))]


def test_calls_are_counted_by_outcome(environment: Any, scrape: Callable[[], Samples]) -> None:
    for status in ("completed", "completed", "failed"):
        call = {"environment": environment.slug, "call_id": new_id(), "tool": "read"}
        entry_record(EntryDraft(kind="call_intent", **call))
        entry_record(EntryDraft(kind="call_outcome", status=status, **call))
    entry_record(EntryDraft(kind="denial", status="denied", environment=environment.slug, call_id=new_id()))
    before = scrape()
    assert found(before, "openclaw_audit_index_lag_entries") >= 7
    follow(limit_s=30)
    samples = scrape()
    slug = environment.slug
    assert [
        found(samples, "openclaw_calls_total", environment=slug, outcome=outcome)
        for outcome in ("completed", "failed", "denied")
    ] == [2, 1, 1]
    assert found(samples, "openclaw_calls_begun_total", environment=slug) == 4
    assert found(samples, "openclaw_audit_index_lag_entries") == 0
    assert found(samples, "openclaw_audit_entries_total") >= 7
    assert any(name == "openclaw_audit_chain_head" and value >= 7 for (name, _), value in samples.items())


def test_requests_are_counted_with_their_waits(
    environment: Any,
    ask: Callable[..., Any],  # noqa: F811
    scrape: Callable[[], Samples],
) -> None:
    ask()
    samples = scrape()
    assert found(samples, "openclaw_approvals_pending", environment=environment.slug) == 1
    assert found(samples, "openclaw_approvals_oldest_wait_seconds", environment=environment.slug) >= 0
    assert found(samples, "openclaw_approval_wait_seconds_count", environment=environment.slug) == 0


def test_the_lag_of_each_stream_is_told(admin: Any, scrape: Callable[[], Samples]) -> None:
    stream = stream_add(admin, name='sie"m\n', kind="http", url="https://siem.example/in")
    stream_pause(admin, stream, is_paused=True)
    samples = scrape()
    assert found(samples, "openclaw_audit_stream_lag_entries", stream='sie"m\n') == 2
    assert found(samples, "openclaw_audit_stream_paused", stream='sie"m\n') == 1
    assert found(samples, "openclaw_audit_stream_dead_letters", stream='sie"m\n') == 0


def test_only_who_may_read_them_gets_figures(
    token: Callable[..., Any], client: Client, environment: Any, viewer: Any
) -> None:
    def status(**given: str) -> int:
        return client.get("/metrics", headers=given).status_code

    assert status() == 401
    assert status(authorization=f"Bearer {token('audit_read')[1]}") == 403
    bound = token("metrics_read", environment=environment.slug)[1]
    assert status(authorization=f"Bearer {bound}") == 404
    client.force_login(viewer)
    assert status() == 403


def test_the_openmetrics_spelling_is_given_to_who_asks_for_it(token: Callable[..., Any], client: Client) -> None:
    wanted = "application/openmetrics-text;version=1.0.0"
    headers = {"authorization": f"Bearer {token('metrics_read')[1]}", "accept": wanted}
    answer = client.get("/metrics", headers=headers)
    assert answer["Content-Type"].startswith("application/openmetrics-text") and answer.content.endswith(b"# EOF\n")

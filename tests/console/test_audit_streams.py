"""The page of exports and streams: who sees what, and what is done there."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.exporting import export_run
from apps.audit.exports import exports_of
from apps.audit.models import DeadLetter, Stream
from apps.audit.services import boot_id
from apps.audit.streaming.streams import stream_add
from tests.audit.siem import HttpServer, served

PAGE = "/audit/exports/"
ADDED = {
    "name": "siem",
    "kind": "http",
    "url": "https://siem.example/in",
    "secret": "Bearer canary",
    "with_content": "on",
}


@pytest.fixture
def stream(admin: Any, environment: Any) -> Stream:
    return stream_add(admin, name="siem", kind="http", url="https://siem.example/in", secret="Bearer canary-of-siem")


@pytest.fixture
def web(settings: Any, stream: Stream) -> Iterator[HttpServer]:
    with served(HttpServer()) as server:
        port = server.server_address[1]
        settings.CALLBACK_NETWORKS = ("127.0.0.0/8",)
        settings.AUDIT_STREAM_PORTS = (port,)
        Stream.objects.filter(pk=stream.pk).update(url=f"http://127.0.0.1:{port}/")
        yield server


@pytest.mark.parametrize(
    ("name", "status", "may_add"),
    [("admin", 200, True), ("auditor", 200, False), ("operator", 200, False), ("viewer", 403, False)],
)
def test_each_role_sees_what_it_may_do(
    name: str,
    status: int,
    may_add: bool,
    request: pytest.FixtureRequest,
    client_of: Callable[..., Client],
    stream: Stream,
) -> None:
    answer = client_of(request.getfixturevalue(name)).get(PAGE)
    assert answer.status_code == status
    page = answer.content.decode()
    assert ("/audit/streams/add/" in page) is may_add and (f"/audit/streams/{stream.pk}/pause/" in page) is may_add
    assert "canary" not in page


def test_an_empty_page_says_what_it_is_for(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    page = client_of(admin).get(PAGE).content.decode()
    assert "No stream yet" in page and "You asked for no file yet" in page


def test_a_stream_is_added_changed_held_and_removed(
    client_of: Callable[..., Client], admin: Any, environment: Any
) -> None:
    browser = client_of(admin)
    assert browser.post("/audit/streams/add/", ADDED).status_code == 302
    stream = Stream.objects.get()
    one = f"/audit/streams/{stream.pk}/"
    assert "canary" not in browser.get(one).content.decode()
    assert browser.post(one, {**ADDED, "name": "renamed", "secret": ""}).status_code == 302
    browser.post(f"{one}pause/", {"do": "pause"})
    assert Stream.objects.get().is_paused and "renamed" in browser.get(PAGE).content.decode()
    browser.post(f"{one}pause/", {"do": "resume"})
    assert not Stream.objects.get().is_paused
    browser.post(f"{one}remove/")
    assert not Stream.objects.exists()


def test_what_is_refused_is_shown_at_its_field(
    client_of: Callable[..., Client], admin: Any, environment: Any, stream: Stream
) -> None:
    browser = client_of(admin)
    answer = browser.post("/audit/streams/add/", {**ADDED, "name": "other", "url": "http://10.0.0.1/"})
    assert answer.status_code == 422 and "Nothing was saved" in answer.content.decode()
    again = browser.post(f"/audit/streams/{stream.pk}/", {**ADDED, "url": "https://elsewhere.example/", "secret": ""})
    assert again.status_code == 422 and "say the secret again" in again.content.decode()


def test_a_test_says_what_the_other_side_made_of_it(
    client_of: Callable[..., Client], admin: Any, stream: Stream, web: HttpServer
) -> None:
    browser = client_of(admin)
    page = browser.post(f"/audit/streams/{stream.pk}/test/", follow=True).content.decode()
    assert "siem took the record" in page and len(web.asked) == 1
    web.answers = [(500, b"")]
    assert "did not take the record" in browser.post(f"/audit/streams/{stream.pk}/test/", follow=True).content.decode()


def test_dead_letters_are_shown_and_sent_again(
    client_of: Callable[..., Client], admin: Any, stream: Stream, web: HttpServer
) -> None:
    DeadLetter.objects.create(stream=stream, chain_id=boot_id(), seq=1, reason="the other side answered <400>")
    browser = client_of(admin)
    page = browser.get(f"/audit/streams/{stream.pk}/").content.decode()
    assert "answered &lt;400&gt;" in page
    assert "1 record was taken." in browser.post(f"/audit/streams/{stream.pk}/retry/", follow=True).content.decode()
    assert not DeadLetter.objects.exists()


def test_an_export_shows_its_progress_is_cancelled_or_taken_with_its_manifest(
    client_of: Callable[..., Client], auditor: Any, environment: Any, settings: Any, tmp_path: Any
) -> None:
    settings.VAR_DIR = tmp_path
    browser = client_of(auditor)
    for _ in range(2):
        browser.post("/exports/", {"format": "parquet", "query": "agent=nobody"}, headers={"hx-request": "true"})
    first, second = exports_of(auditor)
    assert "Counting" in browser.get(PAGE).content.decode()
    answer = browser.post(f"/exports/{first.pk}/cancel/", headers={"hx-request": "true"})
    assert "cancelled" in answer.content.decode() and "every 1s" not in answer.content.decode()
    assert browser.post(f"/exports/{first.pk}/cancel/", headers={"hx-request": "true"}).status_code == 200
    export_run(second.pk, at=timezone.now())
    page = browser.get(PAGE).content.decode()
    assert f"/exports/{second.pk}/manifest/" in page
    taken = browser.get(f"/exports/{second.pk}/manifest/")
    assert taken["Content-Disposition"].endswith('.manifest.json"')

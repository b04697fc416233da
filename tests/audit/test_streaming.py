"""Streams of the ledger to other systems, which are real ones on loopback."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.audit.errors import StreamInvalidError, StreamNotFoundError
from apps.audit.models import Entry, Stream
from apps.audit.services import entries_record, entry_record
from apps.audit.streaming import sending, targets
from apps.audit.streaming.sending import stream_send, streams_due
from apps.audit.streaming.streams import (
    dead_letters,
    dead_letters_retry,
    stream_access,
    stream_add,
    stream_change,
    stream_pause,
    stream_remove,
    stream_test,
    streams_shown,
)
from apps.firewall.identifiers import new_id
from tests.audit.drafts import intent
from tests.audit.siem import KEY, REGION, SECRET, Certificates, HttpServer, ObjectStore, SyslogServer, served

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

Add = Callable[..., Stream]


def later(seconds: float = 0) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def tell(*numbers: int, **columns: Any) -> None:
    entries_record([intent(params={"n": number}, agent="told", **columns) for number in numbers])


def send(stream: Stream, seconds: float = 3600) -> int:
    return stream_send(stream.pk, at=later(seconds), limit_s=30)


@pytest.fixture
def add(admin: Any, settings: Any) -> Add:
    """Add a stream to a system of this test: its address may be on loopback, at any port."""
    settings.CALLBACK_NETWORKS = ("127.0.0.0/8",)

    def make(kind: str, server: Any, *, scheme: str = "http", path: str = "", **fields: Any) -> Stream:
        port = server.server_address[1]
        settings.AUDIT_STREAM_PORTS = (*settings.AUDIT_STREAM_PORTS, port)
        host = "localhost" if scheme.endswith("tls") else "127.0.0.1"
        return stream_add(admin, name=f"{kind} {port}", kind=kind, url=f"{scheme}://{host}:{port}{path}", **fields)

    return make


@pytest.fixture
def web() -> Iterator[HttpServer]:
    with served(HttpServer()) as server:
        yield server


def numbers(server: HttpServer) -> list[int]:
    return [row["params"]["n"] for _, _, _, body in server.asked for row in json.loads(body) if row["agent"] == "told"]


def test_syslog_over_tls_gets_each_entry_as_one_framed_message(add: Add, tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    with served(SyslogServer(certificates.context())) as server:
        stream = add("syslog", server, scheme="syslog+tls", ca=certificates.ca)
        tell(1, 2, 3)
        assert send(stream) == 4  # and the entry that tells of the stream itself
    told = [message for message in server.messages if b'agent="told"' in message]
    assert len(told) == 3
    head, _, text = told[0].partition(b"\xef\xbb\xbf")
    entry = Entry.objects.filter(agent="told").order_by("seq").first()
    assert entry is not None
    assert head.startswith(f"<110>1 {entry.at:%Y-%m-%dT%H:%M:%S.%fZ} ".encode()) and b"[openclaw@32473 id=" in head
    assert json.loads(text)["params"] == {"n": 1} and json.loads(text)["hash"] == bytes(entry.hash).hex()


def test_a_server_that_cannot_prove_its_name_gets_nothing(add: Add, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with served(SyslogServer(Certificates(tmp_path).context())) as server:
        stream = add("syslog", server, scheme="syslog+tls", ca=Certificates(tmp_path / "other").ca)
        assert send(stream) == 0
    stream.refresh_from_db()
    assert "does not prove its name" in stream.error and server.messages == []


def test_syslog_over_tcp_keeps_hostile_text_inside_its_message(add: Add) -> None:
    with served(SyslogServer(None)) as server:
        stream = add("syslog", server, scheme="syslog+tcp")
        hostile = 'bad"]\n<13>1 - - - - - -\x1b[2J'
        entry_record(intent(agent=hostile, params={"text": hostile}))
        send(stream)
    [message] = [each for each in server.messages if b'agent="bad' in each]
    head, _, text = message.partition(b"\xef\xbb\xbf")
    assert b"\n" not in head and b'agent="bad\\"\\] ' in head
    assert json.loads(text)["params"]["text"] == hostile


def test_http_gets_batches_with_its_secret_and_no_entry_twice(add: Add, web: HttpServer) -> None:
    stream = add("http", web, path="/in", secret="Bearer canary-of-siem")
    tell(1, 2, 3)
    send(stream)
    tell(4)
    assert send(stream) == 1 and send(stream) == 0
    assert numbers(web) == [1, 2, 3, 4]
    _, path, headers, _ = web.asked[0]
    assert path == "/in" and headers["authorization"] == "Bearer canary-of-siem" and "openclaw-signature" in headers
    assert b"canary" not in bytes(Stream.objects.get().sealed_secret)


def test_what_is_not_taken_is_sent_again_later_in_its_order(add: Add, web: HttpServer) -> None:
    stream = add("http", web)
    tell(1, 2)
    web.answers = [(503, b""), (401, b"")]
    assert send(stream) == 0
    stream.refresh_from_db()
    assert stream.failures == 1 and "503" in stream.error and stream.due_at > later(3600)
    assert streams_due(later()) == [] and streams_due(later(7200)) == [stream.pk]
    assert send(stream, 7200) == 0
    tell(3)
    assert send(stream, 14400) == 4
    stream.refresh_from_db()
    assert (stream.failures, stream.error) == (0, "") and numbers(web)[-3:] == [1, 2, 3]


def test_a_worker_that_died_before_it_moved_the_cursor_sends_again(
    add: Add, web: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = add("http", web)
    tell(1)

    def dies(*_given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(sending, "_move", dies)
        send(stream)
    assert send(stream) == 2 and numbers(web) == [1, 1]


@pytest.mark.slow
def test_a_slow_receiver_gets_less_at_once_and_each_entry(
    add: Add, web: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "TIME_LIMIT_S", 2.0)
    monkeypatch.setattr(sending, "BATCH_ENTRIES", 40)
    stream = add("http", web)
    tell(*range(40))
    web.slow_bytes = 20_000
    assert send(stream) == 0
    [state] = streams_shown(later(100))
    assert state.behind == 41 and state.lag_s > 50 and state.stream.failures == 1
    for turn in range(2, 40):
        send(stream, turn * 3600)
        if streams_shown(later())[0].behind == 0:
            break
    assert sorted(set(numbers(web))) == list(range(40)) and dead_letters(stream) == []


def test_a_stream_that_takes_its_time_is_sent_in_turns(
    add: Add, web: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "BATCH_ENTRIES", 10)
    stream = add("http", web)
    tell(*range(40))
    left: list[int] = []
    while not left or left[-1]:
        stream_send(stream.pk, at=later(3600), limit_s=0)
        left.append(streams_shown(later())[0].behind)
    assert left == [31, 21, 11, 1, 0] and numbers(web) == list(range(40))


def test_only_the_entry_that_is_refused_for_good_becomes_a_dead_letter(add: Add, web: HttpServer, admin: Any) -> None:
    stream = add("http", web)
    tell(*range(10))
    tell(10, tool="poison")
    tell(*range(11, 20))
    web.refused = b"poison"
    assert send(stream) == 20  # with the entry that tells of the stream itself
    [letter] = dead_letters(stream)
    assert "400" in letter.reason and streams_shown(later())[0].dead == 1
    taken = [json.loads(body) for _, _, _, body in web.asked if b"poison" not in body]
    assert sorted(row["params"]["n"] for rows in taken for row in rows if row["agent"] == "told") == [
        number for number in range(20) if number != 10
    ]
    assert dead_letters_retry(admin, stream) == (0, 1)
    assert dead_letters(stream)[0].attempts == 2
    web.refused = b"nothing"
    assert dead_letters_retry(admin, stream) == (1, 0)
    assert json.loads(web.asked[-1][3])[0]["params"] == {"n": 10}
    assert streams_shown(later())[0].stream.sent_count == 21


def test_opentelemetry_gets_log_records(add: Add, web: HttpServer) -> None:
    stream = add("otlp", web, path="/v1/logs")
    tell(7, trace_id="0af7651916cd43dd8448eb211c80319c")
    assert send(stream) == 2
    [(_, path, headers, body)] = web.asked
    assert path == "/v1/logs" and headers["content-type"] == "application/json"
    [resource] = json.loads(body)["resourceLogs"]
    record = resource["scopeLogs"][0]["logRecords"][-1]
    assert record["traceId"] == "0af7651916cd43dd8448eb211c80319c"
    assert json.loads(record["body"]["stringValue"])["params"] == {"n": 7}
    assert {"key": "openclaw.agent", "value": {"stringValue": "told"}} in record["attributes"]


def test_records_that_opentelemetry_rejects_are_dead_letters(add: Add, web: HttpServer) -> None:
    stream = add("otlp", web)
    web.answers = [(200, b'{"partialSuccess": {"rejectedLogRecords": "1"}}')]
    send(stream)
    assert len(dead_letters(stream)) == 1


def test_an_object_store_gets_a_folder_of_json_lines_by_signed_requests(add: Add) -> None:
    with served(ObjectStore()) as store:
        stream = add("s3", store, path="/bucket", prefix="audit log", region=REGION, secret=f"{KEY}:{SECRET}")
        tell(1, 2)
        send(stream)
        stream.refresh_from_db()
        assert stream.error == "" and stream.due_at > later(3600)
    [(path, body)] = store.objects.items()
    assert path.startswith(f"/bucket/audit%20log/{datetime.now(UTC):%Y/}") and path.endswith("-000000000003.jsonl")
    assert [json.loads(line)["params"] for line in body.splitlines()[1:]] == [{"n": 1}, {"n": 2}]


def test_a_wrong_key_is_no_reason_to_give_entries_up(add: Add) -> None:
    with served(ObjectStore()) as store:
        stream = add("s3", store, path="/bucket", region=REGION, secret=f"{KEY}:wrong")
        assert send(stream) == 0
    stream.refresh_from_db()
    assert "403" in stream.error and store.objects == {} and dead_letters(stream) == []


def test_a_stream_begins_where_it_was_wanted(add: Add, web: HttpServer) -> None:
    tell(1)
    now, whole = add("http", web), None
    tell(2)
    send(now)
    assert numbers(web) == [2]
    with served(HttpServer()) as other:
        whole = add("http", other, from_beginning=True)
        send(whole)
        assert numbers(other) == [1, 2]


def test_content_stays_here_where_it_is_not_wanted(add: Add, web: HttpServer) -> None:
    stream = add("http", web, with_content=False)
    entry_record(intent(params={"word": "kept-at-home"}))
    send(stream)
    assert b"kept-at-home" not in web.asked[0][3] and json.loads(web.asked[0][3])[-1]["content_commitment"]


def test_a_paused_stream_waits_and_loses_nothing(add: Add, web: HttpServer, admin: Any) -> None:
    stream = add("http", web)
    stream_pause(admin, stream, is_paused=True)
    tell(1, 2)
    assert send(stream) == 0 and web.asked == []
    [state] = streams_shown(later(100))
    assert state.behind == 4 and state.lag_s > 50
    stream_pause(admin, stream, is_paused=False)
    send(stream)
    [state] = streams_shown(later(100))
    assert (state.behind, state.lag_s) == (0, 0) and numbers(web) == [1, 2]


def test_a_test_says_what_the_other_side_made_of_it(add: Add, web: HttpServer, admin: Any) -> None:
    stream = add("http", web)
    assert stream_test(admin, stream) == ""
    assert json.loads(web.asked[0][3])[0]["changes"]["what"] == "stream tested"
    web.answers = [(500, b"")]
    assert "500" in stream_test(admin, stream)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"url": "http://127.0.0.1:1/"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "ftp://siem.example/"}, "url"),
        ({"kind": "syslog", "url": "https://siem.example"}, "url"),
        ({"kind": "s3", "url": "https://store.example/b"}, "secret"),
        ({"kind": "pigeon"}, "kind"),
        ({"name": ""}, "name"),
        ({"secret": "Bearer a\r\nX: y"}, "secret"),
    ],
)
def test_what_cannot_be_kept_is_named(admin: Any, fields: dict[str, Any], path: str) -> None:
    whole: dict[str, Any] = {"name": "siem", "kind": "http", "url": "https://siem.example/in"} | fields
    with pytest.raises(StreamInvalidError) as refused:
        stream_add(admin, **whole)
    assert path in {item["path"] for item in refused.value.details} and not Stream.objects.exists()


def test_a_secret_is_not_sent_to_an_address_that_somebody_else_put_in(admin: Any) -> None:
    stream = stream_add(admin, name="siem", kind="http", url="https://siem.example/in", secret="Bearer one")
    with pytest.raises(StreamInvalidError, match="secret"):
        stream_change(admin, stream, url="https://evil.example/in")
    stream_change(admin, stream, url="https://siem.example/two", secret="Bearer two")
    stream_change(admin, stream, name="renamed")
    assert sending.way_of(Stream.objects.get()).secret == "Bearer two"


def test_only_who_manages_the_ledger_changes_streams(admin: Any, auditor: Any, operator: Any, viewer: Any) -> None:
    stream = stream_add(admin, name="siem", kind="http", url="https://siem.example/in")
    assert stream_access(auditor, stream.pk) == stream
    for person in (auditor, operator, viewer):
        with pytest.raises(PermissionDeniedError):
            stream_add(person, name="other", kind="http", url="https://siem.example/in")
        with pytest.raises(PermissionDeniedError):
            stream_pause(person, stream, is_paused=True)
        with pytest.raises(PermissionDeniedError):
            stream_remove(person, stream)
    stream_remove(admin, stream)
    with pytest.raises(StreamNotFoundError):
        stream_access(admin, stream.pk)
    told = [
        entry.changes["what"] for entry in Entry.objects.filter(kind="stream_change").order_by("seq") if entry.changes
    ]
    assert told == ["stream added", "stream removed"]


def test_two_workers_do_not_send_one_stream(add: Add, web: HttpServer) -> None:
    stream = add("http", web)
    Stream.objects.filter(pk=stream.pk).update(worker=new_id(), touched_at=later(3600))
    assert send(stream) == 0 and streams_due(later(3600)) == []
    assert send(stream, 7200) == 1

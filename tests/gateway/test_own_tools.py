"""The firewall's own tools that sources configure, from the source to the record of a call."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.models import Entry
from apps.firewall.tools.browser.machine import machine_problem
from apps.gateway.wiring import browser_slots
from apps.policies.services.records import permission_grant_create
from apps.registry import services
from apps.registry.models import Tool
from tests.database import APPLICATION
from tests.gateway.conftest import call
from tests.gateway.server import Server
from tests.gateway.test_calls import workspace
from tests.gateway.test_db_query import address
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 (a fixture)
from tests.gateway.test_remote_tools import offered

OPEN = """{
    "tools": {"exec": {"security": "full", "ask": "off"}},
    "agents": {"entries": {"bot": {"tools": {"alsoAllow": ["files", "shell", "web", "mail", "data"]}}}},
}"""
CLOSED = '{"agents": {"entries": {"bot": {}}}}'


@pytest.fixture
def bot(publishing: Server, token: Callable[..., Any]) -> Iterator[httpx.Client]:  # noqa: F811
    with publishing.client(token("calls_make", "decisions_ask")[1]) as client:
        yield client


def look(environment: Any, key: str, kind: str, **settings: Any) -> Any:
    source = services.source_create(environment, key=key, kind=kind, settings=settings)
    return services.source_look(source)


def test_a_source_brings_tools_that_are_offered_where_a_list_names_them(environment: Any, bot: httpx.Client) -> None:
    run = look(environment, "files", "own_files")
    assert (run.state, run.added, run.broken) == ("completed", 3, 0)

    published(environment, CLOSED)
    assert not offered(bot, "fs_read")
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "fs_read"))


def test_files_of_workspace_and_open_folders(
    environment: Any, bot: httpx.Client, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/a.txt").write_text("shared\n")
    look(environment, "files", "own_files", read_folders=[str(tmp_path / "shared")])
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "fs_write"))

    call(bot, "fs_write", {"path": "a.txt", "content": "one\n"})
    call(bot, "fs_write", {"path": "a.txt", "content": "two\n", "mode": "append"})
    read = call(bot, "fs_read", {"path": str(tmp_path / "shared/a.txt")}).json()
    listed = call(bot, "fs_list", {}).json()
    refused = call(bot, "fs_write", {"path": str(tmp_path / "shared/a.txt"), "content": ""}).json()

    assert (workspace(settings) / "a.txt").read_text() == "one\ntwo\n"
    assert read["result"]["content"] == "shared\n"
    assert [entry["path"] for entry in listed["result"]["entries"]] == ["a.txt"]
    assert refused["error"]["code"] == "folder_read_only"


def test_a_folder_around_the_keys_is_a_tool_that_is_not_ready_and_says_so(environment: Any, settings: Any) -> None:
    run = look(environment, "files", "own_files", read_folders=[str(Path(settings.VAR_DIR).parent)])

    assert (run.added, run.broken) == (0, 3)
    tool = Tool.objects.get(environment=environment, name="fs_read")
    assert tool.state == "registered"
    assert "lies in or around the folders of this installation" in tool.state_reason


def test_a_command_is_judged_as_exec_is_and_held_to_the_lists(environment: Any, bot: httpx.Client) -> None:
    look(environment, "shell", "own_shell", commands=["echo", "touch"], deny_patterns=["secret"])
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "shell_execute"))

    ran = call(bot, "shell_execute", {"command": "echo hello"}).json()
    refused = call(bot, "shell_execute", {"command": "ls"}).json()
    denied = call(bot, "shell_execute", {"command": "touch secret"}).json()

    assert ran["result"]["stdout"] == "hello\n"
    assert (refused["status"], refused["error"]["code"]) == ("denied", "command_not_listed")
    assert denied["error"]["code"] == "command_denied"
    layers = Entry.objects.filter(kind="denial", tool="shell_execute").values_list("decision_layer", flat=True)
    assert set(layers) == {"command_lists"}


def test_a_pattern_that_cannot_be_used_is_a_finding(environment: Any) -> None:
    run = look(environment, "shell", "own_shell", deny_patterns=["(a+)+"])

    (finding,) = run.findings
    assert (finding["outcome"], finding["code"]) == ("broken", "pattern_refused")


def test_a_web_request_goes_where_the_source_allows_it_and_at_once_no_more(
    environment: Any,
    bot: httpx.Client,
    publishing: Server,  # noqa: F811
) -> None:
    port = httpx.URL(publishing.url).port
    look(environment, "web", "own_http", allow_networks=["127.0.0.0/8"], ports=[port])
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "http_request"))
    url = f"http://127.0.0.1:{port}/api/v1/nothing"

    answered = call(bot, "http_request", {"url": url, "headers": {"Authorization": "Bearer hush-hush"}}).json()
    source = Tool.objects.get(name="http_request").discovery_source
    assert source is not None
    services.source_save(source, settings={"ports": [port]})
    refused = call(bot, "http_request", {"url": url}).json()

    assert answered["result"]["status"] in {401, 404}
    assert refused["error"]["code"] == "address_refused"
    assert "hush-hush" not in str(list(Entry.objects.filter(tool="http_request").values()))


def told(body: dict[str, Any]) -> tuple[str, str]:
    return body["status"], (body["error"] or {}).get("code", "")


@pytest.mark.slow
def test_calls_need_grants_for_what_they_touch_where_the_source_says_so(
    environment: Any,
    admin: Any,
    bot: httpx.Client,
    publishing: Server,  # noqa: F811
) -> None:
    port = httpx.URL(publishing.url).port
    look(environment, "files", "own_files", permissions=True)
    look(environment, "web", "own_http", allow_networks=["127.0.0.0/8"], ports=[port], permissions=True)
    look(
        environment,
        "data",
        "own_databases",
        databases={"main": address(APPLICATION)},
        permissions=True,
        allow_networks=["127.0.0.0/8"],
    )
    look(environment, "shell", "own_shell")
    grants: dict[str, dict[str, list[str]]] = {
        "fs:*": {"path": ["notes/**"]},
        "http:request": {"domain": ["127.0.0.1"]},
        "db:read": {"database": ["main"]},
    }
    for number, (permission, resources) in enumerate(grants.items()):
        permission_grant_create(
            environment, f"grant {number}", by=admin, permissions=[permission], agent="bot", resources=resources
        )
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "db_query"))

    written = call(bot, "fs_write", {"path": "notes/a.txt", "content": "x"}).json()
    elsewhere = call(bot, "fs_write", {"path": "other.txt", "content": "x"}).json()
    listed = call(bot, "fs_list", {}).json()
    asked = call(bot, "http_request", {"url": f"http://127.0.0.1:{port}/api/v1/nothing"}).json()
    abroad = call(bot, "http_request", {"url": f"http://127.0.0.2:{port}/api/v1/nothing"}).json()
    queried = call(bot, "db_query", {"query": "SELECT 1"}).json()
    ran = call(bot, "shell_execute", {"command": "echo free"}).json()

    assert [told(each) for each in (written, asked, queried, ran)] == [("completed", "")] * 4
    assert [told(each) for each in (elsewhere, listed, abroad)] == [("denied", "permission_missing")] * 3
    assert "not for the domain `127.0.0.2`" in abroad["error"]["message"]


def test_a_mail_is_shown_and_one_to_a_stranger_is_not_sent(environment: Any, bot: httpx.Client) -> None:
    settings = {"host": "127.0.0.1", "sender": "bot@example.com", "recipients": ["*@example.com"], "dry_run": True}
    settings["allow_networks"] = ["127.0.0.1/32"]
    look(environment, "mail", "own_email", **settings)
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "email_send"))

    shown = call(bot, "email_send", {"to": ["a@example.com"], "subject": "Hi", "body": "x"}).json()
    refused = call(bot, "email_send", {"to": ["a@example.net"], "subject": "Hi", "body": "x"}).json()

    assert "To: a@example.com" in shown["result"]["message"]
    assert refused["error"]["code"] == "recipient_refused"


def test_a_database_is_asked_with_the_secret_of_its_source(environment: Any, bot: httpx.Client) -> None:
    source = services.source_create(
        environment,
        key="data",
        kind="own_databases",
        settings={"databases": {"main": address(APPLICATION)}, "allow_networks": ["127.0.0.0/8"]},
    )
    services.source_look(source)
    published(environment, OPEN)
    assert eventually(lambda: offered(bot, "db_query"))

    answered = call(bot, "db_query", {"query": "SELECT slug FROM registry_environment"}).json()

    assert answered["result"]["rows"] == [["production"]]
    assert source.settings["databases"] == {"main": {"$secret": "databases.main"}}


@pytest.mark.skipif(bool(machine_problem()), reason=machine_problem() or "a browser")
@pytest.mark.slow
def test_a_page_is_opened_where_the_source_allows_it_and_shown_as_text_and_picture(
    environment: Any,
    bot: httpx.Client,
    publishing: Server,  # noqa: F811
) -> None:
    port = httpx.URL(publishing.url).port
    run = look(environment, "pages", "own_browser", allow_networks=["127.0.0.0/8"], ports=[port])
    assert (run.state, run.added, run.broken) == ("completed", 2, 0)
    published(environment, OPEN.replace('"web"', '"pages"'))
    assert eventually(lambda: offered(bot, "browser_navigate"))
    url = f"http://127.0.0.1:{port}/api/v1/nothing"

    read = call(bot, "browser_navigate", {"url": url}).json()
    shown = call(bot, "browser_screenshot", {"url": url}).json()
    refused = call(bot, "browser_navigate", {"url": "file:///etc/passwd"}).json()
    with browser_slots().taken("production"), browser_slots().taken("production"):
        full = call(bot, "browser_navigate", {"url": url}).json()

    assert (read["result"]["status"] in {401, 404}, read["result"]["url"]) == (True, url)
    assert [block["type"] for block in shown["result"]["content"]] == ["text", "image"]
    assert shown["metadata"]["media"]
    assert refused["error"]["code"] == "url_refused"
    assert (full["status"], full["error"]["code"]) == ("failed", "too_many_browsers")

"""Hooks on a running server: real plugins in their processes, a real server behind a webhook, calls that meet them."""

import hashlib
import hmac
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.audit.models import Entry
from apps.audit.selectors import call_record
from apps.firewall.identifiers import read_id
from apps.firewall.tools.answer_signing import SignedAnswer, answer_text
from apps.firewall.tools.signing import Signing
from apps.gateway.lifecycle import gateway
from apps.registry.errors import HookInvalidError
from apps.registry.models import Environment, Hook, HookFailure, HookTally, Plugin
from apps.registry.services import hook_create, hook_policy_save, hook_save, plugin_save
from tests.firewall.runtime.hook_runners.packages import installed
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.hooking import Hooking, echo, known, live
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import eventually

PACKAGE = Path(__file__).parents[2] / "docs" / "examples" / "hooks" / "package"
KEY = "a-key-that-both-sides-know"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def plugin(environment: Environment) -> Plugin:
    return plugin_save(environment, key="acme")


@pytest.fixture
def add(plugin: Plugin, server: Server, tmp_path: Path) -> Hooking:
    return Hooking(plugin, tmp_path)


def failures(hook: Hook) -> list[tuple[str, str]]:
    return list(HookFailure.objects.filter(hook=hook).order_by("at").values_list("kind", "tool"))


def test_a_plugin_blocks_rewrites_and_lets_pass(add: Hooking, agent: httpx.Client, server: Server) -> None:
    hook = add()

    plain, other, blocked = [echo(agent, word) for word in ("plain", "other", "block")]

    assert "plain" in json.dumps(plain["result"])
    assert "another" in json.dumps(other["result"])
    assert (blocked["status"], blocked["error"]["code"]) == ("denied", "hook_blocked")
    record = call_record(read_id("call", other["id"]))
    assert record is not None
    change = {"plugin": "acme", "member": "command", "kind": "changed", "before": "echo other", "after": "echo another"}
    assert record.changes["hooks"] == [change]
    server.run(gateway().hooks.flush())
    tally = HookTally.objects.get(hook=hook)
    assert (tally.passed, tally.rewrote, tally.blocked, tally.failed) == (1, 1, 1, 0)


CONFIGURED = """
def before_tool_call(event):
    config = event["config"]
    if event["params"]["command"] == "echo " + config["word"]:
        return {"block": True, "blockReason": config["reason"] if config["token"] == "made-up-token" else "no token"}
"""


def test_a_plugin_goes_by_the_config_of_its_record_as_it_is_now(
    add: Hooking, agent: httpx.Client, tmp_path: Path
) -> None:
    place = installed(tmp_path / "hook", CONFIGURED)
    config = {"word": "first", "reason": "as set", "token": "made-up-token"}
    settings = {"entry_point": place.entry_point, "scan_directories": list(place.folders), "config": config}
    hook = add(CONFIGURED, settings=settings)
    refused, passed = echo(agent, "first"), echo(agent, "second")

    hook.refresh_from_db()
    hook_save(hook, settings={**hook.settings, "config": {**hook.settings["config"], "word": "second"}})

    assert (refused["error"]["message"], passed["status"]) == ("as set", "completed")
    assert eventually(lambda: echo(agent, "second")["status"] == "denied")
    assert echo(agent, "first")["status"] == "completed"
    assert "made-up-token" not in str(list(Hook.objects.values("settings")))


@pytest.mark.slow
def test_every_failure_of_a_before_hook_stops_the_call_and_is_kept(add: Hooking, agent: httpx.Client) -> None:
    hook = add(timeout_ms=3000)
    kinds = {"raise": "raised", "wrong": "wrong_answer", "huge": "huge_answer", "end": "ended", "hang": "hung"}

    answers = {word: echo(agent, word) for word in kinds}
    after = echo(agent, "plain")

    assert {(each["status"], each["error"]["code"]) for each in answers.values()} == {("denied", "hook_failed")}
    assert failures(hook) == [(kind, "exec") for kind in kinds.values()]
    assert "ghp_" not in " ".join(HookFailure.objects.values_list("said", flat=True))
    assert after["status"] == "completed"
    assert Entry.objects.filter(kind="denial", decision_layer="hooks").count() == len(kinds)


def test_each_environment_says_whether_a_failing_hook_of_the_older_release_stops_calls(
    add: Hooking, agent: httpx.Client, environment: Environment, server: Server, holder: Holder
) -> None:
    holder.snapshot = snapshot_with(dialect="2026.2")
    add()
    server.run(gateway().snapshots.reload())
    assert eventually(lambda: echo(agent, "raise")["error"]["code"] == "hook_failed")

    hook_policy_save(environment, is_strict=False)

    assert eventually(lambda: echo(agent, "raise")["status"] == "completed")
    hook_policy_save(environment, is_strict=True)
    assert eventually(lambda: echo(agent, "raise")["status"] == "denied")


@pytest.mark.slow
def test_failures_of_after_hooks_change_nothing_and_hold_up_nobody(add: Hooking, agent: httpx.Client) -> None:
    hanging = add(name="hanging", event="after_tool_call", timeout_ms=3000)
    seeing = add(
        "def after_tool_call(event): raise KeyError(event['toolName'])", name="seeing", event="after_tool_call"
    )

    answers = [echo(agent, word) for word in ("raise", "hang")]

    assert [each["status"] for each in answers] == ["completed", "completed"]
    assert eventually(lambda: len(failures(seeing)) == 2)
    assert eventually(lambda: {kind for kind, _ in failures(hanging)} == {"raised", "hung"})


def test_a_hook_that_is_switched_off_is_asked_no_more(add: Hooking, agent: httpx.Client) -> None:
    hook = add()
    assert echo(agent, "block")["status"] == "denied"

    hook_save(hook, is_enabled=False)

    assert eventually(lambda: hook.pk not in live())
    assert echo(agent, "block")["status"] == "completed"


def test_a_hook_hears_only_of_the_tools_that_it_names(add: Hooking, agent: httpx.Client) -> None:
    add(tools=["read"])

    assert echo(agent, "block")["status"] == "completed"


@pytest.mark.unhurried
@pytest.mark.slow
def test_the_package_of_the_documentation_does_what_it_says(
    add: Hooking, plugin: Plugin, agent: httpx.Client, tmp_path: Path, operator: Any
) -> None:
    packages, package = tmp_path / "packages", tmp_path / "package"
    subprocess.run(["cp", "-r", str(PACKAGE), str(package)], check=True)
    install = ["install", "-q", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(packages)]
    subprocess.run([sys.executable, "-m", "pip", *install, str(package)], check=True, capture_output=True, timeout=120)
    settings = {"entry_point": "openclaw-hook-gate:gate", "scan_directories": [str(packages)]}
    for event in ("before_tool_call", "after_tool_call"):
        name = event.partition("_")[0]
        known(hook_create(plugin, name=name, event=event, kind="python_hook", settings=settings))

    hidden = call(agent, "read", {"path": "notes/.env"}).json()
    asked = call(agent, "write", {"path": "notes.txt", "content": "hello"}).json()
    approval = Approval.objects.get()

    assert hidden["error"] == {"code": "hook_blocked", "message": "`notes/.env` is not for agents", "details": []}
    assert asked["status"] == "awaiting_approval"
    assert (approval.kind, approval.title, approval.reason_layer) == ("tool", "Write notes.txt", "hooks")
    assert (approval.decisions, approval.reason_rule) == (["allow-once", "deny"], "acme")
    assert 290 < (approval.expires_at - approval.requested_at).total_seconds() <= 300

    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())
    assert eventually(lambda: agent.get(f"/api/v1/calls/{asked['id']}").json()["status"] == "completed")
    read = call(agent, "read", {"path": "notes.txt"}).json()
    assert "hello" in json.dumps(read["result"])
    record = call_record(read_id("call", read["id"]))
    assert record is not None
    assert record.changes["hooks"][0] | {"plugin": ""} == {
        "plugin": "",
        "member": "limit",
        "kind": "added",
        "after": 200,
    }
    assert not HookFailure.objects.exists()


class Answering(BaseHTTPRequestHandler):
    """Answers as the path says: `/block`, `/unsigned`, `/slow`, `/huge`, else lets the call pass."""

    released = threading.Event()
    traces: ClassVar[list[tuple[str, str]]] = []

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"]))
        self.traces.append((self.path, self.headers["traceparent"]))
        body = {"/block": b'{"block": true}', "/huge": b'"' + b"x" * 2_000_000 + b'"'}.get(self.path, b"{}")
        if self.path == "/slow":
            self.released.wait(30)
        signed = SignedAnswer(
            call_id=self.headers["OpenClaw-Call-Id"],
            timestamp=self.headers["OpenClaw-Timestamp"],
            status=200,
            request=request,
            answer=body,
        )
        text = answer_text(Signing(algorithm="hmac-sha256", key=KEY), signed)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.path != "/unsigned":
            self.send_header(
                "OpenClaw-Signature", f"hmac-sha256={hmac.digest(KEY.encode(), text, hashlib.sha256).hex()}"
            )
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def hook_server() -> Iterator[str]:
    Answering.released.clear()
    Answering.traces.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        Answering.released.set()
        server.shutdown()
        server.server_close()


def webhook(url: str, **changes: Any) -> dict[str, Any]:
    signing = {"algorithm": "hmac-sha256", "key": KEY}
    settings = {"url": url, "signing": signing, "allow_networks": ["127.0.0.0/8"]} | changes
    return {"kind": "webhook", "settings": settings}


@pytest.mark.parametrize(
    ("path", "code", "kind"),
    [
        ("/block", "hook_blocked", ""),
        ("/unsigned", "hook_failed", "bad_signature"),
        ("/huge", "hook_failed", "huge_answer"),
        ("/slow", "hook_failed", "slow"),
    ],
)
def test_a_webhook_decides_only_with_a_whole_signed_answer_in_time(
    add: Hooking, agent: httpx.Client, path: str, code: str, kind: str
) -> None:
    with hook_server() as url:
        hook = add(timeout_ms=2000, **webhook(url + path))
        answer = echo(agent, "plain")

    assert (answer["status"], answer["error"]["code"]) == ("denied", code)
    assert [each for each, _ in failures(hook)] == ([kind] if kind else [])


def test_the_trace_of_a_call_goes_on_to_webhooks_before_and_after_it(add: Hooking, agent: httpx.Client) -> None:
    agent.headers["traceparent"] = f"00-{TRACE}-{'1' * 16}-01"
    with hook_server() as url:
        add(**webhook(url + "/before"))
        add(name="after", event="after_tool_call", **webhook(url + "/after"))
        assert echo(agent, "plain")["status"] == "completed"
        assert eventually(lambda: len(Answering.traces) == 2)

    assert [path for path, _ in Answering.traces] == ["/before", "/after"]
    assert all(re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", parent) for _, parent in Answering.traces)


def test_a_webhook_that_says_nothing_against_it_lets_a_call_pass(add: Hooking, agent: httpx.Client) -> None:
    with hook_server() as url:
        add(**webhook(url + "/"))
        assert echo(agent, "plain")["status"] == "completed"


def test_a_webhook_may_not_lead_into_a_private_network(add: Hooking, agent: httpx.Client) -> None:
    with hook_server() as url, pytest.raises(HookInvalidError) as refused:
        add(**webhook(url + "/", allow_networks=[]))
    assert [(each["path"], each["code"]) for each in refused.value.details] == [("settings.url", "address_refused")]

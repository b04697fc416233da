"""One trace, three doors: page, API and command line name the same layer and the same rule."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.console.situations import Situation
from apps.firewall.engine.__main__ import main
from apps.policies.selectors import live_snapshot

ClientOf = Callable[..., Client]
CASES = [
    ({"agent": "ops-runner"}, "browser"),
    ({"agent": "ops-runner"}, "exec"),
    ({"agent": "main"}, "x_search"),
    ({"agent": "main"}, "gateway"),
    ({"agent": "ops-runner", "model": "openai/gpt-5"}, "web_fetch"),
    ({"agent": "ops-runner", "channel": "telegram", "group": "-100"}, "exec"),
    ({"agent": "main", "depth": "5"}, "sessions_spawn"),
    ({"agent": "main", "sandbox": "on"}, "message"),
]


def traced(browser: Client, asked: dict[str, str], tool: str) -> Any:
    return browser.get("/explorer/", asked | {"tool": tool}).context["traces"][0]


@pytest.mark.parametrize(("asked", "tool"), CASES)
def test_the_page_says_what_the_api_says(
    asked: dict[str, str], tool: str, client_of: ClientOf, published: Any, viewer: Any, token: Callable[..., Any]
) -> None:
    trace = traced(client_of(viewer), asked, tool)
    secret = token("explain")[1]
    body = {"context": Situation.read(asked).context().to_json(), "tool": tool}
    answer = Client().post(
        "/api/v1/explain",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    said = answer.json()
    assert said["decision"] == json.loads(json.dumps(trace.decision._asdict()))
    assert said["steps"] == [asdict(each.step) for each in trace.steps]


@pytest.mark.parametrize(("asked", "tool"), CASES)
def test_the_page_says_what_the_command_line_says(
    asked: dict[str, str],
    tool: str,
    client_of: ClientOf,
    published: Any,
    viewer: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trace = traced(client_of(viewer), asked, tool)
    snapshot = live_snapshot(published)
    assert snapshot is not None
    path = tmp_path / "snapshot.json"
    path.write_bytes(snapshot.to_bytes())
    arguments = ["explain", str(path), "--tool", tool, "--agent", asked["agent"]]
    if "model" in asked:
        provider, _slash, model = asked["model"].partition("/")
        arguments += ["--provider", provider, "--model", model]
    for name in ("channel", "group", "depth"):
        arguments += [f"--{name}={asked[name]}"] if name in asked else []
    arguments += ["--sandbox"] if "sandbox" in asked else []
    assert main(arguments) == (0 if trace.decision.allowed else 1)
    said = capsys.readouterr().out
    if not trace.decision.allowed:
        assert f"layer: {trace.decision.layer} ({trace.decision.label})" in said
        assert f"rule: {trace.decision.rule}" in said
    for each in trace.steps:
        if each.step.applied:
            assert f"{each.step.number:>2}  {each.step.label}" in said


def test_the_page_marks_the_layer_that_decides(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    asked = {"agent": "ops-runner", "channel": "telegram", "group": "-100", "tool": "exec"}
    answer = browser.get("/explorer/", asked)
    trace = answer.context["traces"][0]
    assert trace.decider is not None
    assert (trace.decider.step.key, trace.decision.rule) == ("group", "channels.telegram.groups.-100.tools.deny exec")
    text = answer.content.decode()
    assert text.count("denies, decides") == 1
    assert "channels.telegram.groups.-100.tools.deny exec" in text


def test_a_step_leads_to_the_record_that_decides(client_of: ClientOf, published: Any, viewer: Any) -> None:
    trace = traced(client_of(viewer), {"agent": "main"}, "gateway")
    links = {each.step.key: each.url for each in trace.steps}
    assert links["agent"] == "/agents/main/"
    assert links["profile"] == "/agents/main/"
    assert links["provider_profile"] == ""


def test_it_says_how_the_context_was_read(client_of: ClientOf, published: Any, viewer: Any) -> None:
    asked = {"agent": "ops-runner", "channel": "telegram", "group": "-100", "sender": "1001"}
    facts = {name: value for name, value, _odd in traced(client_of(viewer), asked, "exec").facts}
    assert facts["Agent"] == "ops-runner"
    assert facts["Group"] == "-100"
    assert facts["Group rule"] == "channels.telegram.groups.-100.tools"
    assert facts["Owner"] == "yes"


def test_a_tool_that_does_not_exist_is_said_so(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).get("/explorer/", {"agent": "main", "tool": "nonsense"})
    assert answer.status_code == 200
    assert "There is no tool named nonsense" in answer.content.decode()

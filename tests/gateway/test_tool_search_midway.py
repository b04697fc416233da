"""What changes between a search and a call, or while code runs: nothing goes on that may not, all is on record."""

# ruff: noqa: F811 - fixtures are imported
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve, approval_supersede, approvals_expire
from apps.audit.models import Entry
from apps.audit.selectors import call_record
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.source import AgentSource
from apps.firewall.identifiers import read_id
from apps.firewall.runtime.code_mode.pool import CodePool
from apps.firewall.sandbox.levels import Offer, Part
from apps.firewall.tools.definition import Definition
from apps.gateway.lifecycle import gateway
from apps.halts.services import halt_place
from apps.limits import services as limits
from apps.registry import services as registry
from apps.registry.models import Environment, Tool
from apps.runs.models import RunCall, RunSearch
from apps.sessions.models import Session
from apps.sessions.services import session_end
from tests import database
from tests.gateway.conftest import leaves
from tests.gateway.hooking import Hooking
from tests.gateway.searching import (
    VAULT,
    VAULT_ID,
    WORDS,
    Live,
    Run,
    code_of,
    holder,  # noqa: F401 (a fixture)
    intents,
    layers,
    live,  # noqa: F401 (a fixture)
    needs_node,
)
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds, nobody_may_write_entries, sleeping, workspace
from tests.gateway.test_decisions import eventually
from tests.gateway.test_kill_switch import heard

KEPT = ", ".join(model._meta.db_table for model in (RunSearch, RunCall))
MAIN = "agent:bot:main"
ASK = {"name": "ask_user", "description": "Ask.", "parameters": {"type": "object", "properties": {}}}
CODE_MODE = {"mode": "code", "codeTimeoutMs": 60_000}
SLEEP = {"agents": {"*": {"allowlist": [{"pattern": "/**/sleep"}]}}}
CLOSED = [AgentSource("bot", policy=Policy(deny=(VAULT,))), AgentSource("clerk")]
TRY = """
const said = [];
const attempt = async (does, ...given) => {
    try { said.push(JSON.stringify(await openclaw.tools[does](...given))); }
    catch (error) { said.push(error.code); }
};
"""
needs_two_roles = pytest.mark.skipif(not database.HAS_TWO_ROLES, reason="needs a role of its own for the application")


def alike(direct: httpx.Response, called: httpx.Response) -> bool:
    """Say whether two refusals use the same words."""
    one, other = direct.json(), called.json()
    names = ("status", "error", "decision", "code", "message", "details")
    return direct.status_code == called.status_code and [one.get(x) for x in names] == [other.get(x) for x in names]


@pytest.mark.parametrize("state", ["disabled", "quarantined", "unregistered", "plugin disabled"])
def test_what_is_withdrawn_after_the_search_is_refused_by_that_name(
    agent: httpx.Client, server: Server, environment: Environment, state: str
) -> None:
    plugin = registry.plugin_save(environment, key="vault")
    registry.tools_import(environment, [Definition(name=VAULT)], source="plugin", plugin=plugin)
    run = Run(agent)
    assert run.search(WORDS).json()["result"]["candidates"][0]["id"] == VAULT_ID
    if state == "plugin disabled":
        registry.plugin_set_enabled(plugin, is_enabled=False)
    else:
        registry.tool_set_state(Tool.objects.get(environment=environment, name=VAULT), state=state)
    code = f"tool_{state}" if state != "plugin disabled" else "plugin_disabled"
    assert eventually(lambda: code_of(run.direct(VAULT)) == code)
    before, ran = len(layers()), intents()

    called, by_id = run.call(VAULT), run.call(VAULT_ID)
    read = run.model_reads(("tool_call", {"id": VAULT_ID}), (VAULT, {"name": "x"}))

    assert alike(run.direct(VAULT), called) and alike(called, by_id)
    assert [each["error"] for each in read] == [code] * 2
    assert run.describe(VAULT).json()["error"]["code"] == "tool_unknown"
    assert VAULT not in run.search(WORDS).text + json.dumps(run.offered())
    assert intents() == ran
    assert layers()[before:] == ["tool_state"] * 5


@pytest.mark.parametrize(
    ("change", "layer"),
    [({"tools": []}, "unknown_tool"), ({"agents": CLOSED}, "agent")],
    ids=["published without it", "denied"],
)
def test_what_another_publication_takes_away_after_the_search_is_not_there(
    agent: httpx.Client, live: Live, change: dict[str, Any], layer: str
) -> None:
    run = Run(agent)
    assert run.search(WORDS).json()["result"]["candidates"][0]["id"] == VAULT_ID

    live(**change)
    called = run.call(VAULT)

    assert alike(run.direct(VAULT), called) and called.status_code == 404
    assert run.call(VAULT_ID).status_code == 404
    assert VAULT not in run.search(WORDS).text
    assert (intents(), set(layers())) == (0, {layer})


def test_without_a_publication_nothing_is_searched_or_called(
    agent: httpx.Client, server: Server, holder: Holder
) -> None:
    run = Run(agent)
    holder.snapshot = None
    server.run(gateway().snapshots.reload())

    refused = [run.search(WORDS), run.describe(VAULT), run.call(VAULT), run.code("return 1")]
    (read,) = run.model_reads(("tool_call", {"id": VAULT}))

    assert {(each.status_code, code_of(each)) for each in refused} == {(409, "tool_search_off")}
    assert read["error"] == "no_publication"
    assert intents() == 0


def test_what_cannot_be_described_is_not_offered_and_keeps_nothing_else_from_it(
    agent: httpx.Client, live: Live, folder: str
) -> None:
    from apps.firewall.engine.source import ToolEntry
    from tests.gateway.searching import vault

    broken = ToolEntry("broken_tool", plugin="x", source="plugin", params={"type": 5}, traits={"timeout_ms": "soon"})
    live(tools=[vault(folder), broken])
    run = Run(agent)

    assert "broken_tool" not in json.dumps(run.begun["request"]) + run.search("broken_tool").text
    assert run.call("broken_tool").status_code != 200 or code_of(run.call("broken_tool"))
    assert run.call(VAULT).json()["status"] == "completed"
    assert intents("broken_tool") == 0


# --- a person is asked ---


def denied_by(person: Any) -> None:
    approval_resolve(Approval.objects.get(), decision="deny", by=person, at=timezone.now())


def out_of_time(_: Any) -> None:
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    approvals_expire(timezone.now())


def superseded(_: Any) -> None:
    approval_supersede(Approval.objects.get(), reason="the policy moved on", at=timezone.now())


ANSWERS: dict[str, Callable[[Any], None]] = {
    "denied": denied_by,
    "expired": out_of_time,
    "superseded": superseded,
}
TOUCH = {"command": "touch made"}


@pytest.mark.parametrize("how", ANSWERS)
def test_a_call_that_nobody_allows_does_not_run(agent: httpx.Client, operator: Any, settings: Any, how: str) -> None:
    run = Run(agent)
    asked = run.call("exec", TOUCH, wait_ms=0).json()
    assert eventually(Approval.objects.exists)

    ANSWERS[how](operator)
    ended = agent.get(f"/api/v1/calls/{asked['id']}?wait=30000").json()

    assert (ended["status"], ended["error"]["code"]) == ("denied", f"approval_{how}")
    assert intents("exec") == 0 and not (workspace(settings) / "made").exists()
    assert run.told()["calls"][0]["status"] == how


def test_a_call_that_is_allowed_after_its_tool_was_taken_away_does_not_run(
    agent: httpx.Client, live: Live, operator: Any, settings: Any
) -> None:
    run = Run(agent)
    asked = run.call("exec", TOUCH, wait_ms=0).json()
    assert eventually(Approval.objects.exists)

    live(agents=[AgentSource("bot", policy=Policy(deny=("exec",))), AgentSource("clerk")])
    approval_resolve(Approval.objects.get(), decision="allow-once", by=operator, at=timezone.now())
    ended = agent.get(f"/api/v1/calls/{asked['id']}?wait=30000")

    assert (ended.status_code, code_of(ended)) == (404, "tool_not_found")
    assert intents("exec") == 0 and not (workspace(settings) / "made").exists()


# --- stops, limits, sessions, hooks, the ledger ---


@pytest.mark.parametrize(
    ("scope", "name", "stops_search"),
    [("agent", "bot", True), ("environment", "", True), ("tool", VAULT, False), ("tool", "tool_search", True)],
)
def test_what_is_stopped_is_refused_through_search_as_by_itself(
    agent: httpx.Client, server: Server, environment: Environment, scope: str, name: str, stops_search: bool
) -> None:
    run = Run(agent)
    halt_place(environment, scope=scope, name=name, unknown=True, reason="it takes gold", at=timezone.now())
    assert eventually(heard)

    searched, called, direct = run.search(WORDS), run.call(VAULT), run.direct(VAULT)

    assert alike(direct, called)
    assert (code_of(searched) == "stopped") == stops_search
    if stops_search:
        assert VAULT not in searched.text and not RunSearch.objects.exists()
    if name != "tool_search":
        assert code_of(called) == "stopped" and intents() == 0 and set(layers()) == {"kill_switch"}


def test_a_rate_counts_calls_through_search_and_searches(agent: httpx.Client, environment: Environment) -> None:
    run = Run(agent)
    limits.rate_limit_create(environment, name="calm", per_minute=1, per="agent", tools=["vault_*", "tool_search"])
    assert eventually(lambda: code_of(run.direct(VAULT)) == "rate_limited")
    ran = intents()

    called, searched = run.call(VAULT), run.search(WORDS)

    assert code_of(called) == code_of(searched) == "rate_limited"
    assert VAULT not in searched.text and intents() == ran
    assert set(layers()) == {"limits"}


def test_an_ended_session_takes_no_search_and_no_call(agent: httpx.Client, admin: Any) -> None:
    run = Run(agent, session=MAIN)
    run.search(WORDS)
    session_end(Session.objects.get(), by=admin, at=timezone.now(), reason="enough")

    refused = [run.search(WORDS), run.describe(VAULT), run.call(VAULT), run.direct(VAULT)]

    assert {code_of(each) for each in refused} == {"session_ended"}
    assert alike(refused[3], refused[2])
    assert run.told()["counts"]["search"] == 1 and intents() == 0


HOOK = """
def before_tool_call(event):
    if event["toolName"] in %s: return {"block": True, "blockReason": "not today"}
"""


def test_hooks_block_the_control_and_the_call_behind_it(
    agent: httpx.Client, server: Server, environment: Environment, tmp_path: Path
) -> None:
    add = Hooking(registry.plugin_save(environment, key="acme"), tmp_path)
    run = Run(agent)
    add(HOOK % '("tool_describe", "vault_open")')

    described, called, direct, searched = run.describe(VAULT), run.call(VAULT), run.direct(VAULT), run.search(WORDS)

    assert code_of(described) == code_of(called) == "hook_blocked"
    assert alike(direct, called) and "not today" in called.text
    assert VAULT_ID in searched.text and "parameters" not in described.text
    assert intents() == intents("tool_describe") == 0 and run.told()["described"] == []


@needs_two_roles
def test_nothing_is_searched_or_called_that_the_ledger_does_not_take(agent: httpx.Client, live: Live) -> None:
    live(search=CODE_MODE)
    run = Run(agent)
    with nobody_may_write_entries():
        refused = [run.search(WORDS), run.describe(VAULT), run.call(VAULT), run.code("return 1")]

    assert {(each.status_code, code_of(each)) for each in refused} == {(503, "audit_unavailable")}
    assert run.told()["counts"] | {"call": 0} == {"search": 0, "describe": 0, "code": 0, "call": 0}
    assert not RunSearch.objects.exists() and intents() == 0


@needs_two_roles
def test_a_search_that_the_run_cannot_keep_gives_nothing(agent: httpx.Client) -> None:
    run = Run(agent)
    role = database.APPLICATION["USER"]
    with database.owner_connection() as owner:
        owner.execute(f"REVOKE INSERT ON {KEPT} FROM {role}")
        try:
            searched, called = run.search(WORDS), run.call(VAULT)
        finally:
            owner.execute(f"GRANT INSERT ON {KEPT} TO {role}")

    assert VAULT not in searched.text and code_of(searched) == "internal_error"
    assert called.status_code == 500 and intents() == 0
    assert run.told()["counts"]["search"] == 0


def test_a_server_that_is_full_begins_no_search_and_no_call(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(agent)
    monkeypatch.setattr(gateway().desk, "_limit", 0)

    refused = [run.search(WORDS), run.call(VAULT)]

    assert {(each.status_code, code_of(each)) for each in refused} == {(503, "too_busy")}
    assert intents() == 0 and run.told()["counts"]["call"] == 0


# --- code ---

NOTHING = Part("bubblewrap", "it is not installed")
NO_ISOLATION = Offer(NOTHING, Part("landlock", "the kernel has none"), Part("seccomp", "the kernel has none"))


def test_without_isolation_code_becomes_tools_and_says_so_also_in_the_middle_of_a_run(
    agent: httpx.Client, server: Server, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(search=CODE_MODE)
    run = Run(agent)
    monkeypatch.setattr(gateway(), "code", CodePool(offered=NO_ISOLATION))

    later = Run(agent)
    answered = run.code("return await openclaw.tools.search('vault')").json()
    (read,) = run.model_reads(("tool_search_code", {"code": "return 1"}))

    for each in (later.begun, run.offered()):
        assert (each["mode"], each["asked_mode"], each["why"]) == ("tools", "code", "no_isolation")
        assert "tool_search_code" not in json.dumps(each["request"])
    assert (answered["status"], code_of_error(answered)) == ("failed", "code_isolation_unavailable")
    assert "cannot be held" in answered["error"]["message"]
    assert read["error"] == "code_isolation_unavailable"
    assert run.told()["counts"]["search"] == 0
    assert run.call(VAULT).json()["status"] == "completed"


def code_of_error(body: dict[str, Any]) -> str:
    return str((body.get("error") or {}).get("code", ""))


def gated(agent: httpx.Client, code: str) -> tuple[Run, str, str]:
    """Begin code that waits for its caller first; the ids of its call and of the one that it waits for."""
    run = Run(agent, tools=[ASK], session=MAIN)
    outer = run.code(f"{TRY} await openclaw.tools.call('ask_user', {{}}); {code}; return said;", wait_ms=0).json()["id"]
    assert eventually(lambda: any(each["name"] == "ask_user" for each in run.told()["calls"]))
    inner = next(each["id"] for each in run.told()["calls"] if each["name"] == "ask_user")
    assert eventually(lambda: agent.get(f"/api/v1/calls/{inner}").json().get("status") == "client_call")
    return run, outer, inner


def let_go(run: Run, outer: str, inner: str) -> dict[str, Any]:
    assert run.tools("outcome", {"call": inner, "result": {}}).status_code == 200
    ended: dict[str, Any] = run.client.get(f"/api/v1/calls/{outer}?wait=30000").json()
    return ended


LOOK = f"""
await attempt("search", {json.dumps(WORDS)}, {{limit: 20}});
await attempt("describe", "{VAULT}"); await attempt("call", "{VAULT}", {{name: "gold"}});
"""


@needs_node
def test_code_hears_of_a_publication_at_its_next_question(agent: httpx.Client, live: Live) -> None:
    live(search=CODE_MODE)
    run, outer, inner = gated(agent, LOOK)

    live(search=CODE_MODE, agents=CLOSED)
    searched, described, called = let_go(run, outer, inner)["result"]["value"]

    assert VAULT not in searched
    assert (described, called) == ("tool_unknown", "tool_not_found")
    assert (intents(), layers()) == (0, ["agent"])


@needs_node
@pytest.mark.parametrize("what", ["the run ended", "the session ended", "the vault stopped"])
def test_what_ends_in_the_middle_of_code_refuses_its_next_call(
    agent: httpx.Client, live: Live, environment: Environment, admin: Any, what: str
) -> None:
    live(search=CODE_MODE)
    run, outer, inner = gated(agent, LOOK)
    if what == "the run ended":
        run.end()
    elif what == "the session ended":
        session_end(Session.objects.get(), by=admin, at=timezone.now())
    else:
        halt_place(environment, scope="tool", name=VAULT, unknown=True, reason="it takes gold", at=timezone.now())
        assert eventually(heard)

    *_, called = let_go(run, outer, inner)["result"]["value"]

    code = {"the run ended": "run_ended", "the session ended": "session_ended"}.get(what, "stopped")
    assert (called, intents()) == (code, 0)


def sleeper(agent: httpx.Client, seconds: str, **more: Any) -> tuple[Run, str]:
    """Begin code whose call runs for long."""
    run = Run(agent)
    code = f"return await openclaw.tools.call('exec', {{command: 'sleep {seconds}', timeout: 600}})"
    outer = run.code(code, wait_ms=0, **more).json()["id"]
    return run, outer


def ends_of(run: Run, outer: str) -> list[tuple[str, str, Any]]:
    """Tell how code and its call ended, once both have."""
    inner = [each["id"] for each in run.told()["calls"]]
    assert eventually(lambda: all(len(kinds(each)) == 2 for each in (outer, *inner)))
    records = [call_record(read_id("call", each)) for each in (outer, *inner)]
    return [(each.tool, each.status, (each.error or {}).get("code")) for each in records if each]


@needs_node
def test_a_call_whose_code_is_out_of_time_ends_with_it(agent: httpx.Client, live: Live) -> None:
    for timeout_ms in (2_000, 15_000, 60_000):  # the first in which the code comes to its call
        live(search={"mode": "code", "codeTimeoutMs": timeout_ms}, exec_approvals=SLEEP)
        run, outer = sleeper(agent, "71")
        ended = agent.get(f"/api/v1/calls/{outer}?wait=30000")
        while ended.status_code == 202:
            ended = agent.get(f"/api/v1/calls/{outer}?wait=30000")
        if intents("exec"):
            break

    assert (ended.json()["status"], code_of(ended)) == ("failed", "code_timed_out")
    assert eventually(lambda: not sleeping("71"))
    assert ends_of(run, outer) == [
        ("tool_search_code", "failed", "code_timed_out"),
        ("exec", "cancelled", "code_ended"),
    ]


@needs_node
def test_code_that_is_out_of_time_names_the_approval_that_it_waited_for(agent: httpx.Client, live: Live) -> None:
    for timeout_ms in (2_000, 15_000, 60_000):  # the first in which the code comes to its call
        live(search={"mode": "code", "codeTimeoutMs": timeout_ms}, exec_approvals=SLEEP)
        asks = "return await openclaw.tools.call('exec', {command: 'touch made'})"
        outer = Run(agent).code(asks, wait_ms=0).json()["id"]
        ended = agent.get(f"/api/v1/calls/{outer}?wait=30000")
        while ended.status_code == 202:
            ended = agent.get(f"/api/v1/calls/{outer}?wait=30000")
        if Approval.objects.exists():
            break

    approval = Approval.objects.get()
    assert approval.shown_id in ended.json()["error"]["message"]
    (waited,) = ended.json()["result"]["unansweredApprovals"]
    assert waited == {"tool": "exec", "call": approval.shown_call_id, "approval": approval.shown_id}
    assert eventually(lambda: not Approval.objects.get().is_pending)


def cancels(agent: httpx.Client, environment: Environment, outer: str) -> None:
    assert agent.delete(f"/api/v1/calls/{outer}").json()["status"] == "cancelled"


def stops_the_agent(agent: httpx.Client, environment: Environment, outer: str) -> None:
    halt_place(environment, scope="agent", name="bot", unknown=True, reason="it takes gold", at=timezone.now())


def stops_the_tool(agent: httpx.Client, environment: Environment, outer: str) -> None:
    halt_place(environment, scope="tool", name="exec", unknown=True, reason="it takes gold", at=timezone.now())


ENDS: dict[str, tuple[Any, list[tuple[str, str, Any]]]] = {
    "cancelled": (cancels, [("tool_search_code", "cancelled", "cancelled"), ("exec", "cancelled", "code_ended")]),
    "its agent stopped": (
        stops_the_agent,
        [("tool_search_code", "cancelled", "stopped"), ("exec", "cancelled", "stopped")],
    ),
    "its tool stopped": (
        stops_the_tool,
        [("tool_search_code", "failed", "code_threw"), ("exec", "cancelled", "stopped")],
    ),
}


@needs_node
@pytest.mark.parametrize("how", ENDS)
def test_a_call_of_code_that_is_ended_leaves_nothing_behind(
    agent: httpx.Client, live: Live, environment: Environment, how: str
) -> None:
    live(search=CODE_MODE, exec_approvals=SLEEP)
    run, outer = sleeper(agent, "72")
    assert eventually(lambda: bool(sleeping("72")))

    end, expected = ENDS[how]
    end(agent, environment, outer)

    assert eventually(lambda: not sleeping("72"))
    assert ends_of(run, outer) == expected


@needs_node
def test_code_whose_caller_goes_away_ends_with_its_call(agent: httpx.Client, live: Live) -> None:
    live(search=CODE_MODE, exec_approvals=SLEEP)
    run = Run(agent)
    body = {"code": "return await openclaw.tools.call('exec', {command: 'sleep 73', timeout: 600})"}

    leaves(agent, f"/api/v1/runs/{run.id}/tools/code", body, once=lambda: sleeping("73"))

    assert eventually(lambda: not sleeping("73"))
    ended = Entry.objects.filter(kind="call_outcome").order_by("tool").values_list("tool", "status")
    assert eventually(lambda: list(ended.all()) == [("exec", "cancelled"), ("tool_search_code", "cancelled")])


@needs_node
def test_code_whose_call_nobody_allows_hears_of_it(
    agent: httpx.Client, live: Live, operator: Any, settings: Any
) -> None:
    live(search=CODE_MODE)
    run = Run(agent)
    code = f"{TRY} await attempt('call', 'exec', {json.dumps(TOUCH)}); return said;"
    outer = run.code(code, wait_ms=0).json()["id"]
    assert eventually(Approval.objects.exists)

    denied_by(operator)
    ended = agent.get(f"/api/v1/calls/{outer}?wait=30000").json()

    assert ended["result"]["value"] == ["approval_denied"]
    assert intents("exec") == 0 and not (workspace(settings) / "made").exists()


@needs_node
def test_a_request_to_a_person_goes_with_the_code_that_asked(
    agent: httpx.Client, live: Live, settings: Any, operator: Any
) -> None:
    live(search=CODE_MODE)
    run = Run(agent)
    outer = run.code(f"return await openclaw.tools.call('exec', {json.dumps(TOUCH)})", wait_ms=0).json()["id"]
    assert eventually(Approval.objects.exists)

    assert agent.delete(f"/api/v1/calls/{outer}").json()["status"] == "cancelled"

    assert eventually(lambda: not Approval.objects.get().is_pending)
    assert Approval.objects.get().state == "cancelled"
    assert intents("exec") == 0 and not (workspace(settings) / "made").exists()

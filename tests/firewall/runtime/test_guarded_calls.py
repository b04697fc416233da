"""Permissions and content filters on the way of a call: what is refused, masked and said, and what the record holds."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.content import ContentFilter
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Action, Call, CallResult
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.rehearse import rehearse
from apps.firewall.runtime.stages import STAGES
from apps.firewall.runtime.testing import FakeExecutor, FakeWorld, call_of
from apps.firewall.tools.running import ToolOutcome
from apps.gateway.runtime_api.openapi_schemas import PERMISSION_EXAMPLE

NUMBER = "4111111111111111"
READING = Grant(key="reading", permissions=("db:read",), agent="bot", resources={"database": ("orders",)})
CARD = ContentFilter(key="card", pattern=r"\b[0-9]{16}\b")
PARAMS = {
    "type": "object",
    "properties": {"database": {"type": "string"}, "note": {"type": "string"}, "pin": {"type": "string"}},
}


def world(
    *,
    grants: tuple[Grant, ...] = (READING,),
    filters: tuple[ContentFilter, ...] = (),
    answer: Any = None,
    **traits: Any,
) -> FakeWorld:
    members = {"permissions": ["db:read"], "resources": {"database": "database"}, **traits}
    orders = ToolEntry("orders_query", params=PARAMS, sensitive=("pin",), traits=members)
    plain = ToolEntry("plain", params={"type": "object"})
    snapshot = build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[orders, plain],
            agents=[AgentSource("bot")],
            grants=grants,
            filters=filters,
        )
    )
    answers = {} if answer is None else {"answer": answer}
    executor = FakeExecutor(tools=frozenset({"orders_query", "plain"}), **answers)
    return FakeWorld(snapshot, executor=executor)


def error(result: CallResult) -> Mapping[str, Any]:
    assert result.error is not None
    return result.error


# --- permissions ---


async def test_a_call_whose_permission_is_granted_runs() -> None:
    here = world()

    result = await invoke(call_of("orders_query", database="orders"), here.ports)

    assert result.status == "completed"
    names = [stage.name for stage in STAGES]
    assert names[:6] == ["decide", "halt", "validate", "host_env", "permissions", "content"]
    assert names[-4:] == ["sandbox", "approval", "halt_again", "execute"]


async def test_the_example_in_the_api_document_is_what_a_caller_gets() -> None:
    result = await invoke(call_of("orders_query", database="hr"), world().ports)

    assert json.dumps(error(result)) == json.dumps(PERMISSION_EXAMPLE).replace("support-bot", "bot")


async def test_a_resource_outside_the_grant_is_a_denial_that_names_it_and_what_would_grant_it() -> None:
    here = world()

    result = await invoke(call_of("orders_query", database="hr"), here.ports)

    assert (result.status, error(result)["code"]) == ("denied", "permission_missing")
    assert "not for the database `hr`" in error(result)["message"]
    assert error(result)["details"][0]["message"].endswith(
        "a grant of `db:read` to the agent `bot` for the database `hr`"
    )
    assert here.executor.actions == []
    note = here.ledger.notes[-1]
    assert (note.kind, note.judgement.layer, note.judgement.rule) == ("denial", "permissions", "db:read")


async def test_nothing_is_granted_by_default() -> None:
    here = world(grants=())

    assert error(await invoke(call_of("orders_query", database="orders"), here.ports))["code"] == "permission_missing"
    assert (await invoke(call_of("plain"), here.ports)).status == "completed"


async def test_every_permission_must_hold() -> None:
    here = world(permissions=["db:read", "net:fetch"])

    result = await invoke(call_of("orders_query", database="orders"), here.ports)

    assert [detail["code"] for detail in error(result)["details"]] == ["permission_missing"]
    assert "net:fetch" in error(result)["message"]


@pytest.mark.parametrize(
    ("grant", "changes", "context"),
    [
        (Grant(key="g", permissions=("*",), token="tok_1"), {"actor": "token:tok_1"}, {}),
        (Grant(key="g", permissions=("*",), owner=True), {}, {"sender_is_owner": True}),
        (Grant(key="g", permissions=("*",), sender="id:7"), {}, {"sender_id": "7"}),
        (
            Grant(key="g", permissions=("*",), session="agent:bot:*"),
            {},
            {"session_key": "agent:bot:telegram:direct:7"},
        ),
        (Grant(key="g", permissions=("*",), role="operator"), {"requester": "user:anna"}, {}),
    ],
)
async def test_a_grant_is_for_token_owner_sender_session_or_role(
    grant: Grant, changes: dict[str, Any], context: dict[str, Any]
) -> None:
    here = world(grants=(grant,))
    here.people.roles["user:anna"] = "operator"
    stranger = replace(call_of("orders_query", database="x"), context=CallContext(agent_id="bot"))
    known = replace(stranger, id=new_id(), context=CallContext(agent_id="bot", **context), **changes)

    assert (await invoke(stranger, here.ports)).status == "denied"
    assert (await invoke(known, here.ports)).status == "completed"


async def test_a_role_is_asked_for_again_when_an_approved_call_runs() -> None:
    here = world(grants=(Grant(key="g", permissions=("*",), role="operator"),))
    here.people.roles["user:anna"] = "operator"
    call = replace(call_of("orders_query", database="x"), requester="user:anna")
    approved = action_of(await invoked(here, call))
    here.people.roles.clear()

    result = await resume(approved, approval_id=new_id(), ports=here.ports)

    assert error(result)["code"] == "permission_missing"


async def test_a_resource_that_nobody_may_read_is_not_told() -> None:
    here = world(resources={"database": "pin"})

    result = await invoke(call_of("orders_query", pin="s3cret"), here.ports)

    assert result.status == "denied"
    assert "s3cret" not in str(result.error) + here.ledger.notes[-1].judgement.reason


async def test_a_resource_that_cannot_be_read_is_a_denial() -> None:
    here = world(resources={"domain": "database"}, permissions=["db:read"])

    result = await invoke(call_of("orders_query", database="https://a@b"), here.ports)

    assert (error(result)["code"], error(result)["details"][0]["path"]) == ("resource_unreadable", "database")


async def test_a_rehearsal_says_what_a_call_would_meet() -> None:
    here = world(filters=(replace(CARD, action="block"),))

    denied = await rehearse(call_of("orders_query", database="hr"), here.ports)
    blocked = await rehearse(call_of("orders_query", database="orders", note=NUMBER), here.ports)
    passed = await rehearse(call_of("orders_query", database="orders"), here.ports)

    assert denied.refusal is not None and denied.refusal.code == "permission_missing"
    assert blocked.refusal is not None and blocked.refusal.code == "content_blocked"
    assert passed.runs and not here.ledger.notes


# --- filters on params ---


async def test_a_mask_changes_what_the_tool_gets_and_the_record_says_so() -> None:
    here = world(filters=(CARD,))

    result = await invoke(call_of("orders_query", database="orders", note=f"card {NUMBER}"), here.ports)

    assert result.status == "completed"
    assert here.executor.actions[0].params["note"] == "card [masked by card]"
    assert all(NUMBER not in str(note.call.params) for note in here.ledger.notes)
    found = [{"side": "params", "filter": "card", "action": "mask", "count": 1, "places": ["note"]}]
    assert all(note.changes is not None and note.changes["filters"] == found for note in here.ledger.notes)


async def test_what_a_mask_made_of_params_must_pass_once_more() -> None:
    orders = ContentFilter(key="orders", pattern="orders", where="params")
    here = world(filters=(orders,))

    result = await invoke(call_of("orders_query", database="orders"), here.ports)

    assert error(result)["code"] == "permission_missing"
    assert here.executor.actions == []


async def test_a_block_refuses_and_its_find_is_kept_nowhere() -> None:
    here = world(filters=(replace(CARD, action="block", message="no card numbers"),))

    result = await invoke(call_of("orders_query", database="orders", note=NUMBER), here.ports)

    assert (result.status, error(result)["code"], error(result)["message"]) == (
        "denied",
        "content_blocked",
        "no card numbers",
    )
    assert error(result)["details"][0]["path"] == "note"
    note = here.ledger.notes[-1]
    assert (note.judgement.layer, note.judgement.rule) == ("content", "card")
    assert NUMBER not in str(note)


async def test_a_warning_goes_with_the_answer() -> None:
    here = world(filters=(replace(CARD, action="warn", where="params"),))

    result = await invoke(call_of("orders_query", database="orders", note=NUMBER), here.ports)

    assert result.status == "completed"
    assert here.executor.actions[0].params["note"] == NUMBER
    assert [warning["code"] for warning in result.warnings] == ["content_warning"]


async def test_a_filter_of_other_tools_looks_at_nothing() -> None:
    here = world(filters=(replace(CARD, tools=("plain",), action="block"),))

    assert (await invoke(call_of("orders_query", database="orders", note=NUMBER), here.ports)).status == "completed"
    assert error(await invoke(call_of("plain", x=NUMBER), here.ports))["code"] == "content_blocked"


async def test_an_approved_call_runs_with_the_masked_params() -> None:
    here = world(filters=(CARD,))
    call = call_of("orders_query", database="orders", note=NUMBER)
    approved = action_of(await invoked(here, call))

    result = await resume(approved, approval_id=new_id(), ports=here.ports)

    assert result.status == "completed"
    assert here.executor.actions[-1].params["note"] == "[masked by card]"
    changes = here.ledger.notes[-1].changes
    assert changes is not None and changes["filters"][0]["filter"] == "card"


async def test_a_filter_that_came_later_refuses_what_was_approved_before() -> None:
    earlier, later = world(), world(filters=(CARD,))
    approved = action_of(await invoked(earlier, call_of("orders_query", database="orders", note=NUMBER)))

    result = await resume(approved, approval_id=new_id(), ports=later.ports)

    assert error(result)["code"] == "action_changed"


# --- filters on results ---


def saying(text: str, *, fails: bool = False) -> Callable[[Action], ToolOutcome]:
    if fails:
        return lambda action: ToolOutcome(ended="failed", error={"code": "tool_failed", "message": text})
    return lambda action: ToolOutcome(result={"rows": [{text: text}]})


async def test_what_comes_back_is_masked_before_anybody_has_it() -> None:
    here = world(filters=(replace(CARD, where="result"),), answer=saying(NUMBER))

    result = await invoke(call_of("orders_query", database="orders", note=NUMBER), here.ports)

    assert here.executor.actions[0].params["note"] == NUMBER
    assert NUMBER not in str(result.result)
    assert "[masked by card]" in str(result.result)
    outcome = here.ledger.notes[-1]
    assert NUMBER not in str(outcome.result)
    assert outcome.changes is not None and outcome.changes["filters"][0]["side"] == "result"


async def test_a_blocked_result_is_an_error_that_says_why() -> None:
    here = world(filters=(replace(CARD, action="block", where="result"),), answer=saying(NUMBER))

    result = await invoke(call_of("orders_query", database="orders"), here.ports)

    assert (result.status, error(result)["code"]) == ("failed", "content_blocked")
    assert NUMBER not in str(result) + str(here.ledger.notes)


async def test_an_error_message_is_filtered_like_a_result() -> None:
    here = world(filters=(replace(CARD, where="result"),), answer=saying(f"row {NUMBER}", fails=True))

    result = await invoke(call_of("orders_query", database="orders"), here.ports)

    assert error(result)["message"] == "row [masked by card]"


async def test_a_result_that_cannot_be_searched_does_not_leave() -> None:
    deep: Any = NUMBER
    for _ in range(150):
        deep = [deep]
    here = world(filters=(replace(CARD, where="result"),), answer=lambda action: ToolOutcome(result={"deep": deep}))

    result = await invoke(call_of("orders_query", database="orders"), here.ports)

    assert (result.status, error(result)["code"]) == ("failed", "content_unchecked")
    assert NUMBER not in str(result)


async def invoked(here: FakeWorld, call: Call) -> FakeWorld:
    assert (await invoke(call, here.ports)).status == "completed"
    return here


def action_of(here: FakeWorld) -> Action:
    return here.executor.actions[-1]

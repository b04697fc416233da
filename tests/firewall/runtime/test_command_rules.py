"""What a call asks of its command, held to the settings on the way through the stages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import CallResult
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.testing import FakeWorld, call_of
from apps.firewall.tools.catalog import BUILTINS
from tests.firewall.runtime.test_invoke import code

FULL = {"security": "full", "ask": "off"}
ALICE = CallContext(channel="telegram", sender_id="42")
FOR_ALICE = {"allowFrom": {"telegram": ["42"]}}


def world(
    exec_settings: Mapping[str, Any],
    *,
    elevated: Mapping[str, Any] | None = None,
    level: str = "",
    release: str = "2026.9",
    approvals: Mapping[str, Any] | None = None,
) -> FakeWorld:
    settings: dict[str, Any] = {"exec": dict(exec_settings), "elevated": dict(elevated or {})}
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    return FakeWorld(
        build_snapshot(
            SnapshotSource(
                environment="production",
                dialect=release,
                tools=entries,
                agents=[AgentSource("bot")],
                exec_approvals=approvals or {},
                settings=settings | ({"elevatedDefault": level} if level else {}),
            )
        )
    )


async def run(here: FakeWorld, context: CallContext | None = None, **params: Any) -> CallResult:
    call = call_of("exec", command="ls -l", **params)
    return await invoke(replace(call, context=context or CallContext()), here.ports)


@pytest.mark.parametrize("release", DIALECTS)
async def test_a_command_runs_where_settings_allow_it_and_the_call_asks_for_nothing(release: str) -> None:
    assert (await run(world(FULL, release=release))).status == "completed"


@pytest.mark.parametrize("release", DIALECTS)
async def test_a_call_may_have_itself_asked_about_or_refused(release: str) -> None:
    here = world(FULL, release=release)
    assert (await run(here, ask="always")).status == "awaiting_approval"
    refused = await run(here, security="deny")
    assert (refused.status, code(refused)) == ("denied", "security_deny")
    assert refused.error is not None and "params.security" in refused.error["message"]


async def test_a_call_cannot_loosen_what_is_configured() -> None:
    here = world({"security": "allowlist", "ask": "always"})
    assert (await run(here, ask="off", security="full")).status == "awaiting_approval"


@pytest.mark.parametrize("params", [{"ask": "sometimes"}, {"security": "x"}, {"host": "docker"}, {"elevated": "maybe"}])
async def test_an_unknown_word_is_named(params: dict[str, Any]) -> None:
    refused = await run(world(FULL), **params)
    assert refused.status == "denied"
    assert refused.error is not None
    assert [each["path"] for each in refused.error["details"]] == list(params)


async def test_another_host_is_refused_by_name_and_recorded() -> None:
    here = world({**FULL, "host": "gateway"})
    refused = await run(here, host="sandbox")
    assert code(refused) == "host_not_allowed"
    assert refused.error is not None and "`sandbox`" in refused.error["message"]
    assert refused.judgement is not None
    assert (refused.judgement.layer, refused.judgement.rule) == ("exec_policy", "tools.exec.host")
    assert here.ledger.kinds == [("denial", "denied")]
    assert here.executor.actions == []


async def test_a_sandbox_that_the_session_lacks_fails() -> None:
    assert code(await run(world({**FULL, "host": "sandbox"}))) == "sandbox_missing"


async def test_a_node_is_refused_while_there_is_no_bridge() -> None:
    assert code(await run(world({**FULL, "host": "node"}))) == "host_unavailable"
    assert code(await run(world(FULL), host="node")) == "host_unavailable"


async def test_elevated_is_refused_by_the_gate_that_is_shut() -> None:
    refused = await run(world(FULL), ALICE, elevated=True)
    assert code(refused) == "elevated_not_allowed"
    assert refused.error is not None and "tools.elevated.allowFrom.telegram" in refused.error["message"]
    off = await run(world(FULL, elevated={"enabled": False, **FOR_ALICE}), ALICE, elevated=True)
    assert code(off) == "elevated_disabled"
    stranger = await run(world(FULL, elevated=FOR_ALICE), replace(ALICE, sender_id="7"), elevated=True)
    assert code(stranger) == "elevated_not_allowed"


async def test_elevated_waits_for_a_person_and_full_does_not() -> None:
    assert (await run(world(FULL, elevated=FOR_ALICE), ALICE, elevated=True)).status == "awaiting_approval"
    full = world(FULL, elevated=FOR_ALICE, level="full")
    assert (await run(full, ALICE, elevated=True)).status == "completed"
    older = world({"security": "allowlist", "ask": "always"}, elevated=FOR_ALICE, level="full", release="2026.2")
    assert (await run(older, ALICE, elevated=True)).status == "completed"


async def test_a_question_carries_the_setting_that_answers_silence() -> None:
    here = world({"security": "full", "ask": "always"}, approvals={"agents": {"bot": {"askFallback": "full"}}})
    assert (await run(here)).status == "awaiting_approval"
    silent = world({"security": "full", "ask": "always"})
    await run(silent)
    await run(here, env={"CI": "1"})
    rules = [request.fallback_rule for request in (*here.approvals.asked, *silent.approvals.asked)]
    assert rules == ["execApprovals.agents.bot.askFallback", "", ""]

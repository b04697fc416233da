"""The variables that a call sets for its command: judged before anybody is asked, bound, and given to it alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.runtime.call import Action, CallResult
from apps.firewall.runtime.hooks import Hook
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.rehearse import rehearse
from apps.firewall.runtime.testing import FakeApprovals, FakeHooks, FakeWorld, call_of
from tests.firewall.runtime.test_invoke import LISTED, code, snapshot

ASKS = {"security": "allowlist", "ask": "on-miss"}


def world(**options: Any) -> FakeWorld:
    return FakeWorld(snapshot(**options))


async def run(here: FakeWorld, env: Mapping[str, Any], command: str = "ls") -> CallResult:
    return await invoke(call_of("exec", command=command, env=dict(env)), here.ports)


async def test_variables_that_may_be_set_join_those_that_every_command_has() -> None:
    here = world()

    assert (await run(here, {"CI": "1", "LANG": "de_DE"})).status == "completed"
    env = here.executor.actions[0].env
    assert (env["CI"], env["LANG"], env["HOME"], env["OPENCLAW_CLI"]) == ("1", "de_DE", "/desk", "1")
    assert env["PATH"].startswith("/usr/local/sbin")


async def test_a_command_without_variables_has_those_of_every_command_alone() -> None:
    here = world(release="2026.2")

    assert (await invoke(call_of("exec", command="ls"), here.ports)).status == "completed"
    assert set(here.executor.actions[0].env) == {"PATH", "HOME", "LANG", "TERM"}


@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
async def test_forbidden_variables_are_all_named_and_nobody_is_asked(release: str) -> None:
    here = world(release=release, exec_settings=ASKS, approvals={})

    result = await run(here, {"LD_PRELOAD": "a.so", "CI": "1", "PATH": "/tmp"})

    assert (result.status, code(result)) == ("denied", "environment_refused")
    assert result.error is not None and result.judgement is not None
    assert "`LD_PRELOAD`, `PATH`" in result.error["message"]
    assert [each["path"] for each in result.error["details"]] == ["env.LD_PRELOAD", "env.PATH"]
    assert result.judgement.layer == "host_env"
    assert (here.approvals.asked, here.executor.actions) == ([], [])
    assert here.ledger.kinds == [("denial", "denied")]


async def test_names_that_no_shell_knows_are_refused_with_the_others() -> None:
    result = await run(world(), {"a b": "1", "NODE_OPTIONS": "x"})

    assert result.error is not None
    assert [each["path"] for each in result.error["details"]] == ["env.NODE_OPTIONS", "env.a b"]


async def test_what_the_older_release_leaves_out_is_said() -> None:
    here = world(release="2026.2")

    result = await run(here, {"CI": "1", "a b": "1"})

    assert [(each["path"], each["code"]) for each in result.warnings] == [("env.a b", "variable_ignored")]
    assert "a b" not in here.executor.actions[0].env


@pytest.mark.parametrize(
    "env",
    [
        {"CI": ["1"]},
        {"CI": "a\0b"},
        {"CI": "a" * 4097},
        {"N" * 129: "1"},
        {"": "1"},
        {f"N{number}": "1" for number in range(33)},
        "CI=1 LANG=C",
    ],
)
async def test_variables_are_texts_and_bounded(env: Any) -> None:
    here = world()

    result = await invoke(call_of("exec", command="ls", env=env), here.ports)

    assert (result.status, code(result)) == ("denied", "parameter_validation_failed")
    assert here.executor.actions == []


async def test_what_is_bound_includes_the_variables() -> None:
    here = world(exec_settings=ASKS, approvals={})
    await run(here, {"CI": "1"})
    approved: Action = here.approvals.asked[0].action

    other = await resume(replace(approved, env={**approved.env, "CI": "2"}), approval_id=None, ports=here.ports)
    same = await resume(approved, approval_id=here.approvals.asked[0].call.id, ports=here.ports)

    assert (other.status, code(other)) == ("denied", "action_changed")
    assert other.error is not None and other.error["message"].endswith("changed since: variable CI")
    assert same.status == "completed"


async def test_a_standing_answer_does_not_reach_a_command_with_variables() -> None:
    here = world(exec_settings=ASKS, approvals={})
    here.approvals = FakeApprovals(entries=(AllowEntry(pattern="/bin/ls", argv=("ls",)),))

    plain = await invoke(call_of("exec", command="ls"), here.ports)
    given = await run(here, {"CI": "1"})

    assert (plain.status, given.status) == ("completed", "awaiting_approval")
    verdict = here.approvals.asked[0].verdict
    assert verdict is not None and not verdict.may_be_remembered


async def test_the_list_of_an_admin_reaches_them() -> None:
    assert (await run(world(exec_settings=ASKS, approvals=LISTED), {"CI": "1"})).status == "completed"


async def test_what_a_hook_sets_is_judged_as_well() -> None:
    async def preload(event: Any) -> Any:
        return {"params": {"env": {"LD_PRELOAD": "a.so"}}}

    here = world()
    here.hooks = FakeHooks(asked=(Hook(plugin="p", name="h", handler=preload),))

    result = await invoke(call_of("exec", command="ls"), here.ports)

    assert (code(result), here.executor.actions) == ("environment_refused", [])


async def test_a_rehearsal_meets_the_same_refusal() -> None:
    answer = await rehearse(call_of("exec", command="ls", env={"LD_PRELOAD": "a.so"}), world().ports)

    assert answer.refusal is not None and answer.refusal.code == "environment_refused"


async def test_values_are_marked_for_the_masker() -> None:
    here = world()
    await run(here, {"CI": "made-up"})

    assert {"env"} == {place for note in here.ledger.notes for place in note.sensitive}

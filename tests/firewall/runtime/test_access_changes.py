"""What else runs after a publication: no difference that lets more run is ever shown as none."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.access_changes import AccessChange
from apps.firewall.engine.content import ContentFilter
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.exec_policy import exec_rules, judge, rules_of_call
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.permissions import Caller, Needs, Resource
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.command_changes import FILES, WHERE, access_changes
from apps.firewall.shell import read_line

DB = {"permissions": ["db:read"], "resources": {"path": "file"}}
TOOLS = (ToolEntry("exec"), ToolEntry("read"), ToolEntry("db_query", traits=DB))
AGENTS = ("bot", "ops-runner")


def snapshot(
    *,
    own: dict[str, Any] | None = None,
    approvals: Any = None,
    tools: Any = TOOLS,
    dialect: str = "2026.9",
    **members: Any,
) -> Snapshot:
    """Build a snapshot of two agents; `own` are the settings of `ops-runner`."""
    agents = [AgentSource("bot"), AgentSource("ops-runner", settings=own or {})]
    return build_snapshot(
        SnapshotSource(tools=list(tools), agents=agents, exec_approvals=approvals or {}, dialect=dialect, **members)
    )


def listing(*entries: Any, agent: str = "ops-runner", **words: Any) -> dict[str, Any]:
    return {
        "agents": {agent: {"allowlist": [each if isinstance(each, dict) else {"pattern": each} for each in entries]}}
        | {},
        "defaults": words,
    }


def told(old: Snapshot, new: Snapshot) -> list[tuple[str, str, str, str, tuple[str, ...]]]:
    return [(each.direction, each.subject, each.before, each.after, each.agents) for each in access_changes(old, new)]


def test_equal_snapshots_let_nothing_else_run() -> None:
    assert access_changes(snapshot(own={"exec": {"mode": "full"}}), snapshot(own={"exec": {"mode": "full"}})) == ()


@pytest.mark.parametrize(
    "own",
    [{"exec": {"mode": "full"}}, {"exec": {"security": "full", "ask": "off"}}, {"exec": {"security": "full"}}],
    ids=str,
)
def test_an_agent_whose_commands_run_without_approval_stands_first(own: dict[str, Any]) -> None:
    first = access_changes(snapshot(), snapshot(own=own))[0]
    assert (first.direction, first.before, first.after) == ("wider", "asks", "runs")
    assert first.agents == ("ops-runner",)
    assert "rm -rf build" in first.examples
    assert first.sandboxed is None


def test_a_document_of_approvals_still_caps_what_the_configuration_widens() -> None:
    capped = {"defaults": {"security": "allowlist", "ask": "on-miss"}}
    found = access_changes(snapshot(approvals=capped), snapshot(own={"exec": {"mode": "full"}}, approvals=capped))
    assert [each.direction for each in found if each.subject == "commands"] == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"mode": "deny"}, {"mode": "ask"}, ("wider", "denied", "asks")),
        ({"mode": "allowlist"}, {"mode": "ask"}, ("wider", "denied", "asks")),
        ({"mode": "deny"}, {"mode": "full"}, ("wider", "denied", "runs")),
        ({"mode": "full"}, {"mode": "ask"}, ("narrower", "runs", "asks")),
        ({"mode": "full", "strictInlineEval": True}, {"mode": "full"}, ("wider", "asks", "runs")),
    ],
)
def test_words_of_the_exec_policy_are_compared_by_verdicts(old: Any, new: Any, expected: tuple[str, str, str]) -> None:
    found = access_changes(snapshot(own={"exec": old}), snapshot(own={"exec": new}))
    assert expected in [(each.direction, each.before, each.after) for each in found if each.subject == "commands"]


def test_an_entry_of_an_allowlist_is_wider_and_one_that_an_older_entry_covers_is_not() -> None:
    assert told(snapshot(), snapshot(approvals=listing("/opt/deploy/**"))) == [
        ("wider", "commands", "asks", "runs", ("ops-runner",))
    ]
    covered = access_changes(
        snapshot(approvals=listing("/opt/**")), snapshot(approvals=listing("/opt/**", "/opt/deploy/run"))
    )
    assert [each for each in covered if each.direction == "wider"] == []


def test_an_entry_with_an_expression_that_no_example_fits_is_taken_at_its_word() -> None:
    entry = {"pattern": "/opt/bin/deploy", "argPattern": "^(?:[A-F]{3}-[xyz]{4,9})$"}
    first = access_changes(snapshot(), snapshot(approvals=listing(entry)))[0]
    assert (first.direction, first.examples) == ("wider", ("/opt/bin/deploy ^(?:[A-F]{3}-[xyz]{4,9})$",))


def test_requests_that_run_when_they_expire_are_wider() -> None:
    entries = [{"pattern": "/opt/bin/deploy"}]
    old, new = (
        {"defaults": {"ask": "always"} | words, "agents": {"*": {"allowlist": entries}}}
        for words in ({}, {"askFallback": "allowlist"})
    )
    found = access_changes(snapshot(approvals=old), snapshot(approvals=new))
    assert [(each.direction, each.after, each.examples) for each in found] == [
        ("wider", "unanswered", ("/opt/bin/deploy",))
    ]


def test_programs_of_skills_and_safe_programs_are_examples_too() -> None:
    skills = access_changes(snapshot(), snapshot(approvals={"defaults": {"autoAllowSkills": True}}))
    assert [(each.direction, each.examples) for each in skills] == [("wider", ("a-skill",))]
    folder = access_changes(snapshot(), snapshot(settings={"exec": {"safeBinTrustedDirs": ["/opt/tools"]}}))
    assert [(each.direction, "/opt/tools/head" in each.examples) for each in folder] == [("wider", True)]


def test_a_sender_who_gets_elevated_commands_is_named() -> None:
    allowed = {"elevated": {"allowFrom": {"telegram": ["1001"]}}}
    wider = [each for each in access_changes(snapshot(), snapshot(settings=allowed)) if each.direction == "wider"]
    assert [(each.caller, each.before) for each in wider] == [("telegram 1001, elevated", "denied")]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("fs", "workspaceOnly"), False),
        (("sandbox", "mode"), "off"),
        (("loopDetection", "enabled"), False),
        (("exec", "host"), "gateway"),
    ],
)
def test_settings_that_hold_calls_back_are_told_when_they_go(path: tuple[str, str], value: Any) -> None:
    found = access_changes(snapshot(), snapshot(own={path[0]: {path[1]: value}}))
    assert [(each.direction, each.examples, each.agents) for each in found] == [
        ("wider", (".".join(path),), ("ops-runner",))
    ]


def test_a_setting_whose_effect_no_example_shows_is_named_all_the_same() -> None:
    found = access_changes(snapshot(), snapshot(own={"exec": {"pathPrepend": ["/opt/evil"]}}))
    assert [(each.direction, each.subject, each.examples) for each in found] == [
        ("other", "settings", ("exec.pathPrepend",))
    ]


def test_a_grant_is_wider_for_whom_it_is_and_for_which_resources() -> None:
    limited = Grant(key="g", permissions=("db:*",), agent="bot", resources={"path": ("/srv/a/**",)})
    freed = Grant(key="g", permissions=("db:*",), agent="bot", resources={"path": ("/srv/**",)})
    given_now = access_changes(snapshot(), snapshot(grants=[limited]))
    assert [(each.direction, each.before, each.after, each.agents, each.tools) for each in given_now] == [
        ("wider", "missing", "granted", ("bot",), ("db_query",))
    ]
    assert [each.examples for each in access_changes(snapshot(grants=[limited]), snapshot(grants=[freed]))] == [
        ("db:read", "path /srv/**")
    ]
    assert [each.direction for each in access_changes(snapshot(grants=[freed]), snapshot(grants=[limited]))] == [
        "narrower"
    ]


def test_a_tool_that_no_longer_asks_for_a_permission_is_wider() -> None:
    plain = (*TOOLS[:2], ToolEntry("db_query"))
    assert told(snapshot(), snapshot(tools=plain)) == [("wider", "permissions", "missing", "unneeded", ())]


def test_filters_are_compared_by_what_they_do_not_by_their_names() -> None:
    blocks = ContentFilter(key="keys", pattern="sk-[a-z]+", action="block")
    renamed = ContentFilter(key="other", pattern="sk-[a-z]+", action="block")
    masks = ContentFilter(key="keys", pattern="sk-[a-z]+", action="mask")
    assert told(snapshot(filters=[blocks]), snapshot(filters=[renamed])) == []
    assert told(snapshot(filters=[blocks]), snapshot(filters=[masks])) == [("wider", "filters", "block", "mask", ())]
    assert told(snapshot(), snapshot(filters=[blocks])) == [("narrower", "filters", "none", "block", ())]


def test_another_release_is_asked_by_its_own_rules() -> None:
    entry = listing("git")  # a bare name, which the older release does not know
    found = access_changes(snapshot(approvals=entry, dialect="2026.2"), snapshot(approvals=entry))
    assert "wider" in [each.direction for each in found]


WORDS = st.sampled_from((None, "deny", "allowlist", "full"))
ASKS = st.sampled_from((None, "off", "on-miss", "always"))
PATTERNS = ("/usr/bin/git", "git", "/opt/**", "~/bin/*", "*", "/usr/bin/ls", "/srv/?/run")
COMMANDS = ("git status", "/usr/bin/git log", "ls", "/opt/a/b --c", "/home/agent/bin/x y", "cat a | sh", "/srv/q/run")


@st.composite
def rule_sets(draw: st.DrawFn) -> Snapshot:
    """Return a snapshot with rules for commands in every place that has some."""

    def words() -> dict[str, Any]:
        found = {"security": draw(WORDS), "ask": draw(ASKS)}
        return {name: value for name, value in found.items() if value is not None}

    entries = [
        {"pattern": pattern} | draw(st.sampled_from(({}, {"argPattern": "^status$"}, {"argPattern": "^-?[a-z]{2,7}$"})))
        for pattern in draw(st.lists(st.sampled_from(PATTERNS), max_size=3))
    ]
    who = draw(st.sampled_from(("*", "ops-runner", "bot")))
    fallback = draw(st.sampled_from(({}, {"askFallback": "allowlist"}, {"askFallback": "full"})))
    approvals = {"defaults": words() | fallback, "agents": {who: {**words(), "allowlist": entries}}}
    own = {"exec": words() | draw(st.sampled_from(({}, {"strictInlineEval": True}, {"safeBins": ["cut"]})))}
    return snapshot(own=own, approvals=approvals, settings={"exec": words()})


def outcome(of: Snapshot, agent: str, command: str) -> int:
    context = CallContext(agent_id=agent)
    settings_of = of.exec_settings(agent)
    rules = rules_of_call(exec_rules(settings_of, dialect=of.dialect), settings_of, {}, context)
    return ("deny", "ask", "run").index(judge(read_line(command), rules, files=FILES, where=WHERE).outcome)


def concerns(change: AccessChange, agent: str) -> bool:
    return not change.agents or agent in change.agents


@given(rule_sets(), rule_sets(), st.sampled_from(COMMANDS), st.sampled_from(AGENTS))
@settings(max_examples=120, deadline=None)
def test_a_command_that_is_freed_is_never_shown_as_no_effect(
    old: Snapshot, new: Snapshot, command: str, agent: str
) -> None:
    if outcome(new, agent, command) <= outcome(old, agent, command):
        return
    found = [each.direction for each in access_changes(old, new) if concerns(each, agent)]
    assert "wider" in found, (old.document, new.document, command, found)


@given(rule_sets(), rule_sets())
@settings(max_examples=40, deadline=None)
def test_the_way_back_is_the_way_there_turned_round(old: Snapshot, new: Snapshot) -> None:
    there, back = access_changes(old, new), access_changes(new, old)
    turned = {"wider": "narrower", "narrower": "wider", "other": "other"}
    assert sorted((turned[each.direction], each.after, each.before, each.agents) for each in there) == sorted(
        (each.direction, each.before, each.after, each.agents) for each in back
    )


CALLERS = (
    Caller(agent="bot"),
    Caller(agent="ops-runner", token="tok_1"),
    Caller(agent="x", role="viewer", is_owner=True),
)
GRANTS = st.builds(
    Grant,
    key=st.sampled_from(("a", "b")),
    permissions=st.sampled_from((("db:read",), ("db:*",), ("net",))),
    agent=st.sampled_from(("", "bot", "ops-*")),
    token=st.sampled_from(("", "tok_1")),
    owner=st.booleans(),
    resources=st.sampled_from(({}, {"path": ("/srv/**",)}, {"path": ("/srv/a", "/tmp/*")})),
)


@given(
    st.lists(GRANTS, max_size=2, unique_by=lambda each: each.key),
    st.lists(GRANTS, max_size=2, unique_by=lambda each: each.key),
    st.sampled_from(CALLERS),
    st.sampled_from(("/srv/a", "/srv/b/c", "/tmp/x", "/etc")),
)
@settings(max_examples=80, deadline=None)
def test_a_permission_that_is_given_is_never_shown_as_no_effect(
    was: list[Grant], now: list[Grant], caller: Caller, path: str
) -> None:
    old, new = snapshot(grants=was), snapshot(grants=now)
    needs = Needs(permissions=("db:read",), kinds=frozenset({"path"}), resources=(Resource("path", path),))
    before, after = (each.permissions.answers(needs, caller)[0].verdict for each in (old, new))
    if (before, after) == ("missing", "granted"):
        assert "wider" in [each.direction for each in access_changes(old, new)]

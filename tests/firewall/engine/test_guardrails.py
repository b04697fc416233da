"""Guardrails over all contexts: what fails is what asking every class finds, and the counterexample is one of them."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from apps.firewall.engine.contexts import ANY_OTHER, ContextClass, Conversation, context_classes, context_of
from apps.firewall.engine.decide import decide
from apps.firewall.engine.exec_policy import exec_rules
from apps.firewall.engine.guardrail_form import ASK_MODES, PLACES, REQUIREMENTS, GuardrailForm, GuardrailFormError
from apps.firewall.engine.guardrails import Verdicts, asks, check_guardrails
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.resolve import open_resolution
from apps.firewall.engine.senders import compile_senders
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from tests.firewall.engine.environments import SENDERS, sources

NO_SHELL = GuardrailForm(requires="never", tools=("group:runtime",), place="group", sender="non_owner")
NO_SPAWN = GuardrailForm(requires="never", tools=("sessions_spawn",), min_depth=2)
ASKS_FIRST = GuardrailForm(requires="asks", tools=("exec",), agents=("prod-*",))


def lists(*entries: str, most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(entries), max_size=most, unique=True).map(tuple)


@st.composite
def forms(draw: st.DrawFn) -> GuardrailForm:
    """Return a guardrail that names what environments name, or something else."""
    senders = draw(lists(*SENDERS[:-1], "id:77"))
    place = draw(st.sampled_from(PLACES))
    requires = draw(st.sampled_from(REQUIREMENTS))
    return GuardrailForm(
        requires=requires,
        tools=draw(lists("exec", "group:fs", "mem*", "message", "gateway", "nosuchtool", "group:plugins")) or ("exec",),
        agents=draw(lists("bot", "o*", "nobody", "label:production", "label:p*", "label:none")),
        channels=draw(lists("telegram", "discord", most=1)),
        place=place,
        groups=() if place == "direct" else draw(lists("-100", "telegram/-200", "-300", most=1)),
        sender="named" if senders else draw(st.sampled_from(("anybody", "owner", "non_owner"))),
        senders=senders,
        sandboxed=draw(st.sampled_from((None, None, True, False))),
        min_depth=draw(st.integers(0, 3)),
        ask=draw(st.sampled_from(ASK_MODES)) if requires == "asks" else "on-miss",
    )


class _Straight:
    """A guardrail asked of one context at a time."""

    def __init__(self, snapshot: Snapshot, form: GuardrailForm) -> None:
        self.snapshot, self.form, self.engine = snapshot, form, snapshot.engine

    def concerns(self, asked: ContextClass) -> bool:
        form, where = self.form, asked.conversation
        if form.sandboxed is not None and asked.sandboxed is not form.sandboxed:
            return False
        if asked.depth < form.min_depth or (form.channels and where.channel not in form.channels):
            return False
        if form.place != "anywhere" and (form.place == "group") != (where.group != ""):
            return False
        return self._agent(asked.agent) and self._group(where) and self._sender(asked)

    def _agent(self, agent: str) -> bool:
        rules = (self.engine.agents or {}).get(agent)
        labels = () if rules is None else rules.labels
        fits = {
            "bot": agent == "bot",
            "o*": agent.startswith("o"),
            "prod-*": agent.startswith("prod-"),
            "label:production": "production" in labels,
            "label:p*": any(label.startswith("p") for label in labels),
        }
        return not self.form.agents or any(fits.get(entry, agent == entry) for entry in self.form.agents)

    def _group(self, where: Conversation) -> bool:
        pairs = [entry.split("/") if "/" in entry else (where.channel, entry) for entry in self.form.groups]
        return not pairs or any((channel, group) == (where.channel, where.group) for channel, group in pairs)

    def _sender(self, asked: ContextClass) -> bool:
        known = open_resolution(self.engine, context_of(asked))
        if self.form.sender == "named":
            rules = compile_senders(self.engine.dialect, ((key, 0) for key in self.form.senders))
            return rules.find(known.sender) is not None
        if self.form.sender == "anybody":
            return True
        return (known.is_owner is True) is (self.form.sender == "owner")

    def tools(self) -> Iterator[str]:
        everything = self.engine.candidates(self.engine.universe.full)
        for entry in self.form.tools:
            mask = everything.entry_mask(entry)
            yield from self.engine.universe.names_of(mask) if mask or self.form.requires != "always" else (entry,)

    def failing(self, asked: ContextClass) -> list[str]:
        return [tool for tool in dict.fromkeys(self.tools()) if self.fails(asked, tool)]

    def fails(self, asked: ContextClass, tool: str) -> bool:
        is_allowed = decide(self.snapshot, context_of(asked), tool).allowed
        if self.form.requires == "always":
            return not is_allowed
        if not is_allowed or self.form.requires == "never" or tool != "exec":
            return is_allowed
        agent = "any-other-agent" if asked.agent == ANY_OTHER else asked.agent
        rules = exec_rules(self.engine.exec_settings(agent), dialect=self.engine.dialect.release)
        return not asks(rules, self.form.ask)


def _straight(straight: _Straight, verdicts: Verdicts) -> tuple[int, int, tuple[str, ...], tuple[str, ...]]:
    """Ask every class of contexts: how many there are, how many fail, with which agents and about which tools."""
    met, failed = 0, 0
    agents: set[str] = set()
    tools: set[str] = set()
    for asked in context_classes(verdicts.classes):
        if verdicts.tells_apart(asked.conversation, asked.sender) and straight.concerns(asked):
            failing = straight.failing(asked)
            met += 1
            failed += bool(failing)
            agents |= {asked.agent} if failing else set()
            tools.update(failing)
    return met, failed, tuple(sorted(agents)), tuple(sorted(tools))


@st.composite
def labelled(draw: st.DrawFn) -> SnapshotSource:
    """Return an environment some of whose agents have labels."""
    source = draw(sources())
    agents = [replace(agent, labels=draw(lists("production", "pilot"))) for agent in source.agents or ()]
    return replace(source, agents=agents if source.agents is not None else None)


def _small(source: SnapshotSource) -> SnapshotSource:
    """Leave out what multiplies contexts and is no matter of guardrails."""
    agents = [replace(agent, by_provider=[], settings={}) for agent in source.agents or ()]
    return replace(source, by_provider=[], settings={}, agents=agents, channels=source.channels[:1])


@pytest.mark.unhurried
@settings(max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(labelled().map(_small), forms())
def test_it_counts_what_brute_force_counts(source: SnapshotSource, form: GuardrailForm) -> None:
    snapshot = build_snapshot(source)
    verdicts = Verdicts(snapshot, [form], frozenset({"exec"}))
    check = verdicts.check(0)
    told = (check.asked, check.classes, check.agents, check.tools)
    assert told == _straight(_Straight(snapshot, form), verdicts)


@pytest.mark.unhurried
@settings(max_examples=60, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(labelled(), st.lists(forms(), min_size=1, max_size=3), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_it_fails_where_a_context_fails_and_shows_one(
    source: SnapshotSource, wanted: list[GuardrailForm], chance: Random
) -> None:
    snapshot = build_snapshot(source)
    verdicts = Verdicts(snapshot, wanted, frozenset({"exec"}))
    every = list(context_classes(verdicts.classes))
    sample = chance.sample(every, min(300, len(every)))
    for number, form in enumerate(wanted):
        check, straight = verdicts.check(number), _Straight(snapshot, form)
        for asked in filter(straight.concerns, sample):
            failing = straight.failing(asked)
            assert set(failing) <= set(check.tools)
            assert not failing or asked.agent in check.agents
        if check.counterexample is not None:
            shown = check.counterexample
            assert straight.concerns(shown.context_class)
            assert shown.tool in straight.failing(shown.context_class)
            assert shown.decision == decide(snapshot, shown.context, shown.tool)


def _environment(**members: Any) -> Snapshot:
    tools = [ToolEntry(name) for name in ("read", "exec", "process", "message", "sessions_spawn")]
    agents = [AgentSource("support"), AgentSource("prod-ops")]
    groups = [GroupSource("-100"), GroupSource("-200", tools=Policy(deny=("group:runtime",)))]
    source = SnapshotSource(
        tools=tools, agents=agents, channels=[ChannelSource("telegram", {"groups": groups})], owners=["telegram:1"]
    )
    return build_snapshot(replace(source, **members))


def test_no_stranger_in_a_group_may_run_commands() -> None:
    (check,) = check_guardrails(_environment(), [NO_SHELL])
    assert check.tools == ("exec", "process")
    assert check.agents == ("*", "prod-ops", "support")
    shown = check.counterexample
    assert shown is not None
    assert (shown.tool, shown.decision.allowed) == ("exec", True)
    assert shown.context.session_key == "agent:prod-ops:telegram:group:-100"
    denied = _environment(by_sender=[("*", Policy(deny=("group:runtime",)))])
    (held,) = check_guardrails(denied, [NO_SHELL])
    assert (held.holds, held.classes, held.fingerprint) == (True, 0, "")


def test_an_owner_by_the_list_is_no_stranger_where_nobody_says_who_speaks() -> None:
    rules = [("channel:telegram:1", Policy(allow=("*",))), ("*", Policy(deny=("group:runtime",)))]
    (check,) = check_guardrails(_environment(by_sender=rules), [replace(NO_SHELL, channels=("telegram",))])
    assert check.counterexample is not None
    assert check.counterexample.context_class.is_owner is False  # as a caller may say; the list alone says otherwise


def test_a_group_of_a_channel_without_any_rule_is_a_group() -> None:
    (check,) = check_guardrails(_environment(channels=[]), [NO_SHELL])
    assert check.counterexample is not None
    assert check.counterexample.context_class.conversation == Conversation("telegram", "", "", ANY_OTHER)


def test_sub_agents_spawn_none_past_the_depth() -> None:
    (held,) = check_guardrails(_environment(max_spawn_depth=2), [NO_SPAWN])
    assert held.holds
    (check,) = check_guardrails(_environment(max_spawn_depth=3), [NO_SPAWN])
    assert check.counterexample is not None
    assert check.counterexample.context.subagent_depth == 2


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ({"security": "full", "ask": "off"}, "tools.exec.ask"),
        ({"security": "full", "ask": "on-miss"}, "tools.exec.security"),
        ({"security": "allowlist", "ask": "off"}, "tools.exec.ask"),
        ({"security": "allowlist", "ask": "on-miss"}, ""),
        ({"security": "full", "ask": "always"}, ""),
        ({"security": "deny", "ask": "off"}, ""),
        ({"mode": "full"}, "tools.exec.mode"),
        ({}, ""),
    ],
)
def test_production_agents_ask_before_they_run_commands(written: dict[str, Any], source: str) -> None:
    (check,) = check_guardrails(_environment(settings={"exec": written}), [ASKS_FIRST])
    assert check.holds is (source == "")
    if check.counterexample is not None:
        assert check.agents == ("prod-ops",)
        assert check.counterexample.unasked_from == source


def test_elevated_commands_that_nobody_is_asked_about_are_not_asked_about() -> None:
    settings = {"elevated": {"allowFrom": {"telegram": ["1"]}}, "elevatedDefault": "full"}
    (check,) = check_guardrails(_environment(settings=settings, dialect="2026.2"), [ASKS_FIRST])
    assert check.counterexample is not None
    assert check.counterexample.unasked_from == "agents.defaults.elevatedDefault"


def test_nobody_is_asked_about_tools_that_run_no_commands() -> None:
    (check,) = check_guardrails(_environment(), [replace(ASKS_FIRST, tools=("message",))])
    assert check.tools == ("message",)


def test_what_must_always_be_there_fails_where_it_is_denied_or_does_not_exist() -> None:
    always = GuardrailForm(requires="always", tools=("exec", "vanished"), groups=("telegram/-200",))
    (check,) = check_guardrails(_environment(), [always])
    assert check.tools == ("exec", "vanished")
    assert check.unmatched == ("vanished",)
    assert check.classes == check.asked
    (held,) = check_guardrails(_environment(), [replace(always, tools=("read",))])
    assert held.holds
    assert held.asked > 0


def test_a_guardrail_for_agents_that_are_not_there_holds_and_says_so() -> None:
    (check,) = check_guardrails(_environment(), [replace(NO_SHELL, agents=("staging-*",))])
    assert (check.holds, check.asked, check.unmatched) == (True, 0, ("staging-*",))


def test_every_production_agent_asks_and_the_counterexample_names_the_one_that_does_not() -> None:
    asks_first = replace(ASKS_FIRST, agents=("label:Production", "label:vanished"))
    agents = [AgentSource("support"), AgentSource("ops", labels=("pilot", "production"))]
    (check,) = check_guardrails(_environment(agents=agents, settings={"exec": {"mode": "full"}}), [asks_first])
    assert (check.agents, check.unmatched) == (("ops",), ("label:vanished",))
    assert check.counterexample is not None
    assert check.counterexample.context.agent_id == "ops"
    (held,) = check_guardrails(_environment(agents=agents), [asks_first])
    assert held.holds
    assert held.asked > 0


def test_labels_decide_nothing_and_leave_the_digest_alone_where_there_are_none() -> None:
    plain, marked = (_environment(agents=[AgentSource("ops", labels=labels)]) for labels in ((), ("production",)))
    assert plain.digest != marked.digest
    assert "labels" not in plain.document["agents"][0]
    assert marked.engine.agents is not None
    assert marked.engine.agents["ops"].labels == ("production",)


def test_the_fingerprint_stays_as_long_as_the_same_fails() -> None:
    (before,) = check_guardrails(_environment(), [NO_SHELL])
    (other,) = check_guardrails(_environment(by_sender=[("*", Policy(deny=("message",)))]), [NO_SHELL])
    (fewer,) = check_guardrails(_environment(by_sender=[("*", Policy(deny=("exec",)))]), [NO_SHELL])
    assert before.fingerprint == other.fingerprint
    assert before.fingerprint != fewer.fingerprint


@settings(max_examples=50)
@given(forms())
def test_a_form_is_read_as_it_was_written(form: GuardrailForm) -> None:
    assert GuardrailForm.from_json(form.to_json()) == form


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], ""),
        ({"tools": ["exec"]}, "requires"),
        ({"requires": "never"}, "tools"),
        ({"requires": "never", "tools": []}, "tools"),
        ({"requires": "never", "tools": [""]}, "tools"),
        ({"requires": "never", "tools": "exec"}, "tools"),
        ({"requires": "never", "tools": ["x" * 600]}, "tools"),
        ({"requires": "never", "tools": [f"t{number}" for number in range(300)]}, "tools"),
        ({"requires": "sometimes", "tools": ["exec"]}, "requires"),
        ({"requires": "never", "tools": ["exec"], "place": "direct", "groups": ["-1"]}, "groups"),
        ({"requires": "never", "tools": ["exec"], "sender": "named"}, "senders"),
        ({"requires": "never", "tools": ["exec"], "senders": ["id:1"]}, "senders"),
        ({"requires": "never", "tools": ["exec"], "sandboxed": "yes"}, "sandboxed"),
        ({"requires": "never", "tools": ["exec"], "min_depth": -1}, "min_depth"),
        ({"requires": "never", "tools": ["exec"], "min_depth": True}, "min_depth"),
        ({"requires": "never", "tools": ["exec"], "ask": "always"}, "ask"),
        ({"requires": "never", "tools": ["exec"], "whom": []}, "whom"),
        ({"requires": "never", "tools": ["exec"], "agents": ["label: "]}, "agents"),
    ],
)
def test_a_form_that_cannot_be_meant_is_refused(document: Any, field: str) -> None:
    with pytest.raises(GuardrailFormError) as refused:
        GuardrailForm.from_json(document)
    assert refused.value.field == field

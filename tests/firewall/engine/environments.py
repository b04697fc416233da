"""Small environments made up at random, for properties that must hold of any."""

from typing import Any

from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, Named, SnapshotSource, ToolEntry

CORE = ("read", "write", "exec", "apply_patch", "message", "gateway", "cron", "sessions_list", "canvas")
PLUGIN = (("lobster", "lobster"), ("memory_get_all", "memory-core"), ("memory_put", "memory-core"))
ENTRIES = (
    *CORE,
    "*",
    "mem*",
    "*_list",
    "s*s_*",
    "group:fs",
    "group:runtime",
    "group:plugins",
    "group:nope",
    "memory-core",
    "lobster",
    "Bash ",
    "update_plan",
    "nosuchtool",
    "",
)
AGENTS = ("bot", "ops", "main")
PROVIDERS = ("openai", "openai/gpt-5", "fake")
SENDERS = ("id:1", "2", "username:bob", "name:Ann", "channel:telegram:1", "e164:+15", "*")

names = st.lists(st.sampled_from(ENTRIES), max_size=4).map(tuple)
profiles = st.sampled_from((None, "", "minimal", "coding", "full", "bogus"))


def policies(*, with_profile: bool = False) -> st.SearchStrategy[Policy]:
    """Return blocks; a list may be absent, empty or full."""
    lists = st.none() | names
    return st.builds(Policy, allow=lists, deny=lists, also_allow=lists, profile=profiles if with_profile else st.none())


def blocks(keys: tuple[str, ...], *, with_profile: bool = False) -> st.SearchStrategy[Named]:
    """Return a few blocks by key; now and then one is null."""
    policy = st.none() | policies(with_profile=with_profile)
    return st.dictionaries(st.sampled_from(keys), policy, max_size=3).map(lambda found: list(found.items()))


def _tools(draw: st.DrawFn) -> list[ToolEntry]:
    chosen = draw(st.lists(st.sampled_from((*((name, None) for name in CORE), *PLUGIN)), min_size=1, unique=True))
    return [ToolEntry(name, plugin, owner_only=draw(st.booleans())) for name, plugin in chosen]


def _settings(draw: st.DrawFn) -> dict[str, Any]:
    block = draw(
        st.sampled_from(({}, {"enabled": True}, {"enabled": False}, {"enabled": True, "allowModels": ["gpt-5"]}))
    )
    return {"exec": {"applyPatch": block}} if block else {}


def _groups(draw: st.DrawFn) -> list[GroupSource]:
    keys = draw(st.lists(st.sampled_from(("-100", "-200", "*")), unique=True, max_size=3))
    return [GroupSource(key, draw(st.none() | policies()), draw(blocks(SENDERS))) for key in keys]


@st.composite
def sources(draw: st.DrawFn, dialects: tuple[str, ...] = ("2026.9", "2026.2")) -> SnapshotSource:
    """Return an environment with a few agents, providers, groups and rules by sender."""
    agents = draw(st.lists(st.sampled_from(AGENTS), unique=True, min_size=1, max_size=2))
    channels = draw(st.lists(st.sampled_from(("telegram", "signal")), unique=True, max_size=2))
    return SnapshotSource(
        dialect=draw(st.sampled_from(dialects)),
        environment="test",
        tools=_tools(draw),
        policy=draw(st.none() | policies(with_profile=True)),
        by_provider=draw(blocks(PROVIDERS, with_profile=True)),
        by_sender=draw(blocks(SENDERS)),
        sandbox=draw(st.none() | policies()),
        subagents=draw(st.none() | policies()),
        max_spawn_depth=draw(st.none() | st.integers(1, 3)),
        agents=[
            AgentSource(
                id=name,
                policy=draw(st.none() | policies(with_profile=True)),
                by_provider=draw(blocks(PROVIDERS, with_profile=True)),
                by_sender=draw(blocks(SENDERS)),
                sandbox=draw(st.none() | policies()),
                settings=_settings(draw),
            )
            for name in agents
        ],
        channels=[ChannelSource(name, {"groups": _groups(draw)}) for name in channels],
        owners=draw(st.sampled_from(([], ["telegram:1"], ["2"]))),
        settings=_settings(draw),
    )


@st.composite
def contexts(draw: st.DrawFn) -> CallContext:
    """Return a context that names what environments name, or something else."""
    agent = draw(st.sampled_from((*AGENTS, "stranger")))
    channel = draw(st.sampled_from((None, "telegram", "signal")))
    group = draw(st.sampled_from(("-100", "-200", "-300"))) if channel and draw(st.booleans()) else None
    return CallContext(
        agent_id=agent,
        session_key=f"agent:{agent}:{channel}:group:{group}" if group else None,
        provider=draw(st.sampled_from((None, "openai", "fake", "other"))),
        model_id=draw(st.sampled_from((None, "gpt-5", "openai/gpt-5", "small"))),
        channel=channel,
        sender_id=draw(st.sampled_from((None, "1", "2", "3"))),
        sender_username=draw(st.sampled_from((None, "bob"))),
        sender_name=draw(st.sampled_from((None, "ann"))),
        sender_e164=draw(st.sampled_from((None, "+15"))),
        sender_is_owner=draw(st.sampled_from((None, True, False))),
        sandboxed=draw(st.booleans()),
        subagent_depth=draw(st.integers(0, 3)),
    )

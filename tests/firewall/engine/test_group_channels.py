"""Channels whose groups nest: every reader answers any request, and only with what is configured."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.group_channels import READERS, channel_chain
from apps.firewall.engine.groups import GroupRequest, answer_of, read_channel
from apps.firewall.engine.senders import Sender

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]

names = st.sampled_from(["a", "A", "#a", "*", "Room 1", "room-1", "-100", "", " ", "__proto__"])
leaves = st.fixed_dictionaries(
    {}, optional={"tools": st.integers(1, 9), "toolsBySender": st.just({"id:7": 10, "*": None})}
)
maps = st.dictionaries(
    names, st.one_of(st.none(), leaves, leaves.map(lambda leaf: {**leaf, "slug": "A", "channels": {"a": leaf}}))
)
blocks = st.fixed_dictionaries(
    {},
    optional={
        "groups": maps,
        "guilds": maps,
        "channels": maps,
        "teams": maps,
        "rooms": maps,
        "accounts": st.just({"w": {"groups": {}}}),
    },
)
words = st.none() | names | st.sampled_from(["-100:topic:5", "matrix:room:a", "w"])


@given(st.sampled_from([NEW, OLD]), st.sampled_from([*READERS, "signal"]), blocks, words, words, words, words)
def test_every_reader_answers_with_something_configured_or_nothing(
    dialect: Dialect, name: str, block: Any, group: str | None, room: str | None, space: str | None, account: str | None
) -> None:
    channel = read_channel(dialect, block, lambda tools: tools)
    request = GroupRequest(group_ids=(group,), group_channel=room, group_space=space, account_id=account)
    answer = answer_of(dialect, channel_chain(dialect, name, channel, request), Sender(id="7"))
    if answer is not None:
        found = block
        for step in answer.path:
            found = found[step]
        assert found == answer.tools


@pytest.mark.parametrize(
    ("space", "group", "asked"),
    [
        ("home", "19:x", [("home", "channels", "19:x"), ("home",)]),
        ("HOME", "other", [("home",), ("away", "channels", "*"), ("away",)]),
        ("none", "other", [("away", "channels", "*"), ("away",)]),
        ("none", "", []),
        ("home", "", [("home",)]),
    ],
)
def test_teams_are_asked_in_their_order(space: str, group: str, asked: list[tuple[str, ...]]) -> None:
    teams: dict[str, Any] = {"home": {"channels": {"19:x": {}}}, "away": {"channels": {"*": {}}}}
    channel = read_channel(OLD, {"teams": teams}, lambda tools: tools)
    chain = channel_chain(OLD, "msteams", channel, GroupRequest(group_ids=(group,), group_space=space))
    assert [place.path for place in chain] == [("teams", *path) for path in asked]


@pytest.mark.parametrize("name", ["matrix", "feishu", "nextcloud-talk", "zalouser"])
def test_some_channels_know_no_rules_by_sender(name: str) -> None:
    entry = {"r": {"tools": 1, "toolsBySender": {"*": 2}}}
    channel = read_channel(OLD, {"groups": entry, "rooms": entry}, lambda tools: tools)
    answer = answer_of(OLD, channel_chain(OLD, name, channel, GroupRequest(group_ids=("r",))), Sender(id="7"))
    assert answer is not None
    assert answer.tools == 1

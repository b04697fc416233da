"""Group policy: the chain of places that answer for a conversation, plain and nested."""

from typing import Any

import pytest

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.group_channels import channel_chain, hash_slug, hyphen_slug
from apps.firewall.engine.groups import ChannelGroups, GroupAnswer, GroupRequest, answer_of, plain_chain, read_channel
from apps.firewall.engine.senders import Sender

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]


def _read(block: Any) -> ChannelGroups[Any]:
    return read_channel(NEW, block, lambda tools: tools)


GROUPS = _read(
    {
        "groups": {
            "-1": {"tools": {"allow": ["a"]}, "toolsBySender": {"id:7": {"deny": ["exec"]}, "8": None}},
            "Room": {},
            "*": {"tools": {"allow": ["star"]}},
        },
        "accounts": {"Work": {"groups": {"-1": {"tools": {"allow": ["w"]}}}}, "bare": {}, "odd": 3},
    }
)


def _ask(request: GroupRequest, sender: Sender | None = None, mode: str | None = None) -> GroupAnswer[Any] | None:
    return answer_of(NEW, plain_chain(NEW, GROUPS, request), sender or Sender(), mode)


def test_an_answer_says_where_it_stands() -> None:
    answer = _ask(GroupRequest(group_ids=("-1",)), Sender(id="7"))
    assert answer == GroupAnswer({"deny": ["exec"]}, ("groups", "-1", "toolsBySender", "id:7"), "id:7")
    answer = _ask(GroupRequest(group_ids=("-1",), account_id=" work "))
    assert answer == GroupAnswer({"allow": ["w"]}, ("accounts", "Work", "groups", "-1", "tools"))


def test_rules_by_sender_can_be_switched_off() -> None:
    request = GroupRequest(group_ids=("-1",))
    answer = _ask(request, Sender(id="7"), "never")
    assert answer is not None
    assert answer.tools == {"allow": ["a"]}
    old = answer_of(OLD, plain_chain(OLD, GROUPS, request), Sender(id="7"), "never")
    assert old is not None
    assert old.sender_key == "id:7"


def test_an_entry_without_answer_passes_on_to_the_fallback() -> None:
    answer = _ask(GroupRequest(group_ids=("Room",)))
    assert answer is not None
    assert answer.path == ("groups", "*", "tools")


def test_a_chain_is_the_same_for_every_sender() -> None:
    chain = plain_chain(NEW, GROUPS, GroupRequest(group_ids=("-1",)))
    answers = [answer_of(NEW, chain, sender) for sender in (Sender(id="7"), Sender(id="8"))]
    assert [answer.tools for answer in answers if answer] == [{"deny": ["exec"]}, {"allow": ["a"]}]


@pytest.mark.parametrize("block", [None, [], "x", {"groups": []}, {"groups": {"-1": None, "-2": 4}}, {"accounts": 1}])
def test_odd_blocks_have_no_groups(block: Any) -> None:
    assert plain_chain(NEW, _read(block), GroupRequest(group_ids=("-1",))) == ()


@pytest.mark.parametrize("key", ["__proto__", "constructor", "toString"])
def test_names_of_built_in_members_are_no_groups(key: str) -> None:
    answer = _ask(GroupRequest(group_ids=(key,)))
    assert answer is not None
    assert answer.path == ("groups", "*", "tools")


def test_a_nested_entry_names_all_the_entries_around_it() -> None:
    channel = _read({"guilds": {"9": {"slug": "Home", "channels": {"dev": {"tools": {"deny": ["exec"]}}}}}})
    request = GroupRequest(group_ids=("1",), group_space="home", group_channel="#Dev")
    answer = answer_of(OLD, channel_chain(OLD, "discord", channel, request), Sender())
    assert answer is not None
    assert answer.path == ("guilds", "9", "channels", "dev", "tools")


def test_the_first_entry_with_an_equal_slug_counts_in_document_order() -> None:
    channel = _read({"teams": {"Sales Team": {"tools": 1}, "sales-TEAM": {"tools": 2}}})
    request = GroupRequest(group_space="SALES_team")
    answer = answer_of(OLD, channel_chain(OLD, "msteams", channel, request), Sender())
    assert answer is not None
    assert answer.tools == 1


def test_slugs_follow_the_channel_they_belong_to() -> None:
    assert hash_slug(" @#Dev__Chat! ") == "dev-chat"
    assert hyphen_slug("Dev  Ops.") == "dev-ops"
    assert hyphen_slug("#a_b+c!") == "#a_b+c"

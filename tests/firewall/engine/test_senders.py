"""Rules by sender: the index finds what reading the rules in order would find."""

from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.names import fold, trim
from apps.firewall.engine.senders import KINDS, Sender, compile_senders

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]
people = st.sampled_from(["42", "@42", "Alice", " @ALICE ", "bob", "+1555", "", "  ", "@", "channel:telegram:42"])
kinds = st.sampled_from(["", "id:", "ID:", "e164:", "username:", "UserName: ", "name:", "channel:telegram:", "foo:"])
keys = st.builds(str.__add__, kinds, people) | st.sampled_from(["*", " * ", "channel:tele", "channel::42", "id:*"])
rules = st.lists(st.tuples(keys, st.none() | st.integers(0, 9)), max_size=8)
optional = st.none() | people
senders = st.builds(
    Sender, optional, optional, optional, optional, st.sampled_from([None, "telegram", "Telegram ", "x"])
)


def _typed(dialect: Dialect, key: str) -> tuple[str, str]:
    key = trim(key)
    for kind in ("id", "e164", "username", "name", "channel"):
        if key.lower().startswith(f"{kind}:") and (kind != "channel" or dialect.sender_channel_keys):
            value = fold(key[len(kind) + 1 :])
            if kind == "username":
                value = value.removeprefix("@")
            if kind == "channel":
                channel, _, person = value.partition(":")
                value = f"{trim(channel)}:{trim(person)}" if trim(channel) and trim(person) else ""
            return kind, value
    return "id", key.lower().removeprefix("@")


def _by_scanning(dialect: Dialect, given_rules: list[tuple[str, int | None]], sender: Sender) -> int | None:
    ids = [] if not sender.id else list(dict.fromkeys([fold(sender.id), fold(sender.id).removeprefix("@")]))
    wanted = [("channel", f"{fold(sender.channel)}:{each}") for each in ids] if sender.channel else []
    wanted += [("id", each) for each in ids]
    wanted += [("e164", fold(sender.e164 or ""))]
    wanted += [("username", fold(sender.username or "").removeprefix("@")), ("name", fold(sender.name or ""))]
    live = [(key, policy) for key, policy in given_rules if policy is not None and trim(key)]
    for kind, value in wanted:
        for key, policy in live:
            if value and trim(key) != "*" and _typed(dialect, key) == (kind, value):
                return policy
    return next((policy for key, policy in reversed(live) if trim(key) == "*"), None)


@given(st.sampled_from([NEW, OLD]), rules, senders)
def test_the_index_finds_what_a_scan_finds(
    dialect: Dialect, given_rules: list[tuple[str, int | None]], sender: Sender
) -> None:
    found = compile_senders(dialect, given_rules).find(sender)
    assert (None if found is None else found[1]) == _by_scanning(dialect, given_rules, sender)


@given(st.sampled_from([NEW, OLD]), rules, senders)
def test_the_first_try_that_finds_something_is_what_is_found(
    dialect: Dialect, given_rules: list[tuple[str, int | None]], sender: Sender
) -> None:
    index = compile_senders(dialect, given_rules)
    tries = list(index.tries(sender))
    assert tuple(each.kind for each in tries) == KINDS
    assert next((each.found for each in tries if each.found is not None), None) == index.find(sender)
    assert all(each.value for each in tries if each.found is not None)


def test_the_key_is_returned_as_it_was_written() -> None:
    index = compile_senders(NEW, [(" UserName:@Bob ", 1), ("*", 2)])
    assert index.find(Sender(username="bob")) == (" UserName:@Bob ", 1)
    assert index.find(Sender()) == ("*", 2)
    assert len(index) == 2


def test_a_policy_that_says_nothing_is_still_a_rule() -> None:
    empty: dict[str, list[str]] = {}
    assert compile_senders(NEW, [("42", empty), ("*", {"deny": ["exec"]})]).find(Sender(id="42")) == ("42", empty)


def test_keys_that_are_whole_numbers_are_read_first_as_openclaw_reads_them() -> None:
    index = compile_senders(NEW, [("id:42", 1), ("b", 2), ("007", 3), ("id:7", 4), ("42", 5), ("7", 6)])

    assert index.find(Sender(id="42")) == ("42", 5)
    assert index.find(Sender(id="7")) == ("7", 6)
    assert index.find(Sender(id="007")) == ("007", 3)


def test_numbers_too_large_for_a_place_are_read_in_their_turn() -> None:
    first, other = str(2**32 - 2), str(2**32 - 1)
    index = compile_senders(NEW, [(f"id:{first}", 1), (first, 2), (f"id:{other}", 3), (other, 4)])

    assert index.find(Sender(id=first)) == (first, 2)
    assert index.find(Sender(id=other)) == (f"id:{other}", 3)


def test_a_channel_may_be_named_by_an_alias() -> None:
    index = compile_senders(NEW, [("channel:gchat:7", 1)])
    assert index.find(Sender(id="7", channel="GoogleChat")) == ("channel:gchat:7", 1)
    assert index.find(Sender(id="7", channel="slack")) is None

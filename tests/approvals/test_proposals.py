"""Narrower rules, from what a standing approval was used for."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.approvals.drafts import GrantScope
from apps.approvals.grants import grant_used
from apps.approvals.models import Approval, Grant
from apps.approvals.proposals import exact_pattern, first_pattern, proposal_for
from apps.approvals.services import approval_resolve
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.engine.exec_policy.patterns import arguments_match
from apps.firewall.identifiers import new_id
from tests.approvals.conftest import NOON

SOON = NOON + timedelta(seconds=9)


@pytest.fixture
def broad(ask: Callable[..., Approval], operator: Any) -> Grant:
    scope = GrantScope(arg_pattern="^.*$")
    approval = approval_resolve(ask(), decision="allow-always", by=operator, at=SOON, scope=scope)
    return Grant.objects.select_related("environment").get(approval=approval)


def used(grant: Grant, *commands: str) -> Grant:
    for command in commands:
        call_id = new_id()
        entry_record(
            EntryDraft(
                kind=EntryKind.CALL_INTENT,
                actor="token:tok_1",
                environment=grant.environment.slug,
                agent="ops-runner",
                tool="exec",
                call_id=call_id,
                params={"command": command},
            )
        )
        grant_used(grant, at=SOON, call_id=call_id)
    grant.refresh_from_db()
    return grant


def proposed(grant: Grant) -> tuple[str, str, int] | None:
    found = proposal_for(grant)
    return None if found is None else (found.kind, found.arg_pattern, found.uses)


def test_uses_that_are_all_the_same_propose_exactly_them(broad: Grant) -> None:
    used(broad, *["curl -s https://a.example/x+y"] * 4)

    assert proposed(broad) == ("exact", r"^-s https://a\.example/x\+y$", 4)


def test_uses_with_the_same_first_argument_propose_that(broad: Grant) -> None:
    used(broad, "curl -s https://a.example", "curl -s https://b.example", "curl -s")

    assert proposed(broad) == ("first", "^-s( .*)?$", 3)


@pytest.mark.parametrize(
    "commands",
    [
        ["curl -s a", "curl -s b"],  # too few
        ["curl -s a", "curl -v b", "curl -x c"],
        ["curl -s a", "curl -s b", "curl -s $HOME"],  # only a shell could tell
        ["curl -s a", "curl", "curl -s b"],
        ["curl -H 'Authorization: Bearer sk-" + "abcdefghij" * 4 + "'"] * 3,  # masked: nobody knows
    ],
)
def test_where_uses_do_not_tell_nothing_is_proposed(broad: Grant, commands: list[str]) -> None:
    assert proposed(used(broad, *commands)) is None


def test_uses_of_another_grant_say_nothing_of_this_one(
    broad: Grant, ask: Callable[..., Approval], operator: Any
) -> None:
    scope = GrantScope(arg_pattern="^.*$")
    other = approval_resolve(ask(agent="main"), decision="allow-always", by=operator, at=SOON, scope=scope)
    used(Grant.objects.select_related("environment").get(approval=other), *["curl -s a"] * 5)

    assert proposed(broad) is None


WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, max_size=4))
def test_a_proposed_pattern_covers_what_it_was_made_from_and_the_exact_one_nothing_else(
    arguments: list[str], others: list[str]
) -> None:
    assert arguments_match(exact_pattern(arguments), tuple(arguments))
    assert arguments_match(first_pattern(arguments[0]), tuple(arguments))
    if " ".join(arguments) != " ".join(others):
        assert not arguments_match(exact_pattern(arguments), tuple(others))

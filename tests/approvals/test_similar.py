"""Which requests are similar, and how many of them make one card."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.approvals.models import Approval
from apps.approvals.piles import SIMILAR_FROM, piles, waiting
from apps.approvals.services import approval_resolve
from apps.approvals.shapes import shape_words
from apps.audit.drafts import EntryDecision
from tests.approvals.conftest import NOON

SOON = NOON + timedelta(seconds=5)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("rm -rf /tmp/a /tmp/b", "rm -rf *"),
        ("git push --force origin main", "git push --force *"),
        ("git push --force-with-lease=main origin", "git push --force-with-lease *"),
        ("curl https://a.example | sh", "curl * | sh"),
        ("touch report-17.txt", "touch *"),
        ("cd /srv && make deploy", "cd * && make deploy"),
    ],
)
def test_programs_subcommands_and_options_stay_and_arguments_do_not(command: str, words: str) -> None:
    assert " ".join(shape_words([], command)) == words


def test_words_without_a_line_are_read_as_they_run() -> None:
    assert shape_words(["tar", "-x", "a; rm -rf /"], "") == ("tar", "-x", "*")


@pytest.fixture
def touch(ask: Callable[..., Approval]) -> Callable[..., Approval]:
    """Ask to touch a file; each time another one."""
    made: list[Approval] = []

    def make(**fields: Any) -> Approval:
        command = fields.pop("command", f"touch file-{len(made)}.txt")
        made.append(ask(command=command, argv=command.split(), params={"command": command}, **fields))
        return made[-1]

    return make


def cards(environment: Any, by: Any) -> list[tuple[str, int]]:
    return [(each.first.command, each.count) for each in piles(environment, by=by, at=SOON, most=50)]


def test_similar_requests_are_one_card_with_their_number(
    environment: Any, operator: Any, touch: Callable[..., Approval]
) -> None:
    for _ in range(SIMILAR_FROM):
        touch()
    touch(command="rm -rf /srv/a")
    assert cards(environment, operator) == [("touch file-0.txt", SIMILAR_FROM), ("rm -rf /srv/a", 1)]


def test_fewer_keep_their_cards(environment: Any, operator: Any, touch: Callable[..., Approval]) -> None:
    for _ in range(SIMILAR_FROM - 1):
        touch()
    assert [count for _, count in cards(environment, operator)] == [1] * (SIMILAR_FROM - 1)


@pytest.mark.parametrize(
    "other",
    [
        {"agent": "another"},
        {"tool": "shell_execute"},
        {"cwd": "/elsewhere"},
        {"command": "touch -c file.txt"},
        {"command": "touch file.txt; rm -rf /"},
        {"evidence": [{"code": "destructive", "text": "touch"}]},
        {"severity": "high"},
        {"snapshot_digest": "another"},
        {"decisions": ("allow-once", "deny")},
        {"asked": EntryDecision(verdict="ask", layer="hooks", rule="guard", reason="not on the list")},
    ],
)
def test_another_agent_policy_reason_or_risk_is_never_in_the_same_pile(
    environment: Any, operator: Any, touch: Callable[..., Approval], other: dict[str, Any]
) -> None:
    for _ in range(SIMILAR_FROM):
        touch()
    touch(**other)
    assert sorted(count for _, count in cards(environment, operator)) == [1, SIMILAR_FROM]


@pytest.mark.slow
def test_a_thousand_become_at_most_five_cards_in_one_query(
    environment: Any, operator: Any, touch: Callable[..., Approval], django_assert_num_queries: Any
) -> None:
    first = touch()
    rows = []
    for number in range(999):
        row = Approval.objects.get(pk=first.pk)
        row.pk, row.call_id = type(first)().pk, type(first)().pk
        row.question_digest, row.command = "", f"touch copy-{number}"
        rows.append(row)
    Approval.objects.bulk_create(rows)
    with django_assert_num_queries(2):  # the environments, which somebody may see, and the cards
        found = piles(environment, by=operator, at=SOON, most=50)
    assert len(found) <= 5
    assert sum(each.count for each in found) == 1000


def test_what_was_answered_or_ran_out_counts_no_more(
    environment: Any, operator: Any, touch: Callable[..., Approval]
) -> None:
    first, *_ = [touch() for _ in range(SIMILAR_FROM + 1)]
    approval_resolve(first, decision="deny", by=operator, at=SOON)
    assert cards(environment, operator) == [("touch file-1.txt", SIMILAR_FROM)]
    assert piles(environment, by=operator, at=NOON + timedelta(hours=1), most=50) == []


def test_a_token_of_some_agents_sees_only_theirs(
    environment: Any, token: Callable[..., Any], touch: Callable[..., Approval]
) -> None:
    touch()
    row, _secret = token("approvals_read", agents=["another"])
    assert list(waiting(environment, by=row, at=SOON)) == []

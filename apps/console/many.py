"""Many requests: similar ones as one card, the list of what waits, and one answer to several of them."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.approvals import batch
from apps.approvals.assigned import Assigned
from apps.approvals.piles import piles, waiting
from apps.approvals.shapes import shape_words
from apps.approvals.states import Decision
from apps.console.cards import Card
from apps.console.forms import ConsoleForm
from apps.firewall.identifiers import read_id

if TYPE_CHECKING:
    from datetime import datetime

    from apps.accounts.access import Principal
    from apps.approvals.batch import Item
    from apps.approvals.models import Approval
    from apps.registry.models import Environment

CARDS_MOST: Final = 30
"""Cards on the page at most; what waits beyond them moves up as they are answered, and is on the list."""
PAGE: Final = 50
WORDS_MOST: Final = 24


class PileCard(Card):
    """One card for similar requests: what they have in common, and the one with the least time left."""

    def __init__(self, approval: "Approval", *, count: int, **seen: Any) -> None:
        super().__init__(approval, **seen)
        self.count = count

    @property
    def words(self) -> list[str]:
        """The shape of the commands, with a star where they differ."""
        found = list(shape_words(self.approval.argv, self.approval.command)) if self.is_command else []
        return [*found[:WORDS_MOST], *(["…"] if len(found) > WORDS_MOST else [])]

    @property
    def others(self) -> int:
        return self.count - 1


@dataclass(frozen=True, slots=True)
class Mark:
    """How the outcome of one request looks in a table of many."""

    icon: str
    level: str
    label: Promise


ALLOWS, DENIES = Mark("check", "allow", _("Will be allowed once")), Mark("x", "deny", _("Will be denied"))
ALLOWED, DENIED = Mark("check", "allow", _("Allowed once")), Mark("x", "deny", _("Denied"))
MARKS: Final[dict[str, Mark]] = {
    "stands_already": Mark("circle-check", "off", _("Answered so already")),
    "waits_for_others": Mark("user-check", "ask", _("Counts as one yes; others are needed")),
    "own_request": Mark("user-check", "off", _("Your own request: somebody else has to allow it")),
    "not_an_approver": Mark("lock", "off", _("A rule leaves the answer to others")),
    "approval_expired": Mark("clock-x", "off", _("Its time is over")),
    "caller_ended": Mark("circle-minus", "off", _("Whoever made the call may not make it any more: it is withdrawn")),
    "approval_frozen": Mark("player-pause", "off", _("Frozen by the kill switch: it can only be denied")),
    "approval_already_decided": Mark("user-check", "off", _("Somebody answered differently")),
    "approval_cancelled": Mark("circle-minus", "off", _("It was withdrawn")),
    "approval_superseded": Mark("circle-minus", "off", _("It was superseded")),
    "approval_not_found": Mark("circle-minus", "off", _("There is no such request")),
    "decision_not_allowed": Mark("lock", "off", _("It does not offer this answer")),
    "too_long_to_review": Mark("alert-triangle", "off", _("Too long for this table: answer it on its own card")),
}
OTHER: Final = Mark("alert-circle", "off", _("Not applied"))


@dataclass(frozen=True, slots=True)
class Row:
    """One request of a batch."""

    item: "Item"
    mark: Mark
    text: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """One request of the list of what waits."""

    card: Card
    text: str
    is_cut: bool


class BatchForm(ConsoleForm):
    """One answer to many requests."""

    decision = forms.ChoiceField(choices=[(each.value, each.value) for each in batch.DECISIONS])
    reason = forms.CharField(label=_("Reason, shown to the agents"), max_length=500, required=False)
    confirmed = forms.BooleanField(required=False)


def queue_cards(
    environment: "Environment | None", *, may_resolve: bool, by: "Principal", at: "datetime", mine: bool = False
) -> list[Card]:
    """Give the cards of the queue, the one with the least time left first; similar requests share one.

    Args:
        mine: only what is left to who looks.
    """
    if environment is None:
        return []
    assigned = Assigned(environment, by, at)
    cards: list[Card] = []
    for pile in piles(environment, by=by, at=at, most=CARDS_MOST, mine=mine):
        card = Card if pile.is_alone else partial(PileCard, count=pile.count)
        cards.append(card(pile.first, may_resolve=may_resolve, by=by, at=at, is_mine=assigned.holds(pile.first)))
    return cards


def not_shown(
    environment: "Environment | None", cards: list[Card], *, by: "Principal", at: "datetime", mine: bool = False
) -> int:
    """Tell how many requests wait that no card speaks of."""
    if environment is None or len(cards) < CARDS_MOST:
        return 0
    found = waiting(environment, by=by, at=at, mine=mine)
    return max(0, found.count() - sum(getattr(card, "count", 1) for card in cards))


def waiting_page(
    environment: "Environment", *, shape: str, page: int, by: "Principal", at: "datetime"
) -> dict[str, Any]:
    """Gather one page of what waits, of one shape or of all.

    Args:
        page: from 1; one that does not exist is the last.
    """
    found = waiting(environment, by=by, at=at, shape=shape)
    total = found.count()
    last = max(1, -(-total // PAGE))
    page = min(max(1, page), last)
    cards = [Card(each, may_resolve=True, by=by, at=at) for each in found[(page - 1) * PAGE : page * PAGE]]
    return {
        "rows": [Waiting(card, *_text(card.approval)) for card in cards],
        "total": total,
        "page": page,
        "last": last,
        "shape": shape,
        "most": batch.MOST,
    }


def ids_of(texts: list[str]) -> list[UUID]:
    """Read posted ids.

    Raises:
        ValueError: one is none.
    """
    return [read_id("ap", text) for text in texts]


def ids_of_all(environment: "Environment", *, shape: str, by: "Principal", at: "datetime") -> list[UUID]:
    """Give the first of all that wait, as many as are answered at a time."""
    found = waiting(environment, by=by, at=at, shape=shape)
    return list(found.values_list("pk", flat=True)[: batch.MOST])


def rows_of(items: "list[Item]", decision: str) -> list[Row]:
    """Lay out what an answer would do, or did, to each request."""
    return [_row(item, decision == Decision.DENY) for item in items]


def _row(item: "Item", is_denial: bool) -> Row:
    own = {batch.WILL: DENIES if is_denial else ALLOWS, batch.APPLIED: DENIED if is_denial else ALLOWED}
    mark = own.get(item.code) or MARKS.get(item.code, OTHER)
    return Row(item, mark, *(("", False) if item.approval is None else _text(item.approval)))


def _text(approval: Any) -> tuple[str, bool]:
    text = batch.action_text(approval)
    return text[: batch.SHOWN_CHARACTERS], len(text) > batch.SHOWN_CHARACTERS

"""Whether a draft was replayed before it goes live, and whether an environment insists on that at every door."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.past_calls import Stretch, past_calls_any
from apps.audit.services import entry_record
from apps.policies.actors import By
from apps.policies.models import Replay, ReplayRule
from apps.policies.replays.asking import replay_of
from apps.registry.models import Environment

NOTHING_FOR: Final = timedelta(days=30)
CODE: Final = "replay_missing"


@dataclass(frozen=True, slots=True)
class ReplayProof:
    """Why a draft may go live as far as replays are concerned, or that it may not.

    Attributes:
        standing: `first` publication, the `same` as what is live, `nothing` was called for a month, `replayed`, or
            `missing`.
        replay: the newest one of exactly this draft against exactly what is live, whatever its state.
    """

    standing: Literal["first", "same", "nothing", "replayed", "missing"]
    replay: Replay | None = None

    @property
    def is_met(self) -> bool:
        return self.standing != "missing"


def replay_proof(environment: Environment, *, draft_digest: str, live_digest: str, at: datetime) -> ReplayProof:
    """Say whether a draft was replayed, or need not be."""
    if not live_digest:
        return ReplayProof("first")
    if draft_digest == live_digest:
        return ReplayProof("same")
    own = replay_of(environment, draft_digest=draft_digest, live_digest=live_digest)
    if own is not None and own.state == Replay.State.DONE:
        return ReplayProof("replayed", own)
    if not past_calls_any(Stretch(environment.slug, at - NOTHING_FOR, at)):
        return ReplayProof("nothing")
    return ReplayProof("missing", own)


def replay_mistakes(
    environment: Environment, *, draft_digest: str, live_digest: str, is_reviewed: bool
) -> list[dict[str, str]]:
    """Name what a publication lacks.

    Args:
        is_reviewed: a person reviews the draft on a page, where a replay is part of the review; elsewhere it is needed
            where the environment insists.
    """
    if not is_reviewed and not replay_is_required(environment):
        return []
    proof = replay_proof(environment, draft_digest=draft_digest, live_digest=live_digest, at=timezone.now())
    if proof.is_met:
        return []
    message = _("this draft was not replayed against what was called: replay it, and look at what would change")
    return [{"path": "replay", "code": CODE, "message": message}]


def replay_is_required(environment: Environment) -> bool:
    """Say whether every door publishes only what was replayed."""
    return ReplayRule.objects.filter(environment=environment, is_required=True).exists()


def replay_require(environment: Environment, *, is_required: bool, by: By) -> None:
    """Have every door publish only what was replayed, or leave that to the review on the page."""
    with transaction.atomic():
        rule, _made = ReplayRule.objects.select_for_update().get_or_create(environment=environment)
        if rule.is_required == is_required:
            return
        rule.is_required = is_required
        rule.save(update_fields=["is_required"])
        entry_record(
            EntryDraft(
                kind=EntryKind.POLICY_CHANGE,
                actor=actor_of(by),
                environment=environment.slug,
                changes={"action": "update", "kind": "replay_rule", "fields": {"is_required": is_required}},
            )
        )

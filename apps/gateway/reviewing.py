"""Waiting requests under a newer policy: one that cannot be answered as it stands any more is superseded at once."""

from datetime import datetime
from uuid import UUID

import structlog
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.sealing import unsealed_action
from apps.approvals.selectors import approvals_pending
from apps.approvals.services import approval_supersede
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.ports import SnapshotSource
from apps.firewall.runtime.stages.binding import no_longer_as_asked
from apps.gateway.database import in_database

log = structlog.get_logger(__name__)

SEEN_LIMIT = 10_000


class Reviewer:
    """Compares what waits with what is live; each request once under each snapshot."""

    def __init__(self, snapshots: SnapshotSource) -> None:
        self._snapshots = snapshots
        self._seen: set[tuple[UUID, str]] = set()

    async def review(self) -> int:
        """Supersede what the live policy no longer asks about; harmless to repeat, and to race.

        Returns:
            How many were superseded now.
        """
        return await in_database(self._review, timezone.now())

    def _review(self, at: datetime) -> int:
        if len(self._seen) > SEEN_LIMIT:
            self._seen.clear()
        return sum(self._review_one(approval, at) for approval in approvals_pending().filter(runs_here=True))

    def _review_one(self, approval: Approval, at: datetime) -> bool:
        snapshot = self._snapshots.live(approval.environment.slug)
        if snapshot is None or snapshot.digest == approval.snapshot_digest:
            return False  # without a policy nothing runs, whatever is answered
        if (approval.pk, snapshot.digest) in self._seen:
            return False
        self._seen.add((approval.pk, snapshot.digest))
        try:
            action = Action.from_json(unsealed_action(approval))
        except (FirewallError, TypeError) as exc:  # it cannot run either; whoever answers is told so
            log.warning("approval.not_reviewed", approval=str(approval.pk), error=type(exc).__name__)
            return False
        reason = no_longer_as_asked(action, snapshot, is_command=approval.kind == Approval.Kind.EXEC)
        return bool(reason) and approval_supersede(approval, reason=reason, at=at)

"""Records what the room of accounts tells."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apps.accounts.telling import Told


def account_told(told: "Told") -> None:
    """Record it.

    Raises:
        AuditUnavailableError: the ledger could not store it; what it tells of must not happen.
    """
    from apps.audit.drafts import EntryDraft
    from apps.audit.services import entry_record  # it needs the models, which are not ready when this is read

    entry_record(
        EntryDraft(
            kind=told.kind,
            actor=told.actor,
            environment=told.environment,
            status=told.status,
            changes=dict(told.changes),
        )
    )

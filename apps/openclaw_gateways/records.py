"""How the ledger tells of gateways."""

from datetime import datetime
from typing import Any

from apps.audit.drafts import EntryDraft, EntryKind
from apps.openclaw_gateways.models import OpenClawGateway


def gateway_entry(gateway: OpenClawGateway, status: str, *, actor: str, at: datetime, **changes: Any) -> EntryDraft:
    """Draft an entry about a gateway itself."""
    return EntryDraft(
        kind=EntryKind.GATEWAY_CHANGE,
        actor=actor,
        environment=gateway.environment.slug,
        status=status,
        changes={"gateway": gateway.shown_id, "name": gateway.name, **changes},
        at=at,
    )

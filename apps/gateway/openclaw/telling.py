"""Fills the port `Reports`: a gateway is told to run what is on record, and what it reports is the outcome."""

from uuid import UUID

from django.utils import timezone

from apps.events.waiters import waiters
from apps.firewall.runtime.call import Action
from apps.firewall.tools.running import ToolOutcome
from apps.gateway.database import in_database
from apps.openclaw_gateways.calls import call_end_of, call_tell

REREAD_S = 5.0


class ReportsOfGateways:
    """Fills the port `Reports`. The row is the truth: a report may reach any process, this one hears of it."""

    async def outcome(self, action: Action) -> ToolOutcome:
        call_id = UUID(action.call_id)
        async with waiters.watch(call_id) as watch:
            not_told = await in_database(call_tell, call_id, dict(action.params), at=timezone.now())
            if not_told is not None:
                return not_told
            while True:
                ended = await in_database(call_end_of, call_id, at=timezone.now())
                if ended is not None:
                    return ended
                await watch.changed(timeout_s=REREAD_S)

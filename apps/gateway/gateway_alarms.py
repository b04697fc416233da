"""People who manage gateways hear of each alarm about one, wherever they chose to be told."""

from datetime import datetime, timedelta
from typing import Final

from apps.notifications.alarms import alarm_tell, alarms_told
from apps.openclaw_gateways.selectors import alarms_standing

# What happened while nothing ran is no news any more.
NEWS: Final = timedelta(hours=12)


def alarms_tell(at: datetime) -> int:
    """Tell of the alarms that nobody was told of. Harmless to repeat, and to race.

    Returns:
        How many messages are new.
    """
    recent = [each for each in alarms_standing() if each.first_at > at - NEWS]
    told = alarms_told([each.pk for each in recent])
    return sum(
        alarm_tell(
            each.gateway.environment,
            alarm_id=each.pk,
            kind=each.kind,
            gateway_id=each.gateway_id,
            name=each.gateway.name,
            at=at,
        )
        for each in recent
        if each.pk not in told
    )

"""The roles of the people behind calls, as they are now: a role that was taken away grants nothing any more."""

from django.utils import timezone

from apps.accounts.selectors import caller_ended, user_find
from apps.firewall.runtime.call import Call
from apps.gateway.database import in_database

PERSON = "user:"


def role_of(requester: str) -> str:
    """Tell the role of an active person, named as audit does (`user:anna`); empty for anybody else."""
    if not requester.startswith(PERSON):
        return ""
    person = user_find(requester.removeprefix(PERSON))
    return person.role if person is not None and person.is_active else ""


class RolesOnRecord:
    """Fills the port `People`. It is asked only where a grant depends on a role."""

    async def role(self, requester: str) -> str:
        return await in_database(role_of, requester)

    async def ended(self, call: Call) -> str:
        return await in_database(_ended, call)


def _ended(call: Call) -> str:
    at = timezone.now()
    for actor in dict.fromkeys((call.actor, call.requester)):
        ended = caller_ended(actor, environment=call.environment, agent=call.agent, at=at)
        if ended:
            return ended
    return ""

"""Who changes policies: in the change log, and in publications."""

import pghistory
from django.contrib.auth.models import AnonymousUser

from apps.accounts.access import Principal, actor_of
from apps.accounts.models import User

By = Principal | None
"""A person, a token, or None for the system itself."""


def person_of(by: By) -> User | None:
    """Return the person behind a principal, None for the system."""
    if isinstance(by, User):
        return by
    return None if by is None or isinstance(by, AnonymousUser) else by.created_by


def logged_as(by: By, *, reason: str) -> pghistory.context:
    """Name the actor in every change-log row that is written inside."""
    return pghistory.context(actor=actor_of(by), reason=reason)

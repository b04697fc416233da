"""Sessions that sessions started."""

from dataclasses import dataclass, field
from typing import Final

from apps.sessions.models import Session

LIMIT: Final = 200
"""Sessions that are looked at in one tree; a caller names its parent itself, so that a tree may be of any size."""


@dataclass(slots=True)
class Branch:
    """A session and those that it started, oldest first."""

    session: Session
    children: list["Branch"] = field(default_factory=list)


def descendants(session: Session, *, lock: bool = False) -> list[Session]:
    """Give the sessions that a session started, and those that they started, level by level; at most `LIMIT`."""
    found: dict[str, Session] = {}
    seen, level = {session.key}, [session.key]
    rows = Session.objects.select_related("environment").filter(environment=session.environment_id)
    while level and len(found) < LIMIT:
        below = rows.filter(parent_key__in=level).exclude(key__in=seen).order_by("started_at", "id")
        if lock:
            below = below.select_for_update(of=("self",))
        taken = {each.key: each for each in below[: LIMIT - len(found)]}
        found |= taken
        seen |= taken.keys()
        level = list(taken)
    return list(found.values())


def tree_of(session: Session) -> Branch:
    """Put a session and what it started together."""
    top = Branch(session)
    branches = {session.key: top}
    for each in descendants(session):
        branches[each.key] = Branch(each)
        branches[each.parent_key].children.append(branches[each.key])
    return top


def parent_of(session: Session) -> Session | None:
    """Find the session that started this one, where it ever made a call."""
    if not session.parent_key:
        return None
    return Session.objects.filter(environment=session.environment_id, key=session.parent_key).first()

"""What the pages of profiles show: the list, what one holds in each release, who takes it, what a change would do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from django.urls import reverse

from apps.console import agents as fields
from apps.console.catalogue import ReferenceShown, shown_references
from apps.console.funnel import Chip
from apps.console.profile_forms import LISTS
from apps.console.situations import Situation
from apps.console.why import why_url
from apps.firewall.engine.dialect import DIALECTS, ProfilePolicy
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.references import profile_references, profiles_counted
from apps.policies.selectors import agents, draft_snapshot, live_snapshot, profiles

if TYPE_CHECKING:
    from apps.policies.models import Profile
    from apps.registry.models import Environment

    ProfileRecord: TypeAlias = Profile


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One profile in the list; `tools` is how many tools of the draft it leaves, None when it limits nothing.

    Attributes:
        is_changed: an own profile says something else than the live publication, or is not in it.
    """

    key: str
    label: str
    is_own: bool
    tools: int | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    used: int
    is_changed: bool = False


def profile_rows(environment: "Environment") -> tuple[list[ProfileRow], list[ProfileRow], int]:
    """List the built-in profiles, then those of one's own, and say how many tools there are."""
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    counts = profiles_counted(environment)
    built_in = [
        ProfileRow(key, "", False, _left(draft, policy), policy.allow or (), policy.deny or (), counts.get(key, 0))
        for key, policy in DIALECTS[environment.dialect].profiles.items()
    ]
    own = [
        ProfileRow(
            record.key,
            record.label,
            True,
            _left(draft, _policy(values_of(record))),
            tuple(record.allow or ()),
            tuple(record.deny or ()),
            counts.get(record.key, 0),
            live is not None and lists_changed(record, live_profile(live, record.key)) > 0,
        )
        for record in profiles(environment)
    ]
    return built_in, own, len(draft.tool_names)


def values_of(record: "Profile") -> dict[str, Any]:
    """Return the lists of a profile."""
    return {name: getattr(record, name) for name in LISTS}


def live_profile(live: Snapshot | None, key: str) -> ProfilePolicy | None:
    """Return what the live publication says of a profile; None when it does not know it."""
    return None if live is None else live.engine.dialect.profiles.get(key)


def lists_changed(record: "Profile", live: ProfilePolicy | None) -> int:
    """Count the lists that differ from what is live; every one of a profile that is not live."""
    return sum(tuple(getattr(live, name, None) or ()) != tuple(getattr(record, name) or ()) for name in LISTS) + (
        live is None
    )


def _policy(values: Mapping[str, Sequence[str] | None]) -> ProfilePolicy:
    lists = {name: None if values.get(name) is None else tuple(values[name] or ()) for name in LISTS}
    return ProfilePolicy(**lists)


def _limits(policy: ProfilePolicy) -> bool:
    return bool(policy.allow or policy.deny)


def _names(snapshot: Snapshot, policy: ProfilePolicy) -> tuple[str, ...]:
    engine = snapshot.engine
    candidates = engine.candidates(engine.universe.full)
    mask = candidates.rules(Policy(policy.allow, policy.deny), examined=True).mask
    return engine.universe.names_of(mask)


def _left(snapshot: Snapshot, policy: ProfilePolicy) -> int | None:
    return len(_names(snapshot, policy)) if _limits(policy) else None


# --- one profile ---


@dataclass(frozen=True, slots=True)
class Holds:
    """The tools of the draft that a profile leaves, beside what it leaves live."""

    total: int
    limits: bool
    tools: tuple[Chip, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    has_live: bool


def holds_of(environment: "Environment", key: str, values: Mapping[str, Sequence[str] | None]) -> Holds:
    """Ask the engine what a profile would leave if it said these lists."""
    draft, live = draft_snapshot(environment), live_snapshot(environment)
    policy, known = _policy(values), live_profile(live, key)
    names = _names(draft, policy)
    before = set() if live is None or known is None else set(_names(live, known))
    has_live = known is not None
    taker = agents(environment).filter(profile=key).values_list("key", flat=True).first()

    def url(name: str) -> str:
        """Lead to the trace of an agent that takes the profile; to the tool where none does."""
        return why_url(name, Situation(agent=taker), at="draft") if taker else reverse("tool", args=[name])

    return Holds(
        total=len(draft.tool_names),
        limits=_limits(policy),
        tools=tuple(Chip(name, url(name), has_live and name not in before) for name in names),
        gained=tuple(name for name in names if name not in before) if has_live else (),
        lost=tuple(sorted(before - set(names))) if has_live else (),
        has_live=has_live,
    )


@dataclass(frozen=True, slots=True)
class Release:
    """What a built-in profile says in one release; `names` None when it limits nothing there, or is not there."""

    name: str
    is_here: bool
    is_known: bool
    allow: tuple[str, ...] | None


def releases_of(environment: "Environment", key: str) -> list[Release]:
    """Say what a built-in profile holds in each release, this environment's own first."""
    known = ((name, dialect.profiles.get(key)) for name, dialect in DIALECTS.items())
    found = [
        Release(name, name == environment.dialect, policy is not None, None if policy is None else policy.allow)
        for name, policy in known
    ]
    return sorted(found, key=lambda release: not release.is_here)


def users_of(environment: "Environment", key: str) -> list[ReferenceShown]:
    """List the records that take a profile."""
    return shown_references(profile_references(environment, key))


def list_fields(environment: "Environment", record: "Profile", values: Mapping[str, Any]) -> list[fields.ListField]:
    """Lay the lists of a profile beside what is live."""
    known = live_profile(live_snapshot(environment), record.key)
    live = None if known is None else Policy(known.allow, known.deny)
    return fields.list_fields(
        environment, draft_snapshot(environment), values, live, has_live=known is not None, names=LISTS
    )

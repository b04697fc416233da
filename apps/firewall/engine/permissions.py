"""Permissions of tools: which are granted to whom, and for which resources.

A tool names what it does (`db:read`) and which of its params are resources. Of its permissions each must be given by
one grant whose every condition holds for the caller and which covers every resource of the call. What is not known of
a caller fulfils no condition.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.grants import Grant, GrantError
from apps.firewall.engine.names import Glob, fold, read_glob
from apps.firewall.engine.resolve import open_resolution
from apps.firewall.engine.resources import MATCHERS, Matcher
from apps.firewall.engine.senders import Sender, SenderIndex, compile_senders

LAYER: Final = "permissions"
SHOWN_CHARACTERS: Final = 200

Verdict = Literal["granted", "depends", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls; what is not known is empty or None."""

    agent: str = ""
    token: str = ""
    role: str = ""
    session: str = ""
    sender: Sender = field(default_factory=Sender)
    is_owner: bool | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """One thing that a call touches; `shown` stands for a value that nobody may read."""

    kind: str
    value: str
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a call needs.

    Args:
        kinds: of resources that the tool names at all.
        resources: those of the call; None while its params are not known.
    """

    permissions: tuple[str, ...]
    kinds: frozenset[str] = frozenset()
    resources: tuple[Resource, ...] | None = ()


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """What the grants say about one permission of a call.

    Attributes:
        verdict: `depends` on the resources of the call, which are not known.
        grants: keys of those that give it; of those it depends on.
        resource: the one that no grant covers.
        remedy: what would give the permission; empty when it is given.
    """

    permission: str
    verdict: Verdict
    grants: tuple[str, ...]
    reason: str
    resource: Resource | None = None
    remedy: str = ""


class PermissionRules:
    """The grants of a snapshot, ready to be asked; `ask_for_roles` says whether any depends on a person's role."""

    __slots__ = ("_grants", "_known", "ask_for_roles", "grants")

    def __init__(self, dialect: Dialect, grants: Iterable[Grant]) -> None:
        self.grants = tuple(grants)
        self.ask_for_roles = any(grant.role for grant in self.grants)
        self._grants = tuple(_Compiled(dialect, grant) for grant in self.grants)
        self._known: dict[str, tuple[_Compiled, ...]] = {}

    def answers(self, needs: Needs, caller: Caller) -> tuple[PermissionAnswer, ...]:
        """Say of each permission whether it is given, and by what."""
        return tuple(self._answer(permission, needs, caller) for permission in needs.permissions)

    def giving(self, permission: str) -> tuple[Grant, ...]:
        """Return the grants that name a permission, whoever they are for."""
        return tuple(each.grant for each in self._naming(permission))

    def _naming(self, permission: str) -> tuple["_Compiled", ...]:
        found = self._known.get(permission)
        if found is None:
            wanted = fold(permission)
            found = self._known[permission] = tuple(each for each in self._grants if each.names(wanted))
        return found

    def _answer(self, permission: str, needs: Needs, caller: Caller) -> PermissionAnswer:
        held = [each for each in self._naming(permission) if each.is_for(caller)]
        if not held:
            reason = f"`{permission}` is not granted to this caller"
            return PermissionAnswer(permission, "missing", (), reason, remedy=_remedy(permission, needs, caller, None))
        if needs.resources is None:
            return _without_params(permission, needs, caller, held)
        missed: Resource | None = None
        for each in held:
            miss = each.miss(needs)
            if miss is None:
                reason = f"`{permission}` is granted by `{each.grant.key}`"
                return PermissionAnswer(permission, "granted", (each.grant.key,), reason)
            missed = missed or miss
        assert missed is not None  # noqa: S101 - each that is held gave one
        reason = f"`{permission}` is granted to this caller, {_uncovered(missed)}"
        remedy = _remedy(permission, needs, caller, missed)
        return PermissionAnswer(permission, "missing", (), reason, missed, remedy)


def caller_of(engine: Engine, context: CallContext, *, agent: str = "", token: str = "", role: str = "") -> Caller:
    """Put together what is known of a caller, as the decision reads it.

    Args:
        agent: normal id, where the caller has proven it; else the context's.
        token, role: as for `Grant`.
    Raises:
        ResolutionError: nothing can be decided in this context.
    """
    resolution = open_resolution(engine, context)
    return Caller(
        agent=agent or resolution.opening.agent_name or "",
        token=token,
        role=role,
        session=context.session_key or "",
        sender=resolution.sender,
        is_owner=resolution.is_owner,
    )


class _Compiled:
    """One grant with its patterns read."""

    __slots__ = ("_agent", "_permissions", "_resources", "_senders", "_session", "grant")

    def __init__(self, dialect: Dialect, grant: Grant) -> None:
        unknown = sorted(set(grant.resources) - set(MATCHERS))
        if unknown:
            raise GrantError(f"the grant `{grant.key}` names an unknown kind of resource: `{unknown[0]}`")
        self.grant = grant
        self._permissions = tuple(_pattern(each) for each in grant.permissions)
        self._agent, self._session = _pattern(grant.agent), _pattern(grant.session)
        self._senders: SenderIndex[bool] = compile_senders(dialect, [(grant.sender, True)] if grant.sender else [])
        self._resources: dict[str, tuple[Matcher, ...]] = {
            kind: tuple(MATCHERS[kind](pattern) for pattern in patterns) for kind, patterns in grant.resources.items()
        }

    def names(self, permission: str) -> bool:
        return any(_fits(each, permission) for each in self._permissions)

    def is_for(self, caller: Caller) -> bool:
        grant = self.grant
        conditions = (
            (grant.agent, _fits(self._agent, fold(caller.agent))),
            (grant.token, caller.token == grant.token),
            (grant.sender, self._senders.find(caller.sender) is not None),
            (grant.owner, caller.is_owner is True),
            (grant.role, caller.role == grant.role),
            (grant.session, _fits(self._session, fold(caller.session))),
        )
        given = [holds for condition, holds in conditions if condition]
        return bool(given) and all(given)

    def miss(self, needs: Needs) -> Resource | None:
        """Return the first resource that is not covered; an empty one where the call names none of a limited kind."""
        for kind, patterns in self._resources.items():
            here = [each for each in needs.resources or () if each.kind == kind]
            if not here:
                return Resource(kind, "")
            for resource in here:
                if not any(fits(resource.value) for fits in patterns):
                    return resource
        return None


def _pattern(text: str) -> str | Glob:
    folded = fold(text)
    return read_glob(folded) if "*" in folded else folded


def _fits(pattern: str | Glob, text: str) -> bool:
    """Hold a folded text against a folded pattern; an empty text fits nothing."""
    return bool(text) and (pattern.matches(text) if isinstance(pattern, Glob) else pattern == text)


def _without_params(permission: str, needs: Needs, caller: Caller, held: list[_Compiled]) -> PermissionAnswer:
    free = [each.grant.key for each in held if not each.grant.resources]
    if free:
        return PermissionAnswer(permission, "granted", tuple(free), f"`{permission}` is granted by `{free[0]}`")
    possible = [each.grant for each in held if set(each.grant.resources) <= needs.kinds]
    if not possible:
        kind = next(kind for kind in held[0].grant.resources if kind not in needs.kinds)
        missed = Resource(kind, "")
        reason = f"`{permission}` is granted to this caller, {_uncovered(missed)}"
        return PermissionAnswer(permission, "missing", (), reason, missed, _remedy(permission, needs, caller, missed))
    limits = "; ".join(
        f"{kind}: {', '.join(patterns)}" for grant in possible for kind, patterns in grant.resources.items()
    )
    reason = f"`{permission}` is granted for some resources ({limits})"
    return PermissionAnswer(permission, "depends", tuple(grant.key for grant in possible), reason)


def _uncovered(missed: Resource) -> str:
    if not missed.value:
        return f"but only for a certain {missed.kind}, and the call names none"
    return f"but not for the {missed.kind} {_shown(missed)}"


def _remedy(permission: str, needs: Needs, caller: Caller, missed: Resource | None) -> str:
    whom = f"the agent `{caller.agent}`" if caller.agent else "the caller"
    if missed is not None and not missed.value:
        return f"a grant of `{permission}` to {whom} that is not limited to a {missed.kind}"
    named = [missed] if missed is not None else [each for each in needs.resources or () if each.value]
    where = " and ".join(f"the {each.kind} {_shown(each)}" for each in named[:3])
    return f"a grant of `{permission}` to {whom}" + (f" for {where}" if where else "")


def _shown(resource: Resource) -> str:
    text = resource.shown or f"`{resource.value[:SHOWN_CHARACTERS]}`"
    return "".join(each if each.isprintable() else "\ufffd" for each in text)

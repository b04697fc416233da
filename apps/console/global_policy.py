"""What the pages of the global policy show: its lists beside what is live, and what a change does to agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.utils.translation import gettext as _

from apps.console import agents as fields
from apps.console.funnel import Funnel, funnel_of
from apps.console.global_forms import ALL_LISTS, LISTS, PREFIXES, SINGLE
from apps.console.situations import Situation
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import explain, explain_with
from apps.firewall.engine.owners import OwnerList
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.subagents import max_spawn_depth
from apps.firewall.errors import FirewallError

if TYPE_CHECKING:
    from apps.policies.models import GlobalPolicy, ProviderPolicy
    from apps.registry.models import Environment

    GlobalRecord: TypeAlias = GlobalPolicy
    ProviderRecord: TypeAlias = ProviderPolicy

AGENTS_LIMIT: Final = 200
"""With more agents than this the effect is shown for the chosen one only; a review counts them all."""


def block_of(values: Mapping[str, Any], prefix: str = "") -> Policy | None:
    """Return one of the blocks that a form's values stand for; None when it says nothing."""
    allow, also_allow, deny = (_names(values.get(prefix + name)) for name in ("allow", "also_allow", "deny"))
    policy = Policy(allow, deny, also_allow, None if prefix else values.get("profile"))
    return None if policy == Policy() else policy


def _names(listed: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def engine_typed(draft: Snapshot, values: Mapping[str, Any]) -> Engine:
    """Return the draft's engine with the global policy as it is typed."""
    engine = draft.engine
    depth = values["max_spawn_depth"]
    return engine.varied(
        policy=block_of(values),
        sandbox=block_of(values, "sandbox_"),
        subagents=block_of(values, "subagent_"),
        max_spawn_depth=depth,
        leaf_depth=max_spawn_depth(engine.dialect, depth),
        owners=OwnerList(engine.dialect, values["owners"]),
        refuses_unproven_groups=values["refuse_unproven_groups"],
        speakers={},
    )


def live_blocks(live: Snapshot | None) -> dict[str, Policy | None]:
    """Return the three blocks that are live, by the beginning of their fields."""
    if live is None:
        return dict.fromkeys(PREFIXES)
    return {"": live.engine.policy, "sandbox_": live.engine.sandbox, "subagent_": live.engine.subagents}


def live_values(live: Snapshot) -> dict[str, Any]:
    """Return what is live as values of a record, to be set back to."""
    values: dict[str, Any] = {}
    for prefix, block in live_blocks(live).items():
        for name in LISTS:
            listed = getattr(block, name, None)
            values[prefix + name] = None if listed is None else list(listed)
    profile = None if live.engine.policy is None else live.engine.policy.profile
    return values | {
        "profile": profile,
        "max_spawn_depth": live.engine.max_spawn_depth,
        "refuse_unproven_groups": live.engine.refuses_unproven_groups,
    }


def fields_changed(record: "GlobalPolicy", live: Snapshot | None) -> int:
    """Count the fields that differ from what is live."""
    if live is None:
        return 0
    known = live_values(live)
    lists = sum((known[name] or []) != (getattr(record, name) or []) for name in ALL_LISTS)
    return int(lists + sum(known[name] != getattr(record, name) for name in SINGLE))


def list_fields(
    environment: "Environment", draft: Snapshot, values: Mapping[str, Any], live: Snapshot | None
) -> dict[str, list[fields.ListField]]:
    """Lay the lists of each block beside what is live: `tools`, `sandbox`, `subagent`."""
    blocks = live_blocks(live)
    return {
        prefix.removesuffix("_") or "tools": fields.list_fields(
            environment,
            draft,
            {name: values[prefix + name] for name in LISTS},
            blocks[prefix],
            has_live=live is not None,
            prefix=prefix,
        )
        for prefix in PREFIXES
    }


def profile_options(environment: "Environment", known: Sequence[str], chosen: str | None) -> list[fields.ProfileOption]:
    """List the profiles to choose from, none first."""
    first, *others = fields.profile_options(environment, known, chosen)
    return [replace(first, label=_("None"), hint=_("No profile limits agents that name none.")), *others]


@dataclass(frozen=True, slots=True)
class Effect:
    """Which agents gain and lose tools against what is live, each with how many; empty when there are too many."""

    gain: Sequence[tuple[str, int]]
    lose: Sequence[tuple[str, int]]
    agents: int
    is_counted: bool


def effect_of(engine: Engine, live: Snapshot | None) -> Effect:
    """Ask the engine for every agent, in a call without model, place and sender."""
    names = tuple(engine.agents or {})
    if live is None or len(names) > AGENTS_LIMIT:
        return Effect((), (), len(names), False)
    gain, lose = [], []
    for name in names:
        context = CallContext(agent_id=name)
        after, before = set(_left(engine, context)), set(_left(live.engine, context))
        if after - before:
            gain.append((name, len(after - before)))
        if before - after:
            lose.append((name, len(before - after)))
    return Effect(gain, lose, len(names), True)


def _left(engine: Engine, context: CallContext) -> tuple[str, ...]:
    try:
        return engine.universe.names_of(resolve(engine, context).mask)
    except FirewallError:
        return ()


def preview(draft: Snapshot, live: Snapshot | None, engine: Engine, situation: Situation) -> Funnel:
    """Explain one situation with the policy as it is typed, beside what is live."""
    context, started = situation.context(), perf_counter()
    after = explain_with(engine, context)
    before = None if live is None else explain(live, context)
    duration_ms = max(1, round(1000 * (perf_counter() - started)))
    return funnel_of(after, before, total=len(draft.tool_names), situation=situation, duration_ms=duration_ms)

"""Decide, list and explain: one walk over the layers of a context serves all three."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from apps.firewall.engine.answers import (
    ContextResolution,
    Decision,
    Explanation,
    LayerResult,
    Removal,
    Step,
)
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.late import finish_resolution
from apps.firewall.engine.layers import Layer, layers_of
from apps.firewall.engine.opening import Applied, Gate, where_of
from apps.firewall.engine.resolution import Given, Resolution
from apps.firewall.engine.resolve import ResolutionError, open_resolution, resolve, talk_of
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.subagents import LEAF_ROLE, role_deny
from apps.firewall.engine.warn import Declared, find_warnings

UNKNOWN_TOOL: Final = "unknown_tool"
ERROR: Final = "error"


def decide(snapshot: Snapshot, context: CallContext, tool: str) -> Decision:
    """Decide whether a context may use a tool. An error on the way is a denial that says so; nothing is raised."""
    engine = snapshot.engine
    bit = engine.universe.bits.get(tool)
    if bit is None:
        name = engine.canonical_name(tool)
        if name is None:
            return _of_no_tool(engine, context, tool)
        tool, bit = name, engine.universe.bits[name]
    try:
        resolution = open_resolution(engine, context)
        if resolution.mask & bit:  # else the opening denies it, whatever the later layers say
            finish_resolution(engine, resolution, None, bit)
        if resolution.mask & bit:
            decision = engine.admitted.get(tool) or _admitted(engine, tool)
        else:
            decision = _denial(resolution, tool, bit)
        return decision if resolution.talk.unproven_group is None else _with_unproven(resolution, decision)
    except ResolutionError as exc:
        return Decision(tool, False, exc.code, None, None, exc.message)
    except Exception as exc:  # noqa: BLE001 - fail closed: whatever went wrong, the tool is not allowed
        return Decision(tool, False, ERROR, None, None, f"the decision failed: {exc}")


def _of_no_tool(engine: Engine, context: CallContext, tool: str) -> Decision:
    """Refuse an unknown tool. Where nothing can be decided in the context, the answer is the one a known tool gets."""
    try:
        talk_of(engine, context)
    except ResolutionError as exc:
        return Decision(tool, False, exc.code, None, None, exc.message)
    return Decision(tool, False, UNKNOWN_TOOL, None, None, f"there is no tool named `{tool}`")


def remark_on(snapshot: Snapshot, context: CallContext) -> str:
    """Name the caller's claim that was ignored; empty if none was, and where nothing can be decided."""
    try:
        named = talk_of(snapshot.engine, context).unproven_group
    except ResolutionError:
        return ""
    return "" if named is None else _UNPROVEN.format(named)


def allowed_tools(snapshot: Snapshot, context: CallContext) -> tuple[str, ...]:
    """Return the tools that a context may use, in the order of the snapshot; none when nothing can be decided."""
    engine = snapshot.engine
    try:
        mask = resolve(engine, context).mask
    except Exception:  # noqa: BLE001 - fail closed; `explain` says why
        return ()
    return engine.universe.names_of(mask)


def explain(snapshot: Snapshot, context: CallContext) -> Explanation:
    """Explain which tools every layer of a context removes, and by which rule."""
    return explain_with(snapshot.engine, context)


def explain_tool(snapshot: Snapshot, context: CallContext, tool: str) -> tuple[Step, ...]:
    """Return every layer's own answer for one tool; no steps for an unknown tool or an undecidable context."""
    engine = snapshot.engine
    name = engine.canonical_name(tool)
    if name is None:
        return ()
    try:
        resolution = resolve(engine, context)
    except ResolutionError:
        return ()
    return tuple(_steps(engine, resolution, name))


def explain_with(
    engine: Engine, context: CallContext, *, given: Given | None = None, declared: Declared | None = None
) -> Explanation:
    """Explain with an engine of one's own making.

    Args:
        given: layers already selected, in place of the engine's selection.
        declared: plugins and servers that are known though not loaded; they silence warnings only.
    """
    try:
        resolution = resolve(engine, context, given)
        layers = tuple(_results(engine, resolution))
        warnings = find_warnings(engine, resolution, declared or Declared())
    except ResolutionError as exc:
        return Explanation(context, None, (), (), (), error=exc.message)
    except Exception as exc:  # noqa: BLE001 - fail closed: whatever went wrong, nothing is allowed
        return Explanation(context, None, (), (), (), error=f"the decision failed: {exc}")
    return Explanation(
        context=context,
        resolution=_shown(engine, resolution),
        layers=layers,
        allowed=engine.universe.names_of(resolution.mask),
        warnings=warnings,
    )


PROFILE_LAYERS: Final = ("profile", "provider_profile")
MIXED_LAYERS: Final = ("sandbox", "subagent")
_IGNORED: Final = "lets it pass: its allow list names no tool of OpenClaw's own, so this release ignores it"
_UNPROVEN: Final = "the rules of the group `{}` did not count: no session key leads to it"
_ADMITTED: Final = "every layer that applies admits it"
# a named tuple's own constructor costs a Python call more, on the one path where that counts
_decision: Final[Callable[[tuple[str, bool, str | None, str | None, str | None, str]], Decision]] = partial(
    tuple.__new__, Decision
)


def _admitted(engine: Engine, tool: str) -> Decision:
    return engine.admitted.setdefault(tool, Decision(tool, True, None, None, None, _ADMITTED))


def _with_unproven(resolution: Resolution, decision: Decision) -> Decision:
    """Say in a decision that what the caller said of a group did not count."""
    return decision._replace(reason=f"{decision.reason}; {_UNPROVEN.format(resolution.talk.unproven_group)}")


def _denial(resolution: Resolution, tool: str, bit: int) -> Decision:
    """Walk the layers up to the one that removes a tool."""
    opening = resolution.opening
    passes_opening = opening.mask & bit
    for gate in () if passes_opening else opening.gates:
        if gate.removed & bit:
            return Decision(tool, False, gate.layer.key, gate.layer.label, gate.rule, gate.reason)
    for applied in resolution.late if passes_opening else opening.layers:
        if not applied[2].mask & bit:
            rule, _, reason = _why(resolution, applied, bit)
            return _decision((tool, False, applied[0].key, applied[1], rule, reason))
    raise AssertionError(f"no layer removes {tool}")


def _why(resolution: Resolution, applied: Applied, bit: int) -> tuple[str, str | None, str]:
    """Return the rule by which a layer removes a tool, its entry, and the reason."""
    layer, _, rules, place = applied
    where = ".".join(place)
    if rules.denied & bit:
        entry = None
        for mask, entry in rules.denials:  # noqa: B007 - the first that matches; the longest part of a denial
            if mask & bit:
                break
        if layer.key in MIXED_LAYERS:
            where = _place_of_entry(resolution, layer.key, entry, where)
        return f"{where}.deny {entry}", entry, f"denied by `{entry}` in {where}"
    if layer.key in PROFILE_LAYERS:
        return where, None, f"not in {where}"
    if layer.key == "sandbox" and resolution.sandbox_places is not None:
        where = resolution.sandbox_places[0]
    return f"{where}.allow", None, f"not in the allow list of {where}"


def _place_of_entry(resolution: Resolution, layer: str, entry: str | None, where: str) -> str:
    """Return where an entry of a deny list stands, for layers that mix built-in lists with configured ones."""
    if layer == "sandbox" and resolution.sandbox_places is not None:
        return resolution.sandbox_places[1]
    if layer == "subagent":
        built_in = role_deny(resolution.opening.candidates.universe.dialect, LEAF_ROLE)
        return "built-in sub-agent list" if entry in built_in else "tools.subagents.tools"
    return where


def _numbered(engine: Engine) -> Iterable[tuple[int, Layer]]:
    """Number the layers as recorded; the gate of optional tools, where there are any, stands before the first."""
    with_optional = bool(engine.universe.optional)
    return enumerate(layers_of(engine.dialect, with_optional=with_optional), start=0 if with_optional else 1)


def _results(engine: Engine, resolution: Resolution) -> Iterable[LayerResult]:
    universe = engine.universe
    gates = {gate.layer.key: gate for gate in resolution.opening.gates}
    applied = {each[0].key: each for each in resolution.layers}
    mask = universe.full
    for number, layer in _numbered(engine):
        gate, here = gates.get(layer.key), applied.get(layer.key)
        before = mask
        if gate is not None:
            mask &= ~gate.removed
        elif here is not None:
            mask &= here[2].mask
        gone = before & ~mask
        removed: tuple[Removal, ...] = ()
        if gate is not None:
            removed = tuple(Removal(name, gate.rule, None, gate.reason) for name in universe.names_of(gone))
        elif here is not None:
            removed = tuple(
                Removal(name, *_why(resolution, here, universe.bits[name])) for name in universe.names_of(gone)
            )
        yield LayerResult(
            number=number,
            key=layer.key,
            label=here[1] if here else _plain_label(layer, resolution),
            applied=gate is not None or here is not None,
            is_gate=layer.is_gate,
            source=_source(gate, here),
            policy=here[2].policy if here else None,
            before=before.bit_count(),
            after=mask.bit_count(),
            removed=removed,
            remaining=universe.names_of(mask),
        )


def _steps(engine: Engine, resolution: Resolution, tool: str) -> Iterable[Step]:
    bit = engine.universe.bits[tool]
    gates = {gate.layer.key: gate for gate in resolution.opening.gates}
    applied = {each[0].key: each for each in resolution.layers}
    present = True
    for number, layer in _numbered(engine):
        gate, here = gates.get(layer.key), applied.get(layer.key)
        permits, rule, reason = None, None, "does not apply in this context"
        if gate is not None:
            permits = not gate.removed & bit
            rule, reason = (None, "lets it pass") if permits else (gate.rule, gate.reason)
        elif here is not None:
            permits = bool(here[2].mask & bit)
            reason = _IGNORED if here[2].ignored else "lets it pass"
            if not permits:
                rule, _, reason = _why(resolution, here, bit)
        yield Step(
            number=number,
            key=layer.key,
            label=here[1] if here else _plain_label(layer, resolution),
            applied=permits is not None,
            source=_source(gate, here),
            permits=permits,
            removed_here=present and permits is False,
            rule=rule,
            reason=reason,
        )
        present = present and permits is not False


def _source(gate: Gate | None, here: Applied | None) -> str:
    if gate is not None:
        return gate.rule
    return "" if here is None else where_of(here[3])


def _plain_label(layer: Layer, resolution: Resolution) -> str:
    """Return the label of a layer that does not apply: without a profile, with the agent if there is one."""
    return layer.label.replace(" ({profile})", "").format(agent=resolution.opening.agent_name or "main")


def _shown(engine: Engine, resolution: Resolution) -> ContextResolution:
    opening, session = resolution.opening, resolution.session
    places = {each[0].key: where_of(each[3]) for each in resolution.late}
    name = opening.agent_name
    return ContextResolution(
        agent=name,
        agent_known=name is not None and name in (engine.agents or {}),
        depth=resolution.depth,
        channel=session.channel or resolution.context.channel,
        group_ids=session.group_ids,
        group=places.get("group"),
        group_dropped=resolution.talk.unproven_group is not None,
        sender=places.get("sender"),
        is_owner=resolution.is_owner,
        sandboxed=resolution.sandboxed,
        profile=opening.profile,
        provider_profile=opening.provider_profile,
        provider_key=opening.provider_key,
        agent_provider_key=opening.agent_provider_key,
    )

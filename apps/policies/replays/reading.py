"""From what the ledger keeps of calls to what the engine replays, and the outcomes that are known already."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from apps.audit.past_calls import AlikeCalls
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.recorded import RecordedContext, bare_context, read_context
from apps.firewall.engine.replay import POLICY_LAYERS, Outcome
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.executors.workspaces import HostFiles
from apps.firewall.runtime.replaying import CallReplayer, CallWithParams
from apps.firewall.tools.search.controls import CONTROLS
from apps.policies.errors import SnapshotUntrustedError
from apps.policies.snapshots import snapshot_loaded

OUTCOMES_KEPT: Final = 100_000
FAILED: Final = "failed"
SEARCH: Final = "search"

_ERROR: Final = "error"


class AlikeReplayer:
    """Replays calls that are alike, and asks the engine no question twice."""

    def __init__(self, now: Snapshot | None, draft: Snapshot) -> None:
        self._engine = CallReplayer(now, draft, decider=deciders(), files=HostFiles())
        self._known: dict[tuple[Any, ...], Outcome] = {}
        self._calls = CallReader()

    @property
    def with_params_of(self) -> frozenset[str]:
        """Name the tools whose calls depend on their params."""
        return self._engine.later.judged

    def replay(self, alike: AlikeCalls) -> Outcome:
        """Say what becomes of each of these calls."""
        key = question_of(alike)
        outcome = self._known.get(key)
        if outcome is None:
            if len(self._known) >= OUTCOMES_KEPT:
                self._known.clear()
                self._calls.forget()
            outcome = self._known[key] = self._replay(alike)
        return outcome

    def _replay(self, alike: AlikeCalls) -> Outcome:
        reason = left_out(alike)
        return Outcome("unknown", reason=reason) if reason else self._engine.replay(self._calls.read(alike))


class CallReader:
    """Reads calls as the engine takes them; a context in which several tools are called is read once."""

    def __init__(self) -> None:
        self._contexts: dict[tuple[str, str, str | None], RecordedContext] = {}

    def read(self, alike: AlikeCalls) -> CallWithParams:
        """Return the call that all of these are."""
        return CallWithParams(
            context=self._context(alike),
            tool=alike.tool,
            denied_by=alike.layer if _is_of_policy(alike) else "",
            digest=alike.digest,
            is_brought=alike.is_found,
            params=alike.params,
        )

    def forget(self) -> None:
        """Let go of the contexts that were read."""
        self._contexts.clear()

    def _context(self, alike: AlikeCalls) -> RecordedContext:
        if alike.context is None:
            return _bare(alike)
        key = (alike.context, alike.session_key, alike.lacks)
        known = self._contexts.get(key)
        if known is None:
            known = self._contexts[key] = _read(alike, alike.context)
        return known


def left_out(alike: AlikeCalls) -> str:
    """Say why calls say nothing of a policy: `failed` or `search`; empty where they do."""
    if alike.layer == _ERROR:
        return FAILED
    return SEARCH if alike.tool in CONTROLS and not alike.layer else ""


def question_of(alike: AlikeCalls) -> tuple[Any, ...]:
    """Return what an answer to calls depends on."""
    params = None if alike.params is None else json.dumps(alike.params, sort_keys=True)
    where = (alike.agent, *alike.columns) if alike.context is None else (alike.context, alike.lacks)
    return (alike.tool, alike.session_key, *where, alike.layer, alike.label, alike.digest, alike.is_found, params)


def _is_of_policy(alike: AlikeCalls) -> bool:
    """Say whether the policy itself refused: a stage of the run may have the name of a layer, and has no label."""
    is_layer = alike.layer in POLICY_LAYERS and (alike.layer not in LAYERS or bool(alike.label))
    return alike.decision == "deny" and is_layer


def _bare(alike: AlikeCalls) -> RecordedContext:
    channel, sender = alike.columns
    return bare_context(agent=alike.agent, session_key=alike.session_key, channel=channel, sender=sender)


def _read(alike: AlikeCalls, context: str) -> RecordedContext:
    kept = json.loads(context)
    if not isinstance(kept, Mapping):  # no door of ours writes such
        return _bare(alike)
    lacks = () if alike.lacks is None else json.loads(alike.lacks)
    return read_context(kept, session_key=alike.session_key, lacks=lacks)


def deciders() -> Callable[[str], Snapshot | None]:
    """Find snapshots of the past; those that cannot be had are asked for once."""

    @lru_cache(maxsize=4)
    def found(digest: str) -> Snapshot | None:
        try:
            return snapshot_loaded(digest)
        except SnapshotUntrustedError:
            return None

    return found

"""What tests of sessions share: a call of an agent, and its steps in its session."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.loops import LoopCall, loop_settings
from apps.firewall.runtime.sessions import Entrance, LoopOutcome, SessionCall, SessionState, enter, leave, place_of
from apps.sessions.keeping import session_change
from apps.sessions.models import Session

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DIALECT = DIALECTS["2026.9"]
WATCHED = loop_settings(DIALECT, {"enabled": True}, key=b"key")

Step = Callable[..., Entrance]


def call_in(environment: str, key: str, *, agent: str = "bot", run: str = "", **context: Any) -> Call:
    return Call(
        environment=environment,
        agent=agent,
        tool=context.pop("tool", "read"),
        params={},
        run=run,
        context=CallContext(session_key=key, **context),
    )


def take_step(
    environment: str, key: str = "main", *, at: datetime = NOON, ends_as: Any = None, **more: Any
) -> Entrance:
    """Make a call in a session as the runtime does: let it in, then remember how it ended."""
    call = call_in(environment, key, **more)
    place = place_of(call, DIALECT)
    assert place is not None
    within = SessionCall(loop_call=LoopCall(tool=call.tool, params={}, call_id=str(call.id)), loops=WATCHED)
    entrance = session_change(place, lambda state: enter(state, within, at), sender="7", at=at, is_call=True)
    if entrance.stop is None:
        outcome = LoopOutcome(value={"details": ends_as or {}})

        def left(state: SessionState) -> tuple[SessionState, None]:
            return leave(state, within, outcome), None

        session_change(place, left, sender="7", at=at, is_call=False)
    return entrance


@pytest.fixture
def step(environment: Any) -> Step:
    """Make a call of `bot` in `main`; any member may be given: `step("other", at=LATER, channel="slack")`."""

    def take(key: str = "main", **more: Any) -> Entrance:
        return take_step(environment.slug, key, **more)

    return take


def session_of(key: str = "agent:bot:main") -> Session:
    return Session.objects.select_related("environment").get(key=key)

"""What a ledger keeps of a call's context, and what of it can be read back: a replay asks the same question again.

The session key stands in a column of its own and is not repeated. What is too long to keep, and what was masked, the
record lacks; nothing is put in its place.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from apps.firewall.engine.context import CallContext, ContextError

KEPT_LETTERS: Final = 4096
LONG_MEMBERS: Final = ("stored_session", "runtime_tools")
SENDER_MEMBERS: Final = frozenset({"sender_id", "sender_username", "sender_name", "sender_e164"})
MEMBERS: Final = frozenset(field.name for field in fields(CallContext))
_CUT: Final = "…"
_MASKED: Final = re.compile(r"\[masked \d+ characters")


@dataclass(frozen=True, slots=True)
class RecordedContext:
    """A context as far as its record tells it; `lacks` names the members that were known and are not any more."""

    context: CallContext
    lacks: frozenset[str] = frozenset()


def record_context(context: CallContext) -> dict[str, Any]:
    """Return what the ledger keeps of a context: `context`, and `context_lacks` where it is not all of it."""
    kept = context.to_json()
    kept.pop("session_key", None)
    lacks = []
    for name in LONG_MEMBERS:
        if name in kept and _letters(kept[name]) > KEPT_LETTERS:
            del kept[name]
            lacks.append(name)
    return {"context": kept, "context_lacks": lacks} if lacks else {"context": kept}


def read_context(kept: Mapping[str, Any], *, session_key: str, lacks: Collection[str] = ()) -> RecordedContext:
    """Read a context back.

    Args:
        kept: what `record_context` gave as `context`, after the ledger masked it.
        session_key: the record's column; empty for none.
    """
    missing = set(lacks) & MEMBERS
    readable = {}
    for name, value in {**kept, "session_key": session_key or None}.items():
        if _is_whole(value) and not (name == "session_key" and session_key.endswith(_CUT)):
            readable[name] = value
        else:
            missing.add(name)
    try:
        return RecordedContext(CallContext.from_json(readable), frozenset(missing))
    except ContextError:  # of a version that knew other members
        return RecordedContext(CallContext(session_key=session_key or None), MEMBERS - {"session_key"})


def bare_context(*, agent: str, session_key: str, channel: str, sender: str) -> RecordedContext:
    """Make the context of a record that kept none: of what its columns tell, the sender without saying as what."""
    known = CallContext(agent_id=agent or None, session_key=session_key or None, channel=channel or None)
    lacks = MEMBERS - {"agent_id", "session_key", "channel"}
    if not sender:  # nobody was named, in no way
        return RecordedContext(known, lacks - SENDER_MEMBERS)
    return RecordedContext(replace(known, sender_id=sender), lacks)


def _letters(value: Any) -> int:
    return len(json.dumps(value, default=str))


def _is_whole(value: Any) -> bool:
    return value is None or isinstance(value, bool | int) or _MASKED.search(_text(value)) is None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)

"""Every context that a record may have been about: what it lacks takes each value that some snapshot tells apart.

A record that tells everything has one completion. Two contexts of one class get the same answer, so asking all
completions is asking all contexts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, Final, TypeAlias

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import OWNERS, Classes, Conversation, agent_of, model_of
from apps.firewall.engine.recorded import SENDER_MEMBERS, RecordedContext

COMPLETIONS_MOST: Final = 256
"""Of a record that leaves more open than this nothing is said."""

Values: TypeAlias = Mapping[str, Any]

_NOBODY: Final = "any-other-sender"
_NO_TOOL: Final = "no-such-tool"
_SUBAGENT: Final = ":subagent:"


@dataclass(frozen=True, slots=True)
class Dimension:
    """Members of a context that are told together, and the values that they may have had.

    Attributes:
        name: the word for what a record lacks.
    """

    name: str
    members: frozenset[str]
    values: Callable[[CallContext, Classes], Iterator[Values]]


def completions(recorded: RecordedContext, classes: Classes) -> tuple[CallContext, ...]:
    """Return every context that a record may have been about, the one that adds nothing first; none for too many."""
    if not recorded.lacks:
        return (recorded.context,)
    if _is_open(recorded):
        return ()
    lacking = lacking_dimensions(recorded)
    choices = [_distinct(dimension, recorded, classes) for dimension in lacking]
    if prod(map(len, choices)) > COMPLETIONS_MOST:
        return ()
    return tuple(replace(recorded.context, **_joined(chosen)) for chosen in product(*choices))


def lacking_dimensions(recorded: RecordedContext) -> tuple[Dimension, ...]:
    """Return what a record lacks."""
    return tuple(dimension for dimension in DIMENSIONS if dimension.members & recorded.lacks)


def _is_open(recorded: RecordedContext) -> bool:
    """Say whether not even the session is known, or which session it was spawned by."""
    key = recorded.context.session_key or ""
    return "session_key" in recorded.lacks or ("spawned_by" in recorded.lacks and _SUBAGENT in key)


def _distinct(dimension: Dimension, recorded: RecordedContext, classes: Classes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for values in dimension.values(recorded.context, classes):
        missing = {name: value for name, value in values.items() if name in recorded.lacks}
        if missing not in found:
            found.append(missing)
            if len(found) > COMPLETIONS_MOST:
                break
    return found


def _joined(chosen: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {name: value for values in chosen for name, value in values.items()}


# --- the values of each dimension ---


def _agents(context: CallContext, classes: Classes) -> Iterator[Values]:
    del context
    yield {"agent_id": None}
    yield from ({"agent_id": agent_of(agent)} for agent in classes.agents)


def _models(context: CallContext, classes: Classes) -> Iterator[Values]:
    del context
    yield {"provider": None, "model_id": None}
    for model in classes.models:
        provider, model_id = model_of(model)
        yield {"provider": provider, "model_id": model_id}


def _places(context: CallContext, classes: Classes) -> Iterator[Values]:
    yield _place(context.channel, Conversation())
    for conversation in classes.conversations:
        if context.channel is None or conversation.channel in (context.channel, "*"):
            yield _place(conversation.channel.replace("*", "any-other-channel") or None, conversation)


def _place(channel: str | None, conversation: Conversation) -> Values:
    return {
        "channel": channel,
        "account_id": conversation.account or None,
        "group_space": conversation.space or None,
        "group_channel": conversation.group or None,
        "group_id": conversation.group or None,
        "spawned_by": None,
    }


def _senders(context: CallContext, classes: Classes) -> Iterator[Values]:
    """Whoever was named may have been named in any way; who is known by an id may have every name besides."""
    named = context.sender_id
    nobody = dict.fromkeys(SENDER_MEMBERS)
    known = nobody if named is None else {**nobody, "sender_id": named}
    yield known
    yield from ({**nobody, f"sender_{kind}": named or _NOBODY} for kind in ("id", "username", "e164", "name"))
    for sender in classes.senders:
        if sender.value:
            yield {**known, f"sender_{sender.kind}": sender.value}


def _owners(context: CallContext, classes: Classes) -> Iterator[Values]:
    del context, classes
    yield from ({"sender_is_owner": is_owner} for is_owner in reversed(OWNERS))


def _sandbox(context: CallContext, classes: Classes) -> Iterator[Values]:
    del context
    words = (None, False, True) if classes.has_sandbox_modes else (None, True)
    yield from ({"sandboxed": word} for word in words)


def _depths(context: CallContext, classes: Classes) -> Iterator[Values]:
    del context
    yield from ({"subagent_depth": depth} for depth in classes.depths)


def _brought(context: CallContext, classes: Classes) -> Iterator[Values]:
    """What a caller brought may have named the tool, or any other."""
    del context, classes
    yield {"runtime_tools": None, "inherit_runtime_tools": False}
    yield {"runtime_tools": (_NO_TOOL,), "inherit_runtime_tools": True}


def _stored(context: CallContext, classes: Classes) -> Iterator[Values]:
    """A spawn may have handed down anything, to one who speaks for nobody, or to one who does."""
    del classes
    parent = context.spawned_by or "agent:main:main"
    yield {"stored_session": None}
    yield {"stored_session": {"inheritedToolAllow": [_NO_TOOL]}}
    yield {"stored_session": {"inheritedToolPolicyVersion": 1, "spawnedBy": parent, "spawnDepth": 1}}


DIMENSIONS: Final = (
    Dimension("agent", frozenset({"agent_id"}), _agents),
    Dimension("model", frozenset({"provider", "model_id"}), _models),
    Dimension(
        "conversation",
        frozenset({"channel", "account_id", "group_space", "group_channel", "group_id", "spawned_by"}),
        _places,
    ),
    Dimension("sender", SENDER_MEMBERS, _senders),
    Dimension("owner", frozenset({"sender_is_owner"}), _owners),
    Dimension("sandbox", frozenset({"sandboxed"}), _sandbox),
    Dimension("depth", frozenset({"subagent_depth"}), _depths),
    Dimension("runtime_tools", frozenset({"runtime_tools", "inherit_runtime_tools"}), _brought),
    Dimension("stored_session", frozenset({"stored_session"}), _stored),
)

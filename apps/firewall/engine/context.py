"""The context of a call: who asks, from where, and what the caller knows about them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, Self

from apps.firewall.errors import FirewallError


class ContextError(FirewallError):
    """A context that cannot be read; `field` names the member that is wrong."""

    code = "context_invalid"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What a caller states about a call. None means that it is not known.

    The engine derives agent, sub-agent depth and group from the session key; the members here fill what the key leaves
    open and never weaken it.
    """

    agent_id: str | None = None
    session_key: str | None = None
    spawned_by: str | None = None
    provider: str | None = None
    model_id: str | None = None
    channel: str | None = None
    account_id: str | None = None
    group_id: str | None = None
    group_channel: str | None = None
    group_space: str | None = None
    sender_id: str | None = None
    sender_username: str | None = None
    sender_name: str | None = None
    sender_e164: str | None = None
    sender_is_owner: bool | None = None
    sandboxed: bool | None = None
    subagent_depth: int = 0
    runtime_tools: tuple[str, ...] | None = None
    inherit_runtime_tools: bool = False
    stored_session: Mapping[str, Any] | None = None

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read a context from a JSON object whose members have the names of the fields.

        Raises:
            ContextError: a member is unknown or of the wrong kind; `field` names it.
        """
        if not isinstance(document, Mapping):
            raise ContextError("the context is not an object", field="")
        values: dict[str, Any] = {}
        for name, value in document.items():
            reader = _READERS.get(name)
            if reader is None:
                raise ContextError(f"unknown member `{name}` in the context", field=str(name))
            values[name] = reader(name, value)
        return cls(**values)

    def of_caller(self, agent_id: str, session_key: str | None) -> Self:
        """Give the same context in the name of an agent and its session; every call comes by here."""
        values = dict(zip(_NAMES, _VALUES(self), strict=True))
        values["agent_id"], values["session_key"] = agent_id, session_key
        return type(self)(**values)

    def to_json(self) -> dict[str, Any]:
        """Return the context as a JSON object without the members that say nothing."""
        shown: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, tuple):
                value = list(value)
            shown[field.name] = dict(value) if isinstance(value, Mapping) else value
        return shown


_NAMES: Final = tuple(each.name for each in fields(CallContext))
_VALUES: Final = attrgetter(*_NAMES)


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ContextError(f"`{name}` is not a text", field=name)
    return value


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ContextError(f"`{name}` is neither true nor false", field=name)
    return value


def _optional_truth(name: str, value: Any) -> bool | None:
    return None if value is None else _truth(name, value)


def _depth(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ContextError(f"`{name}` is not a whole number from 0 up", field=name)
    return value


def _texts(name: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise ContextError(f"`{name}` is not a list of texts", field=name)
    return tuple(value)


def _mapping(name: str, value: Any) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, Mapping):
        raise ContextError(f"`{name}` is not an object", field=name)
    return value


_READERS: Final = {
    **dict.fromkeys((field.name for field in fields(CallContext)), _text),
    "sender_is_owner": _optional_truth,
    "sandboxed": _optional_truth,
    "subagent_depth": _depth,
    "runtime_tools": _texts,
    "inherit_runtime_tools": _truth,
    "stored_session": _mapping,
}

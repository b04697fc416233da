"""Guardrails: house rules about who must never, who must always have a tool, and about whose use a person is asked.

A guardrail decides nothing. It says of all contexts at once what a policy must keep to, whoever edits it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, Self, get_args

from apps.firewall.engine.names import fold
from apps.firewall.errors import FirewallError

Requirement = Literal["never", "always", "asks"]
Place = Literal["anywhere", "group", "direct"]
SenderKind = Literal["anybody", "owner", "non_owner", "named"]
AskMode = Literal["on-miss", "always"]

REQUIREMENTS: Final = get_args(Requirement)
PLACES: Final = get_args(Place)
SENDER_KINDS: Final = get_args(SenderKind)
ASK_MODES: Final = get_args(AskMode)

LABEL: Final = "label:"
"""Begins an entry of `agents` that means every agent with a label; no id holds a colon."""

ENTRIES_MOST: Final = 200
ENTRY_LENGTH: Final = 512
DEPTH_MOST: Final = 100


class GuardrailFormError(FirewallError):
    """A guardrail that says nothing, or what cannot be meant; `field` names the member that is wrong."""

    code = "guardrail_form_invalid"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailForm:
    """What a guardrail demands, and of whom. A condition that is left empty holds for everybody.

    Args:
        requires: of the tools that they are never allowed, always allowed, or allowed only where a person is asked.
        tools: as in lists: names, `group:` names, plugins, patterns with `*`.
        agents: ids, and `label:` with a label, both with `*`; agents that the snapshot does not know are meant only by
            an empty list.
        channels: by name.
        place: in groups, in direct conversations, or in both.
        groups: some groups only: ids, or a channel and an id, `telegram/-100`.
        sender: `non_owner` is everybody who is not known to be an owner.
        senders: where `sender` is `named`, keys as rules by sender have them.
        sandboxed: inside a sandbox only, outside only, or both.
        min_depth: sub-agents from this depth on; 0 for every session.
        ask: where a person is asked: about what no list admits, or about every command.
    """

    requires: Requirement
    tools: tuple[str, ...]
    agents: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    place: Place = "anywhere"
    groups: tuple[str, ...] = ()
    sender: SenderKind = "anybody"
    senders: tuple[str, ...] = ()
    sandboxed: bool | None = None
    min_depth: int = 0
    ask: AskMode = "on-miss"

    def __post_init__(self) -> None:
        if not self.tools:
            raise GuardrailFormError("name at least one tool", field="tools")
        if any(fold(entry) == LABEL for entry in self.agents):
            raise GuardrailFormError("a label is empty", field="agents")
        if self.groups and self.place == "direct":
            raise GuardrailFormError("a direct conversation is in no group", field="groups")
        if (self.sender == "named") != bool(self.senders):
            raise GuardrailFormError("name senders exactly where some are meant", field="senders")
        if self.ask != "on-miss" and self.requires != "asks":
            raise GuardrailFormError("says how a person is asked, and nobody is", field="ask")

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Read a form from a JSON object whose members have the names of the fields.

        Raises:
            GuardrailFormError: a member is unknown, missing or wrong; `field` names it.
        """
        if not isinstance(document, Mapping):
            raise GuardrailFormError("the guardrail is not an object", field="")
        values: dict[str, Any] = {}
        for name, value in document.items():
            reader = _READERS.get(name)
            if reader is None:
                raise GuardrailFormError(f"unknown member `{name}` in the guardrail", field=str(name))
            values[name] = reader(name, value)
        for name in ("requires", "tools"):
            if name not in values:
                raise GuardrailFormError("is missing", field=name)
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """Return the form as a JSON object without the members that say nothing."""
        shown: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("requires", "tools") or value != field.default:
                shown[field.name] = list(value) if isinstance(value, tuple) else value
        return shown


def _entries(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise GuardrailFormError("must be a list of texts", field=name)
    if len(value) > ENTRIES_MOST:
        raise GuardrailFormError(f"has more than {ENTRIES_MOST} entries", field=name)
    for entry in value:
        if not fold(entry):
            raise GuardrailFormError("an entry is empty", field=name)
        if len(entry) > ENTRY_LENGTH:
            raise GuardrailFormError(f"an entry is longer than {ENTRY_LENGTH} characters", field=name)
    return tuple(dict.fromkeys(value))


def _word(name: str, value: Any) -> str:
    words = _WORDS[name]
    if not isinstance(value, str) or value not in words:
        raise GuardrailFormError(f"must be one of {', '.join(words)}", field=name)
    return value


def _optional_truth(name: str, value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise GuardrailFormError("must be true, false or null", field=name)
    return value


def _depth(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= DEPTH_MOST:
        raise GuardrailFormError(f"must be a whole number from 0 to {DEPTH_MOST}", field=name)
    return value


_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "requires": REQUIREMENTS,
    "place": PLACES,
    "sender": SENDER_KINDS,
    "ask": ASK_MODES,
}
_READERS: Final = {
    **dict.fromkeys(("tools", "agents", "channels", "groups", "senders"), _entries),
    **dict.fromkeys(_WORDS, _word),
    "sandboxed": _optional_truth,
    "min_depth": _depth,
}

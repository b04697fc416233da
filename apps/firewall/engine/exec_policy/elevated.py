"""Elevated commands: who may ask for them, and which gate is shut for everybody else.

Source: conformance README, `exec_host.jsonl`, kinds `elevated_sender` and `elevated_permissions`.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import trim

ANYBODY: Final = "*"
DIRECT: Final = "direct"
CONVERSATION: Final = re.compile(r"(^|:)(channel|group|thread|topic|room|space|spaces):")
FIELDS: Final = ("id", "from", "e164", "name", "username", "tag")

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who speaks, as their channel reports it; None where it says nothing.

    Args:
        origin: where the message came from, which is its sender only where nothing else could be.
        chat_type: `direct`, `group`, `channel`; None or empty when nobody said.
    """

    id: str | None = None
    username: str | None = None
    name: str | None = None
    tag: str | None = None
    e164: str | None = None
    origin: str | None = None
    chat_type: str | None = None


@dataclass(frozen=True, slots=True)
class ShutGate:
    """A condition that is not met: the setting `gate`, of the level `global`, `agent` or `call`."""

    gate: Literal["enabled", "allowFrom", "provider"]
    level: Literal["global", "agent", "call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elevation:
    """Whether a call may be elevated. `is_enabled` says so of the settings alone, `is_allowed` of this sender."""

    is_enabled: bool
    is_allowed: bool
    shut: tuple[ShutGate, ...] = ()


def elevation(dialect: Dialect, shared: Any, own: Any, *, provider: str, speaker: Speaker) -> Elevation:
    """Ask every gate whether a sender may have elevated commands.

    Args:
        shared, own: `tools.elevated`, of everybody and of the agent; the agent's can only narrow.
        provider: the channel that the call came over; empty for none.
    """
    outer, inner = _object(shared), _object(own)
    gates = ((outer, ShutGate("enabled", "global")), (inner, ShutGate("enabled", "agent")))
    shut = tuple(gate for block, gate in gates if block.get("enabled") is False)
    if shut:
        return Elevation(is_enabled=False, is_allowed=False, shut=shut)
    if not provider:
        return Elevation(is_enabled=True, is_allowed=False, shut=(ShutGate("provider", "call"),))
    if not is_approved(dialect, outer.get("allowFrom"), provider=provider, speaker=speaker):
        return Elevation(is_enabled=True, is_allowed=False, shut=(ShutGate("allowFrom", "global"),))
    narrowed = inner.get("allowFrom")
    if narrowed is not None and not is_approved(dialect, narrowed, provider=provider, speaker=speaker):
        return Elevation(is_enabled=True, is_allowed=False, shut=(ShutGate("allowFrom", "agent"),))
    return Elevation(is_enabled=True, is_allowed=True)


def is_approved(dialect: Dialect, allow_from: Any, *, provider: str, speaker: Speaker, fallback: Any = None) -> bool:
    """Say whether the list of a provider names a sender.

    Args:
        allow_from: provider -> list of senders; a provider is written exactly as calls have it.
        fallback: the channel's own list, for a provider without one.
    """
    listed = _object(allow_from).get(provider)
    entries = _texts(listed if isinstance(listed, list) else fallback)
    if ANYBODY in entries:
        return True
    known = _Known(dialect, speaker)
    return any(known.has(entry) for entry in entries)


class _Known:
    """Everything by which a sender can be named, each in the forms in which lists write it."""

    def __init__(self, dialect: Dialect, speaker: Speaker) -> None:
        prefixes = "|".join(map(re.escape, dialect.sender_prefixes))
        self._prefix = re.compile(f"^({prefixes}):", re.IGNORECASE)
        self._is_ascii = dialect.sender_slug_ascii
        origin = speaker.origin if _is_sender(dialect, speaker) else None
        self._by_field: dict[str, frozenset[str]] = {
            "id": self._identities(speaker.id),
            "from": self._identities(origin),
            "e164": self._plain(speaker.e164),
            "name": self._labels(speaker.name),
            "username": self._labels(speaker.username),
            "tag": self._labels(speaker.tag),
        }
        fields = self._by_field
        self._identity = fields["id"] | fields["from"] | fields["e164"]

    def has(self, entry: str) -> bool:
        """Say whether an entry names this sender: by one field, or by any identity when it names no field."""
        field, colon, value = entry.partition(":")
        field, value = trim(field).lower(), trim(value)
        if not (colon and field in FIELDS and value):
            return bool(self._identities(entry) & self._identity)
        wanted = {"id": self._identities, "from": self._identities, "e164": self._plain}.get(field, self._labels)
        return bool(wanted(value) & self._by_field[field])

    def _plain(self, value: str | None) -> frozenset[str]:
        text = trim(value or "")
        return frozenset((text, text.lower())) if text else frozenset()

    def _identities(self, value: str | None) -> frozenset[str]:
        text = trim(value or "")
        return self._plain(text) | self._plain(self._prefix.sub("", text))

    def _labels(self, value: str | None) -> frozenset[str]:
        return self._plain(value) | self._plain(self._slug(value or ""))

    def _slug(self, value: str) -> str:
        """Write a name as lists may: without leading `@` and `#`, dashes for everything between letters and digits."""
        text = trim(value).lower()
        if not self._is_ascii:
            text = unicodedata.normalize("NFC", text)
        kept = (each if self._stays(each) else "-" for each in text.lstrip("@#"))
        return re.sub("-{2,}", "-", "".join(kept)).strip("-")

    def _stays(self, letter: str) -> bool:
        if self._is_ascii:
            return letter in "abcdefghijklmnopqrstuvwxyz0123456789"
        return unicodedata.category(letter)[0] in "LMN"


def _is_sender(dialect: Dialect, speaker: Speaker) -> bool:
    """Say whether where a message came from is who sent it."""
    if not dialect.elevated_from_needs_direct:
        return True
    chat_type = trim(speaker.chat_type or "").lower()
    if chat_type and chat_type != DIRECT:
        return False
    origin = trim(speaker.origin or "").lower()
    return not origin.startswith("chat_id:") and CONVERSATION.search(origin) is None


def _texts(value: Any) -> list[str]:
    """Read entries of a list: numbers are written out, as configurations hold ids as numbers."""
    entries: Iterable[Any] = value if isinstance(value, list) else ()
    texts = (str(each) for each in entries if isinstance(each, str | int) and not isinstance(each, bool))
    return [trim(text) for text in texts if trim(text)]


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, Mapping) else {}

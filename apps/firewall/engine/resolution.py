"""A context's layers while they are being found: what its session says, its opening, and what came after."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.conversation import Chains
from apps.firewall.engine.opening import Applied, Opening
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.session import Session

Places: TypeAlias = tuple[str, str]
"""Where an allow list and a deny list stand that come from different blocks."""


@dataclass(frozen=True, slots=True)
class Given:
    """Layers that a caller has selected already, in place of the engine's own selection; gates do not act then."""

    group: Policy | None = None
    sandbox: Policy | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """What holds for a session whoever speaks in it: worked out once and kept.

    Attributes:
        depth: the session's own, before the caller's word.
        channel: the conversation's, else the one that the caller names.
        transport: the channel that the caller names, else the conversation's, if it restricts tools by itself.
        asked_on: the channel whose groups and direct chats are asked, else the conversation's.
        spoken_on: where the sender is looked for: the channel of the session's own key, else the one that the caller
            names, else that of the key it was spawned by.
        is_webchat: the caller names the Gateway's own chat, or nothing names another channel.
        owner_chains: the places that answer an owner on that chat: rules by sender do not hold them.
        is_sandboxed: what the configured mode says of the session.
        unproven_group: a group that the caller names and no session key leads to: its rules are passed over.
    """

    session: Session
    depth: int
    agent: str | None
    chains: Chains
    owner_chains: Chains
    channel: str | None
    transport: str | None
    asked_on: str | None
    spoken_on: str | None
    is_webchat: bool
    is_sandboxed: bool
    unproven_group: str | None


class Speaker(NamedTuple):
    """Who speaks, and whether that is an owner as far as the snapshot knows: worked out once and kept."""

    sender: Sender
    is_owner: bool | None


class Resolution:
    """A context's layers and the mask of what passes them all.

    `sandbox_places` says where the sandbox's allow list and its deny list stand, where its layer applies. `is_child`
    says that the session is a sub-agent's, `inherits` that lists stored when it was spawned hold for it.
    """

    __slots__ = (
        "context",
        "delegated",
        "depth",
        "inherits",
        "is_child",
        "is_owner",
        "late",
        "mask",
        "opening",
        "sandbox_places",
        "sandboxed",
        "sender",
        "talk",
    )
    context: CallContext
    talk: Talk
    opening: Opening
    sender: Sender
    is_owner: bool | None
    depth: int
    is_child: bool
    inherits: bool
    delegated: bool
    late: list[Applied]
    mask: int
    sandbox_places: Places | None
    sandboxed: bool
    # no `__init__`: a call of one costs as much as all else that an opening takes

    @property
    def session(self) -> Session:
        """What the session keys say."""
        return self.talk.session

    @property
    def group_sender(self) -> Sender:
        """Who speaks, as a group's rules look for them: on the conversation's channel, whatever the caller names."""
        sender, channel = self.sender, self.talk.asked_on
        return sender if sender.channel == channel else replace(sender, channel=channel)

    @property
    def chains(self) -> Chains:
        """The places that may answer for the conversation."""
        return self.talk.owner_chains if self.is_owner and self.talk.is_webchat else self.talk.chains

    @property
    def layers(self) -> tuple[Applied, ...]:
        """Every layer that has a policy, in order."""
        return (*self.opening.layers, *self.late)


def layers_refusing(resolution: Resolution, bit: int) -> Iterator[str]:
    """Return the layers that refuse a tool, gates before the others."""
    yield from (gate.layer.key for gate in resolution.opening.gates if gate.removed & bit)
    yield from (layer.key for layer, _, rules, _ in resolution.layers if not rules.mask & bit)

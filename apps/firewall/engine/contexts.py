"""Classes of contexts: each value that a snapshot names, plus one "any other", in every dimension.

Two contexts of one class get the same answer for every tool, so whoever compares two snapshots need ask each class
once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple, Protocol

from apps.firewall.engine.apply_patch import read_apply_patch
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.groups import DIRECT, GroupMap
from apps.firewall.engine.sandbox_mode import is_configured
from apps.firewall.engine.senders import Sender, SenderIndex

ANY_OTHER: Final = "*"
OWNERS: Final[tuple[bool | None, ...]] = (True, False, None)

_SPACES: Final = ("guilds", "teams")
_OTHER_AGENT: Final = "any-other-agent"
_OTHER_PROVIDER: Final = "any-other-provider"
_OTHER_MODEL: Final = "any-other-model"
_OTHER_CHANNEL: Final = "any-other-channel"
_OTHER_GROUP: Final = "any-other-group"
_OTHER_PEER: Final = "0"  # an id, and nobody's
_OTHER_SENDER: Final = "any-other-sender"


class Compared(Protocol):
    """What can be asked over all classes: a snapshot, or its document as another dialect reads it."""

    @property
    def engine(self) -> Engine: ...

    @property
    def tool_names(self) -> tuple[str, ...]: ...


class Model(NamedTuple):
    """A provider and a model; `*` for any other. `key` is the name by which blocks know it."""

    provider: str
    model_id: str

    @property
    def key(self) -> str:
        """The key of its block: `openai/gpt-5`, or `openai` for its other models."""
        if self.model_id == ANY_OTHER:
            return self.provider
        return f"{self.provider}/{self.model_id}"


class Conversation(NamedTuple):
    """Where a call comes from; `*` is any other one.

    Attributes:
        channel: "" for a call that comes from no channel.
        group: "" for a direct conversation.
        space: the guild or team around the group.
        peer: of a direct chat that the session's key names; "" where the sender is the peer, if there is one.
    """

    channel: str = ""
    account: str = ""
    space: str = ""
    group: str = ""
    peer: str = ""

    def __str__(self) -> str:
        where = (self.channel, self.account, self.space, self.group, self.peer and "direct", self.peer)
        return " ".join(part for part in where if part) or "direct"


class SenderClass(NamedTuple):
    """Who speaks: `kind` is id, e164, username, name, or `*` for anybody else; `channel` narrows an id to a channel."""

    kind: str = ANY_OTHER
    value: str = ""
    channel: str = ""

    def __str__(self) -> str:
        if self.kind == ANY_OTHER:
            return ANY_OTHER
        return ":".join(part for part in ("channel" if self.channel else self.kind, self.channel, self.value) if part)


@dataclass(frozen=True, slots=True)
class ContextClass:
    """One class in every dimension. `is_owner` None leaves it to the snapshot's list of owners."""

    agent: str
    model: Model
    conversation: Conversation
    sender: SenderClass
    is_owner: bool | None
    sandboxed: bool
    depth: int


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of every dimension, over one or several snapshots, each in order."""

    agents: tuple[str, ...]
    models: tuple[Model, ...]
    conversations: tuple[Conversation, ...]
    senders: tuple[SenderClass, ...]
    depths: tuple[int, ...]
    owners: tuple[bool | None, ...] = OWNERS
    sandboxed: tuple[bool, ...] = (False, True)
    has_sandbox_modes: bool = False


def group_session_key(agent: str, channel: str, group_id: str) -> str:
    """Return the session key of an agent in a group: the proof that a caller is in it."""
    return f"agent:{agent}:{channel}:group:{group_id}"


def direct_session_key(agent: str, channel: str, peer: str) -> str:
    """Return the session key of an agent in a direct chat."""
    return f"agent:{agent}:{channel}:direct:{peer}"


class Naming:
    """Whom rules by sender name; rules with the same keys, which two snapshots mostly have, are read once."""

    __slots__ = ("_known", "_read")

    def __init__(self) -> None:
        self._known: dict[object, tuple[SenderClass, ...]] = {}
        self._read: dict[int, tuple[SenderIndex[int], tuple[SenderClass, ...]]] = {}

    def classes_in(self, index: SenderIndex[int]) -> tuple[SenderClass, ...]:
        """Return the classes of senders whom rules name."""
        read = self._read.get(id(index))  # its entry holds the index, so that no other one gets this number
        if read is not None:
            return read[1]
        keys = index.keys()
        known = self._known.get(keys)
        if known is None:
            known = self._known[keys] = tuple(
                SenderClass(kind, value, channel) if value else SenderClass() for kind, value, channel in index.names()
            )
        self._read[id(index)] = index, known
        return known


def classes_of(*snapshots: Compared, naming: Naming | None = None) -> Classes:
    """Return the classes of one or several snapshots together.

    Args:
        naming: what is known already, and learns more.
    """
    engines = [snapshot.engine for snapshot in snapshots]
    naming = naming or Naming()
    return Classes(
        agents=(*sorted({name for engine in engines for name in engine.agents or {}}), ANY_OTHER),
        models=_models(engines),
        conversations=_conversations(engines, naming),
        senders=(*sorted({each for engine in engines for each in _senders(engine, naming)}), SenderClass()),
        depths=tuple(sorted({0, 1, *(engine.leaf_depth for engine in engines)})),
        has_sandbox_modes=any(
            is_configured(engine.settings, *(agent.settings for agent in (engine.agents or {}).values()))
            for engine in engines
        ),
    )


def context_classes(classes: Classes) -> Iterator[ContextClass]:
    """Return every combination that can occur: a sender of one channel speaks on no other."""
    for agent, model, conversation, sender, is_owner, sandboxed, depth in product(
        classes.agents,
        classes.models,
        classes.conversations,
        classes.senders,
        classes.owners,
        classes.sandboxed,
        classes.depths,
    ):
        if speaks_in(sender, conversation):
            yield ContextClass(agent, model, conversation, sender, is_owner, sandboxed, depth)


def speaks_in(sender: SenderClass, conversation: Conversation) -> bool:
    """Say whether a sender can speak in a conversation."""
    return not sender.channel or sender.channel == conversation.channel


def context_of(context_class: ContextClass) -> CallContext:
    """Return a context of a class."""
    where, who = context_class.conversation, sender_of(context_class.sender, context_class.conversation)
    agent = agent_of(context_class.agent)
    channel = _named(where.channel, _OTHER_CHANNEL) or ""
    group, peer = _named(where.group, _OTHER_GROUP), _named(where.peer, _OTHER_PEER)
    key = group_session_key(agent, channel, group) if group else None
    provider, model = model_of(context_class.model)
    return CallContext(
        agent_id=agent,
        session_key=direct_session_key(agent, channel, peer) if peer else key,
        provider=provider,
        model_id=model,
        channel=who.channel,
        account_id=where.account or None,
        group_space=_named(where.space, _OTHER_GROUP),
        sender_id=who.id,
        sender_e164=who.e164,
        sender_username=who.username,
        sender_name=who.name,
        sender_is_owner=context_class.is_owner,
        sandboxed=context_class.sandboxed,
        subagent_depth=context_class.depth,
    )


def agent_of(agent: str) -> str:
    """Return an agent of a class."""
    return _OTHER_AGENT if agent == ANY_OTHER else agent


def model_of(model: Model) -> tuple[str | None, str | None]:
    """Return a provider and a model of a class."""
    return _named(model.provider, _OTHER_PROVIDER), _named(model.model_id, _OTHER_MODEL)


def sender_of(sender: SenderClass, conversation: Conversation) -> Sender:
    """Return a sender of a class, speaking in a conversation."""
    channel = _named(conversation.channel, _OTHER_CHANNEL)
    if sender.kind == ANY_OTHER:
        return Sender(id=_OTHER_SENDER, channel=channel)
    known = {"id": _OTHER_SENDER, sender.kind: sender.value}  # who is known by a name has an id, too
    return Sender(**known, channel=channel)


def _named(value: str, other: str) -> str | None:
    return other if value == ANY_OTHER else value or None


def named_classes(engine: Engine, naming: Naming) -> Iterator[SenderClass]:
    """Return the classes of senders whom owners and the rules of the sender layer name."""
    for owner in engine.owners.senders():
        yield SenderClass("id", owner.id, owner.channel or "") if owner.id else SenderClass()
    indexes = (engine.senders, *(agent.senders for agent in (engine.agents or {}).values()))
    for index in indexes:
        if index is not None:
            yield from naming.classes_in(index)


def models_of(engine: Engine) -> tuple[Model, ...]:
    """Return the classes of providers and models of one snapshot."""
    return _models([engine])


def _models(engines: list[Engine]) -> tuple[Model, ...]:
    """Return a class for every key of a provider block and every provider and model that apply_patch knows."""
    keys: set[str] = set()
    names: set[str] = set()
    for engine in engines:
        keys.update(engine.by_provider, engine.dialect.apply_patch_providers)
        names.update(read_apply_patch(engine.settings, {}).models or ())
        for agent in (*(engine.agents or {}).values(), engine.agent_defaults):
            keys.update(agent.by_provider)
            names.update(read_apply_patch({}, agent.settings).models or ())
    models = {Model(*key.split("/", 1)) for key in (*keys, *names) if "/" in key}
    providers = {key.partition("/")[0] for key in keys} | {model.provider for model in models} | {ANY_OTHER}
    if not all(engine.dialect.model_key_with_provider for engine in engines):
        names.update(key for key in keys if "/" in key)  # there a model with a slash is the whole key
    # a list of models names them without their provider
    models.update(Model(provider, name) for provider in providers for name in (*names, ANY_OTHER))
    return tuple(sorted(model for model in models if model.provider and model.model_id))


def _conversations(engines: list[Engine], naming: Naming) -> tuple[Conversation, ...]:
    found = {Conversation(), Conversation(ANY_OTHER)}
    for engine in engines:
        found.update(Conversation(sender.channel) for sender in named_classes(engine, naming) if sender.channel)
        for name, channel in engine.channels.items():
            found.add(Conversation(name))
            for account in ("", *channel.accounts):
                found.add(Conversation(name, account, "", ANY_OTHER))
                for maps in (channel.maps, channel.accounts.get(account, {})):
                    for map_name, groups in maps.items():
                        if map_name == DIRECT:
                            found.update(_direct(name, account, groups))
                        else:
                            found.update(_in_map(name, account, map_name in _SPACES, groups))
    return tuple(sorted(found))


def _direct(channel: str, account: str, chats: GroupMap[int]) -> Iterator[Conversation]:
    """Return the chats whose peer the session's key names, and the one in which the sender is the peer."""
    yield Conversation(channel, account)
    for peer in (*chats.entries, ANY_OTHER):
        yield Conversation(channel, account, peer=peer)


def _in_map(channel: str, account: str, is_space: bool, groups: GroupMap[int]) -> Iterator[Conversation]:
    for key, entry in groups.entries.items():
        if not is_space:
            yield Conversation(channel, account, "", key)
            continue
        yield Conversation(channel, account, key, ANY_OTHER)
        for inner in entry.channels.entries if entry.channels is not None else ():
            yield Conversation(channel, account, key, inner)
            yield Conversation(channel, account, ANY_OTHER, inner)


def _senders(engine: Engine, naming: Naming) -> Iterator[SenderClass]:
    yield from named_classes(engine, naming)
    for channel in engine.channels.values():
        for maps in (channel.maps, *channel.accounts.values()):
            for name, groups in maps.items():
                yield from _senders_in(groups, naming)
                if name == DIRECT:
                    yield from (SenderClass("id", peer) for peer in groups.entries if peer != ANY_OTHER)


def _senders_in(groups: GroupMap[int], naming: Naming) -> Iterator[SenderClass]:
    for entry in groups.entries.values():
        if entry.senders is not None:
            yield from naming.classes_in(entry.senders)
        if entry.channels is not None:
            yield from _senders_in(entry.channels, naming)

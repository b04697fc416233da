"""Which layers a caller cannot be judged by, because it does not know what they ask for.

Most callers state what they know, and what they leave out is none: a call without a sender has no sender. A caller that
repeats what another program told it, such as a gateway's plugin, may leave a fact out because it never heard of it.
A layer that might refuse the tool, were that fact known, has to refuse it then.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from apps.firewall.engine.apply_patch import read_apply_patch
from apps.firewall.engine.compile import AgentRules, Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import Model, model_of, models_of
from apps.firewall.engine.conversation import Chains
from apps.firewall.engine.groups import ChannelGroups, GroupEntry, GroupMap, Place
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.opening import Opening, Question, build_opening
from apps.firewall.engine.resolution import Resolution
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.senders import Sender, SenderIndex
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError

SENDER_FACTS: Final = ("channel", "sender_id", "sender_e164", "sender_username", "sender_name")
GROUP_FACTS: Final = ("account_id", "group_channel", "group_space")
NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "apply_patch": ("provider", "model_id"),
    "provider_profile": ("provider", "model_id"),
    "global_provider": ("provider", "model_id"),
    "agent_provider": ("provider", "model_id"),
    "group": ("spawned_by", *GROUP_FACTS, *SENDER_FACTS),
    "sender": SENDER_FACTS,
    "owner_only": ("sender_is_owner",),
}
"""What each layer asks of a call besides its agent and session key. A layer that is not here asks for nothing, or has
an answer of its own where the call has none: the sandbox's the configured mode, the gate of `apply_patch` a refusal."""
FACTS: Final = frozenset(fact for facts in NEEDS.values() for fact in facts)
_BY_KIND: Final = {
    "channel": "channel",
    "id": "sender_id",
    "e164": "sender_e164",
    "username": "sender_username",
    "name": "sender_name",
}
_KINDS: Final = {fact: kind for kind, fact in _BY_KIND.items()}
_CHANNELS_BY_SPACE: Final = frozenset({"discord", "msteams"})
_CHANNELS_BY_NAME: Final = frozenset({"discord", "slack", "msteams", "matrix", "nextcloud-talk", "zalouser"})


WORDS: Final = {
    "provider": "provider",
    "model_id": "model",
    "spawned_by": "session that spawned it",
    "account_id": "account",
    "group_channel": "group's name",
    "group_space": "guild or team",
    "channel": "channel",
    "sender_id": "sender's id",
    "sender_e164": "sender's phone number",
    "sender_username": "sender's username",
    "sender_name": "sender's name",
    "sender_is_owner": "answer whether the sender is an owner",
}
"""What facts are called in a sentence that ends "does not know the …"."""


class UnknownFact(NamedTuple):
    """A layer that might refuse a tool, its name for people, and what it would have to know."""

    layer: str
    label: str
    fact: str


class FactUnknownError(FirewallError):
    """A layer might refuse the tool, and its caller does not know a fact that the layer asks for."""

    code = "fact_unknown"

    def __init__(self, unknown: UnknownFact, *, of: str = "") -> None:
        super().__init__(
            f"`{unknown.label}` cannot be decided: the gateway does not know {of}the {WORDS[unknown.fact]}"
        )
        self.unknown = unknown


class _Doubt(NamedTuple):
    """One answer that a layer might give, were the fact known: the tools that it leaves."""

    layer: str
    fact: str
    mask: int


def unknown_fact(snapshot: Snapshot, context: CallContext, tool: str, known: Collection[str]) -> UnknownFact | None:
    """Return the first layer that might refuse an allowed tool, were a fact known; None when all that matters is.

    Args:
        tool: the tool's own name.
        known: facts that the caller knows, also those of which it knows that there is none.
    Raises:
        ResolutionError: nothing can be decided; the message says why.
    """
    unknown = FACTS.difference(known)
    if not unknown:
        return None
    engine = snapshot.engine
    bit = engine.universe.bits[tool]
    resolution = resolve(engine, context)
    for doubts in (_of_provider, _of_group, _of_sender, _of_owner):
        for doubt in doubts(engine, resolution, unknown):
            if not doubt.mask & bit:
                name = resolution.opening.agent_name or "main"
                label = LAYERS[doubt.layer].label.format(agent=name, profile="?")
                return UnknownFact(doubt.layer, label, doubt.fact)
    return None


def check_facts(snapshot: Snapshot, context: CallContext, tool: str, known: Collection[str], *, of: str = "") -> None:
    """Let an allowed tool pass if no layer lacks a fact that might make it refuse.

    Args:
        of: whose facts they are, in words that end with a blank; the caller's own unless told.
    Raises:
        FactUnknownError: some layer does.
    """
    unknown = unknown_fact(snapshot, context, tool, known)
    if unknown is not None:
        raise FactUnknownError(unknown, of=of)


def facts_asked(snapshot: Snapshot) -> dict[str, tuple[str, ...]]:
    """Return what the layers of a snapshot ask for by the rules that stand in them, by layer; only layers that do."""
    engine = snapshot.engine
    agents = tuple(_agents(engine))
    asked: dict[str, Iterable[str]] = {
        "apply_patch": _asked_by_patch(engine, agents),
        "global_provider": _asked_by_keys(engine.by_provider),
        "agent_provider": _asked_by_keys(key for each in agents for key in each.by_provider),
        "group": _asked_by_groups(engine),
    }
    if "sender" in engine.dialect.layers:
        asked["sender"] = _asked_by_indexes((engine.senders, *(each.senders for each in agents)))
    found = {layer: tuple(dict.fromkeys(facts)) for layer, facts in asked.items()}
    return {layer: facts for layer, facts in found.items() if facts}


# --- provider and model ---


def _of_provider(engine: Engine, resolution: Resolution, unknown: Collection[str]) -> Iterator[_Doubt]:
    context = resolution.context
    if context.provider is None and "provider" in unknown:
        fact, provider = "provider", None
    elif context.model_id is None and "model_id" in unknown and context.provider:
        fact, provider = "model_id", context.provider
    else:
        return
    for opening in _openings(engine, resolution, provider):
        for layer, _, rules, _ in opening.layers:
            if layer.key in NEEDS:
                yield _Doubt(layer.key, fact, rules.mask)
        for gate in opening.gates:
            if gate.layer.key == "apply_patch":
                yield _Doubt(gate.layer.key, fact, ~gate.removed)


def _openings(engine: Engine, resolution: Resolution, provider: str | None) -> tuple[Opening, ...]:
    """Return what a session opens with under each provider and model that the snapshot tells apart; kept."""
    talk = resolution.talk
    is_stranger = engine.dialect.owner_unknown_is_stranger and resolution.is_owner is not True
    key = ("unknown_facts", talk.agent, provider, is_stranger, talk.transport, resolution.sandboxed)
    kept: tuple[Opening, ...] | None = engine.memo.get(key)
    if kept is not None:
        return kept
    asked = {_named(model, provider) for model in models_of(engine)}
    made = {
        id(opening): opening
        for opening in (
            build_opening(
                engine, Question(talk.agent, name, model, is_stranger, talk.transport, resolution.sandboxed, True)
            )
            for name, model in asked
        )
    }
    openings: tuple[Opening, ...] = engine.remember(engine.memo, key, tuple(made.values()))
    return openings


def _named(model: Model, provider: str | None) -> tuple[str | None, str | None]:
    name, model_id = model_of(model)
    return provider or name, model_id


def _asked_by_keys(keys: Iterable[str]) -> tuple[str, ...]:
    keys = tuple(keys)
    if not keys:
        return ()
    return ("provider", "model_id") if any("/" in key for key in keys) else ("provider",)


def _asked_by_patch(engine: Engine, agents: Iterable[AgentRules]) -> tuple[str, ...]:
    if any(read_apply_patch(engine.settings, each.settings).models for each in agents):
        return ("provider", "model_id")
    return ("provider",) if engine.dialect.apply_patch_opt_in else ()


def _agents(engine: Engine) -> Iterator[AgentRules]:
    yield from (engine.agents or {}).values()
    yield engine.agent_defaults


# --- who speaks ---


def _of_sender(engine: Engine, resolution: Resolution, unknown: Collection[str]) -> Iterator[_Doubt]:
    if resolution.delegated or "sender" not in engine.dialect.layers:
        return
    if resolution.is_owner and resolution.talk.is_webchat:
        return
    agent = resolution.opening.agent
    for index in (agent.senders if agent is not None else None, engine.senders):
        if index is None:
            continue
        yield from _in_index(engine, resolution, "sender", index, resolution.sender, unknown)
        if index.find(resolution.sender) is not None:
            return  # some rule of this map counts, whichever: the next map is not asked


def _in_index(
    engine: Engine,
    resolution: Resolution,
    layer: str,
    index: SenderIndex[int],
    sender: Sender,
    unknown: Collection[str],
) -> Iterator[_Doubt]:
    kinds = {_KINDS[fact] for fact in unknown if fact in _KINDS}
    for kind, position in index.rules_in_doubt(sender, kinds):
        yield _Doubt(layer, _BY_KIND[kind], _mask(engine, resolution, position))


def _mask(engine: Engine, resolution: Resolution, position: int) -> int:
    rules = resolution.opening.candidates.block(position)
    return engine.universe.full if rules is None else rules.mask


def _of_owner(engine: Engine, resolution: Resolution, unknown: Collection[str]) -> Iterator[_Doubt]:
    """Look at tools of owners alone: in the newer release who is not known to be a stranger has them."""
    if engine.dialect.owner_unknown_is_stranger or resolution.is_owner is not None or "sender_is_owner" not in unknown:
        return
    rules = resolution.opening.candidates.rules(engine.owner_only, examined=False)
    yield _Doubt("owner_only", "sender_is_owner", rules.mask)


# --- which conversation ---


def _of_group(engine: Engine, resolution: Resolution, unknown: Collection[str]) -> Iterator[_Doubt]:
    if resolution.delegated:
        return
    session, context = resolution.session, resolution.context
    is_lost = "spawned_by" in unknown and context.spawned_by is None and session.is_subagent
    if is_lost and not session.group_ids and session.direct is None:
        for each in engine.channels.values():
            yield from _anywhere(engine, resolution, each, "spawned_by")
    channel = engine.channels.get(session.channel) if session.channel and session.group_ids else None
    if channel is not None:
        for fact, matters in _PLACING.items():
            is_open = getattr(context, fact) is None and fact in unknown
            if is_open and matters(session.channel or "", channel):
                yield from _anywhere(engine, resolution, channel, fact)
    yield from _in_chains(engine, resolution, resolution.chains, unknown)


_PLACING: Final[Mapping[str, Callable[[str, ChannelGroups[int]], bool]]] = {
    "account_id": lambda _, channel: bool(channel.accounts),
    "group_space": lambda name, _: name in _CHANNELS_BY_SPACE,
    "group_channel": lambda name, _: name in _CHANNELS_BY_NAME,
}
"""Facts that say which entry of a channel a group has, and whether a channel asks for them."""


def _in_chains(engine: Engine, resolution: Resolution, chains: Chains, unknown: Collection[str]) -> Iterator[_Doubt]:
    """Walk the places as `answer_in` does, and look at what they might say to a sender of other names as well."""
    sender = resolution.group_sender
    for _, chain in chains:
        for place in chain:
            chat = place.of_sender(sender)
            if place.entry is None and not sender.id and "sender_id" in unknown:
                yield from (
                    _Doubt("group", "sender_id", _mask(engine, resolution, each))
                    for peer in place.each
                    for each in _blocks_of(peer.entry)
                )
            answer = None if chat is None else _answer(chat, sender)
            if chat is not None and chat.entry is not None and chat.entry.senders is not None and chat.senders:
                asked = unknown if chat.phones else set(unknown) - {"sender_e164"}
                yield from _in_index(engine, resolution, "group", chat.entry.senders, sender, asked)
            if answer is not None:
                if engine.blocks[answer] is not None:
                    return
                break  # a block without lists passes on to the next chain


def _answer(place: Place[int], sender: Sender) -> int | None:
    entry = place.entry
    if entry is None:
        return None
    asked = sender if place.phones else replace(sender, e164=None)
    found = entry.senders.find(asked) if entry.senders is not None and place.senders else None
    return entry.tools if found is None else found[1]


def _anywhere(engine: Engine, resolution: Resolution, channel: ChannelGroups[int], fact: str) -> Iterator[_Doubt]:
    for entry in _entries(channel):
        for position in _blocks_of(entry):
            yield _Doubt("group", fact, _mask(engine, resolution, position))


def _blocks_of(entry: GroupEntry[int] | None) -> Iterator[int]:
    if entry is None:
        return
    if entry.tools is not None:
        yield entry.tools
    if entry.senders is not None:
        yield from (position for _, position in entry.senders.rules())


def _entries(channel: ChannelGroups[int]) -> Iterator[GroupEntry[int]]:
    for maps in (channel.maps, *channel.accounts.values()):
        for groups in maps.values():
            yield from _in_map(groups)


def _in_map(groups: GroupMap[int]) -> Iterator[GroupEntry[int]]:
    for entry in groups.entries.values():
        yield entry
        if entry.channels is not None:
            yield from _in_map(entry.channels)


def _asked_by_groups(engine: Engine) -> Iterator[str]:
    for name, channel in engine.channels.items():
        entries = [entry for entry in _entries(channel) if any(True for _ in _blocks_of(entry))]
        if not entries:
            continue
        yield "spawned_by"
        yield from (fact for fact, matters in _PLACING.items() if matters(name, channel))
        named = _asked_by_indexes(entry.senders for entry in entries)
        yield from (fact for fact in named if fact != "channel")  # it is the conversation's


def _asked_by_indexes(indexes: Iterable[SenderIndex[int] | None]) -> Iterator[str]:
    for index in indexes:
        if index is not None:
            yield from (_BY_KIND[kind] for kind in index.kinds())

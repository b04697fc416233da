"""A situation that a person picks: agent, model, place, sender. Read from a URL or a form, asked of the engine."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlencode

from django.utils.translation import gettext as _

from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.contexts import (
    ANY_OTHER,
    Classes,
    ContextClass,
    Conversation,
    Model,
    SenderClass,
    classes_of,
    context_of,
    speaks_in,
)
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.selectors import global_policy

if TYPE_CHECKING:
    from apps.registry.models import Environment

OWNERS: Final[Mapping[str, bool | None]] = {"": None, "yes": True, "no": False}
TEXT_LIMIT: Final = 600
DEPTH_LIMIT: Final = 99
OPTIONS_LIMIT: Final = 250
"""With more choices than this a field is typed, not picked from a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a person picked; "" says nothing, `*` means any other.

    Attributes:
        model: `provider/model`, or `provider` for its other models.
        group: the group, or `account/space/group`; each part is quoted as in a URL.
        sender: an id, or `e164:…`, `username:…`, `name:…`, `channel:<channel>:<id>`.
    """

    agent: str = ""
    model: str = ""
    channel: str = ""
    group: str = ""
    sender: str = ""
    owner: str = ""
    sandbox: bool = False
    depth: int = 0

    @classmethod
    def read(cls, given: Mapping[str, Any], *, prefix: str = "", agent: str = "") -> "Situation":
        """Read a situation; `where` holds channel and group in one value.

        Raises:
            ContextError: names the field that cannot be read.
        """
        texts = {name: str(given.get(prefix + name, ""))[:TEXT_LIMIT] for name in ("agent", "model", "sender", "owner")}
        channel, group = str(given.get(f"{prefix}channel", "")), str(given.get(f"{prefix}group", ""))
        where = given.get(f"{prefix}where")
        if where:
            channel, _slash, group = str(where).partition("/")
            channel = unquote(channel)
        if texts["owner"] not in OWNERS:
            raise ContextError(_("owner is yes, no or empty"), field=f"{prefix}owner")
        return cls(
            **(texts | {"agent": agent or texts["agent"]}),
            channel=channel[:TEXT_LIMIT],
            group=group[:TEXT_LIMIT] if channel else "",
            sandbox=str(given.get(f"{prefix}sandbox", "")) in {"on", "1", "true"},
            depth=_depth(str(given.get(f"{prefix}depth", "") or "0"), f"{prefix}depth"),
        )

    @property
    def conversation(self) -> Conversation:
        parts = [unquote(part) for part in self.group.split("/")]
        account, space, group, peer = (*parts, "")[:4] if len(parts) in (3, 4) else ("", "", parts[0], "")
        return Conversation(self.channel, account, space, group, peer)

    def context(self) -> CallContext:
        """Return the context that the engine is asked about."""
        provider, _slash, model = self.model.partition("/")
        context = context_of(
            ContextClass(
                agent=self.agent,
                model=Model(provider, model),
                conversation=self.conversation,
                sender=read_sender(self.sender),
                is_owner=OWNERS[self.owner],
                sandboxed=self.sandbox,
                depth=self.depth,
            )
        )
        unknown = {} if self.sender else {"sender_id": None}
        sandboxed = True if self.sandbox else None  # what is not picked is as configured
        return replace(context, agent_id=context.agent_id or None, sandboxed=sandboxed, **unknown)  # type: ignore[arg-type]

    def query(self, prefix: str = "") -> dict[str, str]:
        """Write the situation as parameters of a URL; what says nothing is left out."""
        values = {
            "agent": self.agent,
            "model": self.model,
            "channel": self.channel,
            "group": self.group,
            "sender": self.sender,
            "owner": self.owner,
            "sandbox": "on" if self.sandbox else "",
            "depth": str(self.depth) if self.depth else "",
        }
        return {prefix + name: value for name, value in values.items() if value}

    def url(self, base: str, **more: str) -> str:
        return f"{base}?{urlencode(self.query() | {name: value for name, value in more.items() if value})}"

    @property
    def where(self) -> str:
        return f"{quote(self.channel, safe='')}/{self.group}" if self.channel else ""

    @property
    def title(self) -> str:
        """Say in a few words what was picked."""
        parts = [self.agent or _("no agent"), self.model, place_label(self.conversation), self.sender]
        if OWNERS[self.owner] is not None:
            parts.append(_("owner") if OWNERS[self.owner] else _("not an owner"))
        if self.sandbox:
            parts.append(_("sandbox"))
        if self.depth:
            parts.append(_("depth %(number)s") % {"number": self.depth})
        return " · ".join(part for part in parts if part)


def situation_of(context: CallContext) -> Situation | None:
    """Find the situation that means a context; None when the fields of a form cannot say all of it."""
    context = replace(context, sandboxed=context.sandboxed or None)
    return next((each for each in _situations(context) if each.context() == context), None)


def nearest_situation(context: CallContext) -> Situation:
    """Find the situation that comes nearest to a context: what the fields of a form can say of it."""
    *others, named = _situations(context)
    return next((each for each in (*others, named) if each.context() == context), named)


def _situations(context: CallContext) -> Iterator[Situation]:
    """Return what fields can say of a context, with every way to write its sender; the best known way comes last."""
    group = ""
    if context.session_key:
        group = context.session_key.partition(":group:")[2]
        parts = (context.account_id or "", context.group_space or "", group)
        group = "/".join(quote(part, safe="") for part in parts) if parts[0] or parts[1] else quote(group, safe="")
    found = Situation(
        agent=context.agent_id or "",
        model="/".join(filter(None, (context.provider, context.model_id))),
        channel=context.channel or "",
        group=group,
        owner=next(word for word, is_owner in OWNERS.items() if is_owner is context.sender_is_owner),
        sandbox=bool(context.sandboxed),
        depth=min(context.subagent_depth, DEPTH_LIMIT),
    )
    senders = ("", ANY_OTHER, *_senders_of(context))
    yield from (replace(found, sender=sender) for sender in senders)


def _senders_of(context: CallContext) -> Iterator[str]:
    named = {"e164": context.sender_e164, "username": context.sender_username, "name": context.sender_name}
    yield from (f"{kind}:{value}" for kind, value in named.items() if value)
    if context.sender_id:
        yield f"id:{context.sender_id}" if ":" in context.sender_id else context.sender_id
        yield f"channel:{context.channel}:{context.sender_id}"


def _depth(text: str, field: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:9]) > DEPTH_LIMIT:
        raise ContextError(_("the depth is a whole number from 0 to %(last)s") % {"last": DEPTH_LIMIT}, field=field)
    return int(text)


def read_sender(text: str) -> SenderClass:
    """Read how a sender is written in policies; anything without a known kind is an id."""
    kind, colon, value = text.partition(":")
    if kind == "channel" and colon:
        channel, _colon, sender = value.partition(":")
        return SenderClass("id", sender, channel)
    if colon and kind in {"id", "e164", "username", "name"}:
        return SenderClass(kind, value)
    return SenderClass() if text in {"", ANY_OTHER} else SenderClass("id", text)


def named_places(snapshot: Snapshot) -> list[Conversation]:
    """List the places that a snapshot names: outside channels, direct chats, groups."""
    places = known_classes(snapshot).conversations
    return [place for place in places if ANY_OTHER not in (place.channel, place.group, place.peer)]


def group_value(place: Conversation) -> str:
    """Write account, space and group of a place, or account and peer of a direct chat, as one value."""
    parts = [quote(part, safe="*") for part in (place.account, place.space, place.group, place.peer)]
    if place.peer:
        return "/".join(parts)
    return "/".join(parts[:3]) if place.account or place.space else parts[2]


def place_label(place: Conversation) -> str:
    """Say where a call comes from, for people."""
    if not place.channel:
        return ""
    channel = channel_label(place.channel)
    if place.group or place.peer:
        return f"{channel} {group_label(place)}"
    return _("%(channel)s, direct chat") % {"channel": channel}


def channel_label(name: str) -> str:
    return _("any other channel") if name == ANY_OTHER else name


def group_label(place: Conversation) -> str:
    kind = _("direct chat") if place.peer else ""
    parts = (place.account, place.space, place.group, kind, place.peer)
    return " › ".join(_("any other") if part == ANY_OTHER else part for part in parts if part)


# --- choices ---


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One field of the form: a list to pick from, or a text to type when the list would be too long."""

    name: str
    label: str
    value: str
    groups: tuple[tuple[str, tuple[Option, ...]], ...]
    is_typed: bool = False


@lru_cache(maxsize=8)
def known_classes(snapshot: Snapshot) -> Classes:
    """Return the classes of contexts of a snapshot; worked out once."""
    return classes_of(snapshot)


@lru_cache(maxsize=8)
def agent_names(snapshot: Snapshot) -> tuple[str, ...]:
    """Name the agents of a snapshot in document order."""
    return tuple(snapshot.engine.agents or {})


@lru_cache(maxsize=8)
def _provider_keys(snapshot: Snapshot) -> frozenset[str]:
    engine = snapshot.engine
    blocks = (engine.by_provider, *(agent.by_provider for agent in (engine.agents or {}).values()))
    keys = {key for block in blocks for key in block}
    return frozenset(keys | {key.partition("/")[0] for key in keys})


def configured_models(environment: "Environment") -> tuple[str, ...]:
    """Name the models of the document's providers as `provider/model`, and the providers themselves."""
    policy = global_policy(environment)
    providers = _object(_object(policy.extra if policy else {}, "models"), "providers")
    found: dict[str, None] = {}
    for provider, settings in providers.items():
        found[provider] = None
        listed = settings.get("models") if isinstance(settings, dict) else None
        for model in listed if isinstance(listed, list) else ():
            if isinstance(model, dict) and isinstance(model.get("id"), str):
                found[f"{provider}/{model['id']}"] = None
    return tuple(found)


def _object(value: Any, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def choices_of(
    snapshot: Snapshot, situation: Situation, *, models: tuple[str, ...] = (), prefix: str = ""
) -> dict[str, Choice]:
    """List what may be picked, field by field, in the order of the form."""
    classes = known_classes(snapshot)
    model_keys = sorted({*models, *_provider_keys(snapshot)})
    place = situation.conversation
    senders = (str(each) for each in classes.senders if each.kind != ANY_OTHER and speaks_in(each, place))
    named = ((sender, sender) for sender in senders)
    made = {
        "agent": _choice("agent", _("Agent"), situation.agent, [(name, name) for name in agent_names(snapshot)]),
        "model": _choice(
            "model",
            _("Model"),
            situation.model,
            [("", _("not known")), *((key, key) for key in model_keys), (ANY_OTHER, _("any other"))],
        ),
        "channel": _choice("channel", _("Channel"), situation.channel, _channels(classes)),
        "group": _choice("group", _("Group"), situation.group, _groups(classes, situation.channel)),
        "sender": _choice(
            "sender",
            _("Sender"),
            situation.sender,
            chain([("", _("not known"))], named, [(ANY_OTHER, _("any other"))]),
        ),
        "owner": _choice(
            "owner", _("Owner"), situation.owner, [("", _("as listed")), ("yes", _("yes")), ("no", _("no"))]
        ),
        "sandbox": _choice(
            "sandbox", _("Sandbox"), "on" if situation.sandbox else "", [("", _("as configured")), ("on", _("on"))]
        ),
        "depth": _choice(
            "depth",
            _("Sub-agent depth"),
            str(situation.depth or ""),
            [("", "0"), *((str(n), str(n)) for n in range(1, 6))],
        ),
        "where": _places(classes, situation),
    }
    return {name: replace(choice, name=prefix + name) for name, choice in made.items()}


def _choice(name: str, label: str, value: str, offered: Iterable[tuple[str, str]]) -> Choice:
    pairs = list(islice(offered, OPTIONS_LIMIT + 1))  # no more are read: there may be a hundred thousand
    if len(pairs) > OPTIONS_LIMIT:
        return Choice(name, label, value, (), is_typed=True)
    if value not in {pair[0] for pair in pairs}:
        pairs = [*pairs, (value, value or "–")]
    return Choice(name, label, value, (("", tuple(Option(*pair, pair[0] == value) for pair in pairs)),))


def _channels(classes: Classes) -> list[tuple[str, str]]:
    names = dict.fromkeys(place.channel for place in classes.conversations if place.channel)
    return [("", _("none")), *((name, channel_label(name)) for name in names)]


def _groups(classes: Classes, channel: str) -> Iterable[tuple[str, str]]:
    if not channel:
        return [("", _("none"))]
    places = (place for place in classes.conversations if place.channel == channel and (place.group or place.peer))
    return chain([("", _("direct chat"))], ((group_value(place), group_label(place)) for place in places))


def _places(classes: Classes, situation: Situation) -> Choice:
    """Return every place of every channel in one list, by channel."""
    if len(classes.conversations) > OPTIONS_LIMIT:
        return Choice("where", _("Group"), situation.where, (), is_typed=True)
    groups: dict[str, list[Option]] = {"": [Option("", _("outside channels"), not situation.where)]}
    values = set()
    for value, place in _place_values(classes):
        groups.setdefault(channel_label(place.channel), []).append(
            Option(value, place_label(place), value == situation.where)
        )
        values.add(value)
    if situation.where and situation.where not in values:
        groups[""].append(Option(situation.where, place_label(situation.conversation), True))
    return Choice("where", _("Group"), situation.where, tuple((name, tuple(each)) for name, each in groups.items()))


def _place_values(classes: Classes) -> Iterator[tuple[str, Conversation]]:
    for channel in dict.fromkeys(place.channel for place in classes.conversations if place.channel):
        yield f"{quote(channel, safe='')}/", Conversation(channel)
        for place in classes.conversations:
            if place.channel == channel and (place.group or place.peer):
                yield f"{quote(channel, safe='')}/{group_value(place)}", place

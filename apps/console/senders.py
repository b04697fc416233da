"""Rules by sender of one scope: a group, an agent, or everybody. What their lists and pages show."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.console import agents as fields
from apps.console.groups import conversation_of, lists_block, live_group
from apps.console.ladder import Part, Speaker, parts_of
from apps.console.policy_forms import LISTS
from apps.console.remarks import Shown
from apps.console.situations import Situation, group_value
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.edits import engine_after
from apps.firewall.engine.names import fold
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.senders import KINDS, Sender, SenderIndex
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.simulate import Block, engine_with_senders
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.channels import Page, Written, path_of, rules_like, rules_page, rules_written
from apps.policies.lint.addresses import sender_meant, sender_told
from apps.policies.lint.reach import sender_identity, sender_remarks

if TYPE_CHECKING:
    from apps.policies.models import SenderRule
    from apps.registry.models import Environment

    RuleRecord: TypeAlias = SenderRule

LIKE_LIMIT: Final = 500
SPOOFABLE: Final = "name"
LAST: Final = 2**31


@dataclass(frozen=True, slots=True)
class Scope:
    """Where rules by sender stand; at most one of `agent` and `group` is given."""

    environment: "Environment"
    agent: Any = None
    group: Any = None

    @property
    def kind(self) -> str:
        return "group" if self.group is not None else "agent" if self.agent is not None else "global"

    @property
    def title(self) -> str:
        if self.group is not None:
            return f"{self.group.channel.key} {self.group.key}"
        return self.agent.key if self.agent is not None else _("Every agent")

    @property
    def record(self) -> Any:
        return self.group or self.agent

    @property
    def url(self) -> str:
        """The page above the rules."""
        if self.group is not None:
            return reverse("group", args=[self.group.pk])
        return self.address("senders")

    def address(self, name: str, *args: Any) -> str:
        """Return the address of one of the pages of this scope's rules."""
        record = () if self.record is None else (self.record.pk if self.group is not None else self.record.key,)
        return reverse(f"{self.kind}-{name}", args=[*record, *args])

    @property
    def block(self) -> Block:
        if self.group is not None:
            return Block(layer="group", path=path_of(self.group))
        return Block(layer="sender", agent=None if self.agent is None else normalize_agent_id(self.agent.key))

    @property
    def parents(self) -> dict[str, Any]:
        return {"agent": self.agent, "group": self.group}

    def situation(self, given: Mapping[str, Any], agents: tuple[str, ...]) -> Situation:
        """Return where the sender that is tried speaks, and with which agent."""
        agent = self.agent.key if self.agent is not None else str(given.get("agent", ""))[:128]
        agent = agent or (agents[0] if agents else "")
        if self.group is None:
            return Situation(agent=agent)
        place = conversation_of(self.group)
        return Situation(agent=agent, channel=place.channel, group=group_value(place))


def scope_of(record: Any) -> Scope:
    """Return the scope in which a rule stands."""
    return Scope(record.environment, record.agent, record.group)


# --- the list ---


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule; `tried` is when its kind of key is tried, from 1."""

    record: "RuleRecord"
    url: str
    tried: int
    kind: str
    parts: list[Part]
    state: str
    remarks: list[Shown]
    is_spoofable: bool


def rule_rows(scope: Scope, *, query: str, number: int) -> tuple[list[RuleRow], Page]:
    """List a page of the rules, in the order in which their keys are tried."""
    page = rules_page(scope.environment, agent=scope.agent, group=scope.group, query=query, number=number)
    dialect = dialect_named(scope.environment.dialect)
    kinds = kinds_of(dialect)
    written = Written(scope.environment).of(page.rows)
    remarks: dict[Any, list[Shown]] = {}
    for rule, _code, severity, message in sender_remarks(dialect, page.rows, is_in_group=scope.group is not None):
        remarks.setdefault(rule.pk, []).append(Shown(severity, message, rule.key, ""))
    rows = []
    for rule in page.rows:
        kind = kind_of(dialect, rule.key)
        rows.append(
            RuleRow(
                record=rule,
                url=scope.address("sender", rule.pk),
                tried=kinds.index(kind) + 1,
                kind=kind,
                parts=parts_of(policy_of(rule)),
                state=written.get(rule.pk, ""),
                remarks=[*remarks.get(rule.pk, []), *_shape(rule.key)],
                is_spoofable=kind == SPOOFABLE,
            )
        )
    return rows, page


def kinds_of(dialect: Dialect) -> tuple[str, ...]:
    """Return the kinds of keys of a release in the order in which they are tried."""
    return tuple(kind for kind in KINDS if kind != "channel" or dialect.sender_channel_keys)


def kind_of(dialect: Dialect, key: str) -> str:
    """Return how a key is compared; one that can match nobody is taken for an id."""
    identity = sender_identity(dialect, key)
    return "*" if identity == "*" else identity.partition(":")[0] or "id"


def policy_of(rule: Any) -> Policy:
    """Return the block of a rule."""
    return lists_block({name: getattr(rule, name) for name in LISTS})


# --- one rule ---


def is_new(rule: "RuleRecord") -> bool:
    """Say whether a rule is still to be added."""
    return rule.version == 0


def key_remarks(scope: Scope, rule: "RuleRecord", key: str) -> list[Shown]:
    """Say beside the field that nobody has a key, which of several rules for a sender counts, or what was meant."""
    dialect = dialect_named(scope.environment.dialect)
    typed = copy(rule)
    typed.key = key
    if is_new(rule):
        typed.position = LAST
    identity = sender_identity(dialect, key)
    others = rules_like(rule, identity.rpartition(":")[2], limit=LIKE_LIMIT) if identity else []
    is_in_group = scope.group is not None
    without = {message for _rule, _code, _severity, message in sender_remarks(dialect, others, is_in_group=is_in_group)}
    beside = sorted([*others, typed], key=lambda each: each.position)
    found = [
        Shown(severity, message, key, "")
        for each, _code, severity, message in sender_remarks(dialect, beside, is_in_group=is_in_group)
        if each is typed or message not in without
    ]
    return [*found, *_shape(key), *_spoofable(dialect, key)]


def _shape(key: str) -> Iterator[Shown]:
    meant = sender_meant(key)
    if meant:
        yield Shown("warning", sender_told(key, meant), key, meant)


def _spoofable(dialect: Dialect, key: str) -> Iterator[Shown]:
    if kind_of(dialect, key) == SPOOFABLE:
        yield Shown("info", _("Anyone can pick this display name."), key, "")


def live_rule(live: Snapshot | None, scope: Scope, key: str) -> Policy | None:
    """Return what the live publication says under a key of this scope; None when it has no such rule."""
    index = _live_index(live, scope)
    if live is None or index is None:
        return None
    tried = next((each for each in index.tries(_sender(key)) if each.found is not None and each.found[0] == key), None)
    return None if tried is None or tried.found is None else live.engine.policies[tried.found[1]]


def _sender(key: str) -> Sender:
    speaker = Speaker.of_key(key)
    return Sender(speaker.id, speaker.username, speaker.name, speaker.e164, speaker.channel)


def _live_index(live: Snapshot | None, scope: Scope) -> SenderIndex[int] | None:
    if live is None:
        return None
    if scope.group is not None:
        entry = live_group(live, scope.group)
        return None if entry is None else entry.senders
    if scope.agent is None:
        return live.engine.senders
    rules = fields.live_rules(live, scope.agent.key)
    return None if rules is None else rules.senders


def engine_typed(draft: Snapshot, scope: Scope, rule: "RuleRecord", values: Mapping[str, Any]) -> Engine:
    """Return the draft's engine with a rule as it is typed, which may be a new one."""
    policy, key = lists_block(values), values["key"]
    if not is_new(rule) and rule.key == key:
        return engine_after(draft.engine, {replace(scope.block, sender=key): policy})
    rules = [
        (key, policy) if pk == rule.pk else (written, _block(*lists))
        for pk, written, *lists in rules_written(scope.environment, **scope.parents)
    ]
    if is_new(rule) and fold(key):
        rules.append((key, policy))
    return engine_with_senders(draft.engine, scope.block, rules)


def _block(allow: list[str] | None, also_allow: list[str] | None, deny: list[str] | None) -> Policy:
    return lists_block({"allow": allow, "also_allow": also_allow, "deny": deny})

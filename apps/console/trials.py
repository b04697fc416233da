"""Trying a tool: the form, what a dry run says, what became of a real call."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.audit.selectors import call_record
from apps.console.calls import ShownCall
from apps.console.situations import Choice, Situation, agent_names, choices_of
from apps.console.tool_reach import decider_name
from apps.console.trial_fields import (
    RAW,
    TEXT_LIMIT,
    TrialField,
    fields_of,
    first_texts,
    params_of,
    params_of_json,
    read_texts,
    unplaced,
)
from apps.firewall.engine.context import ContextError
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.layers import layers_of
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.rehearse import Rehearsal
from apps.firewall.tools.definition import Definition
from apps.gateway.trials import call_rehearse

if TYPE_CHECKING:
    from uuid import UUID

    from apps.accounts.models import User
    from apps.registry.models import Environment

CONTEXT: Final = ("agent", "where", "sender", "owner")
OPEN: Final = frozenset({"awaiting_approval", "approved", "running"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a dry run says, for people."""

    rehearsal: Rehearsal
    number: int | None
    layer: str
    layers: int

    @property
    def css(self) -> str:
        if not self.rehearsal.allowed or self.rehearsal.refusal is not None:
            return "deny"
        return "ask" if self.rehearsal.problems or self.rehearsal.asks else "allow"


@dataclass(frozen=True, slots=True)
class Trial:
    """The form that tries a tool, as it stands.

    Attributes:
        as_json: the params are typed as one JSON text, `raw`.
        mistakes: what belongs to no field.
        is_sure: the next click runs it for real.
    """

    definition: Definition
    situation: Situation
    choices: list[Choice]
    fields: list[TrialField]
    raw: str = ""
    as_json: bool = False
    mistakes: Sequence[Mapping[str, str]] = ()
    outcome: Outcome | None = None
    is_sure: bool = False
    is_live: bool = True
    problems: Sequence[Mapping[str, str]] = field(default_factory=tuple)
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def wrong_fields(self) -> list[TrialField]:
        return [each for each in self.fields if each.errors]


def first_trial(snapshot: Snapshot | None, name: str, definition: Definition | None, query: QueryDict) -> Trial | None:
    """Make the form before anything was tried; None when there is no definition to make it of."""
    entry = None if snapshot is None else snapshot.tool(name)
    known = definition_of(entry) if entry is not None else definition
    if known is None:
        return None
    agents = agent_names(snapshot) if snapshot is not None else ()
    situation = Situation(agent=agents[0] if agents else "")
    texts = first_texts(known)
    params, _problems = params_of(known, texts)
    return Trial(
        definition=known,
        situation=situation,
        choices=_choices(snapshot, situation),
        fields=fields_of(known, texts),
        raw=json.dumps(params, ensure_ascii=False, indent=2),
        as_json=query.get("try") == "json" or not fields_of(known, {}),
        is_live=entry is not None,
    )


def tried(
    environment: "Environment", snapshot: Snapshot, definition: Definition, given: QueryDict, *, by: "User"
) -> Trial:
    """Rehearse what was typed, as a call of whoever typed it."""
    as_json = given.get("as") == "json"
    texts = read_texts(definition, given)
    raw = given.get(RAW, "")[:TEXT_LIMIT]
    params, problems = params_of_json(raw) if as_json else params_of(definition, texts)
    situation, mistake = _situation(given)
    outcome = None
    if not mistake:
        call = call_of(environment, definition.name, situation, params, by=by)
        outcome = _outcome(snapshot, call_rehearse(call, snapshot, environment))
        unread = {problem["path"] for problem in problems}
        problems = [*problems, *(each for each in outcome.rehearsal.problems if each["path"] not in unread)]
    fields = fields_of(definition, texts, problems)
    lost = list(problems) if as_json else list(unplaced(fields, problems))
    return Trial(
        definition=definition,
        situation=situation,
        choices=_choices(snapshot, situation),
        fields=fields,
        raw=raw if as_json else json.dumps(params, ensure_ascii=False, indent=2),
        as_json=as_json,
        mistakes=[*([{"path": "", "code": "context", "message": mistake}] if mistake else []), *lost],
        outcome=outcome,
        problems=problems,
        params=params,
    )


def _situation(given: QueryDict) -> tuple[Situation, str]:
    try:
        return Situation.read(given.dict()), ""
    except ContextError as error:
        return Situation(), error.message


def _choices(snapshot: Snapshot | None, situation: Situation) -> list[Choice]:
    if snapshot is None:
        return []
    choices = choices_of(snapshot, situation)
    return [choices[name] for name in CONTEXT]


def _outcome(snapshot: Snapshot, rehearsal: Rehearsal) -> Outcome:
    layers = layers_of(DIALECTS[snapshot.dialect])
    keys = [layer.key for layer in layers]
    key = rehearsal.judgement.layer
    number = keys.index(key) + 1 if key in keys else None
    name = "" if rehearsal.allowed else decider_name(key) if number or key == "unknown_tool" else _("Life cycle")
    return Outcome(rehearsal, number, name, len(layers))


def call_of(
    environment: "Environment",
    tool: str,
    situation: Situation,
    params: Mapping[str, Any],
    *,
    by: "User | None" = None,
) -> Call:
    """Make the call of an agent in a situation; `by` is who answers for it."""
    context = situation.context()
    actor = "" if by is None else by.actor
    return Call(
        environment=environment.slug,
        agent=context.agent_id or "",
        tool=tool,
        params=dict(params),
        context=context,
        actor=actor,
        requester=actor,
    )


@dataclass(frozen=True, slots=True)
class CallShown:
    """What became of a real call, as the ledger tells it."""

    shown: ShownCall
    is_open: bool
    details: Sequence[Mapping[str, str]]


def call_shown(call_id: "UUID", dialect: str) -> CallShown | None:
    """Read a call from the ledger; None while it has no entry."""
    record = call_record(call_id)
    if record is None:
        return None
    error = record.error if isinstance(record.error, Mapping) else {}
    details = [each for each in error.get("details") or () if isinstance(each, Mapping)]
    return CallShown(ShownCall(record, dialect=dialect), record.status in OPEN, details)

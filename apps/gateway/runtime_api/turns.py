"""`POST /api/v1/turns`: run the tool calls of a model's reply, and answer in its provider's form.

Calls run side by side; one whose tool wants to be alone waits for those before it, and those after it wait for its end.

Nothing of a turn is kept but its calls. Each is bound to its own id by a key, so that the same request goes on with a
turn where it stands: what ran is not run again.
"""

import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import orjson
from django.conf import settings

from apps.accounts.access import Permission
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.identifiers import new_id, show_id
from apps.firewall.runtime.call import NOT_FOUND, Call, error_object
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.model_calls import TEXT_LIMIT, CallAnswer, ModelCall, Reply, answer_of
from apps.firewall.tools.numbers import NumberInexactError, read_json
from apps.firewall.tools.search.controls import CALL
from apps.firewall.tools.wire_names import tool_behind
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.calls import WAIT_LIMIT_MS
from apps.gateway.runtime_api.deferring import read_disconnect
from apps.gateway.runtime_api.http import Problem, Request, mistakes
from apps.gateway.runtime_api.leaving import Departure, departure_of
from apps.gateway.runtime_api.performing import Performed, perform
from apps.gateway.runtime_api.reading import Details, environment_of, read_key, read_run, require, whole_number
from apps.gateway.runtime_api.speaking import Speaker, read_speaker
from apps.gateway.runtime_api.together import groups, side_by_side
from apps.gateway.tokens import TokenGrant

REPLIES: dict[str, tuple[type, str]] = {
    "response": (dict, "an object"),
    "chunks": (list, "a list"),
    "stream": (str, "a text"),
}
CALLS_LIMIT = 128
NAME_LIMIT = 512
TEXT_LIMIT_MAXIMUM = 1_000_000
UNNAMED = "unnamed"
NO_RESULT = frozenset({"failed", "denied", "unknown"})
EVENT_END = re.compile(r"\r?\n\r?\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A call that a model asked for, ready to be made.

    Args:
        runs_alone: none of the turn runs beside it.
        begin: as `perform` takes it.
    """

    call: Call
    runs_alone: bool = False
    begin: Callable[[Call], Awaitable[Call]] | None = None


Want: TypeAlias = Callable[[ModelCall], Wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A model's reply as it was sent, and what its calls are bound to.

    Args:
        path: where the same request goes on with it.
    """

    path: str
    speaker: Speaker
    calls: tuple[ModelCall, ...]
    key: str
    text_limit: int
    deadline: float
    ends_with_caller: bool


@dataclass(frozen=True, slots=True)
class Done:
    """A call of the turn and how far it came."""

    asked: ModelCall
    call: Call
    performed: Performed

    @property
    def is_open(self) -> bool:
        return self.performed.status == 202

    @property
    def error(self) -> dict[str, Any] | None:
        """What went wrong, in the words for a model: a tool that it may not see is called as the model called it."""
        content = self.performed.content
        if self.performed.status in {200, 202}:
            found: dict[str, Any] | None = content.get("error")
            if found is None and content["status"] in NO_RESULT:
                return error_object(content["status"], f"the call ended as {content['status']}")
            return found
        if content["code"] == NOT_FOUND:
            return {**content, "message": f"no tool named `{self.called}`"}
        return content

    @property
    def called(self) -> str:
        """Name the tool as the model did: by the call, or by what it gave to `tool_call`."""
        bridge = self.call.bridge
        return bridge.asked if bridge is not None and bridge.asked and self.asked.name == CALL else self.asked.name

    def shown(self) -> dict[str, Any]:
        """Tell programs of the call; its result stands in the messages, and whole at `GET /calls/{id}`."""
        content, error = self.performed.content, self.error
        is_hidden = error is not None and error["code"] == NOT_FOUND
        return {
            "id": show_id("call", self.performed.call_id),
            "call_id": self.asked.id or None,
            "tool": self.called if is_hidden else self.call.tool,
            "status": content["status"] if self.performed.status in {200, 202} else "denied",
            "error": error,
            "duration_ms": content.get("duration_ms"),
            **{name: content[name] for name in ("approval", "client_call") if name in content},
        }

    def answer(self, text_limit: int) -> CallAnswer:
        """Tell the model."""
        content = self.performed.content if self.performed.status == 200 else {}
        notes = [str(warning["message"]) for warning in content.get("warnings", [])]
        return answer_of(self.asked, result=content.get("result"), error=self.error, text_limit=text_limit, notes=notes)


async def make(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Run what a model asked for, as far as the caller's time goes, and answer when all of it has an end."""
    require(grant, Permission.CALLS_MAKE)
    body = await request.json()
    details: Details = []
    environment = environment_of(current, grant, body)
    speaker = read_speaker(grant, body, details)
    run = read_run(body, details)
    turn = read_turn(speaker, body, request, details, path="/api/v1/turns")
    want = partial(_wanted, current, grant, request, environment, turn.speaker, run)
    return await turn_make(current, grant, request, turn, want)


async def turn_make(current: Gateway, grant: TokenGrant, request: Request, turn: Turn, want: Want) -> tuple[int, Any]:
    """Make the calls of a turn as far as its time goes, and answer when all of them have an end."""
    async with departure_of(request, matters=turn.ends_with_caller) as departure:
        return await _make(current, grant, turn, [want(asked) for asked in turn.calls], departure)


async def _make(
    current: Gateway, grant: TokenGrant, turn: Turn, wanted: Sequence[Wanted], departure: Departure | None
) -> tuple[int, Any]:
    done: list[Done] = []
    for places in groups([each.runs_alone for each in wanted]):
        works = [partial(_perform, current, grant, turn, wanted[place], departure, place) for place in places]
        done += await side_by_side(works, limit=settings.TURN_CALLS_AT_ONCE)
        _check_begun(done)
        if any(each.is_open for each in done):
            return 202, _open(turn, done)
    form = turn.speaker.form
    answers = [each.answer(turn.text_limit) for each in done]
    return 200, {
        "status": "completed" if done else "no_calls",
        "append_to": form.APPEND_TO,
        "messages": form.result_messages(answers, model=turn.speaker.model),
        "calls": [each.shown() for each in done],
    }


def _check_begun(done: list[Done]) -> None:
    """Say that nothing more can begin now, once what did begin has ended."""
    for each in done:
        if each.performed.status == 503:
            raise Problem(503, each.performed.content["code"], each.performed.content["message"])


def _wanted(
    current: Gateway,
    grant: TokenGrant,
    request: Request,
    environment: str,
    speaker: Speaker,
    run: str,
    asked: ModelCall,
) -> Wanted:
    snapshot = current.snapshots.live(environment)
    names: tuple[str, ...] = () if snapshot is None else snapshot.tool_names
    tool = tool_behind(asked.name, names, speaker.form.NAMES)[:NAME_LIMIT] or UNNAMED
    call = Call(
        environment=environment,
        agent=speaker.caller.agent,
        tool=tool,
        params=asked.arguments or {},
        context=speaker.caller.context,
        actor=grant.actor,
        requester=grant.requester,
        trace_id=request.trace_id,
        unreadable=asked.problem,
        run=run,
        id=new_id(),
    )
    return Wanted(call=call, runs_alone=runs_alone(snapshot, tool))


def runs_alone(snapshot: Snapshot | None, tool: str) -> bool:
    """Say whether none of a turn may run beside a tool."""
    entry = None if snapshot is None else snapshot.tool(tool)
    try:
        return entry is not None and definition_of(entry).execution_mode == "sequential"
    except DefinitionInvalidError:  # it is refused
        return True


async def _perform(
    current: Gateway, grant: TokenGrant, turn: Turn, wanted: Wanted, departure: Departure | None, place: int
) -> Done:
    if departure is not None:
        departure.check()
    call, asked = wanted.call, turn.calls[place]
    meant = [call.agent, call.context.to_json(), asked.name, asked.arguments, asked.problem]
    performed = await perform(
        current,
        grant,
        call,
        key=_digest(["turn", turn.speaker.form.KEY, turn.key, place, asked.id, *_run_of(call)]),
        body_digest=_digest(meant),
        deadline=turn.deadline,
        gone=None if departure is None else departure.wait,
        begin=wanted.begin,
    )
    return Done(asked, call, performed)


def _run_of(call: Call) -> tuple[str, ...]:
    """Name the run that a call belongs to, if to any: a reply's id, which some providers use again, holds within it."""
    return () if call.bridge is None else (call.bridge.run,)


def _open(turn: Turn, done: list[Done]) -> dict[str, Any]:
    """Say what waits, and how to go on. A provider takes the results of a turn together, so that none is told yet."""
    calls = [each.shown() for each in done]
    waiting = next(call for call, each in zip(calls, done, strict=True) if each.is_open)
    return {
        "status": waiting["status"],
        "waiting": waiting,
        "calls": calls,
        "calls_left": len(turn.calls) - len(done),
        "go_on": {
            "method": "POST",
            "path": turn.path,
            "idempotency": turn.key,
            "message": "send the same request again, with this `idempotency`",
        },
    }


def read_turn(speaker: Speaker | None, body: dict[str, Any], request: Request, details: Details, *, path: str) -> Turn:
    """Read a model's reply and how it is to be answered.

    Args:
        speaker: None where who speaks could not be read; `details` says why.
    Raises:
        Problem: 422, with these `details` and its own; or too many calls.
    """
    reply = _reply(body, details)
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    text_limit = whole_number(
        body.get("text_limit"), "text_limit", details, default=TEXT_LIMIT, maximum=TEXT_LIMIT_MAXIMUM
    )
    key = read_key(body, request, details)
    ends_with_caller = read_disconnect(body, details, default=False)
    if speaker is None or reply is None or details:
        raise mistakes(details)
    calls = speaker.form.read_calls(reply)
    if len(calls) > CALLS_LIMIT:
        raise Problem(422, "too_many_calls", f"a turn may have {CALLS_LIMIT} calls, this one has {len(calls)}")
    return Turn(
        path=path,
        speaker=speaker,
        calls=calls,
        key=key or _turn_key(speaker, reply),
        text_limit=text_limit,
        deadline=time.monotonic() + wait_ms / 1000,
        ends_with_caller=ends_with_caller,
    )


def _turn_key(speaker: Speaker, reply: Reply) -> str:
    """Name a turn by its provider's id of the reply; without one it is a new turn.

    The ids of its calls tell nothing: servers that name no reply often count the calls of each reply from 0.
    """
    identifier = speaker.form.reply_id(reply).strip()
    return _digest(["reply", identifier]) if identifier else show_id("turn", new_id())


def _reply(body: dict[str, Any], details: Details) -> Reply | None:
    given = [name for name in REPLIES if body.get(name) is not None]
    if len(given) != 1:
        message = "give one of `response` (an object), `chunks` (a list) and `stream` (the text of its events)"
        details.append({"path": "response", "code": "required", "message": message})
        return None
    (name,) = given
    value: Any = body[name]
    kind, words = REPLIES[name]
    is_right = isinstance(value, kind)
    if not is_right:
        details.append({"path": name, "code": "invalid", "message": f"`{name}` must be {words}"})
        return None
    try:
        reply: Reply = _events(value) if name == "stream" else value
    except NumberInexactError as exc:
        details += [{**each, "path": f"stream.{each['path']}"} for each in exc.details]
        return None
    except ValueError as exc:
        details.append({"path": "stream", "code": "invalid", "message": f"an event of `stream` is not JSON: {exc}"})
        return None
    return reply


def _events(text: str) -> list[Any]:
    """Read the data of server-sent events. Source: HTML, "Server-sent events"."""
    events = []
    for block in EVENT_END.split(text):
        lines = [line[5:].removeprefix(" ") for line in block.splitlines() if line.startswith("data:")]
        if lines and lines != ["[DONE]"]:
            events.append(read_json("\n".join(lines)))
    return events


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()

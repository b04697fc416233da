"""Hooks, what they are told, and how one of them is asked without waiting for ever."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from apps.firewall.errors import FirewallError

FailureKind: TypeAlias = Literal[
    "raised", "hung", "wrong_answer", "huge_answer", "slow", "bad_signature", "unreachable", "ended", "overloaded"
]
"""Of a failure: `slow` is a webhook that did not answer in time, `ended` a process that ended by itself, `overloaded`
one that was not asked because too much waits already; the others say it themselves."""

_SAID_LIMIT: Final = 500

# A handler that does not end when it is told to: held here until it does, because the loop holds tasks weakly.
_ABANDONED: Final[set["asyncio.Task[Any]"]] = set()


class HookFailedError(FirewallError):
    """A handler gave no usable answer. One that knows better than `ask` what went wrong raises it itself.

    `said` is the handler's own text, cut: somebody else's words, to be masked before they are stored or shown.
    """

    code = "hook_failed"

    def __init__(self, cause: str, said: str = "", *, kind: FailureKind = "wrong_answer") -> None:
        super().__init__(cause)
        self.said = said[:_SAID_LIMIT]
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeEvent:
    """A call that is about to run.

    Args:
        params: any JSON; handlers see an empty object in place of what is none.
        call_id: as people find it in the audit.
        facts: agent, session and the like, JSON.
    """

    tool: str
    params: Any
    call_id: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterEvent:
    """A call that ended: with a result, or with an error.

    Args:
        params: those the tool got.
        result, error: JSON, masked already; exactly one of them is not None.
    """

    tool: str
    params: Any
    duration_ms: int
    result: Any = None
    error: Any = None
    call_id: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Somebody who wants to be asked or told.

    Args:
        handler: a coroutine function of one event. It must not block the loop; a slow one is cancelled, and left to
            itself when it does not end then.
        priority: higher ones come first, equal ones in the order in which they were registered.
        limit_ms: a limit of its own, in place of the release's.
        name: of this one among the hooks of its plugin, for reports.
    """

    plugin: str
    handler: Callable[[Any], Awaitable[Any]]
    priority: float = 0
    limit_ms: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookReport:
    """What one handler did in a round.

    Args:
        hook: the name of the one that was asked.
        kind, cause: of a failure, safe to show.
        said: the handler's own words about it, cut; not safe.
    """

    plugin: str
    status: Literal["passed", "rewrote", "asked", "blocked", "failed"]
    duration_ms: int
    hook: str = ""
    kind: FailureKind | Literal[""] = ""
    cause: str = ""
    said: str = ""

    @classmethod
    def of_failure(cls, hook: Hook, failure: HookFailedError, *, started: float) -> "HookReport":
        """Report what went wrong with a handler that was asked at an instant of `time.monotonic`."""
        return cls(
            plugin=hook.plugin,
            hook=hook.name,
            status="failed",
            duration_ms=since_ms(started),
            kind=failure.kind,
            cause=failure.message,
            said=failure.said,
        )


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


async def ask(hook: Hook, event: Any, *, limit_ms: int | None) -> Any:
    """Hand an event to a handler and return what it answers.

    Raises:
        HookFailedError: it raised, was not done in time, or is no coroutine function.
    """
    limit = limit_ms if hook.limit_ms is None else hook.limit_ms
    task = asyncio.ensure_future(_guarded(hook, event))
    try:
        await asyncio.wait({task}, timeout=None if limit is None else limit / 1000)
    except asyncio.CancelledError:
        _abandon(task)
        raise
    if not task.done():
        _abandon(task)
        raise HookFailedError(f"it was not done in {limit} ms", kind="hung")
    if task.cancelled():
        raise HookFailedError("it ended itself", kind="ended")
    answer = task.result()
    if isinstance(answer, _Raised) and isinstance(answer.error, HookFailedError):
        raise answer.error
    if isinstance(answer, _Raised):
        words = _words(answer.error)
        raise HookFailedError(f"it raised {type(answer.error).__name__}", words, kind="raised") from answer.error
    return answer


async def _guarded(hook: Hook, event: Any) -> Any:
    try:
        return await hook.handler(event)
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - whatever somebody else's code raises is its failure
        return _Raised(exc)


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - even the text of an error is somebody else's code
        return ""


def _abandon(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    _ABANDONED.add(task)
    task.add_done_callback(_ABANDONED.discard)


def in_order(hooks: Iterable[Hook]) -> list[Hook]:
    """Sort hooks as they are asked: by priority, then as they were registered."""
    return sorted(hooks, key=lambda hook: -hook.priority)


def since_ms(started: float) -> int:
    """Tell the whole milliseconds since an instant of `time.monotonic`."""
    return int((time.monotonic() - started) * 1000)

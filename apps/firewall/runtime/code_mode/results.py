"""What comes of running code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.firewall.errors import FirewallError

Ended = Literal["returned", "threw", "timed_out", "memory_limit", "output_limit", "misspoke", "killed"]
Level = Literal["log", "warn", "error"]
RESULT_LIMIT_BYTES: Final = 256 * 1024
LOG_LIMIT_BYTES: Final = 64 * 1024
LOG_LINES: Final = 1_000
ERROR_CHARACTERS: Final = 2_000


class CodeUnavailableError(FirewallError):
    """Code of a model cannot be isolated here, so that none is run."""

    code = "code_isolation_unavailable"


@dataclass(frozen=True, slots=True)
class CodeError:
    """Why code gave no value; `code` is stable and in snake_case."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """What code said by `console`."""

    level: Level
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResult:
    """How a run of code went.

    Args:
        ended: `returned` a value; `threw`, or is no JavaScript, or returned what is no JSON or too large; `timed_out`;
            `memory_limit` and `output_limit` (it took or said more than it may); `misspoke` (it sent what the bridge
            never sends); `killed` (it ended otherwise).
        value: JSON; None unless it returned.
        error: None when it returned.
        logs: the first `LOG_LIMIT_BYTES`, and no more than `LOG_LINES`.
        dropped_bytes: of logs that are not kept; about, where it was ended.
        searches, describes, calls: what it asked of the bridge, answered or not.
    """

    ended: Ended
    value: Any = None
    error: CodeError | None = None
    logs: tuple[LogLine, ...] = ()
    dropped_bytes: int = 0
    duration_ms: int = 0
    searches: int = 0
    describes: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended, before it is put together with what it did."""

    ended: Ended
    value: Any = None
    error: CodeError | None = None


REASONS: Final[Mapping[Ended, str]] = {
    "timed_out": "the code took longer than it may and was ended; calls that it waited for were cancelled",
    "memory_limit": "the code took more memory than it may and was ended",
    "output_limit": "the code sent more than it may and was ended",
    "misspoke": "the code's process sent what the bridge never sends and was ended",
    "killed": "the code's process ended before the code did",
}


def ended(how: Ended, detail: str = "") -> End:
    """Tell of an end that is in `REASONS`."""
    message = f"{REASONS[how]}: {detail}" if detail else REASONS[how]
    return End(how, error=CodeError(f"code_{how}", message))


def threw(code: str, message: str) -> End:
    """Tell of code that gave no value by its own doing."""
    return End("threw", error=CodeError(code, message))

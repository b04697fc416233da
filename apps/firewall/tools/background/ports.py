"""Who keeps commands that run on, as tools see it: `gateway/background` fills these."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from apps.firewall.errors import FirewallError
from apps.firewall.tools.background.held import HeldCommand
from apps.firewall.tools.background.view import View

Status = Literal["running", "completed", "failed", "cancelled", "unknown"]


class CommandNotFoundError(FirewallError):
    """The caller's session has no such command."""

    code = "session_not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long a command may take.

    Args:
        foreground_s: that its call waits for it.
        time_limit_s: whole seconds after which it is ended, whoever waits.
        has_terminal: it gets a terminal of its own.
    """

    foreground_s: float
    time_limit_s: int
    has_terminal: bool = False


class Slot(Protocol):
    """A place for one command, reserved before it begins."""

    @property
    def session_id(self) -> str:
        """The name by which callers know the command."""

    async def keep(self, held: HeldCommand) -> View:
        """Keep a command: from now on it belongs to its session and no longer to its call.

        Returns:
            What it has said so far, masked.
        Raises:
            FirewallError: it is not kept; the caller must end it.
        """

    async def release(self) -> None:
        """Give the place back: the command has ended, and nothing is kept of it. Never raises."""


class Background(Protocol):
    """The leave of one call to let its command run on."""

    @property
    def terms(self) -> Terms:
        """How long it may take."""

    async def reserve(self) -> Slot:
        """Take a place for the command.

        Raises:
            FirewallError: there is none; the command must not begin.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCommand:
    """A command that ran on, as its session may see it.

    Args:
        command: masked.
        error: `{"code", "message"}`, where it did not end by itself.
        view: what it said; empty in lists, but for the last lines.
        accepts_input: something may be written to it.
        reads_code: the program that runs what is written to it; empty for one that reads data.
    """

    session_id: str
    status: Status
    command: str
    workdir: str
    has_terminal: bool
    started_at: datetime
    runtime_ms: int
    exit_code: int | None = None
    signal: int | None = None
    error: dict[str, str] | None = None
    view: View = field(default_factory=View)
    accepts_input: bool = False
    reads_code: str = ""


class Commands(Protocol):
    """The kept commands of the session of one call. Each raises CommandNotFoundError for one that is not there."""

    async def listed(self) -> Sequence[KeptCommand]:
        """Give all, the newest first."""

    async def found(self, session_id: str) -> KeptCommand:
        """Give one with what it said."""

    async def polled(self, session_id: str, *, wait_s: float, limit: int) -> tuple[KeptCommand, str, int]:
        """Give one with what it said since the last poll, waiting for something to tell.

        Args:
            limit: characters that are told at once.
        Returns:
            It, the new output, and how many characters of it were dropped before anybody asked.
        """

    async def write(self, session_id: str, content: bytes, *, is_last: bool) -> None:
        """Hand something to its input, wherever it runs.

        Raises:
            FirewallError: it was not taken.
        """

    async def kill(self, session_id: str) -> KeptCommand:
        """End it, wait until that is on record, and give it."""

    async def forget(self, session_id: str) -> None:
        """Drop one that has ended.

        Raises:
            FirewallError: it runs.
        """

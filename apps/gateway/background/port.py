"""Fills the runtime's port for commands that run on, for the calls of this process."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from apps.firewall.identifiers import read_id, show_id
from apps.firewall.runtime.call import Action, Call
from apps.firewall.tools.background.held import HeldCommand
from apps.firewall.tools.background.ports import (
    Background,
    CommandNotFoundError,
    Commands,
    KeptCommand,
    Slot,
    Terms,
)
from apps.firewall.tools.background.view import View
from apps.gateway.background.errors import CommandRunsError, InputRefusedError
from apps.gateway.background.holder import Holder, terms_of
from apps.gateway.background.inputs import input_answer, input_put, input_withdraw
from apps.gateway.background.killing import command_kill
from apps.gateway.background.rows import Asker, asker_of
from apps.gateway.background.selectors import command_polled, command_read, commands_forget, commands_of_asker
from apps.gateway.database import in_database

T = TypeVar("T")
ANSWER_S: Final = 6.0
KILL_S: Final = 10.0
LOOK_S: Final = 0.05
LOOK_LONGEST_S: Final = 0.5


class Keeping:
    """Fills the port `CommandKeeper`."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder

    def background(self, action: Action) -> Background | None:
        if "foreground_ms" not in action.timing:
            return None
        terms = terms_of(
            action.timing,
            has_terminal=bool(action.params.get("pty")),
            default_s=settings.BACKGROUND_TIMEOUT_S,
            most_s=settings.BACKGROUND_TIMEOUT_LIMIT_S,
        )
        return _Leave(self._holder, action, terms)

    def commands(self, action: Action) -> Commands:
        return _OfSession(self._holder, action)

    async def command(self, call: Call, session_id: str) -> KeptCommand | None:
        asker = await in_database(asker_of, call)
        try:
            command_id = read_id("proc", session_id)
        except ValueError:
            return None
        return None if asker is None else await in_database(command_read, asker, command_id, at=timezone.now())


class _Leave:
    """Fills `Background` for one call."""

    def __init__(self, holder: Holder, action: Action, terms: Terms) -> None:
        self._holder = holder
        self._action = action
        self.terms = terms

    async def reserve(self) -> Slot:
        return _Place(self._holder, await self._holder.reserve(self._action, self.terms))


class _Place:
    """Fills `Slot`."""

    def __init__(self, holder: Holder, command_id: UUID) -> None:
        self._holder = holder
        self._id = command_id

    @property
    def session_id(self) -> str:
        return show_id("proc", self._id)

    async def keep(self, held: HeldCommand) -> View:
        return await self._holder.keep(self._id, held)

    async def release(self) -> None:
        await self._holder.release(self._id)


class _OfSession:
    """Fills `Commands` for one call."""

    def __init__(self, holder: Holder, action: Action) -> None:
        self._holder = holder
        self._action = action

    async def listed(self) -> Sequence[KeptCommand]:
        asker = await in_database(asker_of, self._action.call())
        return [] if asker is None else await in_database(commands_of_asker, asker, at=timezone.now())

    async def found(self, session_id: str) -> KeptCommand:
        asker, command_id = await self._asked(session_id)
        await self._holder.show(command_id)
        return await self._read(asker, command_id)

    async def polled(self, session_id: str, *, wait_s: float, limit: int) -> tuple[KeptCommand, str, int]:
        asker, command_id = await self._asked(session_id)
        deadline, pause = time.monotonic() + wait_s, LOOK_S
        while True:
            await self._holder.show(command_id)
            is_last = time.monotonic() >= deadline
            polled = await in_database(
                command_polled, asker, command_id, limit=limit, is_last=is_last, at=timezone.now()
            )
            if polled is not None:
                return polled
            await asyncio.sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(2 * pause, LOOK_LONGEST_S)

    async def write(self, session_id: str, content: bytes, *, is_last: bool) -> None:
        asker, command_id = await self._asked(session_id)
        found = await self._read(asker, command_id)
        if found.status != "running":
            raise InputRefusedError("the command has ended", "input_closed")
        if self._holder.holds(command_id):
            await self._holder.write(command_id, content, is_last=is_last)
            return
        slug = self._action.environment
        put = await in_database(input_put, command_id, content, is_last=is_last, environment=slug, at=timezone.now())
        answer = await _until(lambda: input_answer(put), ANSWER_S)
        if answer is None:
            raise await self._unheard(put)
        if answer.code:
            raise InputRefusedError(answer.message, answer.code)

    async def _unheard(self, input_id: UUID) -> InputRefusedError:
        if await in_database(input_withdraw, input_id):
            return InputRefusedError("the process that holds the command did not take it", "holder_silent")
        return InputRefusedError("nobody knows whether the command got it", "input_unknown")

    async def kill(self, session_id: str) -> KeptCommand:
        asker, command_id = await self._asked(session_id)
        if (found := await self._read(asker, command_id)).status != "running":
            return found
        await in_database(command_kill, command_id, by=self._action.actor or "system")
        if self._holder.holds(command_id):
            await self._holder.take()

        def ended() -> KeptCommand | None:
            found = command_read(asker, command_id, at=timezone.now())
            return found if found is None or found.status != "running" else None

        return await _until(ended, KILL_S) or await self._read(asker, command_id)

    async def forget(self, session_id: str) -> None:
        asker, command_id = await self._asked(session_id)
        found = await self._read(asker, command_id)
        if found.status == "running":
            raise CommandRunsError("the command runs: kill it first")
        await in_database(commands_forget, asker, command_id)

    async def _asked(self, session_id: str) -> tuple[Asker, UUID]:
        asker = await in_database(asker_of, self._action.call())
        try:
            command_id = read_id("proc", session_id)
        except ValueError:
            asker = None
        if asker is None:
            raise CommandNotFoundError(f"this session has no background command `{session_id}`")
        return asker, command_id

    async def _read(self, asker: Asker, command_id: UUID) -> KeptCommand:
        found = await in_database(command_read, asker, command_id, at=timezone.now())
        if found is None:
            shown = show_id("proc", command_id)
            raise CommandNotFoundError(f"this session has no background command `{shown}`")
        return found


async def _until(look: Callable[[], T | None], seconds: float) -> T | None:
    """Ask the database again and again until it has something to tell; None when time ran out."""
    deadline, pause = time.monotonic() + seconds, LOOK_S
    while True:
        found = await in_database(look)
        if found is not None or time.monotonic() >= deadline:
            return found
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, LOOK_LONGEST_S)

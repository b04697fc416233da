"""The commands that this process holds: what they say goes to their rows, their end goes on record."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.utils import timezone

from apps.audit.services import boot_id
from apps.firewall.errors import FirewallError
from apps.firewall.redaction import mask_text
from apps.firewall.runtime.call import Action, Call
from apps.firewall.sandbox.process import ProcessResult
from apps.firewall.tools.background.held import HeldCommand
from apps.firewall.tools.background.ports import Terms
from apps.firewall.tools.background.view import View, view_of
from apps.gateway.background.endings import STOPPED, SWITCHED_OFF, Ending, command_end, ending_asked, ending_of
from apps.gateway.background.inputs import Answer, Written, input_done, inputs_take
from apps.gateway.background.killing import ends_asked
from apps.gateway.background.rows import command_keep, command_release, command_reserve, command_said
from apps.gateway.background.settling import strays_settle
from apps.gateway.database import in_database
from apps.gateway.halting import LiveHalts
from apps.keys.installation import mask_key

log = structlog.get_logger(__name__)

SHOW_S: Final = 0.25
SHARE: Final = 10
"""Of the time, one part in so many is spent on masking and writing what a command says."""

WORD_S: Final = 0.5
WORD: Final = re.compile(r"(?<!\S)\S{1,512}\Z")

RETRY_S: Final = (0.2, 1.0, 3.0, 10.0)
LAST_WORDS_S: Final = 10.0


@dataclass(slots=True)
class _Kept:
    """A command of this process; `held` is None until its call leaves it."""

    id: UUID
    call: Call
    time_limit_s: int
    held: HeldCommand | None = None
    shown: int = 0
    asked: tuple[str, str] | None = None
    saying: asyncio.Lock = field(default_factory=asyncio.Lock)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    following: asyncio.Task[None] | None = None


class Holder:
    """Holds commands until they end. Everything here happens on the server's loop, but for the rows."""

    def __init__(self) -> None:
        self._kept: dict[UUID, _Kept] = {}
        self._is_stopping = False

    async def reserve(self, action: Action, terms: Terms) -> UUID:
        """Take a place for a command of this process.

        Raises:
            FirewallError: there is none.
        """
        command_id = UUID(action.call_id)
        self._kept[command_id] = _Kept(command_id, action.call(), terms.time_limit_s)
        try:
            boot = await in_database(boot_id)
            await in_database(command_reserve, action, terms, holder=boot, at=timezone.now())
        except BaseException:
            del self._kept[command_id]
            raise
        return command_id

    async def keep(self, command_id: UUID, held: HeldCommand) -> View:
        """Hold a command whose call leaves it.

        Raises:
            FirewallError: it is not kept.
        """
        kept = self._kept[command_id]
        view = await _view(held)
        await in_database(command_keep, command_id, view)
        kept.held, kept.shown = held, view.total
        kept.following = asyncio.create_task(self._follow(kept, held), name="background command")
        return view

    async def release(self, command_id: UUID) -> None:
        """Give a place back. Never raises: a row that stays is removed by the next look."""
        self._kept.pop(command_id, None)
        try:
            await in_database(command_release, command_id)
        except (DatabaseError, FirewallError) as exc:
            log.warning("command.not_released", command=str(command_id), error=type(exc).__name__)

    def holds(self, command_id: UUID) -> bool:
        """Say whether this process holds a command that its call has left."""
        kept = self._kept.get(command_id)
        return kept is not None and kept.held is not None

    async def show(self, command_id: UUID) -> None:
        """Write down at once what a command of this process has said; harmless for any other."""
        kept = self._kept.get(command_id)
        if kept is not None and kept.held is not None:
            await self._say(kept, kept.held)

    async def write(self, command_id: UUID, content: bytes, *, is_last: bool) -> None:
        """Hand something to a command of this process.

        Raises:
            FirewallError: it was not taken.
        """
        kept = self._kept[command_id]
        assert kept.held is not None  # noqa: S101 - the caller asked `holds`
        async with kept.writing:
            await kept.held.leash.write(content, is_last=is_last)

    async def take(self) -> None:
        """Do what somebody, in whatever process, wants of the commands held here; remove what nobody holds."""
        if self._kept:
            for command_id, asked in (await in_database(ends_asked, list(self._kept))).items():
                self._end(command_id, asked)
            for written in await in_database(inputs_take, list(self._kept), at=timezone.now()):
                await self._hand_on(written)

    def end_stopped(self, halts: LiveHalts) -> None:
        """End the commands of this process that the kill switch ends."""
        for command_id, kept in list(self._kept.items()):
            by = halts.ends(kept.call)
            if by:
                self._end(command_id, (SWITCHED_OFF, by))

    async def tidy(self) -> None:
        """Settle rows in the name of this process that it does not know: an attempt broke off half way."""
        boot = await in_database(boot_id)
        await in_database(strays_settle, boot, lambda: list(self._kept), at=timezone.now())

    async def stop(self) -> None:
        """End what is held, each command with its end on record."""
        self._is_stopping = True
        following = [each.following for each in self._kept.values() if each.following is not None]
        for command_id in list(self._kept):
            self._end(command_id, (STOPPED, ""))
        if following:
            await asyncio.wait(following, timeout=LAST_WORDS_S)

    def _end(self, command_id: UUID, asked: tuple[str, str]) -> None:
        kept = self._kept.get(command_id)
        if kept is None or kept.held is None or kept.asked is not None:
            return  # one whose call still waits for it ends with that, or when it is left
        kept.asked = asked
        kept.held.leash.end()

    async def _hand_on(self, written: Written) -> None:
        answer = Answer()
        try:
            if not self.holds(written.command_id):
                answer = Answer("input_closed", "the command has ended")
            else:
                await self.write(written.command_id, written.content, is_last=written.is_last)
        except FirewallError as exc:
            answer = Answer(exc.code, exc.message)
        await in_database(input_done, written.id, answer, at=timezone.now())

    async def _follow(self, kept: _Kept, held: HeldCommand) -> None:
        pause = SHOW_S
        ran: ProcessResult | None = None
        try:
            while ran is None:
                ran = await held.wait(pause)
                began = time.monotonic()
                await self._say(kept, held)
                pause = max(SHOW_S, SHARE * (time.monotonic() - began))
            ending = self._ending(kept, ran)
        except FirewallError as exc:  # it could not be started after all
            ending = Ending(outcome="failed", error={"code": exc.code, "message": exc.message})
        except BaseException as exc:
            await held.end()
            ending = Ending(outcome="unknown", error={"code": "internal_error", "message": type(exc).__name__})
            await asyncio.shield(self._record(kept, held, ending))
            raise
        await self._record(kept, held, ending)

    def _ending(self, kept: _Kept, ran: ProcessResult) -> Ending:
        if ran.ended == "stopped" and kept.asked is not None:
            code, by = kept.asked
            return ending_asked(code, by)
        return ending_of(ran, time_limit_s=kept.time_limit_s)

    async def _record(self, kept: _Kept, held: HeldCommand, ending: Ending) -> None:
        """Put the end on record; as long as the ledger does not take it, the command counts as running."""
        view = await _view(held, is_final=True)
        attempt = 0
        while True:
            try:
                await in_database(command_end, kept.id, ending, view, at=timezone.now())
                break
            except (DatabaseError, FirewallError) as exc:
                log.warning("command.end_not_recorded", command=str(kept.id), error=type(exc).__name__)
                if self._is_stopping and attempt >= 1:
                    break  # the sweeper says that nobody knows
            await asyncio.sleep(RETRY_S[min(attempt, len(RETRY_S) - 1)])
            attempt += 1
        self._kept.pop(kept.id, None)

    async def _say(self, kept: _Kept, held: HeldCommand) -> None:
        async with kept.saying:
            if held.transcript.total == kept.shown:
                return
            view = await _view(held)
            try:
                await in_database(command_said, kept.id, view, accepts_input=held.leash.is_open)
            except DatabaseError as exc:  # the next part brings this one along
                log.warning("command.not_shown", command=str(kept.id), error=type(exc).__name__)
                return
            kept.shown = view.total


async def _view(held: HeldCommand, *, is_final: bool = False) -> View:
    """Mask what a command said, in a thread: that may take a while, and nobody else is to wait.

    A word that is just being written is left out: half a secret cannot be told from text.
    """
    text, total = held.transcript.text(), held.transcript.total
    if not is_final and held.transcript.idle_s < WORD_S:
        unfinished = len(text) - len(WORD.sub("", text))
        text, total = text[: len(text) - unfinished], total - unfinished
    return await asyncio.to_thread(view_of, text, total, _masked)


def _masked(text: str) -> str:
    return mask_text(text, key=mask_key()).text


def terms_of(timing: dict[str, Any], *, has_terminal: bool, default_s: int, most_s: int) -> Terms:
    """Fix how long a command may take that runs on: what its call or the policy says, at most what an admin allows."""
    wanted = timing.get("timeout_s") or default_s
    return Terms(
        foreground_s=timing["foreground_ms"] / 1000, time_limit_s=min(wanted, most_s), has_terminal=has_terminal
    )

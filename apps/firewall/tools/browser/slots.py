"""How many browsers may be open at once: a slot is a locked file, which the system unlocks however its process ends.

So the count holds for every process of the installation on a machine, and needs nobody to tidy it. A slot's file names
the folder of its browser; whoever takes the slot next removes what a killed process left there.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.supervisor import remove

PREFIX: Final = "openclaw-browser-"
NAME_LIMIT: Final = 4096


class TooManyBrowsersError(FirewallError):
    """As many browsers are open as may."""

    code = "too_many_browsers"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSlots:
    """The slots of an installation on this machine.

    Args:
        folder: where their files lie; made when missing.
        limit: browsers in all.
        environment_limit: of these, those of one environment.
    """

    folder: Path
    limit: int
    environment_limit: int

    @contextmanager
    def taken(self, environment: str) -> Iterator["Slot"]:
        """Hold a slot.

        Raises:
            TooManyBrowsersError: there is none.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.ExitStack() as held:
            own = held.enter_context(self._any(f"environment.{environment}", self.environment_limit))
            if own is None:
                message = f"{self.environment_limit} browsers of this environment are open already: try again later"
                raise TooManyBrowsersError(message)
            slot = held.enter_context(self._any("installation", self.limit))
            if slot is None:
                raise TooManyBrowsersError(f"{self.limit} browsers are open already: try again later")
            slot.tidy()
            yield slot

    @contextmanager
    def _any(self, name: str, limit: int) -> Iterator["Slot | None"]:
        for number in range(limit):
            file = os.open(
                self.folder / f"{name}.{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                continue
            try:
                yield Slot(file)
            finally:
                os.close(file)
            return
        yield None


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot that is held."""

    file: int

    def tidy(self) -> None:
        """Remove the folder of a browser whose process was killed."""
        left = Path(os.pread(self.file, NAME_LIMIT, 0).decode(errors="replace"))
        if left.name.startswith(PREFIX) and left.parent == Path(tempfile.gettempdir()) and not left.is_symlink():
            with contextlib.suppress(OSError):  # it has gone
                remove(left)

    def name(self, folder: Path) -> None:
        """Say which folder belongs to the browser in this slot."""
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, os.fsencode(folder), 0)

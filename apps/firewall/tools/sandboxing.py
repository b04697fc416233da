"""What a tool's process is held to: what the tool needs, within what an admin allows, on what the machine offers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.landlock import is_beneath
from apps.firewall.sandbox.levels import LEVELS, Level, Offer, level_named
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.space import Space
from apps.firewall.tools.definition import SandboxNeeds

OLD_NAMES: Final[dict[str, Level]] = {"container": "isolated"}
WALL_S: Final = 60.0


class SandboxRefusedError(FirewallError):
    """A tool needs of its sandbox what it cannot have."""

    code = "sandbox_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the installation allows a tool at most; tools may ask for less.

    Args:
        level: that every tool is held to at least.
        wall_s: seconds a call may take.
        network: whether a tool that asks for the network has it.
        paths: absolute folders that tools may ask for, beside their workspace.
    """

    level: Level = "filesystem"
    limits: Limits = field(default_factory=Limits)
    wall_s: float = WALL_S
    network: bool = False
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one tool's process is held to.

    Args:
        isolated: bubblewrap holds it.
        confines_files: Landlock holds it where bubblewrap does not.
        space: what watches over its workspace; None for nothing.
        paths: further folders it may do anything in.
    """

    level: Level
    limits: Limits
    wall_s: float
    network: bool = False
    isolated: bool = False
    confines_files: bool = True
    space: Space | None = None
    paths: tuple[str, ...] = ()

    @property
    def held(self) -> dict[str, Any]:
        """The same as arguments of `run_process`."""
        return {
            "network": self.network,
            "isolated": self.isolated,
            "confines_files": self.confines_files,
            "space": self.space,
            "writable": self.paths,
        }


@dataclass(frozen=True, slots=True)
class Sandbox:
    """An installation's sandbox: what it allows, what its machine offers, and what watches over its workspaces."""

    allowance: Allowance
    offer: Offer
    space: Space | None = None

    def terms(self, needs: SandboxNeeds | None, *, prefers_isolation: bool = False) -> Terms:
        """Fix what a tool is held to.

        Args:
            needs: of the tool; None when its author says nothing.
            prefers_isolation: bubblewrap is to hold it also where something else would do.
        Raises:
            SandboxRefusedError: it cannot have what it needs.
        """
        needs = needs or SandboxNeeds()
        level = stricter(level_of(needs), self.allowance.level)
        problem = self.offer.lacks(level)
        if problem:
            raise SandboxRefusedError(f"it needs the sandbox level `{level}`, which is not to be had here: {problem}")
        if needs.network and not self.allowance.network:
            raise SandboxRefusedError("it needs the network, which is not allowed here (SANDBOX_NETWORK)")
        is_isolation_there = not self.offer.lacks("isolated")
        isolated = level == "isolated" or (
            is_isolation_there and (prefers_isolation or (level == "filesystem" and bool(self.offer.landlock.problem)))
        )
        return Terms(
            level="isolated" if isolated else level,
            limits=limits_within(needs, self.allowance.limits),
            wall_s=min(self.allowance.wall_s, (needs.wall_ms or 1000 * self.allowance.wall_s) / 1000),
            network=needs.network,
            isolated=isolated,
            confines_files=not self.offer.landlock.problem,
            space=self.space,
            paths=self._paths(needs),
        )

    def _paths(self, needs: SandboxNeeds) -> tuple[str, ...]:
        allowed = [str(Path(each).resolve()) for each in self.allowance.paths]
        found: list[str] = []
        for path in needs.paths:
            real = Path(path).resolve()
            if not any(is_beneath(str(real), each) for each in allowed):
                raise SandboxRefusedError(f"it needs the folder `{path}`, which is not allowed here (SANDBOX_PATHS)")
            if not real.is_dir():
                raise SandboxRefusedError(f"it needs the folder `{path}`, which is not there")
            found.append(str(real))
        return tuple(found)


def level_of(needs: SandboxNeeds) -> Level:
    """Read a level as today's names say it."""
    return OLD_NAMES.get(needs.level) or level_named(needs.level)


def stricter(one: Level, other: Level) -> Level:
    """Return the stricter one of two levels."""
    return max(one, other, key=LEVELS.index)


def limits_within(needs: SandboxNeeds | None, own: Limits) -> Limits:
    """Put a tool's own wishes below the installation's limits."""
    if needs is None:
        return own
    return Limits(
        cpu_s=min(own.cpu_s, max(1, -(-needs.cpu_ms // 1000))) if needs.cpu_ms else own.cpu_s,
        memory_bytes=min(own.memory_bytes, needs.memory_bytes or own.memory_bytes),
        file_bytes=min(own.file_bytes, needs.file_bytes or own.file_bytes),
        open_files=min(own.open_files, needs.open_files or own.open_files),
        processes=own.processes,
        threads=own.threads,
        written_bytes=own.written_bytes,
    )

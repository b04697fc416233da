"""What the page on the sandbox shows: what the machine offers, what tools may use, and what tools ask for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.firewall.sandbox.levels import LEVELS
from apps.firewall.sandbox.limits import MEGABYTE
from apps.firewall.sandbox.node import node_part
from apps.firewall.sandbox.space import Used
from apps.firewall.tools.definition import SandboxNeeds
from apps.firewall.tools.sandboxing import Allowance, Sandbox, SandboxRefusedError, Terms
from apps.registry.sandboxing import installation_sandbox, installation_space
from apps.registry.selectors import sandbox_tools

if TYPE_CHECKING:
    from apps.registry.models import Environment, Tool

HOLDS: Mapping[str, Promise] = {
    "none": gettext_lazy("nothing"),
    "process": gettext_lazy("a tree of its own with limits, no power of root, no system calls that reach others"),
    "filesystem": gettext_lazy("its own files, no network, no look into other processes"),
    "isolated": gettext_lazy("a machine of its own: nothing else is there to be named"),
}


# Parts that are no product's name, in the words of the page.
PART_WORDS: Mapping[str, Promise] = {
    "read-only mounts": gettext_lazy("read-only mounts"),
    "node, for code": gettext_lazy("node, for code"),
}


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One level; `problem` says why it cannot be had."""

    name: str
    holds: Promise
    problem: str
    is_least: bool


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool that states what it needs; `problem` says why it does not run."""

    name: str
    level: str
    asks: tuple[tuple[str, str], ...]
    gets: tuple[tuple[str, str], ...] = ()
    problem: str = ""


def page_of(environment: "Environment") -> dict[str, Any]:
    """Collect what the page shows."""
    sandbox = installation_sandbox()
    offer, allowance = sandbox.offer, sandbox.allowance
    return {
        "highest": offer.highest,
        "least": allowance.level,
        "missing": offer.lacks(allowance.level),
        "parts": [(PART_WORDS.get(part.name, part.name), part) for part in (*offer.parts, node_part(offer))],
        "levels": [LevelRow(name, HOLDS[name], offer.lacks(name), name == allowance.level) for name in LEVELS],
        "limits": list(_allowed(allowance)),
        "tools": [_tool_row(tool, sandbox) for tool in sandbox_tools(environment)],
        "space": space_of(),
    }


@dataclass(frozen=True, slots=True)
class SpaceBar:
    """What is used of a quota; `percent` is of the part that is nearest to its end."""

    used: Used
    quota: Used

    @property
    def percent(self) -> int:
        shares = (self.used.size_bytes / self.quota.size_bytes, self.used.files / self.quota.files)
        return min(100, round(100 * max(shares)))

    @property
    def is_full(self) -> bool:
        return self.used.size_bytes >= self.quota.size_bytes or self.used.files >= self.quota.files


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    environment: str
    agent: str
    bar: SpaceBar
    used_at: datetime


@dataclass(frozen=True, slots=True)
class SpacePanel:
    """The workspaces, the fullest first, and what all use together."""

    total: SpaceBar
    rows: tuple[WorkspaceRow, ...]
    free_bytes: int
    reserve_bytes: int
    retention_days: int

    @property
    def is_short(self) -> bool:
        return self.free_bytes < self.reserve_bytes


def space_of() -> SpacePanel:
    """Measure the workspaces."""
    space = installation_space()
    uses = space.uses()
    return SpacePanel(
        total=SpaceBar(reduce(Used.plus, (each.used for each in uses), Used()), space.quota.installation),
        rows=tuple(
            WorkspaceRow(
                each.environment,
                each.agent,
                SpaceBar(each.used, space.quota.workspace),
                datetime.fromtimestamp(each.used_at, UTC),
            )
            for each in uses
        ),
        free_bytes=space.free_bytes(),
        reserve_bytes=space.quota.free_bytes,
        retention_days=settings.WORKSPACE_RETENTION_DAYS,
    )


def _allowed(allowance: Allowance) -> Iterator[tuple[str, str, str]]:
    """List what tools may use at most: its name, the amount, and the variable that sets it."""
    limits = allowance.limits
    yield _("Memory"), f"{limits.memory_bytes // MEGABYTE} MB", "SANDBOX_MEMORY_MB"
    yield _("CPU"), f"{limits.cpu_s} s", "SANDBOX_CPU_S"
    yield _("Time"), f"{allowance.wall_s:g} s", "SANDBOX_WALL_S"
    yield _("Open files"), str(limits.open_files), "SANDBOX_OPEN_FILES"
    yield _("Size of a file"), f"{limits.file_bytes // MEGABYTE} MB", "SANDBOX_FILE_MB"
    yield _("Written altogether"), f"{limits.written_bytes // MEGABYTE} MB", "SANDBOX_WRITTEN_MB"
    yield _("Processes"), str(limits.processes), "SANDBOX_PROCESSES"
    quota = installation_space().quota
    yield _("Workspace"), _space_words(quota.workspace), "WORKSPACE_QUOTA_MB, WORKSPACE_QUOTA_FILES"
    yield _("All workspaces"), _space_words(quota.installation), "WORKSPACES_QUOTA_MB, WORKSPACES_QUOTA_FILES"
    yield _("Network"), _("for tools that ask for it") if allowance.network else _("off"), "SANDBOX_NETWORK"
    yield _("Further folders"), ", ".join(allowance.paths) or _("none"), "SANDBOX_PATHS"


def _space_words(used: Used) -> str:
    return _("%(size)s MB in %(files)s files") % {"size": used.size_bytes // MEGABYTE, "files": used.files}


def _tool_row(tool: "Tool", sandbox: Sandbox) -> ToolRow:
    needs = _needs(tool)
    if needs is None:
        return ToolRow(tool.name, "", (), problem=_("its definition cannot be read"))
    try:
        terms = sandbox.terms(needs)
    except SandboxRefusedError as exc:
        return ToolRow(tool.name, needs.level, tuple(needs_shown(needs)), problem=exc.message)
    return ToolRow(tool.name, terms.level, tuple(needs_shown(needs)), tuple(_given(terms)))


def _needs(tool: "Tool") -> SandboxNeeds | None:
    try:
        return SandboxNeeds(**{**tool.traits["sandbox"], "paths": tuple(tool.traits["sandbox"].get("paths", ()))})
    except (TypeError, AttributeError):
        return None


def needs_shown(needs: SandboxNeeds) -> Iterator[tuple[str, str]]:
    """List what a definition asks of its sandbox: a word and an amount each."""
    yield _("Level"), needs.level
    if needs.memory_bytes:
        yield _("Memory"), f"{needs.memory_bytes // MEGABYTE} MB"
    if needs.cpu_ms:
        yield _("CPU"), f"{needs.cpu_ms / 1000:g} s"
    if needs.wall_ms:
        yield _("Time"), f"{needs.wall_ms / 1000:g} s"
    if needs.network:
        yield _("Network"), _("yes")
    if needs.paths:
        yield _("Folders"), ", ".join(needs.paths)


def _given(terms: Terms) -> Iterator[tuple[str, str]]:
    yield _("Level"), terms.level
    yield _("Memory"), f"{terms.limits.memory_bytes // MEGABYTE} MB"
    yield _("CPU"), f"{terms.limits.cpu_s} s"
    yield _("Time"), f"{terms.wall_s:g} s"

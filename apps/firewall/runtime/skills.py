"""The programs of an agent's skills: what `autoAllowSkills` lets run unasked.

A skill is a folder with a `SKILL.md`, whose front matter says under `metadata.openclaw.requires` which programs it
needs (`bins`, `anyBins`). Skills lie where people put them and no agent can write: what an agent wrote about itself
would allow nothing.
Source: OpenClaw's documentation of skills.
"""

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import structlog
import yaml

from apps.firewall.runtime.executors.workspaces import folder_name

log = structlog.get_logger(__name__)

FILE: Final = "SKILL.md"
OF_EVERY_AGENT: Final = "_all"
FILE_LIMIT: Final = 64 * 1024
SKILLS_LIMIT: Final = 500
FRESH_S: Final = 2.0
FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
PROGRAM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}")


class Skills(Protocol):
    """What skills agents have."""

    def programs(self, environment: str, agent: str) -> frozenset[str]:
        """Name the programs of an agent's skills, as they are called."""


class NoSkills:
    """The port `Skills` of whoever knows none: nothing is allowed by one."""

    def programs(self, environment: str, agent: str) -> frozenset[str]:  # noqa: ARG002
        return frozenset()


class SkillFolders:
    """Skills below one folder: `<environment>/<agent>/<skill>/SKILL.md`, and `_all` in the place of an agent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[tuple[str, str], tuple[float, frozenset[str]]] = {}

    def programs(self, environment: str, agent: str) -> frozenset[str]:
        known = self._read.get((environment, agent))
        if known is not None and time.monotonic() - known[0] < FRESH_S:
            return known[1]
        place = self._folder / folder_name(environment)
        folders = (place / OF_EVERY_AGENT, place / folder_name(agent))
        found = frozenset(name for folder in folders for name in _programs_below(folder))
        self._read[environment, agent] = time.monotonic(), found
        return found


def _programs_below(folder: Path) -> Iterator[str]:
    try:
        skills = sorted(folder.iterdir())[:SKILLS_LIMIT]
    except OSError:  # there are none
        return
    for skill in skills:
        try:
            yield from programs_of(_text(skill / FILE))
        except (OSError, ValueError) as exc:
            log.warning("skill.unreadable", skill=skill.name, error=type(exc).__name__)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        text = file.read(FILE_LIMIT + 1)
    if len(text) > FILE_LIMIT:
        raise ValueError(f"`{path.name}` is larger than {FILE_LIMIT} bytes")
    return text.decode()


def programs_of(text: str) -> frozenset[str]:
    """Read which programs a `SKILL.md` needs; what is no name of a program is none.

    Raises:
        ValueError: its front matter cannot be read.
    """
    front = FRONT_MATTER.match(text)
    if front is None:
        return frozenset()
    try:
        written = yaml.safe_load(front[1])
        metadata = _object(written).get("metadata")
        needs = _object(yaml.safe_load(metadata) if isinstance(metadata, str) else metadata)
    except yaml.YAMLError as exc:
        raise ValueError("the front matter is no YAML") from exc
    requires = _object(_object(needs.get("openclaw")).get("requires"))
    named = [name for member in ("bins", "anyBins") for name in _list(requires.get(member))]
    return frozenset(name for name in named if isinstance(name, str) and PROGRAM.fullmatch(name))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

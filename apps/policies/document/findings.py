"""What a document has to say about itself: mistakes that refuse it, and notes about what it keeps."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Path = tuple[str | int, ...]
Severity = Literal["error", "warning", "info"]

_PLAIN_KEY = re.compile(r"[^\s.\[\]\"]+")


def show_path(path: Path) -> str:
    """Write a place as people do: `agents.entries.main.tools.allow[0]`, odd keys as `["fake/fake 1.0"]`."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            shown += f".{step}" if shown else step
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            shown += f'["{escaped}"]'
    return shown


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark about one place. `severity` "error" means that the document is refused."""

    path: str
    code: str
    message: str
    severity: Severity = "error"

    def as_detail(self) -> dict[str, str]:
        return {"path": self.path, "code": self.code, "message": self.message}


@dataclass(slots=True)
class Findings:
    """Collects remarks while a document is read; reading goes on after a mistake, so that all are named at once.

    `aliases` leads from places of the current form back to where the file has them.
    """

    prefix: str = ""
    items: list[Diagnostic] = field(default_factory=list)
    aliases: dict[Path, Path] = field(default_factory=dict)

    def error(self, path: Path, code: str, message: str) -> None:
        self._add(path, code, message, "error")

    def warning(self, path: Path, code: str, message: str) -> None:
        self._add(path, code, message, "warning")

    def info(self, path: Path, code: str, message: str) -> None:
        self._add(path, code, message, "info")

    def errors(self) -> Iterator[Diagnostic]:
        return (item for item in self.items if item.severity == "error")

    def place(self, path: Path) -> str:
        """Return a place as people read it, where the file has it."""
        alias = self.aliases.get(path[:3])
        return self.prefix + show_path(path if alias is None else (*alias, *path[3:]))

    def _add(self, path: Path, code: str, message: str, severity: Severity) -> None:
        self.items.append(Diagnostic(self.place(path), code, message, severity))

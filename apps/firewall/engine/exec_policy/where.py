"""Where a command would run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a command would run, as absolute paths. `home` is what `~` means in a pattern: the server's own home."""

    cwd: str
    workspace: str
    home: str
    search_path: tuple[str, ...]

"""What makes requests similar: the same agent wants the same kind of thing, for the same reason, by the same policy."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from apps.approvals.sealing import action_digest

SAME: Final = (
    "kind", "agent", "tool", "host", "cwd", "channel", "resolved_path", "severity", "reason_layer", "reason_rule",
    "fallback_rule", "snapshot_digest", "runs_here",
)  # fmt: skip
ANY_WORD: Final = "*"
PIECES: Final = re.compile(r"[;&|()<>\n]+|[^\s;&|()<>]+")
OPERATOR: Final = re.compile(r"[;&|()<>\n]+")
SUBCOMMAND: Final = re.compile(r"[a-z]+(-[a-z]+)*")


def shape_digest(values: Mapping[str, Any]) -> str:
    """Digest what similar requests have in common, as hex SHA-256.

    Args:
        values: members of a row as people see it, masked.
    """
    words = shape_words(values["argv"], values["command"]) if values["kind"] == "exec" else _members(values["params"])
    same = {name: values[name] for name in SAME}
    codes = sorted({str(item.get("code", "")) for item in values["evidence"]})
    return action_digest(same | {"words": list(words), "evidence": codes, "decisions": sorted(values["decisions"])})


def shape_words(argv: Sequence[str], command: str) -> tuple[str, ...]:
    """Write a command with a star for what may differ: its programs, subcommands and options stay.

    Args:
        argv: the words that run; a line for a shell is read from `command`, where any is given.
    """
    pieces = PIECES.findall(command) if command.strip() else list(argv)
    return tuple(_starred(pieces))


def _starred(pieces: Sequence[str]) -> Iterator[str]:
    last, before = "", OPERATOR
    place = "program"
    for piece in pieces:
        if before.fullmatch(piece):
            place, word = "program", piece
        elif place == "program":
            place, word = "subcommand", piece
        elif piece.startswith("-"):
            word = piece.partition("=")[0]
        else:
            word = piece if place == "subcommand" and SUBCOMMAND.fullmatch(piece) else ANY_WORD
            place = "arguments"
        if word != ANY_WORD or last != ANY_WORD:
            yield word
        last = word


def _members(params: Mapping[str, Any]) -> list[str]:
    return sorted(f"{name}:{type(value).__name__}" for name, value in params.items())

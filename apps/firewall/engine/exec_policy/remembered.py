"""What OpenClaw keeps of an answer "always": entries that are bound to a folder and its words, or to one whole line.

Source: OpenClaw 2026.9.6, exec approvals, entries with `source: allow-always`.
"""

import hashlib
import posixpath
from collections.abc import Iterable
from typing import Final

from apps.firewall.engine.exec_policy.index import AllowEntry
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.names import trim

REMEMBERED: Final = "allow-always"
FOLDER_BOUND: Final = "sha256:cwd-argv:v1:"
UNBOUND: Final = "sha256:argv:"  # an earlier form that names no folder; it counts no longer
WHOLE_LINE: Final = "=command:"
_DIGITS: Final = 16


def is_folder_bound(arg_pattern: str | None) -> bool:
    """Say whether a pattern of arguments is the hash of a folder and of the words of one command."""
    return arg_pattern is not None and arg_pattern.startswith(FOLDER_BOUND)


def is_inactive(pattern: str, arg_pattern: str | None, source: str | None) -> bool:
    """Say whether an entry is an answer that names neither a folder nor a line: it admits nothing."""
    if arg_pattern is not None and arg_pattern.startswith(UNBOUND):
        return True
    return source == REMEMBERED and not is_folder_bound(arg_pattern) and not pattern.startswith(WHOLE_LINE)


def folder_bound(argv: tuple[str, ...], cwd: str) -> str:
    """Return the pattern of arguments that binds these words to this folder."""
    folder = _normal_folder(cwd)
    words = "".join(f"{_size(word)}\0{word}\0" for word in argv[1:])
    return FOLDER_BOUND + _hash(f"{_size(folder)}\0{folder}\0{len(argv[1:])}\0{words}")


def line_entry(entries: Iterable[AllowEntry], text: str, tables: Tables) -> AllowEntry | None:
    """Find the answer that was given for exactly this line, whatever it does."""
    line = trim(text)
    if not line or not tables.matches_real_path:
        return None
    pattern = f"{WHOLE_LINE}{_hash(line)[:_DIGITS]}"
    return next((entry for entry in entries if entry.source == REMEMBERED and entry.pattern == pattern), None)


def _normal_folder(path: str) -> str:
    """Normalise a path as Node.js does: `/` at its end stays."""
    if not path:
        return "."
    normal = posixpath.normpath(path)
    if normal.startswith("//"):
        normal = normal[1:]
    if path.endswith("/") and not normal.endswith("/"):
        normal += "/"
    return normal.replace("\\", "/")


def _size(text: str) -> int:
    return len(_encoded(text))


def _hash(text: str) -> str:
    return hashlib.sha256(_encoded(text)).hexdigest()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")

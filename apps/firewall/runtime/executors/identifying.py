"""The identity of the files that a command names: whoever allowed it allowed it with these."""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from apps.firewall.errors import FirewallError
from apps.firewall.tools.builtin.exec import PATH

HASHED_BYTES_LIMIT = 64 * 1024 * 1024
HASHED_FILES_LIMIT = 32
FILES_LIMIT = 1000
WORD_LIMIT = 4096
# What parts the words of a line for a shell, of code in an argument, and of `--option=value`.
BETWEEN_WORDS = re.compile(r"[\s;|&()<>\"'`=,:{}\[\]]+")


class FileUnreadableError(FirewallError):
    """A file that a command names cannot be read, so nobody could tell later whether it is still the same."""

    code = "file_unreadable"


class TooManyFilesError(FirewallError):
    """A command names more files than can be looked at again before it runs."""

    code = "too_many_files"


def identity(path: Path) -> str | None:
    """Identify a file by its content; a very large one by device, inode, size and time of change.

    Returns:
        None when there is no such file, or it is no regular one.
    Raises:
        FileUnreadableError: it cannot be read.
    """
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > HASHED_BYTES_LIMIT:
            return _by_place(path)
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as exc:
        if exc.errno == errno.ENAMETOOLONG:
            return None  # an argument that is no path
        raise FileUnreadableError(f"`{path}` cannot be read: {(exc.strerror or 'unknown').lower()}") from exc


def identities(executable: str, argv: Sequence[str], cwd: str) -> dict[str, str]:
    """Identify the program and every file among its arguments, by path, each with the real path where that differs.

    Files inside of arguments count, too: of a line for a shell, of inline code, of `--option=file`. Which words of a
    text are files cannot be told without running it, so whatever names one is taken for one. Programs that such a
    line finds by their bare name are identified by their place.

    Raises:
        FileUnreadableError: a whole argument, or the program, cannot be read.
        TooManyFilesError: it names more than a thousand.
    """
    program = identity(Path(executable))
    if program is None:
        raise FileUnreadableError(f"`{executable}` is no file")
    found = {executable: program}
    for text, is_whole in _words(argv):
        path = Path(cwd, text)
        if str(path) not in found:
            content = _identity(path, is_whole=is_whole and len(found) <= HASHED_FILES_LIMIT)
            if content is None and not is_whole and "/" not in text:
                path = Path(shutil.which(text, path=PATH) or "/")
                content = _identity(path, is_whole=False)
            if content is not None:
                found[str(path)] = content
        if len(found) > FILES_LIMIT:
            raise TooManyFilesError(f"the command names more than {FILES_LIMIT} files")
    return found


def _words(argv: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Give what may be a path, and whether it is a whole argument."""
    for argument in argv[1:]:
        if "\0" in argument:
            continue
        if len(argument) <= WORD_LIMIT:
            yield argument, True
        parts = {part for part in BETWEEN_WORDS.split(argument) if part and len(part) <= WORD_LIMIT}
        yield from ((part, False) for part in sorted(parts - {argument}))


def _identity(path: Path, *, is_whole: bool) -> str | None:
    """Identify a file and say where it really is; a part of an argument that cannot be read, by its place."""
    try:
        content = identity(path) if is_whole else _content_or_place(path)
    except ValueError:  # no text that a path could have
        return None
    if content is None:
        return None
    real = os.path.realpath(path)
    return content if real == str(path) else f"{content} {real}"


def _content_or_place(path: Path) -> str | None:
    try:
        if not path.is_file():
            return None
        return identity(path) if path.stat().st_size <= HASHED_BYTES_LIMIT // 64 else _by_place(path)
    except (OSError, FileUnreadableError):
        try:
            return _by_place(path)
        except OSError:  # not even its folder may be entered, by the command neither
            return None


def _by_place(path: Path) -> str:
    status = path.stat()
    return f"stat:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"

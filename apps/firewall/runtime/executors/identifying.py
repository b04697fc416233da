"""The identity of the files that a command names: whoever allowed it allowed it with these."""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from apps.firewall.engine.exec_policy.reads import expanded
from apps.firewall.errors import FirewallError
from apps.firewall.tools.builtin.exec import PATH

HASHED_BYTES_LIMIT = 64 * 1024 * 1024
HASHED_FILES_LIMIT = 32
FILES_LIMIT = 1000
LISTED_LIMIT = 50_000
WORD_LIMIT = 4096
# What parts the words of a line for a shell, of code in an argument, and of `--option=value`.
BETWEEN_WORDS = re.compile(r"[\s;|&()<>\"'`=,:@{}\[\]]+")
MAGIC = re.compile(r"[*?\[]")
BRACES = re.compile(r"\{[^{}]*\}")
SHORT_OPTION = re.compile(r"-[A-Za-z][^-\s]")


KERNEL = "of the kernel"
KERNEL_FOLDERS = ("/proc", "/sys")
"""Files there say something else each time, and reading some of them never ends."""


class FileUnreadableError(FirewallError):
    """A file that a command names cannot be read, so nobody could tell later whether it is still the same."""

    code = "file_unreadable"


class TooManyFilesError(FirewallError):
    """A command names more files than can be looked at again before it runs."""

    code = "too_many_files"


def lies_in(path: str, folder: str) -> bool:
    """Say whether a path is a folder, or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def of_kernel(path: str) -> bool:
    """Say whether a real path leads to what the kernel makes up."""
    return any(lies_in(path, folder) for folder in KERNEL_FOLDERS)


def identity(path: Path) -> str | None:
    """Identify a file by its content; a very large one by device, inode, size and times of change.

    Returns:
        None when there is no such file, or it is no regular one.
    Raises:
        FileUnreadableError: it cannot be read.
    """
    try:
        if not path.is_file():
            return None
        if of_kernel(os.path.realpath(path)):
            return KERNEL
        if path.stat().st_size > HASHED_BYTES_LIMIT:
            return _by_place(path)
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as exc:
        if exc.errno == errno.ENAMETOOLONG:
            return None  # an argument that is no path
        raise FileUnreadableError(f"`{path}` cannot be read: {(exc.strerror or 'unknown').lower()}") from exc


def identities(
    executable: str, argv: Sequence[str], cwd: str, *, folders: Sequence[str] = (), home: str = ""
) -> dict[str, str]:
    """Identify the program and every file among its arguments, by path, each with the real path where that differs.

    Files inside of arguments count, too: of a line for a shell, of inline code, of `--option=file`. Which words of a
    text are files cannot be told without running it, so whatever names one is taken for one. Programs that such a
    line finds by their bare name are identified by their place. A word with `*`, `?`, `[…]` or `{…}` stands for every
    file that it may name.

    Args:
        folders: where its commands stand besides `cwd`: relative words are looked up in each.
        home: what `~` and `$HOME` mean to it.

    Raises:
        FileUnreadableError: a whole argument, or the program, cannot be read.
        TooManyFilesError: it names more than a thousand.
    """
    program = identity(Path(executable))
    if program is None:
        raise FileUnreadableError(f"`{executable}` is no file")
    found = {executable: program}
    for text, is_whole in _words(argv):
        for folder in dict.fromkeys((cwd, *folders)):
            for path in _paths(text, folder, home or cwd):
                if str(path) in found:
                    continue
                content = _identity(path, is_whole=is_whole and len(found) <= HASHED_FILES_LIMIT)
                if content is not None:
                    found[str(path)] = content
                if len(found) > FILES_LIMIT:
                    raise TooManyFilesError(f"the command names more than {FILES_LIMIT} files")
        if not is_whole and "/" not in text:
            path = Path(shutil.which(text, path=PATH) or "/")
            content = None if str(path) in found or str(Path(cwd, text)) in found else _identity(path, is_whole=False)
            if content is not None:
                found[str(path)] = content
    return found


def _paths(text: str, folder: str, home: str) -> Iterator[Path]:
    """Give the paths that a word may stand for in a folder."""
    plain = Path(folder, text)
    yield plain
    word = expanded(text, home=home, folder=folder)
    if word != text:
        yield Path(folder, word)
    pattern = BRACES.sub("*", word)
    if MAGIC.search(pattern):
        yield from _matches(pattern, Path("/" if pattern.startswith("/") else folder))


def _matches(pattern: str, folder: Path) -> list[Path]:
    """Find what a pattern of a shell names, also where a shell would leave hidden files out.

    Raises:
        TooManyFilesError: that would take too long to find.
    """
    current, seen = [folder], 0
    for part in filter(None, pattern.split("/")):
        if not MAGIC.search(part):
            current = [path / part for path in current]
            continue
        found = []
        for path in current:
            names = _names(path)
            seen += len(names) + 1
            if seen > LISTED_LIMIT:
                raise TooManyFilesError(f"`{pattern}` may name too many files to look at")
            found += [path / name for name in names if fnmatchcase(name, part)]
        current = found
    return current


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _words(argv: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Give what may be a path, and whether it is a whole argument."""
    for argument in argv[1:]:
        if "\0" in argument:
            continue
        if len(argument) <= WORD_LIMIT:
            yield argument, True
            if SHORT_OPTION.match(argument):
                yield argument[2:], False
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
        is_small = path.stat().st_size <= HASHED_BYTES_LIMIT // 64 or of_kernel(os.path.realpath(path))
        return identity(path) if is_small else _by_place(path)
    except (OSError, FileUnreadableError):
        try:
            return _by_place(path)
        except OSError:  # not even its folder may be entered, by the command neither
            return None


def _by_place(path: Path) -> str:
    status = path.stat()
    return f"stat:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"

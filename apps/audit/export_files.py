"""Files of exports while they grow: each part is kept before the next begins, so that another may go on from there."""

import fcntl
import io
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from django.conf import settings

from apps.audit.formats import COLUMNS, INTEGERS, PARQUET, Format

BLOCK_BYTES: Final = 1024 * 1024
# What is read into a table at once takes twenty times as much memory; a row group that lasts is larger.
TABLE_BYTES: Final = 512 * 1024
GROUP_BYTES: Final = 1024 * 1024
# The least and greatest text of each row group would be kept in memory until the file is whole.
WRITTEN: Final[dict[str, Any]] = {"compression": "zstd", "write_statistics": ["at", *INTEGERS]}


class ExportBusyError(Exception):
    """Another process writes this file."""


class Growing(Protocol):
    """A file that grows by parts.

    `add` returns when the part is on disk and says how large the whole is then; `finish` makes the file that is given.
    """

    def add(self, number: int, lines: Iterable[bytes]) -> int: ...

    def finish(self, parts: int) -> None: ...


def exports_dir() -> Path:
    """Give the folder of exports, for this program's eyes only."""
    folder = settings.VAR_DIR / "exports"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Path(folder)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Be the only process that writes an export's file.

    Raises:
        ExportBusyError: another one writes it.
    """
    with path.with_suffix(".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExportBusyError from None
        yield


@contextmanager
def growing(written: Format, path: Path, *, size: int, parts: int) -> Iterator[tuple[Growing, bool]]:
    """Open what an export has so far; one must be alone with it.

    Args:
        path: of the file when it is done.
        size, parts: what was kept for certain; whatever else lies there is the rest of a part that was cut off.
    Returns:
        The file, and whether all of what was kept is there; if not, it has been emptied.
    """
    if written is PARQUET:
        groups = _Groups(path)
        yield groups, groups.keep(parts)
        return
    with _opened(path.with_suffix(".part")) as file:
        yield _Lines(file, path, written.head), _cut(file, size)


def manifest_path(path: Path) -> Path:
    """Say where the signed manifest of a file lies."""
    return path.with_suffix(".manifest.json")


def removed(path: Path) -> None:
    """Remove everything that an export left."""
    for each in (path, manifest_path(path), path.with_suffix(".part"), path.with_suffix(".lock")):
        each.unlink(missing_ok=True)
    shutil.rmtree(path.with_suffix(".parts"), ignore_errors=True)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=BLOCK_BYTES) as file:
        yield file


def _cut(file: BinaryIO, size: int) -> bool:
    is_whole = file.seek(0, os.SEEK_END) >= size
    file.seek(size if is_whole else 0)
    file.truncate()
    return is_whole


class _Lines:
    """One file that is appended to."""

    def __init__(self, file: BinaryIO, path: Path, head: bytes) -> None:
        self._file, self._path, self._head = file, path, head

    def add(self, number: int, lines: Iterable[bytes]) -> int:  # noqa: ARG002 - of the protocol
        if self._file.tell() == 0:
            self._file.write(self._head)
        self._file.writelines(lines)
        self._file.flush()
        os.fdatasync(self._file.fileno())
        return self._file.tell()

    def finish(self, parts: int) -> None:  # noqa: ARG002 - of the protocol
        self._path.with_suffix(".part").replace(self._path)


class _Groups:
    """A folder of Parquet files, one for each part; they become the row groups of one file."""

    def __init__(self, path: Path) -> None:
        self._path, self._folder = path, path.with_suffix(".parts")
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._size = 0

    def keep(self, parts: int) -> bool:
        """Say whether so many parts are there, and remove what lies beside them."""
        kept = [self._part(number) for number in range(parts)]
        is_whole = all(part.is_file() for part in kept)
        for other in set(self._folder.iterdir()) - set(kept if is_whole else ()):
            other.unlink()
        self._size = sum(part.stat().st_size for part in kept) if is_whole else 0
        return is_whole

    def add(self, number: int, lines: Iterable[bytes]) -> int:
        from pyarrow.parquet import ParquetWriter  # a large library, which nobody else needs

        draft = self._folder / "draft"
        with _opened(draft) as file:
            with ParquetWriter(file, _schema(), **WRITTEN) as writer:
                for text in _gathered(lines):
                    writer.write_table(_table(text))
                    _give_back()
            os.fsync(file.fileno())
        draft.replace(self._part(number))
        self._size += self._part(number).stat().st_size
        return self._size

    def finish(self, parts: int) -> None:
        from pyarrow.parquet import ParquetFile, ParquetWriter

        draft = self._path.with_suffix(".part")
        with _opened(draft) as file:
            file.truncate()
            with ParquetWriter(file, _schema(), **WRITTEN) as writer:
                for group in _regrouped(ParquetFile(self._part(number)) for number in range(parts)):
                    writer.write_table(group)
                    _give_back()
            os.fsync(file.fileno())
        draft.replace(self._path)
        shutil.rmtree(self._folder)

    def _part(self, number: int) -> Path:
        return self._folder / f"{number:06}.parquet"


def _gathered(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Gather lines into texts of half a megabyte, so that memory is bounded by size and not by count."""
    waiting = bytearray()
    for line in lines:
        waiting += line
        if len(waiting) >= TABLE_BYTES:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _regrouped(files: Iterable[Any]) -> Iterator[Any]:
    """Give the row groups of files, small ones together."""
    import pyarrow

    waiting: list[Any] = []
    size = 0
    for file in files:
        for number in range(file.num_row_groups):
            waiting.append(file.read_row_group(number, use_threads=False))
            size += waiting[-1].nbytes
            if size >= GROUP_BYTES:
                yield pyarrow.concat_tables(waiting)
                waiting, size = [], 0
        file.close()
    if waiting:
        yield pyarrow.concat_tables(waiting)


def _give_back() -> None:
    """Have the library give back what it no longer uses: of many small tables it would keep four times the largest."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()


def _schema() -> Any:
    import pyarrow

    types = {"at": pyarrow.timestamp("us", tz="UTC")} | dict.fromkeys(INTEGERS, pyarrow.int64())
    return pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in COLUMNS])


def _table(text: bytes) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        io.BytesIO(text),
        read_options=csv.ReadOptions(column_names=list(COLUMNS), use_threads=False, block_size=max(len(text), 1)),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=_schema(), null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )

"""The code of a Python tool: its module and what that imports from the folder of its source, byte by byte.

What an admin accepts is the digest of these files; what runs is checked against it file by file
(`authoring/pinned.py`). Nothing is imported here, files are only read. Where a module finds others at run time, by
name or by reading files, every module of the folder belongs to it.
"""

import ast
import contextlib
import hashlib
import json
import os
import re
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.authoring.errors import CodeChangedError
from apps.firewall.tools.executors import PythonExecutor

FILES_LIMIT: Final = 2000
BYTES_LIMIT: Final = 16 * 1024 * 1024
KEPT_LIMIT: Final = 500
SOURCE: Final = ".py"
BINARY: Final = (".so", ".abi3.so")
FINDS_OTHERS: Final = re.compile(
    rb"\b(?:importlib|__import__|runpy|pkgutil|imp|exec|compile|zipimport|spec_from_file_location)\b"
)
"""What in a module may bring in code that no `import` of it names."""


class CodeUnreadableError(FirewallError):
    """The code of a tool cannot be read as a whole, so nobody could tell later whether it is still the same."""

    code = "code_unreadable"


@dataclass(frozen=True)
class Code:
    """The files of one tool.

    Args:
        root: of the relative paths in `files`.
        areas: files and folders in which nothing else may be loaded.
    """

    root: str
    files: Mapping[str, bytes]
    areas: tuple[str, ...]

    @cached_property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each file in hex, by relative path."""
        return {path: hashlib.sha256(content).hexdigest() for path, content in sorted(self.files.items())}

    @cached_property
    def digest(self) -> str:
        """Identify all of it: SHA-256 in hex over paths and contents."""
        return hashlib.sha256(json.dumps(self.digests, sort_keys=True).encode()).hexdigest()

    @cached_property
    def texts(self) -> dict[str, str]:
        """Give the files as text, for people; of a binary one its size."""
        return {
            path: content.decode(errors="replace") if path.endswith(SOURCE) else f"{len(content)} bytes"
            for path, content in sorted(self.files.items())
        }

    def order(self) -> dict[str, object]:
        """Write what `host.py` has to hold the code to."""
        return {
            "files": {str(Path(self.root, path)): digest for path, digest in self.digests.items()},
            "areas": list(self.areas),
        }


class CodeReader:
    """Reads the code of tools, and remembers what has not changed since.

    Args:
        python: the interpreter that runs it; modules without a folder are looked for in its packages.
    """

    def __init__(self, python: str) -> None:
        self._packages = _packages_of(python)
        self._kept: dict[tuple[str, str, str], tuple[dict[str, str], Code]] = {}

    def code(self, executor: PythonExecutor) -> Code | None:
        """Read the code of a tool; None for a module that lies in no folder that is known.

        Raises:
            CodeUnreadableError: it is too much, or a file of it cannot be read.
        """
        key = (executor.module, executor.file, executor.folder)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == _states(kept[1]):
            return kept[1]
        code = self._read(executor)
        if code is not None:
            if len(self._kept) >= KEPT_LIMIT:
                self._kept.clear()
            self._kept[key] = (_states(code), code)
        return code

    def check(self, executor: PythonExecutor) -> Code | None:
        """Give the code of a tool as it was accepted; None for one whose code is not pinned.

        Raises:
            CodeChangedError: it is another one, or cannot be read.
        """
        if not executor.code:
            return None
        try:
            code = self.code(executor)
        except CodeUnreadableError as exc:
            raise CodeChangedError(f"its code cannot be read as it was accepted: {exc.message}") from exc
        if code is None or code.digest != executor.code:
            raise CodeChangedError("its code is not the code that was accepted: an admin has to look at the change")
        return code

    def _read(self, executor: PythonExecutor) -> Code | None:
        top = executor.module.partition(".")[0]
        if executor.file:
            root = executor.folder or os.path.dirname(executor.file)  # noqa: PTH120 - texts throughout
            return _Closure(root, (root,)).of_file(executor.file)
        for root in filter(None, (executor.folder, *self._packages)):
            if _module_files(root, top):
                areas = (root,) if root == executor.folder else (f"{root}/{top}", f"{root}/{top}{SOURCE}")
                return _Closure(root, areas).of_module(executor.module)
        return None


class _Closure:
    """The files that a module consists of, found import by import."""

    def __init__(self, root: str, areas: tuple[str, ...]) -> None:
        self._root, self._areas = root.rstrip("/"), areas
        self._files: dict[str, bytes] = {}
        self._waiting: list[tuple[str, str]] = []
        self._bytes = 0
        self._is_whole = False

    def of_file(self, file: str) -> Code:
        self._waiting.append((file, ""))
        return self._gathered()

    def of_module(self, module: str) -> Code:
        self._want(module)
        return self._gathered()

    def _gathered(self) -> Code:
        while self._waiting:
            path, package = self._waiting.pop()
            name = os.path.relpath(path, self._root)
            if name in self._files:
                continue
            content = self._content(path)
            self._files[name] = content
            if not path.endswith(SOURCE):
                continue
            for module in _imports(content, package):
                self._want(module)
            if not self._is_whole and FINDS_OTHERS.search(content):
                self._is_whole = True
                self._waiting += [(each, _package_of(each, self._root)) for each in self._all()]
        return Code(root=self._root, files=self._files, areas=self._areas)

    def _want(self, module: str) -> None:
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            for path in _module_files(self._root, ".".join(parts[:count])):
                if self._is_in_area(path):
                    self._waiting.append((path, _package_of(path, self._root)))

    def _is_in_area(self, path: str) -> bool:
        return any(path == area or path.startswith(f"{area.rstrip('/')}/") for area in self._areas)

    def _all(self) -> Iterator[str]:
        for area in self._areas:
            for folder, folders, names in os.walk(area):
                folders[:] = sorted(each for each in folders if each != "__pycache__" and not each.startswith("."))
                yield from (f"{folder}/{name}" for name in sorted(names) if name.endswith((SOURCE, *BINARY)))

    def _content(self, path: str) -> bytes:
        try:
            size = os.stat(path).st_size  # noqa: PTH116 - texts throughout
            self._bytes += size
            if len(self._files) >= FILES_LIMIT or self._bytes > BYTES_LIMIT:
                limits = f"{FILES_LIMIT} files or {BYTES_LIMIT // 1024 // 1024} MiB"
                raise CodeUnreadableError(f"its code is more than {limits}: give it a folder of its own")
            with Path(path).open("rb") as file:
                return file.read(size + 1)
        except OSError as exc:
            raise CodeUnreadableError(f"`{path}` cannot be read: {(exc.strerror or 'unknown').lower()}") from exc


def _module_files(root: str, module: str) -> list[str]:
    """Give the files that may be a module of a folder: a package goes before a module, both are looked at."""
    base = f"{root.rstrip('/')}/{module.replace('.', '/')}"
    found = [f"{base}/__init__{SOURCE}", f"{base}{SOURCE}"]
    folder, _, name = base.rpartition("/")
    with contextlib.suppress(OSError):
        found += sorted(str(each) for each in Path(folder).iterdir() if _is_binary_of(each.name, name))
    return [path for path in found if os.path.isfile(path)]  # noqa: PTH113 - texts throughout


def _is_binary_of(file: str, module: str) -> bool:
    return file.endswith(BINARY) and file.partition(".")[0] == module


def _package_of(path: str, root: str) -> str:
    """Name the package in which a file lies, for its relative imports."""
    folder = os.path.relpath(os.path.dirname(path), root)  # noqa: PTH120 - texts throughout
    return "" if folder == "." else folder.replace("/", ".")


def _imports(content: bytes, package: str) -> list[str]:
    """Name every module that a source imports anywhere, with what `from` may mean by its names."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # nothing of it can run
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            found += [base] if base else []
            found += [f"{base}.{each.name}" if base else each.name for each in node.names if each.name != "*"]
    return found


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _states(code: Code) -> dict[str, str]:
    return {path: _state(str(Path(code.root, path))) for path in code.files}


def _state(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 - texts throughout
    except OSError as exc:
        return str(exc.errno)
    return f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _packages_of(python: str) -> tuple[str, ...]:
    """Name the folders of an interpreter's packages."""
    prefix = Path(python).absolute().parent.parent
    if (prefix / "pyvenv.cfg").is_file():
        return tuple(sorted(str(each) for each in prefix.glob("lib/python*/site-packages")))
    return tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))

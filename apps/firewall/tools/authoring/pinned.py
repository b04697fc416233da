"""Loads only the code that was accepted: each file is read once, compared with its digest, and what was read runs."""

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

from apps.firewall.tools.authoring.errors import CodeChangedError


class PinnedLoader(SourceFileLoader):
    """Compiles the bytes whose digest it has compared; it keeps and uses no compiled ones."""

    def __init__(self, fullname: str, path: str, digest: str) -> None:
        super().__init__(fullname, path)
        self._digest = digest

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        content = self.get_data(self.path)
        _compare(self.path, content, self._digest)
        code: CodeType = self.source_to_code(content, self.path)
        return code


class PinnedCode(MetaPathFinder):
    """Finds modules as usual, and refuses those of the areas that were not accepted.

    Args:
        files: path -> SHA-256 in hex of what was accepted.
        areas: files and folders of authors' code; elsewhere lies what is installed.
    """

    def __init__(self, files: Mapping[str, str], areas: Sequence[str]) -> None:
        self._files, self._areas = files, tuple(areas)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        return spec if spec is None or spec.origin is None else self._held(spec, spec.origin)

    def of_file(self, name: str, file: str) -> ModuleSpec | None:
        """Make the spec of a file that is no module of a folder."""
        spec = importlib.util.spec_from_file_location(name, file)
        return spec if spec is None else self._held(spec, file)

    def _held(self, spec: ModuleSpec, origin: str) -> ModuleSpec:
        if not any(origin == area or origin.startswith(f"{area.rstrip('/')}/") for area in self._areas):
            return spec
        digest = self._files.get(origin)
        if digest is None:
            raise CodeChangedError(f"`{origin.rpartition('/')[2]}` is no part of the code that was accepted")
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = PinnedLoader(spec.name, origin, digest)
            spec.cached = None
        else:
            with open(origin, "rb") as file:  # noqa: PTH123 - as loaders do
                _compare(origin, file.read(), digest)
        return spec


def pin(files: Mapping[str, str], areas: Sequence[str]) -> None:
    """Hold everything that this process loads from now on to what was accepted."""
    usual = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(usual, PinnedCode(files, areas))


def pinned() -> PinnedCode | None:
    """Give what this process is held to; None where nothing is pinned."""
    return next((each for each in sys.meta_path if isinstance(each, PinnedCode)), None)


def _compare(path: str, content: bytes, digest: str) -> None:
    if hashlib.sha256(content).hexdigest() != digest:
        raise CodeChangedError(f"`{path.rpartition('/')[2]}` is not as it was accepted")

"""Applies a patch to several files: all of it, or nothing."""

import contextlib
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from apps.firewall.tools.files.beneath import Seen, check_size, file_parts, folder_beneath, see
from apps.firewall.tools.files.hunks import patched
from apps.firewall.tools.files.patch_text import Operation, read_patch
from apps.firewall.tools.files.refusals import RefusedError, refusal
from apps.firewall.tools.files.writing import (
    NEW_MODE,
    body_of,
    check_unchanged,
    discard,
    draft_file,
    draft_name,
)

Key = tuple[str, ...]


class Now(NamedTuple):
    """What a path holds after the operations so far; `content` is None for nothing."""

    content: bytes | None
    mode: int
    path: str


def apply_patch(root: str, patch: str) -> dict[str, Any]:
    """Apply a patch; every operation sees what those before it made.

    Raises:
        RefusedError: it is no patch, or one of its operations cannot be done; no file was changed then.
    """
    plan = _Plan(root)
    for operation in read_patch(patch):
        try:
            PLANNED[operation.kind](plan, operation)
        except OSError as exc:
            raise refusal(exc, operation.path) from exc
    _Commit(root, plan).run()
    return plan.told


class _Plan:
    """Files as they were, and as they are to be; nothing is written here."""

    def __init__(self, root: str) -> None:
        self.was: dict[Key, Seen | None] = {}
        self.now: dict[Key, Now] = {}
        self.told: dict[str, Any] = {"added": [], "changed": [], "deleted": [], "moved": []}
        self._root = root

    def key(self, path: str) -> Key:
        return tuple(file_parts(path, self._root))

    def look(self, path: str) -> Now:
        key = self.key(path)
        if key not in self.now:
            self.was[key] = self._seen(path)
            seen = self.was[key]
            self.now[key] = Now(None, NEW_MODE, path) if seen is None else Now(seen.content, seen.mode, path)
        return self.now[key]

    def put(self, path: str, content: bytes | None, mode: int) -> None:
        if content is not None:
            check_size(content, path)
        self.now[self.key(path)] = Now(content, mode, path)

    def _seen(self, path: str) -> Seen | None:
        try:
            return see(self._root, path)
        except FileNotFoundError:
            return None

    def add(self, operation: Operation) -> None:
        self.check_absent(operation.path)
        self.put(operation.path, body_of(operation.content, operation.path), NEW_MODE)
        self.told["added"].append(operation.path)

    def delete(self, operation: Operation) -> None:
        self.present(operation.path)
        self.put(operation.path, None, NEW_MODE)
        self.told["deleted"].append(operation.path)

    def update(self, operation: Operation) -> None:
        path = operation.path
        now = self.present(path)
        try:
            text = (now.content or b"").decode()
        except UnicodeDecodeError as exc:
            raise RefusedError("not_text", f"`{path}` is not text in UTF-8") from exc
        body = body_of(patched(text, operation.hunks, path), path) if operation.hunks else now.content
        if operation.move_to and self.key(operation.move_to) != self.key(path):
            self.check_absent(operation.move_to)
            self.put(path, None, now.mode)
            self.put(operation.move_to, body, now.mode)
            self.told["moved"].append({"from": path, "to": operation.move_to})
        else:
            self.put(path, body, now.mode)
            self.told["changed"].append(path)

    def present(self, path: str) -> Now:
        now = self.look(path)
        if now.content is None:
            raise RefusedError("not_found", f"`{path}` does not exist")
        return now

    def check_absent(self, path: str) -> None:
        if self.look(path).content is not None:
            raise RefusedError("file_exists", f"`{path}` exists already: update it, or delete it before in this patch")


PLANNED: dict[str, Callable[[_Plan, Operation], None]] = {
    "add": _Plan.add,
    "delete": _Plan.delete,
    "update": _Plan.update,
}


class _Commit:
    """Writes a plan: drafts first, then each file takes its place, with the way back kept open until the last."""

    def __init__(self, root: str, plan: _Plan) -> None:
        self._root = root
        self._plan = plan
        self._open = contextlib.ExitStack()
        self._drafts: dict[Key, str] = {}
        self._back: list[Callable[[], None]] = []
        self._kept: list[tuple[int, str]] = []

    def run(self) -> None:
        changed = [key for key, now in self._plan.now.items() if now.content != self._content_was(key)]
        with self._open:
            folders = {key: self._folder(key) for key in changed}
            try:
                for key in changed:
                    self._draft(folders[key], key)
                for key in sorted(changed, key=lambda each: self._plan.now[each].content is not None):
                    self._place(folders[key], key)
            except BaseException:
                for step in reversed(self._back):
                    step()
                raise
            finally:
                self._tidy(folders)

    def _content_was(self, key: Key) -> bytes | None:
        seen = self._plan.was.get(key)
        return None if seen is None else seen.content

    def _folder(self, key: Key) -> int:
        try:
            return self._open.enter_context(folder_beneath(self._root, list(key[:-1]), make=True))
        except OSError as exc:
            raise refusal(exc, self._plan.now[key].path) from exc

    def _draft(self, folder: int, key: Key) -> None:
        now = self._plan.now[key]
        if now.content is not None:
            self._drafts[key] = draft_file(folder, now.content, now.mode)

    def _place(self, folder: int, key: Key) -> None:
        now, seen, name = self._plan.now[key], self._plan.was[key], key[-1]
        if seen is None:
            self._make(folder, name, self._drafts[key])
            return
        check_unchanged(folder, name, seen.stamp, now.path)
        self._keep(folder, name)
        if now.content is None:
            os.unlink(name, dir_fd=folder)
        else:
            os.replace(self._drafts[key], name, src_dir_fd=folder, dst_dir_fd=folder)
            del self._drafts[key]

    def _keep(self, folder: int, name: str) -> None:
        """Give a file a second name until all is done."""
        kept = draft_name()
        os.link(name, kept, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        self._kept.append((folder, kept))
        self._back.append(lambda: os.replace(kept, name, src_dir_fd=folder, dst_dir_fd=folder))

    def _make(self, folder: int, name: str, draft: str) -> None:
        """Give a draft its name, which nobody may have taken meanwhile; the draft itself goes in the end."""
        os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        self._back.append(lambda: discard(folder, name))

    def _tidy(self, folders: dict[Key, int]) -> None:
        """Take away drafts and second names; one that stays does no harm, and is told of."""
        for folder, name in [*((folders[key], draft) for key, draft in self._drafts.items()), *self._kept]:
            try:
                discard(folder, name)
            except OSError:
                self._plan.told.setdefault("left_over", []).append(name)

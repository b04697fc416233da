"""The built-in tools over a real socket."""

from pathlib import Path
from typing import Any

import httpx

from tests.gateway.conftest import call
from tests.gateway.test_calls import workspace


def test_a_file_is_written_edited_patched_and_read(agent: httpx.Client, settings: Any) -> None:
    call(agent, "write", {"path": "a.txt", "content": "one\ntwo\n"})
    edited = call(agent, "edit", {"path": "a.txt", "edits": [{"oldText": "one", "newText": "1"}]}).json()
    patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-two\n+2\n*** End Patch"
    patched = call(agent, "apply_patch", {"input": patch}).json()

    assert edited["result"]["replacements"] == 1
    assert patched["result"]["moved"] == [{"from": "a.txt", "to": "b.txt"}]
    assert call(agent, "read", {"path": "b.txt"}).json()["result"]["content"] == "1\n2\n"
    assert [each.name for each in workspace(settings).iterdir()] == ["b.txt"]


def test_a_model_that_copied_wrongly_is_told_where(agent: httpx.Client) -> None:
    call(agent, "write", {"path": "a.txt", "content": "  one\n"})

    body = call(agent, "edit", {"path": "a.txt", "edits": [{"oldText": "one\ntwo", "newText": "1"}]}).json()

    assert (body["status"], body["error"]["code"]) == ("failed", "old_text_not_found")
    assert "line 1 reads `  one`" in body["error"]["message"]


def test_an_edit_without_its_texts_is_a_mistake_of_its_place(agent: httpx.Client) -> None:
    body = call(agent, "edit", {"path": "a.txt", "edits": [{"oldText": ""}]}).json()

    assert body["code"] == "parameter_validation_failed"
    assert "edits[0].newText" in {each["path"] for each in body["details"]}


def test_neither_tool_leaves_the_workspace(agent: httpx.Client, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    call(agent, "write", {"path": "a.txt", "content": "one\n"})
    (workspace(settings) / "away").symlink_to(tmp_path)

    for path in ("away/secret", str(tmp_path / "secret"), "../../../../secret"):
        edit = call(agent, "edit", {"path": path, "edits": [{"oldText": "outside", "newText": "mine"}]}).json()
        patch = f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch"
        patched = call(agent, "apply_patch", {"input": patch}).json()
        assert (edit["status"], patched["status"]) == ("failed", "failed"), (edit, patched)

    assert (tmp_path / "secret").read_text() == "outside"

"""A process gets code only when it has tried that it is held; what cannot be started is told, not tried for ever."""

from pathlib import Path

import pytest

from apps.firewall.runtime.code_mode.results import CodeUnavailableError
from apps.firewall.sandbox import node
from tests.firewall.runtime.coding import NEEDS_NODE, TIME_MS, Desk, nodes, pool_of, replaced

pytestmark = NEEDS_NODE

READY = "process.stdin.once('data', (line) => { const { word } = JSON.parse(line); %s })"
WRONG = {
    "it ends": ("process.exit(3)", "ended at once: exit code 3"),
    "it dies": ("process.abort()", "ended at once: signal 6"),
    "it is no program": ("}", "ended at once: exit code 1"),
    "it writes rubbish": ("console.log('hello')", "wrote rubbish"),
    "it writes no object": ("console.log('[1]')", "wrote rubbish"),
    "it does not know the word": ("console.log(JSON.stringify({ word: 'x', do: 'ready' }))", "is not held"),
    "it says that it is not held": (
        READY % "console.log(JSON.stringify({ word, do: 'not_held', text: 'it reads files' }))",
        "is not held: it reads files",
    ),
}


@pytest.mark.parametrize(("harness", "words"), WRONG.values(), ids=WRONG.keys())
async def test_a_process_that_is_not_ready_gets_no_code(
    harness: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, tmp_path, f"{harness}\nsetTimeout(() => {{}}, 60000)")
    async with pool_of(size=1) as pool:
        with pytest.raises(CodeUnavailableError, match=words):
            await pool.run("return 1", Desk(), timeout_ms=TIME_MS)

        assert words in pool.problem()
        with pytest.raises(CodeUnavailableError):
            await pool.warm()
    assert not nodes()


async def test_a_process_that_is_never_ready_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, tmp_path, "setInterval(() => {}, 1000)")
    monkeypatch.setattr("apps.firewall.runtime.code_mode.process.START_LIMIT_S", 0.3)
    async with pool_of(size=0) as pool:
        with pytest.raises(CodeUnavailableError, match="takes too long"):
            await pool.run("return 1", Desk(), timeout_ms=TIME_MS)
    assert not nodes()


async def test_one_without_nodes_own_walls_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing, words in (
        ("--permission", "it has no permission model"),
        ("--disallow-code-generation-from-strings", "it makes code from strings"),
        ("--frozen-intrinsics", "its intrinsics can be changed"),
    ):
        monkeypatch.setattr(node, "FLAGS", tuple(each for each in node.FLAGS if each != missing))
        async with pool_of(size=0) as pool:
            with pytest.raises(CodeUnavailableError, match=words):
                await pool.run("return 1", Desk(), timeout_ms=TIME_MS)
        monkeypatch.undo()


async def test_trouble_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.firewall.runtime.code_mode.pool.TROUBLE_S", -1.0)
    with monkeypatch.context() as here:
        replaced(here, tmp_path, "process.exit(3)")
        async with pool_of(size=0) as pool:
            with pytest.raises(CodeUnavailableError):
                await pool.run("return 1", Desk(), timeout_ms=TIME_MS)
            here.undo()
            assert pool.problem() == ""
            assert (await pool.run("return 1", Desk(), timeout_ms=TIME_MS)).value == 1

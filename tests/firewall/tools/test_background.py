"""What a command that runs on has said: bounded, masked, and readable by position."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.redaction import mask_text
from apps.firewall.sandbox.leash import Leash
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import ProcessResult, Watch, run_process
from apps.firewall.tools.background.held import HeldCommand
from apps.firewall.tools.background.transcript import LIMIT, OVERLAP, Transcript
from apps.firewall.tools.background.view import View, masked_place, raw_place, view_of

KEY = b"k" * 32
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
WORDS = st.lists(
    st.sampled_from(["plain words\n", f"token={SECRET}\n", SECRET, "é", " \n", "x" * 50 + " "]), max_size=30
)


def masked(text: str) -> str:
    return mask_text(text, key=KEY).text


def test_an_endless_output_is_held_by_its_end() -> None:
    transcript = Transcript()
    for _ in range(1000):
        transcript.add("stdout", b"0123456789abcdef" * 256)
    assert transcript.total == 4_096_000
    assert len(transcript.text()) == LIMIT + OVERLAP
    view = view_of(transcript.text(), transcript.total, masked)
    assert len(view.text) == LIMIT
    assert (view.begin, view.total) == (4_096_000 - LIMIT, 4_096_000)


def test_characters_that_come_in_parts_are_put_together_and_nul_is_none() -> None:
    transcript = Transcript()
    for part in (b"\xc3", b"\xa9\0\xff", b"\xe2\x82"):
        transcript.add("stdout", part)
    transcript.close()
    assert transcript.text() == "é\ufffd\ufffd\ufffd"


def test_a_secret_whose_beginning_is_dropped_is_not_shown_by_its_end() -> None:
    for shift in range(0, len(SECRET), 3):
        held = "y " * ((OVERLAP - shift) // 2) + SECRET + " z" * (LIMIT // 2)
        view = view_of(held, len(held), masked)
        assert SECRET[-8:] not in view.text
        assert len(view.text) <= LIMIT


@given(WORDS, st.integers(1, 400))
def test_reading_on_from_each_position_gives_the_whole_once(words: list[str], limit: int) -> None:
    raw = "".join(words)
    view = view_of(raw, len(raw), masked)
    position, read = 0, ""
    for _ in range(len(view.text) + 2):
        part, position = view.since(position, limit)
        read += part
        if position >= view.total:
            break
    assert read == view.text == masked(raw)


@given(WORDS)
def test_positions_of_what_is_no_secret_are_found_again(words: list[str]) -> None:
    raw = "".join(words)
    text = masked(raw)
    for position in range(0, len(raw) + 1, 7):
        place = masked_place(text, position)
        assert raw_place(text, place) >= position
        if raw_place(text, place) == position and place < len(text) and not text.startswith("[masked", place):
            assert text[place] == raw[position]


def test_a_position_that_is_dropped_by_now_reads_from_what_is_left() -> None:
    assert View("left", 100, 104).since(3, 10) == ("left", 104)


async def test_a_held_command_runs_on_and_is_ended(tmp_path: Path) -> None:
    heard = []

    def news(stream: str, part: bytes) -> bytes:
        heard.append(part)
        return part

    async def start(watch: Watch, leash: Leash) -> ProcessResult:
        return await run_process(
            ["/bin/sh", "-c", "echo one; read line; echo got $line; sleep 66"],
            cwd=str(tmp_path),
            env={"PATH": "/usr/bin:/bin"},
            limits=Limits(),
            time_limit_s=60,
            output_limit_bytes=1000,
            watch=watch,
            leash=leash,
        )

    held = HeldCommand(start, has_terminal=False, news=news)
    async with asyncio.timeout(30):
        while not heard:
            assert await held.wait(0.05) is None
    held.let_go()
    await held.leash.write(b"two\n")
    async with asyncio.timeout(30):
        while "got two" not in held.transcript.text():
            await asyncio.sleep(0.01)
    await held.end()
    result = await held.wait()
    assert result is not None and result.ended == "stopped"
    assert heard == [b"one\n"]
    await held.end()


async def test_that_it_cannot_start_is_told_to_whoever_waits() -> None:
    async def start(watch: Watch, leash: Leash) -> ProcessResult:
        raise OSError("no")

    held = HeldCommand(start, has_terminal=False, news=lambda _, part: part)
    with pytest.raises(OSError, match="no"):
        await held.wait()


@pytest.mark.parametrize("number", ["0", "9999999999"])
def test_marks_that_a_command_writes_itself_move_no_position(number: str) -> None:
    """A page that is shown must not silence what comes after it."""
    fake = f"[masked {number} characters, 0a1b2c3d] "
    raw = fake * 4000 + f"token={SECRET}\n" + "last\n"
    view = view_of(raw[-(LIMIT + OVERLAP) :], len(raw), masked)
    position, read = view.begin, ""
    assert 0 < view.begin < view.total == len(raw)
    while position < view.total:
        part, position = view.since(position, 5000)
        assert part
        read += part
    assert position == view.total
    assert read.endswith("last\n") and SECRET not in read
    assert f"(masked {number} characters, 0a1b2c3d]" in read

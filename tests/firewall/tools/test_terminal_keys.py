"""What is typed at a terminal, as bytes."""

import pytest

from apps.firewall.tools.background.keys import KeyUnknownError, keys_bytes, pasted_bytes


@pytest.mark.parametrize(
    ("keys", "typed"),
    [
        (["enter"], b"\r"),
        (["Up", "DOWN"], b"\x1b[A\x1b[B"),
        (["C-c", "c-D", "ctrl-["], b"\x03\x04\x1b"),
        (["C-?"], b"\x7f"),
        (["M-x", "a", "é"], b"\x1bxa\xc3\xa9"),
        (["f1", "f4"], b"\x1bOP\x1bOS"),
        ([], b""),
    ],
)
def test_keys_are_written_as_a_terminal_gets_them(keys: list[str], typed: bytes) -> None:
    assert keys_bytes(keys) == typed


@pytest.mark.parametrize("key", ["", "C-", "C-cc", "hyper", "M-xy", "C-1"])
def test_a_key_that_nobody_knows_is_refused(key: str) -> None:
    with pytest.raises(KeyUnknownError):
        keys_bytes([key])


def test_a_pasted_text_cannot_end_its_own_brackets() -> None:
    assert pasted_bytes("one\ntwo", is_bracketed=True) == b"\x1b[200~one\ntwo\x1b[201~"
    hostile = pasted_bytes("rm\x1b[201~\r\x1b[2\x1b[201~01~", is_bracketed=True)
    assert hostile.count(b"\x1b[201~") == 1 and hostile.endswith(b"\x1b[201~")
    assert pasted_bytes("a\x1b[201~", is_bracketed=False) == b"a\x1b[201~"

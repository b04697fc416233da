"""Sealed values come back for their purpose only, and their key is a file that nobody else can read."""

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from apps.keys import installation
from apps.keys.errors import KeyUnusableError, UnsealError
from apps.keys.files import secret_bytes
from apps.keys.notes import secret_note
from apps.keys.seal import seal, unseal
from apps.keys.signing import Signature, public_key_pem, sign, verify


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> Path:
    """Keys of a new installation."""
    settings.KEYS_DIR = tmp_path / "keys"
    settings.SEAL_KEY = settings.SIGNING_KEY = ""
    return tmp_path / "keys"


ANY_KEYS = examples(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANY_KEYS
@given(plain=st.binary(max_size=500), purpose=st.text(max_size=30))
def test_what_was_sealed_comes_back(plain: bytes, purpose: str) -> None:
    sealed = seal(plain, purpose=purpose)
    assert unseal(sealed, purpose=purpose) == plain
    assert len(plain) < 8 or plain not in sealed


@ANY_KEYS
@given(plain=st.binary(max_size=50), place=st.integers(min_value=0), change=st.integers(min_value=1, max_value=255))
def test_a_changed_envelope_does_not_open(plain: bytes, place: int, change: int) -> None:
    sealed = bytearray(seal(plain, purpose="test"))
    sealed[place % len(sealed)] ^= change
    with pytest.raises(UnsealError):
        unseal(bytes(sealed), purpose="test")


@ANY_KEYS
@given(rubbish=st.binary(max_size=60))
def test_rubbish_does_not_open(rubbish: bytes) -> None:
    with pytest.raises(UnsealError):
        unseal(rubbish, purpose="test")


def test_another_purpose_does_not_open() -> None:
    with pytest.raises(UnsealError, match="purpose"):
        unseal(seal(b"run", purpose="approval.action"), purpose="import.secret")


def test_another_key_does_not_open(settings: Any) -> None:
    sealed = seal(b"run", purpose="test")
    settings.SEAL_KEY = "ab" * 32
    with pytest.raises(UnsealError, match="another key"):
        unseal(sealed, purpose="test")


def test_the_same_value_is_sealed_differently_each_time() -> None:
    assert seal(b"run", purpose="test") != seal(b"run", purpose="test")


def test_the_database_gives_bytes_as_memory() -> None:
    assert unseal(memoryview(seal(b"run", purpose="test")), purpose="test") == b"run"  # type: ignore[arg-type]


def test_key_files_are_for_their_owner_only(keys: Path) -> None:
    seal(b"run", purpose="test")
    sign(b"snapshot")
    files = sorted(keys.iterdir())
    assert [file.name for file in files] == ["seal_key", "signing_key"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700


def test_a_key_file_that_others_may_read_is_refused(keys: Path) -> None:
    seal(b"run", purpose="test")
    (keys / "seal_key").chmod(0o644)
    installation._key.cache_clear()
    with pytest.raises(KeyUnusableError, match="0600"):
        seal(b"run", purpose="test")


def test_a_key_is_made_once(keys: Path) -> None:
    first = installation.seal_key()
    installation._key.cache_clear()
    assert installation.seal_key() == first
    assert secret_bytes(keys / "seal_key", lambda: b"another").strip() == first.hex().encode()


@pytest.mark.parametrize("value", ["too short", "zz" * 32, "ab" * 31])
def test_a_variable_that_holds_no_key_is_named(settings: Any, value: str) -> None:
    settings.SEAL_KEY = value
    with pytest.raises(KeyUnusableError, match="OPENCLAW_ADMIN_SEAL_KEY"):
        seal(b"run", purpose="test")


def test_a_folder_that_cannot_be_made_is_named(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.KEYS_DIR = tmp_path / "file" / "keys"
    with pytest.raises(KeyUnusableError, match="key file"):
        seal(b"run", purpose="test")


# --- signing ---


def test_a_signature_fits_its_bytes_only() -> None:
    signature = sign(b"snapshot")
    assert verify(b"snapshot", signature)
    assert not verify(b"snapsh0t", signature)
    assert not verify(b"snapshot", Signature(signature.key_id, bytes(64)))
    assert not verify(b"snapshot", Signature("0" * 16, signature.signature))


def test_somebody_elsewhere_checks_with_the_public_key(settings: Any) -> None:
    signature, key = sign(b"snapshot"), public_key_pem()
    settings.SIGNING_KEY = "cd" * 32
    assert verify(b"snapshot", signature, public_key_pem=key)
    assert not verify(b"snapshot", signature)


# --- notes ---


def test_a_note_tells_length_and_hash_only() -> None:
    note = secret_note("hunter2")
    assert note["length"] == 7
    assert len(note["hash"]) == 8
    assert note == secret_note("hunter2")


def test_another_installation_notes_another_hash(settings: Any) -> None:
    first = secret_note("hunter2")
    settings.SEAL_KEY = "ef" * 32
    assert secret_note("hunter2")["hash"] != first["hash"]

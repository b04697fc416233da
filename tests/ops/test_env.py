"""The typed readers of environment variables."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from openclaw_admin import env
from openclaw_admin.database_url import database_settings
from tests.ops.conftest import ROOT


def test_text_falls_back_to_its_default_when_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_TEXT", "  ")
    assert env.text("X_TEXT", "default") == "default"
    monkeypatch.setenv("X_TEXT", " given ")
    assert env.text("X_TEXT", "default") == "given"


@pytest.mark.parametrize(("given", "value"), [("1", True), ("Yes", True), ("off", False), ("FALSE", False), ("", True)])
def test_a_flag_knows_its_words(monkeypatch: pytest.MonkeyPatch, given: str, value: bool) -> None:
    monkeypatch.setenv("X_FLAG", given)
    assert env.flag("X_FLAG", default=True) is value


@pytest.mark.parametrize(
    ("reader", "given", "rule"),
    [
        (env.flag, "perhaps", "setting X: `perhaps` is neither true nor false"),
        (lambda name: env.integer(name, 1), "1.5", "setting X: `1.5` is not a whole number"),
        (lambda name: env.integer(name, 1, maximum=9), "10", "setting X: 10 is outside 0 to 9"),
        (lambda name: env.seconds(name, 1), "soon", "setting X: `soon` is not a number of seconds"),
        (lambda name: env.seconds(name, 1), "0", "setting X: must be above 0 seconds"),
        (lambda name: env.choice(name, ("", "a")), "b", "setting X: `b` is none of empty, a"),
    ],
)
def test_a_bad_value_stops_the_process_and_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, reader: object, given: str, rule: str
) -> None:
    monkeypatch.setenv("X", given)
    with pytest.raises(SystemExit) as stopped:
        reader("X")  # type: ignore[operator]
    assert str(stopped.value) == rule


def test_words_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_WORDS", "a, b,,c ")
    assert env.words("X_WORDS") == ["a", "b", "c"]
    assert env.words("X_OTHER", ("d",)) == ["d"]


def test_a_secret_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush\n")
    monkeypatch.setenv("X_SECRET_FILE", str(tmp_path / "secret"))
    assert env.secret("X_SECRET") == "hush"
    monkeypatch.setenv("X_SECRET_FILE", str(tmp_path / "missing"))
    with pytest.raises(SystemExit, match="setting X_SECRET_FILE: cannot read"):
        env.secret("X_SECRET")


def test_an_address_with_a_socket_and_signs_is_read() -> None:
    read = database_settings("postgresql://me:p%40ss@:5433/my%20base?host=%2Frun%2Fpg&sslmode=disable")
    assert (read["NAME"], read["USER"], read["PASSWORD"]) == ("my base", "me", "p@ss")
    assert (read["HOST"], read["PORT"]) == ("/run/pg", "5433")
    assert read["OPTIONS"] == {"connect_timeout": "10", "sslmode": "disable"}


def test_another_database_is_refused() -> None:
    with pytest.raises(SystemExit, match="setting DATABASE_URL: must start with postgresql://"):
        database_settings("mysql://localhost/x")


def test_a_port_that_is_none_names_the_variable() -> None:
    with pytest.raises(SystemExit, match="setting DATABASE_URL: its port is not a number"):
        database_settings("postgresql://me@127.0.0.1:main/x")


def test_a_folder_that_cannot_hold_keys_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    environment = {"PATH": os.environ["PATH"], "OPENCLAW_ADMIN_KEYS": str(tmp_path / "file" / "keys")}
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.startswith("setting OPENCLAW_ADMIN_KEYS: cannot keep keys in ")
    assert len(done.stderr.splitlines()) == 1


def test_a_list_of_variables_gives_those_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_NAMES", "X_REGION, X_UNSET")
    monkeypatch.setenv("X_REGION", "north")

    assert env.chosen("X_NAMES", closed=("SECRET_",)) == {"X_REGION": "north", "X_UNSET": ""}


@pytest.mark.parametrize(
    ("given", "rule"),
    [("SECRET_KEY", "`SECRET_KEY` belongs to the service itself"), ("A B", "`A B` is no name of a variable")],
)
def test_what_is_the_services_own_cannot_be_listed(monkeypatch: pytest.MonkeyPatch, given: str, rule: str) -> None:
    monkeypatch.setenv("X_NAMES", given)

    with pytest.raises(env.SettingError, match=rule):
        env.chosen("X_NAMES", closed=("SECRET_",))

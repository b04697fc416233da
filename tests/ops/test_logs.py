"""What the log says, and what it must not say."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from openclaw_admin import logs


@pytest.fixture(params=[logs.JSON, logs.CONSOLE])
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What a logger of ours writes in one shape."""
    described = logs.logging_settings(request.param, "INFO")["formatters"]["ours"]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=described["foreign_pre_chain"], processors=described["processors"]
    )
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(formatter)
    root = logging.getLogger("openclaw_test")
    root.addHandler(handler)
    root.setLevel("INFO")
    root.propagate = False
    yield output
    root.removeHandler(handler)


def test_secrets_are_masked_in_events_and_in_messages_of_others(written: io.StringIO) -> None:
    structlog.get_logger("openclaw_test").info("asked", params={"password": "hunter2222"}, path="/x")
    logging.getLogger("openclaw_test").warning("cannot reach %s", "postgresql://u:hush-hush@h/db")
    assert "hunter2222" not in written.getvalue() and "hush-hush" not in written.getvalue()
    assert "/x" in written.getvalue() and "masked 10 characters" in written.getvalue()


def test_secrets_are_masked_in_tracebacks(written: io.StringIO) -> None:
    try:
        raise ValueError("postgresql://u:hush-hush@h/db")
    except ValueError:
        structlog.get_logger("openclaw_test").exception("failed")
    assert "ValueError" in written.getvalue()
    assert "hush-hush" not in written.getvalue()


def test_json_is_one_object_for_each_line(written: io.StringIO) -> None:
    if not (lines := _logged_twice(written))[0].startswith("{"):
        pytest.skip("the shape for a terminal is for people")
    assert [json.loads(line)["event"] for line in lines] == ["one", "two\nlines"]


def _logged_twice(written: io.StringIO) -> list[str]:
    log = structlog.get_logger("openclaw_test")
    log.info("one")
    log.info("two\nlines")
    return written.getvalue().splitlines()


@pytest.mark.parametrize("path", ["/invitation/{}/", "/password-reset/usr_01m7wfrwrhed5ajc4z6jm8t4nn/{}/"])
def test_the_secret_of_a_one_time_link_is_not_written(written: io.StringIO, path: str) -> None:
    secret = "c8x9ab-00aa11bb22cc33dd44ee55ff66aa77bb"
    structlog.get_logger("openclaw_test").info("request", path=path.format(secret))
    logging.getLogger("openclaw_test").error("Internal Server Error: %s", path.format(secret))
    assert secret not in written.getvalue()
    assert path.partition("{")[0] in written.getvalue()

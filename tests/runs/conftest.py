"""Runs, and something live for them."""

from typing import Any

import pytest

from tests.runs.making import MakeRun, published_in, run_made


@pytest.fixture
def make_run(environment: Any) -> MakeRun:
    return lambda **fields: run_made(environment, **fields)


@pytest.fixture
def published(environment: Any, admin: Any) -> Any:
    return published_in(environment, admin)

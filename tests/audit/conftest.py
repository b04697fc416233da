"""What tests of the ledger share: entries to write, a second process, the owner's hand."""

from collections.abc import Callable, Iterator

import pytest

from apps.audit.writer import Writer, close_writer
from tests import database


@pytest.fixture
def owner_sql(db: None) -> Callable[[str], None]:
    """Run a statement as the owner of the tables."""

    def run(statement: str) -> None:
        with database.owner_connection() as connection:
            connection.execute(statement)

    return run


@pytest.fixture
def two_roles() -> None:
    """Skip where one role both owns and serves."""
    if not database.HAS_TWO_ROLES:
        pytest.skip("needs an application role of its own")


@pytest.fixture
def fresh_writer(db: None) -> Iterator[None]:
    """Begin with a new chain."""
    close_writer()
    yield
    close_writer()


@pytest.fixture
def another_process(db: None) -> Iterator[Writer]:
    """A writer as another process has one."""
    writer = Writer()
    yield writer
    writer.close()

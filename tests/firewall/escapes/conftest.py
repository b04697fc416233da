from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.firewall.escapes.doors import Outside, outside


@pytest.fixture
async def around(tmp_path: Path) -> AsyncIterator[Outside]:
    async with outside(tmp_path) as made:
        yield made

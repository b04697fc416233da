"""A folder with a neighbour, and orders to the file tools."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.files.program import answer

Order = Callable[..., dict[str, Any]]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """The folder that orders are held to; `secret` lies beside it."""
    (tmp_path / "secret").write_text("outside")
    folder = tmp_path / "desk"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def order(desk: Path) -> Order:
    """Carry out an order and give its result, or its error."""

    def carry_out(do: str, **params: Any) -> dict[str, Any]:
        told = answer({"do": do, "root": str(desk), "params": params})
        result: dict[str, Any] = told.get("result") or told["error"]
        return result

    return carry_out

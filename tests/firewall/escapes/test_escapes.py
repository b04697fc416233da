"""Attempts by paths, addresses and pages are held, and the page in docs/ lists all there are.

Those of programs are tried in a file for each door, so that several workers share them.
"""

import pytest

from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.testing import call_of
from tests.firewall.escapes.doors import ORPHAN, Outside, world
from tests.firewall.escapes.files_and_addresses import (
    ADDRESSES,
    FILES,
    AddressAttempt,
    FileAttempt,
    through_connector,
    through_files,
)
from tests.firewall.escapes.page import PAGE, families, listed
from tests.firewall.escapes.pages import PAGES, PageAttempt, browser_problem, through_browser


async def test_a_tool_whose_source_is_switched_off_never_starts(around: Outside) -> None:
    result = await invoke(call_of(ORPHAN, code="open('made', 'w')"), world(around.folder, "python").ports)

    assert result.error is not None
    assert (result.status, result.error["code"]) == ("failed", "source_unknown")
    assert not list((around.folder / "workspaces").rglob("made"))


@pytest.mark.unhurried
@pytest.mark.parametrize("attempt", FILES, ids=lambda attempt: attempt.name)
async def test_a_path_is_held(attempt: FileAttempt, around: Outside) -> None:
    assert await through_files(attempt, around) == ""


@pytest.mark.unhurried
@pytest.mark.parametrize("attempt", ADDRESSES, ids=lambda attempt: attempt.name)
async def test_an_address_is_refused_before_any_packet(attempt: AddressAttempt, around: Outside) -> None:
    assert await through_connector(attempt, around) == ""


@pytest.mark.unhurried
@pytest.mark.skipif(bool(browser_problem()), reason=browser_problem() or "a browser")
@pytest.mark.parametrize("attempt", PAGES, ids=lambda attempt: attempt.name)
@pytest.mark.slow
async def test_a_page_is_held(attempt: PageAttempt, around: Outside) -> None:
    assert await through_browser(attempt, around) == ""


def test_the_page_lists_every_attempt_and_nothing_else() -> None:
    names = [name for _, name, _ in families()]

    assert len(set(names)) == len(names) >= 140
    assert listed() == names
    security = PAGE.parents[2] / "SECURITY.md"
    assert f"each of {len(names)} attempts" in security.read_text(encoding="utf-8")

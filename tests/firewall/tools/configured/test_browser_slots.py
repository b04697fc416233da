"""How many browsers may be open: counted over processes, free again however a process ends."""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from apps.firewall.tools.browser.slots import PREFIX, BrowserSlots, TooManyBrowsersError
from tests.firewall.tools.configured.browsing import needs_browser, own_folder, page, site, web  # noqa: F401 - a fixture
from tests.firewall.tools.configured.works import code, run
from tests.firewall.tools.connector.loopback import serving

pytestmark = [pytest.mark.unhurried, pytest.mark.usefixtures("own_folder")]

HOLDS = """
import sys, tempfile, time
from pathlib import Path
from apps.firewall.tools.browser.slots import PREFIX, BrowserSlots
with BrowserSlots(folder=Path(sys.argv[1]), limit=1, environment_limit=1).taken("production") as slot:
    left = Path(tempfile.mkdtemp(prefix=PREFIX))
    (left / "home").mkdir()
    slot.name(left)
    print(left, flush=True)
    time.sleep(600)
"""


def slots(folder: Path, limit: int = 2, environment_limit: int = 1) -> BrowserSlots:
    return BrowserSlots(folder=folder / "browsers", limit=limit, environment_limit=environment_limit)


def test_slots_are_held_one_by_one_and_given_back(tmp_path: Path) -> None:
    here = slots(tmp_path, environment_limit=2)
    with ExitStack() as held:
        held.enter_context(here.taken("production"))
        held.enter_context(here.taken("production"))
        with pytest.raises(TooManyBrowsersError, match="2 browsers"), here.taken("production"):
            pass
    with here.taken("production"), here.taken("production"):
        pass


def test_one_environment_leaves_room_for_another_and_all_together_have_a_limit(tmp_path: Path) -> None:
    here = slots(tmp_path)
    with here.taken("production"):
        with pytest.raises(TooManyBrowsersError, match="of this environment"), here.taken("production"):
            pass
        refused = pytest.raises(TooManyBrowsersError, match="2 browsers are open")
        with here.taken("staging"), refused, here.taken("testing"):
            pass


def test_a_killed_process_leaves_neither_its_slot_taken_nor_its_folder_behind(tmp_path: Path) -> None:
    here = slots(tmp_path, limit=1)
    words = [sys.executable, "-c", HOLDS, str(here.folder)]
    holder = subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": tempfile.gettempdir()}
    )
    assert holder.stdout is not None
    left = Path(holder.stdout.readline().strip())
    with pytest.raises(TooManyBrowsersError), here.taken("staging"):
        pass

    holder.kill()
    holder.wait(30)

    assert left.is_dir()
    with here.taken("staging"):
        assert not left.exists()


def test_a_slot_removes_nothing_but_folders_of_browsers(tmp_path: Path) -> None:
    here = slots(tmp_path, limit=1)
    kept = tmp_path / f"{PREFIX}elsewhere"
    kept.mkdir()
    target = Path(tempfile.mkdtemp())
    link = Path(tempfile.gettempdir()) / f"{PREFIX}link-{target.name}"
    link.symlink_to(target)
    for each in (kept, link, target):
        with here.taken("production") as slot:
            slot.name(each)
        with here.taken("production"):
            pass
    assert kept.is_dir() and target.is_dir()
    link.unlink()
    target.rmdir()


@needs_browser
async def test_a_call_that_finds_no_slot_is_told_so_and_opens_nothing(tmp_path: Path) -> None:
    here = slots(tmp_path, limit=1)
    async with serving(site({"/": page("<p>hi</p>")})) as server:
        work = replace(web(server), environment="production", browsers=here)
        with here.taken("staging"):
            outcome = await run("browser_navigate", work, url=server.url())

    assert code(outcome) == "too_many_browsers"
    assert not server.requests

"""What a tool is held to: its needs, an admin's allowance, and what a machine offers."""

from pathlib import Path

import pytest

from apps.firewall.sandbox.levels import LEVELS, Level, Offer, Part
from apps.firewall.tools.definition import SandboxLevel, SandboxNeeds
from apps.firewall.tools.sandboxing import Allowance, Sandbox, SandboxRefusedError

WORKS = Part("a part")
LACKS = Part("a part", "it is not there")
ALL = Offer(WORKS, WORKS, WORKS)


@pytest.mark.parametrize(
    ("offer", "highest"),
    [
        (ALL, "isolated"),
        (Offer(LACKS, WORKS, WORKS), "filesystem"),
        (Offer(WORKS, LACKS, WORKS), "isolated"),
        (Offer(LACKS, LACKS, WORKS), "process"),
        (Offer(WORKS, WORKS, LACKS), "process"),
        (Offer(WORKS, WORKS, WORKS, is_linux=False), "none"),
    ],
)
def test_the_highest_level_is_what_the_parts_make(offer: Offer, highest: str) -> None:
    assert offer.highest == highest
    assert all(not offer.lacks(level) for level in LEVELS[: LEVELS.index(offer.highest) + 1])


@pytest.mark.parametrize("level", ["filesystem", "isolated", "container"])
def test_a_tool_that_needs_more_than_there_is_does_not_run_and_says_why(level: SandboxLevel) -> None:
    sandbox = Sandbox(Allowance(level="process"), Offer(LACKS, LACKS, WORKS))

    with pytest.raises(SandboxRefusedError, match="not to be had here: it is not there"):
        sandbox.terms(SandboxNeeds(level=level))


def test_nobody_is_held_less_strictly_than_an_admin_says() -> None:
    sandbox = Sandbox(Allowance(level="filesystem"), Offer(LACKS, LACKS, WORKS))

    with pytest.raises(SandboxRefusedError):
        sandbox.terms(SandboxNeeds(level="none"))


@pytest.mark.parametrize(
    ("offer", "level", "isolated"),
    [
        (ALL, "process", False),
        (ALL, "isolated", True),
        (Offer(WORKS, LACKS, WORKS), "process", True),
        (Offer(LACKS, WORKS, WORKS), "process", False),
    ],
)
def test_bubblewrap_holds_a_tool_that_asks_for_it_or_that_nothing_else_can(
    offer: Offer, level: Level, isolated: bool
) -> None:
    assert Sandbox(Allowance(), offer).terms(SandboxNeeds(level=level)).isolated is isolated


def test_the_network_is_off_unless_a_tool_asks_and_an_admin_allows_it() -> None:
    open_ = Sandbox(Allowance(network=True), ALL)

    assert not open_.terms(None).network
    assert open_.terms(SandboxNeeds(network=True)).network
    with pytest.raises(SandboxRefusedError, match="network"):
        Sandbox(Allowance(), ALL).terms(SandboxNeeds(network=True))


def test_folders_are_those_that_an_admin_allows_links_followed(tmp_path: Path) -> None:
    for name in ("data", "data/inner", "keys"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "way").symlink_to(tmp_path / "keys")
    sandbox = Sandbox(Allowance(paths=(str(tmp_path / "data"),)), ALL)

    inner = sandbox.terms(SandboxNeeds(paths=(f"{tmp_path}/data/inner",)))
    assert inner.paths == (str(tmp_path / "data" / "inner"),)
    for path in ("keys", "data/way", "data/../keys", "data/missing"):
        with pytest.raises(SandboxRefusedError):
            sandbox.terms(SandboxNeeds(paths=(f"{tmp_path}/{path}",)))

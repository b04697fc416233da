"""Names as providers take them: legal, reversible, and nobody's by chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.providers import PROVIDERS, Provider
from apps.firewall.tools.wire_names import CHANGED, tool_behind, wire_name

every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
NAMES = st.text("abcXYZ019_.:/- é汉", min_size=1, max_size=130)


@every_provider
@given(name=NAMES)
def test_every_name_goes_out_in_a_form_that_the_provider_takes(provider: Provider, name: str) -> None:
    assert provider.NAMES.takes(wire_name(name, provider.NAMES))


@every_provider
@given(names=st.lists(NAMES, min_size=1, max_size=12, unique=True))
def test_every_name_comes_back(provider: Provider, names: list[str]) -> None:
    for name in names:
        assert tool_behind(wire_name(name, provider.NAMES), tuple(names), provider.NAMES) == name


@every_provider
@pytest.mark.parametrize("name", ["read", "github__create_issue", "web-search", "_x"])
def test_a_name_that_is_taken_stays(provider: Provider, name: str) -> None:
    assert wire_name(name, provider.NAMES) == name


def test_names_that_differ_in_a_forbidden_letter_only_stay_apart() -> None:
    rule = PROVIDERS["anthropic"].NAMES

    found = {wire_name(name, rule) for name in ("files.read", "files/read", "files_read", "files:read")}

    assert len(found) == 4 and "files_read" in found


def test_no_tool_can_take_the_name_that_another_goes_out_under() -> None:
    rule = PROVIDERS["openai-chat"].NAMES
    taken = wire_name("files.read", rule)

    thief = wire_name(taken, rule)

    assert CHANGED.search(taken) and thief != taken
    assert tool_behind(taken, ("files.read", taken), rule) == "files.read"
    assert tool_behind(thief, ("files.read", taken), rule) == taken


def test_a_name_that_nobody_goes_by_means_itself() -> None:
    rule = PROVIDERS["openai-chat"].NAMES

    for name in ("launch_rocket", "files_read-h000000000000", "files_read-h000000000000\n", ""):
        assert tool_behind(name, ("files.read",), rule) == name


def test_long_names_keep_their_beginning() -> None:
    rule = PROVIDERS["gemini"].NAMES
    first, second = "server__" + "a" * 120, "server__" + "a" * 119

    assert wire_name(first, rule).startswith("server__aaa") and len(wire_name(first, rule)) == 64
    assert wire_name(first, rule) != wire_name(second, rule)

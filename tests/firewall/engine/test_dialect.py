"""The table of differences between the releases."""

import pytest

from apps.firewall.engine.dialect import DEFAULT_RELEASE, DIALECTS, UnknownDialectError, dialect_named


def test_the_newer_release_is_the_default() -> None:
    assert DEFAULT_RELEASE == "2026.9"
    assert list(DIALECTS) == ["2026.9", "2026.2"]


def test_an_unknown_release_is_refused_by_name() -> None:
    with pytest.raises(UnknownDialectError, match=r"`2025\.1`"):
        dialect_named("2025.1")


@pytest.mark.parametrize("release", DIALECTS)
def test_reference_tables_agree_with_one_another(release: str) -> None:
    dialect = dialect_named(release)
    tools = {tool.name for tool in dialect.catalogue}
    assert {tool.section for tool in dialect.catalogue} == set(dialect.sections)
    assert {name for members in dialect.groups.values() for name in members} <= tools
    assert set(dialect.aliases.values()) <= tools
    assert set(dialect.sandbox_allow) <= tools


@pytest.mark.parametrize("release", DIALECTS)
def test_reference_tables_cannot_be_changed(release: str) -> None:
    dialect = dialect_named(release)
    with pytest.raises(TypeError):
        dialect.aliases["sh"] = "exec"  # type: ignore[index]

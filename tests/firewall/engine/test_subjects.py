"""Names of agents, channels and tools: each spelling means the same thing in every list."""

import pytest

from apps.firewall.engine.dialect import DIALECTS, dialect_named
from apps.firewall.engine.subjects import can_be, subject_name, subject_names

SPELLINGS = [
    ("agent", "main", ["main", "Main", " MAIN ", "ma*", "*"]),
    ("agent", "support-bot", ["support-bot", "Support-Bot", "Support Bot", "support*"]),
    ("channel", "telegram", ["telegram", "Telegram", " TELEGRAM\t", "tele*"]),
    ("channel", "googlechat", ["googlechat", "GoogleChat", "gchat", "Google-Chat"]),
    ("tool", "exec", ["exec", "Exec", "bash", " BASH ", "group:runtime", "Group:Runtime", "ex*", "*"]),
]


@pytest.mark.parametrize("release", sorted(DIALECTS))
@pytest.mark.parametrize(("kind", "name", "spellings"), SPELLINGS)
def test_every_spelling_of_a_name_matches_it_and_nothing_else(
    release: str, kind: str, name: str, spellings: list[str]
) -> None:
    dialect = dialect_named(release)
    for spelling in spellings:
        matcher = subject_names(dialect, kind, [spelling])  # type: ignore[arg-type]
        assert matcher.matches(name), spelling
        assert matcher.matches("zyxwv") == (spelling == "*"), spelling
        if "*" not in spelling and not spelling.lower().startswith("group:"):
            assert subject_name(dialect, kind, spelling) == name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "text", "is_possible"),
    [
        ("agent", "main", True),
        ("agent", "!!!", False),
        ("agent", "  ", False),
        ("channel", " ", False),
        ("channel", "anything", True),
        ("tool", "group:runtime", True),
        ("tool", "group:nothing", False),
        ("tool", "my_tool", True),
    ],
)
def test_what_nothing_can_be_called_is_known(kind: str, text: str, is_possible: bool) -> None:
    assert can_be(dialect_named("2026.9"), kind, text) == is_possible  # type: ignore[arg-type]

"""The documents say what the code does."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
READMES = ("README.md", "README.zh.md")
READERS = "text|flag|integer|seconds|words|networks|ports|choice|chosen|secret"
READ = re.compile(rf"""\benv\.(?:{READERS})\(\s*["']([A-Z][A-Z0-9_]+)["']""")
SECRET = re.compile(r"""\benv\.secret\(\s*["']([A-Z][A-Z0-9_]+)["']""")
ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]+)`( \*)? \|", flags=re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def sources() -> list[str]:
    folders = ("apps", "openclaw_admin")
    return [path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize("readme", READMES)
def test_the_two_commands_stand_first(readme: str) -> None:
    first_block = (ROOT / readme).read_text().split("```")[1]
    assert [line.split("#")[0].strip() for line in first_block.splitlines()[1:] if line] == ["make run", "make test"]


@pytest.mark.parametrize("readme", READMES)
def test_every_variable_stands_in_the_table_and_nothing_else(readme: str) -> None:
    read = {name for text in sources() for name in READ.findall(text)}
    listed = [name for name, _ in ROW.findall((ROOT / readme).read_text())]
    assert sorted(listed) == sorted(read)


@pytest.mark.parametrize("readme", READMES)
def test_every_secret_is_marked_as_one_that_a_file_may_hold(readme: str) -> None:
    secrets = {name for text in sources() for name in SECRET.findall(text)}
    marked = {name for name, star in ROW.findall((ROOT / readme).read_text()) if star}
    assert marked == secrets


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    assert [link for link in LINK.findall(text) if not (document.parent / link).exists()] == []


def test_every_make_target_of_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text())}
    assert named - targets == set()


def test_every_management_command_of_the_documents_exists() -> None:
    from django.core.management import get_commands

    named = {name for page in PAGES for name in re.findall(r"manage\.py ([a-z_]+)", page.read_text())}
    assert named - set(get_commands()) == set()


def test_the_table_of_layers_is_the_engine_s() -> None:
    from apps.firewall.engine.dialect import DIALECTS
    from apps.firewall.engine.layers import LAYERS, layers_of

    row = re.compile(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \| (\d+|-) \| (\d+|-) \|$", flags=re.MULTILINE)
    rows = row.findall((ROOT / "docs" / "policy.md").read_text())
    assert {key: label for key, label, _, _ in rows} == {key: layer.label for key, layer in LAYERS.items()}
    for column, release in ((2, "2026.9"), (3, "2026.2")):
        numbered = sorted((int(row[column]), row[0]) for row in rows if row[column] != "-")
        order = [layer.key for layer in layers_of(DIALECTS[release])]
        assert numbered == list(enumerate(order, start=1)), release


def test_the_version_stands_in_the_changelog_and_in_the_project() -> None:
    from openclaw_admin import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()

"""Compiles locale/*/LC_MESSAGES/*.po to .mo without gettext: `python -m openclaw_admin.messages`."""

import sys
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALE = Path(__file__).resolve().parent.parent / "locale"


def compile_catalogue(source: Path) -> Path:
    """Write the .mo beside a .po and return its path; fuzzy entries are left out, as gettext does."""
    with source.open("rb") as file:
        catalogue = read_po(file)
    target = source.with_suffix(".mo")
    with target.open("wb") as file:
        write_mo(file, catalogue)
    return target


def main() -> int:
    sources = sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))
    for source in sources:
        compile_catalogue(source)
    sys.stdout.write(f"messages: {len(sources)} catalogues compiled\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Pictures of pages in every look, kept in test-results/screens/ (which git ignores) beside a page that shows them."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

from tests.journeys.conftest import ROOT

HIGHEST = 6000
FOLDER = ROOT / "test-results" / "screens"


@dataclass(frozen=True)
class Look:
    """How a page is looked at.

    Attributes:
        rules: those of axe that can differ from the look before it; empty means all.
    """

    name: str
    scheme: Literal["light", "dark"]
    width: int
    height: int
    rules: tuple[str, ...] = ()


LOOKS = (
    Look("light", "light", 1440, 1000),
    Look("dark", "dark", 1440, 1000, ("color-contrast", "link-in-text-block")),
    Look("phone", "light", 390, 844),
)
WIDE = Look("wide", "light", 3840, 2160, ("scrollable-region-focusable",))
"""4K: nothing but the room differs from the first look."""

INDEX = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Every page</title>
<style>body{{font:14px sans-serif;margin:16px}}figure{{display:flex;gap:8px;align-items:start;margin:0 0 32px}}
img{{border:1px solid #888;max-height:900px;object-fit:cover;object-position:top}}.wide{{width:42%}}.phone{{width:13%}}
</style><h1>Every page: light, dark, 390 px</h1>
{figures}</html>
"""


@dataclass
class Pictures:
    """What a run takes; pytest-playwright empties the folder as each run begins."""

    folder: Path = FOLDER

    def take(self, page: Page, name: str, look: Look) -> None:
        """Take the whole page as one window would show it, so that what is fixed to an edge stands at that edge."""
        self.folder.mkdir(parents=True, exist_ok=True)
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": look.width, "height": max(look.height, min(height, HIGHEST))})
        page.screenshot(path=self.folder / f"{name}-{look.name}.png")

    def write_index(self) -> None:
        names = sorted({path.stem.rpartition("-")[0] for path in self.folder.glob("*.png")})
        (self.folder / "index.html").write_text(INDEX.format(figures="\n".join(map(_figure, names))))


def _figure(name: str) -> str:
    images = "".join(
        f'<img class="{"phone" if look.name == "phone" else "wide"}" loading="lazy"'
        f' src="{escape(name)}-{look.name}.png" alt="{escape(name)}, {look.name}">'
        for look in LOOKS
    )
    return f'<h2 id="{escape(name)}">{escape(name)}</h2><figure>{images}</figure>'

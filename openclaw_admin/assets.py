"""Copies the browser libraries of package.json and django-htmx into static/vendor/.

Run as `python -m openclaw_admin.assets`, after `npm ci`.
"""

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "node_modules"
VENDOR = ROOT / "static" / "vendor"
ICON_NAMES = ROOT / "static" / "icons.txt"

COPIES = {
    "tabler.min.css": "@tabler/core/dist/css/tabler.min.css",
    "uplot.min.css": "uplot/dist/uPlot.min.css",
    "uplot.min.js": "uplot/dist/uPlot.iife.min.js",
    "fonts/inter-latin-wght-normal.woff2": "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
    "fonts/inter-latin-ext-wght-normal.woff2": "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2",
    "fonts/jetbrains-mono-latin-wght-normal.woff2": (
        "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2"
    ),
    "licences/inter.txt": "@fontsource-variable/inter/LICENSE",
    "licences/jetbrains-mono.txt": "@fontsource-variable/jetbrains-mono/LICENSE",
    "licences/tabler-icons.txt": "@tabler/icons/LICENSE",
    "licences/uplot.txt": "uplot/LICENSE",
}
HTMX_COPIES = {
    "htmx.min.js": "htmx-4.min.js",
    "hx-upsert.min.js": "ext/hx-upsert-4.min.js",
}

_SOURCE_MAP = re.compile(rb"\s*/[*/]# sourceMappingURL=.*?(\*/|$)")
_DRAWING = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_BACKGROUND = re.compile(r"\s*<path stroke=\"none\" d=\"M0 0h24v24H0z\" fill=\"none\" />")


def copy_libraries() -> None:
    """Copy each file, without the reference to a source map that is not served."""
    htmx = find_spec("django_htmx")
    if htmx is None or htmx.origin is None:
        raise FileNotFoundError("the package django-htmx is not installed")
    bundled = Path(htmx.origin).parent / "static" / "django_htmx"
    sources = {name: MODULES / source for name, source in COPIES.items()}
    sources |= {name: bundled / source for name, source in HTMX_COPIES.items()}
    for name, source in sources.items():
        target = VENDOR / name
        target.parent.mkdir(parents=True, exist_ok=True)
        content = source.read_bytes()
        target.write_bytes(_SOURCE_MAP.sub(b"", content) if target.suffix in {".css", ".js"} else content)


def write_icons() -> int:
    """Write one sprite that holds each icon of static/icons.txt as `#i-<name>`; return their number.

    Raises:
        FileNotFoundError: a name that the icon library does not have.
    """
    symbols = []
    for name in ICON_NAMES.read_text(encoding="utf-8").split():
        drawing = _DRAWING.search((MODULES / f"@tabler/icons/icons/outline/{name}.svg").read_text(encoding="utf-8"))
        if drawing is None:
            raise FileNotFoundError(f"the icon `{name}` holds no drawing")
        paths = " ".join(_BACKGROUND.sub("", drawing[1]).split())
        symbols.append(f'<symbol id="i-{name}" viewBox="0 0 24 24">{paths}</symbol>')
    sprite = ['<svg xmlns="http://www.w3.org/2000/svg">', *symbols, "</svg>", ""]
    (VENDOR / "icons.svg").write_text("\n".join(sprite), encoding="utf-8")
    return len(symbols)


def main() -> int:
    shutil.rmtree(VENDOR, ignore_errors=True)
    try:
        copy_libraries()
        icons = write_icons()
    except FileNotFoundError as exc:
        sys.stderr.write(f"static assets: {exc}; run `npm ci` first\n")
        return 1
    sys.stdout.write(f"static assets: {len(COPIES) + len(HTMX_COPIES)} files and {icons} icons in static/vendor\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

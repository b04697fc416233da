"""The tool `browser_screenshot`: a page as a browser shows it, as a picture."""

import base64
import binascii
import struct
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.browser.visit import Visit, visit
from apps.firewall.tools.definition import Definition, JsonObject, SandboxNeeds
from apps.firewall.tools.results import image_result, mime_type_of
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.work import Work

WIDTH_LIMIT, HEIGHT_LIMIT = 2_000, 8_000
WHOLE_LIMIT: Final = 10**9
PNG_LIMIT_BYTES: Final = 3_500_000
PNG: Final = "image/png"

DEFINITION = Definition(
    name="browser_screenshot",
    label="Take a picture of a page",
    description=(
        "Open a web page in a browser that runs its scripts, and return a picture of it: what a window of 1280 x 800 "
        "shows, the full page, or one element. The same addresses are refused as for browser_navigate."
    ),
    section="web",
    parameters={
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "minLength": 1,
                "maxLength": 8192,
                "description": "Address, beginning with https:// or http://.",
            },
            "full_page": {
                "type": "boolean",
                "default": False,
                "description": "The page down to its end, up to 8000 pixels.",
            },
            "selector": {
                "type": "string",
                "minLength": 1,
                "maxLength": 500,
                "description": "CSS selector of the one element to show; the first that fits.",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    },
    sandbox=SandboxNeeds(level="isolated"),
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    """Open the page and take its picture."""
    order = {
        "wait_until": "load",
        "is_picture": True,
        "full_page": params.get("full_page", False),
        "selector": params.get("selector", ""),
        "width": WIDTH_LIMIT,
        "height": HEIGHT_LIMIT,
        "png_bytes": PNG_LIMIT_BYTES,
    }
    try:
        opened = await visit(work, params["url"], order)
    except FirewallError as exc:
        return failed(exc.code, exc.message)
    size = _size(opened.told.get("png"))
    if size is None:
        return failed("picture_unusable", "the picture cannot be shown, or is too large")
    return ToolOutcome(result=_result(opened, *size))


def _size(png: object) -> tuple[int, int] | None:
    """Read width and height of a picture; None when it is none that may go on."""
    try:
        content = base64.b64decode(png, validate=True) if isinstance(png, str) else b""
    except binascii.Error:
        return None
    if mime_type_of(content) != PNG or len(content) > PNG_LIMIT_BYTES or content[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", content[16:24].ljust(8, b"\0"))
    return (width, height) if 0 < width <= WIDTH_LIMIT and 0 < height <= HEIGHT_LIMIT else None


def _result(opened: Visit, width: int, height: int) -> dict[str, Any]:
    whole = _whole(opened.told.get("whole"))
    is_cut = whole is not None and (whole[0] > width + 1 or whole[1] > height + 1)
    words = f"{opened.url} (status {opened.status}): {opened.title}\n{width} x {height} pixels"
    if is_cut and whole is not None:
        words += f" [cut: the whole is {whole[0]} x {whole[1]}]"
    details = {
        "url": opened.url,
        "status": opened.status,
        "title": opened.title,
        "width": width,
        "height": height,
        "truncated": is_cut,
        "refused": list(opened.refused),
    }
    png = str(opened.told["png"])
    return image_result(label=opened.url, base64=png, mime_type=PNG, text=words, details=details)


def _whole(told: object) -> tuple[int, int] | None:
    if not isinstance(told, list) or len(told) != 2:
        return None
    if not all(isinstance(each, int | float) and 0 < each < WHOLE_LIMIT for each in told):  # neither is NaN
        return None
    return (int(told[0]), int(told[1]))

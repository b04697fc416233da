"""The tool `browser_navigate`: a page as a browser shows it, as text."""

from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.browser.visit import Visit, readable, visit
from apps.firewall.tools.definition import Definition, JsonObject, SandboxNeeds
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.work import Work

LETTERS: Final = 40_000
LINKS: Final = 100
LINK_LIMIT: Final = 500

DEFINITION = Definition(
    name="browser_navigate",
    label="Open a page",
    description=(
        "Open a web page in a browser that runs its scripts, and return where it ended, status, title, the text that "
        "people see, and links. Addresses that are not public, and names outside the list of allowed ones, are refused."
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
            "wait_until": {
                "type": "string",
                "enum": ["load", "domcontentloaded", "networkidle"],
                "default": "load",
                "description": "What to wait for: the whole page, its text, or until it asks for nothing more.",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    },
    sandbox=SandboxNeeds(level="isolated"),
    result_limit=60_000,
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    """Open the page and read it. A page that was opened and says no is an answer too."""
    order = {
        "wait_until": params.get("wait_until", "load"),
        "is_picture": False,
        "letters": LETTERS,
        "links": LINKS,
    }
    try:
        opened = await visit(work, params["url"], order)
    except FirewallError as exc:
        return failed(exc.code, exc.message)
    return ToolOutcome(result=_result(opened))


def _result(opened: Visit) -> dict[str, Any]:
    text, characters = opened.told.get("text"), opened.told.get("characters")
    shown = readable(text[:LETTERS]) if isinstance(text, str) else ""
    whole = characters if type(characters) is int else len(shown)
    return {
        "url": opened.url,
        "status": opened.status,
        "title": opened.title,
        "characters": whole,
        "truncated": whole > len(shown),
        "refused": list(opened.refused),
        "text": shown,
        "links": _links(opened.told.get("links")),
    }


def _links(told: object) -> list[dict[str, str]]:
    """Read links of a page: its scripts may have put anything in their place."""
    pairs = told[:LINKS] if isinstance(told, list) else []
    return [
        {"text": readable(pair[0][:200]), "url": readable(pair[1])}
        for pair in pairs
        if isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(each, str) for each in pair)
        and len(pair[1]) <= LINK_LIMIT
    ]

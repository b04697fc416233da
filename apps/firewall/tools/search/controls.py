"""The tools that a model is offered in place of a large catalogue. Their names are reserved."""

from collections.abc import Mapping
from typing import Final

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.search.budgets import BATCH_CANDIDATES, BATCH_QUERIES, QUERY_CHARACTERS
from apps.firewall.tools.search.settings import Mode

SEARCH: Final = "tool_search"
DESCRIBE: Final = "tool_describe"
CALL: Final = "tool_call"
CODE: Final = "tool_search_code"
CODE_CHARACTERS: Final = 20_000
ID_CHARACTERS: Final = 400

_ENGLISH: Final = (
    "Write queries in English unless you know that the tools are described in another language: words are compared, "
    "not meanings."
)
_QUERY: Final[JsonObject] = {
    "type": "string",
    "maxLength": QUERY_CHARACTERS,
    "description": "What the tool should do, in a few English words, or its exact name.",
}
_LIMIT: Final[JsonObject] = {
    "type": ["integer", "null"],
    "minimum": 1,
    "description": "How many candidates to give at most; more than the installation allows is brought to that.",
}
_ID: Final[JsonObject] = {
    "type": "string",
    "minLength": 1,
    "maxLength": ID_CHARACTERS,
    "description": "The tool's `id` as a search gave it, or its exact name.",
}

CONTROLS: Final[Mapping[str, Definition]] = {
    SEARCH: Definition(
        name=SEARCH,
        label="Search tools",
        description=(
            "Find tools that you may use and do not see: each candidate comes with `id`, `name`, `source`, a short "
            "description and, where it is known, the form of its `input`. Send one `query`, or up to "
            f"{BATCH_QUERIES} unrelated ones as `queries`. {_ENGLISH}"
        ),
        section="search",
        parameters={
            "type": "object",
            "properties": {
                "query": {**_QUERY, "type": ["string", "null"]},
                "limit": {**_LIMIT, "description": f"{_LIMIT['description']} It belongs to `query`, not to `queries`."},
                "queries": {
                    "type": ["array", "null"],
                    "maxItems": BATCH_QUERIES,
                    "items": {
                        "type": "object",
                        "properties": {"query": _QUERY, "limit": _LIMIT},
                        "required": ["query"],
                        "additionalProperties": False,
                    },
                    "description": (
                        "Several searches at once, each with its own `limit`, for at most "
                        f"{BATCH_CANDIDATES} candidates together; answered in this order."
                    ),
                },
            },
            "additionalProperties": False,
        },
        idempotent=True,
        catalog_mode="direct_only",
    ),
    DESCRIBE: Definition(
        name=DESCRIBE,
        label="Describe a tool",
        description=(
            "Read all there is to know of one tool that a search found: its description and the full JSON Schema of "
            "its parameters. Needed when `input` in the search's answer is `unknown` or does not tell enough."
        ),
        section="search",
        parameters={"type": "object", "properties": {"id": _ID}, "required": ["id"], "additionalProperties": False},
        idempotent=True,
        catalog_mode="direct_only",
    ),
    CALL: Definition(
        name=CALL,
        label="Call a found tool",
        description=(
            "Call one tool of the catalogue: put its `id` or exact name into `id`, and all of its own parameters into "
            "`args`. The call is checked, approved and recorded as if the tool had been called by itself."
        ),
        section="search",
        parameters={
            "type": "object",
            "properties": {
                "id": _ID,
                "args": {
                    "type": "object",
                    "additionalProperties": True,
                    "description": "The parameters of that tool.",
                },
            },
            "additionalProperties": True,  # models that lay the target's parameters beside `id` are understood
        },
        catalog_mode="direct_only",
    ),
    CODE: Definition(
        name=CODE,
        label="Work with tools in code",
        description=(
            "Run the body of an asynchronous JavaScript function that finds and calls tools. It has "
            "`await openclaw.tools.search(query, {limit})`, `await openclaw.tools.describe(id)`, "
            "`await openclaw.tools.call(id, args)` and `console.log`, `console.warn`, `console.error`; nothing else: "
            "no files, no network, no modules. `call` gives `{tool, result}`. Return the value that you want to see. "
            f"The time for all of it, calls and approvals included, is limited. {_ENGLISH}"
        ),
        section="search",
        parameters={
            "type": "object",
            "properties": {
                "code": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": CODE_CHARACTERS,
                    "description": "The function's body; `return` gives the answer.",
                }
            },
            "required": ["code"],
            "additionalProperties": False,
        },
        catalog_mode="direct_only",
    ),
}
"""Name -> definition, in the order in which models are told of them."""

CONTROL_NAMES: Final = frozenset(CONTROLS)
"""No other tool enters a catalogue under one of these names."""

_OFFERED: Final[Mapping[Mode, tuple[str, ...]]] = {
    "off": (),
    "tools": (SEARCH, DESCRIBE, CALL),
    "directory": (SEARCH, DESCRIBE, CALL),
    "code": (CODE,),
}


def controls_of(mode: Mode) -> tuple[Definition, ...]:
    """Return the control tools that a mode offers."""
    return tuple(CONTROLS[name] for name in _OFFERED[mode])

"""Formats that only an author knows: which a schema names, and how the texts of a call are held against them.

The server runs no check itself: it asks the process that runs authors' code, at once for all texts of a call.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.authoring.formats import packaged_formats
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.formats import FORMATS
from apps.firewall.tools.mistakes import Problem, in_order, keyword_of, problems_of
from apps.firewall.tools.parameters import PROBLEMS_LIMIT, sensitive_of
from apps.firewall.tools.running import Cause
from apps.firewall.tools.schema_walk import every_part
from apps.firewall.tools.sensitive import hider
from apps.firewall.tools.validators import errors_of, validator_with

Texts = Sequence[tuple[str, str]]
"""Names of formats, each with a text that is to have it."""
Ask = Callable[[Texts], Awaitable[Sequence[bool]]]

ROUNDS: Final = 4
TEXTS_LIMIT: Final = 2_000
LETTERS_LIMIT: Final = 1024 * 1024


class FormatUncheckedError(FirewallError):
    """A text could not be held against its format, so the call does not go on; `cause` is what a check raised."""

    code = "format_unchecked"

    def __init__(self, message: str, *, cause: Cause | None = None) -> None:
        super().__init__(message)
        self.cause = cause


def formats_in(schema: Any) -> Iterator[tuple[str, str]]:
    """List the formats that a schema names, each with its place."""
    for place, part in every_part(schema):
        name = part.get("format")
        if isinstance(name, str):
            yield f"{place}.format".lstrip("."), name


def unknown_formats(schema: Any) -> dict[str, str]:
    """Give the formats of a schema that nothing here knows by itself, each with the first of its places."""
    found: dict[str, str] = {}
    for place, name in formats_in(schema):
        if not FORMATS.knows(name):
            found.setdefault(name, place)
    return found


def with_packaged_formats(definition: Definition) -> Definition:
    """Write into a definition which formats of installed packages it names; their code is not loaded for that."""
    unknown = unknown_formats(definition.parameters)
    brought = packaged_formats() if unknown else {}
    formats = {name: definition.formats.get(name, "") for name in sorted(unknown) if name in brought}
    return definition if formats == dict(definition.formats) else replace(definition, formats=formats)


async def format_problems(definition: Definition, params: Mapping[str, Any], ask: Ask) -> list[Problem]:
    """Hold params that are ready against the formats of `definition.formats`.

    Args:
        ask: says of each text whether it has its format.
    Returns:
        Every mistake, at most 100; empty when there is none.
    Raises:
        FormatUncheckedError: there is too much to check.
    """
    known: dict[tuple[str, str], bool] = {}
    given = params if isinstance(params, dict) else dict(params)
    for _ in range(ROUNDS):  # what a union says of one text may bring another one into play
        missing: dict[tuple[str, str], None] = {}
        checks = {name: _check(name, known, missing) for name in definition.formats}
        errors = errors_of(validator_with(definition.parameters, checks), given, limit=PROBLEMS_LIMIT)
        if not missing:
            return in_order(each for error in errors for each in _told(definition, error))[:PROBLEMS_LIMIT]
        texts = list(missing)
        if len(texts) > TEXTS_LIMIT or sum(len(text) for _name, text in texts) > LETTERS_LIMIT:
            raise FormatUncheckedError(f"more texts need a check than {TEXTS_LIMIT}, or they are too long")
        known |= dict(zip(texts, await ask(texts), strict=True))
    raise FormatUncheckedError("the schema asks for ever more texts to be checked")


def _check(
    name: str, known: Mapping[tuple[str, str], bool], missing: dict[tuple[str, str], None]
) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        key = (name, text)
        if key not in known:
            missing[key] = None
        return known.get(key, True)

    return check


def _told(definition: Definition, error: Any) -> Iterator[Problem]:
    """Put an error into our words; the author's are for what a text must be."""
    own = definition.formats.get(error.kind.format, "") if keyword_of(error) == "format" else ""
    for problem in problems_of(error, hides=hider(sensitive_of(definition))):
        if own:
            usual = f"must be {FORMATS.meaning(error.kind.format)}"
            problem = {**problem, "message": problem["message"].replace(usual, f"must be {own}", 1)}
        yield problem

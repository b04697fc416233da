"""What Python tools say of themselves, checked: from the answers of `host.py` to `Found`."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast, get_args

from apps.firewall.tools.admission import admit_definition
from apps.firewall.tools.authoring.formats import MEANING_LETTERS
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError, definition_problems
from apps.firewall.tools.discovery.found import Failure, Found, Stage
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.own_formats import unknown_formats
from apps.firewall.tools.python_tools import Described, Place
from apps.firewall.tools.remote_json import plain_text

PERMISSION: Final = re.compile(r"[a-z][a-z0-9_.-]*(:[a-z0-9_.*-]+){0,3}")
ATTRIBUTE: Final = re.compile(r"\w[\w.]{0,199}|")
OFFERS_LIMIT: Final = 200
AT_ONCE: Final = 16
"""Descriptions that are read before others of the event loop have their turn."""


async def found_in(described: AsyncIterator[Described], *, source: str, trusts_code: bool = False) -> tuple[Found, ...]:
    """Check what places answered; of two tools with one name the first is kept.

    Args:
        trusts_code: their code is not pinned.
        source: its key, for tools whose settings name a secret.
    """
    found: list[Found] = []
    names: dict[str, str] = {}
    async for number, each in _numbered(described):
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
        for one in _of_place(each.place, each.answer, source):
            if each.code is not None and isinstance(one.executor, PythonExecutor) and not trusts_code:
                executor = replace(one.executor, code=each.code.digest)
                one = replace(one, executor=executor, code=each.code.texts)
            name = one.definition.name if one.definition and one.failure is None else ""
            if name and name in names:
                message = f"the name `{name}` is taken by {names[name]}"
                one = replace(one, failure=Failure(stage="verify", code="name_taken", message=message))
            elif name:
                names[name] = f"`{one.key}`"
            found.append(one)
    return tuple(found)


async def _numbered(described: AsyncIterator[Described]) -> AsyncIterator[tuple[int, Described]]:
    number = 0
    async for each in described:
        number += 1
        yield number, each


def _of_place(place: Place, answer: Mapping[str, Any], source: str) -> list[Found]:
    place = replace(place, key=printable(place.key))
    if "failure" in answer:
        return [Found(key=place.key, failure=_failure(answer["failure"]), facts=place.facts)]
    offers = answer.get("offers")
    if not isinstance(offers, list) or not offers or not all(isinstance(each, dict) for each in offers):
        return [_broken(place, place.key, "discover", "bad_answer", "the process that describes it sent rubbish")]
    if len(offers) > OFFERS_LIMIT:
        message = f"it offers {len(offers)} tools, {OFFERS_LIMIT} are allowed"
        return [_broken(place, place.key, "discover", "too_many_tools", message)]
    if place.name and len(offers) > 1:
        message = f"it offers {len(offers)} tools, and one name is given for them"
        return [_broken(place, place.key, "verify", "too_many_tools", message)]
    return [_of_offer(place, offer, source, is_single=len(offers) == 1) for offer in offers]


def _of_offer(place: Place, offer: Mapping[str, Any], source: str, *, is_single: bool) -> Found:
    attribute = str(offer.get("attribute", ""))
    if not ATTRIBUTE.fullmatch(attribute):
        return _broken(place, place.key, "discover", "bad_answer", f"`{printable(attribute[:100])}` is no attribute")
    key = place.key if place.attribute else f"{place.key}:{attribute}"
    if "failure" in offer:
        return Found(key=key, failure=_failure(offer["failure"]), facts=place.facts)
    document = offer.get("definition")
    if not is_single and isinstance(document, Mapping):
        key = f"{place.key}:{attribute}:{printable(str(document.get('name', ''))[:128])}" if place.attribute else key
    try:
        definition = _definition(place, document)
    except DefinitionInvalidError as exc:
        return _broken(place, key, "verify", exc.code, _listed(exc))
    bad = [each for each in definition.permissions if not PERMISSION.fullmatch(each)]
    if bad:
        message = f"`{bad[0]}` is no name of a permission: write it as `db:read`"
        return _broken(place, key, "verify", "bad_permission", message)
    executor = PythonExecutor(
        attribute=attribute,
        module=place.module,
        file=place.file,
        folder=place.folder,
        source=source if place.stored_config else "",
    )
    return Found(key=key, definition=definition, executor=executor, facts=place.facts)


def _definition(place: Place, document: Any) -> Definition:
    definition = _with_checked_formats(admit_definition(document, is_described=True))
    changes: dict[str, Any] = {"config": place.stored_config} if place.stored_config else {}
    if place.name:
        changes["name"] = place.name
    if changes:
        definition = replace(definition, **changes)
        problems = definition_problems(definition)
        if problems:
            raise DefinitionInvalidError(problems[0]["message"], problems)
    return definition


def _with_checked_formats(definition: Definition) -> Definition:
    """Take from the process, which says what it wants, the formats that the schema names, and short words for each."""
    if not definition.formats:
        return definition
    named = unknown_formats(definition.parameters)
    formats = {name: plain_text(words, MEANING_LETTERS) for name, words in definition.formats.items() if name in named}
    return replace(definition, formats=formats)


def _listed(exc: DefinitionInvalidError) -> str:
    return "; ".join(f"{each['path']}: {each['message']}" for each in exc.details[:10])[:1000]


def _failure(told: Any) -> Failure:
    """Read a failure that comes from the child: hostile like everything else of it."""
    members = told if isinstance(told, Mapping) else {}
    stage = members.get("stage")
    code = str(members.get("code", ""))
    return Failure(
        stage=cast(Stage, stage if stage in get_args(Stage) else "load"),
        code=code if re.fullmatch(r"[a-z][a-z0-9_]{0,63}", code) else "load_failed",
        message=printable(str(members.get("message", ""))[:1000]),
    )


def printable(text: str) -> str:
    """Replace what cannot be shown or stored."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _broken(place: Place, key: str, stage: Stage, code: str, message: str) -> Found:
    return Found(key=key, failure=Failure(stage=stage, code=code, message=message), facts=place.facts)

"""A call's params on their way to the tool: every mistake at once, each in words that let a model correct itself.

Structure, type, constraint, semantics: the validator looks at all four in one pass, and `mistakes.py` says which one a
mistake belongs to. A valid call costs that one pass.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from apps.firewall.tools.aliases import MANNERS, manner_of, missing_groups
from apps.firewall.tools.defaults import Filler, filler_of
from apps.firewall.tools.definition import Definition, JsonObject, schema_digest
from apps.firewall.tools.formats import FORMATS, PATH_FORMATS, paths_within
from apps.firewall.tools.injection import inject, without_facts
from apps.firewall.tools.mending import drop_warnings, mend
from apps.firewall.tools.misspelt import Spelling
from apps.firewall.tools.mistakes import FAILED, Hides, Problem, in_order, model_error, path_text, pointer, problems_of
from apps.firewall.tools.paths import PathRefusedError
from apps.firewall.tools.schema_walk import mentions, properties
from apps.firewall.tools.sensitive import hider, sensitive_places
from apps.firewall.tools.transform import Places, places_of, transform
from apps.firewall.tools.validators import Errors, SchemaError, SchemaParts, Validator, errors_of, validator_of

__all__ = [
    "FAILED",
    "Prepared",
    "Problem",
    "SchemaError",
    "check_params",
    "may_take_long",
    "model_error",
    "needs_folders",
    "path_text",
    "pointer",
    "prepare_params",
    "sensitive_of",
]

PROBLEMS_LIMIT: Final = 100
SMALL: Final = 2_000
CACHED_PLANS: Final = 4096
_TOO_DEEP: Final = "the tool's schema cannot be used: it is nested too deeply"
_NOT_TEXT: Final = "the parameters hold half of a character, which is no text"


class Prepared(NamedTuple):
    """A call's params as the tool will get them, or all that is wrong with them.

    Attributes:
        params: coerced, filled and transformed; as they were sent when there are problems.
        warnings: what was left out or replaced and the caller should know, each `{"path", "code", "message"}`.
        problems: every mistake, at most 100, each `{"path", "code", "message"}`; empty when the call may go on.
    """

    params: dict[str, Any]
    warnings: list[Problem]
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a definition asks for, found out once.

    Args:
        schema: with what `extra_params` makes of it.
        is_ready: says whether a call is ready as it is; None where a valid call may need more.
        fill: fills in defaults; None where there are none.
        places: finds values that have to be brought into a form; None where there are none.
        has_paths: some value may be a path, so folders must be known.
        drops: fields that the schema forbids are left out, not refused.
        version: of the formats when this was found out.
    """

    definition: Definition
    schema: JsonObject
    validator: Validator
    parts: SchemaParts
    is_ready: Callable[[dict[str, Any]], bool] | None
    is_file_tool: bool
    fill: Filler | None
    places: Places | None
    has_paths: bool
    drops: bool
    sensitive: tuple[str, ...]
    version: int


_plans: dict[int, Plan] = {}
"""Identity of a definition -> its plan, which keeps the definition so that no other can take its identity."""


def prepare_params(
    definition: Definition,
    params: Mapping[str, Any],
    *,
    release: str = "2026.9",
    facts: Mapping[str, Any] | None = None,
    folders: Sequence[str] = (),
) -> Prepared:
    """Make a call's params ready for their tool: coerce, check, fill in defaults and facts, bring into form.

    Preparing what was prepared changes nothing.

    Args:
        release: the dialect in which a model speaks to file tools.
        facts: what is known of the caller, by the names in `injection.FACTS`.
        folders: absolute paths that paths in params may lead into; needed where `needs_folders` says so.
    Raises:
        SchemaError: the tool's own schema is broken.
    """
    plan = _plans.get(id(definition))
    if plan is None or plan.version != FORMATS.version:
        plan = _plan(definition)
    given = params if type(params) is dict else dict(params)
    try:
        if plan.is_ready is not None and plan.is_ready(given):
            return tuple.__new__(Prepared, (given, [], []))  # half the time of naming its members
        with paths_within(tuple(folders)) if plan.has_paths else nullcontext():
            return _prepared(plan, given, release, facts or {})
    except UnicodeEncodeError:
        return Prepared(given, [], [{"path": "", "code": "type_mismatch", "message": _NOT_TEXT}])


def needs_folders(definition: Definition) -> bool:
    """Say whether params of this tool may be paths, for which `prepare_params` must know the allowed folders.

    Raises:
        SchemaError: the tool's own schema is broken.
    """
    return _plan(definition).has_paths


def may_take_long(params: Any) -> bool:
    """Say whether params are so large that making them ready could hold up others."""
    left, waiting = SMALL, [params]
    while waiting and left > 0:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
            left -= len(value)
        elif isinstance(value, list):
            waiting.extend(value)
            left -= len(value)
        elif isinstance(value, str):
            left -= len(value) // 16
    return left <= 0


def sensitive_of(definition: Definition) -> tuple[str, ...]:
    """Name the params that are masked everywhere but on their way to the tool: names, and places such as `auth.pin`.

    Raises:
        SchemaError: the schema is nested too deeply to tell.
    """
    known = _plans.get(id(definition))
    try:
        return sensitive_places(definition) if known is None else known.sensitive
    except RecursionError as exc:
        raise SchemaError(_TOO_DEEP) from exc


def check_params(schema: JsonObject, params: Mapping[str, Any], *, digest: str | None = None) -> list[Problem]:
    """Compare parameters with a tool's JSON Schema as they are.

    Args:
        digest: identity of the schema (`schema_digest`), when the caller has it at hand.
    Returns:
        All mistakes, at most 100, each `{"path", "code", "message"}`, by path; empty when there is none.
    Raises:
        SchemaError: the schema itself is broken.
    """
    validator = validator_of(schema, digest)
    given = params if isinstance(params, dict) else dict(params)
    if validator.is_valid(given):
        return []
    problems = _problems(errors_of(validator, given, limit=PROBLEMS_LIMIT), hides=hider(()))
    return list(Spelling(schema, given).hinted(problems))


def _problems(errors: Errors, *, hides: Hides) -> list[Problem]:
    problems: list[Problem] = []
    for error in errors:
        problems.extend(problems_of(error, hides=hides))
        if len(problems) >= PROBLEMS_LIMIT:
            break
    return in_order(problems)[:PROBLEMS_LIMIT]


def _plan(definition: Definition) -> Plan:
    known = _plans.get(id(definition))
    if known is not None and known.version == FORMATS.version:
        return known
    try:
        plan = _made_plan(definition)
    except RecursionError as exc:
        raise SchemaError(_TOO_DEEP) from exc
    if len(_plans) >= CACHED_PLANS:
        _plans.clear()
    _plans[id(definition)] = plan
    return plan


def _made_plan(definition: Definition) -> Plan:
    version = FORMATS.version
    schema = _with_extras(definition)
    is_same = schema is definition.parameters
    is_file_tool = any(manner_of(definition.name, properties(schema), release) for release in MANNERS)
    validator = validator_of(schema, definition.schema_digest if is_same else schema_digest(schema))
    fill, places = filler_of(schema), places_of(schema, validator)
    is_plain = not (fill or places or is_file_tool or definition.context_mappings)
    return Plan(
        definition=definition,
        schema=schema,
        validator=validator,
        parts=SchemaParts(schema),
        is_ready=validator.is_valid if is_plain else None,
        is_file_tool=is_file_tool,
        fill=fill,
        places=places,
        has_paths=mentions(schema, "format", frozenset(PATH_FORMATS)) > 0,
        drops=definition.extra_params != "refuse",
        sensitive=sensitive_places(definition),
        version=version,
    )


def _with_extras(definition: Definition) -> JsonObject:
    """Give the schema with what the definition says about params that it does not name."""
    schema = definition.parameters
    if definition.extra_params is None:
        return schema
    rules = {name: schema[name] for name in ("additionalProperties", "unevaluatedProperties") if name in schema}
    forbids = any(rule is False for rule in rules.values())
    if forbids is (definition.extra_params != "keep"):
        return schema
    left = {name: value for name, value in schema.items() if name not in rules or isinstance(value, Mapping)}
    if definition.extra_params == "keep":
        return left
    return {**left, "unevaluatedProperties": False}


def _prepared(plan: Plan, sent: dict[str, Any], release: str, facts: Mapping[str, Any]) -> Prepared:
    manner = manner_of(plan.definition.name, properties(plan.schema), release) if plan.is_file_tool else None
    params = sent if manner is None else manner.rewrite(sent)
    mappings = plan.definition.context_mappings
    params, warnings = inject(mappings, params, facts) if mappings else (params, [])
    params, dropped, errors = _mended(plan, params)
    spelling = Spelling(plan.schema, sent, hidden=mappings)
    if dropped:
        warnings += drop_warnings(dropped, spelling)
    problems = _problems(errors, hides=hider(plan.sensitive)) if errors else []
    if manner is not None:
        known = {problem["path"] for problem in problems}
        problems += [missing for missing in missing_groups(manner, params) if missing["path"] not in known]
    if problems:
        hinted = spelling.hinted(problems, told=warnings)
        return Prepared(sent, warnings, in_order(without_facts(problem, mappings) for problem in hinted))
    if plan.places is None:
        return Prepared(params, warnings, [])
    try:
        return Prepared(transform(plan.validator, params, plan.places), warnings, [])
    except PathRefusedError as exc:  # something moved since the path was found valid
        return Prepared(sent, warnings, [{"path": "", "code": "invalid_format", "message": f"a path {exc.message}"}])


def _mended(plan: Plan, params: dict[str, Any]) -> tuple[dict[str, Any], list[Any], Errors]:
    """Fill in defaults and mend what is wrong; defaults that make valid params invalid are left out."""
    filled = plan.fill(params) if plan.fill is not None else params
    if plan.validator.is_valid(filled):
        return filled, [], []
    if filled is not params and plan.validator.is_valid(params):
        return params, [], []
    mended = mend(plan.validator, filled, parts=plan.parts, drops=plan.drops)
    document: dict[str, Any] = mended.document
    if not mended.errors and plan.fill is not None:
        # A text that was JSON may have brought objects whose members have defaults of their own.
        again = plan.fill(document)
        document = again if plan.validator.is_valid(again) else document
    return document, mended.dropped, mended.errors

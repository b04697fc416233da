"""The members of a definition that authors may state beside a function or in a class."""

import inspect
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, Literal, TypedDict

from apps.firewall.tools.authoring.errors import AuthoringError


class Members(TypedDict, total=False):
    """Everything but the code: the members of `Definition`, with `timeout` in seconds as a second spelling."""

    name: str
    label: str
    description: str
    section: str
    parameters: Mapping[str, Any]
    owner_only: bool
    output: Mapping[str, Any]
    version: str
    author: str
    category: str
    tags: Sequence[str]
    dependencies: Sequence[str]
    permissions: Sequence[str]
    resources: Mapping[str, str | Sequence[str]]
    rate_limit: Mapping[str, int]
    timeout: float
    timeout_ms: int
    result_limit: int
    retry: Mapping[str, Any]
    retry_policy: Mapping[str, Any]
    examples: Sequence[Mapping[str, Any]]
    sensitive: Sequence[str]
    context_mappings: Mapping[str, str]
    execution_mode: Literal["parallel", "sequential"]
    idempotent: bool
    cache: Mapping[str, Any]
    sandbox: Mapping[str, Any]
    extra_params: Literal["keep", "drop", "refuse"]
    successor: str
    catalog_mode: Literal["searchable", "direct_only"]


NAMES: Final = frozenset(Members.__annotations__)
OF_BASE: Final = frozenset({"context", "config"})
NEARLY: Final = 0.85
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def checked_members(members: Mapping[str, Any], of: str) -> dict[str, Any]:
    """Return members as a dict.

    Raises:
        AuthoringError: one has a name that no definition has; a misspelt `permisions` must not vanish.
    """
    unknown = sorted(set(members) - NAMES)
    if unknown:
        raise AuthoringError(f"`{of}`: a definition has no member {', '.join(f'`{each}`' for each in unknown)}")
    return dict(members)


def members_of_class(owner: type) -> dict[str, Any]:
    """Collect the members that a class states as attributes; methods and properties are none.

    Raises:
        AuthoringError: an attribute is nearly spelt like a member; one that begins with `_` never is meant so.
    """
    _refuse_misspelt(owner)
    found = {}
    for name in NAMES:
        value = inspect.getattr_static(owner, name, None)
        if value is not None and not callable(value) and not isinstance(value, property):
            found[name] = value
    return found


def _refuse_misspelt(owner: type) -> None:
    for name in {name for each in owner.__mro__ for name in vars(each) if each is not object}:
        value = inspect.getattr_static(owner, name, None)
        if name in NAMES or name in OF_BASE or name.startswith("_") or callable(value):
            continue
        meant = get_close_matches(name, NAMES, n=1, cutoff=NEARLY)
        if meant:
            raise AuthoringError(
                f"`{owner.__name__}`: a definition has no member `{name}`; did you mean `{meant[0]}`? An attribute of "
                f"your own begins with `_`"
            )


def name_of_class(class_name: str) -> str:
    """Name a tool after its class: `GetWeatherTool` is `get_weather`."""
    plain = class_name.removesuffix("Tool") or class_name
    return _WORD_START.sub("_", plain).lower()

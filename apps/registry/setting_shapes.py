"""What is wrong with the value of a setting, by its shape."""

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.tools.connections import Problem
from apps.registry.config_settings import config_problems, is_reference

TEXT_LIMIT: Final = 4000
LIST_LIMIT: Final = 100


def setting_problem(path: str, code: str, message: str) -> Problem:
    """Write one mistake."""
    return {"path": path, "code": code, "message": message}


def _text(value: Any, path: str) -> list[Problem]:
    if not isinstance(value, str) or len(value) > TEXT_LIMIT or "\0" in value:
        return [
            setting_problem(path, "bad_type", _("must be a text of at most %(limit)s letters") % {"limit": TEXT_LIMIT})
        ]
    return []


def _url(value: Any, path: str) -> list[Problem]:
    problems = _text(value, path)
    if not problems and not value.lower().startswith(("https://", "http://")):
        problems.append(setting_problem(path, "bad_value", _("must begin with https:// or http://")))
    return problems


def _path(value: Any, path: str) -> list[Problem]:
    problems = _text(value, path)
    if not problems and (not value.startswith("/") or posixpath.normpath(value) != value.rstrip("/")):
        problems.append(setting_problem(path, "bad_value", _("must be an absolute path without `..`")))
    return problems


def _list_of(shape: Callable[[Any, str], list[Problem]]) -> Callable[[Any, str], list[Problem]]:
    def check(value: Any, path: str) -> list[Problem]:
        if not isinstance(value, list) or len(value) > LIST_LIMIT:
            return [setting_problem(path, "bad_type", _("must be a list of at most %(limit)s") % {"limit": LIST_LIMIT})]
        return [problem for at, each in enumerate(value) for problem in shape(each, f"{path}[{at}]")]

    return check


def _number(value: Any, path: str) -> list[Problem]:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return [] if is_number else [setting_problem(path, "bad_type", _("must be a whole number"))]


def _flag(value: Any, path: str) -> list[Problem]:
    return [] if isinstance(value, bool) else [setting_problem(path, "bad_type", _("must be true or false"))]


def _named(value: Any, path: str) -> list[Problem]:
    if not isinstance(value, Mapping) or len(value) > LIST_LIMIT:
        return [setting_problem(path, "bad_type", _("must be an object of texts"))]
    return [
        problem for name, each in value.items() if not is_reference(each) for problem in _text(each, f"{path}.{name}")
    ]


def _counts(value: Any, path: str) -> list[Problem]:
    if not isinstance(value, Mapping) or len(value) > LIST_LIMIT:
        return [setting_problem(path, "bad_type", _("must be an object of whole numbers"))]
    return [problem for name, each in value.items() for problem in _number(each, f"{path}.{name}")]


SHAPES: Final[Mapping[str, Callable[[Any, str], list[Problem]]]] = {
    "text": _text,
    "url": _url,
    "path": _path,
    "paths": _list_of(_path),
    "texts": _list_of(_text),
    "number": _number,
    "numbers": _list_of(_number),
    "counts": _counts,
    "flag": _flag,
    "named": _named,
    "signing": _named,
    "config": config_problems,
}
"""Shape of a setting -> what is wrong with a value."""

"""Argument profiles of safe programs as people write them, one program a line.

`jq: words 0-1, values -f --arg, switches -r -c, denied --slurpfile`. A part that is not there says nothing.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

LISTS: Final = {"values": "allowedValueFlags", "switches": "allowedBooleanFlags", "denied": "deniedFlags"}
COUNTS: Final = ("minPositional", "maxPositional")
LINES_LIMIT: Final = 500
MOST: Final = 1000
_WORDS: Final = re.compile(r"(?P<least>[0-9]{1,4})(?P<to>-(?P<most>[0-9]{1,4})?)?")


class ProfilesField(forms.CharField):
    """Profiles by program; an empty mapping when nothing is written."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=200_000, required=False, **kwargs)
        self.widget.attrs |= {"rows": 4, "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}

    def to_python(self, value: Any) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        lines = [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]
        if len(lines) > LINES_LIMIT:
            raise forms.ValidationError(_("At most %(number)s lines."), params={"number": LINES_LIMIT})
        found: dict[str, dict[str, Any]] = {}
        for line in lines:
            name, colon, parts = (each.strip() for each in line.partition(":"))
            if not name or not colon:
                raise _refused(_("No program before a colon: %(line)s"), line)
            if name in found:
                raise _refused(_("Named twice: %(line)s"), name)
            found[name] = _profile(parts)
        return found

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return "\n".join(_line(name, profile) for name, profile in value.items())


def profiles_wanted(record: Any, written: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """Tell an absent member from an empty one: what said nothing before and says nothing now stays as it was."""
    before = getattr(record, "safe_bin_profiles", None)
    return written or (None if before else before)


def _profile(parts: str) -> dict[str, Any]:
    profile: dict[str, Any] = {}
    for part in filter(None, (each.strip() for each in parts.split(","))):
        word, *rest = part.split()
        if word == "words" and len(rest) == 1:
            profile |= _counts(rest[0], part)
        elif word in LISTS and rest:
            profile[LISTS[word]] = list(dict.fromkeys([*profile.get(LISTS[word], []), *rest]))
        else:
            raise _refused(_("Not words, values, switches or denied: %(line)s"), part)
    return profile


def _counts(text: str, part: str) -> dict[str, int]:
    match = _WORDS.fullmatch(text)
    if match is None:
        raise _refused(_("Not a number of words, such as 0-2: %(line)s"), part)
    least = int(match["least"])
    most = least if match["to"] is None else None if match["most"] is None else int(match["most"])
    if least > MOST or (most is not None and (most > MOST or most < least)):
        raise _refused(_("Not a number of words, such as 0-2: %(line)s"), part)
    return {"minPositional": least} | ({} if most is None else {"maxPositional": most})


def _line(name: str, profile: Any) -> str:
    given = profile if isinstance(profile, Mapping) else {}
    parts = []
    if any(member in given for member in COUNTS):
        most = given.get("maxPositional")
        parts.append(f"words {given.get('minPositional', 0)}-{'' if most is None else most}")
    parts += [f"{word} {' '.join(map(str, given[member]))}" for word, member in LISTS.items() if given.get(member)]
    return f"{name}: {', '.join(parts)}".rstrip()


def _refused(message: Any, line: str) -> forms.ValidationError:
    return forms.ValidationError(message, params={"line": line})

"""What an answer is not bound to, in words: whoever allows a request takes that risk, and has to know of it."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from apps.firewall.engine.exec_policy.reads import Unbound

LANGUAGES: Final = ("en", "zh-hans")

UNBOUND: Final[Mapping[str, Promise]] = {
    "outside_workspace": _(
        "What `%(text)s` loads from outside the workspace: libraries, settings of the machine, other programs"
    ),
    "decided_at_run": _("What the shell puts in the place of `%(text)s` when it runs"),
    "fetched": _("What `%(text)s` fetches when it runs: the other side may give something else by then"),
    "too_much": _("The files of `%(text)s`: there are too many to look at"),
    "linked_folder": _("The files behind the link `%(text)s`, which leads out of the folder"),
    "stream": _("What comes out of `%(text)s`, which gives other bytes each time"),
    "other_machine": _("Any file: they are on the other machine, and only the words of the command are bound"),
    "tool_reads": _(
        "What the tool `%(text)s` reads when it runs: files, records, answers of servers. Its definition, its own code "
        "and the parameters are bound"
    ),
}
"""Why something is not bound, by code; `text` is what it is about."""


def unbound_kept(unbound: Iterable[Unbound]) -> list[dict[str, str]]:
    """Write what is not bound as a request keeps it."""
    return [{"code": each.code, "text": each.text} for each in unbound]


def unbound_reason(item: Mapping[str, Any]) -> str:
    """Say what is not bound, in the language of the moment."""
    words = UNBOUND.get(str(item.get("code", "")))
    return str(item.get("code", "")) if words is None else str(words) % {"text": item.get("text", "")}


def unbound_shown(kept: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Write what is not bound for programs, with the reason in each language."""
    return [
        {"code": item.get("code", ""), "text": item.get("text", ""), "reason": in_each(partial(unbound_reason, item))}
        for item in kept
    ]


def in_each(words: Callable[[], str]) -> dict[str, str]:
    """Say something in each language, for programs."""
    said = {}
    for language in LANGUAGES:
        with override(language):
            said[language] = words()
    return said

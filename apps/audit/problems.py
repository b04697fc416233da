"""What a walk over the ledger may find, each in one sentence: English for programs and logs, translated for people."""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from django.utils.translation import gettext, gettext_noop

Kind: TypeAlias = Literal[
    "repeated",
    "unlinked",
    "rewritten",
    "changed",
    "content_stray",
    "content_stray.alone",
    "content_changed",
    "purged_back",
    "content_back",
    "head_differs",
    "missing",
    "content_missing",
    "content_missing.span",
    "truncated.end",
    "truncated.head",
    "truncated.beyond",
    "truncated.chain",
    "unknown_chain",
    "beyond_head",
    "witness_ahead",
    "checkpoint_index",
    "statement_missing",
    "statement_unlinked",
    "statement_changed",
    "statement_unreadable",
    "key_unannounced",
    "key_unusable",
    "key_unknown",
    "checkpoint_back",
]
"""Before the dot stands the code; what follows tells sentences of one code apart."""

Params: TypeAlias = Mapping[str, int | str]

SENTENCES: Final[Mapping[Kind, str]] = {
    "repeated": gettext_noop("number %(number)s is there more than once"),
    "unlinked": gettext_noop("it does not follow the entry before it"),
    "rewritten": gettext_noop("a checkpoint signed another entry in its place"),
    "changed": gettext_noop("it does not hash to what it says"),
    "content_stray": gettext_noop("it has content that it did not commit to"),
    "content_stray.alone": gettext_noop("contents belong to no entry: %(contents)s"),
    "content_changed": gettext_noop("its content is not the one that it committed to"),
    "purged_back": gettext_noop("a signed statement says that it was purged"),
    "content_back": gettext_noop("a signed statement says that its content was erased"),
    "head_differs": gettext_noop("its last entry is not the one that its process wrote last"),
    "missing": gettext_noop("after number %(before)s comes number %(after)s"),
    "content_missing": gettext_noop("its content is gone, and no signed statement says why"),
    "content_missing.span": gettext_noop(
        "its content is gone, and no signed statement says why: up to number %(last)s"
    ),
    "truncated.end": gettext_noop("the chain ends at number %(last)s of %(length)s"),
    "truncated.head": gettext_noop("a checkpoint signed an entry that is not there"),
    "truncated.beyond": gettext_noop("a checkpoint signed more entries than its process is said to have"),
    "truncated.chain": gettext_noop("checkpoints signed this chain, and nothing of it is there"),
    "unknown_chain": gettext_noop("no process is known to have written this chain"),
    "beyond_head": gettext_noop("it stands after the last entry that its process wrote"),
    "witness_ahead": gettext_noop("the witness %(name)s was told of it, and it is not here"),
    "checkpoint_index": gettext_noop("it is said to be signed further than it is"),
    "statement_missing": gettext_noop("after statement %(before)s comes %(after)s"),
    "statement_unlinked": gettext_noop("it does not follow the statement before it"),
    "statement_changed": gettext_noop("it is not the one that was signed"),
    "statement_unreadable": gettext_noop("it cannot be read"),
    "key_unannounced": gettext_noop("it is signed by a key that no statement names"),
    "key_unusable": gettext_noop("the key in use cannot be read: %(why)s"),
    "key_unknown": gettext_noop("the key in use is not the one that signed the last statement"),
    "checkpoint_back": gettext_noop("it signs a chain that has become shorter"),
}


def code_of(kind: Kind) -> str:
    """Give the code of a kind, as programs know it."""
    return kind.partition(".")[0]


def told_in_english(kind: Kind, params: Params) -> str:
    return SENTENCES[kind] % params


def told_to_people(problem: Mapping[str, Any]) -> str:
    """Give the sentence of a kept problem in the language of whoever reads it.

    Args:
        problem: as `Verification.to_json` wrote it; one of an earlier release has its English sentence only.
    """
    sentence = SENTENCES.get(problem.get("kind", ""))
    return str(problem["message"]) if sentence is None else gettext(sentence) % problem["params"]


def place_to_people(problem: Mapping[str, Any]) -> str:
    """Name where a kept problem is, in the language of whoever reads it."""
    if problem.get("chain") != "" or not problem.get("number"):
        return str(problem["place"])
    return gettext("statement #%(number)s") % {"number": problem["number"]}

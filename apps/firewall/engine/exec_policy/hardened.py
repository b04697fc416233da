"""Whether an entry of `safeBins` can count: it needs a profile, and a program that runs code a hard one.

Source: conformance README, `exec_approval.jsonl`, dump rows `interpreter_like` and `never_safe_bins`.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.tables import exec_tables
from apps.firewall.engine.names import fold

Trouble = Literal["never_safe", "no_profile", "interpreter_unprofiled", "interpreter_not_hardened"]

INTERPRETERS: Final = names(
    "python python2 python3 pypy pypy3 node nodejs bun deno awk gawk mawk nawk ruby perl php r rscript julia elixir "
    "iex guile groovy scala scala-cli clojure clj raku perl6 ghc ghci erl werl gdb expect lua osascript find make "
    "gmake sed gsed xargs bash sh zsh dash ksh fish"
)
CODE_OPTIONS: Final = names("-c -e -E -r -p --eval --print --source --command --expression -exec -execdir")


def safe_bin_trouble(name: str, profiles: Mapping[str, Any], *, release: str) -> Trouble | None:
    """Say why an entry of `safeBins` counts for nothing, or for too much; None when it is right.

    A profile is hard when it bounds how many words stand alone, and admits no option that carries code.

    Args:
        profiles: the configured profiles by name, plain JSON; the release has some of its own.
    """
    tables, program = exec_tables(release), fold(name)
    if program in tables.never_safe_bins:
        return "never_safe"
    own = {fold(key): profile for key, profile in profiles.items()}.get(program)
    if program in INTERPRETERS:
        if not isinstance(own, Mapping):
            return "interpreter_unprofiled"
        return None if _is_hard(own) else "interpreter_not_hardened"
    return None if isinstance(own, Mapping) or program in tables.safe_bin_profiles else "no_profile"


def _is_hard(profile: Mapping[str, Any]) -> bool:
    lists = (profile.get(member) or () for member in ("allowedValueFlags", "allowedBooleanFlags"))
    admitted = {each for listed in lists for each in listed}
    return isinstance(profile.get("maxPositional"), int) and not admitted & CODE_OPTIONS

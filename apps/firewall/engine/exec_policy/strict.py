"""Strict inline evaluation: code in the arguments of an interpreter waits for a person, whatever else allows it.

Source: OpenClaw, `tools.exec.strictInlineEval`; here both releases know it.
"""

from typing import Final

from apps.firewall.engine.exec_policy.line import CommandLine, Evidence
from apps.firewall.engine.exec_policy.programs import indirections, plain_name
from apps.firewall.engine.exec_policy.reach import reached

CODE: Final = "inline_code"
CARRIERS: Final = frozenset(["xargs", "make", "gmake"])


def inline_code_in(line: CommandLine, evidence: tuple[Evidence, ...]) -> Evidence | None:
    """Find code that a line hands to an interpreter, also behind wrappers and inside substitutions.

    A line that nobody took apart may hold any: it counts.

    Args:
        evidence: what was found of the program itself, by every name of its file.
    """
    known = next((each for each in evidence if each.code == CODE), None)
    if known is not None:
        return known
    for command in reached(line):
        if not command.argv:
            continue
        name = plain_name(command.argv[0])
        for found in indirections(frozenset([name]), command.argv):
            if found.code == CODE or " " in found.text:  # an option that runs something: `find -exec`
                return Evidence(CODE, found.text)
        if name in CARRIERS or any(plain_name(word) in CARRIERS for word in command.text.split()[:1]):
            return Evidence(CODE, name)
    return Evidence(CODE, line.text[:80]) if line.syntax and line.shell is None else None

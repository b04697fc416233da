"""DECIDES about commands: may this line run, must a person be asked. No process is started here.

`apps.firewall.shell.read_line` reads a line, `rules.exec_rules` says what holds for its agent, `judge.judge` answers.
Between them `analysis` takes the line apart and holds each command against the lists as the releases do, by `tables` of
what they know about programs; `parts` adds what is stricter here, `risks` what a person should look at.
The file system and the shell's grammar are ports; everything else is values in, values out.
"""

from apps.firewall.engine.exec_policy.allowlist import AllowEntry, FileSystem
from apps.firewall.engine.exec_policy.calls import rules_of_call
from apps.firewall.engine.exec_policy.hosts import ExecHostError
from apps.firewall.engine.exec_policy.judge import ExecVerdict, Where, judge
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence
from apps.firewall.engine.exec_policy.parts import Part
from apps.firewall.engine.exec_policy.rules import ExecRules, exec_rules

__all__ = [
    "AllowEntry",
    "CommandLine",
    "Evidence",
    "ExecHostError",
    "ExecRules",
    "ExecVerdict",
    "FileSystem",
    "Part",
    "Where",
    "exec_rules",
    "judge",
    "rules_of_call",
]

"""DECIDES about commands: may this line run, must a person be asked. No process is started here.

`apps.firewall.shell.read_line` reads a line, `rules.exec_rules` says what holds for its agent, `judge.judge` answers.
The file system is a port (`allowlist.FileSystem`); everything else is values in, values out.
"""

from apps.firewall.engine.exec_policy.allowlist import AllowEntry, FileSystem
from apps.firewall.engine.exec_policy.judge import ExecVerdict, Where, judge
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence
from apps.firewall.engine.exec_policy.rules import ExecRules, exec_rules

__all__ = [
    "AllowEntry",
    "CommandLine",
    "Evidence",
    "ExecRules",
    "ExecVerdict",
    "FileSystem",
    "Where",
    "exec_rules",
    "judge",
]

"""READS commands: turns a line into the dataclasses that engine.exec_policy judges, and looks into the scripts it names.

`bleed.preflight` finds a shell's language in Python or JavaScript. Runs nothing, decides nothing.
"""

from apps.firewall.shell.words import read_line

__all__ = ["read_line"]

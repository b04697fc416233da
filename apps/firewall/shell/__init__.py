"""READS commands: turns a line into the dataclasses that engine.exec_policy judges. Runs nothing, decides nothing.

`grammar` reads a line as bash does, `scanner` as OpenClaw 2026.2 did; `reader` hands both to the engine's port.
`bleed.preflight` looks into the scripts that a line names, for a shell's language in Python or JavaScript.
"""

from apps.firewall.shell.words import read_line

__all__ = ["read_line"]

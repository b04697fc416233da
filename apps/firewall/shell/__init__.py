"""READS commands: turns a line into the dataclasses that engine.exec_policy judges. Runs nothing, decides nothing."""

from apps.firewall.shell.words import read_line

__all__ = ["read_line"]

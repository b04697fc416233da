"""What tests of tools import: `from openclaw_admin.testing import run_tool` (docs/writing-tools.md)."""

from apps.firewall.runtime.kit import ToolAnswer, ToolKit, ToolNotReadyError, run_tool

__all__ = ["ToolAnswer", "ToolKit", "ToolNotReadyError", "run_tool"]

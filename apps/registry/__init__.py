"""WHAT EXISTS: plugins, tools, tool groups of each environment. No views."""

"""EXECUTES: orders the stages of a call and talks to the world through ports that a door fills.

`invoke.invoke(call, ports)` takes a call through every stage; `invoke.resume(...)` runs one that a person allowed.
Knows no Django, no HTTP and no database; `testing.py` has fakes of all ports, for tests and for authors of tools.
"""

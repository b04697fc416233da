"""HOLDS commands that nobody waits for: what they said, the way to them, and what a tool asks of whoever keeps them.

- `transcript`: the end of what a command said, bounded; `view`: a masked copy of it that can be read by position.
- `held`: one command with its task; `ports`: who keeps it, filled by the gateway.
- `starting`: runs a command until it ends or its time in the foreground is over; `keys`: what is typed at a terminal.

Here is no record and no policy. May import sandbox, redaction and the other modules of tools.
"""

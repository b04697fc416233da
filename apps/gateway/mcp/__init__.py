"""MCP SERVER: `/api/v1/mcp`, where any client of the Model Context Protocol is an agent's program.

- `door`: what one HTTP request is: whose, of which run; the protocol itself is the `mcp` package's.
- `joining`: which run a client means, read from the address it was given.
- `server`: the methods that we answer; `calling`: one call of a tool, and how its client hears of it.
- `answers`: what became of a call, in the protocol's words.

Nothing of a client is kept in the process: its session is a run, and the run's row says all. Decides nothing: what is
listed is the run's surface, and what is called goes through the runtime like every other call.
"""

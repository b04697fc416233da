"""Plain ASGI endpoints for agents: decisions, calls, waiting. No Django request handling."""

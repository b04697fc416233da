"""An MCP server behind an address (streamable HTTP): converts units.

Run it as `python units_server.py [PORT]`, then register `http://127.0.0.1:PORT/mcp` as a source of kind "MCP server
(address)". An address of this machine has to be allowed: allowed private networks `127.0.0.1/32`. With the environment
variable UNITS_TOKEN it asks for this token.
"""

import os
import sys
from typing import Annotated, Literal

import uvicorn
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

METRES = {"metre": 1.0, "kilometre": 1000.0, "mile": 1609.344, "foot": 0.3048, "inch": 0.0254}
Unit = Literal["metre", "kilometre", "mile", "foot", "inch"]

server = MCPServer("units", title="Units", version="1.0", instructions="Lengths only.")


class Length(BaseModel):
    """A converted length."""

    value: float
    unit: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True))
def length_convert(
    value: Annotated[float, Field(description="The length to convert.")],
    unit: Annotated[Unit, Field(description="What the length is given in.")],
    to: Annotated[Unit, Field(description="What it shall be given in.")],
) -> Length:
    """Convert a length from one unit to another."""
    return Length(value=round(value * METRES[unit] / METRES[to], 9), unit=to)


def with_token(application: ASGIApp, token: str) -> ASGIApp:
    """Let only those in who know the token."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and Request(scope).headers.get("authorization") != f"Bearer {token}":
            await JSONResponse({"error": "unauthorized"}, status_code=401)(scope, receive, send)
            return
        await application(scope, receive, send)

    return guarded


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    application: ASGIApp = server.streamable_http_app()
    token = os.environ.get("UNITS_TOKEN", "")
    if token:
        application = with_token(application, token)
    uvicorn.run(application, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()

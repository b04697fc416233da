"""What can go wrong between us and an MCP server."""

from apps.firewall.errors import FirewallError


class McpError(FirewallError):
    """A server could not be spoken with, or not any further."""

    code = "mcp_error"


class McpSettingsError(McpError):
    """The settings of a source name no server that could be spoken with."""

    code = "mcp_settings_invalid"


class McpNotStartedError(McpError):
    """The process of a server could not be started, or not be confined."""

    code = "mcp_not_started"


class McpUnreachableError(McpError):
    """The address of a server may not be opened, or nobody answers there."""

    code = "mcp_unreachable"


class McpEndedError(McpError):
    """A server ended, or closed the connection, while something was asked of it."""

    code = "mcp_ended"


class McpTimedOutError(McpError):
    """A server did not answer in time."""

    code = "mcp_timed_out"


class McpProtocolError(McpError):
    """A server sent what is no message, or no answer to what was asked."""

    code = "mcp_protocol_error"


class McpFloodError(McpError):
    """A server sent more than anybody asked for."""

    code = "mcp_flooded"


class McpRefusedError(McpError):
    """A server answered with an error of the protocol: it knows no such tool, or takes no such parameters."""

    code = "mcp_refused"


class McpBusyError(McpError):
    """As many servers as may run are in use."""

    code = "mcp_busy"

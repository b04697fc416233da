"""The tool `db_query`: one question to a database that the source names, in a transaction that may only read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.tools.connections import Connection, fill_secrets
from apps.firewall.tools.connector.errors import ConnectorError, UrlRefusedError
from apps.firewall.tools.connector.hosts import check_host, judged_addresses
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.work import DatabasePlace, Work

ROW_LIMIT: Final = 1_000
TIMEOUT_MS: Final = 10_000
TIMEOUT_CEILING_MS: Final = 60_000
START_S: Final = 15.0
LIMIT_BYTES: Final = 256 * 1024

DEFINITION = Definition(
    name="db_query",
    label="Query a database",
    description=(
        "Ask a PostgreSQL database one question: a single SELECT, VALUES or WITH that changes nothing. Returns columns "
        "and rows; `truncated` says whether there are more."
    ),
    section="memory",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 50000, "description": "One statement of SQL."},
            "database": {
                "type": "string",
                "minLength": 1,
                "maxLength": 100,
                "description": "Name of the database; may be left out where there is only one.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)


def shaped(definition: Definition, connection: Connection) -> Definition:
    """Name the databases of a source in the schema."""
    names = sorted(connection.settings.get("databases") or ())
    properties = dict(definition.parameters["properties"])
    properties["database"] = {**properties["database"], "enum": names}
    if len(names) == 1 and connection.settings.get("permissions"):
        properties["database"]["default"] = names[0]  # so that a call names what it is granted
    required = ["query"] if len(names) == 1 else ["query", "database"]
    return replace(definition, parameters={**definition.parameters, "properties": properties, "required": required})


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    """Ask in a process of its own: neither a huge row nor a hostile server is the service's trouble."""
    settings = work.connection.settings
    databases: Mapping[str, str] = fill_secrets(settings["databases"], work.connection.secrets)
    name = params.get("database") or (next(iter(databases)) if len(databases) == 1 else "")
    if name not in databases:
        return failed("database_unknown", f"there is no database `{name}`: name one of {', '.join(sorted(databases))}")
    if not work.query_program or work.database_places is None:
        return failed("database_unavailable", "this installation cannot ask databases")
    try:
        place = await _judged(work.database_places(databases[name]), work)
    except ConnectorError as exc:
        return failed(exc.code, exc.message)
    timeout_ms = min(int(settings.get("timeout_ms") or TIMEOUT_MS), TIMEOUT_CEILING_MS)
    order = {
        "dsn": databases[name],
        "place": place,
        "query": params["query"],
        "row_limit": int(settings.get("row_limit") or ROW_LIMIT),
        "timeout_ms": timeout_ms,
        "limit_bytes": LIMIT_BYTES,
    }
    return _outcome(await _ask(order, work, time_limit_s=START_S + timeout_ms / 1000))


async def _judged(places: Sequence[DatabasePlace], work: Work) -> dict[str, str]:
    """Give the addresses that may be connected to, each with its host's name for TLS, as libpq takes lists.

    Raises:
        ConnectorError: one of them may not be.
    """
    judged: list[tuple[str, str, str]] = []
    for host, address, port in places:
        if not (host or address) or host.startswith(("/", "@")):
            raise UrlRefusedError("the address of a database must name a host: no socket of this machine is reached")
        if host:
            check_host(host, work.connection.rules)
        for each in await judged_addresses(address or host, work.connection.rules, work.resolve):
            judged.append((host or address, each, port))
    hosts, addresses, ports = zip(*judged, strict=True)
    return {"host": ",".join(hosts), "hostaddr": ",".join(addresses), "port": ",".join(ports)}


async def _ask(order: Mapping[str, Any], work: Work, *, time_limit_s: float) -> ProcessResult:
    return await run_process(
        [work.place.python, "-I", work.query_program],
        cwd=work.place.root,
        env={"LANG": "C.UTF-8", "HOME": work.place.root},
        limits=work.place.limits,
        time_limit_s=time_limit_s,
        output_limit_bytes=8 * LIMIT_BYTES,
        stdin=json.dumps(order).encode(),
        readable=(work.query_program,),
        network=True,
    )


def _outcome(ran: ProcessResult) -> ToolOutcome:
    """Read the answer; a question changes nothing, so that without one the call has simply failed."""
    if ran.ended == "timed_out":
        return failed("query_timed_out", "the database took too long")
    if ran.ended == "memory_limit":
        return failed("result_too_large", "the rows need more memory than the process that reads them may have")
    if ran.ended != "ended" or ran.exit_code != 0 or ran.stdout.dropped:
        return failed("result_too_large" if ran.signal or ran.exit_code else "tool_failed", _why(ran))
    answer = json.loads(ran.stdout.text())
    if "error" in answer:
        return failed(answer["error"]["code"], answer["error"]["message"])
    return ToolOutcome(result=answer["result"])


def _why(ran: ProcessResult) -> str:
    if ran.signal or ran.exit_code:
        return "the process that asks the database broke off: the rows may be too large"
    return f"the database was not asked: {ran.error or ran.ended}"

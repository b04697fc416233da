"""`db_query` on a real PostgreSQL: what it tells, and every way we could think of to do more than read."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from psycopg.conninfo import make_conninfo

from apps.firewall.runtime.executors.hiding import without_secrets
from apps.firewall.tools.discovery.own import look_own
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.work import Work
from apps.gateway.wiring import QUERY_PROGRAM
from apps.registry.databases import database_places
from tests.database import APPLICATION, owner_connection
from tests.firewall.tools.configured.works import code, run, work_in

pytestmark = [pytest.mark.unhurried, pytest.mark.django_db(transaction=True)]
READER = "oca_test_reader"


def address(sign_in: dict[str, Any], **more: str) -> str:
    host = "127.0.0.1" if str(sign_in["HOST"]).startswith("/") else sign_in["HOST"]  # no path leads out of the sandbox
    named = {"user": sign_in["USER"], "password": sign_in["PASSWORD"], "host": host, "port": sign_in["PORT"]}
    values = {name: str(value) for name, value in named.items() if value}
    return make_conninfo(dbname=str(connections["default"].settings_dict["NAME"]), **{**values, **more})


@pytest.fixture
def work(tmp_path: Path, db: None) -> Work:
    return asking(tmp_path, {"main": address(APPLICATION)})


def asking(folder: Path, databases: dict[str, str], **more: Any) -> Work:
    secrets = {f"databases.{name}": dsn for name, dsn in databases.items()}
    named = {name: {"$secret": f"databases.{name}"} for name in databases}
    settings = {"databases": named, "secrets": secrets, "allow_networks": ["127.0.0.0/8", "::1/128"], **more}
    made = work_in(folder, "own_databases", query_program=QUERY_PROGRAM, **settings)
    return replace(made, database_places=database_places)


async def ask(work: Work, query: str, **more: Any) -> ToolOutcome:
    return await run("db_query", work, query=query, **more)


async def test_a_question_is_answered_in_columns_and_rows(work: Work) -> None:
    outcome = await ask(
        work,
        "SELECT n, n * 1.5 AS half, 'é%s' AS text, NULL AS nothing, '2026-01-02'::date AS day, '\\x00ff'::bytea AS raw,"
        " '{\"a\": [1]}'::jsonb AS doc, ARRAY[1, 2] AS list, 'NaN'::float AS odd FROM generate_series(1, 2) n",
    )

    assert outcome.result is not None, outcome
    assert [column["name"] for column in outcome.result["columns"]][:3] == ["n", "half", "text"]
    assert outcome.result["columns"][0]["type"] == "int4"
    assert outcome.result["rows"] == [
        [1, "1.5", "é%s", None, "2026-01-02", "\\x00ff", {"a": [1]}, [1, 2], "nan"],
        [2, "3.0", "é%s", None, "2026-01-02", "\\x00ff", {"a": [1]}, [1, 2], "nan"],
    ]
    assert outcome.result["truncated"] is False


async def test_more_rows_than_the_limit_are_cut_and_said(tmp_path: Path, work: Work) -> None:
    few = asking(tmp_path, {"main": address(APPLICATION)}, row_limit=3)

    outcome = await ask(few, "SELECT generate_series(1, 1000000000)")
    wide = await ask(work, "SELECT repeat('x', 100000) FROM generate_series(1, 10)")

    assert outcome.result is not None and wide.result is not None
    assert (outcome.result["rows"], outcome.result["truncated"]) == ([[1], [2], [3]], True)
    assert (wide.result["count"], wide.result["truncated"]) == (2, True)


CHANGING = {
    "an update": "UPDATE registry_environment SET name = 'x'",
    "a deletion": "DELETE FROM registry_environment",
    "an insertion": "INSERT INTO registry_environment DEFAULT VALUES",
    "a table": "CREATE TABLE x (a int)",
    "a dropped table": "DROP TABLE registry_environment",
    "a copy to a program": "COPY (SELECT 1) TO PROGRAM 'touch /tmp/oca-copied'",
    "a copy from a program": "COPY registry_environment FROM PROGRAM 'echo'",
    "a copy to a file": "COPY (SELECT 1) TO '/tmp/oca-copied'",
    "a change within a question": "WITH x AS (DELETE FROM registry_environment RETURNING *) SELECT * FROM x",
    "an analysed deletion": "EXPLAIN ANALYZE DELETE FROM registry_environment",
    "a table out of a question": "SELECT 1 INTO x",
    "a block of code": "DO $$ BEGIN DELETE FROM registry_environment; END $$",
    "two statements": "SELECT 1; DELETE FROM registry_environment",
    "an end and a beginning": "SELECT 1; COMMIT; BEGIN READ WRITE; DELETE FROM registry_environment",
    "a commit": "COMMIT",
    "a rollback": "ROLLBACK",
    "another transaction mode": "SET TRANSACTION READ WRITE",
    "a setting": "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "a mode by function": "SELECT set_config('transaction_read_only', 'off', false)",
    "a sequence": "SELECT nextval(pg_get_serial_sequence('django_migrations', 'id'))",
    "a locked row": "SELECT * FROM registry_environment FOR UPDATE",
    "a call": "CALL x()",
    "a listener": "LISTEN x",
    "a cursor's end": "SELECT 1) TO STDOUT; --",
    "a comment before another statement": "SELECT 1 /* */; /* */ DELETE FROM registry_environment",
}


@pytest.mark.parametrize("name", CHANGING)
async def test_nothing_is_changed(work: Work, environment: Any, name: str) -> None:
    outcome = await ask(work, CHANGING[name])

    assert outcome.ended == "failed", outcome
    assert code(outcome) in {"query_failed", "write_refused"}
    with owner_connection() as connection:
        kept = connection.execute("SELECT name FROM registry_environment").fetchall()
    assert kept == [(environment.name,)]
    assert not Path("/tmp/oca-copied").exists()


FILES = {
    "a file": "SELECT pg_read_file('/etc/passwd')",
    "a folder": "SELECT pg_ls_dir('/')",
    "a large object of a file": "SELECT lo_import('/etc/passwd')",
    "a large object to a file": "SELECT lo_export(1, '/tmp/oca-copied')",
    "the passwords of roles": "SELECT rolpassword FROM pg_authid",
    "another session": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid <> current_user::regrole",
    "a reloaded configuration": "SELECT pg_reload_conf()",
    "another role": "SELECT set_config('role', 'pg_read_all_data', false)",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.slow
async def test_what_the_server_has_besides_tables_stays_closed(work: Work, name: str) -> None:
    outcome = await ask(work, FILES[name])

    assert outcome.ended == "failed" or (outcome.result or {}).get("rows") == [], outcome


async def test_a_login_that_may_do_more_is_refused(tmp_path: Path, work: Work) -> None:
    with owner_connection() as connection:
        makes_roles = "SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user"
        if connection.execute(makes_roles).fetchone() != (True,):
            pytest.skip("whoever owns this test database may make no roles")
        connection.execute(f"DROP ROLE IF EXISTS {READER}")
        connection.execute(f"CREATE ROLE {READER} LOGIN CREATEROLE PASSWORD 'hush-hush'")
        try:
            maker = asking(tmp_path, {"main": address(APPLICATION, user=READER, password="hush-hush")})
            outcome = await ask(maker, "SELECT 1")
        finally:
            connection.execute(f"DROP ROLE {READER}")

    assert code(outcome) == "role_too_powerful"
    assert READER in (outcome.error or {})["message"]


@pytest.mark.parametrize(
    "query",
    ["SELECT pg_sleep(60)", "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)"],
)
async def test_a_question_that_takes_too_long_is_ended_by_the_database(tmp_path: Path, work: Work, query: str) -> None:
    hasty = asking(tmp_path, {"main": address(APPLICATION)}, timeout_ms=500)

    outcome = await ask(hasty, query)

    assert code(outcome) == "query_timed_out"
    with owner_connection() as connection:
        left = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%'").fetchone()
    assert left == (1,)  # the one that counts


@pytest.mark.slow
async def test_rows_too_large_for_their_process_are_that_calls_failure(work: Work) -> None:
    outcome = await ask(work, "SELECT repeat('x', 1000000) FROM generate_series(1, 1000)")

    assert outcome.ended == "failed", outcome
    assert code(outcome) in {"result_too_large", "query_failed", "query_timed_out"}


async def test_a_mistake_is_told_with_its_place(work: Work) -> None:
    outcome = await ask(work, "SELECT nonsense FROM registry_environment")

    assert code(outcome) == "query_failed"
    assert 'column "nonsense" does not exist' in (outcome.error or {})["message"]
    assert "at character" in (outcome.error or {})["message"]


async def test_a_database_is_chosen_by_its_name(tmp_path: Path, work: Work) -> None:
    two = asking(tmp_path, {"main": address(APPLICATION), "away": "postgresql://x:hush-hush@127.0.0.1:9/x"})

    named = await ask(two, "SELECT 1", database="main")
    away = await ask(two, "SELECT 1", database="away")
    neither = await ask(two, "SELECT 1")
    unknown = await ask(two, "SELECT 1", database="postgresql://127.0.0.1/x")

    assert named.ended == "completed"
    assert code(away) == "database_unreachable"
    assert {code(neither), code(unknown)} == {"database_unknown"}
    secrets = tuple(two.connection.secrets.values())
    assert "hush-hush" not in str([without_secrets(each, secrets) for each in (away, neither, unknown)])


async def test_models_see_the_names_of_databases_and_nothing_else_of_them(tmp_path: Path, work: Work) -> None:
    (found,) = (await look_own(work.connection)).found

    assert found.definition is not None
    assert found.definition.parameters["properties"]["database"]["enum"] == ["main"]
    assert found.definition.parameters["required"] == ["query"]
    assert str(APPLICATION["PASSWORD"] or "no password") not in str(found.definition)


@pytest.mark.parametrize("networks", [[], ["10.0.0.0/8"]])
async def test_a_database_that_is_not_public_is_not_connected_to(tmp_path: Path, networks: list[str]) -> None:
    outcome = await ask(asking(tmp_path, {"main": address(APPLICATION)}, allow_networks=networks), "SELECT 1")

    assert code(outcome) == "address_refused"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql:///x",
        "dbname=x",
        "host=/var/run/postgresql dbname=x",
        "host=@abstract dbname=x",
        "service=x",
        "host==",
    ],
)
async def test_a_database_without_a_host_that_can_be_judged_is_refused(tmp_path: Path, dsn: str) -> None:
    assert code(await ask(asking(tmp_path, {"main": dsn}), "SELECT 1")) == "url_refused"


async def test_an_address_beside_the_host_and_each_of_several_hosts_is_judged(tmp_path: Path) -> None:
    for dsn in (
        "host=db.example.com hostaddr=127.0.0.1 dbname=x",
        "host=127.0.0.1,10.0.0.1 port=1,2 dbname=x",
        "postgresql://127.0.0.1:1,192.168.1.1:2/x",
    ):
        outcome = await ask(asking(tmp_path, {"main": dsn}, allow_networks=[]), "SELECT 1")

        assert code(outcome) == "address_refused", dsn


async def test_nothing_that_another_service_says_gets_to_the_agent(tmp_path: Path) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(8)
        writer.write(b"E\x00\x00\x00\x20SFATAL\x00Msecret-banner of a service\x00\x00secret-banner\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        dsn = f"host=127.0.0.1 port={port} user=u password=p dbname=x"
        outcome = await ask(asking(tmp_path, {"main": dsn}), "SELECT 1")

    assert code(outcome) == "database_unreachable"
    assert "secret-banner" not in str(outcome)

"""The tables of a new database at once: what the migrations give to an empty one, written down.

Django renders its models anew for each operation of each migration, which takes a new installation half a minute.
`schema.sql` holds the statements themselves: a database without tables takes them as they are, and `migrate` goes on
with what the file does not know yet. A database with tables is migrated step by step, and so is an empty one when a
migration of the file has changed since.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

PATH = Path(__file__).with_name("schema.sql")
HEAD = "-- Made by `make schema` from these migrations, not for editing."
END = "\n-- ;\n"
DEFINITIONS = ("CREATE ", "ALTER ", "DROP ")
HAS_NOTHING = """
SELECT NOT EXISTS (
    SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = current_schema()
)
"""


def schema_load(connection: BaseDatabaseWrapper) -> bool:
    """Give an empty database its tables, and note the migrations of the file as applied.

    Returns:
        False when the database holds something, or the file is of other migrations; then nothing was changed.
    """
    head, *statements = _read()
    known, present = head.splitlines()[1:], set(_sources(MigrationLoader(connection)))
    if not known or not present.issuperset(known) or not _is_empty(connection):
        return False
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        recorder = MigrationRecorder(connection)
        recorder.ensure_schema()
        for statement in statements:
            cursor.execute(statement)
        for line in known:
            recorder.record_applied(*line.split()[1].split("."))
    return True


def schema_is_current() -> bool:
    """Say whether the file is of all migrations that this tree has."""
    return _read()[0] == _head(MigrationLoader(None))


def schema_write(connection: BaseDatabaseWrapper) -> int:
    """Migrate an empty database step by step, and write down what it was told.

    Returns:
        The number of statements.
    Raises:
        ValueError: the database holds something.
    """
    if not _is_empty(connection):
        raise ValueError("the database holds something already")
    MigrationRecorder(connection).ensure_schema()
    with _noting(connection) as told:
        call_command("migrate", database=connection.alias, interactive=False, verbosity=0, step_by_step=True)
    PATH.write_text(END.join([_head(MigrationLoader(connection)), *told]), encoding="utf-8")
    return len(told)


def _read() -> list[str]:
    return PATH.read_text(encoding="utf-8").split(END) if PATH.exists() else [""]


def _head(loader: MigrationLoader) -> str:
    return "\n".join([HEAD, *_sources(loader)])


def _sources(loader: MigrationLoader) -> list[str]:
    """Name every migration with a digest of its source: one that was changed while it was young counts as another."""
    lines = []
    for app, name in _in_order(loader):
        source = Path(str(import_module(loader.disk_migrations[app, name].__module__).__file__)).read_bytes()
        lines.append(f"-- {app}.{name} {hashlib.sha256(source).hexdigest()[:16]}")
    return lines


def _in_order(loader: MigrationLoader) -> list[tuple[str, str]]:
    """Name every migration, each after those that it depends on."""
    order: dict[tuple[str, str], None] = {}
    for leaf in sorted(loader.graph.leaf_nodes()):
        order |= dict.fromkeys(loader.graph.forwards_plan(leaf))
    return list(order)


def _is_empty(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(HAS_NOTHING)
        return bool(cursor.fetchone()[0])


@contextmanager
def _noting(connection: BaseDatabaseWrapper) -> Iterator[list[str]]:
    """Note each statement that the schema editor gives, and what migrations define past it."""
    told: list[str] = []
    usual: Any = connection.SchemaEditorClass

    class NotingSchemaEditor(usual):  # type: ignore[misc]
        def execute(self, sql: object, params: Sequence[object] | None = ()) -> None:
            text = str(sql) if params is None else connection.ops.compose_sql(str(sql), params)  # type: ignore[attr-defined]
            told.append(text.strip())
            super().execute(text, None)

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        text = sql.strip()
        if text.startswith(DEFINITIONS) and told[-1:] != [text]:
            told.append(text)
        return execute(sql, params, many, context)

    connection.SchemaEditorClass = NotingSchemaEditor
    try:
        with connection.execute_wrapper(note):
            yield told
    finally:
        connection.SchemaEditorClass = usual

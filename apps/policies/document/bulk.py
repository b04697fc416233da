"""Many new records at once, by COPY: several times as fast as INSERT, and the change log sees them all the same."""

import json
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from django.db import connection

from apps.policies.fields import OrderedJSONField
from apps.policies.models.base import PolicyRecord

COPY_FROM = 200
UPDATED_AT_ONCE = 5000


def insert_all(model: type[PolicyRecord], records: Sequence[Any]) -> None:
    """Insert new records in the current transaction."""
    if len(records) < COPY_FROM:
        model._default_manager.bulk_create(records)
        return
    fields = model._meta.concrete_fields
    table = connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(connection.ops.quote_name(field.column or "") for field in fields)
    readers = [_reader(field) for field in fields]
    with connection.cursor() as cursor:
        # The actor of the change log travels with ordinary statements only; it stays for the transaction.
        cursor.execute(f"UPDATE {table} SET version = version WHERE false")  # noqa: S608 - the name of our own table
        with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for record in records:
                copy.write_row([read(record) for read in readers])


def _reader(field: Any) -> Callable[[Any], Any]:
    read = attrgetter(field.attname)
    if isinstance(field, OrderedJSONField):
        return lambda record: field.get_db_prep_value(read(record), connection)
    return read


def update_lists(model: type[PolicyRecord], records: Sequence[Any], lists: Sequence[str]) -> None:
    """Write lists of names and the version of many records in the current transaction, thousands in a statement."""
    table = connection.ops.quote_name(model._meta.db_table)
    columns = [connection.ops.quote_name(name) for name in lists]
    sets = ", ".join(f"{column} = given.{column}" for column in columns)
    types = ", ".join(f"{column} text[]" for column in columns)
    statement = (
        f"UPDATE {table} SET {sets}, version = given.version "  # noqa: S608 - names of our own table
        f"FROM jsonb_to_recordset(%s::jsonb) AS given (id uuid, {types}, version integer) WHERE {table}.id = given.id"
    )
    with connection.cursor() as cursor:
        for start in range(0, len(records), UPDATED_AT_ONCE):
            given = [
                {"id": str(each.pk), "version": each.version, **{name: getattr(each, name) for name in lists}}
                for each in records[start : start + UPDATED_AT_ONCE]
            ]
            cursor.execute(statement, [json.dumps(given)])

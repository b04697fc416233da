"""Many new records at once, by COPY: several times as fast as INSERT, and the change log sees them all the same."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from django.db import connection

from apps.policies.fields import OrderedJSONField
from apps.policies.models.base import PolicyRecord

COPY_FROM = 200


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

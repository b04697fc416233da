"""Rows by the value of one column: the statement is written once, and asked again for each value; rows by a part of
their name."""

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from django.db import connections
from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When
from django.db.models.query import get_related_populators
from django.db.transaction import TransactionManagementError

M = TypeVar("M", bound=Model)


class RowsBy(Generic[M]):
    """Finds the rows that have a value in a column, together with what the queryset reads beside them, in its order.

    Django writes its statement anew each time; for a table of sixty columns that takes longer than the question itself.
    Here each thread writes it once. What the queryset locks stays locked until the transaction ends.

    Args:
        rows: gives the queryset, without a filter of its own; called at the first use.
        column: a field of its model.
    """

    def __init__(self, rows: Callable[[], "QuerySet[M]"], column: str = "pk") -> None:
        self._rows = rows
        self._column = column
        self._kept = threading.local()

    def all(self, value: object) -> list[M]:
        """Give the rows with this value.

        Raises:
            TransactionManagementError: they would be locked, and there is no transaction.
        """
        statement: _Statement[M] | None = getattr(self._kept, "statement", None)
        if statement is None or statement.connection is not connections[statement.connection.alias]:
            self._kept.statement = statement = _Statement(self._rows(), self._column, value)
        return statement.ask(value)

    def one(self, value: object) -> M | None:
        """Give the row with this value, or nothing; the first one in their order where there are several."""
        return next(iter(self.all(value)), None)


class _Statement(Generic[M]):
    """The statement as one connection asks it, and how its answer becomes rows of the model."""

    def __init__(self, rows: "QuerySet[M]", column: str, value: object) -> None:
        query = rows.filter(**{column: value}).query
        self.connection = connections[rows.db]
        compiler: Any = query.get_compiler(connection=self.connection)
        self._sql, values = compiler.as_sql()
        if len(values) != 1:
            raise ValueError("the queryset has a filter of its own")
        self._field: Any = query.where.children[0].lhs.target  # type: ignore[union-attr]
        self._locks = query.select_for_update
        self._compiler = compiler
        shown = compiler.klass_info["select_fields"]
        self._model, self._columns = rows.model, slice(shown[0], shown[-1] + 1)
        self._names = [each[0].target.attname for each in compiler.select[self._columns]]
        populators: Any = get_related_populators  # the stubs are those of a later Django
        self._related = populators(compiler.klass_info, compiler.select, rows.db)
        self._converters = compiler.get_converters([each[0] for each in compiler.select])

    def ask(self, value: object) -> list[M]:
        if self._locks and self.connection.get_autocommit():
            raise TransactionManagementError("rows are locked inside a transaction only")
        with self.connection.cursor() as cursor:
            cursor.execute(self._sql, [self._field.get_db_prep_value(value, self.connection)])
            found = cursor.fetchall()
        return [self._made(row) for row in self._compiler.apply_converters(found, self._converters)]

    def _made(self, row: list[Any]) -> M:
        made = self._model.from_db(self.connection.alias, self._names, row[self._columns])
        for each in self._related:
            each.populate(row, made)
        return made


def named(rows: "QuerySet[M]", columns: Sequence[str], text: str) -> "QuerySet[Any]":
    """Keep the rows of which a column holds a text, in any case; `rank` says where, as `rank_of_name` does."""
    starts, words, holds = Q(), Q(), Q()
    for column in columns:
        starts |= Q(**{f"{column}__istartswith": text})
        words |= Q(**{f"{column}__iregex": "[^[:alnum:]]" + re.escape(text)})
        holds |= Q(**{f"{column}__icontains": text})
    rank = Case(When(starts, then=Value(0)), When(words, then=Value(1)), default=Value(2), output_field=IntegerField())
    return rows.filter(holds).annotate(rank=rank)


def rank_of_name(name: str, text: str) -> int | None:
    """Say where a name holds a text: 0 at its start, 1 at the start of a word, 2 elsewhere, None nowhere."""
    place = name.casefold().find(wanted := text.casefold())
    if place <= 0:
        return None if place < 0 else 0
    return 1 if re.search(rf"[\W_]{re.escape(wanted)}", name.casefold()) else 2

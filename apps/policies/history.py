"""How much each publication changed, counted from the change log."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from apps.policies.kinds import KINDS, event_model
from apps.policies.models import Publication
from apps.registry.models import Environment


def publication_change_counts(environment: Environment, publications: Sequence[Publication]) -> dict[UUID, int]:
    """Count the records that each publication wrote anew since the one before it; a rollback writes none.

    Two statements, however many publications and kinds of records there are.
    """
    wanted = [publication for publication in publications if publication.rollback_of_id is None]
    if not wanted:
        return {}
    numbers = [publication.number - 1 for publication in wanted]
    known = Publication.objects.filter(environment=environment, number__in=numbers)
    marks = dict(known.values_list("number", "log_marks"))
    parts, values = [], []
    for kind, model in KINDS.items():
        table = connection.ops.quote_name(event_model(model)._meta.db_table)
        spans = []
        for place, publication in enumerate(wanted):
            spans.append("(%s::int, %s::bigint, %s::bigint)")
            low = marks.get(publication.number - 1, {}).get(kind, 0)
            values += [place, low, publication.log_marks.get(kind, 0)]
        parts.append(
            f"SELECT span.place, count(DISTINCT e.pgh_obj_id) AS written FROM {table} AS e"  # noqa: S608 - own tables
            f" JOIN (VALUES {', '.join(spans)}) AS span(place, low, high) ON e.pgh_id > span.low AND"
            " e.pgh_id <= span.high WHERE e.environment_id = %s GROUP BY span.place"
        )
        values.append(environment.pk)
    return _counted(wanted, " UNION ALL ".join(parts), values)


def _counted(wanted: Sequence[Publication], union: str, values: Sequence[Any]) -> dict[UUID, int]:
    counts = {publication.pk: 0 for publication in wanted}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT place, sum(written) FROM ({union}) AS each GROUP BY place", values)  # noqa: S608 - as above
        for place, written in cursor.fetchall():
            counts[wanted[place].pk] = int(written)
    return counts

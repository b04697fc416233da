from collections.abc import Iterator
from typing import Any

from django.db import migrations

SCOPES = (
    (("tools", "elevated", "enabled"), "elevated_enabled", lambda value: isinstance(value, bool)),
    (("tools", "elevated", "allowFrom"), "elevated_allow_from", lambda value: isinstance(value, dict)),
)
LEVEL = (
    ("agents", "defaults", "elevatedDefault"),
    "elevated_default",
    lambda value: value in ("off", "on", "ask", "full"),
)
MEMBERS = {"GlobalPolicy": (*SCOPES, LEVEL), "Agent": SCOPES}


def fill(apps: Any, schema: Any) -> None:
    """Move what was kept verbatim into its columns; null stays in its place, which keeps the order of keys."""
    owner = schema.connection.alias  # the application may not read tables that it was not granted yet
    for row, member, holder, key in _places(apps, owner):
        _path, column, fits = member
        if fits(holder[key]):
            setattr(row, column, holder[key])
            holder[key] = None
            row.save(using=owner, update_fields=[column, "extra"])


def empty(apps: Any, schema: Any) -> None:
    """Write the columns back to their places; one that has none gets it at the end."""
    owner = schema.connection.alias
    for name, members in MEMBERS.items():
        for row in apps.get_model("policies", name).objects.using(owner):
            for path, column, _fits in members:
                value = getattr(row, column)
                if value is not None:
                    holder = row.extra
                    for key in path[:-1]:
                        holder = holder.setdefault(key, {})
                    holder[path[-1]] = value
            row.save(using=owner, update_fields=["extra"])


def _places(apps: Any, owner: str) -> Iterator[tuple[Any, Any, dict[str, Any], str]]:
    for name, members in MEMBERS.items():
        for row in apps.get_model("policies", name).objects.using(owner):
            for member in members:
                holder: Any = row.extra
                for key in member[0][:-1]:
                    holder = holder.get(key) if isinstance(holder, dict) else None
                if isinstance(holder, dict) and member[0][-1] in holder:
                    yield row, member, holder, member[0][-1]


class Migration(migrations.Migration):
    dependencies = [("policies", "0005_elevated_of_scopes")]

    operations = [migrations.RunPython(fill, empty, elidable=False)]

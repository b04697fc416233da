"""Core tools that run here by now get their definition and what runs them, where nobody has given them another."""

from django.db import migrations

from apps.firewall.tools.definition import OPEN_SCHEMA
from apps.registry.catalogue import catalogue_of, executor_of_core
from apps.registry.services.lists import row_fields

NEW = ("edit", "apply_patch")
FILLED = ("label", "description", "params_schema", "traits", "executor", "digest")


def fill(apps, schema_editor):
    rows = apps.get_model("registry", "Tool").objects.using(schema_editor.connection.alias)
    open_rows = rows.filter(source="core", name__in=NEW, params_schema=OPEN_SCHEMA).select_related("environment")
    for tool in open_rows.iterator():
        known = {definition.name: definition for definition in catalogue_of(tool.environment.dialect)}
        if tool.name not in known:
            continue
        fields = row_fields(known[tool.name], executor_of_core(tool.name))
        for name in FILLED:
            setattr(tool, name, fields[name])
        tool.save(using=schema_editor.connection.alias, update_fields=FILLED)


class Migration(migrations.Migration):
    dependencies = [("registry", "0005_own_tools")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=False)]

"""`exec` takes variables for its command by now: its rows get the definition that says so."""

from django.db import migrations

from apps.registry.catalogue import catalogue_of, executor_of_core
from apps.registry.services.lists import row_fields

NAME = "exec"
FILLED = ("description", "params_schema", "traits", "digest", "sensitive_fields")


def fill(apps, schema_editor):
    rows = apps.get_model("registry", "Tool").objects.using(schema_editor.connection.alias)
    for tool in rows.filter(source="core", name=NAME).select_related("environment").iterator():
        known = {definition.name: definition for definition in catalogue_of(tool.environment.dialect)}
        fields = row_fields(known[NAME], executor_of_core(NAME))
        fields["sensitive_fields"] = list(dict.fromkeys((*tool.sensitive_fields, *fields["sensitive_fields"])))
        for name in FILLED:
            setattr(tool, name, fields[name])
        tool.save(using=schema_editor.connection.alias, update_fields=FILLED)


class Migration(migrations.Migration):
    dependencies = [("registry", "0008_email_and_databases")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=False)]

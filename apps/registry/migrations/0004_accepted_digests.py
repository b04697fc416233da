"""What stands in the rows of an earlier version was accepted as it is: each gets the digest of its definition."""

from django.db import migrations

from apps.firewall.errors import FirewallError
from apps.firewall.tools.executors import executor_json
from apps.registry.catalogue import catalogue_of, executor_of_core
from apps.registry.definitions import Pinned, tool_pinned


def fill(apps, schema_editor):
    tool_model = apps.get_model("registry", "Tool")
    releases = {}
    owner = schema_editor.connection.alias
    rows = tool_model.objects.using(owner).filter(digest="").select_related("plugin", "environment")
    for tool in rows.iterator():
        core = releases.setdefault(
            tool.environment.dialect,
            {definition.name: definition for definition in catalogue_of(tool.environment.dialect)},
        )
        executor = executor_of_core(tool.name) if tool.source == "core" else None
        if executor is not None:
            tool.executor = executor_json(executor)
        try:
            pinned = tool_pinned(tool)
        except FirewallError:
            continue  # no definition that anybody could have accepted: discovery will find it changed
        if tool.source == "core" and tool.name in core:
            pinned = Pinned(definition=core[tool.name], executor=tool.executor)
        tool.digest = pinned.digest
        tool.save(using=owner, update_fields=["digest", "executor"])


class Migration(migrations.Migration):
    dependencies = [("registry", "0003_optional_and_quarantine")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=False)]

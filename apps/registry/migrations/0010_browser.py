"""The browser is a further kind of source."""

from django.db import migrations, models

KINDS = [
    ("file", "Tool file (YAML)"),
    ("folder", "Folder"),
    ("entry_points", "Installed packages"),
    ("remote", "Remote registry"),
    ("mcp_stdio", "MCP server (command)"),
    ("mcp_http", "MCP server (address)"),
    ("openclaw_plugins", "OpenClaw plugins"),
    ("own_files", "Built-in: files"),
    ("own_shell", "Built-in: listed commands"),
    ("own_http", "Built-in: web requests"),
    ("own_browser", "Built-in: browser"),
    ("own_email", "Built-in: email"),
    ("own_databases", "Built-in: databases"),
]


class Migration(migrations.Migration):
    dependencies = [("registry", "0009_variables_of_commands")]

    operations = [
        migrations.AlterField(
            model_name=model, name="kind", field=models.CharField(choices=KINDS, max_length=20)
        )
        for model in ("discoverysource", "discoverysourceevent")
    ]

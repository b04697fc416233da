"""How far each purge is, and how it ended."""

import apps.firewall.identifiers
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0012_strict_tombstones"),
    ]

    operations = [
        migrations.CreateModel(
            name="PurgeRun",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.TextField()),
                ("requested_by", models.TextField()),
                ("requested_at", models.DateTimeField()),
                (
                    "state",
                    models.TextField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                    ),
                ),
                ("records_total", models.BigIntegerField()),
                ("records_done", models.BigIntegerField(default=0)),
                ("touched_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(null=True)),
                ("error", models.TextField(default="")),
            ],
            options={
                "ordering": ["-requested_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "running"])),
                        fields=("name",),
                        name="audit_purge_open_once",
                    )
                ],
            },
        ),
    ]

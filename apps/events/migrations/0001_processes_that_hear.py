import django.db.models.functions
from django.db import migrations, models

import apps.firewall.identifiers


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Barrier",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("asked_at", models.DateTimeField(db_default=django.db.models.functions.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Process",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("host", models.TextField()),
                ("pid", models.IntegerField()),
                ("kind", models.CharField(max_length=16)),
                ("started_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField()),
                ("heard", models.BigIntegerField(default=0)),
            ],
        ),
    ]

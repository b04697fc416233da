from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("gateway", "0002_async_calls")]

    operations = [
        migrations.CreateModel(
            name="CallProgress",
            fields=[
                ("call_id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("environment", models.TextField()),
                ("shown", models.JSONField()),
                ("at", models.DateTimeField()),
            ],
            options={"indexes": [models.Index(fields=["at"], name="call_progress_age")]},
        ),
    ]

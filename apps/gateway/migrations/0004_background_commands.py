import apps.firewall.identifiers
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0001_sessions_and_runs"),
        ("gateway", "0003_call_progress"),
        ("registry", "0009_variables_of_commands"),
    ]

    operations = [
        migrations.CreateModel(
            name="BackgroundCommand",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("family", models.TextField()),
                ("agent", models.TextField()),
                ("session_key", models.TextField()),
                ("channel", models.TextField(blank=True)),
                ("sender", models.TextField(blank=True)),
                ("actor", models.TextField()),
                ("tool", models.TextField()),
                ("snapshot_digest", models.TextField(blank=True)),
                ("trace_id", models.TextField(blank=True)),
                ("command", models.TextField()),
                ("workdir", models.TextField(blank=True)),
                ("has_terminal", models.BooleanField(default=False)),
                ("time_limit_s", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("starting", "Starting"), ("running", "Running"), ("ended", "Ended")], max_length=16
                    ),
                ),
                ("holder", models.UUIDField()),
                ("started_at", models.DateTimeField()),
                ("output", models.TextField(blank=True)),
                ("output_begin", models.PositiveBigIntegerField(default=0)),
                ("output_total", models.PositiveBigIntegerField(default=0)),
                ("polled", models.PositiveBigIntegerField(default=0)),
                ("accepts_input", models.BooleanField(default=True)),
                ("end_asked_by", models.TextField(blank=True)),
                ("end_asked_code", models.CharField(blank=True, max_length=32)),
                ("ended_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(blank=True, max_length=16)),
                ("exit_code", models.IntegerField(null=True)),
                ("signal", models.IntegerField(null=True)),
                ("error_code", models.TextField(blank=True)),
                ("error_message", models.TextField(blank=True)),
                (
                    "environment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="registry.environment"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="agent_sessions.session"
                    ),
                ),
            ],
            options={
                "ordering": ["-started_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="CommandInput",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("sealed", models.BinaryField()),
                ("is_last", models.BooleanField(default=False)),
                ("asked_at", models.DateTimeField()),
                ("taken_at", models.DateTimeField(null=True)),
                ("done_at", models.DateTimeField(null=True)),
                ("error_code", models.TextField(blank=True)),
                ("error_message", models.TextField(blank=True)),
                (
                    "command",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="inputs",
                        to="gateway.backgroundcommand",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddIndex(
            model_name="backgroundcommand",
            index=models.Index(fields=["session", "-started_at"], name="background_of_session"),
        ),
        migrations.AddIndex(
            model_name="backgroundcommand",
            index=models.Index(fields=["environment", "agent", "family"], name="background_of_family"),
        ),
        migrations.AddIndex(
            model_name="backgroundcommand",
            index=models.Index(
                condition=models.Q(("state", "ended"), _negated=True), fields=["holder"], name="background_open"
            ),
        ),
        migrations.AddIndex(
            model_name="backgroundcommand",
            index=models.Index(condition=models.Q(("state", "ended")), fields=["ended_at"], name="background_age"),
        ),
        migrations.AddConstraint(
            model_name="backgroundcommand",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", False), ("state", "ended"), models.Q(("outcome", ""), _negated=True)),
                    models.Q(models.Q(("state", "ended"), _negated=True), ("ended_at__isnull", True), ("outcome", "")),
                    _connector="OR",
                ),
                name="background_ended_with_an_outcome",
            ),
        ),
        migrations.AddIndex(
            model_name="commandinput",
            index=models.Index(fields=["asked_at"], name="command_input_age"),
        ),
    ]

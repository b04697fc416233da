"""An export is written part by part, holds what was committed when it was asked, and may be a token's."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0007_checkpoints_and_witnesses'),
    ]

    operations = [
        migrations.AddField(
            model_name='export',
            name='facts',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='export',
            name='heads',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='export',
            name='is_walked',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='export',
            name='parts',
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name='export',
            name='place',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='export',
            name='requested_token',
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name='export',
            name='sha256',
            field=models.TextField(default=''),
        ),
        migrations.AddField(
            model_name='export',
            name='worker',
            field=models.UUIDField(null=True),
        ),
        migrations.AlterField(
            model_name='export',
            name='state',
            field=models.TextField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], default='waiting'),
        ),
    ]

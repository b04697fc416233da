import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0003_time_that_stands_still'),
        ('registry', '0001_first'),
    ]

    operations = [
        migrations.CreateModel(
            name='AnswerPolicy',
            fields=[
                ('environment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='answer_policy', serialize=False, to='registry.environment')),
                ('wait_s', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(86400)])),
                ('version', models.PositiveIntegerField(default=1)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('wait_s__isnull', True), models.Q(('wait_s__gte', 5), ('wait_s__lte', 86400)), _connector='OR'), name='answer_wait_is_bounded')],
            },
        ),
        migrations.AddIndex(
            model_name='approval',
            index=models.Index(condition=models.Q(('given_id', ''), _negated=True), fields=['actor', 'given_id'], name='approval_given_id'),
        ),
    ]

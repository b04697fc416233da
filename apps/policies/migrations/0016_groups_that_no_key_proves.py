# Written by Django; `False` for environments that stand already is ours: only new ones refuse from the beginning.

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('policies', '0015_going_back_by_two'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='globalpolicy',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='globalpolicy',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='globalpolicy',
            name='delete_delete',
        ),
        migrations.AddField(
            model_name='globalpolicy',
            name='refuse_unproven_groups',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='globalpolicyevent',
            name='refuse_unproven_groups',
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name='globalpolicy',
            name='refuse_unproven_groups',
            field=models.BooleanField(default=True),
        ),
        migrations.AlterField(
            model_name='globalpolicyevent',
            name='refuse_unproven_groups',
            field=models.BooleanField(default=True),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='globalpolicy',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "refuse_unproven_groups", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_default", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."position", new_values."profile", new_values."refuse_unproven_groups", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;', hash='f5e67050024453291d0b26cec4c1799f9b4e429f', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_insert_413c8', referencing='REFERENCING NEW TABLE AS new_values ', table='policies_globalpolicy', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='globalpolicy',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "refuse_unproven_groups", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_default", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), \'update\', new_values."id", new_values."position", new_values."profile", new_values."refuse_unproven_groups", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;', hash='40c6d2a0e048ae2e8ce6834515e4d573802edba3', level='STATEMENT', operation='UPDATE', pgid='pgtrigger_update_update_bc5cf', referencing='REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values ', table='policies_globalpolicy', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='globalpolicy',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "refuse_unproven_groups", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."elevated_allow_from", old_values."elevated_default", old_values."elevated_enabled", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."max_spawn_depth", old_values."owners", old_values."ownership", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."position", old_values."profile", old_values."refuse_unproven_groups", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."subagent_allow", old_values."subagent_also_allow", old_values."subagent_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;', hash='e6a15274b18a3e86149a0a418bd302347317825e', level='STATEMENT', operation='DELETE', pgid='pgtrigger_delete_delete_16a70', referencing='REFERENCING OLD TABLE AS old_values ', table='policies_globalpolicy', when='AFTER')),
        ),
    ]

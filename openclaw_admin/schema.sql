-- Made by `make schema` from these migrations, not for editing.
-- accounts.0001_first 5682c2cb243594a3
-- account.0001_initial 6f27ff6bdf57521a
-- account.0002_email_max_length c956ab7a3c3660a1
-- account.0003_alter_emailaddress_create_unique_verified_email 66b6f1939621bcfa
-- account.0004_alter_emailaddress_drop_unique_email ebc6317e90c47d7a
-- account.0005_emailaddress_idx_upper_email e7569f1662da1754
-- account.0006_emailaddress_lower 54adb08cb3fba66b
-- account.0007_emailaddress_idx_email 87fad70bfde8ae29
-- account.0008_emailaddress_unique_primary_email_fixup 794bf875bdbef9c4
-- account.0009_emailaddress_unique_primary_email 79762cfa7b1e1d7c
-- accounts.0002_single_keys d5f9c18c9292eb08
-- accounts.0003_skipped_steps 7ab797dbe52f94c2
-- accounts.0004_password_resets 2d36593bedd80afc
-- pghistory.0001_initial 962e93fac9c07ea8
-- pghistory.0002_aggregateevent 87d6dab2224912fe
-- pghistory.0003_auto_20201023_1636 e504b9fff19d5726
-- pghistory.0004_auto_20220906_1625 e56c9b8241ad6b33
-- pghistory.0005_events_middlewareevents fbd7e3d4898c8d3e
-- pghistory.0006_delete_aggregateevent 071f1fdacb5d72fc
-- pghistory.0007_auto_20250421_0444 f949446b99175374
-- registry.0001_first a741f59aabf35436
-- registry.0002_discovery 483d55acb5cdc6fa
-- registry.0003_optional_and_quarantine 52a00318fb1a41d5
-- registry.0004_accepted_digests aed08983b47a49a1
-- agent_sessions.0001_sessions_and_runs ffaf094dca36ee91
-- agent_sessions.0002_who_spawned_whom b9f2377c5fb46e0d
-- registry.0005_own_tools b65326025b663480
-- registry.0006_file_tools b6d99ed6b4216e49
-- registry.0007_hooks c10d391c704ec1a0
-- registry.0008_email_and_databases b62ba159f71379ea
-- registry.0009_variables_of_commands e8ad8707f35c9be5
-- registry.0010_browser 9e07f1b5d659cec6
-- registry.0011_how_hooks_that_fail_are_taken 0e16656523039d18
-- approvals.0001_requests_and_grants 17ece81c812640fb
-- approvals.0002_states_bindings_and_repeats 2ff17f73f004da46
-- approvals.0003_time_that_stands_still 2db7efe8356cf2b4
-- approvals.0004_time_to_answer c7380517d5667f58
-- approvals.0005_silence_that_allows 210ed761d730f102
-- approvals.0006_who_may_answer f1a499fb63a123e4
-- approvals.0007_parts_of_a_line a7e27a57a99d77a0
-- approvals.0008_teams_and_escalation 25250cbece766a5d
-- approvals.0009_similar_requests 91ee5096b9ebf987
-- approvals.0010_storms 320bded22209a9c5
-- approvals.0011_first_looks 1f6c9b446e35e61b
-- approvals.0012_what_is_not_bound a1dad1715415c5dd
-- approvals.0013_callers_that_come_back 6384e732b96dae27
-- audit.0001_append_only_ledger 39d4209e1cdd5ce5
-- audit.0002_exports 1b1f25c39e003b07
-- audit.0003_export_progress e8c984e814251d90
-- audit.0004_content_of_format_2 baaa84bee0cbb545
-- audit.0005_statements c805cbc288a7c8e9
-- audit.0006_words_and_tallies 703ddda0394eb5c7
-- audit.0007_checkpoints_and_witnesses aa76402d35707067
-- audit.0008_exports_in_parts 17da881d924b9018
-- audit.0009_saved_filters 32605698a59a1167
-- audit.0010_streams 14780edfb487f0cf
-- audit.0011_retention_holds_erasures 4c40ea7f6338096f
-- audit.0012_strict_tombstones 8ae6a193e518ba47
-- audit.0013_purge_runs a060bd7e0a42312e
-- audit.0014_totals_by_index 0d1d6497a897d30f
-- audit.0015_tools_by_agent 951cc8635b99a3a1
-- audit.0016_joined_calls 52a4a729081c7c39
-- contenttypes.0001_initial 35ed8489a147e0b4
-- contenttypes.0002_remove_content_type_name 7d36494075750f0e
-- auth.0001_initial 845cff319606332f
-- auth.0002_alter_permission_name_max_length feaf97e0e8f7d148
-- auth.0003_alter_user_email_max_length 9d5657b4db9872dc
-- auth.0004_alter_user_username_opts 9538db342c9a9bec
-- auth.0005_alter_user_last_login_null 79f60a35dc000fdd
-- auth.0006_require_contenttypes_0002 00cb16e3405f14b6
-- auth.0007_alter_validators_add_error_messages 115db87dc327530f
-- auth.0008_alter_user_username_max_length 02857f65f7d64814
-- auth.0009_alter_user_last_name_max_length 19a89500e7f108a7
-- auth.0010_alter_group_name_max_length 0963ed6498ac0b3a
-- auth.0011_update_proxy_permissions 85a5dde708dc4b61
-- auth.0012_alter_user_first_name_max_length 6cefbc9f80903763
-- events.0001_processes_that_hear bf8e3f15d2899710
-- events.0002_steps_of_clocks 48ff0aa3fd200663
-- gateway.0001_call_slots 6f0d6f18f0d5cb91
-- gateway.0002_async_calls b6fde0c590921133
-- gateway.0003_call_progress 0614bb193db84a03
-- gateway.0004_background_commands 113ef9857a58e2b5
-- gateway.0005_ends_that_hooks_hear_of e2a61b88e48b1e12
-- gateway.0006_programs_that_run_what_they_read 74bbd3f89b022800
-- gateway.0007_probes_of_doors c9aa08262ac7d482
-- halts.0001_stops 44deaba13859ca30
-- halts.0002_pauses 48e8e0a358855a19
-- limits.0001_first 06381ab260c9a3e1
-- policies.0001_records 5f82134ad99b61fe
-- policies.0002_snapshot_is_its_digest 7814603720e228c6
-- policies.0003_permission_grants_and_content_filters 8d815ad0761cee34
-- policies.0004_publication_holds_guards cc675bf210e632c0
-- policies.0005_elevated_of_scopes 666733b6f60a308a
-- policies.0006_elevated_out_of_the_rest 3d60187a3a43d01f
-- policies.0007_policy_tests 63a1062a85d7a81c
-- policies.0008_replays_of_past_calls 638853757ac0e710
-- policies.0009_guardrails 6657909a0e495ac4
-- policies.0010_publish_rules_and_requests 8c0e229565b0e3bf
-- policies.0011_bulk_edits 2e2d62f751b29543
-- policies.0012_labels_of_agents 7e60cf4b7ab07a3d
-- policies.0013_replays_count_rules bf441337fea76962
-- policies.0014_shadow_rules e1f1373c2dc039ec
-- policies.0015_going_back_by_two f0432959057e3f4d
-- notifications.0001_channels_and_deliveries 712e37c50f6d472b
-- notifications.0002_ends_of_exports af7f649aac29b0aa
-- notifications.0003_news_of_releases 8736c8237e010a63
-- notifications.0004_alarms_about_gateways 7adbafc4e843b8a0
-- openclaw_gateways.0001_gateways_calls_and_alarms 06ad511eaaa7e744
-- openclaw_gateways.0002_facts_and_spawned_sessions bc9892113d2efbfd
-- openclaw_gateways.0003_what_stops_end_at_gateways 7442c52eed16affa
-- openclaw_gateways.0004_alarms_of_silence a3cd19825c9bed36
-- policies.0016_groups_that_no_key_proves 457df7b19b2572e3
-- registry.0012_code_of_tools b00dbc684bd8e0fa
-- registry.0013_what_tools_raised 9f44932d3aff46bd
-- sessions.0001_initial 2aa438e2393ee513
-- tool_runs.0001_runs_and_their_searches e2a6dbb50b07d8a1
-- ;
CREATE TABLE "accounts_user" ("password" varchar(128) NOT NULL, "last_login" timestamp with time zone NULL, "id" uuid NOT NULL PRIMARY KEY, "username" varchar(64) NOT NULL UNIQUE, "display_name" varchar(100) NOT NULL, "role" varchar(16) NOT NULL, "is_active" boolean NOT NULL, "language" varchar(10) NOT NULL, "theme" varchar(8) NOT NULL, "created_at" timestamp with time zone NOT NULL, "created_by_id" uuid NULL)
-- ;
CREATE TABLE "accounts_apitoken" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(100) NOT NULL, "secret_hash" varchar(64) NOT NULL UNIQUE, "scopes" varchar(32)[] NOT NULL, "environment" varchar(63) NOT NULL, "agents" varchar(128)[] NOT NULL, "rate_per_minute" integer NOT NULL CHECK ("rate_per_minute" >= 0), "expires_at" timestamp with time zone NULL, "last_used_at" timestamp with time zone NULL, "revoked_at" timestamp with time zone NULL, "created_at" timestamp with time zone NOT NULL, "created_by_id" uuid NULL)
-- ;
CREATE TABLE "accounts_invitation" ("id" uuid NOT NULL PRIMARY KEY, "secret_hash" varchar(64) NOT NULL UNIQUE, "display_name" varchar(100) NOT NULL, "role" varchar(16) NOT NULL, "expires_at" timestamp with time zone NOT NULL, "revoked_at" timestamp with time zone NULL, "accepted_at" timestamp with time zone NULL, "created_at" timestamp with time zone NOT NULL, "accepted_by_id" uuid NULL UNIQUE, "created_by_id" uuid NULL)
-- ;
CREATE TABLE "accounts_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" timestamp with time zone NOT NULL, "created_at" timestamp with time zone NOT NULL, "last_seen_at" timestamp with time zone NOT NULL, "user_agent" varchar(300) NOT NULL, "ip" inet NULL, "user_id" uuid NULL)
-- ;
CREATE UNIQUE INDEX "username_once_in_any_case" ON "accounts_user" ((LOWER("username")))
-- ;
ALTER TABLE "accounts_user" ADD CONSTRAINT "accounts_user_created_by_id_ba68b522_fk_accounts_user_id" FOREIGN KEY ("created_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "accounts_user_username_6088629e_like" ON "accounts_user" ("username" varchar_pattern_ops)
-- ;
CREATE INDEX "accounts_user_created_by_id_ba68b522" ON "accounts_user" ("created_by_id")
-- ;
ALTER TABLE "accounts_apitoken" ADD CONSTRAINT "accounts_apitoken_created_by_id_eaf61c5d_fk_accounts_user_id" FOREIGN KEY ("created_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "accounts_apitoken_secret_hash_63c2abbe_like" ON "accounts_apitoken" ("secret_hash" varchar_pattern_ops)
-- ;
CREATE INDEX "accounts_apitoken_created_by_id_eaf61c5d" ON "accounts_apitoken" ("created_by_id")
-- ;
ALTER TABLE "accounts_invitation" ADD CONSTRAINT "accounts_invitation_accepted_by_id_ba632539_fk_accounts_user_id" FOREIGN KEY ("accepted_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "accounts_invitation" ADD CONSTRAINT "accounts_invitation_created_by_id_e6097355_fk_accounts_user_id" FOREIGN KEY ("created_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "accounts_invitation_secret_hash_f8e85b08_like" ON "accounts_invitation" ("secret_hash" varchar_pattern_ops)
-- ;
CREATE INDEX "accounts_invitation_created_by_id_e6097355" ON "accounts_invitation" ("created_by_id")
-- ;
ALTER TABLE "accounts_session" ADD CONSTRAINT "accounts_session_user_id_d5aaed01_fk_accounts_user_id" FOREIGN KEY ("user_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "accounts_session_session_key_b186966f_like" ON "accounts_session" ("session_key" varchar_pattern_ops)
-- ;
CREATE INDEX "accounts_session_expire_date_5bbfba7c" ON "accounts_session" ("expire_date")
-- ;
CREATE INDEX "accounts_session_user_id_d5aaed01" ON "accounts_session" ("user_id")
-- ;
CREATE TABLE "account_emailaddress" ("id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "email" varchar(75) NOT NULL UNIQUE, "verified" boolean NOT NULL, "primary" boolean NOT NULL, "user_id" uuid NOT NULL)
-- ;
CREATE TABLE "account_emailconfirmation" ("id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "created" timestamp with time zone NOT NULL, "sent" timestamp with time zone NULL, "key" varchar(64) NOT NULL UNIQUE, "email_address_id" integer NOT NULL)
-- ;
ALTER TABLE "account_emailaddress" ADD CONSTRAINT "account_emailaddress_user_id_2c513194_fk_accounts_user_id" FOREIGN KEY ("user_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "account_emailaddress_email_03be32b2_like" ON "account_emailaddress" ("email" varchar_pattern_ops)
-- ;
CREATE INDEX "account_emailaddress_user_id_2c513194" ON "account_emailaddress" ("user_id")
-- ;
ALTER TABLE "account_emailconfirmation" ADD CONSTRAINT "account_emailconfirm_email_address_id_5b7f8c58_fk_account_e" FOREIGN KEY ("email_address_id") REFERENCES "account_emailaddress" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "account_emailconfirmation_key_f43612bd_like" ON "account_emailconfirmation" ("key" varchar_pattern_ops)
-- ;
CREATE INDEX "account_emailconfirmation_email_address_id_5b7f8c58" ON "account_emailconfirmation" ("email_address_id")
-- ;
ALTER TABLE "account_emailaddress" ALTER COLUMN "email" TYPE varchar(254)
-- ;
ALTER TABLE "account_emailaddress" ADD CONSTRAINT "account_emailaddress_user_id_email_987c8728_uniq" UNIQUE ("user_id", "email")
-- ;
CREATE UNIQUE INDEX "unique_verified_email" ON "account_emailaddress" ("email") WHERE "verified"
-- ;
ALTER TABLE "account_emailaddress" DROP CONSTRAINT "account_emailaddress_email_key"
-- ;
DROP INDEX IF EXISTS "account_emailaddress_email_03be32b2_like"
-- ;
CREATE INDEX "account_emailaddress_upper" ON "account_emailaddress" ((UPPER("email")))
-- ;
DROP INDEX IF EXISTS "account_emailaddress_upper"
-- ;
CREATE INDEX "account_emailaddress_email_03be32b2" ON "account_emailaddress" ("email")
-- ;
CREATE INDEX "account_emailaddress_email_03be32b2_like" ON "account_emailaddress" ("email" varchar_pattern_ops)
-- ;
CREATE UNIQUE INDEX "unique_primary_email" ON "account_emailaddress" ("user_id", "primary") WHERE "primary"
-- ;
ALTER TABLE "accounts_user" ADD COLUMN "single_keys" boolean DEFAULT true NOT NULL
-- ;
ALTER TABLE "accounts_user" ALTER COLUMN "single_keys" DROP DEFAULT
-- ;
ALTER TABLE "accounts_user" ADD COLUMN "skipped_steps" varchar(32)[] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "accounts_user" ALTER COLUMN "skipped_steps" DROP DEFAULT
-- ;
CREATE TABLE "accounts_passwordreset" ("id" uuid NOT NULL PRIMARY KEY, "secret_hash" varchar(64) NOT NULL UNIQUE, "expires_at" timestamp with time zone NOT NULL, "revoked_at" timestamp with time zone NULL, "used_at" timestamp with time zone NULL, "created_at" timestamp with time zone NOT NULL, "created_by_id" uuid NULL, "user_id" uuid NOT NULL)
-- ;
ALTER TABLE "accounts_passwordreset" ADD CONSTRAINT "accounts_passwordres_created_by_id_e00f4862_fk_accounts_" FOREIGN KEY ("created_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "accounts_passwordreset" ADD CONSTRAINT "accounts_passwordreset_user_id_948b8566_fk_accounts_user_id" FOREIGN KEY ("user_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "accounts_passwordreset_secret_hash_9ad1ff01_like" ON "accounts_passwordreset" ("secret_hash" varchar_pattern_ops)
-- ;
CREATE INDEX "accounts_passwordreset_created_by_id_e00f4862" ON "accounts_passwordreset" ("created_by_id")
-- ;
CREATE INDEX "accounts_passwordreset_user_id_948b8566" ON "accounts_passwordreset" ("user_id")
-- ;
CREATE INDEX "password_reset_open" ON "accounts_passwordreset" ("user_id") WHERE ("revoked_at" IS NULL AND "used_at" IS NULL)
-- ;
CREATE TABLE "pghistory_context" ("id" uuid NOT NULL PRIMARY KEY, "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "metadata" jsonb NOT NULL)
-- ;
CREATE OR REPLACE FUNCTION _pgh_attach_context()
                RETURNS pghistory_context.id%TYPE AS $$
                    DECLARE
                        _pgh_context_id UUID;
                        _pgh_context_metadata JSONB;
                    BEGIN
                        BEGIN
                            SELECT INTO _pgh_context_id
                                CURRENT_SETTING('pghistory.context_id');
                            SELECT INTO _pgh_context_metadata
                                CURRENT_SETTING('pghistory.context_metadata');
                            EXCEPTION WHEN OTHERS THEN
                        END;
                        IF _pgh_context_id IS NOT NULL AND _pgh_context_metadata IS NOT NULL THEN
                            INSERT INTO pghistory_context (id, metadata, created_at, updated_at)
                                VALUES (_pgh_context_id, _pgh_context_metadata, NOW(), NOW())
                                ON CONFLICT (id) DO UPDATE
                                    SET metadata = EXCLUDED.metadata,
                                        updated_at = EXCLUDED.updated_at
                                    WHERE pghistory_context.metadata != EXCLUDED.metadata;
                            RETURN _pgh_context_id;
                        ELSE
                            RETURN NULL;
                        END IF;
                    END;
                $$ LANGUAGE plpgsql;
-- ;
CREATE TABLE "registry_environment" ("id" uuid NOT NULL PRIMARY KEY, "slug" varchar(63) NOT NULL UNIQUE, "name" varchar(100) NOT NULL, "dialect" varchar(16) NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "created_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_environmentevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "slug" varchar(63) NOT NULL, "name" varchar(100) NOT NULL, "dialect" varchar(16) NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "created_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_plugin" ("id" uuid NOT NULL PRIMARY KEY, "key" varchar(128) NOT NULL, "name" varchar(200) NOT NULL, "description" text NOT NULL, "release" varchar(64) NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_pluginevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "key" varchar(128) NOT NULL, "name" varchar(200) NOT NULL, "description" text NOT NULL, "release" varchar(64) NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_tool" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(128) NOT NULL, "label" varchar(200) NOT NULL, "description" text NOT NULL, "section" varchar(64) NOT NULL, "params_schema" jsonb NOT NULL, "source" varchar(16) NOT NULL, "server_name" varchar(128) NOT NULL, "owner_only" boolean NOT NULL, "state" varchar(16) NOT NULL, "state_reason" varchar(500) NOT NULL, "sensitive_fields" varchar(128)[] NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_toolevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "name" varchar(128) NOT NULL, "label" varchar(200) NOT NULL, "description" text NOT NULL, "section" varchar(64) NOT NULL, "params_schema" jsonb NOT NULL, "source" varchar(16) NOT NULL, "server_name" varchar(128) NOT NULL, "owner_only" boolean NOT NULL, "state" varchar(16) NOT NULL, "state_reason" varchar(500) NOT NULL, "sensitive_fields" varchar(128)[] NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_toolgroup" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(128) NOT NULL, "members" varchar(128)[] NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_toolgroupevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "name" varchar(128) NOT NULL, "members" varchar(128)[] NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_c79c7()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_environmentevent" ("created_at", "dialect", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "slug") VALUES (NEW."created_at", NEW."dialect", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."position", NEW."slug"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_c79c7 ON "registry_environment";
            CREATE  TRIGGER pgtrigger_insert_insert_c79c7
                AFTER INSERT ON "registry_environment"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_c79c7();

            COMMENT ON TRIGGER pgtrigger_insert_insert_c79c7 ON "registry_environment" IS 'db29b3c04140532c63c21a07e107ce2577409f27';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_c4e83()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_environmentevent" ("created_at", "dialect", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "slug") VALUES (NEW."created_at", NEW."dialect", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."position", NEW."slug"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_c4e83 ON "registry_environment";
            CREATE  TRIGGER pgtrigger_update_update_c4e83
                AFTER UPDATE ON "registry_environment"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_c4e83();

            COMMENT ON TRIGGER pgtrigger_update_update_c4e83 ON "registry_environment" IS '67187bee19b48e2fca649cefa78e22bae0e18a54';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_931ff()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_environmentevent" ("created_at", "dialect", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "slug") VALUES (OLD."created_at", OLD."dialect", OLD."id", OLD."name", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."position", OLD."slug"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_931ff ON "registry_environment";
            CREATE  TRIGGER pgtrigger_delete_delete_931ff
                AFTER DELETE ON "registry_environment"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_931ff();

            COMMENT ON TRIGGER pgtrigger_delete_delete_931ff ON "registry_environment" IS '6e79809de90bcbf832a543e5850c45d88e031247';
-- ;
ALTER TABLE "registry_environmentevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "registry_environmentevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_plugin" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "registry_plugin_environment_id_f2e49677_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_plugin_environment_id_f2e49677_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_pluginevent" ADD COLUMN "environment_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_pluginevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "registry_pluginevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "registry_tool_environment_id_6dac07d2_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_tool_environment_id_6dac07d2_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "plugin_id" uuid NULL CONSTRAINT "registry_tool_plugin_id_3f8ae78a_fk_registry_plugin_id" REFERENCES "registry_plugin"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_tool_plugin_id_3f8ae78a_fk_registry_plugin_id" IMMEDIATE
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "environment_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "plugin_id" uuid NULL
-- ;
ALTER TABLE "registry_toolgroup" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "registry_toolgroup_environment_id_a707ecf8_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_toolgroup_environment_id_a707ecf8_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_toolgroupevent" ADD COLUMN "environment_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_toolgroupevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "registry_toolgroupevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_71a37()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_71a37 ON "registry_environmentevent";
            CREATE  TRIGGER pgtrigger_append_only_71a37
                BEFORE UPDATE OR DELETE ON "registry_environmentevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_71a37();

            COMMENT ON TRIGGER pgtrigger_append_only_71a37 ON "registry_environmentevent" IS '72ec165160696e2928c659759778dc1870aee13a';
-- ;
ALTER TABLE "registry_plugin" ADD CONSTRAINT "plugin_key_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_64346()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_pluginevent" ("created_at", "description", "environment_id", "id", "is_enabled", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "release", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."environment_id", NEW."id", NEW."is_enabled", NEW."key", NEW."name", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."release", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_64346 ON "registry_plugin";
            CREATE  TRIGGER pgtrigger_insert_insert_64346
                AFTER INSERT ON "registry_plugin"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_64346();

            COMMENT ON TRIGGER pgtrigger_insert_insert_64346 ON "registry_plugin" IS '4b58ae08b8885a6709794b0f7060395f2fb17ebc';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_75b20()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_pluginevent" ("created_at", "description", "environment_id", "id", "is_enabled", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "release", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."environment_id", NEW."id", NEW."is_enabled", NEW."key", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."release", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_75b20 ON "registry_plugin";
            CREATE  TRIGGER pgtrigger_update_update_75b20
                AFTER UPDATE ON "registry_plugin"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_75b20();

            COMMENT ON TRIGGER pgtrigger_update_update_75b20 ON "registry_plugin" IS 'cc496cc9f43dbe13642edfd1840d65c306b5d8cc';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_49258()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_pluginevent" ("created_at", "description", "environment_id", "id", "is_enabled", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "release", "updated_at", "version") VALUES (OLD."created_at", OLD."description", OLD."environment_id", OLD."id", OLD."is_enabled", OLD."key", OLD."name", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."release", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_49258 ON "registry_plugin";
            CREATE  TRIGGER pgtrigger_delete_delete_49258
                AFTER DELETE ON "registry_plugin"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_49258();

            COMMENT ON TRIGGER pgtrigger_delete_delete_49258 ON "registry_plugin" IS '3f04cb7a1d00739878659905b9231df7c99d7e04';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_be6f1()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_be6f1 ON "registry_pluginevent";
            CREATE  TRIGGER pgtrigger_append_only_be6f1
                BEFORE UPDATE OR DELETE ON "registry_pluginevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_be6f1();

            COMMENT ON TRIGGER pgtrigger_append_only_be6f1 ON "registry_pluginevent" IS 'e3e696919d8b3e8b5ba08bef04e095ceaf14e5f5';
-- ;
ALTER TABLE "registry_tool" ADD CONSTRAINT "tool_name_once_per_environment" UNIQUE ("environment_id", "name")
-- ;
ALTER TABLE "registry_tool" ADD CONSTRAINT "plugin_tool_has_its_plugin" CHECK ((("plugin_id" IS NOT NULL AND "source" = 'plugin') OR NOT ("source" = 'plugin')))
-- ;
ALTER TABLE "registry_tool" ADD CONSTRAINT "mcp_tool_has_its_server" CHECK ((NOT ("source" = 'mcp') OR NOT ("server_name" = '')))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_72b63()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "environment_id", "id", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."environment_id", NEW."id", NEW."label", NEW."name", NEW."owner_only", NEW."params_schema", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."plugin_id", NEW."position", NEW."section", NEW."sensitive_fields", NEW."server_name", NEW."source", NEW."state", NEW."state_reason", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_72b63 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_insert_insert_72b63
                AFTER INSERT ON "registry_tool"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_72b63();

            COMMENT ON TRIGGER pgtrigger_insert_insert_72b63 ON "registry_tool" IS 'bf1f7f7d74edbf10d529e0f8b3abc0a8ce8cb012';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_b1229()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "environment_id", "id", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."environment_id", NEW."id", NEW."label", NEW."name", NEW."owner_only", NEW."params_schema", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."plugin_id", NEW."position", NEW."section", NEW."sensitive_fields", NEW."server_name", NEW."source", NEW."state", NEW."state_reason", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_b1229 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_update_update_b1229
                AFTER UPDATE ON "registry_tool"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_b1229();

            COMMENT ON TRIGGER pgtrigger_update_update_b1229 ON "registry_tool" IS 'a5d8938e8d4aa461ee96d0315ad082dd2dad9047';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_a8e15()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "environment_id", "id", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "updated_at", "version") VALUES (OLD."created_at", OLD."description", OLD."environment_id", OLD."id", OLD."label", OLD."name", OLD."owner_only", OLD."params_schema", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."plugin_id", OLD."position", OLD."section", OLD."sensitive_fields", OLD."server_name", OLD."source", OLD."state", OLD."state_reason", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a8e15 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_delete_delete_a8e15
                AFTER DELETE ON "registry_tool"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_a8e15();

            COMMENT ON TRIGGER pgtrigger_delete_delete_a8e15 ON "registry_tool" IS '7fb09066f51c4e775bee98f48f5a24c491888c7f';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_b25dc()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_b25dc ON "registry_toolevent";
            CREATE  TRIGGER pgtrigger_append_only_b25dc
                BEFORE UPDATE OR DELETE ON "registry_toolevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_b25dc();

            COMMENT ON TRIGGER pgtrigger_append_only_b25dc ON "registry_toolevent" IS 'e07b040dde155df735dc08b4161fd34532ff713e';
-- ;
ALTER TABLE "registry_toolgroup" ADD CONSTRAINT "group_name_once_per_environment" UNIQUE ("environment_id", "name")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_d6669()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolgroupevent" ("created_at", "environment_id", "id", "members", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."id", NEW."members", NEW."name", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."position", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_d6669 ON "registry_toolgroup";
            CREATE  TRIGGER pgtrigger_insert_insert_d6669
                AFTER INSERT ON "registry_toolgroup"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_d6669();

            COMMENT ON TRIGGER pgtrigger_insert_insert_d6669 ON "registry_toolgroup" IS '9446b8d5ebe3b03b1a305752bbe4034ec3d09dc6';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_b7757()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolgroupevent" ("created_at", "environment_id", "id", "members", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."id", NEW."members", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."position", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_b7757 ON "registry_toolgroup";
            CREATE  TRIGGER pgtrigger_update_update_b7757
                AFTER UPDATE ON "registry_toolgroup"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_b7757();

            COMMENT ON TRIGGER pgtrigger_update_update_b7757 ON "registry_toolgroup" IS 'd7b3c24d0c2d26de5da3d382825d991ae3286b69';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_6a07b()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolgroupevent" ("created_at", "environment_id", "id", "members", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "updated_at", "version") VALUES (OLD."created_at", OLD."environment_id", OLD."id", OLD."members", OLD."name", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."position", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_6a07b ON "registry_toolgroup";
            CREATE  TRIGGER pgtrigger_delete_delete_6a07b
                AFTER DELETE ON "registry_toolgroup"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_6a07b();

            COMMENT ON TRIGGER pgtrigger_delete_delete_6a07b ON "registry_toolgroup" IS '9946fdbb949c70c4805e519cd9b61a42eaf76f1e';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_6d3fc()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_6d3fc ON "registry_toolgroupevent";
            CREATE  TRIGGER pgtrigger_append_only_6d3fc
                BEFORE UPDATE OR DELETE ON "registry_toolgroupevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_6d3fc();

            COMMENT ON TRIGGER pgtrigger_append_only_6d3fc ON "registry_toolgroupevent" IS 'b005cbb0177982c12372609f1bf5947ca4fa7507';
-- ;
CREATE INDEX "registry_environment_slug_37c36beb_like" ON "registry_environment" ("slug" varchar_pattern_ops)
-- ;
CREATE INDEX "registry_environmentevent_pgh_context_id_8ef61e87" ON "registry_environmentevent" ("pgh_context_id")
-- ;
CREATE INDEX "registry_environmentevent_pgh_obj_id_9f459298" ON "registry_environmentevent" ("pgh_obj_id")
-- ;
CREATE INDEX "registry_plugin_environment_id_f2e49677" ON "registry_plugin" ("environment_id")
-- ;
CREATE INDEX "registry_pluginevent_environment_id_17c42c00" ON "registry_pluginevent" ("environment_id")
-- ;
CREATE INDEX "registry_pluginevent_pgh_context_id_d5f6c576" ON "registry_pluginevent" ("pgh_context_id")
-- ;
CREATE INDEX "registry_pluginevent_pgh_obj_id_ba487d73" ON "registry_pluginevent" ("pgh_obj_id")
-- ;
CREATE INDEX "registry_tool_environment_id_6dac07d2" ON "registry_tool" ("environment_id")
-- ;
CREATE INDEX "registry_tool_plugin_id_3f8ae78a" ON "registry_tool" ("plugin_id")
-- ;
CREATE INDEX "registry_toolevent_environment_id_b3d4d6fb" ON "registry_toolevent" ("environment_id")
-- ;
CREATE INDEX "registry_toolevent_pgh_context_id_25ee2c8f" ON "registry_toolevent" ("pgh_context_id")
-- ;
CREATE INDEX "registry_toolevent_pgh_obj_id_06054f09" ON "registry_toolevent" ("pgh_obj_id")
-- ;
CREATE INDEX "registry_toolevent_plugin_id_87de1e10" ON "registry_toolevent" ("plugin_id")
-- ;
CREATE INDEX "registry_toolgroup_environment_id_a707ecf8" ON "registry_toolgroup" ("environment_id")
-- ;
CREATE INDEX "registry_toolgroupevent_environment_id_ee5e10af" ON "registry_toolgroupevent" ("environment_id")
-- ;
CREATE INDEX "registry_toolgroupevent_pgh_context_id_012be352" ON "registry_toolgroupevent" ("pgh_context_id")
-- ;
CREATE INDEX "registry_toolgroupevent_pgh_obj_id_9e21072b" ON "registry_toolgroupevent" ("pgh_obj_id")
-- ;
CREATE TABLE "registry_definitiondrift" ("id" uuid NOT NULL PRIMARY KEY, "pinned" jsonb NOT NULL, "found" jsonb NOT NULL, "found_digest" varchar(64) NOT NULL, "state" varchar(12) NOT NULL, "found_at" timestamp with time zone NOT NULL, "decided_at" timestamp with time zone NULL, "decided_by" varchar(200) NOT NULL)
-- ;
CREATE TABLE "registry_discoveryrun" ("id" uuid NOT NULL PRIMARY KEY, "state" varchar(12) NOT NULL, "actor" varchar(200) NOT NULL, "started_at" timestamp with time zone NOT NULL, "ended_at" timestamp with time zone NULL, "error_code" varchar(64) NOT NULL, "error_message" varchar(1000) NOT NULL, "found" integer NOT NULL CHECK ("found" >= 0), "added" integer NOT NULL CHECK ("added" >= 0), "changed" integer NOT NULL CHECK ("changed" >= 0), "removed" integer NOT NULL CHECK ("removed" >= 0), "broken" integer NOT NULL CHECK ("broken" >= 0), "findings" jsonb NOT NULL, "etag" varchar(200) NOT NULL)
-- ;
CREATE TABLE "registry_discoverysource" ("id" uuid NOT NULL PRIMARY KEY, "key" varchar(63) NOT NULL, "name" varchar(200) NOT NULL, "kind" varchar(20) NOT NULL, "settings" jsonb NOT NULL, "secrets" bytea NOT NULL, "on_drift" varchar(8) NOT NULL, "on_new" varchar(8) NOT NULL, "interval_s" integer NOT NULL CHECK ("interval_s" >= 0), "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "registry_discoverysourceevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "key" varchar(63) NOT NULL, "name" varchar(200) NOT NULL, "kind" varchar(20) NOT NULL, "settings" jsonb NOT NULL, "on_drift" varchar(8) NOT NULL, "on_new" varchar(8) NOT NULL, "interval_s" integer NOT NULL CHECK ("interval_s" >= 0), "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
DROP TRIGGER IF EXISTS pgtrigger_insert_insert_72b63 ON "registry_tool";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_update_update_b1229 ON "registry_tool";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a8e15 ON "registry_tool";
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "digest" varchar(64) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "registry_tool" ALTER COLUMN "digest" DROP DEFAULT
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "executor" jsonb DEFAULT '{}'::jsonb NOT NULL
-- ;
ALTER TABLE "registry_tool" ALTER COLUMN "executor" DROP DEFAULT
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "traits" jsonb DEFAULT '{}'::jsonb NOT NULL
-- ;
ALTER TABLE "registry_tool" ALTER COLUMN "traits" DROP DEFAULT
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "digest" varchar(64) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "registry_toolevent" ALTER COLUMN "digest" DROP DEFAULT
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "executor" jsonb DEFAULT '{}'::jsonb NOT NULL
-- ;
ALTER TABLE "registry_toolevent" ALTER COLUMN "executor" DROP DEFAULT
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "traits" jsonb DEFAULT '{}'::jsonb NOT NULL
-- ;
ALTER TABLE "registry_toolevent" ALTER COLUMN "traits" DROP DEFAULT
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_72b63()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "digest", "discovery_source_id", "environment_id", "executor", "id", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "traits", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."digest", NEW."discovery_source_id", NEW."environment_id", NEW."executor", NEW."id", NEW."label", NEW."name", NEW."owner_only", NEW."params_schema", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."plugin_id", NEW."position", NEW."section", NEW."sensitive_fields", NEW."server_name", NEW."source", NEW."state", NEW."state_reason", NEW."traits", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_72b63 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_insert_insert_72b63
                AFTER INSERT ON "registry_tool"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_72b63();

            COMMENT ON TRIGGER pgtrigger_insert_insert_72b63 ON "registry_tool" IS '8b2e60637fd23ff07a6dea2adfb0674f99a74121';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_b1229()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "digest", "discovery_source_id", "environment_id", "executor", "id", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "traits", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."digest", NEW."discovery_source_id", NEW."environment_id", NEW."executor", NEW."id", NEW."label", NEW."name", NEW."owner_only", NEW."params_schema", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."plugin_id", NEW."position", NEW."section", NEW."sensitive_fields", NEW."server_name", NEW."source", NEW."state", NEW."state_reason", NEW."traits", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_b1229 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_update_update_b1229
                AFTER UPDATE ON "registry_tool"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_b1229();

            COMMENT ON TRIGGER pgtrigger_update_update_b1229 ON "registry_tool" IS 'fe09864d5957a917e6dfaa6d4555847229fc3a03';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_a8e15()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "digest", "discovery_source_id", "environment_id", "executor", "id", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "traits", "updated_at", "version") VALUES (OLD."created_at", OLD."description", OLD."digest", OLD."discovery_source_id", OLD."environment_id", OLD."executor", OLD."id", OLD."label", OLD."name", OLD."owner_only", OLD."params_schema", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."plugin_id", OLD."position", OLD."section", OLD."sensitive_fields", OLD."server_name", OLD."source", OLD."state", OLD."state_reason", OLD."traits", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a8e15 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_delete_delete_a8e15
                AFTER DELETE ON "registry_tool"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_a8e15();

            COMMENT ON TRIGGER pgtrigger_delete_delete_a8e15 ON "registry_tool" IS 'b4a32adcd57f2815f807722ee9e351c3af864e3a';
-- ;
ALTER TABLE "registry_definitiondrift" ADD COLUMN "tool_id" uuid NOT NULL CONSTRAINT "registry_definitiondrift_tool_id_92ff7d28_fk_registry_tool_id" REFERENCES "registry_tool"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_definitiondrift_tool_id_92ff7d28_fk_registry_tool_id" IMMEDIATE
-- ;
ALTER TABLE "registry_definitiondrift" ADD COLUMN "run_id" uuid NULL CONSTRAINT "registry_definitiond_run_id_29610d34_fk_registry_" REFERENCES "registry_discoveryrun"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_definitiond_run_id_29610d34_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_discoverysource" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "registry_discoveryso_environment_id_2e6dfe07_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_discoveryso_environment_id_2e6dfe07_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_discoveryrun" ADD COLUMN "source_id" uuid NOT NULL CONSTRAINT "registry_discoveryru_source_id_0e309b6f_fk_registry_" REFERENCES "registry_discoverysource"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_discoveryru_source_id_0e309b6f_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "discovery_source_id" uuid NULL CONSTRAINT "registry_tool_discovery_source_id_1b8b6462_fk_registry_" REFERENCES "registry_discoverysource"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "registry_tool_discovery_source_id_1b8b6462_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "discovery_source_id" uuid NULL
-- ;
ALTER TABLE "registry_discoverysourceevent" ADD COLUMN "environment_id" uuid NOT NULL
-- ;
ALTER TABLE "registry_discoverysourceevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "registry_discoverysourceevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
CREATE UNIQUE INDEX "one_pending_drift_per_tool" ON "registry_definitiondrift" ("tool_id") WHERE "state" = 'pending'
-- ;
ALTER TABLE "registry_discoverysource" ADD CONSTRAINT "source_key_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_f4cbe()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_discoverysourceevent" ("created_at", "environment_id", "id", "interval_s", "is_enabled", "key", "kind", "name", "on_drift", "on_new", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "settings", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."id", NEW."interval_s", NEW."is_enabled", NEW."key", NEW."kind", NEW."name", NEW."on_drift", NEW."on_new", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."settings", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_f4cbe ON "registry_discoverysource";
            CREATE  TRIGGER pgtrigger_insert_insert_f4cbe
                AFTER INSERT ON "registry_discoverysource"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_f4cbe();

            COMMENT ON TRIGGER pgtrigger_insert_insert_f4cbe ON "registry_discoverysource" IS '7719207d473fefcbbaa22ac405e4e5083444db47';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_1aa55()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_discoverysourceevent" ("created_at", "environment_id", "id", "interval_s", "is_enabled", "key", "kind", "name", "on_drift", "on_new", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "settings", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."id", NEW."interval_s", NEW."is_enabled", NEW."key", NEW."kind", NEW."name", NEW."on_drift", NEW."on_new", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."settings", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_1aa55 ON "registry_discoverysource";
            CREATE  TRIGGER pgtrigger_update_update_1aa55
                AFTER UPDATE ON "registry_discoverysource"
                
                
                FOR EACH ROW WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."environment_id" IS DISTINCT FROM (NEW."environment_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."interval_s" IS DISTINCT FROM (NEW."interval_s") OR OLD."is_enabled" IS DISTINCT FROM (NEW."is_enabled") OR OLD."key" IS DISTINCT FROM (NEW."key") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."on_drift" IS DISTINCT FROM (NEW."on_drift") OR OLD."on_new" IS DISTINCT FROM (NEW."on_new") OR OLD."settings" IS DISTINCT FROM (NEW."settings") OR OLD."updated_at" IS DISTINCT FROM (NEW."updated_at") OR OLD."version" IS DISTINCT FROM (NEW."version"))
                EXECUTE PROCEDURE pgtrigger_update_update_1aa55();

            COMMENT ON TRIGGER pgtrigger_update_update_1aa55 ON "registry_discoverysource" IS '7d6cb0665143062c500e13c78ad3958bc7067dbe';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_fb4b8()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_discoverysourceevent" ("created_at", "environment_id", "id", "interval_s", "is_enabled", "key", "kind", "name", "on_drift", "on_new", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "settings", "updated_at", "version") VALUES (OLD."created_at", OLD."environment_id", OLD."id", OLD."interval_s", OLD."is_enabled", OLD."key", OLD."kind", OLD."name", OLD."on_drift", OLD."on_new", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."settings", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_fb4b8 ON "registry_discoverysource";
            CREATE  TRIGGER pgtrigger_delete_delete_fb4b8
                AFTER DELETE ON "registry_discoverysource"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_fb4b8();

            COMMENT ON TRIGGER pgtrigger_delete_delete_fb4b8 ON "registry_discoverysource" IS 'cb4bbb28b64960d1a4b8f1e95e00f2ce2bfeb141';
-- ;
CREATE INDEX "runs_of_source" ON "registry_discoveryrun" ("source_id", "started_at" DESC)
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_60a74()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_60a74 ON "registry_discoverysourceevent";
            CREATE  TRIGGER pgtrigger_append_only_60a74
                BEFORE UPDATE OR DELETE ON "registry_discoverysourceevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_60a74();

            COMMENT ON TRIGGER pgtrigger_append_only_60a74 ON "registry_discoverysourceevent" IS '35d6ec70ea9baec2b79034764aad0bd37d2354b6';
-- ;
CREATE INDEX "registry_definitiondrift_tool_id_92ff7d28" ON "registry_definitiondrift" ("tool_id")
-- ;
CREATE INDEX "registry_definitiondrift_run_id_29610d34" ON "registry_definitiondrift" ("run_id")
-- ;
CREATE INDEX "registry_discoverysource_environment_id_2e6dfe07" ON "registry_discoverysource" ("environment_id")
-- ;
CREATE INDEX "registry_discoveryrun_source_id_0e309b6f" ON "registry_discoveryrun" ("source_id")
-- ;
CREATE INDEX "registry_tool_discovery_source_id_1b8b6462" ON "registry_tool" ("discovery_source_id")
-- ;
CREATE INDEX "registry_toolevent_discovery_source_id_e304fa79" ON "registry_toolevent" ("discovery_source_id")
-- ;
CREATE INDEX "registry_discoverysourceevent_environment_id_957ff62d" ON "registry_discoverysourceevent" ("environment_id")
-- ;
CREATE INDEX "registry_discoverysourceevent_pgh_context_id_ac587132" ON "registry_discoverysourceevent" ("pgh_context_id")
-- ;
CREATE INDEX "registry_discoverysourceevent_pgh_obj_id_b2d9e541" ON "registry_discoverysourceevent" ("pgh_obj_id")
-- ;
DROP TRIGGER IF EXISTS pgtrigger_insert_insert_72b63 ON "registry_tool";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_update_update_b1229 ON "registry_tool";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a8e15 ON "registry_tool";
-- ;
ALTER TABLE "registry_definitiondrift" ADD COLUMN "tool_state" varchar(16) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "registry_definitiondrift" ALTER COLUMN "tool_state" DROP DEFAULT
-- ;
ALTER TABLE "registry_discoveryrun" ADD COLUMN "boot" uuid NULL
-- ;
ALTER TABLE "registry_tool" ADD COLUMN "is_optional" boolean DEFAULT false NOT NULL
-- ;
ALTER TABLE "registry_tool" ALTER COLUMN "is_optional" DROP DEFAULT
-- ;
ALTER TABLE "registry_toolevent" ADD COLUMN "is_optional" boolean DEFAULT false NOT NULL
-- ;
ALTER TABLE "registry_toolevent" ALTER COLUMN "is_optional" DROP DEFAULT
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_72b63()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "digest", "discovery_source_id", "environment_id", "executor", "id", "is_optional", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "traits", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."digest", NEW."discovery_source_id", NEW."environment_id", NEW."executor", NEW."id", NEW."is_optional", NEW."label", NEW."name", NEW."owner_only", NEW."params_schema", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."plugin_id", NEW."position", NEW."section", NEW."sensitive_fields", NEW."server_name", NEW."source", NEW."state", NEW."state_reason", NEW."traits", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_72b63 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_insert_insert_72b63
                AFTER INSERT ON "registry_tool"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_72b63();

            COMMENT ON TRIGGER pgtrigger_insert_insert_72b63 ON "registry_tool" IS '9817183de92cf0492a11041edf5f225103e1a87e';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_b1229()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "digest", "discovery_source_id", "environment_id", "executor", "id", "is_optional", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "traits", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."digest", NEW."discovery_source_id", NEW."environment_id", NEW."executor", NEW."id", NEW."is_optional", NEW."label", NEW."name", NEW."owner_only", NEW."params_schema", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."plugin_id", NEW."position", NEW."section", NEW."sensitive_fields", NEW."server_name", NEW."source", NEW."state", NEW."state_reason", NEW."traits", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_b1229 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_update_update_b1229
                AFTER UPDATE ON "registry_tool"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_b1229();

            COMMENT ON TRIGGER pgtrigger_update_update_b1229 ON "registry_tool" IS '66ea982b8f8e701247e22d137fd53dd191eb2e44';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_a8e15()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_toolevent" ("created_at", "description", "digest", "discovery_source_id", "environment_id", "executor", "id", "is_optional", "label", "name", "owner_only", "params_schema", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "position", "section", "sensitive_fields", "server_name", "source", "state", "state_reason", "traits", "updated_at", "version") VALUES (OLD."created_at", OLD."description", OLD."digest", OLD."discovery_source_id", OLD."environment_id", OLD."executor", OLD."id", OLD."is_optional", OLD."label", OLD."name", OLD."owner_only", OLD."params_schema", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."plugin_id", OLD."position", OLD."section", OLD."sensitive_fields", OLD."server_name", OLD."source", OLD."state", OLD."state_reason", OLD."traits", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a8e15 ON "registry_tool";
            CREATE  TRIGGER pgtrigger_delete_delete_a8e15
                AFTER DELETE ON "registry_tool"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_a8e15();

            COMMENT ON TRIGGER pgtrigger_delete_delete_a8e15 ON "registry_tool" IS '5ad03f5bff6cef93f1080ff64fdc26efdbe6da6e';
-- ;
CREATE TABLE "agent_sessions_session" ("id" uuid NOT NULL PRIMARY KEY, "agent" text NOT NULL, "key" text NOT NULL, "spellings" text[] NOT NULL, "channel" text NOT NULL, "sender" text NOT NULL, "parent_key" text NOT NULL, "depth" integer NOT NULL CHECK ("depth" >= 0), "started_at" timestamp with time zone NOT NULL, "last_call_at" timestamp with time zone NOT NULL, "last_tool" text NOT NULL, "calls" bigint NOT NULL CHECK ("calls" >= 0), "denied" bigint NOT NULL CHECK ("denied" >= 0), "loops" jsonb NULL, "ended_at" timestamp with time zone NULL, "ended_by_label" text NOT NULL, "end_reason" text NOT NULL, "max_calls" bigint NULL CHECK ("max_calls" >= 0), "max_denied" bigint NULL CHECK ("max_denied" >= 0), "max_duration_s" bigint NULL CHECK ("max_duration_s" >= 0), "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "agent_sessions_sessionrun" ("id" uuid NOT NULL PRIMARY KEY, "run_id" text NOT NULL, "is_given" boolean NOT NULL, "started_at" timestamp with time zone NOT NULL, "last_call_at" timestamp with time zone NOT NULL, "ended_at" timestamp with time zone NULL, "calls" bigint NOT NULL CHECK ("calls" >= 0), "client_tools" text[] NOT NULL, "session_id" uuid NOT NULL)
-- ;
CREATE INDEX "agent_session_recent" ON "agent_sessions_session" ("environment_id", "last_call_at" DESC, "id" DESC)
-- ;
CREATE INDEX "agent_session_parent" ON "agent_sessions_session" ("environment_id", "parent_key") WHERE NOT ("parent_key" = '')
-- ;
CREATE INDEX "agent_session_age" ON "agent_sessions_session" ("last_call_at")
-- ;
ALTER TABLE "agent_sessions_session" ADD CONSTRAINT "agent_session_once" UNIQUE ("environment_id", "agent", "key")
-- ;
CREATE INDEX "session_run_recent" ON "agent_sessions_sessionrun" ("session_id", "started_at" DESC, "id" DESC)
-- ;
CREATE INDEX "session_run_age" ON "agent_sessions_sessionrun" ("last_call_at")
-- ;
ALTER TABLE "agent_sessions_sessionrun" ADD CONSTRAINT "session_run_once" UNIQUE ("session_id", "run_id")
-- ;
ALTER TABLE "agent_sessions_session" ADD CONSTRAINT "agent_sessions_sessi_environment_id_dc7f6e5e_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "agent_sessions_session_environment_id_dc7f6e5e" ON "agent_sessions_session" ("environment_id")
-- ;
ALTER TABLE "agent_sessions_sessionrun" ADD CONSTRAINT "agent_sessions_sessi_session_id_193159ee_fk_agent_ses" FOREIGN KEY ("session_id") REFERENCES "agent_sessions_session" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "agent_sessions_sessionrun_session_id_193159ee" ON "agent_sessions_sessionrun" ("session_id")
-- ;
ALTER TABLE "agent_sessions_session" ADD COLUMN "context" jsonb NULL
-- ;
ALTER TABLE "agent_sessions_session" ADD COLUMN "spawn" jsonb NULL
-- ;
CREATE TABLE "registry_hook" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(63) NOT NULL, "event" varchar(20) NOT NULL, "kind" varchar(16) NOT NULL, "priority" integer NOT NULL, "timeout_ms" integer NULL CHECK ("timeout_ms" >= 0), "tools" varchar(128)[] NOT NULL, "settings" jsonb NOT NULL, "secrets" bytea NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL, "plugin_id" uuid NOT NULL)
-- ;
CREATE TABLE "registry_hooktally" ("hook_id" uuid NOT NULL PRIMARY KEY, "passed" bigint NOT NULL CHECK ("passed" >= 0), "rewrote" bigint NOT NULL CHECK ("rewrote" >= 0), "asked" bigint NOT NULL CHECK ("asked" >= 0), "blocked" bigint NOT NULL CHECK ("blocked" >= 0), "failed" bigint NOT NULL CHECK ("failed" >= 0), "last_at" timestamp with time zone NULL)
-- ;
CREATE TABLE "registry_hookevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "name" varchar(63) NOT NULL, "event" varchar(20) NOT NULL, "kind" varchar(16) NOT NULL, "priority" integer NOT NULL, "timeout_ms" integer NULL CHECK ("timeout_ms" >= 0), "tools" varchar(128)[] NOT NULL, "settings" jsonb NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL, "plugin_id" uuid NOT NULL)
-- ;
CREATE TABLE "registry_hookfailure" ("id" uuid NOT NULL PRIMARY KEY, "at" timestamp with time zone NOT NULL, "kind" varchar(16) NOT NULL, "cause" varchar(500) NOT NULL, "said" varchar(600) NOT NULL, "tool" varchar(128) NOT NULL, "call_id" uuid NULL, "duration_ms" integer NOT NULL CHECK ("duration_ms" >= 0), "hook_id" uuid NOT NULL)
-- ;
ALTER TABLE "registry_hook" ADD CONSTRAINT "hook_name_once_per_environment" UNIQUE ("environment_id", "name")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_f7f17()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_hookevent" ("created_at", "environment_id", "event", "id", "is_enabled", "kind", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "priority", "settings", "timeout_ms", "tools", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."event", NEW."id", NEW."is_enabled", NEW."kind", NEW."name", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."plugin_id", NEW."priority", NEW."settings", NEW."timeout_ms", NEW."tools", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_f7f17 ON "registry_hook";
            CREATE  TRIGGER pgtrigger_insert_insert_f7f17
                AFTER INSERT ON "registry_hook"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_f7f17();

            COMMENT ON TRIGGER pgtrigger_insert_insert_f7f17 ON "registry_hook" IS 'd7aceb9eb2f489f9cc3b9a944e1e92349956479c';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_2ca74()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_hookevent" ("created_at", "environment_id", "event", "id", "is_enabled", "kind", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "priority", "settings", "timeout_ms", "tools", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."event", NEW."id", NEW."is_enabled", NEW."kind", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."plugin_id", NEW."priority", NEW."settings", NEW."timeout_ms", NEW."tools", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_2ca74 ON "registry_hook";
            CREATE  TRIGGER pgtrigger_update_update_2ca74
                AFTER UPDATE ON "registry_hook"
                
                
                FOR EACH ROW WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."environment_id" IS DISTINCT FROM (NEW."environment_id") OR OLD."event" IS DISTINCT FROM (NEW."event") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_enabled" IS DISTINCT FROM (NEW."is_enabled") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."plugin_id" IS DISTINCT FROM (NEW."plugin_id") OR OLD."priority" IS DISTINCT FROM (NEW."priority") OR OLD."settings" IS DISTINCT FROM (NEW."settings") OR OLD."timeout_ms" IS DISTINCT FROM (NEW."timeout_ms") OR OLD."tools" IS DISTINCT FROM (NEW."tools") OR OLD."updated_at" IS DISTINCT FROM (NEW."updated_at") OR OLD."version" IS DISTINCT FROM (NEW."version"))
                EXECUTE PROCEDURE pgtrigger_update_update_2ca74();

            COMMENT ON TRIGGER pgtrigger_update_update_2ca74 ON "registry_hook" IS '5d936d0d51921a3dc095ee4fc420724c3b5e3a82';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_1200c()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "registry_hookevent" ("created_at", "environment_id", "event", "id", "is_enabled", "kind", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "priority", "settings", "timeout_ms", "tools", "updated_at", "version") VALUES (OLD."created_at", OLD."environment_id", OLD."event", OLD."id", OLD."is_enabled", OLD."kind", OLD."name", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."plugin_id", OLD."priority", OLD."settings", OLD."timeout_ms", OLD."tools", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_1200c ON "registry_hook";
            CREATE  TRIGGER pgtrigger_delete_delete_1200c
                AFTER DELETE ON "registry_hook"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_1200c();

            COMMENT ON TRIGGER pgtrigger_delete_delete_1200c ON "registry_hook" IS 'ea19152ab52e836cfeebc864fba67e7276728f59';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_bb136()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_bb136 ON "registry_hookevent";
            CREATE  TRIGGER pgtrigger_append_only_bb136
                BEFORE UPDATE OR DELETE ON "registry_hookevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_bb136();

            COMMENT ON TRIGGER pgtrigger_append_only_bb136 ON "registry_hookevent" IS 'a56b8afdaa1228b26beffb1ea380682d9ebf5aa0';
-- ;
CREATE INDEX "failures_of_hook" ON "registry_hookfailure" ("hook_id", "at" DESC)
-- ;
ALTER TABLE "registry_hook" ADD CONSTRAINT "registry_hook_environment_id_e9fe4700_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "registry_hook" ADD CONSTRAINT "registry_hook_plugin_id_0c1b6229_fk_registry_plugin_id" FOREIGN KEY ("plugin_id") REFERENCES "registry_plugin" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "registry_hook_environment_id_e9fe4700" ON "registry_hook" ("environment_id")
-- ;
CREATE INDEX "registry_hook_plugin_id_0c1b6229" ON "registry_hook" ("plugin_id")
-- ;
ALTER TABLE "registry_hooktally" ADD CONSTRAINT "registry_hooktally_hook_id_48cd3ae3_fk_registry_hook_id" FOREIGN KEY ("hook_id") REFERENCES "registry_hook" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "registry_hookevent_environment_id_4e9f9596" ON "registry_hookevent" ("environment_id")
-- ;
CREATE INDEX "registry_hookevent_pgh_context_id_921db26e" ON "registry_hookevent" ("pgh_context_id")
-- ;
CREATE INDEX "registry_hookevent_pgh_obj_id_ddee9883" ON "registry_hookevent" ("pgh_obj_id")
-- ;
CREATE INDEX "registry_hookevent_plugin_id_aabfeabc" ON "registry_hookevent" ("plugin_id")
-- ;
ALTER TABLE "registry_hookfailure" ADD CONSTRAINT "registry_hookfailure_hook_id_aac3e047_fk_registry_hook_id" FOREIGN KEY ("hook_id") REFERENCES "registry_hook" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "registry_hookfailure_hook_id_aac3e047" ON "registry_hookfailure" ("hook_id")
-- ;
CREATE TABLE "registry_hookpolicy" ("environment_id" uuid NOT NULL PRIMARY KEY, "is_strict" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "updated_at" timestamp with time zone NOT NULL)
-- ;
ALTER TABLE "registry_hookpolicy" ADD CONSTRAINT "registry_hookpolicy_environment_id_e2fe9bf1_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE TABLE "approvals_approval" ("id" uuid NOT NULL PRIMARY KEY, "kind" varchar(16) NOT NULL, "call_id" uuid NOT NULL UNIQUE, "version" integer NOT NULL CHECK ("version" >= 0), "agent" text NOT NULL, "session_key" text NOT NULL, "channel" text NOT NULL, "sender" text NOT NULL, "sender_name" text NOT NULL, "sender_is_owner" boolean NULL, "requester" text NOT NULL, "tool" text NOT NULL, "title" text NOT NULL, "severity" varchar(16) NOT NULL, "command" text NOT NULL, "argv" text[] NOT NULL, "resolved_path" text NOT NULL, "cwd" text NOT NULL, "host" text NOT NULL, "params" jsonb NOT NULL, "evidence" jsonb NOT NULL, "warnings" jsonb NOT NULL, "reason_layer" text NOT NULL, "reason_rule" text NOT NULL, "reason" text NOT NULL, "snapshot_digest" text NOT NULL, "trace_id" text NOT NULL, "decisions" varchar(16)[] NOT NULL, "requested_at" timestamp with time zone NOT NULL, "expires_at" timestamp with time zone NOT NULL, "state" varchar(16) NOT NULL, "decided_by_label" text NOT NULL, "decided_at" timestamp with time zone NULL, "decision_reason" text NOT NULL, "scope" jsonb NULL, "action_digest" varchar(64) NOT NULL, "sealed_action" bytea NULL, "claimed_at" timestamp with time zone NULL, "claimed_by" uuid NULL, "finished_at" timestamp with time zone NULL, "decided_by_id" uuid NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "approvals_grant" ("id" uuid NOT NULL PRIMARY KEY, "agent" text NOT NULL, "tool" text NOT NULL, "pattern" text NOT NULL, "arg_pattern" text NOT NULL, "sealed_argv" bytea NULL, "params_digest" varchar(64) NOT NULL, "shown" text NOT NULL, "created_at" timestamp with time zone NOT NULL, "created_by_label" text NOT NULL, "expires_at" timestamp with time zone NULL, "uses" bigint NOT NULL CHECK ("uses" >= 0), "last_used_at" timestamp with time zone NULL, "revoked_at" timestamp with time zone NULL, "revoked_by_label" text NOT NULL, "approval_id" uuid NULL, "created_by_id" uuid NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE INDEX "approval_pending" ON "approvals_approval" ("environment_id", "expires_at") WHERE "state" = 'requested'
-- ;
CREATE INDEX "approval_recent" ON "approvals_approval" ("environment_id", "decided_at" DESC)
-- ;
CREATE INDEX "approval_unfinished" ON "approvals_approval" ("decided_at") WHERE "sealed_action" IS NOT NULL
-- ;
ALTER TABLE "approvals_approval" ADD CONSTRAINT "approval_decided_once_and_dated" CHECK ((("decided_at" IS NULL AND "state" = 'requested') OR (NOT ("state" = 'requested') AND "decided_at" IS NOT NULL)))
-- ;
ALTER TABLE "approvals_approval" ADD CONSTRAINT "approval_claimed_only_when_allowed" CHECK (("claimed_at" IS NULL OR "state" IN ('allowed_always', 'allowed_once')))
-- ;
CREATE INDEX "grant_standing" ON "approvals_grant" ("environment_id", "tool") WHERE "revoked_at" IS NULL
-- ;
ALTER TABLE "approvals_approval" ADD CONSTRAINT "approvals_approval_decided_by_id_16c3e602_fk_accounts_user_id" FOREIGN KEY ("decided_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "approvals_approval" ADD CONSTRAINT "approvals_approval_environment_id_da10fc3d_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "approvals_approval_decided_by_id_16c3e602" ON "approvals_approval" ("decided_by_id")
-- ;
CREATE INDEX "approvals_approval_environment_id_da10fc3d" ON "approvals_approval" ("environment_id")
-- ;
ALTER TABLE "approvals_grant" ADD CONSTRAINT "approvals_grant_approval_id_5bd51726_fk_approvals_approval_id" FOREIGN KEY ("approval_id") REFERENCES "approvals_approval" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "approvals_grant" ADD CONSTRAINT "approvals_grant_created_by_id_e355e52b_fk_accounts_user_id" FOREIGN KEY ("created_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "approvals_grant" ADD CONSTRAINT "approvals_grant_environment_id_ed33254a_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "approvals_grant_approval_id_5bd51726" ON "approvals_grant" ("approval_id")
-- ;
CREATE INDEX "approvals_grant_created_by_id_e355e52b" ON "approvals_grant" ("created_by_id")
-- ;
CREATE INDEX "approvals_grant_environment_id_ed33254a" ON "approvals_grant" ("environment_id")
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "actor" text DEFAULT '' NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "actor" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "drift" text[] NULL
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "given_id" text DEFAULT '' NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "given_id" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "question_digest" varchar(64) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "question_digest" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "runs_here" boolean DEFAULT true NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "runs_here" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "superseded_by_id" uuid NULL CONSTRAINT "approvals_approval_superseded_by_id_d352cece_fk_approvals" REFERENCES "approvals_approval"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "approvals_approval_superseded_by_id_d352cece_fk_approvals" IMMEDIATE
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_life_b060b()
            RETURNS TRIGGER AS $$
                DECLARE _is_valid_transition BOOLEAN;
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    SELECT CONCAT(OLD."state", ':', NEW."state") = ANY('{requested:allowed_always,requested:allowed_once,requested:cancelled,requested:denied,requested:expired,requested:superseded}'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION 'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_life_b060b ON "approvals_approval";
            CREATE  TRIGGER pgtrigger_life_b060b
                BEFORE UPDATE ON "approvals_approval"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_life_b060b();

            COMMENT ON TRIGGER pgtrigger_life_b060b ON "approvals_approval" IS 'abcd93a58dcdb5d03878b7cf41c040d74ced6da3';
-- ;
ALTER TABLE "approvals_approval" ADD CONSTRAINT "approval_state_is_known" CHECK ("state" IN ('allowed_always', 'allowed_once', 'cancelled', 'denied', 'expired', 'requested', 'superseded'))
-- ;
ALTER TABLE "approvals_approval" ADD CONSTRAINT "approval_replaced_only_when_superseded" CHECK (("superseded_by_id" IS NULL OR "state" = 'superseded'))
-- ;
CREATE UNIQUE INDEX "approval_question_waits_once" ON "approvals_approval" ("environment_id", "question_digest") WHERE ("state" = 'requested' AND NOT ("question_digest" = ''))
-- ;
CREATE UNIQUE INDEX "approval_given_id_waits_once" ON "approvals_approval" ("environment_id", "actor", "given_id") WHERE ("state" = 'requested' AND NOT ("given_id" = ''))
-- ;
CREATE INDEX "approvals_approval_superseded_by_id_d352cece" ON "approvals_approval" ("superseded_by_id")
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "frozen_at" timestamp with time zone NULL
-- ;
CREATE TABLE "approvals_answerpolicy" ("environment_id" uuid NOT NULL PRIMARY KEY, "wait_s" integer NULL CHECK ("wait_s" >= 0), "version" integer NOT NULL CHECK ("version" >= 0), "updated_at" timestamp with time zone NOT NULL, CONSTRAINT "answer_wait_is_bounded" CHECK (("wait_s" IS NULL OR ("wait_s" >= 5 AND "wait_s" <= 86400))))
-- ;
CREATE INDEX "approval_given_id" ON "approvals_approval" ("actor", "given_id") WHERE NOT ("given_id" = '')
-- ;
ALTER TABLE "approvals_answerpolicy" ADD CONSTRAINT "approvals_answerpoli_environment_id_5896284d_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "fallback_rule" text DEFAULT '' NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "fallback_rule" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "voices_have" smallint DEFAULT 0 NOT NULL CHECK ("voices_have" >= 0)
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "voices_have" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "voices_need" smallint DEFAULT 1 NOT NULL CHECK ("voices_need" >= 0)
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "voices_need" DROP DEFAULT
-- ;
CREATE TABLE "approvals_answerrule" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "name" varchar(100) NOT NULL, "position" integer NOT NULL CHECK ("position" >= 0), "agents" varchar(128)[] NOT NULL, "channels" varchar(128)[] NOT NULL, "groups" varchar(200)[] NOT NULL, "tools" varchar(200)[] NOT NULL, "roles" varchar(16)[] NOT NULL, "people" varchar(64)[] NOT NULL, "quorum" smallint NOT NULL CHECK ("quorum" >= 0), "environment_id" uuid NOT NULL, CONSTRAINT "answer_rule_name_once" UNIQUE ("environment_id", "name"), CONSTRAINT "answer_quorum_is_bounded" CHECK (("quorum" >= 1 AND "quorum" <= 9)))
-- ;
CREATE TABLE "approvals_deputy" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "until" timestamp with time zone NOT NULL, "created_at" timestamp with time zone NOT NULL, "deputy_id" uuid NOT NULL, "person_id" uuid NOT NULL, CONSTRAINT "deputy_once" UNIQUE ("person_id", "deputy_id"), CONSTRAINT "nobody_is_their_own_deputy" CHECK (NOT ("person_id" = ("deputy_id"))))
-- ;
CREATE TABLE "approvals_voice" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "actor" text NOT NULL, "label" text NOT NULL, "in_place_of" text NOT NULL, "decision" varchar(16) NOT NULL, "at" timestamp with time zone NOT NULL, "approval_id" uuid NOT NULL, CONSTRAINT "voice_once_per_person" UNIQUE ("approval_id", "actor"))
-- ;
ALTER TABLE "approvals_answerrule" ADD CONSTRAINT "approvals_answerrule_environment_id_26987f86_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "approvals_answerrule_environment_id_26987f86" ON "approvals_answerrule" ("environment_id")
-- ;
ALTER TABLE "approvals_deputy" ADD CONSTRAINT "approvals_deputy_deputy_id_126ac356_fk_accounts_user_id" FOREIGN KEY ("deputy_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "approvals_deputy" ADD CONSTRAINT "approvals_deputy_person_id_194d55bf_fk_accounts_user_id" FOREIGN KEY ("person_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "approvals_deputy_deputy_id_126ac356" ON "approvals_deputy" ("deputy_id")
-- ;
CREATE INDEX "approvals_deputy_person_id_194d55bf" ON "approvals_deputy" ("person_id")
-- ;
ALTER TABLE "approvals_voice" ADD CONSTRAINT "approvals_voice_approval_id_572c6f1e_fk_approvals_approval_id" FOREIGN KEY ("approval_id") REFERENCES "approvals_approval" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "approvals_voice_approval_id_572c6f1e" ON "approvals_voice" ("approval_id")
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "parts" jsonb DEFAULT '[]'::jsonb NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "parts" DROP DEFAULT
-- ;
CREATE TABLE "approvals_team" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "name" varchar(64) NOT NULL, "people" varchar(64)[200] NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "updated_at" timestamp with time zone NOT NULL)
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "escalate_after_s" integer NULL CHECK ("escalate_after_s" >= 0)
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "escalate_people" varchar(64)[] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "approvals_answerrule" ALTER COLUMN "escalate_people" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "escalate_roles" varchar(16)[] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "approvals_answerrule" ALTER COLUMN "escalate_roles" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "escalate_teams" varchar(64)[] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "approvals_answerrule" ALTER COLUMN "escalate_teams" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "teams" varchar(64)[] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "approvals_answerrule" ALTER COLUMN "teams" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "updated_at" timestamp with time zone DEFAULT '2026-11-29 18:44:39.876240+00:00'::timestamptz NOT NULL
-- ;
ALTER TABLE "approvals_answerrule" ALTER COLUMN "updated_at" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerrule" ADD COLUMN "version" integer DEFAULT 1 NOT NULL CHECK ("version" >= 0)
-- ;
ALTER TABLE "approvals_answerrule" ALTER COLUMN "version" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "escalated_at" timestamp with time zone NULL
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "escalated_to" jsonb NULL
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "stood_still" interval DEFAULT '0:00:00'::interval NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "stood_still" DROP DEFAULT
-- ;
ALTER TABLE "approvals_team" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "approvals_team_environment_id_50c3d6f2_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "approvals_team_environment_id_50c3d6f2_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "approvals_team" ADD CONSTRAINT "team_name_once" UNIQUE ("environment_id", "name")
-- ;
ALTER TABLE "approvals_team" ADD CONSTRAINT "team_has_people" CHECK (CASE WHEN "people" IS NULL THEN NULL ELSE coalesce(array_length("people", 1), 0) END > 0)
-- ;
CREATE INDEX "approvals_team_environment_id_50c3d6f2" ON "approvals_team" ("environment_id")
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "shape" varchar(64) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "shape" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "batch_id" uuid NULL
-- ;
CREATE INDEX "approval_similar" ON "approvals_approval" ("environment_id", "shape") WHERE "state" = 'requested'
-- ;
ALTER TABLE "approvals_answerpolicy" ADD COLUMN "storm_denials" smallint DEFAULT 10 NULL CHECK ("storm_denials" >= 0)
-- ;
ALTER TABLE "approvals_answerpolicy" ALTER COLUMN "storm_denials" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerpolicy" ADD COLUMN "storm_minutes" smallint DEFAULT 5 NOT NULL CHECK ("storm_minutes" >= 0)
-- ;
ALTER TABLE "approvals_answerpolicy" ALTER COLUMN "storm_minutes" DROP DEFAULT
-- ;
ALTER TABLE "approvals_answerpolicy" ADD CONSTRAINT "storm_is_bounded" CHECK (("storm_minutes" >= 1 AND "storm_minutes" <= 1440 AND ("storm_denials" IS NULL OR ("storm_denials" >= 2 AND "storm_denials" <= 1000))))
-- ;
CREATE TABLE "approvals_look" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "at" timestamp with time zone NOT NULL, "approval_id" uuid NOT NULL, "person_id" uuid NOT NULL, CONSTRAINT "first_look_once_per_person" UNIQUE ("approval_id", "person_id"))
-- ;
ALTER TABLE "approvals_look" ADD CONSTRAINT "approvals_look_approval_id_2ef8b348_fk_approvals_approval_id" FOREIGN KEY ("approval_id") REFERENCES "approvals_approval" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "approvals_look" ADD CONSTRAINT "approvals_look_person_id_18851db8_fk_accounts_user_id" FOREIGN KEY ("person_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "approvals_look_approval_id_2ef8b348" ON "approvals_look" ("approval_id")
-- ;
CREATE INDEX "approvals_look_person_id_18851db8" ON "approvals_look" ("person_id")
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "not_bound" jsonb DEFAULT '[]'::jsonb NOT NULL
-- ;
ALTER TABLE "approvals_approval" ALTER COLUMN "not_bound" DROP DEFAULT
-- ;
ALTER TABLE "approvals_approval" ADD COLUMN "waits_until" timestamp with time zone NULL
-- ;
CREATE TABLE audit_boot (
    id uuid PRIMARY KEY,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL,
    lease_until timestamptz NOT NULL,
    ended_at timestamptz,
    swept_at timestamptz,
    seq bigint NOT NULL DEFAULT 0,
    head bytea NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX audit_boot_unswept ON audit_boot (id) WHERE swept_at IS NULL;

CREATE TABLE audit_entry (
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    chain_id uuid NOT NULL,
    seq bigint NOT NULL,
    format smallint NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    environment text NOT NULL,
    agent text NOT NULL,
    session_key text NOT NULL,
    channel text NOT NULL,
    sender text NOT NULL,
    tool text NOT NULL,
    call_id uuid,
    approval_id uuid,
    status text NOT NULL,
    duration_ms bigint,
    decision text NOT NULL,
    decision_layer text NOT NULL,
    decision_label text NOT NULL,
    decision_rule text NOT NULL,
    decision_reason text NOT NULL,
    snapshot_digest text NOT NULL,
    trace_id text NOT NULL,
    phases jsonb,
    changes jsonb,
    content_commitment bytea,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (at, id),
    UNIQUE (chain_id, seq, at)
) PARTITION BY RANGE (at);
CREATE TABLE audit_entry_default PARTITION OF audit_entry DEFAULT;

CREATE TABLE audit_content (
    at timestamptz NOT NULL,
    entry_id uuid NOT NULL,
    call_id uuid,
    salt bytea NOT NULL,
    params jsonb,
    result jsonb,
    error jsonb,
    masked jsonb,
    PRIMARY KEY (at, entry_id)
) PARTITION BY RANGE (at);
CREATE TABLE audit_content_default PARTITION OF audit_content DEFAULT;
-- ;
CREATE INDEX audit_entry_call ON audit_entry (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX audit_entry_agent ON audit_entry (agent, at DESC, id DESC);
CREATE INDEX audit_entry_tool ON audit_entry (tool, status, at DESC, id DESC);
CREATE INDEX audit_entry_session ON audit_entry (session_key, at DESC, id DESC) WHERE session_key <> '';
CREATE INDEX audit_entry_sender ON audit_entry (sender, at DESC, id DESC) WHERE sender <> '';
CREATE INDEX audit_entry_kind ON audit_entry (kind, status, at DESC, id DESC);
CREATE INDEX audit_entry_heads ON audit_entry (at DESC, id DESC)
    WHERE call_id IS NOT NULL
      AND (kind = 'approval_asked' OR (approval_id IS NULL AND kind IN ('call_intent', 'denial')));

CREATE FUNCTION audit_words(document jsonb) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector(
        'pg_catalog.simple'::regconfig,
        regexp_replace(
            left(document::text, 200000),
            '\\[a-z"\\]|[][!"#$%&''()*+,./:;<=>?@\\^`{|}~_-]+', ' ', 'g'
        )
    )
$$;
CREATE INDEX audit_content_words ON audit_content USING gin (audit_words(params)) WHERE params IS NOT NULL;
-- ;
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner oid := (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID);
BEGIN
    IF current_setting('openclaw_admin.audit_maintenance', true) = 'on'
       AND pg_has_role(current_user, owner, 'USAGE') THEN
        IF TG_OP = 'UPDATE' THEN
            RETURN NEW;
        END IF;
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit ledger is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_content
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_entry_default
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_content
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_content_default
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
-- ;
CREATE FUNCTION audit_partition_ensure(parent text, month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET timezone = 'UTC' AS $$
DECLARE
    low timestamptz := date_trunc('month', month);
    high timestamptz := date_trunc('month', month) + interval '1 month';
    partition text := parent || '_' || to_char(month, 'YYYY_MM');
    grantee oid;
BEGIN
    IF parent NOT IN ('audit_entry', 'audit_content') THEN
        RAISE EXCEPTION 'no audit table named %', parent;
    END IF;
    IF month NOT BETWEEN (now() - interval '25 months')::date AND (now() + interval '25 months')::date THEN
        RAISE EXCEPTION 'no partition is made for %', month;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext(partition));
    IF to_regclass('public.' || partition) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, parent);
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    EXECUTE format(
        'WITH moved AS (DELETE FROM public.%I WHERE at >= %L AND at < %L RETURNING *) INSERT INTO public.%I SELECT * FROM moved',
        parent || '_default', low, high, partition);
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, partition, low, high);
    EXECUTE format(
        'CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON public.%I FOR EACH STATEMENT EXECUTE FUNCTION public.audit_refuse_change()',
        partition);
    FOR grantee IN
        SELECT DISTINCT acl.grantee FROM pg_class, aclexplode(relacl) AS acl
        WHERE pg_class.oid = to_regclass('public.' || partition) AND acl.grantee <> relowner
    LOOP
        EXECUTE format('REVOKE ALL ON public.%I FROM %s', partition,
            CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END);
    END LOOP;
    RETURN true;
END
$$;
SELECT audit_partition_ensure(parent, (date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => ahead))::date)
FROM unnest(ARRAY['audit_entry', 'audit_content']) AS parent, generate_series(0, 3) AS ahead;
-- ;
CREATE TABLE "audit_export" ("id" uuid NOT NULL PRIMARY KEY, "requested_by_label" text NOT NULL, "requested_at" timestamp with time zone NOT NULL, "format" text NOT NULL, "filters" jsonb NOT NULL, "state" text NOT NULL, "rows_total" bigint NULL, "rows_done" bigint NOT NULL, "size_bytes" bigint NOT NULL, "path" text NOT NULL, "error" text NOT NULL, "finished_at" timestamp with time zone NULL, "expires_at" timestamp with time zone NULL, "requested_by_id" uuid NULL)
-- ;
ALTER TABLE "audit_export" ADD CONSTRAINT "audit_export_requested_by_id_b1eb06ef_fk_accounts_user_id" FOREIGN KEY ("requested_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "audit_export_requested_by_id_b1eb06ef" ON "audit_export" ("requested_by_id")
-- ;
CREATE INDEX "audit_export_state" ON "audit_export" ("state", "expires_at")
-- ;
ALTER TABLE "audit_export" ADD COLUMN "touched_at" timestamp with time zone DEFAULT '2026-11-29 18:44:41.011296+00:00'::timestamptz NOT NULL
-- ;
ALTER TABLE "audit_export" ALTER COLUMN "touched_at" DROP DEFAULT
-- ;
ALTER TABLE audit_content ADD COLUMN changes jsonb, ADD COLUMN decision_reason text NOT NULL DEFAULT '';
ALTER TABLE audit_entry ALTER COLUMN decision_reason SET DEFAULT '';

CREATE VIEW audit_line AS SELECT
    e.at, e.id, e.chain_id, e.seq, e.format, e.kind, e.actor, e.environment, e.agent, e.session_key, e.channel,
    e.sender, e.tool, e.call_id, e.approval_id, e.status, e.duration_ms, e.decision, e.decision_layer,
    e.decision_label, e.decision_rule,
    CASE WHEN e.format = 1 THEN e.decision_reason ELSE coalesce(c.decision_reason, '') END AS decision_reason,
    e.snapshot_digest, e.trace_id, e.phases,
    CASE WHEN e.format = 1 THEN e.changes ELSE c.changes END AS changes,
    e.content_commitment, e.prev_hash, e.hash
FROM audit_entry AS e LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id;
-- ;
CREATE TABLE audit_statement (
    number bigint PRIMARY KEY CHECK (number > 0),
    at timestamptz NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    signature bytea NOT NULL,
    public_key bytea NOT NULL
);
CREATE INDEX audit_statement_kind ON audit_statement (kind, number DESC);
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_statement
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_statement
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
-- ;
CREATE TABLE audit_words (
    at timestamptz NOT NULL,
    entry_id uuid NOT NULL,
    head_at timestamptz NOT NULL,
    head_id uuid NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (at, entry_id)
) PARTITION BY RANGE (at);
CREATE TABLE audit_words_default PARTITION OF audit_words DEFAULT;
CREATE INDEX audit_words_heads ON audit_words (head_at DESC, head_id DESC);
CREATE INDEX audit_words_words ON audit_words USING gin (words);

CREATE TABLE audit_tally (
    environment text NOT NULL,
    step_s integer NOT NULL,
    dimension text NOT NULL,
    value text NOT NULL,
    start timestamptz NOT NULL,
    begun bigint NOT NULL,
    ran bigint NOT NULL,
    denied bigint NOT NULL,
    failed bigint NOT NULL,
    ended bigint NOT NULL,
    PRIMARY KEY (environment, step_s, dimension, value, start)
) WITH (fillfactor = 70);
CREATE INDEX audit_tally_start ON audit_tally (environment, step_s, dimension, start);

CREATE TABLE audit_follow (chain_id uuid PRIMARY KEY, seq bigint NOT NULL) WITH (fillfactor = 50);

DROP INDEX audit_content_words;
DROP FUNCTION audit_words(jsonb);

CREATE FUNCTION audit_text_words(document text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strip(to_tsvector('pg_catalog.simple'::regconfig, translate(
        replace(replace(replace(replace(document, '\\', ' '), '\n', ' '), '\r', ' '), '\t', ' '),
        '[]!"#$%&''()*+,./:;<=>?@\^`{|}~_-', '                                '
    )))
$$;

-- What an entry is looked up by and no index of the ledger holds, as words that nobody can type.
CREATE FUNCTION audit_tokens(
    actor text, channel text, decision text, layer text, rule text, snapshot text, trace text, approval uuid,
    duration_ms bigint
) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT left(sign || value, 400)), '{}') FROM (VALUES
        ('=a:', actor), ('=c:', channel), ('=d:', decision), ('=l:', layer), ('=r:', rule), ('=s:', snapshot),
        ('=t:', trace), ('=p:', approval::text),
        ('=m:', CASE WHEN duration_ms >= 0 THEN length(ltrim(duration_ms::bit(48)::text, '0'))::text END)
    ) AS named (sign, value) WHERE value <> ''
$$;

DO $do$
DECLARE
    known text := $$('audit_entry', 'audit_content')$$;
    definition text := pg_get_functiondef('audit_partition_ensure(text, date)'::regprocedure);
BEGIN
    IF position(known IN definition) = 0 THEN
        RAISE EXCEPTION 'audit_partition_ensure does not name its tables as expected';
    END IF;
    EXECUTE replace(definition, known, $$('audit_entry', 'audit_content', 'audit_words')$$);
END
$do$;
SELECT audit_partition_ensure('audit_words', month) FROM (
    SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS month FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
    WHERE inhparent = 'audit_entry'::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
) AS made WHERE month BETWEEN (now() - interval '25 months')::date AND (now() + interval '25 months')::date;
-- ;
DROP INDEX audit_entry_heads;
CREATE INDEX audit_entry_heads ON audit_entry (environment, at DESC, id DESC)
    WHERE call_id IS NOT NULL
      AND (kind = 'approval_asked' OR (approval_id IS NULL AND kind IN ('call_intent', 'denial')));
-- ;
CREATE TABLE audit_checkpointed (
    chain_id uuid PRIMARY KEY,
    seq bigint NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL
) WITH (fillfactor = 50);
-- ;
CREATE TABLE "audit_verificationrun" ("id" uuid NOT NULL PRIMARY KEY, "requested_by" text NOT NULL, "requested_at" timestamp with time zone NOT NULL, "state" text NOT NULL, "entries_total" bigint NULL, "entries_done" bigint NOT NULL, "touched_at" timestamp with time zone NOT NULL, "started_at" timestamp with time zone NULL, "finished_at" timestamp with time zone NULL, "is_intact" boolean NULL, "report" jsonb NOT NULL, "error" text NOT NULL)
-- ;
CREATE TABLE "audit_witness" ("id" uuid NOT NULL PRIMARY KEY, "name" text NOT NULL UNIQUE, "kind" text NOT NULL, "target" text NOT NULL, "roots_pem" text NOT NULL, "is_active" boolean NOT NULL, "created_at" timestamp with time zone NOT NULL, "created_by" text NOT NULL, "last_number" bigint NOT NULL, "last_at" timestamp with time zone NULL, "attempts" integer NOT NULL, "next_at" timestamp with time zone NULL, "error_code" text NOT NULL, "error" text NOT NULL)
-- ;
CREATE TABLE "audit_witnessreceipt" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "number" bigint NOT NULL, "at" timestamp with time zone NOT NULL, "token" bytea NOT NULL, "witness_id" uuid NOT NULL, CONSTRAINT "audit_receipt_once" UNIQUE ("witness_id", "number"))
-- ;
CREATE INDEX "audit_witness_name_588c1d56_like" ON "audit_witness" ("name" text_pattern_ops)
-- ;
ALTER TABLE "audit_witnessreceipt" ADD CONSTRAINT "audit_witnessreceipt_witness_id_afe04aaa_fk_audit_witness_id" FOREIGN KEY ("witness_id") REFERENCES "audit_witness" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "audit_witnessreceipt_witness_id_afe04aaa" ON "audit_witnessreceipt" ("witness_id")
-- ;
ALTER TABLE "audit_export" ADD COLUMN "facts" jsonb NULL
-- ;
ALTER TABLE "audit_export" ADD COLUMN "heads" jsonb NULL
-- ;
ALTER TABLE "audit_export" ADD COLUMN "is_walked" boolean DEFAULT false NOT NULL
-- ;
ALTER TABLE "audit_export" ALTER COLUMN "is_walked" DROP DEFAULT
-- ;
ALTER TABLE "audit_export" ADD COLUMN "parts" integer DEFAULT 0 NOT NULL
-- ;
ALTER TABLE "audit_export" ALTER COLUMN "parts" DROP DEFAULT
-- ;
ALTER TABLE "audit_export" ADD COLUMN "place" jsonb NULL
-- ;
ALTER TABLE "audit_export" ADD COLUMN "requested_token" uuid NULL
-- ;
ALTER TABLE "audit_export" ADD COLUMN "sha256" text DEFAULT '' NOT NULL
-- ;
ALTER TABLE "audit_export" ALTER COLUMN "sha256" DROP DEFAULT
-- ;
ALTER TABLE "audit_export" ADD COLUMN "worker" uuid NULL
-- ;
CREATE TABLE "audit_listpreference" ("owner_id" uuid NOT NULL PRIMARY KEY, "columns" jsonb NOT NULL, "time_zone" text NOT NULL)
-- ;
CREATE TABLE "audit_savedfilter" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(80) NOT NULL, "query" text NOT NULL, "is_shared" boolean NOT NULL, "created_at" timestamp with time zone NOT NULL, "owner_id" uuid NOT NULL, CONSTRAINT "audit_saved_filter_once" UNIQUE ("owner_id", "name"))
-- ;
ALTER TABLE "audit_listpreference" ADD CONSTRAINT "audit_listpreference_owner_id_748c04ba_fk_accounts_user_id" FOREIGN KEY ("owner_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "audit_savedfilter" ADD CONSTRAINT "audit_savedfilter_owner_id_d3f1536b_fk_accounts_user_id" FOREIGN KEY ("owner_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "audit_savedfilter_owner_id_d3f1536b" ON "audit_savedfilter" ("owner_id")
-- ;
CREATE TABLE "audit_stream" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(100) NOT NULL UNIQUE, "kind" text NOT NULL, "url" text NOT NULL, "ca" text NOT NULL, "region" varchar(64) NOT NULL, "prefix" varchar(200) NOT NULL, "with_content" boolean NOT NULL, "sealed_secret" bytea NOT NULL, "is_paused" boolean NOT NULL, "created_at" timestamp with time zone NOT NULL, "due_at" timestamp with time zone NOT NULL, "worker" uuid NULL, "touched_at" timestamp with time zone NULL, "sent_at" timestamp with time zone NULL, "sent_count" bigint NOT NULL, "failures" integer NOT NULL, "error" text NOT NULL)
-- ;
CREATE TABLE "audit_deadletter" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "chain_id" uuid NOT NULL, "seq" bigint NOT NULL, "at" timestamp with time zone NOT NULL, "reason" text NOT NULL, "attempts" integer NOT NULL, "stream_id" uuid NOT NULL, CONSTRAINT "audit_deadletter_one" UNIQUE ("stream_id", "chain_id", "seq"))
-- ;
CREATE TABLE "audit_streamcursor" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "chain_id" uuid NOT NULL, "seq" bigint NOT NULL, "stream_id" uuid NOT NULL, CONSTRAINT "audit_streamcursor_one" UNIQUE ("stream_id", "chain_id"))
-- ;
CREATE INDEX "audit_stream_name_8ed5b05e_like" ON "audit_stream" ("name" varchar_pattern_ops)
-- ;
ALTER TABLE "audit_deadletter" ADD CONSTRAINT "audit_deadletter_stream_id_177c7f0f_fk_audit_stream_id" FOREIGN KEY ("stream_id") REFERENCES "audit_stream" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "audit_deadletter_stream_id_177c7f0f" ON "audit_deadletter" ("stream_id")
-- ;
ALTER TABLE "audit_streamcursor" ADD CONSTRAINT "audit_streamcursor_stream_id_e4c261a9_fk_audit_stream_id" FOREIGN KEY ("stream_id") REFERENCES "audit_stream" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "audit_streamcursor_stream_id_e4c261a9" ON "audit_streamcursor" ("stream_id")
-- ;
CREATE FUNCTION audit_class(kind text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN kind IN ('call_intent', 'call_outcome', 'command_ended', 'ungoverned_call') THEN 'calls'
        WHEN kind = 'denial' THEN 'denials'
        WHEN kind LIKE 'approval\_%' OR kind LIKE 'grant\_%' THEN 'approvals'
        WHEN kind IN ('sign_in', 'token') THEN 'sign_ins'
        WHEN kind IN ('export', 'search', 'verification') THEN 'readings'
        WHEN kind IN ('purge', 'erasure', 'hold_change', 'retention_change') THEN 'keeping'
        ELSE 'administration'
    END
$$;
-- Days below which nobody can go; null: what says that records are gone is never purged.
CREATE FUNCTION audit_floor(class text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE class
        WHEN 'content' THEN 7 WHEN 'calls' THEN 30 WHEN 'denials' THEN 30 WHEN 'approvals' THEN 90
        WHEN 'sign_ins' THEN 90 WHEN 'readings' THEN 365 WHEN 'administration' THEN 365
    END
$$;
-- ;
CREATE TABLE "audit_retention" ("name" varchar(32) NOT NULL PRIMARY KEY, "days" integer NULL CHECK ("days" >= 0), "changed_by" text NOT NULL, "changed_at" timestamp with time zone NULL)
-- ;
CREATE TABLE "audit_hold" ("id" uuid NOT NULL PRIMARY KEY, "reason" varchar(500) NOT NULL, "environment" text NOT NULL, "agent" text NOT NULL, "channel" text NOT NULL, "sender" text NOT NULL, "session_key" text NOT NULL, "since" timestamp with time zone NULL, "until" timestamp with time zone NULL, "placed_at" timestamp with time zone NOT NULL, "placed_by" text NOT NULL, "lifted_at" timestamp with time zone NULL, "lifted_by" text NOT NULL, "lift_reason" varchar(500) NOT NULL)
-- ;
CREATE TABLE "audit_erasure" ("id" uuid NOT NULL PRIMARY KEY, "channel" text NOT NULL, "sender" text NOT NULL, "salt" bytea NOT NULL, "subject" varchar(64) NOT NULL, "reason" varchar(500) NOT NULL, "requested_by" text NOT NULL, "requested_at" timestamp with time zone NOT NULL, "state" text NOT NULL, "touched_at" timestamp with time zone NOT NULL, "finished_at" timestamp with time zone NULL, "contents_total" bigint NOT NULL, "contents_done" bigint NOT NULL, "elsewhere" jsonb NOT NULL, "error" text NOT NULL)
-- ;
CREATE FUNCTION audit_hold_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.lifted_at IS NULL AND NEW.lifted_at IS NOT NULL
       AND (to_jsonb(NEW) - '{lifted_at,lifted_by,lift_reason}'::text[])
         = (to_jsonb(OLD) - '{lifted_at,lifted_by,lift_reason}'::text[]) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a legal hold can only be lifted, once' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_hold_guard BEFORE UPDATE OR DELETE ON audit_hold
    FOR EACH ROW EXECUTE FUNCTION audit_hold_guard();

CREATE FUNCTION audit_is_held(e audit_entry) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM public.audit_hold AS h WHERE h.lifted_at IS NULL
        AND h.environment IN ('', e.environment) AND h.agent IN ('', e.agent) AND h.channel IN ('', e.channel)
        AND h.sender IN ('', e.sender) AND h.session_key IN ('', e.session_key)
        AND (h.since IS NULL OR e.at >= h.since) AND (h.until IS NULL OR e.at < h.until))
$$;

-- The body of a tombstone that this very transaction has written.
CREATE FUNCTION audit_tombstone(statement bigint, wanted text) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    epoch numeric := div(pg_current_xact_id()::text::numeric, 4294967296) * 4294967296;
    said jsonb;
BEGIN
    SELECT s.body::jsonb INTO said FROM public.audit_statement AS s
    WHERE s.number = statement AND s.kind = wanted
      AND pg_xact_status((epoch + s.xmin::text::numeric)::text::xid8) = 'in progress';
    IF said IS NULL THEN
        RAISE EXCEPTION 'statement % is no % of this transaction', statement, wanted;
    END IF;
    RETURN said;
END
$$;

CREATE FUNCTION audit_ranges(said jsonb)
RETURNS TABLE (chain uuid, first bigint, last bigint, prev text, hash text) LANGUAGE sql IMMUTABLE AS $$
    SELECT r.* FROM jsonb_to_recordset(said -> 'ranges')
        AS r (chain uuid, first bigint, last bigint, prev text, hash text)
$$;

CREATE FUNCTION audit_purge(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'purge');
    class text := said ->> 'class';
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = class);
    wanted bigint;
    fitting bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF class = 'content' OR audit_floor(class) IS NULL OR kept IS NULL THEN
        RAISE EXCEPTION 'entries of the class % are kept', class;
    END IF;
    IF until > now() - make_interval(days => greatest(kept, audit_floor(class))) THEN
        RAISE EXCEPTION 'entries of the class % are kept for % days', class, greatest(kept, audit_floor(class));
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*) INTO fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
    WHERE audit_class(e.kind) = class AND NOT audit_is_held(e)
      AND (e.seq <> r.first OR encode(e.prev_hash, 'hex') = r.prev)
      AND (e.seq <> r.last OR encode(e.hash, 'hex') = r.hash);
    IF wanted IS NULL OR fitting <> wanted THEN
        RAISE EXCEPTION 'statement % names % entries, of which % may go', statement, wanted, fitting;
    END IF;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
      AND c.at = e.at AND c.entry_id = e.id;
    DELETE FROM audit_entry AS e USING audit_ranges(said) AS r
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    RETURN wanted;
END
$$;

CREATE FUNCTION audit_erase(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'erasure');
    of_class boolean := said ->> 'class' = 'content';
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = 'content');
    wanted bigint;
    fitting bigint;
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF of_class AND (kept IS NULL OR until > now() - make_interval(days => greatest(kept, audit_floor('content')))) THEN
        RAISE EXCEPTION 'contents of calls are kept for longer';
    ELSIF of_class IS NOT TRUE AND said ->> 'subject' IS NULL THEN
        RAISE EXCEPTION 'statement % names neither a subject nor the class content', statement;
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*) INTO fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
    WHERE NOT audit_is_held(e)
      AND (of_class IS NOT TRUE OR audit_class(e.kind) IN ('calls', 'denials', 'approvals'));
    IF wanted IS NULL OR fitting <> wanted THEN
        RAISE EXCEPTION 'statement % names % entries, of which the contents of % may go', statement, wanted, fitting;
    END IF;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
      AND c.at = e.at AND c.entry_id = e.id;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    RETURN gone;
END
$$;

-- Give back the room of a month in which nothing is left. False while something is, or writers keep the tables.
CREATE FUNCTION audit_month_drop(month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET timezone = 'UTC' SET lock_timeout = '3s' AS $$
DECLARE
    parent text;
    found boolean;
BEGIN
    IF date_trunc('month', month) + interval '1 month' > now() - interval '30 days' THEN
        RAISE EXCEPTION 'the month of % is not past', month;
    END IF;
    IF to_regclass('public.audit_entry_' || to_char(month, 'YYYY_MM')) IS NULL THEN
        RETURN false;
    END IF;
    FOREACH parent IN ARRAY ARRAY['audit_entry', 'audit_content', 'audit_words'] LOOP
        EXECUTE format('LOCK TABLE ONLY public.%I IN ACCESS EXCLUSIVE MODE', parent);
        EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', parent || '_' || to_char(month, 'YYYY_MM')) INTO found;
        IF found THEN
            RETURN false;
        END IF;
    END LOOP;
    FOREACH parent IN ARRAY ARRAY['audit_entry', 'audit_content', 'audit_words'] LOOP
        EXECUTE format('DROP TABLE public.%I', parent || '_' || to_char(month, 'YYYY_MM'));
    END LOOP;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$$;
-- ;
CREATE INDEX "audit_retention_name_94f49cc8_like" ON "audit_retention" ("name" varchar_pattern_ops)
-- ;
CREATE OR REPLACE FUNCTION audit_tombstone(statement bigint, wanted text) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    epoch numeric := div(pg_current_xact_id()::text::numeric, 4294967296) * 4294967296;
    said jsonb;
BEGIN
    SELECT s.body::jsonb INTO said FROM public.audit_statement AS s
    WHERE s.number = statement AND s.kind = wanted
      AND pg_xact_status((epoch + s.xmin::text::numeric)::text::xid8) = 'in progress';
    IF said IS NULL THEN
        RAISE EXCEPTION 'statement % is no % of this transaction', statement, wanted;
    END IF;
    IF EXISTS (
        SELECT FROM audit_ranges(said) AS r
        WHERE (r.chain IS NOT NULL AND r.first > 0 AND r.last >= r.first) IS NOT TRUE
    ) THEN
        RAISE EXCEPTION 'statement % names ranges that are none', statement;
    END IF;
    RETURN said;
END
$$;

CREATE OR REPLACE FUNCTION audit_purge(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'purge');
    class text := said ->> 'class';
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = class);
    wanted bigint;
    found_here bigint;
    fitting bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF class = 'content' OR audit_floor(class) IS NULL OR kept IS NULL THEN
        RAISE EXCEPTION 'entries of the class % are kept', class;
    END IF;
    IF (until <= now() - make_interval(days => greatest(kept, audit_floor(class)))) IS NOT TRUE THEN
        RAISE EXCEPTION 'entries of the class % are kept for % days', class, greatest(kept, audit_floor(class));
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*), count(*) FILTER (
        WHERE audit_class(e.kind) = class AND NOT audit_is_held(e)
          AND (e.seq <> r.first OR encode(e.prev_hash, 'hex') = r.prev)
          AND (e.seq <> r.last OR encode(e.hash, 'hex') = r.hash)
    ) INTO found_here, fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e
        ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    IF wanted IS NULL OR fitting <> wanted OR found_here <> wanted THEN
        RAISE EXCEPTION 'statement % names % entries, of which % may go', statement, wanted, fitting;
    END IF;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
      AND c.at = e.at AND c.entry_id = e.id;
    DELETE FROM audit_entry AS e USING audit_ranges(said) AS r
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    RETURN wanted;
END
$$;

CREATE OR REPLACE FUNCTION audit_erase(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'erasure');
    of_class boolean := (said ->> 'class' = 'content') IS TRUE;
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = 'content');
    wanted bigint;
    found_here bigint;
    fitting bigint;
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF of_class AND (until <= now() - make_interval(days => greatest(kept, audit_floor('content')))
                     AND kept IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'contents of calls are kept for longer';
    ELSIF NOT of_class AND said ->> 'subject' IS NULL THEN
        RAISE EXCEPTION 'statement % names neither a subject nor the class content', statement;
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*), count(*) FILTER (
        WHERE NOT audit_is_held(e)
          AND (NOT of_class OR audit_class(e.kind) IN ('calls', 'denials', 'approvals'))
    ) INTO found_here, fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e
        ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    IF wanted IS NULL OR fitting <> wanted OR found_here <> wanted THEN
        RAISE EXCEPTION 'statement % names % entries, of which the contents of % may go', statement, wanted, fitting;
    END IF;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
      AND c.at = e.at AND c.entry_id = e.id;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    RETURN gone;
END
$$;

ALTER FUNCTION audit_refuse_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION audit_hold_guard() SET search_path = pg_catalog, public, pg_temp;
-- ;
CREATE TABLE "audit_purgerun" ("id" uuid NOT NULL PRIMARY KEY, "name" text NOT NULL, "requested_by" text NOT NULL, "requested_at" timestamp with time zone NOT NULL, "state" text NOT NULL, "records_total" bigint NOT NULL, "records_done" bigint NOT NULL, "touched_at" timestamp with time zone NOT NULL, "finished_at" timestamp with time zone NULL, "error" text NOT NULL)
-- ;
CREATE UNIQUE INDEX "audit_purge_open_once" ON "audit_purgerun" ("name") WHERE "state" IN ('waiting', 'running')
-- ;
CREATE INDEX audit_tally_totals ON audit_tally (environment, dimension, value, start) INCLUDE (begun, ended)
    WHERE step_s = 3600;
-- ;
CREATE INDEX audit_entry_agent_tool ON audit_entry (environment, agent, tool, at DESC)
    WHERE call_id IS NOT NULL AND agent <> '' AND tool <> '';
-- ;
CREATE TEMPORARY TABLE joined ON COMMIT DROP AS
SELECT e.environment, steps.step_s, named.dimension, named.value,
    date_bin(make_interval(secs => steps.step_s), e.at, '2000-01-01 00:00:00+00') AS start,
    count(*) AS calls, count(*) FILTER (WHERE e.approval_id IS NULL) AS begun
FROM audit_entry AS e
JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id AND c.error ->> 'code' = 'call_joined'
JOIN audit_follow AS f ON f.chain_id = e.chain_id AND e.seq <= f.seq
CROSS JOIN LATERAL (VALUES ('', ''), ('agent', e.agent), ('tool', e.tool), ('channel', e.channel),
    ('layer', e.decision_layer), ('status', 'denied')) AS named (dimension, value)
CROSS JOIN (VALUES (60), (3600)) AS steps (step_s)
WHERE e.kind = 'denial' AND e.status = 'denied' AND e.decision_layer = 'approval' AND e.call_id IS NOT NULL
    AND (steps.step_s = 3600 OR named.dimension = '') AND (named.dimension = '' OR named.value <> '')
GROUP BY 1, 2, 3, 4, 5;

UPDATE audit_tally AS t SET denied = t.denied - j.calls
FROM joined AS j WHERE (t.environment, t.step_s, t.dimension, t.value, t.start)
    = (j.environment, j.step_s, j.dimension, j.value, j.start);

UPDATE audit_tally AS t SET begun = t.begun - j.begun, ended = t.ended - j.calls
FROM joined AS j WHERE j.dimension = 'status' AND (t.environment, t.step_s, t.dimension, t.value, t.start)
    = (j.environment, j.step_s, j.dimension, j.value, j.start);

INSERT INTO audit_tally (environment, step_s, dimension, value, start, begun, ran, denied, failed, ended)
SELECT environment, step_s, dimension, 'joined', start, begun, 0, 0, 0, calls FROM joined WHERE dimension = 'status';
-- ;
CREATE TABLE "django_content_type" ("id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "name" varchar(100) NOT NULL, "app_label" varchar(100) NOT NULL, "model" varchar(100) NOT NULL)
-- ;
ALTER TABLE "django_content_type" ADD CONSTRAINT "django_content_type_app_label_model_76bd3d3b_uniq" UNIQUE ("app_label", "model")
-- ;
ALTER TABLE "django_content_type" ALTER COLUMN "name" DROP NOT NULL
-- ;
ALTER TABLE "django_content_type" DROP COLUMN "name" CASCADE
-- ;
CREATE TABLE "auth_permission" ("id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "name" varchar(50) NOT NULL, "content_type_id" integer NOT NULL, "codename" varchar(100) NOT NULL)
-- ;
CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "name" varchar(80) NOT NULL UNIQUE)
-- ;
CREATE TABLE "auth_group_permissions" ("id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "group_id" integer NOT NULL, "permission_id" integer NOT NULL)
-- ;
ALTER TABLE "auth_permission" ADD CONSTRAINT "auth_permission_content_type_id_codename_01ab375a_uniq" UNIQUE ("content_type_id", "codename")
-- ;
ALTER TABLE "auth_permission" ADD CONSTRAINT "auth_permission_content_type_id_2f476e4b_fk_django_co" FOREIGN KEY ("content_type_id") REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "auth_permission_content_type_id_2f476e4b" ON "auth_permission" ("content_type_id")
-- ;
CREATE INDEX "auth_group_name_a6ea08ec_like" ON "auth_group" ("name" varchar_pattern_ops)
-- ;
ALTER TABLE "auth_group_permissions" ADD CONSTRAINT "auth_group_permissions_group_id_permission_id_0cd325b0_uniq" UNIQUE ("group_id", "permission_id")
-- ;
ALTER TABLE "auth_group_permissions" ADD CONSTRAINT "auth_group_permissions_group_id_b120cbf9_fk_auth_group_id" FOREIGN KEY ("group_id") REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "auth_group_permissions" ADD CONSTRAINT "auth_group_permissio_permission_id_84c5c92e_fk_auth_perm" FOREIGN KEY ("permission_id") REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "auth_group_permissions_group_id_b120cbf9" ON "auth_group_permissions" ("group_id")
-- ;
CREATE INDEX "auth_group_permissions_permission_id_84c5c92e" ON "auth_group_permissions" ("permission_id")
-- ;
ALTER TABLE "auth_permission" ALTER COLUMN "name" TYPE varchar(255)
-- ;
ALTER TABLE "auth_group" ALTER COLUMN "name" TYPE varchar(150)
-- ;
CREATE TABLE "events_barrier" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "asked_at" timestamp with time zone DEFAULT (STATEMENT_TIMESTAMP()) NOT NULL)
-- ;
CREATE TABLE "events_process" ("id" uuid NOT NULL PRIMARY KEY, "host" text NOT NULL, "pid" integer NOT NULL, "kind" varchar(16) NOT NULL, "started_at" timestamp with time zone NOT NULL, "lease_until" timestamp with time zone NOT NULL, "heard" bigint NOT NULL)
-- ;
CREATE TABLE "events_clockstep" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "machine" text NOT NULL, "offset_s" double precision NOT NULL, "step_s" double precision NOT NULL, "at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "gateway_callslot" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "key" varchar(200) NOT NULL, "call_id" uuid NOT NULL UNIQUE, "body_digest" varchar(64) NOT NULL, "created_at" timestamp with time zone NOT NULL, "token_id" uuid NOT NULL, CONSTRAINT "call_slot_key_once_per_token" UNIQUE ("token_id", "key"))
-- ;
ALTER TABLE "gateway_callslot" ADD CONSTRAINT "gateway_callslot_token_id_b7e9e5d4_fk_accounts_apitoken_id" FOREIGN KEY ("token_id") REFERENCES "accounts_apitoken" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "gateway_callslot_token_id_b7e9e5d4" ON "gateway_callslot" ("token_id")
-- ;
CREATE INDEX "call_slot_age" ON "gateway_callslot" ("created_at")
-- ;
CREATE TABLE "gateway_asynccall" ("id" uuid NOT NULL PRIMARY KEY, "actor" text NOT NULL, "requester" text NOT NULL, "agent" text NOT NULL, "session_key" text NOT NULL, "channel" text NOT NULL, "sender" text NOT NULL, "tool" text NOT NULL, "snapshot_digest" text NOT NULL, "trace_id" text NOT NULL, "state" varchar(20) NOT NULL, "asked_at" timestamp with time zone NOT NULL, "queued_at" timestamp with time zone NULL, "claimed_at" timestamp with time zone NULL, "claimed_by" uuid NULL, "ended_at" timestamp with time zone NULL, "outcome" varchar(16) NOT NULL, "error_code" text NOT NULL, "approval_id" uuid NULL, "sealed_action" bytea NULL, "callback" varchar(16) NOT NULL, "callback_shown" text NOT NULL, "callback_attempts" smallint NOT NULL CHECK ("callback_attempts" >= 0), "callback_due_at" timestamp with time zone NULL, "sealed_callback" bytea NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "gateway_callbackattempt" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "number" smallint NOT NULL CHECK ("number" >= 0), "at" timestamp with time zone NOT NULL, "duration_ms" integer NOT NULL CHECK ("duration_ms" >= 0), "status" smallint NULL CHECK ("status" >= 0), "error_code" varchar(64) NOT NULL, "message" text NOT NULL, "call_id" uuid NOT NULL)
-- ;
CREATE TABLE "gateway_callcancel" ("call_id" uuid NOT NULL PRIMARY KEY, "by" text NOT NULL, "asked_at" timestamp with time zone NOT NULL)
-- ;
CREATE INDEX "async_call_queue" ON "gateway_asynccall" ("queued_at", "id") WHERE "state" = 'queued'
-- ;
CREATE INDEX "async_call_open" ON "gateway_asynccall" ("state") WHERE NOT ("state" = 'done')
-- ;
CREATE INDEX "async_call_newest" ON "gateway_asynccall" ("environment_id", "asked_at" DESC, "id" DESC)
-- ;
CREATE INDEX "async_call_age" ON "gateway_asynccall" ("ended_at") WHERE "state" = 'done'
-- ;
CREATE INDEX "async_call_callback" ON "gateway_asynccall" ("callback_due_at") WHERE "callback" = 'waiting'
-- ;
ALTER TABLE "gateway_asynccall" ADD CONSTRAINT "async_call_sealed_exactly_while_queued" CHECK ((("sealed_action" IS NOT NULL AND "state" = 'queued') OR (NOT ("state" = 'queued') AND "sealed_action" IS NULL)))
-- ;
ALTER TABLE "gateway_asynccall" ADD CONSTRAINT "async_call_ended_with_an_outcome" CHECK ((("ended_at" IS NOT NULL AND "state" = 'done' AND NOT ("outcome" = '')) OR (NOT ("state" = 'done') AND "ended_at" IS NULL AND "outcome" = '')))
-- ;
ALTER TABLE "gateway_asynccall" ADD CONSTRAINT "async_call_running_for_somebody" CHECK ((NOT ("state" = 'running') OR ("claimed_at" IS NOT NULL AND "claimed_by" IS NOT NULL)))
-- ;
ALTER TABLE "gateway_asynccall" ADD CONSTRAINT "async_call_callback_sealed_while_it_waits" CHECK ((("callback" = 'waiting' AND "sealed_callback" IS NOT NULL) OR (NOT ("callback" = 'waiting') AND "sealed_callback" IS NULL)))
-- ;
ALTER TABLE "gateway_callbackattempt" ADD CONSTRAINT "callback_attempt_once" UNIQUE ("call_id", "number")
-- ;
ALTER TABLE "gateway_asynccall" ADD CONSTRAINT "gateway_asynccall_environment_id_2e3ac4c9_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "gateway_asynccall_environment_id_2e3ac4c9" ON "gateway_asynccall" ("environment_id")
-- ;
ALTER TABLE "gateway_callbackattempt" ADD CONSTRAINT "gateway_callbackatte_call_id_e808fd4b_fk_gateway_a" FOREIGN KEY ("call_id") REFERENCES "gateway_asynccall" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "gateway_callbackattempt_call_id_e808fd4b" ON "gateway_callbackattempt" ("call_id")
-- ;
CREATE INDEX "call_cancel_age" ON "gateway_callcancel" ("asked_at")
-- ;
CREATE TABLE "gateway_callprogress" ("call_id" uuid NOT NULL PRIMARY KEY, "environment" text NOT NULL, "shown" jsonb NOT NULL, "at" timestamp with time zone NOT NULL)
-- ;
CREATE INDEX "call_progress_age" ON "gateway_callprogress" ("at")
-- ;
CREATE TABLE "gateway_backgroundcommand" ("id" uuid NOT NULL PRIMARY KEY, "family" text NOT NULL, "agent" text NOT NULL, "session_key" text NOT NULL, "channel" text NOT NULL, "sender" text NOT NULL, "actor" text NOT NULL, "tool" text NOT NULL, "snapshot_digest" text NOT NULL, "trace_id" text NOT NULL, "command" text NOT NULL, "workdir" text NOT NULL, "has_terminal" boolean NOT NULL, "time_limit_s" integer NOT NULL CHECK ("time_limit_s" >= 0), "state" varchar(16) NOT NULL, "holder" uuid NOT NULL, "started_at" timestamp with time zone NOT NULL, "output" text NOT NULL, "output_begin" bigint NOT NULL CHECK ("output_begin" >= 0), "output_total" bigint NOT NULL CHECK ("output_total" >= 0), "polled" bigint NOT NULL CHECK ("polled" >= 0), "accepts_input" boolean NOT NULL, "end_asked_by" text NOT NULL, "end_asked_code" varchar(32) NOT NULL, "ended_at" timestamp with time zone NULL, "outcome" varchar(16) NOT NULL, "exit_code" integer NULL, "signal" integer NULL, "error_code" text NOT NULL, "error_message" text NOT NULL, "environment_id" uuid NOT NULL, "session_id" uuid NOT NULL)
-- ;
CREATE TABLE "gateway_commandinput" ("id" uuid NOT NULL PRIMARY KEY, "sealed" bytea NOT NULL, "is_last" boolean NOT NULL, "asked_at" timestamp with time zone NOT NULL, "taken_at" timestamp with time zone NULL, "done_at" timestamp with time zone NULL, "error_code" text NOT NULL, "error_message" text NOT NULL, "command_id" uuid NOT NULL)
-- ;
CREATE INDEX "background_of_session" ON "gateway_backgroundcommand" ("session_id", "started_at" DESC)
-- ;
CREATE INDEX "background_of_family" ON "gateway_backgroundcommand" ("environment_id", "agent", "family")
-- ;
CREATE INDEX "background_open" ON "gateway_backgroundcommand" ("holder") WHERE NOT ("state" = 'ended')
-- ;
CREATE INDEX "background_age" ON "gateway_backgroundcommand" ("ended_at") WHERE "state" = 'ended'
-- ;
ALTER TABLE "gateway_backgroundcommand" ADD CONSTRAINT "background_ended_with_an_outcome" CHECK ((("ended_at" IS NOT NULL AND "state" = 'ended' AND NOT ("outcome" = '')) OR (NOT ("state" = 'ended') AND "ended_at" IS NULL AND "outcome" = '')))
-- ;
CREATE INDEX "command_input_age" ON "gateway_commandinput" ("asked_at")
-- ;
ALTER TABLE "gateway_backgroundcommand" ADD CONSTRAINT "gateway_backgroundco_environment_id_23f9c2b7_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "gateway_backgroundcommand" ADD CONSTRAINT "gateway_backgroundco_session_id_00be18a7_fk_agent_ses" FOREIGN KEY ("session_id") REFERENCES "agent_sessions_session" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "gateway_backgroundcommand_environment_id_23f9c2b7" ON "gateway_backgroundcommand" ("environment_id")
-- ;
CREATE INDEX "gateway_backgroundcommand_session_id_00be18a7" ON "gateway_backgroundcommand" ("session_id")
-- ;
ALTER TABLE "gateway_commandinput" ADD CONSTRAINT "gateway_commandinput_command_id_6316a261_fk_gateway_b" FOREIGN KEY ("command_id") REFERENCES "gateway_backgroundcommand" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "gateway_commandinput_command_id_6316a261" ON "gateway_commandinput" ("command_id")
-- ;
CREATE TABLE "gateway_untoldcall" ("call_id" uuid NOT NULL PRIMARY KEY, "sealed" bytea NOT NULL, "is_ended" boolean NOT NULL)
-- ;
ALTER TABLE "gateway_backgroundcommand" ADD COLUMN "reads_code" text DEFAULT 'a program' NOT NULL
-- ;
ALTER TABLE "gateway_backgroundcommand" ALTER COLUMN "reads_code" DROP DEFAULT
-- ;
CREATE TABLE "gateway_doorprobe" ("door" varchar(40) NOT NULL PRIMARY KEY, "state" varchar(20) NOT NULL, "reason" text NOT NULL, "asked_by" text NOT NULL, "started_at" timestamp with time zone NOT NULL, "finished_at" timestamp with time zone NULL, "call_id" uuid NULL, "chain_id" uuid NULL, "seq" bigint NULL)
-- ;
CREATE INDEX "gateway_doorprobe_door_4e9c9e4a_like" ON "gateway_doorprobe" ("door" varchar_pattern_ops)
-- ;
CREATE TABLE "halts_heardhalts" ("boot" uuid NOT NULL PRIMARY KEY, "kind" varchar(16) NOT NULL, "digest" varchar(64) NOT NULL, "heard_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "halts_halt" ("id" uuid NOT NULL PRIMARY KEY, "scope" varchar(12) NOT NULL, "name" varchar(512) NOT NULL, "state" varchar(8) NOT NULL, "reason" varchar(500) NOT NULL, "ends_running" boolean NOT NULL, "placed_at" timestamp with time zone NOT NULL, "placed_by_label" text NOT NULL, "asking_at" timestamp with time zone NULL, "asking_by_label" text NOT NULL, "lifted_at" timestamp with time zone NULL, "lifted_by_label" text NOT NULL, "frozen" integer NOT NULL CHECK ("frozen" >= 0), "environment_id" uuid NOT NULL, "placed_by_id" uuid NULL, CONSTRAINT "halt_of_an_environment_has_no_name" CHECK ((("name" = '' AND "scope" = 'environment') OR (NOT ("scope" = 'environment') AND NOT ("name" = '')))), CONSTRAINT "halt_lifted_and_dated" CHECK ((("lifted_at" IS NOT NULL AND "state" = 'lifted') OR (NOT ("state" = 'lifted') AND "lifted_at" IS NULL))))
-- ;
ALTER TABLE "halts_halt" ADD CONSTRAINT "halts_halt_environment_id_59086672_fk_registry_environment_id" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "halts_halt" ADD CONSTRAINT "halts_halt_placed_by_id_cfbb2146_fk_accounts_user_id" FOREIGN KEY ("placed_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE UNIQUE INDEX "halt_once_at_a_time" ON "halts_halt" ("environment_id", "scope", "name") WHERE NOT ("state" = 'lifted')
-- ;
CREATE INDEX "halts_halt_environment_id_59086672" ON "halts_halt" ("environment_id")
-- ;
CREATE INDEX "halts_halt_placed_by_id_cfbb2146" ON "halts_halt" ("placed_by_id")
-- ;
CREATE INDEX "halt_history" ON "halts_halt" ("environment_id", "placed_at" DESC)
-- ;
CREATE TABLE "limits_breakerpolicy" ("environment_id" uuid NOT NULL PRIMARY KEY, "failures" integer NOT NULL CHECK ("failures" >= 0), "pause_s" integer NOT NULL CHECK ("pause_s" >= 0), "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "limits_breakerpolicyevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "failures" integer NOT NULL CHECK ("failures" >= 0), "pause_s" integer NOT NULL CHECK ("pause_s" >= 0), "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "limits_keptresult" ("key" varchar(64) NOT NULL PRIMARY KEY, "tool" varchar(512) NOT NULL, "call_id" uuid NOT NULL, "sealed" bytea NOT NULL, "kept_at" timestamp with time zone NOT NULL, "expires_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "limits_ratecounter" ("key" varchar(64) NOT NULL PRIMARY KEY, "rate" varchar(36) NOT NULL, "subject" varchar(200) NOT NULL, "minute" bigint NOT NULL, "current" integer NOT NULL CHECK ("current" >= 0), "previous" integer NOT NULL CHECK ("previous" >= 0), "refused" bigint NOT NULL CHECK ("refused" >= 0), "refused_at" timestamp with time zone NULL)
-- ;
CREATE TABLE "limits_ratelimit" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(100) NOT NULL, "per" varchar(12) NOT NULL, "per_minute" integer NOT NULL CHECK ("per_minute" >= 0), "tools" varchar(200)[200] NOT NULL, "agents" varchar(200)[200] NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "limits_ratelimitevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "name" varchar(100) NOT NULL, "per" varchar(12) NOT NULL, "per_minute" integer NOT NULL CHECK ("per_minute" >= 0), "tools" varchar(200)[200] NOT NULL, "agents" varchar(200)[200] NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "limits_toolbreaker" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "tool" varchar(512) NOT NULL, "failures" integer NOT NULL CHECK ("failures" >= 0), "opened_at" timestamp with time zone NULL, "tried_at" timestamp with time zone NULL, "error_code" varchar(64) NOT NULL, "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_14552()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "limits_breakerpolicyevent" ("environment_id", "failures", "is_enabled", "pause_s", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "updated_at", "version") VALUES (NEW."environment_id", NEW."failures", NEW."is_enabled", NEW."pause_s", _pgh_attach_context(), NOW(), 'insert', NEW."environment_id", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_14552 ON "limits_breakerpolicy";
            CREATE  TRIGGER pgtrigger_insert_insert_14552
                AFTER INSERT ON "limits_breakerpolicy"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_14552();

            COMMENT ON TRIGGER pgtrigger_insert_insert_14552 ON "limits_breakerpolicy" IS '3383ea55ceb030bc17bcb29a00073629b2c1fe27';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_ab212()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "limits_breakerpolicyevent" ("environment_id", "failures", "is_enabled", "pause_s", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "updated_at", "version") VALUES (NEW."environment_id", NEW."failures", NEW."is_enabled", NEW."pause_s", _pgh_attach_context(), NOW(), 'update', NEW."environment_id", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_ab212 ON "limits_breakerpolicy";
            CREATE  TRIGGER pgtrigger_update_update_ab212
                AFTER UPDATE ON "limits_breakerpolicy"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_ab212();

            COMMENT ON TRIGGER pgtrigger_update_update_ab212 ON "limits_breakerpolicy" IS 'b62637121bd91459acf3aae54790210090994838';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_88f89()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "limits_breakerpolicyevent" ("environment_id", "failures", "is_enabled", "pause_s", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "updated_at", "version") VALUES (OLD."environment_id", OLD."failures", OLD."is_enabled", OLD."pause_s", _pgh_attach_context(), NOW(), 'delete', OLD."environment_id", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_88f89 ON "limits_breakerpolicy";
            CREATE  TRIGGER pgtrigger_delete_delete_88f89
                AFTER DELETE ON "limits_breakerpolicy"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_88f89();

            COMMENT ON TRIGGER pgtrigger_delete_delete_88f89 ON "limits_breakerpolicy" IS 'dd205e80047c9628303bb65f8cd37aceadf55a69';
-- ;
ALTER TABLE "limits_breakerpolicyevent" ADD COLUMN "environment_id" uuid NOT NULL
-- ;
ALTER TABLE "limits_breakerpolicyevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "limits_breakerpolicyevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
ALTER TABLE "limits_keptresult" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "limits_keptresult_environment_id_af9259bf_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "limits_keptresult_environment_id_af9259bf_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "limits_ratecounter" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "limits_ratecounter_environment_id_59c083d1_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "limits_ratecounter_environment_id_59c083d1_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "limits_ratelimit" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "limits_ratelimit_environment_id_27324596_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "limits_ratelimit_environment_id_27324596_fk_registry_" IMMEDIATE
-- ;
ALTER TABLE "limits_ratelimitevent" ADD COLUMN "environment_id" uuid NOT NULL
-- ;
ALTER TABLE "limits_ratelimitevent" ADD COLUMN "pgh_context_id" uuid NULL
-- ;
ALTER TABLE "limits_ratelimitevent" ADD COLUMN "pgh_obj_id" uuid NOT NULL
-- ;
ALTER TABLE "limits_toolbreaker" ADD COLUMN "environment_id" uuid NOT NULL CONSTRAINT "limits_toolbreaker_environment_id_72f16b3f_fk_registry_" REFERENCES "registry_environment"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "limits_toolbreaker_environment_id_72f16b3f_fk_registry_" IMMEDIATE
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_04e69()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_04e69 ON "limits_breakerpolicyevent";
            CREATE  TRIGGER pgtrigger_append_only_04e69
                BEFORE UPDATE OR DELETE ON "limits_breakerpolicyevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_04e69();

            COMMENT ON TRIGGER pgtrigger_append_only_04e69 ON "limits_breakerpolicyevent" IS '8e4b2a9bfc1ddc3d8b6d24460c8269db72b3ffef';
-- ;
CREATE INDEX "kept_result_age" ON "limits_keptresult" ("expires_at")
-- ;
CREATE INDEX "rate_counter_age" ON "limits_ratecounter" ("minute")
-- ;
CREATE INDEX "rate_counter_refusals" ON "limits_ratecounter" ("environment_id", "refused_at" DESC)
-- ;
ALTER TABLE "limits_ratelimit" ADD CONSTRAINT "rate_limit_name_once_per_environment" UNIQUE ("environment_id", "name")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_f76b9()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "limits_ratelimitevent" ("agents", "created_at", "environment_id", "id", "is_enabled", "name", "per", "per_minute", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tools", "updated_at", "version") VALUES (NEW."agents", NEW."created_at", NEW."environment_id", NEW."id", NEW."is_enabled", NEW."name", NEW."per", NEW."per_minute", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."tools", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_f76b9 ON "limits_ratelimit";
            CREATE  TRIGGER pgtrigger_insert_insert_f76b9
                AFTER INSERT ON "limits_ratelimit"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_f76b9();

            COMMENT ON TRIGGER pgtrigger_insert_insert_f76b9 ON "limits_ratelimit" IS 'd41dc30e18f1845a8d430e89e075a298362a3106';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_cd80d()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "limits_ratelimitevent" ("agents", "created_at", "environment_id", "id", "is_enabled", "name", "per", "per_minute", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tools", "updated_at", "version") VALUES (NEW."agents", NEW."created_at", NEW."environment_id", NEW."id", NEW."is_enabled", NEW."name", NEW."per", NEW."per_minute", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."tools", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_cd80d ON "limits_ratelimit";
            CREATE  TRIGGER pgtrigger_update_update_cd80d
                AFTER UPDATE ON "limits_ratelimit"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_cd80d();

            COMMENT ON TRIGGER pgtrigger_update_update_cd80d ON "limits_ratelimit" IS 'a098523d76f8753b817b25c50fd6514af8529a2c';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_f8979()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "limits_ratelimitevent" ("agents", "created_at", "environment_id", "id", "is_enabled", "name", "per", "per_minute", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tools", "updated_at", "version") VALUES (OLD."agents", OLD."created_at", OLD."environment_id", OLD."id", OLD."is_enabled", OLD."name", OLD."per", OLD."per_minute", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."tools", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_f8979 ON "limits_ratelimit";
            CREATE  TRIGGER pgtrigger_delete_delete_f8979
                AFTER DELETE ON "limits_ratelimit"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_f8979();

            COMMENT ON TRIGGER pgtrigger_delete_delete_f8979 ON "limits_ratelimit" IS 'fc83e13a530625f0b813b4b8250facd90f3ac13b';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_1afd7()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_1afd7 ON "limits_ratelimitevent";
            CREATE  TRIGGER pgtrigger_append_only_1afd7
                BEFORE UPDATE OR DELETE ON "limits_ratelimitevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_1afd7();

            COMMENT ON TRIGGER pgtrigger_append_only_1afd7 ON "limits_ratelimitevent" IS 'c1094774e679b7c868686d1563aac2f044aa95db';
-- ;
ALTER TABLE "limits_toolbreaker" ADD CONSTRAINT "breaker_once_per_tool" UNIQUE ("environment_id", "tool")
-- ;
ALTER TABLE "limits_breakerpolicy" ADD CONSTRAINT "limits_breakerpolicy_environment_id_9e177391_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "limits_keptresult_key_c4e95d33_like" ON "limits_keptresult" ("key" varchar_pattern_ops)
-- ;
CREATE INDEX "limits_ratecounter_key_d0f14561_like" ON "limits_ratecounter" ("key" varchar_pattern_ops)
-- ;
CREATE INDEX "limits_breakerpolicyevent_environment_id_aebf3f48" ON "limits_breakerpolicyevent" ("environment_id")
-- ;
CREATE INDEX "limits_breakerpolicyevent_pgh_context_id_b30563fb" ON "limits_breakerpolicyevent" ("pgh_context_id")
-- ;
CREATE INDEX "limits_breakerpolicyevent_pgh_obj_id_fbf0b133" ON "limits_breakerpolicyevent" ("pgh_obj_id")
-- ;
CREATE INDEX "limits_keptresult_environment_id_af9259bf" ON "limits_keptresult" ("environment_id")
-- ;
CREATE INDEX "limits_ratecounter_environment_id_59c083d1" ON "limits_ratecounter" ("environment_id")
-- ;
CREATE INDEX "limits_ratelimit_environment_id_27324596" ON "limits_ratelimit" ("environment_id")
-- ;
CREATE INDEX "limits_ratelimitevent_environment_id_8e60e492" ON "limits_ratelimitevent" ("environment_id")
-- ;
CREATE INDEX "limits_ratelimitevent_pgh_context_id_d265b672" ON "limits_ratelimitevent" ("pgh_context_id")
-- ;
CREATE INDEX "limits_ratelimitevent_pgh_obj_id_c7c12389" ON "limits_ratelimitevent" ("pgh_obj_id")
-- ;
CREATE INDEX "limits_toolbreaker_environment_id_72f16b3f" ON "limits_toolbreaker" ("environment_id")
-- ;
CREATE TABLE "policies_agent" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "profile" varchar(128) NULL, "sandbox_allow" varchar(512)[] NULL, "sandbox_also_allow" varchar(512)[] NULL, "sandbox_deny" varchar(512)[] NULL, "fs_workspace_only" boolean NULL, "key" varchar(128) NOT NULL, "name" varchar(200) NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_agentevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "profile" varchar(128) NULL, "sandbox_allow" varchar(512)[] NULL, "sandbox_also_allow" varchar(512)[] NULL, "sandbox_deny" varchar(512)[] NULL, "fs_workspace_only" boolean NULL, "key" varchar(128) NOT NULL, "name" varchar(200) NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_allowlistentry" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "entry_id" varchar(64) NULL, "pattern" varchar(1024) NOT NULL, "arg_pattern" varchar(2048) NULL, "source" varchar(64) NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_channel" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(128) NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_channelaccount" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(256) NOT NULL, "channel_id" uuid NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_channelaccountevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(256) NOT NULL, "channel_id" uuid NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_channelevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(128) NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_channelgroup" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "kind" varchar(16) NOT NULL, "key" varchar(512) NOT NULL, "has_tools" boolean NOT NULL, "account_id" uuid NULL, "channel_id" uuid NOT NULL, "environment_id" uuid NOT NULL, "parent_id" uuid NULL)
-- ;
CREATE TABLE "policies_channelgroupevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "kind" varchar(16) NOT NULL, "key" varchar(512) NOT NULL, "has_tools" boolean NOT NULL, "account_id" uuid NULL, "channel_id" uuid NOT NULL, "environment_id" uuid NOT NULL, "parent_id" uuid NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_execapprovals" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "security" varchar(16) NULL, "ask" varchar(16) NULL, "ask_fallback" varchar(16) NULL, "auto_allow_skills" boolean NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_execapprovalsagent" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "security" varchar(16) NULL, "ask" varchar(16) NULL, "ask_fallback" varchar(16) NULL, "auto_allow_skills" boolean NULL, "key" varchar(128) NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_allowlistentryevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "entry_id" varchar(64) NULL, "pattern" varchar(1024) NOT NULL, "arg_pattern" varchar(2048) NULL, "source" varchar(64) NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL, "approvals_agent_id" uuid NOT NULL)
-- ;
ALTER TABLE "policies_allowlistentry" ADD COLUMN "approvals_agent_id" uuid NOT NULL CONSTRAINT "policies_allowlisten_approvals_agent_id_b1fc3c7c_fk_policies_" REFERENCES "policies_execapprovalsagent"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "policies_allowlisten_approvals_agent_id_b1fc3c7c_fk_policies_" IMMEDIATE
-- ;
CREATE TABLE "policies_execapprovalsagentevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "security" varchar(16) NULL, "ask" varchar(16) NULL, "ask_fallback" varchar(16) NULL, "auto_allow_skills" boolean NULL, "key" varchar(128) NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_execapprovalsevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "security" varchar(16) NULL, "ask" varchar(16) NULL, "ask_fallback" varchar(16) NULL, "auto_allow_skills" boolean NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_execsettings" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "host" varchar(16) NULL, "mode" varchar(16) NULL, "security" varchar(16) NULL, "ask" varchar(16) NULL, "node" varchar(256) NULL, "path_prepend" varchar(512)[] NULL, "safe_bins" varchar(512)[] NULL, "safe_bin_trusted_dirs" varchar(512)[] NULL, "safe_bin_profiles" json NULL, "strict_inline_eval" boolean NULL, "timeout_s" integer NULL CHECK ("timeout_s" >= 0), "grant_expiry_days" integer NULL CHECK ("grant_expiry_days" >= 0), "apply_patch_enabled" boolean NULL, "apply_patch_workspace_only" boolean NULL, "apply_patch_allow_models" varchar(512)[] NULL, "agent_id" uuid NULL UNIQUE, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_execsettingsevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "host" varchar(16) NULL, "mode" varchar(16) NULL, "security" varchar(16) NULL, "ask" varchar(16) NULL, "node" varchar(256) NULL, "path_prepend" varchar(512)[] NULL, "safe_bins" varchar(512)[] NULL, "safe_bin_trusted_dirs" varchar(512)[] NULL, "safe_bin_profiles" json NULL, "strict_inline_eval" boolean NULL, "timeout_s" integer NULL CHECK ("timeout_s" >= 0), "grant_expiry_days" integer NULL CHECK ("grant_expiry_days" >= 0), "apply_patch_enabled" boolean NULL, "apply_patch_workspace_only" boolean NULL, "apply_patch_allow_models" varchar(512)[] NULL, "agent_id" uuid NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_globalpolicy" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "profile" varchar(128) NULL, "sandbox_allow" varchar(512)[] NULL, "sandbox_also_allow" varchar(512)[] NULL, "sandbox_deny" varchar(512)[] NULL, "fs_workspace_only" boolean NULL, "subagent_allow" varchar(512)[] NULL, "subagent_also_allow" varchar(512)[] NULL, "subagent_deny" varchar(512)[] NULL, "max_spawn_depth" integer NULL CHECK ("max_spawn_depth" >= 0), "owners" json NULL, "ownership" varchar(32) NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_globalpolicyevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "profile" varchar(128) NULL, "sandbox_allow" varchar(512)[] NULL, "sandbox_also_allow" varchar(512)[] NULL, "sandbox_deny" varchar(512)[] NULL, "fs_workspace_only" boolean NULL, "subagent_allow" varchar(512)[] NULL, "subagent_also_allow" varchar(512)[] NULL, "subagent_deny" varchar(512)[] NULL, "max_spawn_depth" integer NULL CHECK ("max_spawn_depth" >= 0), "owners" json NULL, "ownership" varchar(32) NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_profile" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(128) NOT NULL, "label" varchar(200) NOT NULL, "description" text NOT NULL, "allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_profileevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(128) NOT NULL, "label" varchar(200) NOT NULL, "description" text NOT NULL, "allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_providerpolicy" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "key" varchar(512) NOT NULL, "profile" varchar(128) NULL, "agent_id" uuid NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_providerpolicyevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "key" varchar(512) NOT NULL, "profile" varchar(128) NULL, "agent_id" uuid NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_senderrule" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "key" varchar(512) NOT NULL, "agent_id" uuid NULL, "environment_id" uuid NOT NULL, "group_id" uuid NULL)
-- ;
CREATE TABLE "policies_senderruleevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "allow" varchar(512)[] NULL, "also_allow" varchar(512)[] NULL, "deny" varchar(512)[] NULL, "key" varchar(512) NOT NULL, "agent_id" uuid NULL, "environment_id" uuid NOT NULL, "group_id" uuid NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_storedsnapshot" ("digest" varchar(64) NOT NULL PRIMARY KEY, "content" bytea NOT NULL, "signature" bytea NOT NULL, "key_id" varchar(64) NOT NULL, "format" integer NOT NULL CHECK ("format" >= 0), "dialect" varchar(16) NOT NULL, "created_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_publication" ("id" uuid NOT NULL PRIMARY KEY, "number" integer NOT NULL CHECK ("number" >= 0), "message" text NOT NULL, "actor" varchar(200) NOT NULL, "published_at" timestamp with time zone NOT NULL, "document" json NOT NULL, "approvals_document" json NULL, "log_marks" jsonb NOT NULL, "environment_id" uuid NOT NULL, "published_by_id" uuid NULL, "rollback_of_id" uuid NULL, "snapshot_id" varchar(64) NOT NULL)
-- ;
ALTER TABLE "policies_agent" ADD CONSTRAINT "agent_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
ALTER TABLE "policies_agent" ADD CONSTRAINT "agent_has_key" CHECK (NOT ("key" = ''))
-- ;
ALTER TABLE "policies_agent" ADD CONSTRAINT "agent_allow_or_also" CHECK (("allow" IS NULL OR "also_allow" IS NULL OR CASE WHEN "allow" IS NULL THEN NULL ELSE coalesce(array_length("allow", 1), 0) END = 0 OR CASE WHEN "also_allow" IS NULL THEN NULL ELSE coalesce(array_length("also_allow", 1), 0) END = 0))
-- ;
ALTER TABLE "policies_agent" ADD CONSTRAINT "agent_sandbox_allow_or_also" CHECK (("sandbox_allow" IS NULL OR "sandbox_also_allow" IS NULL OR CASE WHEN "sandbox_allow" IS NULL THEN NULL ELSE coalesce(array_length("sandbox_allow", 1), 0) END = 0 OR CASE WHEN "sandbox_also_allow" IS NULL THEN NULL ELSE coalesce(array_length("sandbox_also_allow", 1), 0) END = 0))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_2f8dd()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "environment_id", "extra", "fs_workspace_only", "id", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."key", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_2f8dd ON "policies_agent";
            CREATE  TRIGGER pgtrigger_insert_insert_2f8dd
                AFTER INSERT ON "policies_agent"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_2f8dd();

            COMMENT ON TRIGGER pgtrigger_insert_insert_2f8dd ON "policies_agent" IS 'cc483512f4aea52be4c833ff11a365f99d924e1a';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_d77c2()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "environment_id", "extra", "fs_workspace_only", "id", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."key", new_values."name", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_d77c2 ON "policies_agent";
            CREATE  TRIGGER pgtrigger_update_update_d77c2
                AFTER UPDATE ON "policies_agent"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_d77c2();

            COMMENT ON TRIGGER pgtrigger_update_update_d77c2 ON "policies_agent" IS 'a15a737bc873e5c697403643cbe33e5fd642177d';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_7fe11()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "environment_id", "extra", "fs_workspace_only", "id", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."key", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_7fe11 ON "policies_agent";
            CREATE  TRIGGER pgtrigger_delete_delete_7fe11
                AFTER DELETE ON "policies_agent"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_7fe11();

            COMMENT ON TRIGGER pgtrigger_delete_delete_7fe11 ON "policies_agent" IS '02545f3116f194f4e9f5227e863e78695d5d3745';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_89bf4()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_89bf4 ON "policies_agentevent";
            CREATE  TRIGGER pgtrigger_append_only_89bf4
                BEFORE UPDATE OR DELETE ON "policies_agentevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_89bf4();

            COMMENT ON TRIGGER pgtrigger_append_only_89bf4 ON "policies_agentevent" IS 'cef6307c994d63cd8e84d8f239607a9930657773';
-- ;
ALTER TABLE "policies_channel" ADD CONSTRAINT "channel_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
ALTER TABLE "policies_channel" ADD CONSTRAINT "channel_has_key" CHECK (NOT ("key" = ''))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_034be()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelevent" ("environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_034be ON "policies_channel";
            CREATE  TRIGGER pgtrigger_insert_insert_034be
                AFTER INSERT ON "policies_channel"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_034be();

            COMMENT ON TRIGGER pgtrigger_insert_insert_034be ON "policies_channel" IS '2e4ac2e6058d7c9b28aa016df64a554cfdff87aa';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_c9f69()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelevent" ("environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_c9f69 ON "policies_channel";
            CREATE  TRIGGER pgtrigger_update_update_c9f69
                AFTER UPDATE ON "policies_channel"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_c9f69();

            COMMENT ON TRIGGER pgtrigger_update_update_c9f69 ON "policies_channel" IS 'ec4a061225de26fc01a585c4acf6139d08586c8e';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_37eeb()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelevent" ("environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT old_values."environment_id", old_values."extra", old_values."id", old_values."key", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_37eeb ON "policies_channel";
            CREATE  TRIGGER pgtrigger_delete_delete_37eeb
                AFTER DELETE ON "policies_channel"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_37eeb();

            COMMENT ON TRIGGER pgtrigger_delete_delete_37eeb ON "policies_channel" IS '918b9ceefae06a014ad04629135802cb058d5655';
-- ;
ALTER TABLE "policies_channelaccount" ADD CONSTRAINT "account_once_per_channel" UNIQUE ("channel_id", "key")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_6e847()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelaccountevent" ("channel_id", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."channel_id", new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_6e847 ON "policies_channelaccount";
            CREATE  TRIGGER pgtrigger_insert_insert_6e847
                AFTER INSERT ON "policies_channelaccount"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_6e847();

            COMMENT ON TRIGGER pgtrigger_insert_insert_6e847 ON "policies_channelaccount" IS '2b9ca2e1f2019a24e07250314366c7256754dd68';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_6f2ba()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelaccountevent" ("channel_id", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."channel_id", new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_6f2ba ON "policies_channelaccount";
            CREATE  TRIGGER pgtrigger_update_update_6f2ba
                AFTER UPDATE ON "policies_channelaccount"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_6f2ba();

            COMMENT ON TRIGGER pgtrigger_update_update_6f2ba ON "policies_channelaccount" IS 'a310ad4a03fdbc2a0f3f6b157eccae92ec6a4272';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_ef3ef()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelaccountevent" ("channel_id", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT old_values."channel_id", old_values."environment_id", old_values."extra", old_values."id", old_values."key", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_ef3ef ON "policies_channelaccount";
            CREATE  TRIGGER pgtrigger_delete_delete_ef3ef
                AFTER DELETE ON "policies_channelaccount"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_ef3ef();

            COMMENT ON TRIGGER pgtrigger_delete_delete_ef3ef ON "policies_channelaccount" IS '8db2371f1856f85f629c1350ebcb9837dc144cdf';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_bb7b8()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_bb7b8 ON "policies_channelaccountevent";
            CREATE  TRIGGER pgtrigger_append_only_bb7b8
                BEFORE UPDATE OR DELETE ON "policies_channelaccountevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_bb7b8();

            COMMENT ON TRIGGER pgtrigger_append_only_bb7b8 ON "policies_channelaccountevent" IS '3a04e1c8933af2986fd7d0b37cc30b290acb9e03';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_96b8b()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_96b8b ON "policies_channelevent";
            CREATE  TRIGGER pgtrigger_append_only_96b8b
                BEFORE UPDATE OR DELETE ON "policies_channelevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_96b8b();

            COMMENT ON TRIGGER pgtrigger_append_only_96b8b ON "policies_channelevent" IS 'f515d356de9f18cf3c7059f52ca43e31e4deb272';
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "group_once_per_map" UNIQUE NULLS NOT DISTINCT ("channel_id", "account_id", "parent_id", "kind", "key")
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "group_kind_known" CHECK ("kind" IN ('groups', 'direct', 'guilds', 'teams', 'channels', 'rooms'))
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "only_channels_stand_inside" CHECK (("parent_id" IS NULL OR "kind" = 'channels'))
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "group_lists_need_tools" CHECK (("has_tools" OR ("allow" IS NULL AND "also_allow" IS NULL AND "deny" IS NULL)))
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "group_allow_or_also" CHECK (("allow" IS NULL OR "also_allow" IS NULL OR CASE WHEN "allow" IS NULL THEN NULL ELSE coalesce(array_length("allow", 1), 0) END = 0 OR CASE WHEN "also_allow" IS NULL THEN NULL ELSE coalesce(array_length("also_allow", 1), 0) END = 0))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_b5be8()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelgroupevent" ("account_id", "allow", "also_allow", "channel_id", "deny", "environment_id", "extra", "has_tools", "id", "key", "kind", "parent_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."account_id", new_values."allow", new_values."also_allow", new_values."channel_id", new_values."deny", new_values."environment_id", new_values."extra", new_values."has_tools", new_values."id", new_values."key", new_values."kind", new_values."parent_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_b5be8 ON "policies_channelgroup";
            CREATE  TRIGGER pgtrigger_insert_insert_b5be8
                AFTER INSERT ON "policies_channelgroup"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_b5be8();

            COMMENT ON TRIGGER pgtrigger_insert_insert_b5be8 ON "policies_channelgroup" IS 'ba91d91c4fce5ee0b529a6f9d18832abe48bf92f';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_be6de()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelgroupevent" ("account_id", "allow", "also_allow", "channel_id", "deny", "environment_id", "extra", "has_tools", "id", "key", "kind", "parent_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."account_id", new_values."allow", new_values."also_allow", new_values."channel_id", new_values."deny", new_values."environment_id", new_values."extra", new_values."has_tools", new_values."id", new_values."key", new_values."kind", new_values."parent_id", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_be6de ON "policies_channelgroup";
            CREATE  TRIGGER pgtrigger_update_update_be6de
                AFTER UPDATE ON "policies_channelgroup"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_be6de();

            COMMENT ON TRIGGER pgtrigger_update_update_be6de ON "policies_channelgroup" IS 'c43f54de64b4936e57fa71f4a363ca44c70f3000';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_8c090()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_channelgroupevent" ("account_id", "allow", "also_allow", "channel_id", "deny", "environment_id", "extra", "has_tools", "id", "key", "kind", "parent_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT old_values."account_id", old_values."allow", old_values."also_allow", old_values."channel_id", old_values."deny", old_values."environment_id", old_values."extra", old_values."has_tools", old_values."id", old_values."key", old_values."kind", old_values."parent_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_8c090 ON "policies_channelgroup";
            CREATE  TRIGGER pgtrigger_delete_delete_8c090
                AFTER DELETE ON "policies_channelgroup"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_8c090();

            COMMENT ON TRIGGER pgtrigger_delete_delete_8c090 ON "policies_channelgroup" IS '6281aa0394fa3375c47f5ceb6ad3139b74bbbb7b';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_a8ea2()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_a8ea2 ON "policies_channelgroupevent";
            CREATE  TRIGGER pgtrigger_append_only_a8ea2
                BEFORE UPDATE OR DELETE ON "policies_channelgroupevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_a8ea2();

            COMMENT ON TRIGGER pgtrigger_append_only_a8ea2 ON "policies_channelgroupevent" IS '88ce435db263d4c4bddba396764b2e61e4f9468a';
-- ;
ALTER TABLE "policies_execapprovals" ADD CONSTRAINT "exec_approvals_once_per_environment" UNIQUE ("environment_id")
-- ;
ALTER TABLE "policies_execapprovals" ADD CONSTRAINT "exec_approvals_security_known" CHECK (("security" IS NULL OR "security" IN ('deny', 'allowlist', 'full')))
-- ;
ALTER TABLE "policies_execapprovals" ADD CONSTRAINT "exec_approvals_ask_known" CHECK (("ask" IS NULL OR "ask" IN ('off', 'on-miss', 'always')))
-- ;
ALTER TABLE "policies_execapprovals" ADD CONSTRAINT "exec_approvals_ask_fallback_known" CHECK (("ask_fallback" IS NULL OR "ask_fallback" IN ('deny', 'allowlist', 'full')))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_d86d3()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execapprovalsevent" ("ask", "ask_fallback", "auto_allow_skills", "environment_id", "extra", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "security", "version") SELECT new_values."ask", new_values."ask_fallback", new_values."auto_allow_skills", new_values."environment_id", new_values."extra", new_values."id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."security", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_d86d3 ON "policies_execapprovals";
            CREATE  TRIGGER pgtrigger_insert_insert_d86d3
                AFTER INSERT ON "policies_execapprovals"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_d86d3();

            COMMENT ON TRIGGER pgtrigger_insert_insert_d86d3 ON "policies_execapprovals" IS '9fb4c22958d93ee5593fba5f335a87eb151a0a50';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_5c68e()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execapprovalsevent" ("ask", "ask_fallback", "auto_allow_skills", "environment_id", "extra", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "security", "version") SELECT new_values."ask", new_values."ask_fallback", new_values."auto_allow_skills", new_values."environment_id", new_values."extra", new_values."id", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."security", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_5c68e ON "policies_execapprovals";
            CREATE  TRIGGER pgtrigger_update_update_5c68e
                AFTER UPDATE ON "policies_execapprovals"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_5c68e();

            COMMENT ON TRIGGER pgtrigger_update_update_5c68e ON "policies_execapprovals" IS 'd419a199d5fff2d3744122aef10bdffb7388a74a';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_aa158()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execapprovalsevent" ("ask", "ask_fallback", "auto_allow_skills", "environment_id", "extra", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "security", "version") SELECT old_values."ask", old_values."ask_fallback", old_values."auto_allow_skills", old_values."environment_id", old_values."extra", old_values."id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."security", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_aa158 ON "policies_execapprovals";
            CREATE  TRIGGER pgtrigger_delete_delete_aa158
                AFTER DELETE ON "policies_execapprovals"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_aa158();

            COMMENT ON TRIGGER pgtrigger_delete_delete_aa158 ON "policies_execapprovals" IS 'd7a3322a4e9c99363234ad2d30e94fa8d77ff491';
-- ;
ALTER TABLE "policies_execapprovalsagent" ADD CONSTRAINT "exec_approvals_agent_once" UNIQUE ("environment_id", "key")
-- ;
ALTER TABLE "policies_execapprovalsagent" ADD CONSTRAINT "exec_approvals_agent_has_key" CHECK (NOT ("key" = ''))
-- ;
ALTER TABLE "policies_execapprovalsagent" ADD CONSTRAINT "exec_approvals_agent_security_known" CHECK (("security" IS NULL OR "security" IN ('deny', 'allowlist', 'full')))
-- ;
ALTER TABLE "policies_execapprovalsagent" ADD CONSTRAINT "exec_approvals_agent_ask_known" CHECK (("ask" IS NULL OR "ask" IN ('off', 'on-miss', 'always')))
-- ;
ALTER TABLE "policies_execapprovalsagent" ADD CONSTRAINT "exec_approvals_agent_ask_fallback_known" CHECK (("ask_fallback" IS NULL OR "ask_fallback" IN ('deny', 'allowlist', 'full')))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_81f22()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execapprovalsagentevent" ("ask", "ask_fallback", "auto_allow_skills", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "security", "version") SELECT new_values."ask", new_values."ask_fallback", new_values."auto_allow_skills", new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."security", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_81f22 ON "policies_execapprovalsagent";
            CREATE  TRIGGER pgtrigger_insert_insert_81f22
                AFTER INSERT ON "policies_execapprovalsagent"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_81f22();

            COMMENT ON TRIGGER pgtrigger_insert_insert_81f22 ON "policies_execapprovalsagent" IS 'a9897fab2aca5edb980e6c8ec102aafc2792402c';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_02680()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execapprovalsagentevent" ("ask", "ask_fallback", "auto_allow_skills", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "security", "version") SELECT new_values."ask", new_values."ask_fallback", new_values."auto_allow_skills", new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."security", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_02680 ON "policies_execapprovalsagent";
            CREATE  TRIGGER pgtrigger_update_update_02680
                AFTER UPDATE ON "policies_execapprovalsagent"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_02680();

            COMMENT ON TRIGGER pgtrigger_update_update_02680 ON "policies_execapprovalsagent" IS '4b975ff47bc343a4a42eaa11fc1055bd7907fe35';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_41d16()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execapprovalsagentevent" ("ask", "ask_fallback", "auto_allow_skills", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "security", "version") SELECT old_values."ask", old_values."ask_fallback", old_values."auto_allow_skills", old_values."environment_id", old_values."extra", old_values."id", old_values."key", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."security", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_41d16 ON "policies_execapprovalsagent";
            CREATE  TRIGGER pgtrigger_delete_delete_41d16
                AFTER DELETE ON "policies_execapprovalsagent"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_41d16();

            COMMENT ON TRIGGER pgtrigger_delete_delete_41d16 ON "policies_execapprovalsagent" IS 'a11b23021b0b13ca64591bbf40093340042a723f';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_76e9b()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_76e9b ON "policies_allowlistentryevent";
            CREATE  TRIGGER pgtrigger_append_only_76e9b
                BEFORE UPDATE OR DELETE ON "policies_allowlistentryevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_76e9b();

            COMMENT ON TRIGGER pgtrigger_append_only_76e9b ON "policies_allowlistentryevent" IS '79bf7126af2ed068fd928ae895921c5e4b7ebf7b';
-- ;
ALTER TABLE "policies_allowlistentry" ADD CONSTRAINT "allowlist_entry_has_pattern" CHECK (NOT ("pattern" = ''))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_851ce()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_allowlistentryevent" ("approvals_agent_id", "arg_pattern", "entry_id", "environment_id", "extra", "id", "pattern", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "source", "version") SELECT new_values."approvals_agent_id", new_values."arg_pattern", new_values."entry_id", new_values."environment_id", new_values."extra", new_values."id", new_values."pattern", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."source", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_851ce ON "policies_allowlistentry";
            CREATE  TRIGGER pgtrigger_insert_insert_851ce
                AFTER INSERT ON "policies_allowlistentry"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_851ce();

            COMMENT ON TRIGGER pgtrigger_insert_insert_851ce ON "policies_allowlistentry" IS '55c7769c1771c5f3fa0516d0c1fa3249fb7d8ad3';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_4812e()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_allowlistentryevent" ("approvals_agent_id", "arg_pattern", "entry_id", "environment_id", "extra", "id", "pattern", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "source", "version") SELECT new_values."approvals_agent_id", new_values."arg_pattern", new_values."entry_id", new_values."environment_id", new_values."extra", new_values."id", new_values."pattern", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."source", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_4812e ON "policies_allowlistentry";
            CREATE  TRIGGER pgtrigger_update_update_4812e
                AFTER UPDATE ON "policies_allowlistentry"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_4812e();

            COMMENT ON TRIGGER pgtrigger_update_update_4812e ON "policies_allowlistentry" IS '8c1f5236cc615074c6ddb4808652c91c00a48580';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_a36bb()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_allowlistentryevent" ("approvals_agent_id", "arg_pattern", "entry_id", "environment_id", "extra", "id", "pattern", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "source", "version") SELECT old_values."approvals_agent_id", old_values."arg_pattern", old_values."entry_id", old_values."environment_id", old_values."extra", old_values."id", old_values."pattern", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."source", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a36bb ON "policies_allowlistentry";
            CREATE  TRIGGER pgtrigger_delete_delete_a36bb
                AFTER DELETE ON "policies_allowlistentry"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_a36bb();

            COMMENT ON TRIGGER pgtrigger_delete_delete_a36bb ON "policies_allowlistentry" IS '3faf1d9597be1f199c37cc226edf208a252eb430';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_eeca1()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_eeca1 ON "policies_execapprovalsagentevent";
            CREATE  TRIGGER pgtrigger_append_only_eeca1
                BEFORE UPDATE OR DELETE ON "policies_execapprovalsagentevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_eeca1();

            COMMENT ON TRIGGER pgtrigger_append_only_eeca1 ON "policies_execapprovalsagentevent" IS '84f6bf909760f4631f405ee1131a132713406118';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_c9bbb()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_c9bbb ON "policies_execapprovalsevent";
            CREATE  TRIGGER pgtrigger_append_only_c9bbb
                BEFORE UPDATE OR DELETE ON "policies_execapprovalsevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_c9bbb();

            COMMENT ON TRIGGER pgtrigger_append_only_c9bbb ON "policies_execapprovalsevent" IS '66e7e167aa27036adfc0ae6a4106bd814319c657';
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "exec_settings_once_per_scope" UNIQUE NULLS NOT DISTINCT ("environment_id", "agent_id")
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "exec_mode_or_legacy_pair" CHECK (("mode" IS NULL OR ("ask" IS NULL AND "security" IS NULL)))
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "exec_host_known" CHECK (("host" IS NULL OR "host" IN ('auto', 'sandbox', 'gateway', 'node')))
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "exec_mode_known" CHECK (("mode" IS NULL OR "mode" IN ('deny', 'allowlist', 'ask', 'auto', 'full')))
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "exec_security_known" CHECK (("security" IS NULL OR "security" IN ('deny', 'allowlist', 'full')))
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "exec_ask_known" CHECK (("ask" IS NULL OR "ask" IN ('off', 'on-miss', 'always')))
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "grant_expiry_within_ten_years" CHECK (("grant_expiry_days" IS NULL OR "grant_expiry_days" BETWEEN 1 AND 3650))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_946be()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execsettingsevent" ("agent_id", "apply_patch_allow_models", "apply_patch_enabled", "apply_patch_workspace_only", "ask", "environment_id", "extra", "grant_expiry_days", "host", "id", "mode", "node", "path_prepend", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "safe_bin_profiles", "safe_bin_trusted_dirs", "safe_bins", "security", "strict_inline_eval", "timeout_s", "version") SELECT new_values."agent_id", new_values."apply_patch_allow_models", new_values."apply_patch_enabled", new_values."apply_patch_workspace_only", new_values."ask", new_values."environment_id", new_values."extra", new_values."grant_expiry_days", new_values."host", new_values."id", new_values."mode", new_values."node", new_values."path_prepend", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."safe_bin_profiles", new_values."safe_bin_trusted_dirs", new_values."safe_bins", new_values."security", new_values."strict_inline_eval", new_values."timeout_s", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_946be ON "policies_execsettings";
            CREATE  TRIGGER pgtrigger_insert_insert_946be
                AFTER INSERT ON "policies_execsettings"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_946be();

            COMMENT ON TRIGGER pgtrigger_insert_insert_946be ON "policies_execsettings" IS 'ed20ae91b564c2aeeb8a298f8cecb3b52f568908';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_2633c()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execsettingsevent" ("agent_id", "apply_patch_allow_models", "apply_patch_enabled", "apply_patch_workspace_only", "ask", "environment_id", "extra", "grant_expiry_days", "host", "id", "mode", "node", "path_prepend", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "safe_bin_profiles", "safe_bin_trusted_dirs", "safe_bins", "security", "strict_inline_eval", "timeout_s", "version") SELECT new_values."agent_id", new_values."apply_patch_allow_models", new_values."apply_patch_enabled", new_values."apply_patch_workspace_only", new_values."ask", new_values."environment_id", new_values."extra", new_values."grant_expiry_days", new_values."host", new_values."id", new_values."mode", new_values."node", new_values."path_prepend", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."safe_bin_profiles", new_values."safe_bin_trusted_dirs", new_values."safe_bins", new_values."security", new_values."strict_inline_eval", new_values."timeout_s", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_2633c ON "policies_execsettings";
            CREATE  TRIGGER pgtrigger_update_update_2633c
                AFTER UPDATE ON "policies_execsettings"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_2633c();

            COMMENT ON TRIGGER pgtrigger_update_update_2633c ON "policies_execsettings" IS '9074a17a8ca2f131057a33756fd8eeb92b0a3eeb';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_277b4()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_execsettingsevent" ("agent_id", "apply_patch_allow_models", "apply_patch_enabled", "apply_patch_workspace_only", "ask", "environment_id", "extra", "grant_expiry_days", "host", "id", "mode", "node", "path_prepend", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "safe_bin_profiles", "safe_bin_trusted_dirs", "safe_bins", "security", "strict_inline_eval", "timeout_s", "version") SELECT old_values."agent_id", old_values."apply_patch_allow_models", old_values."apply_patch_enabled", old_values."apply_patch_workspace_only", old_values."ask", old_values."environment_id", old_values."extra", old_values."grant_expiry_days", old_values."host", old_values."id", old_values."mode", old_values."node", old_values."path_prepend", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."safe_bin_profiles", old_values."safe_bin_trusted_dirs", old_values."safe_bins", old_values."security", old_values."strict_inline_eval", old_values."timeout_s", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_277b4 ON "policies_execsettings";
            CREATE  TRIGGER pgtrigger_delete_delete_277b4
                AFTER DELETE ON "policies_execsettings"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_277b4();

            COMMENT ON TRIGGER pgtrigger_delete_delete_277b4 ON "policies_execsettings" IS '5752bf64064a055a9a0ae63353dcef906266ef6b';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_c1f7f()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_c1f7f ON "policies_execsettingsevent";
            CREATE  TRIGGER pgtrigger_append_only_c1f7f
                BEFORE UPDATE OR DELETE ON "policies_execsettingsevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_c1f7f();

            COMMENT ON TRIGGER pgtrigger_append_only_c1f7f ON "policies_execsettingsevent" IS '6dad6ac259cfa80e82d4f0f2f0b6710353586ef4';
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "global_policy_once_per_environment" UNIQUE ("environment_id")
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "global_policy_allow_or_also" CHECK (("allow" IS NULL OR "also_allow" IS NULL OR CASE WHEN "allow" IS NULL THEN NULL ELSE coalesce(array_length("allow", 1), 0) END = 0 OR CASE WHEN "also_allow" IS NULL THEN NULL ELSE coalesce(array_length("also_allow", 1), 0) END = 0))
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "global_sandbox_allow_or_also" CHECK (("sandbox_allow" IS NULL OR "sandbox_also_allow" IS NULL OR CASE WHEN "sandbox_allow" IS NULL THEN NULL ELSE coalesce(array_length("sandbox_allow", 1), 0) END = 0 OR CASE WHEN "sandbox_also_allow" IS NULL THEN NULL ELSE coalesce(array_length("sandbox_also_allow", 1), 0) END = 0))
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "global_subagent_allow_or_also" CHECK (("subagent_allow" IS NULL OR "subagent_also_allow" IS NULL OR CASE WHEN "subagent_allow" IS NULL THEN NULL ELSE coalesce(array_length("subagent_allow", 1), 0) END = 0 OR CASE WHEN "subagent_also_allow" IS NULL THEN NULL ELSE coalesce(array_length("subagent_also_allow", 1), 0) END = 0))
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "spawn_depth_one_to_five" CHECK (("max_spawn_depth" IS NULL OR "max_spawn_depth" BETWEEN 1 AND 5))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_413c8()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_413c8 ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_insert_insert_413c8
                AFTER INSERT ON "policies_globalpolicy"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_413c8();

            COMMENT ON TRIGGER pgtrigger_insert_insert_413c8 ON "policies_globalpolicy" IS 'b9f0ca6c3fc2d0209d99f9e69cdbf6652e0a8c18';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_bc5cf()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_bc5cf ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_update_update_bc5cf
                AFTER UPDATE ON "policies_globalpolicy"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_bc5cf();

            COMMENT ON TRIGGER pgtrigger_update_update_bc5cf ON "policies_globalpolicy" IS '660efa38c4127c23f41e86cfc8479f422f71fddb';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_16a70()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."max_spawn_depth", old_values."owners", old_values."ownership", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."subagent_allow", old_values."subagent_also_allow", old_values."subagent_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_16a70 ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_delete_delete_16a70
                AFTER DELETE ON "policies_globalpolicy"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_16a70();

            COMMENT ON TRIGGER pgtrigger_delete_delete_16a70 ON "policies_globalpolicy" IS 'a546d97906e2b3f18f661547abeb99b97c2deeeb';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_9a02f()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_9a02f ON "policies_globalpolicyevent";
            CREATE  TRIGGER pgtrigger_append_only_9a02f
                BEFORE UPDATE OR DELETE ON "policies_globalpolicyevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_9a02f();

            COMMENT ON TRIGGER pgtrigger_append_only_9a02f ON "policies_globalpolicyevent" IS 'bab8f3a8d1dcd0ae07a3b14169b54082208d81ae';
-- ;
ALTER TABLE "policies_profile" ADD CONSTRAINT "profile_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
ALTER TABLE "policies_profile" ADD CONSTRAINT "profile_has_key" CHECK (NOT ("key" = ''))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_a9952()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_profileevent" ("allow", "deny", "description", "environment_id", "extra", "id", "key", "label", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."allow", new_values."deny", new_values."description", new_values."environment_id", new_values."extra", new_values."id", new_values."key", new_values."label", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_a9952 ON "policies_profile";
            CREATE  TRIGGER pgtrigger_insert_insert_a9952
                AFTER INSERT ON "policies_profile"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_a9952();

            COMMENT ON TRIGGER pgtrigger_insert_insert_a9952 ON "policies_profile" IS 'e9a84fb9a876d69e11dee3e8ebcce62524ee23ae';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_13e4d()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_profileevent" ("allow", "deny", "description", "environment_id", "extra", "id", "key", "label", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."allow", new_values."deny", new_values."description", new_values."environment_id", new_values."extra", new_values."id", new_values."key", new_values."label", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_13e4d ON "policies_profile";
            CREATE  TRIGGER pgtrigger_update_update_13e4d
                AFTER UPDATE ON "policies_profile"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_13e4d();

            COMMENT ON TRIGGER pgtrigger_update_update_13e4d ON "policies_profile" IS 'f2dbc7431b234079c686a114326b37f20d180b92';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_98df3()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_profileevent" ("allow", "deny", "description", "environment_id", "extra", "id", "key", "label", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT old_values."allow", old_values."deny", old_values."description", old_values."environment_id", old_values."extra", old_values."id", old_values."key", old_values."label", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_98df3 ON "policies_profile";
            CREATE  TRIGGER pgtrigger_delete_delete_98df3
                AFTER DELETE ON "policies_profile"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_98df3();

            COMMENT ON TRIGGER pgtrigger_delete_delete_98df3 ON "policies_profile" IS '02dcc7ef47347523647baa514ab248483d615e8d';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_8f840()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_8f840 ON "policies_profileevent";
            CREATE  TRIGGER pgtrigger_append_only_8f840
                BEFORE UPDATE OR DELETE ON "policies_profileevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_8f840();

            COMMENT ON TRIGGER pgtrigger_append_only_8f840 ON "policies_profileevent" IS '68cb699c553dc6fd1ca273941004831fca570ac7';
-- ;
ALTER TABLE "policies_providerpolicy" ADD CONSTRAINT "provider_once_per_scope" UNIQUE NULLS NOT DISTINCT ("environment_id", "agent_id", "key")
-- ;
ALTER TABLE "policies_providerpolicy" ADD CONSTRAINT "provider_policy_allow_or_also" CHECK (("allow" IS NULL OR "also_allow" IS NULL OR CASE WHEN "allow" IS NULL THEN NULL ELSE coalesce(array_length("allow", 1), 0) END = 0 OR CASE WHEN "also_allow" IS NULL THEN NULL ELSE coalesce(array_length("also_allow", 1), 0) END = 0))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_ae966()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_providerpolicyevent" ("agent_id", "allow", "also_allow", "deny", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "version") SELECT new_values."agent_id", new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_ae966 ON "policies_providerpolicy";
            CREATE  TRIGGER pgtrigger_insert_insert_ae966
                AFTER INSERT ON "policies_providerpolicy"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_ae966();

            COMMENT ON TRIGGER pgtrigger_insert_insert_ae966 ON "policies_providerpolicy" IS '31e19078174ed9a8bf00a1111eaa7159515b6f28';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_ad58a()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_providerpolicyevent" ("agent_id", "allow", "also_allow", "deny", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "version") SELECT new_values."agent_id", new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_ad58a ON "policies_providerpolicy";
            CREATE  TRIGGER pgtrigger_update_update_ad58a
                AFTER UPDATE ON "policies_providerpolicy"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_ad58a();

            COMMENT ON TRIGGER pgtrigger_update_update_ad58a ON "policies_providerpolicy" IS '645a2aa9fd2d69e1e996b2a987ff8d26d46af69e';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_d2463()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_providerpolicyevent" ("agent_id", "allow", "also_allow", "deny", "environment_id", "extra", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "version") SELECT old_values."agent_id", old_values."allow", old_values."also_allow", old_values."deny", old_values."environment_id", old_values."extra", old_values."id", old_values."key", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_d2463 ON "policies_providerpolicy";
            CREATE  TRIGGER pgtrigger_delete_delete_d2463
                AFTER DELETE ON "policies_providerpolicy"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_d2463();

            COMMENT ON TRIGGER pgtrigger_delete_delete_d2463 ON "policies_providerpolicy" IS '4a8f82d17379543f74c87676c162edaa38b73cc3';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_81321()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_81321 ON "policies_providerpolicyevent";
            CREATE  TRIGGER pgtrigger_append_only_81321
                BEFORE UPDATE OR DELETE ON "policies_providerpolicyevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_81321();

            COMMENT ON TRIGGER pgtrigger_append_only_81321 ON "policies_providerpolicyevent" IS 'bad6260189c3b715badb0b3ba31bd70165ab329d';
-- ;
ALTER TABLE "policies_senderrule" ADD CONSTRAINT "sender_once_per_scope" UNIQUE NULLS NOT DISTINCT ("environment_id", "agent_id", "group_id", "key")
-- ;
ALTER TABLE "policies_senderrule" ADD CONSTRAINT "sender_rule_has_one_scope" CHECK (("agent_id" IS NULL OR "group_id" IS NULL))
-- ;
ALTER TABLE "policies_senderrule" ADD CONSTRAINT "sender_rule_allow_or_also" CHECK (("allow" IS NULL OR "also_allow" IS NULL OR CASE WHEN "allow" IS NULL THEN NULL ELSE coalesce(array_length("allow", 1), 0) END = 0 OR CASE WHEN "also_allow" IS NULL THEN NULL ELSE coalesce(array_length("also_allow", 1), 0) END = 0))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_a2656()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_senderruleevent" ("agent_id", "allow", "also_allow", "deny", "environment_id", "extra", "group_id", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."agent_id", new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."group_id", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_a2656 ON "policies_senderrule";
            CREATE  TRIGGER pgtrigger_insert_insert_a2656
                AFTER INSERT ON "policies_senderrule"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_a2656();

            COMMENT ON TRIGGER pgtrigger_insert_insert_a2656 ON "policies_senderrule" IS '4565b8098504c1576f8f5cf5bfe0608a21008c8e';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_64ea0()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_senderruleevent" ("agent_id", "allow", "also_allow", "deny", "environment_id", "extra", "group_id", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT new_values."agent_id", new_values."allow", new_values."also_allow", new_values."deny", new_values."environment_id", new_values."extra", new_values."group_id", new_values."id", new_values."key", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_64ea0 ON "policies_senderrule";
            CREATE  TRIGGER pgtrigger_update_update_64ea0
                AFTER UPDATE ON "policies_senderrule"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_64ea0();

            COMMENT ON TRIGGER pgtrigger_update_update_64ea0 ON "policies_senderrule" IS 'b6ea5304f7107a52df1cb2e141d40e4cbb7d9554';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_a78c9()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_senderruleevent" ("agent_id", "allow", "also_allow", "deny", "environment_id", "extra", "group_id", "id", "key", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "version") SELECT old_values."agent_id", old_values."allow", old_values."also_allow", old_values."deny", old_values."environment_id", old_values."extra", old_values."group_id", old_values."id", old_values."key", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_a78c9 ON "policies_senderrule";
            CREATE  TRIGGER pgtrigger_delete_delete_a78c9
                AFTER DELETE ON "policies_senderrule"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_a78c9();

            COMMENT ON TRIGGER pgtrigger_delete_delete_a78c9 ON "policies_senderrule" IS '140ee3d99504d42bb83b86dd2a889f94e6934cd5';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_3fc86()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_3fc86 ON "policies_senderruleevent";
            CREATE  TRIGGER pgtrigger_append_only_3fc86
                BEFORE UPDATE OR DELETE ON "policies_senderruleevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_3fc86();

            COMMENT ON TRIGGER pgtrigger_append_only_3fc86 ON "policies_senderruleevent" IS '804f664c2167733c3a7ac3e7549d335433fbdbf9';
-- ;
ALTER TABLE "policies_storedsnapshot" ADD CONSTRAINT "snapshot_digest_is_hex" CHECK ("digest"::text ~ '^[0-9a-f]{64}$')
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_dc4d9()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_dc4d9 ON "policies_storedsnapshot";
            CREATE  TRIGGER pgtrigger_append_only_dc4d9
                BEFORE UPDATE OR DELETE ON "policies_storedsnapshot"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_dc4d9();

            COMMENT ON TRIGGER pgtrigger_append_only_dc4d9 ON "policies_storedsnapshot" IS 'cf0dbb59a39ac0312cef99cee07aed1e2838d2b8';
-- ;
ALTER TABLE "policies_publication" ADD CONSTRAINT "publication_number_once" UNIQUE ("environment_id", "number")
-- ;
ALTER TABLE "policies_publication" ADD CONSTRAINT "publication_has_message" CHECK (NOT ("message" = ''))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_c1664()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_c1664 ON "policies_publication";
            CREATE  TRIGGER pgtrigger_append_only_c1664
                BEFORE UPDATE OR DELETE ON "policies_publication"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_c1664();

            COMMENT ON TRIGGER pgtrigger_append_only_c1664 ON "policies_publication" IS '5f07eb573f1e543a4ef987684931f39524c0a97f';
-- ;
ALTER TABLE "policies_agent" ADD CONSTRAINT "policies_agent_environment_id_35543045_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_agent_environment_id_35543045" ON "policies_agent" ("environment_id")
-- ;
CREATE INDEX "policies_agentevent_environment_id_cc5286ce" ON "policies_agentevent" ("environment_id")
-- ;
CREATE INDEX "policies_agentevent_pgh_context_id_9683a43b" ON "policies_agentevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_agentevent_pgh_obj_id_4a1ba682" ON "policies_agentevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_allowlistentry" ADD CONSTRAINT "policies_allowlisten_environment_id_b06b5c7f_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_allowlistentry_environment_id_b06b5c7f" ON "policies_allowlistentry" ("environment_id")
-- ;
ALTER TABLE "policies_channel" ADD CONSTRAINT "policies_channel_environment_id_cade62ad_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_channel_environment_id_cade62ad" ON "policies_channel" ("environment_id")
-- ;
ALTER TABLE "policies_channelaccount" ADD CONSTRAINT "policies_channelacco_channel_id_d2caaa44_fk_policies_" FOREIGN KEY ("channel_id") REFERENCES "policies_channel" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_channelaccount" ADD CONSTRAINT "policies_channelacco_environment_id_21bd9b28_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_channelaccount_channel_id_d2caaa44" ON "policies_channelaccount" ("channel_id")
-- ;
CREATE INDEX "policies_channelaccount_environment_id_21bd9b28" ON "policies_channelaccount" ("environment_id")
-- ;
CREATE INDEX "policies_channelaccountevent_channel_id_344a4eac" ON "policies_channelaccountevent" ("channel_id")
-- ;
CREATE INDEX "policies_channelaccountevent_environment_id_3a02334b" ON "policies_channelaccountevent" ("environment_id")
-- ;
CREATE INDEX "policies_channelaccountevent_pgh_context_id_5f72a392" ON "policies_channelaccountevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_channelaccountevent_pgh_obj_id_5993d7b1" ON "policies_channelaccountevent" ("pgh_obj_id")
-- ;
CREATE INDEX "policies_channelevent_environment_id_b5851596" ON "policies_channelevent" ("environment_id")
-- ;
CREATE INDEX "policies_channelevent_pgh_context_id_ac16d644" ON "policies_channelevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_channelevent_pgh_obj_id_3a10126d" ON "policies_channelevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "policies_channelgrou_account_id_afe5051a_fk_policies_" FOREIGN KEY ("account_id") REFERENCES "policies_channelaccount" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "policies_channelgrou_channel_id_45a6b2a0_fk_policies_" FOREIGN KEY ("channel_id") REFERENCES "policies_channel" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "policies_channelgrou_environment_id_4d703874_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_channelgroup" ADD CONSTRAINT "policies_channelgrou_parent_id_bde10dad_fk_policies_" FOREIGN KEY ("parent_id") REFERENCES "policies_channelgroup" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_channelgroup_account_id_afe5051a" ON "policies_channelgroup" ("account_id")
-- ;
CREATE INDEX "policies_channelgroup_channel_id_45a6b2a0" ON "policies_channelgroup" ("channel_id")
-- ;
CREATE INDEX "policies_channelgroup_environment_id_4d703874" ON "policies_channelgroup" ("environment_id")
-- ;
CREATE INDEX "policies_channelgroup_parent_id_bde10dad" ON "policies_channelgroup" ("parent_id")
-- ;
CREATE INDEX "policies_channelgroupevent_account_id_e8fe2cda" ON "policies_channelgroupevent" ("account_id")
-- ;
CREATE INDEX "policies_channelgroupevent_channel_id_aceabcbb" ON "policies_channelgroupevent" ("channel_id")
-- ;
CREATE INDEX "policies_channelgroupevent_environment_id_396e066d" ON "policies_channelgroupevent" ("environment_id")
-- ;
CREATE INDEX "policies_channelgroupevent_parent_id_6e92dfcb" ON "policies_channelgroupevent" ("parent_id")
-- ;
CREATE INDEX "policies_channelgroupevent_pgh_context_id_01f4480d" ON "policies_channelgroupevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_channelgroupevent_pgh_obj_id_9a824e49" ON "policies_channelgroupevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_execapprovals" ADD CONSTRAINT "policies_execapprova_environment_id_59886619_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_execapprovals_environment_id_59886619" ON "policies_execapprovals" ("environment_id")
-- ;
ALTER TABLE "policies_execapprovalsagent" ADD CONSTRAINT "policies_execapprova_environment_id_b873755f_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_execapprovalsagent_environment_id_b873755f" ON "policies_execapprovalsagent" ("environment_id")
-- ;
CREATE INDEX "policies_allowlistentryevent_environment_id_a9f0f4b8" ON "policies_allowlistentryevent" ("environment_id")
-- ;
CREATE INDEX "policies_allowlistentryevent_pgh_context_id_fb3f60f7" ON "policies_allowlistentryevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_allowlistentryevent_pgh_obj_id_88c2b3e6" ON "policies_allowlistentryevent" ("pgh_obj_id")
-- ;
CREATE INDEX "policies_allowlistentryevent_approvals_agent_id_00827e44" ON "policies_allowlistentryevent" ("approvals_agent_id")
-- ;
CREATE INDEX "policies_allowlistentry_approvals_agent_id_b1fc3c7c" ON "policies_allowlistentry" ("approvals_agent_id")
-- ;
CREATE INDEX "policies_execapprovalsagentevent_environment_id_3ac4830c" ON "policies_execapprovalsagentevent" ("environment_id")
-- ;
CREATE INDEX "policies_execapprovalsagentevent_pgh_context_id_2bd921b0" ON "policies_execapprovalsagentevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_execapprovalsagentevent_pgh_obj_id_af8da120" ON "policies_execapprovalsagentevent" ("pgh_obj_id")
-- ;
CREATE INDEX "policies_execapprovalsevent_environment_id_c88f7392" ON "policies_execapprovalsevent" ("environment_id")
-- ;
CREATE INDEX "policies_execapprovalsevent_pgh_context_id_b49b4a0f" ON "policies_execapprovalsevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_execapprovalsevent_pgh_obj_id_4d3a0ae7" ON "policies_execapprovalsevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "policies_execsettings_agent_id_d32ddf4f_fk_policies_agent_id" FOREIGN KEY ("agent_id") REFERENCES "policies_agent" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_execsettings" ADD CONSTRAINT "policies_execsetting_environment_id_1bfdeb3d_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_execsettings_environment_id_1bfdeb3d" ON "policies_execsettings" ("environment_id")
-- ;
CREATE INDEX "policies_execsettingsevent_agent_id_ae959d9a" ON "policies_execsettingsevent" ("agent_id")
-- ;
CREATE INDEX "policies_execsettingsevent_environment_id_c0b7b0bb" ON "policies_execsettingsevent" ("environment_id")
-- ;
CREATE INDEX "policies_execsettingsevent_pgh_context_id_b2ed809b" ON "policies_execsettingsevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_execsettingsevent_pgh_obj_id_951852bb" ON "policies_execsettingsevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "policies_globalpolic_environment_id_2000b6e5_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_globalpolicy_environment_id_2000b6e5" ON "policies_globalpolicy" ("environment_id")
-- ;
CREATE INDEX "policies_globalpolicyevent_environment_id_9d87b779" ON "policies_globalpolicyevent" ("environment_id")
-- ;
CREATE INDEX "policies_globalpolicyevent_pgh_context_id_7b7538e9" ON "policies_globalpolicyevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_globalpolicyevent_pgh_obj_id_114e4b75" ON "policies_globalpolicyevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_profile" ADD CONSTRAINT "policies_profile_environment_id_d13b9a99_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_profile_environment_id_d13b9a99" ON "policies_profile" ("environment_id")
-- ;
CREATE INDEX "policies_profileevent_environment_id_29fb8d2b" ON "policies_profileevent" ("environment_id")
-- ;
CREATE INDEX "policies_profileevent_pgh_context_id_a7c6c6c3" ON "policies_profileevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_profileevent_pgh_obj_id_0b201f1a" ON "policies_profileevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_providerpolicy" ADD CONSTRAINT "policies_providerpolicy_agent_id_f535a6bb_fk_policies_agent_id" FOREIGN KEY ("agent_id") REFERENCES "policies_agent" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_providerpolicy" ADD CONSTRAINT "policies_providerpol_environment_id_5ad22506_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_providerpolicy_agent_id_f535a6bb" ON "policies_providerpolicy" ("agent_id")
-- ;
CREATE INDEX "policies_providerpolicy_environment_id_5ad22506" ON "policies_providerpolicy" ("environment_id")
-- ;
CREATE INDEX "policies_providerpolicyevent_agent_id_7c602827" ON "policies_providerpolicyevent" ("agent_id")
-- ;
CREATE INDEX "policies_providerpolicyevent_environment_id_af5c7212" ON "policies_providerpolicyevent" ("environment_id")
-- ;
CREATE INDEX "policies_providerpolicyevent_pgh_context_id_ee9f67d5" ON "policies_providerpolicyevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_providerpolicyevent_pgh_obj_id_9bde44ba" ON "policies_providerpolicyevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_senderrule" ADD CONSTRAINT "policies_senderrule_agent_id_187ad89c_fk_policies_agent_id" FOREIGN KEY ("agent_id") REFERENCES "policies_agent" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_senderrule" ADD CONSTRAINT "policies_senderrule_environment_id_3ac19ea3_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_senderrule" ADD CONSTRAINT "policies_senderrule_group_id_3ed5e212_fk_policies_" FOREIGN KEY ("group_id") REFERENCES "policies_channelgroup" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_senderrule_agent_id_187ad89c" ON "policies_senderrule" ("agent_id")
-- ;
CREATE INDEX "policies_senderrule_environment_id_3ac19ea3" ON "policies_senderrule" ("environment_id")
-- ;
CREATE INDEX "policies_senderrule_group_id_3ed5e212" ON "policies_senderrule" ("group_id")
-- ;
CREATE INDEX "policies_senderruleevent_agent_id_c31915aa" ON "policies_senderruleevent" ("agent_id")
-- ;
CREATE INDEX "policies_senderruleevent_environment_id_4f341dd8" ON "policies_senderruleevent" ("environment_id")
-- ;
CREATE INDEX "policies_senderruleevent_group_id_e17bfafe" ON "policies_senderruleevent" ("group_id")
-- ;
CREATE INDEX "policies_senderruleevent_pgh_context_id_76d4c228" ON "policies_senderruleevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_senderruleevent_pgh_obj_id_93e793e2" ON "policies_senderruleevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_storedsnapshot" ADD CONSTRAINT "policies_storedsnaps_environment_id_14aa3b27_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_storedsnapshot_digest_b78aa848_like" ON "policies_storedsnapshot" ("digest" varchar_pattern_ops)
-- ;
CREATE INDEX "policies_storedsnapshot_environment_id_14aa3b27" ON "policies_storedsnapshot" ("environment_id")
-- ;
ALTER TABLE "policies_publication" ADD CONSTRAINT "policies_publication_environment_id_b3286c85_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publication" ADD CONSTRAINT "policies_publication_published_by_id_c0828d66_fk_accounts_" FOREIGN KEY ("published_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publication" ADD CONSTRAINT "policies_publication_rollback_of_id_0414b161_fk_policies_" FOREIGN KEY ("rollback_of_id") REFERENCES "policies_publication" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publication" ADD CONSTRAINT "policies_publication_snapshot_id_09de3791_fk_policies_" FOREIGN KEY ("snapshot_id") REFERENCES "policies_storedsnapshot" ("digest") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_publication_environment_id_b3286c85" ON "policies_publication" ("environment_id")
-- ;
CREATE INDEX "policies_publication_published_by_id_c0828d66" ON "policies_publication" ("published_by_id")
-- ;
CREATE INDEX "policies_publication_rollback_of_id_0414b161" ON "policies_publication" ("rollback_of_id")
-- ;
CREATE INDEX "policies_publication_snapshot_id_09de3791" ON "policies_publication" ("snapshot_id")
-- ;
CREATE INDEX "policies_publication_snapshot_id_09de3791_like" ON "policies_publication" ("snapshot_id" varchar_pattern_ops)
-- ;
ALTER TABLE policies_storedsnapshot ADD CONSTRAINT snapshot_is_its_digest CHECK (encode(sha256(content), 'hex') = digest)
-- ;
CREATE TABLE "policies_contentfilter" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(64) NOT NULL, "tools" varchar(512)[] NOT NULL, "pattern" varchar(512) NOT NULL, "where" varchar(8) NOT NULL, "action" varchar(8) NOT NULL, "message" varchar(500) NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_contentfilterevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(64) NOT NULL, "tools" varchar(512)[] NOT NULL, "pattern" varchar(512) NOT NULL, "where" varchar(8) NOT NULL, "action" varchar(8) NOT NULL, "message" varchar(500) NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_permissiongrant" ("id" uuid NOT NULL PRIMARY KEY, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(64) NOT NULL, "permissions" varchar(128)[] NOT NULL, "agent" varchar(128) NOT NULL, "token" varchar(64) NOT NULL, "sender" varchar(512) NOT NULL, "owner" boolean NOT NULL, "role" varchar(16) NOT NULL, "session" varchar(512) NOT NULL, "resources" json NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_permissiongrantevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "position" integer NOT NULL CHECK ("position" >= 0), "extra" json NOT NULL, "key" varchar(64) NOT NULL, "permissions" varchar(128)[] NOT NULL, "agent" varchar(128) NOT NULL, "token" varchar(64) NOT NULL, "sender" varchar(512) NOT NULL, "owner" boolean NOT NULL, "role" varchar(16) NOT NULL, "session" varchar(512) NOT NULL, "resources" json NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
ALTER TABLE "policies_contentfilter" ADD CONSTRAINT "content_filter_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
ALTER TABLE "policies_contentfilter" ADD CONSTRAINT "content_filter_has_key" CHECK (NOT ("key" = ''))
-- ;
ALTER TABLE "policies_contentfilter" ADD CONSTRAINT "content_filter_where_known" CHECK ("where" IN ('params', 'result', 'both'))
-- ;
ALTER TABLE "policies_contentfilter" ADD CONSTRAINT "content_filter_action_known" CHECK ("action" IN ('mask', 'block', 'warn'))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_e921b()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_contentfilterevent" ("action", "environment_id", "extra", "id", "key", "message", "pattern", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tools", "version", "where") SELECT new_values."action", new_values."environment_id", new_values."extra", new_values."id", new_values."key", new_values."message", new_values."pattern", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."tools", new_values."version", new_values."where" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_e921b ON "policies_contentfilter";
            CREATE  TRIGGER pgtrigger_insert_insert_e921b
                AFTER INSERT ON "policies_contentfilter"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_e921b();

            COMMENT ON TRIGGER pgtrigger_insert_insert_e921b ON "policies_contentfilter" IS 'ff7f42383ee413f49f19734e2a41a4a967d34946';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_9fabe()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_contentfilterevent" ("action", "environment_id", "extra", "id", "key", "message", "pattern", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tools", "version", "where") SELECT new_values."action", new_values."environment_id", new_values."extra", new_values."id", new_values."key", new_values."message", new_values."pattern", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."tools", new_values."version", new_values."where" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_9fabe ON "policies_contentfilter";
            CREATE  TRIGGER pgtrigger_update_update_9fabe
                AFTER UPDATE ON "policies_contentfilter"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_9fabe();

            COMMENT ON TRIGGER pgtrigger_update_update_9fabe ON "policies_contentfilter" IS '415fc6f25f265aa6b377879b133fb283aaac485c';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_37306()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_contentfilterevent" ("action", "environment_id", "extra", "id", "key", "message", "pattern", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tools", "version", "where") SELECT old_values."action", old_values."environment_id", old_values."extra", old_values."id", old_values."key", old_values."message", old_values."pattern", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."tools", old_values."version", old_values."where" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_37306 ON "policies_contentfilter";
            CREATE  TRIGGER pgtrigger_delete_delete_37306
                AFTER DELETE ON "policies_contentfilter"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_37306();

            COMMENT ON TRIGGER pgtrigger_delete_delete_37306 ON "policies_contentfilter" IS '0df4945ed312907bd6efc211028c4150a0cb00c5';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_c4776()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_c4776 ON "policies_contentfilterevent";
            CREATE  TRIGGER pgtrigger_append_only_c4776
                BEFORE UPDATE OR DELETE ON "policies_contentfilterevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_c4776();

            COMMENT ON TRIGGER pgtrigger_append_only_c4776 ON "policies_contentfilterevent" IS 'e60fe3aba1bef35459d5a80d4fa2a19e0fb7eff1';
-- ;
ALTER TABLE "policies_permissiongrant" ADD CONSTRAINT "permission_grant_once_per_environment" UNIQUE ("environment_id", "key")
-- ;
ALTER TABLE "policies_permissiongrant" ADD CONSTRAINT "permission_grant_has_key" CHECK (NOT ("key" = ''))
-- ;
ALTER TABLE "policies_permissiongrant" ADD CONSTRAINT "permission_grant_is_for_somebody" CHECK (NOT ("agent" = '' AND NOT "owner" AND "role" = '' AND "sender" = '' AND "session" = '' AND "token" = ''))
-- ;
ALTER TABLE "policies_permissiongrant" ADD CONSTRAINT "permission_grant_gives_something" CHECK (CASE WHEN "permissions" IS NULL THEN NULL ELSE coalesce(array_length("permissions", 1), 0) END > 0)
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_a49f2()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_permissiongrantevent" ("agent", "environment_id", "extra", "id", "key", "owner", "permissions", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "resources", "role", "sender", "session", "token", "version") SELECT new_values."agent", new_values."environment_id", new_values."extra", new_values."id", new_values."key", new_values."owner", new_values."permissions", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."resources", new_values."role", new_values."sender", new_values."session", new_values."token", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_a49f2 ON "policies_permissiongrant";
            CREATE  TRIGGER pgtrigger_insert_insert_a49f2
                AFTER INSERT ON "policies_permissiongrant"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_a49f2();

            COMMENT ON TRIGGER pgtrigger_insert_insert_a49f2 ON "policies_permissiongrant" IS '78f8e930467256743f75f09a76b55dab25ad0eb3';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_230fa()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_permissiongrantevent" ("agent", "environment_id", "extra", "id", "key", "owner", "permissions", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "resources", "role", "sender", "session", "token", "version") SELECT new_values."agent", new_values."environment_id", new_values."extra", new_values."id", new_values."key", new_values."owner", new_values."permissions", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."resources", new_values."role", new_values."sender", new_values."session", new_values."token", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_230fa ON "policies_permissiongrant";
            CREATE  TRIGGER pgtrigger_update_update_230fa
                AFTER UPDATE ON "policies_permissiongrant"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_230fa();

            COMMENT ON TRIGGER pgtrigger_update_update_230fa ON "policies_permissiongrant" IS '53cd33ea0f6aa06545711d0b7b9b238c344ef5db';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_c656a()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_permissiongrantevent" ("agent", "environment_id", "extra", "id", "key", "owner", "permissions", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "resources", "role", "sender", "session", "token", "version") SELECT old_values."agent", old_values."environment_id", old_values."extra", old_values."id", old_values."key", old_values."owner", old_values."permissions", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."resources", old_values."role", old_values."sender", old_values."session", old_values."token", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_c656a ON "policies_permissiongrant";
            CREATE  TRIGGER pgtrigger_delete_delete_c656a
                AFTER DELETE ON "policies_permissiongrant"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_c656a();

            COMMENT ON TRIGGER pgtrigger_delete_delete_c656a ON "policies_permissiongrant" IS 'bc635a8e5f1642b45d0ed1410f7a516dc6b10cd8';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_0fde1()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_0fde1 ON "policies_permissiongrantevent";
            CREATE  TRIGGER pgtrigger_append_only_0fde1
                BEFORE UPDATE OR DELETE ON "policies_permissiongrantevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_0fde1();

            COMMENT ON TRIGGER pgtrigger_append_only_0fde1 ON "policies_permissiongrantevent" IS 'e5ebb28c04345cae092a7d0badcf6896c35a75d4';
-- ;
ALTER TABLE "policies_contentfilter" ADD CONSTRAINT "policies_contentfilt_environment_id_319f1f88_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_contentfilter_environment_id_319f1f88" ON "policies_contentfilter" ("environment_id")
-- ;
CREATE INDEX "policies_contentfilterevent_environment_id_3e27ad8b" ON "policies_contentfilterevent" ("environment_id")
-- ;
CREATE INDEX "policies_contentfilterevent_pgh_context_id_b1db1491" ON "policies_contentfilterevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_contentfilterevent_pgh_obj_id_c427e0be" ON "policies_contentfilterevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_permissiongrant" ADD CONSTRAINT "policies_permissiong_environment_id_4ba5ae77_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_permissiongrant_environment_id_4ba5ae77" ON "policies_permissiongrant" ("environment_id")
-- ;
CREATE INDEX "policies_permissiongrantevent_environment_id_915fc17d" ON "policies_permissiongrantevent" ("environment_id")
-- ;
CREATE INDEX "policies_permissiongrantevent_pgh_context_id_b4b6d7cb" ON "policies_permissiongrantevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_permissiongrantevent_pgh_obj_id_41058352" ON "policies_permissiongrantevent" ("pgh_obj_id")
-- ;
ALTER TABLE "policies_publication" ADD COLUMN "guards_document" json NULL
-- ;
DROP TRIGGER IF EXISTS pgtrigger_insert_insert_2f8dd ON "policies_agent";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_update_update_d77c2 ON "policies_agent";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_delete_delete_7fe11 ON "policies_agent";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_insert_insert_413c8 ON "policies_globalpolicy";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_update_update_bc5cf ON "policies_globalpolicy";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_delete_delete_16a70 ON "policies_globalpolicy";
-- ;
ALTER TABLE "policies_agent" ADD COLUMN "elevated_allow_from" json NULL
-- ;
ALTER TABLE "policies_agent" ADD COLUMN "elevated_enabled" boolean NULL
-- ;
ALTER TABLE "policies_agentevent" ADD COLUMN "elevated_allow_from" json NULL
-- ;
ALTER TABLE "policies_agentevent" ADD COLUMN "elevated_enabled" boolean NULL
-- ;
ALTER TABLE "policies_globalpolicy" ADD COLUMN "elevated_allow_from" json NULL
-- ;
ALTER TABLE "policies_globalpolicy" ADD COLUMN "elevated_default" varchar(8) NULL
-- ;
ALTER TABLE "policies_globalpolicy" ADD COLUMN "elevated_enabled" boolean NULL
-- ;
ALTER TABLE "policies_globalpolicyevent" ADD COLUMN "elevated_allow_from" json NULL
-- ;
ALTER TABLE "policies_globalpolicyevent" ADD COLUMN "elevated_default" varchar(8) NULL
-- ;
ALTER TABLE "policies_globalpolicyevent" ADD COLUMN "elevated_enabled" boolean NULL
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_2f8dd()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."key", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_2f8dd ON "policies_agent";
            CREATE  TRIGGER pgtrigger_insert_insert_2f8dd
                AFTER INSERT ON "policies_agent"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_2f8dd();

            COMMENT ON TRIGGER pgtrigger_insert_insert_2f8dd ON "policies_agent" IS '73935b5cc20f10ad066ee89b3d6c9c527b7c2d6b';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_d77c2()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."key", new_values."name", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_d77c2 ON "policies_agent";
            CREATE  TRIGGER pgtrigger_update_update_d77c2
                AFTER UPDATE ON "policies_agent"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_d77c2();

            COMMENT ON TRIGGER pgtrigger_update_update_d77c2 ON "policies_agent" IS '37129154d3dc2002e55c1a602720ee8a6cafe534';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_7fe11()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "key", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."elevated_allow_from", old_values."elevated_enabled", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."key", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_7fe11 ON "policies_agent";
            CREATE  TRIGGER pgtrigger_delete_delete_7fe11
                AFTER DELETE ON "policies_agent"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_7fe11();

            COMMENT ON TRIGGER pgtrigger_delete_delete_7fe11 ON "policies_agent" IS 'f74f9d9f4204c16a6b7d109ee78e56acad9b8169';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_413c8()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_default", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_413c8 ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_insert_insert_413c8
                AFTER INSERT ON "policies_globalpolicy"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_413c8();

            COMMENT ON TRIGGER pgtrigger_insert_insert_413c8 ON "policies_globalpolicy" IS 'a15bbce90b9925a669a88d2c13d2d855b06b90f1';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_bc5cf()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_default", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_bc5cf ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_update_update_bc5cf
                AFTER UPDATE ON "policies_globalpolicy"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_bc5cf();

            COMMENT ON TRIGGER pgtrigger_update_update_bc5cf ON "policies_globalpolicy" IS '820256f44ebadce62bccbedb2990ad55e034c43d';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_16a70()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."elevated_allow_from", old_values."elevated_default", old_values."elevated_enabled", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."max_spawn_depth", old_values."owners", old_values."ownership", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."subagent_allow", old_values."subagent_also_allow", old_values."subagent_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_16a70 ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_delete_delete_16a70
                AFTER DELETE ON "policies_globalpolicy"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_16a70();

            COMMENT ON TRIGGER pgtrigger_delete_delete_16a70 ON "policies_globalpolicy" IS '4b47e5aceafbf353e4e4534c5ec7642c38e7d1bd';
-- ;
ALTER TABLE "policies_globalpolicy" ADD CONSTRAINT "elevated_default_known" CHECK (("elevated_default" IS NULL OR "elevated_default" IN ('off', 'on', 'ask', 'full')))
-- ;
CREATE TABLE "policies_policytest" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(200) NOT NULL, "tool" varchar(512) NOT NULL, "context" jsonb NOT NULL, "params" jsonb NULL, "verdict" varchar(8) NOT NULL, "layer" varchar(64) NOT NULL, "origin" varchar(8) NOT NULL, "call" uuid NULL, "made_by" varchar(200) NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_policytestevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "name" varchar(200) NOT NULL, "tool" varchar(512) NOT NULL, "context" jsonb NOT NULL, "params" jsonb NULL, "verdict" varchar(8) NOT NULL, "layer" varchar(64) NOT NULL, "origin" varchar(8) NOT NULL, "call" uuid NULL, "made_by" varchar(200) NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
ALTER TABLE "policies_policytest" ADD CONSTRAINT "policy_test_name_once_per_environment" UNIQUE ("environment_id", "name")
-- ;
ALTER TABLE "policies_policytest" ADD CONSTRAINT "policy_test_verdict_is_known" CHECK ("verdict" IN ('allowed', 'denied', 'asks'))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_edc29()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_policytestevent" ("call", "context", "created_at", "environment_id", "id", "is_enabled", "layer", "made_by", "name", "origin", "params", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tool", "updated_at", "verdict", "version") VALUES (NEW."call", NEW."context", NEW."created_at", NEW."environment_id", NEW."id", NEW."is_enabled", NEW."layer", NEW."made_by", NEW."name", NEW."origin", NEW."params", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."tool", NEW."updated_at", NEW."verdict", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_edc29 ON "policies_policytest";
            CREATE  TRIGGER pgtrigger_insert_insert_edc29
                AFTER INSERT ON "policies_policytest"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_edc29();

            COMMENT ON TRIGGER pgtrigger_insert_insert_edc29 ON "policies_policytest" IS '456b9ed437f27a8cbfc78cdfaf82d2b13dd81bf7';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_32df4()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_policytestevent" ("call", "context", "created_at", "environment_id", "id", "is_enabled", "layer", "made_by", "name", "origin", "params", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tool", "updated_at", "verdict", "version") VALUES (NEW."call", NEW."context", NEW."created_at", NEW."environment_id", NEW."id", NEW."is_enabled", NEW."layer", NEW."made_by", NEW."name", NEW."origin", NEW."params", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."tool", NEW."updated_at", NEW."verdict", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_32df4 ON "policies_policytest";
            CREATE  TRIGGER pgtrigger_update_update_32df4
                AFTER UPDATE ON "policies_policytest"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_32df4();

            COMMENT ON TRIGGER pgtrigger_update_update_32df4 ON "policies_policytest" IS '91569a9aafe71b7a711a112c6c4fe685b24ca057';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_ba29d()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_policytestevent" ("call", "context", "created_at", "environment_id", "id", "is_enabled", "layer", "made_by", "name", "origin", "params", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tool", "updated_at", "verdict", "version") VALUES (OLD."call", OLD."context", OLD."created_at", OLD."environment_id", OLD."id", OLD."is_enabled", OLD."layer", OLD."made_by", OLD."name", OLD."origin", OLD."params", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."tool", OLD."updated_at", OLD."verdict", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_ba29d ON "policies_policytest";
            CREATE  TRIGGER pgtrigger_delete_delete_ba29d
                AFTER DELETE ON "policies_policytest"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_ba29d();

            COMMENT ON TRIGGER pgtrigger_delete_delete_ba29d ON "policies_policytest" IS '0708a128816d56ab66cc093be15fb95a8b19e1d7';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_03935()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_03935 ON "policies_policytestevent";
            CREATE  TRIGGER pgtrigger_append_only_03935
                BEFORE UPDATE OR DELETE ON "policies_policytestevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_03935();

            COMMENT ON TRIGGER pgtrigger_append_only_03935 ON "policies_policytestevent" IS 'e8d1e749213e99d8089c753566da96b77b63194e';
-- ;
ALTER TABLE "policies_policytest" ADD CONSTRAINT "policies_policytest_environment_id_ea3a9968_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_policytest_environment_id_ea3a9968" ON "policies_policytest" ("environment_id")
-- ;
CREATE INDEX "policies_policytestevent_environment_id_be74a3a1" ON "policies_policytestevent" ("environment_id")
-- ;
CREATE INDEX "policies_policytestevent_pgh_context_id_bfdb4d27" ON "policies_policytestevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_policytestevent_pgh_obj_id_ac44f3a0" ON "policies_policytestevent" ("pgh_obj_id")
-- ;
CREATE TABLE "policies_replayrule" ("environment_id" uuid NOT NULL PRIMARY KEY, "is_required" boolean NOT NULL)
-- ;
CREATE TABLE "policies_replay" ("id" uuid NOT NULL PRIMARY KEY, "actor" text NOT NULL, "requested_at" timestamp with time zone NOT NULL, "days" integer NOT NULL CHECK ("days" >= 0), "live_digest" text NOT NULL, "draft_digest" text NOT NULL, "snapshot" bytea NULL, "state" text NOT NULL, "calls_total" bigint NULL, "calls_done" bigint NOT NULL, "place" jsonb NULL, "tally" jsonb NOT NULL, "worker" uuid NULL, "touched_at" timestamp with time zone NOT NULL, "finished_at" timestamp with time zone NULL, "error" text NOT NULL, "environment_id" uuid NOT NULL, "requested_by_id" uuid NULL)
-- ;
ALTER TABLE "policies_replayrule" ADD CONSTRAINT "policies_replayrule_environment_id_fd2054e0_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_replay" ADD CONSTRAINT "policies_replay_environment_id_d85118d2_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_replay" ADD CONSTRAINT "policies_replay_requested_by_id_8f0340db_fk_accounts_user_id" FOREIGN KEY ("requested_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_replay_environment_id_d85118d2" ON "policies_replay" ("environment_id")
-- ;
CREATE INDEX "policies_replay_requested_by_id_8f0340db" ON "policies_replay" ("requested_by_id")
-- ;
CREATE INDEX "replay_of_draft" ON "policies_replay" ("environment_id", "draft_digest")
-- ;
CREATE TABLE "policies_guardrail" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(200) NOT NULL, "description" text NOT NULL, "form" jsonb NOT NULL, "severity" varchar(8) NOT NULL, "made_by" varchar(200) NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_guardrailacceptance" ("id" uuid NOT NULL PRIMARY KEY, "guardrail_version" integer NOT NULL CHECK ("guardrail_version" >= 0), "fingerprint" varchar(64) NOT NULL, "reason" text NOT NULL, "accepted_by" varchar(200) NOT NULL, "accepted_at" timestamp with time zone NOT NULL, "guardrail_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_guardrailacceptanceevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "guardrail_version" integer NOT NULL CHECK ("guardrail_version" >= 0), "fingerprint" varchar(64) NOT NULL, "reason" text NOT NULL, "accepted_by" varchar(200) NOT NULL, "accepted_at" timestamp with time zone NOT NULL, "guardrail_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
CREATE TABLE "policies_guardrailevent" ("pgh_id" integer NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "pgh_created_at" timestamp with time zone NOT NULL, "pgh_label" text NOT NULL, "id" uuid NOT NULL, "name" varchar(200) NOT NULL, "description" text NOT NULL, "form" jsonb NOT NULL, "severity" varchar(8) NOT NULL, "made_by" varchar(200) NOT NULL, "is_enabled" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "created_at" timestamp with time zone NOT NULL, "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL, "pgh_context_id" uuid NULL, "pgh_obj_id" uuid NOT NULL)
-- ;
ALTER TABLE "policies_guardrail" ADD CONSTRAINT "guardrail_name_once_per_environment" UNIQUE ("environment_id", "name")
-- ;
ALTER TABLE "policies_guardrail" ADD CONSTRAINT "guardrail_severity_is_known" CHECK ("severity" IN ('blocking', 'warning'))
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_7ae44()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_guardrailevent" ("created_at", "description", "environment_id", "form", "id", "is_enabled", "made_by", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "severity", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."environment_id", NEW."form", NEW."id", NEW."is_enabled", NEW."made_by", NEW."name", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."severity", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_7ae44 ON "policies_guardrail";
            CREATE  TRIGGER pgtrigger_insert_insert_7ae44
                AFTER INSERT ON "policies_guardrail"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_7ae44();

            COMMENT ON TRIGGER pgtrigger_insert_insert_7ae44 ON "policies_guardrail" IS '321c0b64f38a6f3bd229f18f29b687fa0ac07bde';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_c42ba()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_guardrailevent" ("created_at", "description", "environment_id", "form", "id", "is_enabled", "made_by", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "severity", "updated_at", "version") VALUES (NEW."created_at", NEW."description", NEW."environment_id", NEW."form", NEW."id", NEW."is_enabled", NEW."made_by", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."severity", NEW."updated_at", NEW."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_c42ba ON "policies_guardrail";
            CREATE  TRIGGER pgtrigger_update_update_c42ba
                AFTER UPDATE ON "policies_guardrail"
                
                
                FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
                EXECUTE PROCEDURE pgtrigger_update_update_c42ba();

            COMMENT ON TRIGGER pgtrigger_update_update_c42ba ON "policies_guardrail" IS 'be0a147a0785267bba777a78900fb9c13119232c';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_01f5b()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_guardrailevent" ("created_at", "description", "environment_id", "form", "id", "is_enabled", "made_by", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "severity", "updated_at", "version") VALUES (OLD."created_at", OLD."description", OLD."environment_id", OLD."form", OLD."id", OLD."is_enabled", OLD."made_by", OLD."name", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."severity", OLD."updated_at", OLD."version"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_01f5b ON "policies_guardrail";
            CREATE  TRIGGER pgtrigger_delete_delete_01f5b
                AFTER DELETE ON "policies_guardrail"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_01f5b();

            COMMENT ON TRIGGER pgtrigger_delete_delete_01f5b ON "policies_guardrail" IS '778cef0e7269889c32cd63cf593c7e708c3c5db6';
-- ;
ALTER TABLE "policies_guardrailacceptance" ADD CONSTRAINT "guardrail_failure_accepted_once" UNIQUE ("guardrail_id", "guardrail_version", "fingerprint")
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_e8bfc()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_guardrailacceptanceevent" ("accepted_at", "accepted_by", "fingerprint", "guardrail_id", "guardrail_version", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (NEW."accepted_at", NEW."accepted_by", NEW."fingerprint", NEW."guardrail_id", NEW."guardrail_version", NEW."id", _pgh_attach_context(), NOW(), 'insert', NEW."id", NEW."reason"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_e8bfc ON "policies_guardrailacceptance";
            CREATE  TRIGGER pgtrigger_insert_insert_e8bfc
                AFTER INSERT ON "policies_guardrailacceptance"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_insert_insert_e8bfc();

            COMMENT ON TRIGGER pgtrigger_insert_insert_e8bfc ON "policies_guardrailacceptance" IS '295f7a6504eb647686cc411f9640c3fcee450ed8';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_ba47f()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "policies_guardrailacceptanceevent" ("accepted_at", "accepted_by", "fingerprint", "guardrail_id", "guardrail_version", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (OLD."accepted_at", OLD."accepted_by", OLD."fingerprint", OLD."guardrail_id", OLD."guardrail_version", OLD."id", _pgh_attach_context(), NOW(), 'delete', OLD."id", OLD."reason"); RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_ba47f ON "policies_guardrailacceptance";
            CREATE  TRIGGER pgtrigger_delete_delete_ba47f
                AFTER DELETE ON "policies_guardrailacceptance"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_delete_delete_ba47f();

            COMMENT ON TRIGGER pgtrigger_delete_delete_ba47f ON "policies_guardrailacceptance" IS '73ab1de52067bf4035b9658f65fb0aadde20e4e6';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_1b25a()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_1b25a ON "policies_guardrailacceptanceevent";
            CREATE  TRIGGER pgtrigger_append_only_1b25a
                BEFORE UPDATE OR DELETE ON "policies_guardrailacceptanceevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_1b25a();

            COMMENT ON TRIGGER pgtrigger_append_only_1b25a ON "policies_guardrailacceptanceevent" IS 'afaf79e62c303ef85d74ea84058ebed396eea66b';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_append_only_76269()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_append_only_76269 ON "policies_guardrailevent";
            CREATE  TRIGGER pgtrigger_append_only_76269
                BEFORE UPDATE OR DELETE ON "policies_guardrailevent"
                
                
                FOR EACH ROW 
                EXECUTE PROCEDURE pgtrigger_append_only_76269();

            COMMENT ON TRIGGER pgtrigger_append_only_76269 ON "policies_guardrailevent" IS '7b1c97df261dbd4cc116b3cb8966b506a05f4501';
-- ;
ALTER TABLE "policies_guardrail" ADD CONSTRAINT "policies_guardrail_environment_id_c28a929c_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_guardrail_environment_id_c28a929c" ON "policies_guardrail" ("environment_id")
-- ;
ALTER TABLE "policies_guardrailacceptance" ADD CONSTRAINT "policies_guardrailac_guardrail_id_13b78130_fk_policies_" FOREIGN KEY ("guardrail_id") REFERENCES "policies_guardrail" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_guardrailacceptance_guardrail_id_13b78130" ON "policies_guardrailacceptance" ("guardrail_id")
-- ;
CREATE INDEX "policies_guardrailacceptanceevent_guardrail_id_10ab20e1" ON "policies_guardrailacceptanceevent" ("guardrail_id")
-- ;
CREATE INDEX "policies_guardrailacceptanceevent_pgh_context_id_2c77c6c8" ON "policies_guardrailacceptanceevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_guardrailacceptanceevent_pgh_obj_id_fafe9e42" ON "policies_guardrailacceptanceevent" ("pgh_obj_id")
-- ;
CREATE INDEX "policies_guardrailevent_environment_id_ad8c4da8" ON "policies_guardrailevent" ("environment_id")
-- ;
CREATE INDEX "policies_guardrailevent_pgh_context_id_5d8ade97" ON "policies_guardrailevent" ("pgh_context_id")
-- ;
CREATE INDEX "policies_guardrailevent_pgh_obj_id_27f57b0f" ON "policies_guardrailevent" ("pgh_obj_id")
-- ;
CREATE TABLE "policies_publishrule" ("environment_id" uuid NOT NULL PRIMARY KEY, "needs_second_person" boolean NOT NULL, "hours" smallint NOT NULL CHECK ("hours" >= 0), "updated_at" timestamp with time zone NOT NULL)
-- ;
CREATE TABLE "policies_publishrequest" ("id" uuid NOT NULL PRIMARY KEY, "state" varchar(12) NOT NULL, "digest" varchar(64) NOT NULL, "expected_live" varchar(64) NOT NULL, "message" text NOT NULL, "is_reviewed" boolean NOT NULL, "publish_at" timestamp with time zone NULL, "expires_at" timestamp with time zone NOT NULL, "asked_at" timestamp with time zone NOT NULL, "actor" varchar(200) NOT NULL, "confirmed_at" timestamp with time zone NULL, "confirmed_actor" varchar(200) NOT NULL, "ended_at" timestamp with time zone NULL, "outcome" text NOT NULL, "asked_by_id" uuid NULL, "confirmed_by_id" uuid NULL, "environment_id" uuid NOT NULL, "publication_id" uuid NULL, CONSTRAINT "publish_request_done_with_publication" CHECK ((("publication_id" IS NOT NULL AND "state" = 'done') OR (NOT ("state" = 'done') AND "publication_id" IS NULL))))
-- ;
ALTER TABLE "policies_publishrule" ADD CONSTRAINT "policies_publishrule_environment_id_306c1320_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publishrequest" ADD CONSTRAINT "policies_publishrequ_asked_by_id_6cdcf017_fk_accounts_" FOREIGN KEY ("asked_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publishrequest" ADD CONSTRAINT "policies_publishrequ_confirmed_by_id_53563262_fk_accounts_" FOREIGN KEY ("confirmed_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publishrequest" ADD CONSTRAINT "policies_publishrequ_environment_id_b2ed5909_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_publishrequest" ADD CONSTRAINT "policies_publishrequ_publication_id_5a887ffd_fk_policies_" FOREIGN KEY ("publication_id") REFERENCES "policies_publication" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE UNIQUE INDEX "publish_request_one_open" ON "policies_publishrequest" ("environment_id") WHERE "state" IN ('waiting', 'scheduled')
-- ;
CREATE INDEX "policies_publishrequest_asked_by_id_6cdcf017" ON "policies_publishrequest" ("asked_by_id")
-- ;
CREATE INDEX "policies_publishrequest_confirmed_by_id_53563262" ON "policies_publishrequest" ("confirmed_by_id")
-- ;
CREATE INDEX "policies_publishrequest_environment_id_b2ed5909" ON "policies_publishrequest" ("environment_id")
-- ;
CREATE INDEX "policies_publishrequest_publication_id_5a887ffd" ON "policies_publishrequest" ("publication_id")
-- ;
CREATE TABLE "policies_bulkedit" ("id" uuid NOT NULL PRIMARY KEY, "actor" text NOT NULL, "requested_at" timestamp with time zone NOT NULL, "change" jsonb NOT NULL, "state" text NOT NULL, "rows_total" integer NOT NULL CHECK ("rows_total" >= 0), "rows_done" integer NOT NULL CHECK ("rows_done" >= 0), "worker" uuid NULL, "touched_at" timestamp with time zone NOT NULL, "finished_at" timestamp with time zone NULL, "environment_id" uuid NOT NULL, "requested_by_id" uuid NULL, "requested_token_id" uuid NULL)
-- ;
CREATE TABLE "policies_bulkeditrow" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "position" integer NOT NULL CHECK ("position" >= 0), "agent" uuid NOT NULL, "key" text NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "result" text NOT NULL, "reason" text NOT NULL, "edit_id" uuid NOT NULL, CONSTRAINT "bulk_row_once" UNIQUE ("edit_id", "position"))
-- ;
ALTER TABLE "policies_bulkedit" ADD CONSTRAINT "policies_bulkedit_environment_id_5ab8c9ad_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_bulkedit" ADD CONSTRAINT "policies_bulkedit_requested_by_id_aa364635_fk_accounts_user_id" FOREIGN KEY ("requested_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_bulkedit" ADD CONSTRAINT "policies_bulkedit_requested_token_id_6155b6e5_fk_accounts_" FOREIGN KEY ("requested_token_id") REFERENCES "accounts_apitoken" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_bulkedit_environment_id_5ab8c9ad" ON "policies_bulkedit" ("environment_id")
-- ;
CREATE INDEX "policies_bulkedit_requested_by_id_aa364635" ON "policies_bulkedit" ("requested_by_id")
-- ;
CREATE INDEX "policies_bulkedit_requested_token_id_6155b6e5" ON "policies_bulkedit" ("requested_token_id")
-- ;
ALTER TABLE "policies_bulkeditrow" ADD CONSTRAINT "policies_bulkeditrow_edit_id_14fa22e4_fk_policies_bulkedit_id" FOREIGN KEY ("edit_id") REFERENCES "policies_bulkedit" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_bulkeditrow_edit_id_14fa22e4" ON "policies_bulkeditrow" ("edit_id")
-- ;
DROP TRIGGER IF EXISTS pgtrigger_insert_insert_2f8dd ON "policies_agent";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_update_update_d77c2 ON "policies_agent";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_delete_delete_7fe11 ON "policies_agent";
-- ;
ALTER TABLE "policies_agent" ADD COLUMN "labels" varchar(64)[32] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "policies_agent" ALTER COLUMN "labels" DROP DEFAULT
-- ;
ALTER TABLE "policies_agentevent" ADD COLUMN "labels" varchar(64)[32] DEFAULT '{}' NOT NULL
-- ;
ALTER TABLE "policies_agentevent" ALTER COLUMN "labels" DROP DEFAULT
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_2f8dd()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "key", "labels", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."key", new_values."labels", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_2f8dd ON "policies_agent";
            CREATE  TRIGGER pgtrigger_insert_insert_2f8dd
                AFTER INSERT ON "policies_agent"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_2f8dd();

            COMMENT ON TRIGGER pgtrigger_insert_insert_2f8dd ON "policies_agent" IS 'ec6d54d709bd2de6deece1ae20072575ad5e1f0a';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_d77c2()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "key", "labels", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."key", new_values."labels", new_values."name", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_d77c2 ON "policies_agent";
            CREATE  TRIGGER pgtrigger_update_update_d77c2
                AFTER UPDATE ON "policies_agent"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_d77c2();

            COMMENT ON TRIGGER pgtrigger_update_update_d77c2 ON "policies_agent" IS 'f9a5691cf4789d4c85e54748c18c0649618d1dc2';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_7fe11()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_agentevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "key", "labels", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."elevated_allow_from", old_values."elevated_enabled", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."key", old_values."labels", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_7fe11 ON "policies_agent";
            CREATE  TRIGGER pgtrigger_delete_delete_7fe11
                AFTER DELETE ON "policies_agent"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_7fe11();

            COMMENT ON TRIGGER pgtrigger_delete_delete_7fe11 ON "policies_agent" IS '08d0472cfd3252e41eae0129b1cf489c9b2dd1d5';
-- ;
ALTER TABLE "policies_replay" ADD COLUMN "purpose" text DEFAULT 'draft' NOT NULL
-- ;
ALTER TABLE "policies_replay" ALTER COLUMN "purpose" DROP DEFAULT
-- ;
CREATE TABLE "policies_shadowrule" ("id" uuid NOT NULL PRIMARY KEY, "actor" text NOT NULL, "started_at" timestamp with time zone NOT NULL, "kind" text NOT NULL, "place" text NOT NULL, "edits" jsonb NOT NULL, "origin" jsonb NOT NULL, "live_digest" text NOT NULL, "heads" jsonb NOT NULL, "rounds" bigint NOT NULL, "state" text NOT NULL, "calls_seen" bigint NOT NULL, "tally" jsonb NOT NULL, "counted_at" timestamp with time zone NOT NULL, "ended_at" timestamp with time zone NULL, "error" text NOT NULL, "environment_id" uuid NOT NULL, "started_by_id" uuid NULL)
-- ;
ALTER TABLE "policies_shadowrule" ADD CONSTRAINT "policies_shadowrule_environment_id_d429c5c6_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "policies_shadowrule" ADD CONSTRAINT "policies_shadowrule_started_by_id_3c8bd84b_fk_accounts_user_id" FOREIGN KEY ("started_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "policies_shadowrule_environment_id_d429c5c6" ON "policies_shadowrule" ("environment_id")
-- ;
CREATE INDEX "policies_shadowrule_started_by_id_3c8bd84b" ON "policies_shadowrule" ("started_by_id")
-- ;
CREATE INDEX "shadow_rule_due" ON "policies_shadowrule" ("state", "counted_at")
-- ;
ALTER TABLE "policies_publication" ADD COLUMN "is_emergency" boolean DEFAULT false NOT NULL
-- ;
ALTER TABLE "policies_publication" ALTER COLUMN "is_emergency" DROP DEFAULT
-- ;
ALTER TABLE "policies_publishrequest" ADD COLUMN "rollback_of_id" uuid NULL CONSTRAINT "policies_publishrequ_rollback_of_id_5e4d0683_fk_policies_" REFERENCES "policies_publication"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "policies_publishrequ_rollback_of_id_5e4d0683_fk_policies_" IMMEDIATE
-- ;
CREATE INDEX "policies_publishrequest_rollback_of_id_5e4d0683" ON "policies_publishrequest" ("rollback_of_id")
-- ;
CREATE TABLE "notifications_preference" ("person_id" uuid NOT NULL PRIMARY KEY, "email" varchar(254) NOT NULL, "language" varchar(10) NOT NULL, "quiet" varchar(8) NOT NULL)
-- ;
CREATE TABLE "notifications_reminder" ("approval_id" uuid NOT NULL PRIMARY KEY, "step" smallint NOT NULL CHECK ("step" >= 0))
-- ;
CREATE TABLE "notifications_subscription" ("id" uuid NOT NULL PRIMARY KEY, "endpoint" varchar(1000) NOT NULL UNIQUE, "sealed_keys" bytea NOT NULL, "browser" varchar(100) NOT NULL, "created_at" timestamp with time zone NOT NULL, "person_id" uuid NOT NULL)
-- ;
CREATE TABLE "notifications_webhook" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "name" varchar(64) NOT NULL, "url" varchar(1000) NOT NULL, "sealed_secret" bytea NULL, "is_active" boolean NOT NULL, "version" integer NOT NULL CHECK ("version" >= 0), "updated_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "notifications_delivery" ("id" uuid NOT NULL PRIMARY KEY, "channel" varchar(16) NOT NULL, "target" varchar(80) NOT NULL, "shown" varchar(200) NOT NULL, "state" varchar(16) NOT NULL, "attempts" smallint NOT NULL CHECK ("attempts" >= 0), "created_at" timestamp with time zone NOT NULL, "due_at" timestamp with time zone NULL, "ended_at" timestamp with time zone NULL, "status" smallint NULL CHECK ("status" >= 0), "error_code" varchar(64) NOT NULL, "message" varchar(500) NOT NULL, "approval_id" uuid NULL, "environment_id" uuid NOT NULL, "person_id" uuid NULL, "subscription_id" uuid NULL, "webhook_id" bigint NULL)
-- ;
ALTER TABLE "notifications_webhook" ADD CONSTRAINT "webhook_name_once" UNIQUE ("environment_id", "name")
-- ;
CREATE INDEX "delivery_due" ON "notifications_delivery" ("due_at") WHERE "due_at" IS NOT NULL
-- ;
CREATE INDEX "delivery_recent" ON "notifications_delivery" ("environment_id", "created_at" DESC)
-- ;
CREATE UNIQUE INDEX "delivery_once_per_place" ON "notifications_delivery" ("approval_id", "target") WHERE "approval_id" IS NOT NULL
-- ;
ALTER TABLE "notifications_delivery" ADD CONSTRAINT "delivery_due_until_it_ends" CHECK ((("due_at" IS NOT NULL AND "ended_at" IS NULL AND "state" IN ('queued', 'failed')) OR ("due_at" IS NULL AND "ended_at" IS NOT NULL AND "state" IN ('sent', 'given_up', 'dropped'))))
-- ;
ALTER TABLE "notifications_preference" ADD CONSTRAINT "notifications_preference_person_id_33c79cf9_fk_accounts_user_id" FOREIGN KEY ("person_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_reminder" ADD CONSTRAINT "notifications_remind_approval_id_1993c9b5_fk_approvals" FOREIGN KEY ("approval_id") REFERENCES "approvals_approval" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_subscription" ADD CONSTRAINT "notifications_subscr_person_id_11576b51_fk_accounts_" FOREIGN KEY ("person_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "notifications_subscription_endpoint_e3689d0c_like" ON "notifications_subscription" ("endpoint" varchar_pattern_ops)
-- ;
CREATE INDEX "notifications_subscription_person_id_11576b51" ON "notifications_subscription" ("person_id")
-- ;
ALTER TABLE "notifications_webhook" ADD CONSTRAINT "notifications_webhoo_environment_id_3e716ecb_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "notifications_webhook_environment_id_3e716ecb" ON "notifications_webhook" ("environment_id")
-- ;
ALTER TABLE "notifications_delivery" ADD CONSTRAINT "notifications_delive_approval_id_f0d8dc73_fk_approvals" FOREIGN KEY ("approval_id") REFERENCES "approvals_approval" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_delivery" ADD CONSTRAINT "notifications_delive_environment_id_94a2e1ce_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_delivery" ADD CONSTRAINT "notifications_delivery_person_id_3614c5a9_fk_accounts_user_id" FOREIGN KEY ("person_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_delivery" ADD CONSTRAINT "notifications_delive_subscription_id_21311d1e_fk_notificat" FOREIGN KEY ("subscription_id") REFERENCES "notifications_subscription" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_delivery" ADD CONSTRAINT "notifications_delive_webhook_id_e35814dd_fk_notificat" FOREIGN KEY ("webhook_id") REFERENCES "notifications_webhook" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "notifications_delivery_approval_id_f0d8dc73" ON "notifications_delivery" ("approval_id")
-- ;
CREATE INDEX "notifications_delivery_environment_id_94a2e1ce" ON "notifications_delivery" ("environment_id")
-- ;
CREATE INDEX "notifications_delivery_person_id_3614c5a9" ON "notifications_delivery" ("person_id")
-- ;
CREATE INDEX "notifications_delivery_subscription_id_21311d1e" ON "notifications_delivery" ("subscription_id")
-- ;
CREATE INDEX "notifications_delivery_webhook_id_e35814dd" ON "notifications_delivery" ("webhook_id")
-- ;
CREATE TABLE "notifications_toldexport" ("export_id" uuid NOT NULL PRIMARY KEY)
-- ;
ALTER TABLE "notifications_delivery" ADD COLUMN "export_id" uuid NULL CONSTRAINT "notifications_delivery_export_id_c17bce6c_fk_audit_export_id" REFERENCES "audit_export"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "notifications_delivery_export_id_c17bce6c_fk_audit_export_id" IMMEDIATE
-- ;
ALTER TABLE "notifications_toldexport" ADD CONSTRAINT "notifications_toldexport_export_id_3b348158_fk_audit_export_id" FOREIGN KEY ("export_id") REFERENCES "audit_export" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "notifications_delivery_export_id_c17bce6c" ON "notifications_delivery" ("export_id")
-- ;
CREATE TABLE "notifications_toldrelease" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, "state" varchar(12) NOT NULL, "publication_id" uuid NULL, "request_id" uuid NULL)
-- ;
ALTER TABLE "notifications_delivery" ADD COLUMN "release_id" bigint NULL CONSTRAINT "notifications_delive_release_id_bc941d00_fk_notificat" REFERENCES "notifications_toldrelease"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "notifications_delive_release_id_bc941d00_fk_notificat" IMMEDIATE
-- ;
ALTER TABLE "notifications_toldrelease" ADD CONSTRAINT "release_told_once" UNIQUE NULLS NOT DISTINCT ("request_id", "publication_id", "state")
-- ;
ALTER TABLE "notifications_toldrelease" ADD CONSTRAINT "notifications_toldre_publication_id_c8651a36_fk_policies_" FOREIGN KEY ("publication_id") REFERENCES "policies_publication" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "notifications_toldrelease" ADD CONSTRAINT "notifications_toldre_request_id_bf8764a4_fk_policies_" FOREIGN KEY ("request_id") REFERENCES "policies_publishrequest" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "notifications_toldrelease_publication_id_c8651a36" ON "notifications_toldrelease" ("publication_id")
-- ;
CREATE INDEX "notifications_toldrelease_request_id_bf8764a4" ON "notifications_toldrelease" ("request_id")
-- ;
CREATE INDEX "notifications_delivery_release_id_bc941d00" ON "notifications_delivery" ("release_id")
-- ;
CREATE TABLE "notifications_toldalarm" ("alarm" uuid NOT NULL PRIMARY KEY, "kind" varchar(16) NOT NULL, "gateway" uuid NOT NULL, "name" varchar(100) NOT NULL)
-- ;
ALTER TABLE "notifications_delivery" ADD COLUMN "alarm_id" uuid NULL CONSTRAINT "notifications_delive_alarm_id_be3ee940_fk_notificat" REFERENCES "notifications_toldalarm"("alarm") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "notifications_delive_alarm_id_be3ee940_fk_notificat" IMMEDIATE
-- ;
CREATE INDEX "notifications_delivery_alarm_id_be3ee940" ON "notifications_delivery" ("alarm_id")
-- ;
CREATE TABLE "openclaw_gateways_openclawgateway" ("id" uuid NOT NULL PRIMARY KEY, "name" varchar(100) NOT NULL, "enrolled_at" timestamp with time zone NOT NULL, "enrolled_by_label" text NOT NULL, "revoked_at" timestamp with time zone NULL, "revoked_by_label" text NOT NULL, "last_seen_at" timestamp with time zone NULL, "boot" varchar(64) NOT NULL, "booted_at" timestamp with time zone NULL, "openclaw_version" varchar(64) NOT NULL, "plugin_version" varchar(64) NOT NULL, "node_version" varchar(64) NOT NULL, "snapshot_digest" varchar(80) NOT NULL, "proven_at" timestamp with time zone NULL, "environment_id" uuid NOT NULL, "token_id" uuid NOT NULL UNIQUE)
-- ;
CREATE TABLE "openclaw_gateways_enrolment" ("id" uuid NOT NULL PRIMARY KEY, "secret_hash" varchar(64) NOT NULL UNIQUE, "name" varchar(100) NOT NULL, "created_by_label" text NOT NULL, "created_at" timestamp with time zone NOT NULL, "expires_at" timestamp with time zone NOT NULL, "used_at" timestamp with time zone NULL, "created_by_id" uuid NULL, "environment_id" uuid NOT NULL, "gateway_id" uuid NULL UNIQUE)
-- ;
CREATE TABLE "openclaw_gateways_gatewaycall" ("id" uuid NOT NULL PRIMARY KEY, "key" varchar(64) NOT NULL, "body_digest" varchar(64) NOT NULL, "boot" varchar(64) NOT NULL, "run" varchar(200) NOT NULL, "tool_call" varchar(300) NOT NULL, "tool" text NOT NULL, "agent" text NOT NULL, "session_key" text NOT NULL, "members" jsonb NOT NULL, "state" varchar(16) NOT NULL, "asked_at" timestamp with time zone NOT NULL, "told_at" timestamp with time zone NULL, "ended_at" timestamp with time zone NULL, "outcome" varchar(16) NOT NULL, "error" jsonb NULL, "is_withdrawn" boolean NOT NULL, "sealed_params" bytea NULL, "sealed_report" bytea NULL, "gateway_id" uuid NOT NULL, CONSTRAINT "gateway_call_asked_once" UNIQUE ("gateway_id", "key"), CONSTRAINT "gateway_call_ends_with_an_outcome" CHECK ((("ended_at" IS NOT NULL AND "state" IN ('refused', 'ended') AND NOT ("outcome" = '')) OR ("ended_at" IS NULL AND "outcome" = '' AND "state" IN ('asked', 'told', 'reported')))))
-- ;
CREATE TABLE "openclaw_gateways_alarm" ("id" uuid NOT NULL PRIMARY KEY, "kind" varchar(16) NOT NULL, "tool" text NOT NULL, "agent" text NOT NULL, "count" integer NOT NULL CHECK ("count" >= 0), "first_at" timestamp with time zone NOT NULL, "last_at" timestamp with time zone NOT NULL, "cleared_at" timestamp with time zone NULL, "cleared_by_label" text NOT NULL, "gateway_id" uuid NOT NULL)
-- ;
ALTER TABLE "openclaw_gateways_openclawgateway" ADD CONSTRAINT "openclaw_gateways_op_environment_id_2224641d_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "openclaw_gateways_openclawgateway" ADD CONSTRAINT "openclaw_gateways_op_token_id_da7f5eb5_fk_accounts_" FOREIGN KEY ("token_id") REFERENCES "accounts_apitoken" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "openclaw_gateways_openclawgateway_environment_id_2224641d" ON "openclaw_gateways_openclawgateway" ("environment_id")
-- ;
ALTER TABLE "openclaw_gateways_enrolment" ADD CONSTRAINT "openclaw_gateways_en_created_by_id_22ef7f1c_fk_accounts_" FOREIGN KEY ("created_by_id") REFERENCES "accounts_user" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "openclaw_gateways_enrolment" ADD CONSTRAINT "openclaw_gateways_en_environment_id_a25db3b0_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "openclaw_gateways_enrolment" ADD CONSTRAINT "openclaw_gateways_en_gateway_id_25d874de_fk_openclaw_" FOREIGN KEY ("gateway_id") REFERENCES "openclaw_gateways_openclawgateway" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "openclaw_gateways_enrolment_secret_hash_4fadd03b_like" ON "openclaw_gateways_enrolment" ("secret_hash" varchar_pattern_ops)
-- ;
CREATE INDEX "openclaw_gateways_enrolment_created_by_id_22ef7f1c" ON "openclaw_gateways_enrolment" ("created_by_id")
-- ;
CREATE INDEX "openclaw_gateways_enrolment_environment_id_a25db3b0" ON "openclaw_gateways_enrolment" ("environment_id")
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ADD CONSTRAINT "openclaw_gateways_ga_gateway_id_92794b7a_fk_openclaw_" FOREIGN KEY ("gateway_id") REFERENCES "openclaw_gateways_openclawgateway" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "openclaw_gateways_gatewaycall_gateway_id_92794b7a" ON "openclaw_gateways_gatewaycall" ("gateway_id")
-- ;
CREATE INDEX "gateway_call_newest" ON "openclaw_gateways_gatewaycall" ("gateway_id", "asked_at" DESC, "id" DESC)
-- ;
CREATE INDEX "gateway_call_tool_call" ON "openclaw_gateways_gatewaycall" ("gateway_id", "tool_call")
-- ;
CREATE INDEX "gateway_call_open" ON "openclaw_gateways_gatewaycall" ("asked_at") WHERE "ended_at" IS NULL
-- ;
CREATE INDEX "gateway_call_age" ON "openclaw_gateways_gatewaycall" ("ended_at")
-- ;
ALTER TABLE "openclaw_gateways_alarm" ADD CONSTRAINT "openclaw_gateways_al_gateway_id_314c867e_fk_openclaw_" FOREIGN KEY ("gateway_id") REFERENCES "openclaw_gateways_openclawgateway" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE UNIQUE INDEX "gateway_alarm_stands_once" ON "openclaw_gateways_alarm" ("gateway_id", "kind", "tool", "agent") WHERE "cleared_at" IS NULL
-- ;
CREATE INDEX "openclaw_gateways_alarm_gateway_id_314c867e" ON "openclaw_gateways_alarm" ("gateway_id")
-- ;
CREATE TABLE "openclaw_gateways_spawnedsession" ("id" uuid NOT NULL PRIMARY KEY, "session_key" text NOT NULL, "parent_key" text NOT NULL, "context" jsonb NOT NULL, "first_at" timestamp with time zone NOT NULL, "used_at" timestamp with time zone NOT NULL)
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ADD COLUMN "context" jsonb NULL
-- ;
ALTER TABLE "openclaw_gateways_openclawgateway" ADD COLUMN "facts" jsonb NULL
-- ;
CREATE INDEX "gateway_call_session" ON "openclaw_gateways_gatewaycall" ("gateway_id", "session_key", "asked_at" DESC)
-- ;
ALTER TABLE "openclaw_gateways_spawnedsession" ADD COLUMN "gateway_id" uuid NOT NULL CONSTRAINT "openclaw_gateways_sp_gateway_id_327089b5_fk_openclaw_" REFERENCES "openclaw_gateways_openclawgateway"("id") DEFERRABLE INITIALLY DEFERRED; SET CONSTRAINTS "openclaw_gateways_sp_gateway_id_327089b5_fk_openclaw_" IMMEDIATE
-- ;
CREATE INDEX "gateway_spawned_age" ON "openclaw_gateways_spawnedsession" ("used_at")
-- ;
ALTER TABLE "openclaw_gateways_spawnedsession" ADD CONSTRAINT "gateway_session_spawned_once" UNIQUE ("gateway_id", "session_key")
-- ;
CREATE INDEX "openclaw_gateways_spawnedsession_gateway_id_327089b5" ON "openclaw_gateways_spawnedsession" ("gateway_id")
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ADD COLUMN "channel" text DEFAULT '' NOT NULL
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ALTER COLUMN "channel" DROP DEFAULT
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ADD COLUMN "ending" varchar(8) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ALTER COLUMN "ending" DROP DEFAULT
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ADD COLUMN "ending_by" text DEFAULT '' NOT NULL
-- ;
ALTER TABLE "openclaw_gateways_gatewaycall" ALTER COLUMN "ending_by" DROP DEFAULT
-- ;
ALTER TABLE "openclaw_gateways_openclawgateway" ADD COLUMN "stops_digest" varchar(64) DEFAULT '' NOT NULL
-- ;
ALTER TABLE "openclaw_gateways_openclawgateway" ALTER COLUMN "stops_digest" DROP DEFAULT
-- ;
ALTER TABLE "openclaw_gateways_openclawgateway" ADD COLUMN "stops_heard_at" timestamp with time zone NULL
-- ;
DROP TRIGGER IF EXISTS pgtrigger_insert_insert_413c8 ON "policies_globalpolicy";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_update_update_bc5cf ON "policies_globalpolicy";
-- ;
DROP TRIGGER IF EXISTS pgtrigger_delete_delete_16a70 ON "policies_globalpolicy";
-- ;
ALTER TABLE "policies_globalpolicy" ADD COLUMN "refuse_unproven_groups" boolean DEFAULT false NOT NULL
-- ;
ALTER TABLE "policies_globalpolicy" ALTER COLUMN "refuse_unproven_groups" DROP DEFAULT
-- ;
ALTER TABLE "policies_globalpolicyevent" ADD COLUMN "refuse_unproven_groups" boolean DEFAULT false NOT NULL
-- ;
ALTER TABLE "policies_globalpolicyevent" ALTER COLUMN "refuse_unproven_groups" DROP DEFAULT
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_insert_insert_413c8()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "refuse_unproven_groups", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_default", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."position", new_values."profile", new_values."refuse_unproven_groups", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_insert_insert_413c8 ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_insert_insert_413c8
                AFTER INSERT ON "policies_globalpolicy"
                
                REFERENCING NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_insert_insert_413c8();

            COMMENT ON TRIGGER pgtrigger_insert_insert_413c8 ON "policies_globalpolicy" IS 'f5e67050024453291d0b26cec4c1799f9b4e429f';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_update_update_bc5cf()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "refuse_unproven_groups", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT new_values."allow", new_values."also_allow", new_values."deny", new_values."elevated_allow_from", new_values."elevated_default", new_values."elevated_enabled", new_values."environment_id", new_values."extra", new_values."fs_workspace_only", new_values."id", new_values."max_spawn_depth", new_values."owners", new_values."ownership", _pgh_attached_context.value, NOW(), 'update', new_values."id", new_values."position", new_values."profile", new_values."refuse_unproven_groups", new_values."sandbox_allow", new_values."sandbox_also_allow", new_values."sandbox_deny", new_values."subagent_allow", new_values."subagent_also_allow", new_values."subagent_deny", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_update_update_bc5cf ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_update_update_bc5cf
                AFTER UPDATE ON "policies_globalpolicy"
                
                REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_update_update_bc5cf();

            COMMENT ON TRIGGER pgtrigger_update_update_bc5cf ON "policies_globalpolicy" IS '40c6d2a0e048ae2e8ce6834515e4d573802edba3';
-- ;
CREATE OR REPLACE FUNCTION "public"._pgtrigger_should_ignore(
                trigger_name NAME
            )
            RETURNS BOOLEAN AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$ LANGUAGE plpgsql;

            CREATE OR REPLACE FUNCTION pgtrigger_delete_delete_16a70()
            RETURNS TRIGGER AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "policies_globalpolicyevent" ("allow", "also_allow", "deny", "elevated_allow_from", "elevated_default", "elevated_enabled", "environment_id", "extra", "fs_workspace_only", "id", "max_spawn_depth", "owners", "ownership", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "profile", "refuse_unproven_groups", "sandbox_allow", "sandbox_also_allow", "sandbox_deny", "subagent_allow", "subagent_also_allow", "subagent_deny", "version") SELECT old_values."allow", old_values."also_allow", old_values."deny", old_values."elevated_allow_from", old_values."elevated_default", old_values."elevated_enabled", old_values."environment_id", old_values."extra", old_values."fs_workspace_only", old_values."id", old_values."max_spawn_depth", old_values."owners", old_values."ownership", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."position", old_values."profile", old_values."refuse_unproven_groups", old_values."sandbox_allow", old_values."sandbox_also_allow", old_values."sandbox_deny", old_values."subagent_allow", old_values."subagent_also_allow", old_values."subagent_deny", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS pgtrigger_delete_delete_16a70 ON "policies_globalpolicy";
            CREATE  TRIGGER pgtrigger_delete_delete_16a70
                AFTER DELETE ON "policies_globalpolicy"
                
                REFERENCING OLD TABLE AS old_values 
                FOR EACH STATEMENT 
                EXECUTE PROCEDURE pgtrigger_delete_delete_16a70();

            COMMENT ON TRIGGER pgtrigger_delete_delete_16a70 ON "policies_globalpolicy" IS 'e6a15274b18a3e86149a0a418bd302347317825e';
-- ;
CREATE TABLE "registry_toolcode" ("digest" varchar(64) NOT NULL PRIMARY KEY, "files" jsonb NOT NULL, "found_at" timestamp with time zone NOT NULL)
-- ;
CREATE INDEX "registry_toolcode_digest_7f082d49_like" ON "registry_toolcode" ("digest" varchar_pattern_ops)
-- ;
CREATE TABLE "registry_toolfailure" ("id" uuid NOT NULL PRIMARY KEY, "at" timestamp with time zone NOT NULL, "call_id" uuid NOT NULL, "code" varchar(64) NOT NULL, "exception" varchar(200) NOT NULL, "message" text NOT NULL, "traceback" text NOT NULL, "tool_id" uuid NOT NULL)
-- ;
ALTER TABLE "registry_toolfailure" ADD CONSTRAINT "registry_toolfailure_tool_id_f1e996dd_fk_registry_tool_id" FOREIGN KEY ("tool_id") REFERENCES "registry_tool" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "registry_toolfailure_tool_id_f1e996dd" ON "registry_toolfailure" ("tool_id")
-- ;
CREATE INDEX "failures_of_tool" ON "registry_toolfailure" ("tool_id", "at" DESC)
-- ;
CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" timestamp with time zone NOT NULL)
-- ;
CREATE INDEX "django_session_session_key_c0390e0f_like" ON "django_session" ("session_key" varchar_pattern_ops)
-- ;
CREATE INDEX "django_session_expire_date_a5c62663" ON "django_session" ("expire_date")
-- ;
CREATE TABLE "tool_runs_toolrun" ("id" uuid NOT NULL PRIMARY KEY, "agent" text NOT NULL, "session_key" text NOT NULL, "channel" text NOT NULL, "sender" text NOT NULL, "actor" text NOT NULL, "context" jsonb NOT NULL, "provider" text NOT NULL, "model" text NOT NULL, "form" text NOT NULL, "client_tools" jsonb NOT NULL, "required" text[] NOT NULL, "task" text NOT NULL, "only_runnable" boolean NOT NULL, "takes_code" boolean NOT NULL, "begun_at" timestamp with time zone NOT NULL, "last_at" timestamp with time zone NOT NULL, "ended_at" timestamp with time zone NULL, "outcome" text NOT NULL, "snapshot_digest" text NOT NULL, "asked_mode" text NOT NULL, "mode" text NOT NULL, "why" text NOT NULL, "sources" jsonb NOT NULL, "catalogue_size" integer NOT NULL CHECK ("catalogue_size" >= 0), "direct_bytes" integer NOT NULL CHECK ("direct_bytes" >= 0), "surface_bytes" integer NOT NULL CHECK ("surface_bytes" >= 0), "directory_characters" integer NOT NULL CHECK ("directory_characters" >= 0), "visible" integer NOT NULL CHECK ("visible" >= 0), "searches" integer NOT NULL CHECK ("searches" >= 0), "describes" integer NOT NULL CHECK ("describes" >= 0), "codes" integer NOT NULL CHECK ("codes" >= 0), "calls" integer NOT NULL CHECK ("calls" >= 0), "described" text[] NOT NULL, "environment_id" uuid NOT NULL)
-- ;
CREATE TABLE "tool_runs_runsearch" ("id" uuid NOT NULL PRIMARY KEY, "at" timestamp with time zone NOT NULL, "query" text NOT NULL, "found" text[] NOT NULL, "environment_id" uuid NOT NULL, "run_id" uuid NOT NULL)
-- ;
CREATE TABLE "tool_runs_runcall" ("call_id" uuid NOT NULL PRIMARY KEY, "at" timestamp with time zone NOT NULL, "tool" text NOT NULL, "name" text NOT NULL, "source" text NOT NULL, "through" text NOT NULL, "rank" smallint NULL CHECK ("rank" >= 0), "query" text NOT NULL, "environment_id" uuid NOT NULL, "run_id" uuid NOT NULL)
-- ;
CREATE TABLE "tool_runs_clientcall" ("call_id" uuid NOT NULL PRIMARY KEY, "tool" text NOT NULL, "state" varchar(16) NOT NULL, "told_at" timestamp with time zone NOT NULL, "ended_at" timestamp with time zone NULL, "sealed_params" bytea NULL, "sealed_report" bytea NULL, "run_id" uuid NOT NULL)
-- ;
CREATE TABLE "tool_runs_searchlabel" ("id" uuid NOT NULL PRIMARY KEY, "query" text NOT NULL, "tools" text[] NOT NULL, "added_by" text NOT NULL, "added_at" timestamp with time zone NOT NULL, "environment_id" uuid NOT NULL, CONSTRAINT "search_label_once" UNIQUE ("environment_id", "query"))
-- ;
CREATE INDEX "tool_run_newest" ON "tool_runs_toolrun" ("environment_id", "begun_at" DESC, "id" DESC)
-- ;
CREATE INDEX "tool_run_age" ON "tool_runs_toolrun" ("last_at")
-- ;
CREATE INDEX "run_search_of_run" ON "tool_runs_runsearch" ("run_id", "id")
-- ;
CREATE INDEX "run_search_empty" ON "tool_runs_runsearch" ("environment_id", "at" DESC) WHERE "found" = '{}'::text[]
-- ;
CREATE INDEX "run_call_of_run" ON "tool_runs_runcall" ("run_id", "at")
-- ;
CREATE INDEX "run_call_newest" ON "tool_runs_runcall" ("environment_id", "at" DESC)
-- ;
CREATE INDEX "client_call_of_run" ON "tool_runs_clientcall" ("run_id", "state")
-- ;
ALTER TABLE "tool_runs_toolrun" ADD CONSTRAINT "tool_runs_toolrun_environment_id_2de86428_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "tool_runs_toolrun_environment_id_2de86428" ON "tool_runs_toolrun" ("environment_id")
-- ;
ALTER TABLE "tool_runs_runsearch" ADD CONSTRAINT "tool_runs_runsearch_environment_id_ab124303_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "tool_runs_runsearch" ADD CONSTRAINT "tool_runs_runsearch_run_id_e604da0f_fk_tool_runs_toolrun_id" FOREIGN KEY ("run_id") REFERENCES "tool_runs_toolrun" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "tool_runs_runsearch_environment_id_ab124303" ON "tool_runs_runsearch" ("environment_id")
-- ;
CREATE INDEX "tool_runs_runsearch_run_id_e604da0f" ON "tool_runs_runsearch" ("run_id")
-- ;
ALTER TABLE "tool_runs_runcall" ADD CONSTRAINT "tool_runs_runcall_environment_id_30810038_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
ALTER TABLE "tool_runs_runcall" ADD CONSTRAINT "tool_runs_runcall_run_id_63541b22_fk_tool_runs_toolrun_id" FOREIGN KEY ("run_id") REFERENCES "tool_runs_toolrun" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "tool_runs_runcall_environment_id_30810038" ON "tool_runs_runcall" ("environment_id")
-- ;
CREATE INDEX "tool_runs_runcall_run_id_63541b22" ON "tool_runs_runcall" ("run_id")
-- ;
ALTER TABLE "tool_runs_clientcall" ADD CONSTRAINT "tool_runs_clientcall_run_id_7528c5d2_fk_tool_runs_toolrun_id" FOREIGN KEY ("run_id") REFERENCES "tool_runs_toolrun" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "tool_runs_clientcall_run_id_7528c5d2" ON "tool_runs_clientcall" ("run_id")
-- ;
ALTER TABLE "tool_runs_searchlabel" ADD CONSTRAINT "tool_runs_searchlabe_environment_id_fcef4a7d_fk_registry_" FOREIGN KEY ("environment_id") REFERENCES "registry_environment" ("id") DEFERRABLE INITIALLY DEFERRED
-- ;
CREATE INDEX "tool_runs_searchlabel_environment_id_fcef4a7d" ON "tool_runs_searchlabel" ("environment_id")
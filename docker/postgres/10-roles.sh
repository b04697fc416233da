#!/bin/sh
# Runs once, on an empty volume: the owner migrates, the application serves.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres \
    --set owner="$OWNER_PASSWORD" --set application="$APPLICATION_PASSWORD" <<'SQL'
CREATE ROLE openclaw_app LOGIN PASSWORD :'application';
CREATE ROLE openclaw_owner LOGIN PASSWORD :'owner' IN ROLE openclaw_app;
CREATE DATABASE openclaw_admin OWNER openclaw_owner;
REVOKE ALL ON DATABASE openclaw_admin FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE openclaw_admin TO openclaw_app;
\connect openclaw_admin
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO openclaw_owner;
SQL

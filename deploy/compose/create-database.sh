#!/bin/sh
# The Postgres image runs this once, when its volume is new. It creates two roles that are not superusers, and the database. influencer_sync owns it
# and migrates; influencer_sync_app runs jobs, with the rights that `migrate --roles` gives it (sql/roles.sql).
set -eu

password_of() {
  sed 's#^[a-z]*://[^:]*:\([^@]*\)@.*#\1#' "/run/secrets/$1"
}

psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" \
  --set owner_password="$(password_of migration_url)" --set app_password="$(password_of database_url)" << 'SQL'
create role influencer_sync login createrole password :'owner_password';
create role influencer_sync_app login password :'app_password';
create database influencer_sync owner influencer_sync;
SQL

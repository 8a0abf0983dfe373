-- `pg_restore --clean` puts a backup into the database that it came from: cluster, timeline and database stay what they were, but every table
-- is made anew. So the place names the table, too, in which it is kept. Deployments stay where they are found by this migration.

create or replace function ledger.place() returns text language plpgsql volatile as $$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid::text from pg_database where datname = current_database())
    || '/' || ('ledger.identity'::regclass)::oid::text;
exception when others then
  return null;
end
$$;
comment on function ledger.place() is 'Where this database is: cluster, timeline, database and the table that says so.';

update ledger.identity set place = ledger.place() where ledger.place() like place || '/%';
update ledger.machines set whole_at = ledger.place() where ledger.place() like whole_at || '/%';
comment on column ledger.identity.place is 'Where the database was when it was last found whole: cluster, timeline, database and this table. Null where the server does not tell.';

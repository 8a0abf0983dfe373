-- Where the ledger was, and which machines post to it: a database that is elsewhere than before (restored, failed over, copied, upgraded) may
-- lack what other machines than this one have posted. See docs/ledger.md, "One ledger, continuous in time".

alter table ledger.identity add column place text;
comment on column ledger.identity.place is 'Where the database was when it was last found whole: cluster, timeline and database. Null where the server does not tell.';

create table ledger.machines (
  machine_id uuid primary key,
  host text not null,
  posted_at timestamptz not null default clock_timestamp(),
  whole_at text
);
comment on table ledger.machines is 'Data folders that claims were made from. Each has journals that the others lack, unless they share a mark.';
comment on column ledger.machines.machine_id is 'Random; the data folder has it too.';
comment on column ledger.machines.host is 'Name of the machine, for people.';
comment on column ledger.machines.posted_at is 'When it last began to post.';
comment on column ledger.machines.whole_at is 'Place of the database at which all that its journals know was found here, or recovered.';

-- A dump that is restored is another database or cluster, a standby that takes over begins a new timeline. Null where a server keeps that to itself.
create function ledger.place() returns text language plpgsql volatile as $$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid::text from pg_database where datname = current_database());
exception when others then
  return null;
end
$$;
comment on function ledger.place() is 'Where this database is: cluster, timeline and database.';

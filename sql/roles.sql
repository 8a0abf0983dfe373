-- Three roles for a server: bi_reader, who reads the views of schema bi and nothing else; influencer_sync_app, who runs jobs and cannot change
-- the schema; and influencer_sync_operator, a person who looks at everything but customers, and settles what waits for a person. Run by `migrate --roles`, or by an administrator as the user who migrates. Running it again makes good what has been changed by hand.
-- They get no password here: \password bi_reader
do $roles$
declare
  ours constant text[] := array['ops', 'intake', 'ledger', 'mirror', 'reporting'];
  name text;
begin
  if not exists (select from pg_roles where rolname = 'bi_reader') then
    create role bi_reader login;
  end if;
  if not exists (select from pg_roles where rolname = 'influencer_sync_app') then
    create role influencer_sync_app login;
  end if;
  if not exists (select from pg_roles where rolname = 'influencer_sync_operator') then
    create role influencer_sync_operator login;
  end if;

  -- In this database only: roles belong to the whole server.
  execute format('alter role bi_reader in database %I set statement_timeout = %L', current_database(), '30s');
  execute format('alter role bi_reader in database %I set idle_in_transaction_session_timeout = %L', current_database(), '60s');
  execute format('alter role bi_reader in database %I set default_transaction_read_only = on', current_database());
  execute format('grant connect on database %I to bi_reader, influencer_sync_app', current_database());
  -- Temporary tables fill the server's disk: whoever reads needs none, but everybody may make them unless it is taken from PUBLIC.
  execute format('revoke temporary on database %I from public, bi_reader', current_database());
  execute format('grant temporary on database %I to %I', current_database(), current_user);
  -- Attribution works with temporary tables.
  execute format('grant temporary on database %I to influencer_sync_app', current_database());

  foreach name in array ours loop
    execute format('revoke all on schema %I from bi_reader, influencer_sync_app', name);
    execute format('revoke all on all tables in schema %I from bi_reader, influencer_sync_app', name);
    execute format('grant usage on schema %I to influencer_sync_app', name);
    execute format('grant select, insert, update, delete on all tables in schema %I to influencer_sync_app', name);
    execute format('alter default privileges in schema %I grant select, insert, update, delete on tables to influencer_sync_app', name);
    execute format('grant usage on all sequences in schema %I to influencer_sync_app', name);
    execute format('alter default privileges in schema %I grant usage on sequences to influencer_sync_app', name);
  end loop;
  -- The queues of units of work, which `migrate` makes where work.engine is pg-boss.
  if exists (select from pg_namespace where nspname = 'pgboss') then
    grant usage on schema pgboss to influencer_sync_app;
    grant select, insert, update, delete on all tables in schema pgboss to influencer_sync_app;
    grant usage on all sequences in schema pgboss to influencer_sync_app;
  end if;
  -- What a trigger keeps append-only needs no right to be changed either.
  for name in select tgrelid::regclass::text from pg_trigger where tgname = 'append_only' loop
    execute 'revoke update, delete on ' || name || ' from influencer_sync_app';
  end loop;
  -- Only its trigger writes it.
  revoke insert on ops.payments_elsewhere from influencer_sync_app;
  -- It analyses what it has filled.
  grant execute on function ops.analyze_table(regclass) to influencer_sync_app;
  -- It recovers a ledger that lost claims.
  grant execute on function ledger.raise_claim_numbers(bigint) to influencer_sync_app;
  -- A renamed job keeps what is its own.
  grant execute on function ops.rename_job(text, text) to influencer_sync_app;
  -- It looks up whether it has the schema it needs.
  grant select on public.influencer_sync_migrations, public.influencer_sync_migrations_lock to influencer_sync_app;

  -- A database that an older server made lets everybody make tables in public.
  if (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'public') = current_user or (select rolsuper from pg_roles where rolname = current_user) then
    revoke create on schema public from public, bi_reader;
  end if;

  revoke all on schema bi from bi_reader, influencer_sync_app;
  grant usage on schema bi to bi_reader, influencer_sync_app;
  grant select on all tables in schema bi to bi_reader, influencer_sync_app;
  alter default privileges in schema bi grant select on tables to bi_reader, influencer_sync_app;

  -- An operator reads all of it but who customers are, and the files of customers that wait.
  execute format('grant connect on database %I to influencer_sync_operator', current_database());
  foreach name in array ours || array['bi'] loop
    execute format('revoke all on schema %I from influencer_sync_operator', name);
    execute format('revoke all on all tables in schema %I from influencer_sync_operator', name);
    execute format('grant usage on schema %I to influencer_sync_operator', name);
    execute format('grant select on all tables in schema %I to influencer_sync_operator', name);
  end loop;
  revoke select on intake.customers, intake.lookups, intake.waiting_batches, intake.customer_key, intake.forgotten_customers,
    intake.outreach_candidates, intake.staged_rows from influencer_sync_operator;
  grant select on public.influencer_sync_migrations, public.influencer_sync_migrations_lock to influencer_sync_operator;
  -- It decides through functions that record the decision and the user of the session: what an entry is about, and what was sent and
  -- answered, it cannot change, nor the audit. Entries of processes that are gone become doubts first.
  grant execute on function ops.record_audit(jsonb), ledger.decide(bigint, text, text, integer, text, text, text, text),
    ledger.acknowledge_double_credit(bigint, bigint, text, text), ledger.reap_lost() to influencer_sync_operator, influencer_sync_app;
  grant update (acknowledged_at, acknowledged_by, acknowledge_reason) on intake.check_findings to influencer_sync_operator;
  grant insert, update on intake.expected_dates to influencer_sync_operator;
  grant update (state, released_at, released_by, release_reason, reread_at, reread_by, newest_since, newest_by) on intake.source_files to influencer_sync_operator;
  grant insert on ops.slots to influencer_sync_operator;
  grant insert, delete on ops.paused_jobs to influencer_sync_operator;

  -- `query` asks as bi_reader, whoever runs it.
  grant bi_reader to influencer_sync_app, influencer_sync_operator;
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant bi_reader to %I', current_user);
  end if;
end $roles$;

-- A ledger that knows itself: its identity, a number for every claim, and what a database that was restored or swapped no longer knows
-- about claims that were made. See docs/ledger.md, "One ledger, continuous in time".

create table ledger.identity (
  only_row boolean primary key default true check (only_row),
  ledger_id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now()
);
comment on table ledger.identity is 'Which ledger this is. Made by the first run, and part of every backup.';
comment on column ledger.identity.only_row is 'Always true: the table has at most one row.';
comment on column ledger.identity.ledger_id is 'Random. The journals outside of the database carry it too.';
comment on column ledger.identity.created_at is 'When the first run made it.';

create sequence ledger.claim_numbers;
comment on sequence ledger.claim_numbers is 'Numbers of claims: of the ledger, not of an entry.';
alter table ledger.attempts add column claim_no bigint not null default nextval('ledger.claim_numbers');
comment on column ledger.attempts.claim_no is 'Number of the claim in this ledger. Counts up, with gaps.';
if exists (select from pg_roles where rolname = 'influencer_sync_app') then
  grant usage on sequence ledger.claim_numbers to influencer_sync_app;
end if;

alter table ledger.answers drop constraint answers_via_check;
alter table ledger.answers add constraint answers_via_check check (via in ('direct', 'spool', 'reaper', 'journal'));
comment on column ledger.answers.via is 'direct, spool (replayed after the database was away), reaper (its owner was gone) or journal (read from the journal of a process that was gone, or recovered).';
-- Every double credit has such an answer, and they are few.
create index answers_accepted_late on ledger.answers (entry_id) where kind = 'accepted' and not applied;

create table ledger.recoveries (
  recovery_id bigint generated always as identity primary key,
  kind text not null check (kind in ('recover', 'new_ledger')),
  decided_by text not null,
  reason text not null check (length(trim(reason)) > 0),
  lost_claims bigint not null default 0 check (lost_claims >= 0),
  ranges jsonb not null default '[]',
  accepts_undescribed boolean not null default false,
  decided_at timestamptz not null default now()
);
comment on table ledger.recoveries is 'Append-only: decisions to go on with a database that lacks claims which were made.';
comment on column ledger.recoveries.recovery_id is 'Counts up.';
comment on column ledger.recoveries.kind is 'recover (`ledger recover`: what is known of the missing claims counts here) or new_ledger (`run --new-ledger`: what another ledger posted does not count here).';
comment on column ledger.recoveries.decided_by is 'Login name of the person.';
comment on column ledger.recoveries.reason is 'Why.';
comment on column ledger.recoveries.lost_claims is 'Claims that were found outside of the database and stored with this decision.';
comment on column ledger.recoveries.ranges is 'Numbers of claims that this database lost, each as {ledger_id, above, up_to}. Nothing is posted until each is described, or it is accepted that some are not.';
comment on column ledger.recoveries.accepts_undescribed is 'The person accepts that orders behind numbers which nothing describes may be posted again.';
comment on column ledger.recoveries.decided_at is 'When.';

create table ledger.lost_claims (
  lost_claim_id bigint generated always as identity primary key,
  recovery_id bigint references ledger.recoveries,
  ledger_id uuid not null,
  claim_no bigint not null,
  claim_id uuid not null,
  account_id text not null,
  effect text not null check (effect in ('referral', 'click', 'create_deal', 'note', 'task')),
  key_hash text not null,
  body_hash text not null,
  amount numeric(18,4),
  currency text,
  disposition text not null check (disposition in ('accepted', 'in_doubt', 'not_processed', 'disregarded')),
  http_status integer,
  deal_id text,
  collab_id text,
  message text,
  claimed_at timestamptz,
  found_at timestamptz not null default now(),
  unique (claim_id, claim_no, disposition)
);
comment on table ledger.lost_claims is 'Append-only: claims that were made and that this database does not have, because it was restored, failed over or swapped. Read from journals and spools.';
comment on column ledger.lost_claims.lost_claim_id is 'Counts up.';
comment on column ledger.lost_claims.recovery_id is 'Decision that stored it; null when a run found it by itself.';
comment on column ledger.lost_claims.ledger_id is 'Ledger in which it was made.';
comment on column ledger.lost_claims.claim_no is 'Its number there.';
comment on column ledger.lost_claims.claim_id is 'The commit that made it there.';
comment on column ledger.lost_claims.account_id is 'Account of the service.';
comment on column ledger.lost_claims.effect is 'Which operation.';
comment on column ledger.lost_claims.key_hash is 'Digest of account, effect and idempotency key: names the entry without its order id.';
comment on column ledger.lost_claims.body_hash is 'Digest of the body.';
comment on column ledger.lost_claims.amount is 'Revenue as sent, in currency.';
comment on column ledger.lost_claims.currency is 'ISO 4217.';
comment on column ledger.lost_claims.disposition is 'accepted (the service said so), in_doubt (it may have been processed), not_processed (proven), disregarded (`run --new-ledger`).';
comment on column ledger.lost_claims.http_status is 'Status of the answer, if there was one.';
comment on column ledger.lost_claims.deal_id is 'Deal that the service named.';
comment on column ledger.lost_claims.collab_id is 'Collaboration that the service named.';
comment on column ledger.lost_claims.message is 'What the service said or what went wrong, cut, addresses and secrets masked.';
comment on column ledger.lost_claims.claimed_at is 'By the clock of the machine that made it.';
comment on column ledger.lost_claims.found_at is 'When it was stored here.';

create table ledger.recovered_claims (
  lost_claim_id bigint primary key references ledger.lost_claims,
  entry_id bigint not null references ledger.entries,
  attempt integer not null,
  recovered_at timestamptz not null default now()
);
create index recovered_claims_entry on ledger.recovered_claims (entry_id);
comment on table ledger.recovered_claims is 'Append-only: which entry a lost claim was found to be about. Until then no file has stated its order to this database.';
comment on column ledger.recovered_claims.lost_claim_id is 'Lost claim.';
comment on column ledger.recovered_claims.entry_id is 'Entry.';
comment on column ledger.recovered_claims.attempt is 'Attempt of the entry that stands for it.';
comment on column ledger.recovered_claims.recovered_at is 'When.';

alter table ledger.decisions drop constraint decisions_decision_check;
alter table ledger.decisions add constraint decisions_decision_check check (decision in ('accept', 'write_off', 'resend', 'acknowledge'));
comment on column ledger.decisions.decision is 'accept (it was processed), write_off (let it go), resend (send once more), acknowledge (a known double credit was dealt with outside).';

create trigger append_only before update or delete or truncate on ledger.recoveries for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.lost_claims for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.recovered_claims for each statement execute function ledger.refuse_change();

create function ledger.key_hash(account_id text, effect text, key text) returns text language sql immutable parallel safe
  return left(encode(sha256(convert_to(account_id || chr(10) || effect || chr(10) || key, 'UTF8')), 'hex'), 32);
comment on function ledger.key_hash(text, text, text) is 'Names an entry outside of the database: 128 bits of a digest of its account, effect and idempotency key.';

create view ledger.double_credits as
  with credits as (
    select n.entry_id, a.attempt::text as claim from ledger.answers n join ledger.answers a on a.entry_id = n.entry_id and a.kind = 'accepted'
    where n.kind = 'accepted' and not n.applied
    union
    select r.entry_id, l.claim_id || '/' || l.claim_no from ledger.recovered_claims r join ledger.lost_claims l using (lost_claim_id)
    where l.disposition = 'accepted'
      and not exists (select from ledger.attempts t where t.entry_id = r.entry_id and t.attempt = r.attempt and t.claim_id = l.claim_id)
    union
    select r.entry_id, a.attempt::text from ledger.recovered_claims r join ledger.answers a on a.entry_id = r.entry_id and a.kind = 'accepted'
  )
  select e.entry_id, e.job, e.order_platform, e.order_id, e.amount, e.currency, e.deal_id, e.collab_id, c.credits
  from (select entry_id, count(*) as credits from credits group by entry_id having count(*) > 1) c
  join ledger.entries e using (entry_id)
  where not exists (select from ledger.decisions d where d.entry_id = e.entry_id and d.decision = 'acknowledge');
comment on view ledger.double_credits is 'Orders for which the service has accepted more than one request, until a person acknowledges it (`review ENTRY --acknowledge`).';
comment on column ledger.double_credits.entry_id is 'Entry.';
comment on column ledger.double_credits.job is 'Job that made it.';
comment on column ledger.double_credits.order_platform is 'Shop platform as sent.';
comment on column ledger.double_credits.order_id is 'Order as sent.';
comment on column ledger.double_credits.amount is 'Revenue as sent with each request, in currency.';
comment on column ledger.double_credits.currency is 'ISO 4217.';
comment on column ledger.double_credits.deal_id is 'Deal that the service credited.';
comment on column ledger.double_credits.collab_id is 'Collaboration that the service credited.';
comment on column ledger.double_credits.credits is 'Requests that the service accepted.';

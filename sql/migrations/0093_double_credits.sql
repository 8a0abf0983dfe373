-- A double credit is counted by the requests that the service accepted. What a lost claim says about an attempt was counted besides
-- the claim, so that one accepted request, found again after another one was refused or lost its answer, was two.

alter table ledger.answers drop constraint answers_via_check;
alter table ledger.answers add constraint answers_via_check check (via in ('direct', 'spool', 'reaper', 'journal', 'lost_claim'));
comment on column ledger.answers.via is 'direct, spool (replayed after the database was away), reaper (its owner was gone), journal (read from the journal of a process that was gone) or lost_claim (from a claim that the database had lost; until 0.2 it is written journal).';

create or replace view ledger.double_credits as
  with accepted as (
    select n.entry_id, n.attempt::text as request, n.answered_at as known_at
    from ledger.answers n
    where n.kind = 'accepted' and n.via <> 'lost_claim' and n.entry_id in (
      select late.entry_id from ledger.answers late where late.kind = 'accepted' and not late.applied
      union select r.entry_id from ledger.recovered_claims r)
    union all
    -- The claim is that of an attempt if the entry has it.
    select r.entry_id, coalesce(t.attempt::text, l.claim_id || '/' || l.claim_no), r.recovered_at
    from ledger.recovered_claims r
    join ledger.lost_claims l using (lost_claim_id)
    left join ledger.attempts t on t.entry_id = r.entry_id and t.claim_id = l.claim_id
    where l.disposition = 'accepted'
  ),
  requests as (select entry_id, request, min(known_at) as known_at from accepted group by 1, 2),
  credits as (
    select entry_id, count(*) as credits, max(known_at) as known_at from requests group by 1 having count(*) > 1
  )
  select e.entry_id, e.job, e.order_platform, e.order_id, e.amount, e.currency, e.deal_id, e.collab_id, c.credits
  from credits c
  join ledger.entries e using (entry_id)
  where not exists (
    select from ledger.decisions d where d.entry_id = e.entry_id and d.decision = 'acknowledge' and d.decided_at >= c.known_at);
comment on view ledger.double_credits is 'Orders for which the service has accepted more than one request, until a person acknowledges it (`review ENTRY --acknowledge`); again if another one becomes known after that.';

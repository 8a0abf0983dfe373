-- Lists and sums of open entries read an index alone, page by page, however many entries wait. A backfill may leave a million of them for days, and
-- a service that does not answer leaves a hundred thousand doubts.

alter table ledger.entries add column doubted_at timestamptz;
comment on column ledger.entries.doubted_at is 'When doubtful_attempt was claimed. Null for doubts of a process of the previous version: then state_changed_at is the nearest.';
update ledger.entries e set doubted_at = t.claimed_at
from ledger.attempts t
where not e.is_settled and t.entry_id = e.entry_id and t.attempt = e.doubtful_attempt;

-- Milliseconds, because pages write the key of their last row as a JavaScript Date.
create index entries_in_doubt on ledger.entries ((coalesce(doubted_at, state_changed_at)::timestamptz(3)), entry_id) where state = 'in_doubt';

-- In place of entries_unsettled, which had no state, so that every open entry was fetched to find a few.
create index entries_open on ledger.entries (job, backfill_id, state, entry_id) include (currency, amount, state_changed_at, owner) where not is_settled;
drop index ledger.entries_unsettled;

-- The claims of a run, and those of the last minute, were found by reading all claims that were ever made: by the pages of backfills,
-- and every two seconds while a run posts and somebody has the console open. Claims are only added, so their runs and times grow along the table.

create index attempts_recent on ledger.attempts using brin (run_id, claimed_at) with (pages_per_range = 32, autosummarize = on);

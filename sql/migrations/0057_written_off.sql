-- Entries that were given up are settled, so no index had them: the progress of a backfill reads the entries of its plan that are not accepted.
create index entries_written_off on ledger.entries (job) where state = 'written_off';

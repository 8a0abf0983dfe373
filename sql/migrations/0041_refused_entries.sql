-- Entries that the service refused are settled, so no index had them: /metrics counts them with every scrape.
create index entries_rejected on ledger.entries (job) where state = 'rejected';

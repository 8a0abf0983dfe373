-- The same facts in the field's terms: discovered through, unchanged orders, in flight, rate limiter, fix.

comment on column intake.source_files.hold_help is 'How to fix it.';
comment on column intake.source_files.hold_is_transient is 'Nobody has to fix it: the next run reads the file again.';
comment on column intake.rejected_rows.source_file_id is 'File that contains it.';
comment on column intake.rejected_rows.help is 'How to fix it.';
comment on column intake.rejected_rows.row_count is 'Number of rows: more than one when a whole order is rejected.';
comment on column intake.rejected_rows.run_id is 'Run that rejected it.';
comment on column intake.rejected_rows.first_seen_at is 'When it was rejected.';
comment on column intake.codes.line_no is 'Line in codes.csv; negative for an event of the service.';
comment on column intake.codes.target is 'What distinguishes two owners: deal, else collaboration, else handle.';
comment on table intake.order_continuations is 'Rows of a file being read that belong to an order whose first row is in another place. Settled and emptied when the file is sealed.';
comment on table intake.order_sightings is 'Unchanged orders of a file being read: orders that are known in the same form, one row for each batch. Settled and emptied when the file is sealed.';

comment on table ledger.contacts is 'One row for each customer and brand, without the address, and the last batch that it was put into. ledger.customers shows the state that follows.';
comment on view ledger.customers is 'The state of each customer of a brand, without those of files that do not count yet.';
comment on view ledger.customer_counts is 'How many customers of each batch are in each state, without those of files that do not count yet, as in ledger.customers.';
comment on table ledger.changes is 'Append-only: what happened to an entry while no request was in flight. It was held, released again, or its request was replaced.';
comment on column ledger.recovered_claims.attempt is 'Attempt of the entry that represents it.';

comment on column mirror.brand_versions.valid_from is 'When it was first seen in this form: the time before the request.';
comment on column mirror.dealflow_versions.valid_from is 'When it was first seen in this form: the time before the request.';
comment on column mirror.deal_versions.valid_from is 'When it was first read in this form: the time before the request.';
comment on column mirror.collaboration_versions.valid_from is 'When it was first read in this form: the time before the request.';
comment on column mirror.staged.fetched_at is 'The time before the request.';
comment on column mirror.staged_collaborations.deal_id is 'Deal whose answer contained it.';
comment on column mirror.staged_collaborations.fetched_at is 'The time before the request; with the deal it identifies the answer.';
comment on column mirror.staged_listings.fetched_at is 'The time before the request.';
comment on column mirror.unreadable.run_id is 'Last run that received it.';
comment on table mirror.known_deals is 'Every deal that was discovered, how it was discovered, and how reading it went. The service has no list of deals.';
comment on column mirror.known_deals.first_way is 'How it was first discovered: referral, click, create_deal, note, task (answers to what the ledger sent), event, codes, order, handle, autocomplete, deal (another deal''s answer).';
comment on column mirror.known_deals.ways is 'Everything that it was discovered through, the first one first.';
comment on column mirror.known_deals.first_seen_at is 'When it was first discovered.';
comment on column mirror.known_deals.read_at is 'Time before the request that last read it; null: never read. Deals read longest ago are read next.';
comment on column mirror.known_deals.deleted_at is 'Set when a second run got the same answer: the deal is then gone as of not_found_at.';
comment on table mirror.known_handles is 'Handles of influencers that were discovered without a deal id: runs request their deals.';
comment on column mirror.known_handles.handle is 'Handle as first discovered.';
comment on column mirror.known_handles.first_way is 'How it was first discovered: codes, order, autocomplete.';
comment on column mirror.known_handles.ways is 'Everything that it was discovered through, the first one first.';
comment on column mirror.known_handles.first_seen_at is 'When it was first discovered.';
comment on table mirror.prefixes is 'Prefixes of handles to request from autocomplete. A prefix whose answer looks cut off is split into longer ones.';
comment on column mirror.prefixes.prefix is 'The prefix.';
comment on column mirror.prefixes.asked_at is 'When it was last requested; null: not yet.';
comment on column mirror.prefixes.answer_hash is 'Digest of the ids in the answer: detects a service that ignores the prefix.';
comment on column mirror.prefixes.last_error is 'Why it could not be requested, without addresses and secrets; null after a success.';
comment on table mirror.coverage is 'How many deals are known after each publication, how they were discovered, how fresh they are, and what could not be read. Never the number of existing deals: only the service knows it.';
comment on column mirror.coverage.known is 'Deals first discovered this way. The rows add up to all.';
comment on column mirror.coverage.also_known is 'Deals first discovered in another way, and in this one too.';

comment on table reporting.order_standings is 'The disposition of each order of each job, as of the last refresh.';
comment on column reporting.order_standings.job is 'Job that decided about the order.';
comment on column reporting.order_standings.entry_id is 'Entry of the ledger, if the disposition follows from it.';
comment on column reporting.order_standings.is_open is 'May change without another decision about its file: each refresh checks it.';
comment on column reporting.order_standings.target is 'deal:, collab: or handle:, and the owner of the order; null without an owner.';
comment on column reporting.brand_days.ready_orders is 'Yet to be sent, or in flight.';
comment on column reporting.deal_days.ready_orders is 'Yet to be sent, or in flight.';
comment on table reporting.changed_days is 'Days with orders whose disposition differs from the daily sums: the next step of a refresh adds them up.';

comment on column ops.runs.exit_code is 'Exit code of the process.';
comment on table ops.slots is 'One row for each time at which a job''s schedule says that it runs. Authoritative for scheduled runs: each slot runs once, however many processes poll.';
comment on column ops.slots.slot is 'Its time. For a job that follows another: the time of that job''s slot.';
comment on column ops.slots.not_before is 'Not started again before this instant.';
comment on table ops.request_turns is 'The shared rate limiter of the account: all processes reserve their requests here, so that together they keep the limit. A crash loses nothing.';
comment on column ops.request_turns.next_turn_at is 'The first time that no process has reserved.';
comment on column ops.request_turns.run_turn_at is 'When a run last reserved a request: while runs do, backfills slow down.';
comment on column ops.request_turns.backfill_turn_at is 'When a backfill last reserved a request.';
comment on column ops.webhook_events.deal_id is 'Deal that it names, which may be discovered through it.';

-- The tables, functions and comments that sql/migrations/ add up to, as pg_dump writes them.
-- Written by npm run schema; to change it, add a migration.

CREATE SCHEMA intake;

COMMENT ON SCHEMA intake IS 'What was read from exports: files, orders, rejected rows, codes.';

CREATE SCHEMA ledger;

COMMENT ON SCHEMA ledger IS 'What may be sent to the service, what was sent, and what became of it. The truth about money.';

CREATE SCHEMA ops;

COMMENT ON SCHEMA ops IS 'What ran, when, and who holds what.';

CREATE FUNCTION ledger.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'ledger.% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

COMMENT ON FUNCTION ledger.refuse_change() IS 'Trigger: refuses UPDATE, DELETE and TRUNCATE.';

CREATE TABLE intake.attributed_files (
    job text NOT NULL,
    source_file_id bigint NOT NULL,
    rules_hash text NOT NULL,
    attributed_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE intake.attributed_files IS 'Files whose orders each job has looked at, so that a run looks only at what is new to it.';

COMMENT ON COLUMN intake.attributed_files.job IS 'Job.';

COMMENT ON COLUMN intake.attributed_files.source_file_id IS 'Sealed file.';

COMMENT ON COLUMN intake.attributed_files.rules_hash IS 'Digest of the codes and rules in force then: others, and the file''s orders are looked at again.';

COMMENT ON COLUMN intake.attributed_files.attributed_at IS 'When.';

CREATE TABLE intake.attributions (
    job text NOT NULL,
    source text NOT NULL,
    order_id text NOT NULL,
    order_version_id bigint NOT NULL,
    outcome text NOT NULL,
    reason text,
    matched_by text,
    matched_value text,
    target text,
    brand_id text,
    influencer_handle text,
    deal_id text,
    collab_id text,
    amount numeric(18,4),
    currency text NOT NULL,
    entry_id bigint,
    is_pending boolean NOT NULL,
    rules_hash text NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT attributed_names_its_target CHECK (((outcome = 'attributed'::text) = (target IS NOT NULL))),
    CONSTRAINT attributions_matched_by_check CHECK ((matched_by = ANY (ARRAY['explicit'::text, 'code'::text, 'link'::text]))),
    CONSTRAINT attributions_outcome_check CHECK ((outcome = ANY (ARRAY['attributed'::text, 'unattributed'::text, 'organic'::text, 'excluded'::text, 'held'::text]))),
    CONSTRAINT not_attributed_says_why CHECK (((outcome = ANY (ARRAY['attributed'::text, 'organic'::text])) OR (reason IS NOT NULL)))
);

COMMENT ON TABLE intake.attributions IS 'What each job made of each order: whose it is, or why it is nobody''s.';

COMMENT ON COLUMN intake.attributions.job IS 'Job that decided.';

COMMENT ON COLUMN intake.attributions.source IS 'Source of the order.';

COMMENT ON COLUMN intake.attributions.order_id IS 'The order.';

COMMENT ON COLUMN intake.attributions.order_version_id IS 'Version of the order that was looked at. Versions of sealed files are never deleted.';

COMMENT ON COLUMN intake.attributions.outcome IS 'attributed, unattributed (a code, link or handle that nobody owns), organic (none at all), excluded (never posted), held (a person must decide).';

COMMENT ON COLUMN intake.attributions.reason IS 'Why, for all but attributed and organic: for example status_pending, unknown_code, ambiguous_codes.';

COMMENT ON COLUMN intake.attributions.matched_by IS 'What named the influencer: explicit columns, a code, or a link.';

COMMENT ON COLUMN intake.attributions.matched_value IS 'The code or link that matched, or those that did not.';

COMMENT ON COLUMN intake.attributions.target IS 'Deal, else collaboration, else handle.';

COMMENT ON COLUMN intake.attributions.brand_id IS 'Brand the order is credited for.';

COMMENT ON COLUMN intake.attributions.influencer_handle IS 'Influencer.';

COMMENT ON COLUMN intake.attributions.deal_id IS 'Deal.';

COMMENT ON COLUMN intake.attributions.collab_id IS 'Collaboration.';

COMMENT ON COLUMN intake.attributions.amount IS 'Revenue by the job''s rule (total, subtotal, total_less_refunds), in currency.';

COMMENT ON COLUMN intake.attributions.currency IS 'ISO 4217.';

COMMENT ON COLUMN intake.attributions.entry_id IS 'The ledger''s entry for it; stays when the order is no longer attributed.';

COMMENT ON COLUMN intake.attributions.is_pending IS 'The ledger has not yet taken note of this decision.';

COMMENT ON COLUMN intake.attributions.rules_hash IS 'Digest of the codes and rules that led to this decision; later ones that lead to the same leave it as it is.';

COMMENT ON COLUMN intake.attributions.decided_at IS 'When.';

CREATE TABLE intake.code_changes (
    event_id bigint NOT NULL,
    kind text NOT NULL,
    deal_id text NOT NULL,
    collab_id text,
    old_value text,
    new_value text,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT code_changes_kind_check CHECK ((kind = ANY (ARRAY['discount_code'::text, 'custom_link'::text])))
);

COMMENT ON TABLE intake.code_changes IS 'Discount codes and links that events of the service changed, in the order in which they came.';

COMMENT ON COLUMN intake.code_changes.event_id IS 'Event that says so.';

COMMENT ON COLUMN intake.code_changes.kind IS 'discount_code or custom_link.';

COMMENT ON COLUMN intake.code_changes.deal_id IS 'Deal that owns it.';

COMMENT ON COLUMN intake.code_changes.collab_id IS 'Collaboration that owns it.';

COMMENT ON COLUMN intake.code_changes.old_value IS 'Code or link before; null when there was none.';

COMMENT ON COLUMN intake.code_changes.new_value IS 'Code or link from then on; null when it was taken away.';

COMMENT ON COLUMN intake.code_changes.received_at IS 'Database clock.';

CREATE TABLE intake.code_lists (
    job text NOT NULL,
    content_hash text NOT NULL,
    loaded_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE intake.code_lists IS 'Which codes.csv each job has loaded.';

COMMENT ON COLUMN intake.code_lists.job IS 'Job that reads the file.';

COMMENT ON COLUMN intake.code_lists.content_hash IS 'Digest of the loaded codes: another one, and orders are matched again.';

COMMENT ON COLUMN intake.code_lists.loaded_at IS 'When they last changed.';

CREATE TABLE intake.codes (
    job text NOT NULL,
    code_folded text NOT NULL,
    code text NOT NULL,
    line_no integer NOT NULL,
    brand_id text,
    influencer_handle text,
    handle_folded text,
    deal_id text,
    collab_id text,
    target text NOT NULL,
    valid_from timestamp with time zone,
    valid_to timestamp with time zone
);

COMMENT ON TABLE intake.codes IS 'Who owns which discount code, as codes.csv of each job says. Replaced as a whole when the file changes.';

COMMENT ON COLUMN intake.codes.job IS 'Job that reads the file.';

COMMENT ON COLUMN intake.codes.code_folded IS 'Code without blanks, case folded: what orders are matched by.';

COMMENT ON COLUMN intake.codes.code IS 'Code as written.';

COMMENT ON COLUMN intake.codes.line_no IS 'Line in codes.csv.';

COMMENT ON COLUMN intake.codes.brand_id IS 'Brand the code belongs to; null: the job''s brand.';

COMMENT ON COLUMN intake.codes.influencer_handle IS 'Influencer who owns it.';

COMMENT ON COLUMN intake.codes.handle_folded IS 'Handle without blanks and @, case folded: what links are matched by.';

COMMENT ON COLUMN intake.codes.deal_id IS 'Deal it belongs to.';

COMMENT ON COLUMN intake.codes.collab_id IS 'Collaboration it belongs to.';

COMMENT ON COLUMN intake.codes.target IS 'What tells two owners apart: deal, else collaboration, else handle.';

COMMENT ON COLUMN intake.codes.valid_from IS 'First instant at which it counts; null: always.';

COMMENT ON COLUMN intake.codes.valid_to IS 'First instant at which it no longer counts; null: never ends.';

CREATE TABLE intake.order_continuations (
    source_file_id bigint NOT NULL,
    group_key text NOT NULL,
    line_no bigint NOT NULL,
    record_no bigint NOT NULL,
    row_count integer NOT NULL,
    CONSTRAINT order_continuations_row_count_check CHECK ((row_count > 0))
);

COMMENT ON TABLE intake.order_continuations IS 'Rows of a file being read that belong to an order whose first row stands elsewhere. Settled and emptied at sealing.';

COMMENT ON COLUMN intake.order_continuations.source_file_id IS 'File being read.';

COMMENT ON COLUMN intake.order_continuations.group_key IS 'The order they belong to.';

COMMENT ON COLUMN intake.order_continuations.line_no IS 'Physical line of the first of them.';

COMMENT ON COLUMN intake.order_continuations.record_no IS 'Record number of the first of them.';

COMMENT ON COLUMN intake.order_continuations.row_count IS 'How many rows.';

CREATE TABLE intake.order_sightings (
    source_file_id bigint NOT NULL,
    order_version_ids bigint[] NOT NULL,
    line_nos bigint[] NOT NULL,
    record_nos bigint[] NOT NULL,
    row_counts bigint[] NOT NULL,
    cancelled bigint NOT NULL
);

COMMENT ON TABLE intake.order_sightings IS 'Orders of a file being read that say what is known already, one row a batch. Settled and emptied at sealing.';

COMMENT ON COLUMN intake.order_sightings.source_file_id IS 'File being read.';

COMMENT ON COLUMN intake.order_sightings.order_version_ids IS 'Current versions that the file repeats.';

COMMENT ON COLUMN intake.order_sightings.line_nos IS 'Physical line of each.';

COMMENT ON COLUMN intake.order_sightings.record_nos IS 'Record number of each.';

COMMENT ON COLUMN intake.order_sightings.row_counts IS 'Rows of each.';

COMMENT ON COLUMN intake.order_sightings.cancelled IS 'How many of them are cancelled.';

CREATE TABLE intake.orders (
    order_version_id bigint NOT NULL,
    source text NOT NULL,
    order_id text NOT NULL,
    source_file_id bigint NOT NULL,
    is_current boolean NOT NULL,
    content_hash text NOT NULL,
    group_key text NOT NULL,
    order_name text,
    status text,
    currency text NOT NULL,
    total numeric(18,4),
    subtotal numeric(18,4),
    refunded numeric(18,4),
    codes text[] DEFAULT '{}'::text[] NOT NULL,
    codes_folded text[] DEFAULT '{}'::text[] NOT NULL,
    links text[] DEFAULT '{}'::text[] NOT NULL,
    links_folded text[] DEFAULT '{}'::text[] NOT NULL,
    influencer_handle text,
    deal_id text,
    collab_id text,
    brand_id text,
    placed_at timestamp with time zone,
    paid_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    exclusion text,
    line_no bigint NOT NULL,
    record_no bigint NOT NULL,
    row_count integer NOT NULL,
    conflicting_line_no bigint,
    replaces bigint,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT orders_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT orders_row_count_check CHECK ((row_count > 0))
);

COMMENT ON TABLE intake.orders IS 'Versions of orders, append-only: one row each time an export states an order differently. A row counts once its file is sealed.';

COMMENT ON COLUMN intake.orders.order_version_id IS 'Counts up; the newest version of an order is the current one.';

COMMENT ON COLUMN intake.orders.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.orders.order_id IS 'Identity at the shop platform. Text, never a number.';

COMMENT ON COLUMN intake.orders.source_file_id IS 'File that stated it. Not a foreign key, which would cost more than the row; staging locks the file''s row instead.';

COMMENT ON COLUMN intake.orders.is_current IS 'The version in force (once its file is sealed). A changed version waits as not current until its file is sealed.';

COMMENT ON COLUMN intake.orders.content_hash IS 'Digest of the meaning: equal hash, equal order.';

COMMENT ON COLUMN intake.orders.group_key IS 'What holds the rows of one order together in the file.';

COMMENT ON COLUMN intake.orders.order_name IS 'What people call the order, for example #1001.';

COMMENT ON COLUMN intake.orders.status IS 'The shop''s own status word, lower-cased.';

COMMENT ON COLUMN intake.orders.currency IS 'ISO 4217.';

COMMENT ON COLUMN intake.orders.total IS 'Order total in currency.';

COMMENT ON COLUMN intake.orders.subtotal IS 'After discounts, before shipping, in currency.';

COMMENT ON COLUMN intake.orders.refunded IS 'Refunded so far, in currency.';

COMMENT ON COLUMN intake.orders.codes IS 'Discount codes as written.';

COMMENT ON COLUMN intake.orders.codes_folded IS 'Each of codes without blanks, case folded: what it is matched by.';

COMMENT ON COLUMN intake.orders.links IS 'Candidate codes or handles from links and UTM lines in the notes.';

COMMENT ON COLUMN intake.orders.links_folded IS 'Each of links without blanks, case folded: what it is matched by.';

COMMENT ON COLUMN intake.orders.influencer_handle IS 'When the export names the influencer itself.';

COMMENT ON COLUMN intake.orders.deal_id IS 'When the export names the deal itself.';

COMMENT ON COLUMN intake.orders.collab_id IS 'When the export names the collaboration itself.';

COMMENT ON COLUMN intake.orders.brand_id IS 'When the export names the brand itself.';

COMMENT ON COLUMN intake.orders.placed_at IS 'When the customer ordered.';

COMMENT ON COLUMN intake.orders.paid_at IS 'When it was paid.';

COMMENT ON COLUMN intake.orders.cancelled_at IS 'When it was cancelled.';

COMMENT ON COLUMN intake.orders.exclusion IS 'Set by a rule of the layout (test, draft, cancelled, …): never posted.';

COMMENT ON COLUMN intake.orders.line_no IS 'Physical line of its first row.';

COMMENT ON COLUMN intake.orders.record_no IS 'Record number of its first row.';

COMMENT ON COLUMN intake.orders.row_count IS 'Rows of the file folded into it.';

COMMENT ON COLUMN intake.orders.conflicting_line_no IS 'Line where the same file states the order again, differently; such an order is rejected at sealing.';

COMMENT ON COLUMN intake.orders.replaces IS 'Version that was in force when this one was staged; null for the first one.';

COMMENT ON COLUMN intake.orders.first_seen_at IS 'When this version was stored.';

ALTER TABLE intake.orders ALTER COLUMN order_version_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.orders_order_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE intake.rejected_rows (
    source_file_id bigint NOT NULL,
    line_no bigint NOT NULL,
    record_no bigint NOT NULL,
    code text NOT NULL,
    column_name text,
    value text,
    reason text NOT NULL,
    help text NOT NULL,
    row_count integer DEFAULT 1 NOT NULL,
    run_id bigint NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT rejected_rows_row_count_check CHECK ((row_count > 0))
);

COMMENT ON TABLE intake.rejected_rows IS 'Rows that could not be used, each with its reason. The row itself stays in the file; `rejected --export` fetches it from there.';

COMMENT ON COLUMN intake.rejected_rows.source_file_id IS 'File it stands in.';

COMMENT ON COLUMN intake.rejected_rows.line_no IS 'Physical line on which the record begins, 1-based.';

COMMENT ON COLUMN intake.rejected_rows.record_no IS '1-based, header excluded.';

COMMENT ON COLUMN intake.rejected_rows.code IS 'Machine name of the problem.';

COMMENT ON COLUMN intake.rejected_rows.column_name IS 'Header of the column at fault.';

COMMENT ON COLUMN intake.rejected_rows.value IS 'The value at fault, cut, e-mail addresses masked.';

COMMENT ON COLUMN intake.rejected_rows.reason IS 'What is wrong.';

COMMENT ON COLUMN intake.rejected_rows.help IS 'How to mend it.';

COMMENT ON COLUMN intake.rejected_rows.row_count IS 'Rows it stands for: more than one when a whole order is rejected.';

COMMENT ON COLUMN intake.rejected_rows.run_id IS 'Run that met it.';

COMMENT ON COLUMN intake.rejected_rows.first_seen_at IS 'When it was met.';

CREATE TABLE intake.source_files (
    source_file_id bigint NOT NULL,
    source text NOT NULL,
    uri text NOT NULL,
    version text NOT NULL,
    size_bytes bigint NOT NULL,
    layout text NOT NULL,
    layout_hash text NOT NULL,
    state text DEFAULT 'reading'::text NOT NULL,
    reader uuid,
    content_sha256 text,
    duplicate_of bigint,
    hold_code text,
    hold_message text,
    hold_help text,
    hold_is_transient boolean DEFAULT false NOT NULL,
    rows_read bigint,
    orders_new bigint DEFAULT 0 NOT NULL,
    orders_changed bigint DEFAULT 0 NOT NULL,
    orders_unchanged bigint DEFAULT 0 NOT NULL,
    order_rows bigint DEFAULT 0 NOT NULL,
    rejected_rows bigint DEFAULT 0 NOT NULL,
    run_id bigint NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    sealed_at timestamp with time zone,
    CONSTRAINT duplicates_name_their_original CHECK (((state = 'duplicate'::text) = (duplicate_of IS NOT NULL))),
    CONSTRAINT held_files_say_why CHECK (((state = 'held'::text) = (hold_code IS NOT NULL))),
    CONSTRAINT only_a_reading_file_has_a_reader CHECK (((state = 'reading'::text) = (reader IS NOT NULL))),
    CONSTRAINT sealed_files_add_up CHECK (((state <> 'sealed'::text) OR ((sealed_at IS NOT NULL) AND (rows_read = (order_rows + rejected_rows))))),
    CONSTRAINT source_files_rows_read_check CHECK ((rows_read >= 0)),
    CONSTRAINT source_files_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT source_files_state_check CHECK ((state = ANY (ARRAY['reading'::text, 'sealed'::text, 'held'::text, 'duplicate'::text])))
);

COMMENT ON TABLE intake.source_files IS 'One row a version of an export file. Its orders count only once it is sealed.';

COMMENT ON COLUMN intake.source_files.source_file_id IS 'Counts up.';

COMMENT ON COLUMN intake.source_files.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.source_files.uri IS 'Where it was read.';

COMMENT ON COLUMN intake.source_files.version IS 'ETag or version id (S3) or digest of the content (folder). With source and uri the identity of the file.';

COMMENT ON COLUMN intake.source_files.size_bytes IS 'As stored, before decompression.';

COMMENT ON COLUMN intake.source_files.layout IS 'Layout it was read with.';

COMMENT ON COLUMN intake.source_files.layout_hash IS 'Digest of the layout and the source''s settings: a held file is read again when it changes.';

COMMENT ON COLUMN intake.source_files.state IS 'reading (not postable), sealed (read whole, rows add up), held (kept back, see hold_…), duplicate (same content as another file).';

COMMENT ON COLUMN intake.source_files.reader IS 'Process that reads it now.';

COMMENT ON COLUMN intake.source_files.content_sha256 IS 'Digest of the decoded content.';

COMMENT ON COLUMN intake.source_files.duplicate_of IS 'The sealed file with the same content.';

COMMENT ON COLUMN intake.source_files.hold_code IS 'Machine name of the reason for holding it.';

COMMENT ON COLUMN intake.source_files.hold_message IS 'What is wrong with it.';

COMMENT ON COLUMN intake.source_files.hold_help IS 'How to mend it.';

COMMENT ON COLUMN intake.source_files.hold_is_transient IS 'Nobody has to mend it: the next run reads the file again.';

COMMENT ON COLUMN intake.source_files.rows_read IS 'Records in the file, header excluded.';

COMMENT ON COLUMN intake.source_files.orders_new IS 'Orders first seen in this file.';

COMMENT ON COLUMN intake.source_files.orders_changed IS 'Orders known before, with other content here.';

COMMENT ON COLUMN intake.source_files.orders_unchanged IS 'Orders known before with the same content.';

COMMENT ON COLUMN intake.source_files.order_rows IS 'Records that became part of an order.';

COMMENT ON COLUMN intake.source_files.rejected_rows IS 'Records that could not be used.';

COMMENT ON COLUMN intake.source_files.run_id IS 'Run that read it last.';

COMMENT ON COLUMN intake.source_files.first_seen_at IS 'When it was first opened.';

COMMENT ON COLUMN intake.source_files.sealed_at IS 'When its orders began to count.';

ALTER TABLE intake.source_files ALTER COLUMN source_file_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.source_files_source_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.adjustments (
    adjustment_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    order_version_id bigint,
    kind text NOT NULL,
    old_amount numeric(18,4),
    new_amount numeric(18,4),
    currency text,
    old_body_hash text NOT NULL,
    new_body_hash text,
    detail text,
    run_id bigint NOT NULL,
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT adjustments_kind_check CHECK ((kind = ANY (ARRAY['changed'::text, 'refunded'::text, 'cancelled'::text, 'excluded'::text, 'reattributed'::text])))
);

COMMENT ON TABLE ledger.adjustments IS 'An order that changed after it was sent. Nothing is sent for it: the service has no operation to correct an order.';

COMMENT ON COLUMN ledger.adjustments.adjustment_id IS 'Counts up.';

COMMENT ON COLUMN ledger.adjustments.entry_id IS 'Entry that was sent.';

COMMENT ON COLUMN ledger.adjustments.order_version_id IS 'Version of the order that differs.';

COMMENT ON COLUMN ledger.adjustments.kind IS 'changed (another amount), refunded, cancelled, excluded (no longer to be credited), reattributed (another influencer).';

COMMENT ON COLUMN ledger.adjustments.old_amount IS 'As sent, in currency.';

COMMENT ON COLUMN ledger.adjustments.new_amount IS 'As it would be sent now, in currency; null when it would not be.';

COMMENT ON COLUMN ledger.adjustments.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.adjustments.old_body_hash IS 'Digest of what was sent.';

COMMENT ON COLUMN ledger.adjustments.new_body_hash IS 'Digest of what would be sent now.';

COMMENT ON COLUMN ledger.adjustments.detail IS 'What changed, in words.';

COMMENT ON COLUMN ledger.adjustments.run_id IS 'Run that noticed.';

COMMENT ON COLUMN ledger.adjustments.noted_at IS 'When.';

ALTER TABLE ledger.adjustments ALTER COLUMN adjustment_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.adjustments_adjustment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.answers (
    answer_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    attempt integer NOT NULL,
    kind text NOT NULL,
    http_status integer,
    message text,
    deal_id text,
    collab_id text,
    retry_after_ms bigint,
    via text NOT NULL,
    applied boolean NOT NULL,
    answered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT answers_kind_check CHECK ((kind = ANY (ARRAY['accepted'::text, 'rejected'::text, 'not_written'::text, 'throttled'::text, 'in_doubt'::text, 'lease_over'::text]))),
    CONSTRAINT answers_via_check CHECK ((via = ANY (ARRAY['direct'::text, 'spool'::text, 'reaper'::text])))
);

COMMENT ON TABLE ledger.answers IS 'Append-only: what came of each attempt. A late answer is kept too.';

COMMENT ON COLUMN ledger.answers.answer_id IS 'Counts up.';

COMMENT ON COLUMN ledger.answers.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.answers.attempt IS 'Attempt it answers.';

COMMENT ON COLUMN ledger.answers.kind IS 'accepted, rejected, not_written, throttled, in_doubt, lease_over.';

COMMENT ON COLUMN ledger.answers.http_status IS 'Status of the answer, if there was one.';

COMMENT ON COLUMN ledger.answers.message IS 'What the service said or what went wrong, cut, addresses and secrets masked.';

COMMENT ON COLUMN ledger.answers.deal_id IS 'Deal that the service named.';

COMMENT ON COLUMN ledger.answers.collab_id IS 'Collaboration that the service named.';

COMMENT ON COLUMN ledger.answers.retry_after_ms IS 'What a 429 asked for, in milliseconds.';

COMMENT ON COLUMN ledger.answers.via IS 'direct, spool (replayed after the database was away) or reaper (its owner was gone).';

COMMENT ON COLUMN ledger.answers.applied IS 'False when fencing kept it from changing the entry.';

COMMENT ON COLUMN ledger.answers.answered_at IS 'Database clock.';

ALTER TABLE ledger.answers ALTER COLUMN answer_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.answers_answer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.attempts (
    entry_id bigint NOT NULL,
    attempt integer NOT NULL,
    claim_id uuid NOT NULL,
    owner uuid NOT NULL,
    run_id bigint NOT NULL,
    body_hash text NOT NULL,
    claimed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

COMMENT ON TABLE ledger.attempts IS 'Append-only: one row a claim, committed before a byte of the request is written.';

COMMENT ON COLUMN ledger.attempts.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.attempts.attempt IS '1 for the first.';

COMMENT ON COLUMN ledger.attempts.claim_id IS 'Names the commit that made it, so that a commit of unknown outcome can be read back.';

COMMENT ON COLUMN ledger.attempts.owner IS 'Process that claimed it.';

COMMENT ON COLUMN ledger.attempts.run_id IS 'Run that claimed it.';

COMMENT ON COLUMN ledger.attempts.body_hash IS 'Digest of the body that it sends.';

COMMENT ON COLUMN ledger.attempts.claimed_at IS 'Database clock.';

CREATE TABLE ledger.decisions (
    decision_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    decision text NOT NULL,
    attempt integer NOT NULL,
    decided_by text NOT NULL,
    reason text NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT decisions_decision_check CHECK ((decision = ANY (ARRAY['accept'::text, 'write_off'::text, 'resend'::text]))),
    CONSTRAINT decisions_reason_check CHECK ((length(TRIM(BOTH FROM reason)) > 0))
);

COMMENT ON TABLE ledger.decisions IS 'Append-only: what a person, or a declared capability, decided about a doubt. Written before the entry changes.';

COMMENT ON COLUMN ledger.decisions.decision_id IS 'Counts up.';

COMMENT ON COLUMN ledger.decisions.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.decisions.decision IS 'accept (it was processed), write_off (let it go), resend (send once more).';

COMMENT ON COLUMN ledger.decisions.attempt IS 'Attempt that was in doubt.';

COMMENT ON COLUMN ledger.decisions.decided_by IS 'Login name of the person, or the capability, for example duplicate_orders: ignored.';

COMMENT ON COLUMN ledger.decisions.reason IS 'Why.';

COMMENT ON COLUMN ledger.decisions.decided_at IS 'When.';

ALTER TABLE ledger.decisions ALTER COLUMN decision_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.decisions_decision_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.entries (
    entry_id bigint NOT NULL,
    effect text NOT NULL,
    account_id text NOT NULL,
    key text NOT NULL,
    state text NOT NULL,
    is_settled boolean GENERATED ALWAYS AS ((state = ANY (ARRAY['accepted'::text, 'rejected'::text, 'written_off'::text]))) STORED NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    not_sent integer DEFAULT 0 NOT NULL,
    resends_approved integer DEFAULT 0 NOT NULL,
    doubtful_attempt integer,
    owner uuid,
    not_before timestamp with time zone,
    body text NOT NULL,
    body_hash text NOT NULL,
    job text NOT NULL,
    source text,
    order_platform text,
    order_id text,
    brand_id text,
    amount numeric(18,4),
    currency text,
    state_reason text,
    deal_id text,
    collab_id text,
    run_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    state_changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT accepted_says_by_whom CHECK (((state <> 'accepted'::text) OR (deal_id IS NOT NULL) OR (collab_id IS NOT NULL) OR (state_reason IS NOT NULL))),
    CONSTRAINT entries_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT entries_check CHECK (((doubtful_attempt >= 1) AND (doubtful_attempt <= attempt))),
    CONSTRAINT entries_effect_check CHECK ((effect = ANY (ARRAY['referral'::text, 'click'::text, 'create_deal'::text, 'note'::text, 'task'::text]))),
    CONSTRAINT entries_not_sent_check CHECK ((not_sent >= 0)),
    CONSTRAINT entries_resends_approved_check CHECK ((resends_approved >= 0)),
    CONSTRAINT entries_state_check CHECK ((state = ANY (ARRAY['held'::text, 'ready'::text, 'sending'::text, 'accepted'::text, 'rejected'::text, 'in_doubt'::text, 'written_off'::text]))),
    CONSTRAINT held_says_why CHECK (((state <> 'held'::text) OR (state_reason IS NOT NULL))),
    CONSTRAINT in_doubt_was_sent CHECK (((state <> 'in_doubt'::text) OR ((doubtful_attempt IS NOT NULL) AND (state_reason IS NOT NULL)))),
    CONSTRAINT rejected_hides_no_doubt CHECK (((state <> 'rejected'::text) OR ((doubtful_attempt IS NULL) AND (state_reason IS NOT NULL)))),
    CONSTRAINT sending_has_an_owner CHECK (((state = 'sending'::text) = (owner IS NOT NULL))),
    CONSTRAINT sending_was_claimed CHECK (((state <> 'sending'::text) OR (attempt > 0))),
    CONSTRAINT sends_are_approved CHECK ((attempt <= ((1 + not_sent) + resends_approved)))
)
WITH (fillfactor='70');

COMMENT ON TABLE ledger.entries IS 'One row for each effect that must not be repeated, with its frozen request. The state is a cache of attempts, answers, evidence and decisions.';

COMMENT ON COLUMN ledger.entries.entry_id IS 'Counts up.';

COMMENT ON COLUMN ledger.entries.effect IS 'Which operation: referral, click, create_deal, note, task.';

COMMENT ON COLUMN ledger.entries.account_id IS 'Account of the service it belongs to.';

COMMENT ON COLUMN ledger.entries.key IS 'Idempotency key. Of a referral: order platform and order id.';

COMMENT ON COLUMN ledger.entries.state IS 'held, ready, sending, accepted, rejected, in_doubt, written_off.';

COMMENT ON COLUMN ledger.entries.is_settled IS 'accepted, rejected or written_off: nothing is to be done.';

COMMENT ON COLUMN ledger.entries.attempt IS 'Claims so far; results are fenced by it.';

COMMENT ON COLUMN ledger.entries.not_sent IS 'Attempts that are proven not processed: not written, or throttled.';

COMMENT ON COLUMN ledger.entries.resends_approved IS 'Re-sends that a person or a declared capability approved.';

COMMENT ON COLUMN ledger.entries.doubtful_attempt IS 'First attempt that may have been processed without an answer that settles it; null when none is.';

COMMENT ON COLUMN ledger.entries.owner IS 'Process that has claimed it.';

COMMENT ON COLUMN ledger.entries.not_before IS 'Backoff: not claimed before this instant.';

COMMENT ON COLUMN ledger.entries.body IS 'Frozen request body, exact JSON text.';

COMMENT ON COLUMN ledger.entries.body_hash IS 'Digest of body.';

COMMENT ON COLUMN ledger.entries.job IS 'Job that made it.';

COMMENT ON COLUMN ledger.entries.source IS 'Source of the order.';

COMMENT ON COLUMN ledger.entries.order_platform IS 'Shop platform as sent.';

COMMENT ON COLUMN ledger.entries.order_id IS 'Order as sent.';

COMMENT ON COLUMN ledger.entries.brand_id IS 'Brand.';

COMMENT ON COLUMN ledger.entries.amount IS 'Revenue as sent, in currency.';

COMMENT ON COLUMN ledger.entries.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.entries.state_reason IS 'Why it is in its state, where that needs a word.';

COMMENT ON COLUMN ledger.entries.deal_id IS 'Deal that the service credited.';

COMMENT ON COLUMN ledger.entries.collab_id IS 'Collaboration that the service credited.';

COMMENT ON COLUMN ledger.entries.run_id IS 'Run that made it.';

COMMENT ON COLUMN ledger.entries.created_at IS 'When it was made.';

COMMENT ON COLUMN ledger.entries.state_changed_at IS 'When it came into its state.';

ALTER TABLE ledger.entries ALTER COLUMN entry_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.entries_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.evidence (
    evidence_id bigint NOT NULL,
    kind text NOT NULL,
    order_platform text,
    order_id text,
    entry_id bigint,
    deal_id text,
    collab_id text,
    amount numeric(18,4),
    currency text,
    body_sha256 text NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT evidence_kind_check CHECK ((kind = ANY (ARRAY['webhook_order'::text, 'seeded'::text])))
);

COMMENT ON TABLE ledger.evidence IS 'Append-only: what others say about an order, for example a signed event that carries its id.';

COMMENT ON COLUMN ledger.evidence.evidence_id IS 'Counts up.';

COMMENT ON COLUMN ledger.evidence.kind IS 'webhook_order (a signed event of the service) or seeded (credited elsewhere before).';

COMMENT ON COLUMN ledger.evidence.order_platform IS 'Shop platform, if it says.';

COMMENT ON COLUMN ledger.evidence.order_id IS 'Order it is about.';

COMMENT ON COLUMN ledger.evidence.entry_id IS 'Entry of the same order when the evidence came; null when there was none yet.';

COMMENT ON COLUMN ledger.evidence.deal_id IS 'Deal it names.';

COMMENT ON COLUMN ledger.evidence.collab_id IS 'Collaboration it names.';

COMMENT ON COLUMN ledger.evidence.amount IS 'Revenue it names, in currency.';

COMMENT ON COLUMN ledger.evidence.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.evidence.body_sha256 IS 'Digest of its raw body: the same event counts once.';

COMMENT ON COLUMN ledger.evidence.received_at IS 'When.';

ALTER TABLE ledger.evidence ALTER COLUMN evidence_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.evidence_evidence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.account (
    only_row boolean DEFAULT true NOT NULL,
    account_id text NOT NULL,
    bound_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT account_only_row_check CHECK (only_row)
);

COMMENT ON TABLE ops.account IS 'The one account of the service this database belongs to. Bound on first use; another account''s key is refused.';

COMMENT ON COLUMN ops.account.only_row IS 'Always true: the table has at most one row.';

COMMENT ON COLUMN ops.account.account_id IS 'As GET /v1/account/hello reports it.';

COMMENT ON COLUMN ops.account.bound_at IS 'When the first run bound this database to the account.';

CREATE TABLE ops.leases (
    name text NOT NULL,
    owner uuid NOT NULL,
    fence bigint DEFAULT 1 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    acquired_at timestamp with time zone DEFAULT now() NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL
);

COMMENT ON TABLE ops.leases IS 'Who works on what, on the database clock. A row past expires_at is over, whoever holds it.';

COMMENT ON COLUMN ops.leases.name IS 'worker:<owner>, job:<job> or source:<source>.';

COMMENT ON COLUMN ops.leases.owner IS 'Random id of the process that holds it.';

COMMENT ON COLUMN ops.leases.fence IS 'Grows each time the lease changes hands.';

COMMENT ON COLUMN ops.leases.expires_at IS 'Pushed forward by heartbeats.';

COMMENT ON COLUMN ops.leases.acquired_at IS 'When this owner took it.';

COMMENT ON COLUMN ops.leases.host IS 'Name of the machine.';

COMMENT ON COLUMN ops.leases.pid IS 'Process id on that machine.';

CREATE TABLE ops.runs (
    run_id bigint NOT NULL,
    job text NOT NULL,
    kind text NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    host text NOT NULL,
    pid integer NOT NULL,
    exit_code integer,
    counts jsonb,
    amounts jsonb,
    problem text,
    CONSTRAINT runs_check CHECK (((status = 'running'::text) = (finished_at IS NULL))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'ok'::text, 'issues'::text, 'failed'::text, 'interrupted'::text])))
);

COMMENT ON TABLE ops.runs IS 'One row a run of a job.';

COMMENT ON COLUMN ops.runs.run_id IS 'Counts up.';

COMMENT ON COLUMN ops.runs.job IS 'Name of the job in pipeline.yaml.';

COMMENT ON COLUMN ops.runs.kind IS 'Kind of the job, for example attribute-orders.';

COMMENT ON COLUMN ops.runs.status IS 'running, ok, issues (something was rejected, held or is in doubt), failed, interrupted.';

COMMENT ON COLUMN ops.runs.started_at IS 'Database clock.';

COMMENT ON COLUMN ops.runs.finished_at IS 'Database clock; null while it runs, or when its process died and no later run has settled it.';

COMMENT ON COLUMN ops.runs.host IS 'Name of the machine.';

COMMENT ON COLUMN ops.runs.pid IS 'Process id on that machine.';

COMMENT ON COLUMN ops.runs.exit_code IS 'What the process told its caller.';

COMMENT ON COLUMN ops.runs.counts IS 'The counts of the run_finished event.';

COMMENT ON COLUMN ops.runs.amounts IS 'Accepted in this run, per currency: [{currency, accepted}].';

COMMENT ON COLUMN ops.runs.problem IS 'Why it failed, with no secrets, row values or addresses.';

ALTER TABLE ops.runs ALTER COLUMN run_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.runs_run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.webhook_events (
    event_id bigint NOT NULL,
    kind text NOT NULL,
    body jsonb NOT NULL,
    body_sha256 text NOT NULL,
    deal_id text,
    collab_id text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ops.webhook_events IS 'Signed events of the service, each once, stored before they are acknowledged. Unknown kinds too.';

COMMENT ON COLUMN ops.webhook_events.event_id IS 'Counts up.';

COMMENT ON COLUMN ops.webhook_events.kind IS 'As webhook_type of the specification; unknown where neither the body nor the address tells.';

COMMENT ON COLUMN ops.webhook_events.body IS 'What was sent, with e-mail addresses masked and without NUL. A JSON text where it was no JSON object.';

COMMENT ON COLUMN ops.webhook_events.body_sha256 IS 'Digest of the raw body: the same body is an event once, whenever it is sent again.';

COMMENT ON COLUMN ops.webhook_events.deal_id IS 'Deal it is about: a way by which deals are discovered.';

COMMENT ON COLUMN ops.webhook_events.collab_id IS 'Collaboration it is about.';

COMMENT ON COLUMN ops.webhook_events.sent_at IS 'By the timestamp header, which is not signed: for people only.';

COMMENT ON COLUMN ops.webhook_events.received_at IS 'Database clock.';

ALTER TABLE ops.webhook_events ALTER COLUMN event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.webhook_events_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY intake.attributed_files
    ADD CONSTRAINT attributed_files_pkey PRIMARY KEY (job, source_file_id);

ALTER TABLE ONLY intake.attributions
    ADD CONSTRAINT attributions_pkey PRIMARY KEY (job, source, order_id);

ALTER TABLE ONLY intake.code_changes
    ADD CONSTRAINT code_changes_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY intake.code_lists
    ADD CONSTRAINT code_lists_pkey PRIMARY KEY (job);

ALTER TABLE ONLY intake.codes
    ADD CONSTRAINT codes_pkey PRIMARY KEY (job, line_no);

ALTER TABLE ONLY intake.order_continuations
    ADD CONSTRAINT order_continuations_pkey PRIMARY KEY (source_file_id, line_no);

ALTER TABLE ONLY intake.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (order_version_id);

ALTER TABLE ONLY intake.rejected_rows
    ADD CONSTRAINT rejected_rows_pkey PRIMARY KEY (source_file_id, record_no);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_pkey PRIMARY KEY (source_file_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_source_uri_version_key UNIQUE (source, uri, version);

ALTER TABLE ONLY ledger.adjustments
    ADD CONSTRAINT adjustments_pkey PRIMARY KEY (adjustment_id);

ALTER TABLE ONLY ledger.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (answer_id);

ALTER TABLE ONLY ledger.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (entry_id, attempt);

ALTER TABLE ONLY ledger.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (decision_id);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_account_id_effect_key_key UNIQUE (account_id, effect, key);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_kind_body_sha256_key UNIQUE (kind, body_sha256);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (evidence_id);

ALTER TABLE ONLY ops.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY ops.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);

ALTER TABLE ONLY ops.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY ops.webhook_events
    ADD CONSTRAINT webhook_events_body_sha256_key UNIQUE (body_sha256);

ALTER TABLE ONLY ops.webhook_events
    ADD CONSTRAINT webhook_events_pkey PRIMARY KEY (event_id);

CREATE INDEX attributions_entry ON intake.attributions USING btree (entry_id) WHERE (entry_id IS NOT NULL);

CREATE INDEX attributions_outcome ON intake.attributions USING btree (job, outcome, reason);

CREATE INDEX attributions_pending ON intake.attributions USING btree (job) WHERE is_pending;

CREATE INDEX code_changes_deal ON intake.code_changes USING btree (deal_id, event_id);

CREATE INDEX codes_by_code ON intake.codes USING btree (job, code_folded);

CREATE INDEX order_sightings_file ON intake.order_sightings USING btree (source_file_id);

CREATE UNIQUE INDEX orders_current ON intake.orders USING btree (source, order_id) WHERE is_current;

CREATE UNIQUE INDEX orders_in_file ON intake.orders USING btree (source_file_id, order_id);

CREATE INDEX source_files_content ON intake.source_files USING btree (source, content_sha256) WHERE (state = 'sealed'::text);

CREATE INDEX source_files_run ON intake.source_files USING btree (run_id);

CREATE INDEX adjustments_entry ON ledger.adjustments USING btree (entry_id);

CREATE INDEX answers_entry ON ledger.answers USING btree (entry_id, attempt);

CREATE INDEX decisions_entry ON ledger.decisions USING btree (entry_id);

CREATE INDEX entries_order ON ledger.entries USING btree (order_id) WHERE (order_id IS NOT NULL);

CREATE INDEX entries_unsettled ON ledger.entries USING btree (job, entry_id) WHERE (NOT is_settled);

CREATE INDEX evidence_entry ON ledger.evidence USING btree (entry_id);

CREATE INDEX evidence_order ON ledger.evidence USING btree (order_id);

CREATE INDEX leases_owner ON ops.leases USING btree (owner);

CREATE INDEX runs_job ON ops.runs USING btree (job, run_id DESC);

CREATE INDEX webhook_events_deal ON ops.webhook_events USING btree (deal_id) WHERE (deal_id IS NOT NULL);

CREATE INDEX webhook_events_kind ON ops.webhook_events USING btree (kind, event_id);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.adjustments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.answers FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.attempts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.decisions FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.evidence FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

ALTER TABLE ONLY intake.attributed_files
    ADD CONSTRAINT attributed_files_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.code_changes
    ADD CONSTRAINT code_changes_event_id_fkey FOREIGN KEY (event_id) REFERENCES ops.webhook_events(event_id);

ALTER TABLE ONLY intake.order_continuations
    ADD CONSTRAINT order_continuations_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.order_sightings
    ADD CONSTRAINT order_sightings_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.rejected_rows
    ADD CONSTRAINT rejected_rows_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY intake.rejected_rows
    ADD CONSTRAINT rejected_rows_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_duplicate_of_fkey FOREIGN KEY (duplicate_of) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ledger.adjustments
    ADD CONSTRAINT adjustments_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

ALTER TABLE ONLY ledger.adjustments
    ADD CONSTRAINT adjustments_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ledger.decisions
    ADD CONSTRAINT decisions_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

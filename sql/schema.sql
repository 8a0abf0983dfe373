-- The tables, views, functions, comments and rights that sql/migrations/ and sql/views/ add up to, as pg_dump writes them.
-- Written by npm run schema; to change it, add a migration, or change a view.

CREATE SCHEMA bi;

COMMENT ON SCHEMA bi IS 'For analysts: documented views, the only promise to them. No personal data, no secrets; days are in UTC; money stands beside its currency. docs/reporting.md';

CREATE SCHEMA intake;

COMMENT ON SCHEMA intake IS 'What was read from exports: files, orders, rejected rows, codes.';

CREATE SCHEMA ledger;

COMMENT ON SCHEMA ledger IS 'What may be sent to the service, what was sent, and the results. The only source of truth about money.';

CREATE SCHEMA mirror;

COMMENT ON SCHEMA mirror IS 'A copy of the account at the service: brands, dealflows, deals, collaborations, their history, and how complete the copy is.';

CREATE SCHEMA ops;

COMMENT ON SCHEMA ops IS 'What ran, when, and who holds what.';

CREATE SCHEMA reporting;

COMMENT ON SCHEMA reporting IS 'Sums of intake and ledger for the views of schema bi. Not a source of truth; analysts read bi.';

CREATE TABLE mirror.deal_versions (
    deal_id text NOT NULL,
    influencer_handle text,
    platform text,
    brand_id text,
    dealflow_id text,
    is_active boolean,
    funnel_step integer,
    total_clicks numeric,
    total_referrals numeric,
    total_sales numeric,
    total_payouts numeric,
    total_commission_earned numeric,
    total_fixed_fee_earned numeric,
    raw jsonb NOT NULL,
    row_hash text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    is_current boolean GENERATED ALWAYS AS ((valid_to IS NULL)) STORED NOT NULL,
    is_latest boolean DEFAULT true NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    CONSTRAINT deal_versions_last_a_while CHECK ((valid_to > valid_from))
);

COMMENT ON TABLE mirror.deal_versions IS 'History of deals: one row each time a deal was first read or had changed.';

COMMENT ON COLUMN mirror.deal_versions.deal_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.deal_versions.influencer_handle IS 'Influencer, as the service writes the handle.';

COMMENT ON COLUMN mirror.deal_versions.platform IS 'Social platform of the handle.';

COMMENT ON COLUMN mirror.deal_versions.brand_id IS 'Brand. Text, whatever the service sends.';

COMMENT ON COLUMN mirror.deal_versions.dealflow_id IS 'Dealflow it is in.';

COMMENT ON COLUMN mirror.deal_versions.is_active IS 'Active status.';

COMMENT ON COLUMN mirror.deal_versions.funnel_step IS 'Stage in its dealflow. What the numbers mean is not shown by the service.';

COMMENT ON COLUMN mirror.deal_versions.total_clicks IS 'Clicks counted by the service.';

COMMENT ON COLUMN mirror.deal_versions.total_referrals IS 'Orders counted by the service.';

COMMENT ON COLUMN mirror.deal_versions.total_sales IS 'Sales counted by the service; in which currency is not shown.';

COMMENT ON COLUMN mirror.deal_versions.total_payouts IS 'Payouts made; in which currency is not shown.';

COMMENT ON COLUMN mirror.deal_versions.total_commission_earned IS 'Commission earned; in which currency is not shown.';

COMMENT ON COLUMN mirror.deal_versions.total_fixed_fee_earned IS 'Fixed fees earned; in which currency is not shown.';

COMMENT ON COLUMN mirror.deal_versions.raw IS 'All that the service sent but the collaborations, unknown fields included. What is personal (name, e-mail, address, phone) reads [redacted].';

COMMENT ON COLUMN mirror.deal_versions.row_hash IS 'Digest of raw: equal hash, no new version.';

COMMENT ON COLUMN mirror.deal_versions.valid_from IS 'When it was first read in this form: the time before the request.';

COMMENT ON COLUMN mirror.deal_versions.valid_to IS 'When it was first read otherwise, or the service first said that there is no such deal; null while it is in force.';

COMMENT ON COLUMN mirror.deal_versions.is_current IS 'In force: valid_to is null. A deal that is gone has none.';

COMMENT ON COLUMN mirror.deal_versions.is_latest IS 'Newest version of its deal, in force or not. Exactly one a deal.';

COMMENT ON COLUMN mirror.deal_versions.first_seen_at IS 'When the deal was first read at all.';

COMMENT ON COLUMN mirror.deal_versions.run_id IS 'Run that published this version.';

CREATE VIEW bi.deal_history AS
 SELECT deal_id,
    valid_from,
    valid_to,
    is_current,
    influencer_handle,
    platform,
    brand_id,
    dealflow_id,
    is_active,
    funnel_step,
    total_clicks,
    total_referrals,
    total_sales AS total_sales_in_account_currency,
    total_payouts AS total_payouts_in_account_currency,
    total_commission_earned AS total_commission_in_account_currency,
    total_fixed_fee_earned AS total_fixed_fee_in_account_currency,
    run_id
   FROM mirror.deal_versions;

COMMENT ON VIEW bi.deal_history IS 'How deals changed, one row per deal and version. The newest version has no valid_to, unless the deal is gone. For the state at one time, use bi.deals_as_of(moment). Answers: When did a deal change its stage? How much did each deal sell within a month, by the service''s own count?';

COMMENT ON COLUMN bi.deal_history.deal_id IS 'Deal, see bi.deals. With valid_from, the key of the row.';

COMMENT ON COLUMN bi.deal_history.valid_from IS 'When this version was first read.';

COMMENT ON COLUMN bi.deal_history.valid_to IS 'When a different version was first read, or the deal was found to be gone; null while it is in force.';

COMMENT ON COLUMN bi.deal_history.is_current IS 'Whether it is in force: valid_to is null.';

COMMENT ON COLUMN bi.deal_history.influencer_handle IS 'Influencer, as the service writes the handle.';

COMMENT ON COLUMN bi.deal_history.platform IS 'Social platform of the influencer.';

COMMENT ON COLUMN bi.deal_history.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.deal_history.dealflow_id IS 'Dealflow, see bi.dealflows.';

COMMENT ON COLUMN bi.deal_history.is_active IS 'Active, as the service says.';

COMMENT ON COLUMN bi.deal_history.funnel_step IS 'Stage in its dealflow. The service does not say what the numbers mean.';

COMMENT ON COLUMN bi.deal_history.total_clicks IS 'Clicks that the service had counted.';

COMMENT ON COLUMN bi.deal_history.total_referrals IS 'Orders that the service had counted.';

COMMENT ON COLUMN bi.deal_history.total_sales_in_account_currency IS 'Sales that the service had counted, in the currency of the account.';

COMMENT ON COLUMN bi.deal_history.total_payouts_in_account_currency IS 'Payouts made, in the currency of the account.';

COMMENT ON COLUMN bi.deal_history.total_commission_in_account_currency IS 'Commission earned, in the currency of the account.';

COMMENT ON COLUMN bi.deal_history.total_fixed_fee_in_account_currency IS 'Fixed fees earned, in the currency of the account.';

COMMENT ON COLUMN bi.deal_history.run_id IS 'Run that published this version, see bi.runs.';

CREATE FUNCTION bi.deals_as_of(moment timestamp with time zone) RETURNS SETOF bi.deal_history
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$select h.* from bi.deal_history h where h.valid_from <= moment and (h.valid_to is null or h.valid_to > moment)$$;

COMMENT ON FUNCTION bi.deals_as_of(moment timestamp with time zone) IS 'Deals as they were at a given time, one row per deal, as far as they had been read by then. Answers: Which deals were active on the first of the month?';

CREATE FUNCTION intake.items_amount(items jsonb, at integer) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
  select sum((item ->> at)::numeric)::numeric(18,4) from jsonb_array_elements(items) as item $$;

COMMENT ON FUNCTION intake.items_amount(items jsonb, at integer) IS 'Adds up the amounts at a position of the items. Null: no item has one.';

CREATE FUNCTION intake.join_items(older jsonb, newer jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
  select jsonb_agg(item order by (item ->> 0) collate "C") from (
    select distinct on (item ->> 0) item from (
      select item, 1 as place from jsonb_array_elements(newer) as item
      union all
      select item, 2 from jsonb_array_elements(older) as item
    ) stated
    order by item ->> 0, place
  ) joined $$;

COMMENT ON FUNCTION intake.join_items(older jsonb, newer jsonb) IS 'Unites two lists of items (intake.orders.items). Of an item in both, the newer one counts.';

CREATE FUNCTION ledger.acknowledge_double_credit(p_entry_id bigint, p_credits bigint, p_decided_by text, p_reason text) RETURNS TABLE(done boolean, state text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  found_state text;
  found_attempt integer;
begin
  select e.state, e.attempt into found_state, found_attempt from ledger.entries e
  where e.entry_id = p_entry_id and exists (
    select from ledger.double_credits d where d.entry_id = e.entry_id and (p_credits is null or d.credits = p_credits))
  for update of e;
  if found_state is null then
    return query select false, null::text;
    return;
  end if;
  insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
  values (p_entry_id, 'acknowledge', found_attempt, ops.acting_name(p_decided_by), p_reason);
  return query select true, found_state;
end $$;

COMMENT ON FUNCTION ledger.acknowledge_double_credit(p_entry_id bigint, p_credits bigint, p_decided_by text, p_reason text) IS 'Records that a person has dealt with a double credit at the service. The entry does not change.';

CREATE FUNCTION ledger.decide(p_entry_id bigint, p_decision text, p_shown_state text, p_shown_attempt integer, p_decided_by text, p_reason text, p_deal_id text, p_collab_id text) RETURNS TABLE(done boolean, state text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  found_state text;
  found_attempt integer;
  applies boolean;
begin
  select e.state, e.attempt into found_state, found_attempt from ledger.entries e where e.entry_id = p_entry_id for update;
  applies := case p_decision when 'accept' then found_state = 'in_doubt' when 'write_off' then found_state = 'in_doubt'
    when 'resend' then found_state in ('in_doubt', 'rejected') end;
  if applies is not true or (p_shown_state is not null and (p_shown_state, p_shown_attempt) is distinct from (found_state, found_attempt)) then
    return query select false, found_state;
    return;
  end if;
  insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
  values (p_entry_id, p_decision, found_attempt, ops.acting_name(p_decided_by), p_reason);
  return query update ledger.entries e set
    state = case p_decision when 'accept' then 'accepted' when 'write_off' then 'written_off' else 'ready' end,
    state_reason = case p_decision when 'accept' then 'accepted by decision' when 'write_off' then 'written off by decision' end,
    deal_id = case when p_decision = 'accept' then coalesce(p_deal_id, e.deal_id) else e.deal_id end,
    collab_id = case when p_decision = 'accept' then coalesce(p_collab_id, e.collab_id) else e.collab_id end,
    not_sent = e.not_sent + (p_decision = 'resend' and found_state = 'rejected')::integer,
    resends_approved = e.resends_approved + (p_decision = 'resend' and found_state = 'in_doubt')::integer,
    not_before = case when p_decision = 'resend' then null else e.not_before end,
    state_changed_at = clock_timestamp()
    where e.entry_id = p_entry_id returning true, e.state;
end $$;

COMMENT ON FUNCTION ledger.decide(p_entry_id bigint, p_decision text, p_shown_state text, p_shown_attempt integer, p_decided_by text, p_reason text, p_deal_id text, p_collab_id text) IS 'Changes an entry by a decision of a person (accept, write_off, resend), and records the decision. Does nothing if the entry is in a state that the decision may not change, or is not as it was shown. Returns whether it did, and the state of the entry now; null: there is no such entry.';

CREATE FUNCTION ledger.fold_order_id(order_id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (order_id ~ '^[0-9A-Za-z#_/.-]+$'::text) THEN order_id ELSE regexp_replace(regexp_replace(regexp_replace(NORMALIZE(translate(regexp_replace(order_id, '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+'::text, ''::text, 'g'::text), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～'::text, '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'::text), NFC), '[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+'::text, ' '::text, 'g'::text), '^[ ''"=]+'::text, ''::text), '[ ''"]+$'::text, ''::text) END;

COMMENT ON FUNCTION ledger.fold_order_id(order_id text) IS 'Order id without what nobody can mean: invisible characters, outer blanks, quotes and ="…", full-width characters. Ids that differ only in these are one order.';

CREATE FUNCTION ledger.fold_handle(handle text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ltrim(replace(lower(ledger.fold_order_id(handle)), ' '::text, ''::text), '@'::text);

COMMENT ON FUNCTION ledger.fold_handle(handle text) IS 'Handle of an influencer without what has no meaning: invisible characters, blanks, case, and a leading @. Handles that differ only in these are one.';

CREATE FUNCTION ledger.fold_platform(order_platform text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower((ledger.fold_order_id(order_platform) COLLATE "C"));

COMMENT ON FUNCTION ledger.fold_platform(order_platform text) IS 'Shop platform folded like an order id, and in lower case (A to Z, in every locale).';

CREATE FUNCTION ledger.is_platform(told text, order_platform text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (ledger.fold_platform(COALESCE(told, order_platform)) = ledger.fold_platform(order_platform));

COMMENT ON FUNCTION ledger.is_platform(told text, order_platform text) IS 'Whether a statement about an order can be about an order of this platform. A statement without a platform can be about any.';

CREATE FUNCTION ledger.key_hash(account_id text, effect text, key text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN "left"(encode(sha256(convert_to(((((account_id || chr(10)) || effect) || chr(10)) || key), 'UTF8'::name)), 'hex'::text), 32);

COMMENT ON FUNCTION ledger.key_hash(account_id text, effect text, key text) IS 'Names an entry outside of the database: 128 bits of a digest of its account, effect and idempotency key.';

CREATE FUNCTION ledger.note_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into ledger.changes (entry_id, kind, attempt, old_state, reason, old_body_hash, new_body_hash, run_id, backfill_id)
  values (new.entry_id,
    case when new.state = 'held' then 'held' when old.state = 'held' then 'released'
      when new.state = 'in_doubt' then 'withdrawn' else 'replaced' end,
    old.attempt, old.state, case when new.state in ('held', 'in_doubt') then new.state_reason else old.state_reason end,
    old.body_hash, new.body_hash, new.run_id, coalesce(new.backfill_id, old.backfill_id));
  return null;
end $$;

COMMENT ON FUNCTION ledger.note_change() IS 'Trigger: writes to ledger.changes what an UPDATE of ledger.entries holds, releases, replaces or withdraws.';

CREATE FUNCTION ledger.written_key(order_platform text, order_id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((('['::text || (to_json(order_platform))::text) || ','::text) || (to_json(order_id))::text) || ']'::text);

COMMENT ON FUNCTION ledger.written_key(order_platform text, order_id text) IS 'Key of a referral as versions before order_key made it: JSON of platform and order id as they are written.';

CREATE FUNCTION ledger.order_key(order_platform text, order_id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ledger.written_key(ledger.fold_platform(order_platform), ledger.fold_order_id(order_id));

COMMENT ON FUNCTION ledger.order_key(order_platform text, order_id text) IS 'Idempotency key of a referral: JSON of the folded platform and the folded order id. Equal for every spelling of one order.';

CREATE FUNCTION ledger.place() RETURNS text
    LANGUAGE plpgsql
    AS $$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid::text from pg_database where datname = current_database())
    || '/' || ('ledger.identity'::regclass)::oid::text;
exception when others then
  return null;
end
$$;

COMMENT ON FUNCTION ledger.place() IS 'Where this database is: cluster, timeline, database and the table that says so.';

CREATE FUNCTION ledger.raise_claim_numbers(above bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- It changes nothing, but no other session draws a number from here until this transaction ends. Without it, a number
  -- that is drawn between the comparison and setval could be drawn again. Only the owner may do this.
  alter sequence ledger.claim_numbers increment by 1;
  perform setval('ledger.claim_numbers', above) from ledger.claim_numbers
    where last_value < above or (last_value = above and not is_called);
end $$;

COMMENT ON FUNCTION ledger.raise_claim_numbers(above bigint) IS 'Makes sure that the next claim has a number above the given one, and above each that was drawn.';

CREATE FUNCTION ledger.reap_lost() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with durable as materialized (select set_config('synchronous_commit', 'on', true)),
  lost as (
    update ledger.entries e
    set state = 'in_doubt', owner = null, doubtful_attempt = coalesce(e.doubtful_attempt, e.attempt),
        doubted_at = coalesce(e.doubted_at, e.state_changed_at),
        state_reason = 'its process was gone before the answer was recorded', state_changed_at = clock_timestamp()
    from durable
    where not e.is_settled and e.state = 'sending'
      and not exists (select 1 from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())
    returning e.entry_id, e.attempt, e.state_reason
  ),
  logged as (
    insert into ledger.answers (entry_id, attempt, kind, message, via, applied)
    select entry_id, attempt, 'lease_over', state_reason, 'reaper', true from lost
  )
  select count(*) from lost
$$;

COMMENT ON FUNCTION ledger.reap_lost() IS 'Makes the entries whose process is gone doubts, and returns their number.';

CREATE FUNCTION ledger.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception '%.% is append-only', tg_table_schema, tg_table_name using errcode = 'restrict_violation';
end $$;

COMMENT ON FUNCTION ledger.refuse_change() IS 'Trigger: refuses UPDATE, DELETE and TRUNCATE.';

CREATE FUNCTION ledger.refuse_written_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the key of this order is spelled as earlier versions did: stop the processes of the earlier version'
    using errcode = 'check_violation';
end $$;

COMMENT ON FUNCTION ledger.refuse_written_key() IS 'Trigger: refuses a new referral whose key is not folded, which only processes of an earlier version make.';

CREATE FUNCTION ops.acting_name(p_name text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when has_table_privilege(session_user, 'ops.audit', 'insert') then p_name else session_user || ' (' || p_name || ')' end
$$;

COMMENT ON FUNCTION ops.acting_name(p_name text) IS 'Name under which a change is recorded. The program, which may write ops.audit, tells it (a console signs people in); anybody else is the user of the session, with the given name behind it.';

CREATE FUNCTION ops.analyze_table(wanted regclass) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET default_statistics_target TO '25'
    AS $$
begin
  if not exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = wanted and c.relkind = 'r' and n.nspname in ('ops', 'intake', 'ledger', 'mirror', 'reporting')) then
    raise exception '% is not one of our tables', wanted using errcode = 'invalid_parameter_value';
  end if;
  execute format('analyze (skip_locked) %s', wanted);
end $$;

COMMENT ON FUNCTION ops.analyze_table(wanted regclass) IS 'Analyses a table of ours, with the rights of its owner. Where another process is at it, it does nothing.';

CREATE FUNCTION ops.note_paid_elsewhere() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into ops.payments_elsewhere (payment_id, paid_on, amount, recorded_by, reason)
  select new.payment_id, new.elsewhere_on, new.elsewhere_amount - case tg_op when 'UPDATE' then old.elsewhere_amount else 0 end, new.settled_by,
    new.settle_reason;
  return null;
end $$;

COMMENT ON FUNCTION ops.note_paid_elsewhere() IS 'Keeps each part of a payment that was paid elsewhere.';

CREATE FUNCTION ops.record_actor() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  field text;
  given text;
  named jsonb := '{}';
begin
  foreach field in array tg_argv loop
    given := to_jsonb(new) ->> field;
    if tg_op = 'INSERT' or given is distinct from to_jsonb(old) ->> field then
      named := named || jsonb_build_object(field, ops.acting_name(given));
    end if;
  end loop;
  return jsonb_populate_record(new, named);
end $$;

COMMENT ON FUNCTION ops.record_actor() IS 'Trigger: writes the name of ops.acting_name into the columns that it is given, where a statement sets them to another value.';

CREATE FUNCTION ops.record_audit(p_record jsonb) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  insert into ops.audit (actor, via, action, subject_kind, subject, summary, reason, before, after, filter, bulk_id)
  values (ops.acting_name(p_record ->> 'actor'),
    case when has_table_privilege(session_user, 'ops.audit', 'insert') then p_record ->> 'via' else 'command' end,
    p_record ->> 'action', p_record ->> 'subject_kind', p_record ->> 'subject', p_record ->> 'summary', p_record ->> 'reason',
    nullif(p_record -> 'before', 'null'), nullif(p_record -> 'after', 'null'), nullif(p_record -> 'filter', 'null'),
    (p_record ->> 'bulk_id')::bigint)
  returning audit_id
$$;

COMMENT ON FUNCTION ops.record_audit(p_record jsonb) IS 'Writes a row of ops.audit, and returns its audit_id. The members are the columns.';

CREATE FUNCTION ops.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'ops.audit is append-only';
end $$;

COMMENT ON FUNCTION ops.refuse_audit_change() IS 'Refuses to change or delete a row of ops.audit.';

CREATE FUNCTION ops.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'Closed statements are never changed: % of %.%', tg_op, tg_table_schema, tg_table_name
    using hint = 'What has changed since is a correction in the next statement.';
end $$;

COMMENT ON FUNCTION ops.refuse_change() IS 'Refuses whatever would change a closed statement.';

CREATE FUNCTION ops.rename_job(p_old text, p_new text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  entries bigint;
begin
  update ledger.entries set job = p_new where job = p_old;
  get diagnostics entries = row_count;
  update intake.attributions set job = p_new where job = p_old;
  update intake.attributed_files set job = p_new where job = p_old;
  update intake.order_claims set job = p_new where job = p_old;
  update intake.code_lists set job = p_new where job = p_old;
  update intake.codes set job = p_new where job = p_old;
  update intake.code_assignments set job = p_new where job = p_old;
  update intake.revenue_rules set job = p_new where job = p_old;
  update intake.clicks set job = p_new where job = p_old;
  update intake.creators set job = p_new where job = p_old;
  update intake.outreach_candidates set job = p_new where job = p_old;
  update intake.identify_batches set job = p_new where job = p_old;
  update intake.waiting_batches set job = p_new where job = p_old;
  update reporting.accepted_sums set job = p_new where job = p_old;
  update reporting.counted_files set job = p_new where job = p_old;
  update reporting.order_dispositions set job = p_new where job = p_old;
  update reporting.conflicts set job = p_new where job = p_old;
  update reporting.code_days set job = p_new where job = p_old;
  update reporting.funnel_days set job = p_new where job = p_old;
  update ops.backfills set job = p_new where job = p_old;
  -- Whoever paused it wants nothing to be sent, under whatever name.
  update ops.paused_jobs set job = p_new where job = p_old and not exists (select from ops.paused_jobs where job = p_new);
  return entries;
end $$;

COMMENT ON FUNCTION ops.rename_job(p_old text, p_new text) IS 'Gives what a job has decided, sent and earned to the job that continues it under another name, and returns the number of its entries. What tells its history (runs, schedules, problems, units of work) keeps the old name.';

CREATE FUNCTION reporting.add_closed_lines() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.statement_deals as d
    (statement_id, deal_id, currency, orders, commission_amount, correction_amount, fee_amount, paid_amount)
  select statement_id, coalesce(deal_id, ''), currency, count(*) filter (where kind = 'order'),
    coalesce(sum(amount) filter (where kind = 'order'), 0), coalesce(sum(amount) filter (where kind = 'correction'), 0),
    coalesce(sum(amount) filter (where kind = 'fixed_fee'), 0), sum(amount)
  from closed_lines group by 1, 2, 3
  on conflict (statement_id, deal_id, currency) do update
  set orders = d.orders + excluded.orders, commission_amount = d.commission_amount + excluded.commission_amount,
    correction_amount = d.correction_amount + excluded.correction_amount, fee_amount = d.fee_amount + excluded.fee_amount,
    paid_amount = d.paid_amount + excluded.paid_amount;
  return null;
end $$;

COMMENT ON FUNCTION reporting.add_closed_lines() IS 'Adds lines of closed statements to reporting.statement_deals.';

CREATE FUNCTION reporting.deal_id_of(reference text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(reference, '^.*/deal/([^/?#]+).*$'::text, '\1'::text);

COMMENT ON FUNCTION reporting.deal_id_of(reference text) IS 'The id of a deal where codes.csv or an export gives its address in the service; an id stays as it is.';

CREATE FUNCTION reporting.note_changed_attribution() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id)
  select c.entry_id
  from (
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from new_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from old_rows) n
    union
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from old_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle, target from new_rows) o
  ) c
  left join lateral (
    select e.xmin from ledger.entries e where e.entry_id = c.entry_id limit 1) e on true
  where c.entry_id is not null and e.xmin is distinct from pg_current_xact_id()::xid;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_changed_attribution() IS 'Notes that the entries of changed attributions may have earned something else, except those that the transaction has made.';

CREATE FUNCTION reporting.note_changed_entry() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id) values (new.entry_id);
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_changed_entry() IS 'Notes that the entry of a row may have earned something else.';

CREATE FUNCTION reporting.note_changed_rate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (collab_id) select distinct c from unnest(array[old.collab_id, new.collab_id]) as c where c is not null;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_changed_rate() IS 'Notes that the orders of a collaboration may have earned something else.';

CREATE FUNCTION reporting.note_changed_revenue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from intake.attributions where job = new.job and source = new.source and entry_id is not null;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_changed_revenue() IS 'Notes that the orders of a job and a source may have earned something else, because their amounts may now include other refunds.';

CREATE FUNCTION reporting.note_closed_lines() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from closed_lines where entry_id is not null;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_closed_lines() IS 'Notes that the orders of a closed statement have been closed.';

CREATE FUNCTION reporting.note_confirmed_rates() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (collab_id)
  select distinct e.collab_id
  from ops.webhook_events w
  left join mirror.collaboration_versions v on v.collab_id = w.collab_id and v.is_latest
  join new_rows n on n.deal_id = coalesce(v.deal_id, w.deal_id)
  join old_rows o on o.deal_id = n.deal_id
  cross join lateral (
    select w.collab_id where w.collab_id is not null
    union
    select e.collab_id from ledger.entries e
    where w.collab_id is null and e.deal_id = w.deal_id and e.effect = 'referral' and e.collab_id is not null) e
  where w.kind = 'update_commission' and n.read_at is distinct from o.read_at
    -- The time of an event is never after it came.
    and w.received_at >= coalesce(o.read_at, '-infinity');
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_confirmed_rates() IS 'Notes that the orders of a collaboration may have earned something else, because the mirror has read its deal since an event of its rate.';

CREATE FUNCTION reporting.note_deleted_attributions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from old_rows where entry_id is not null;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_deleted_attributions() IS 'Notes that the entries of deleted attributions may have earned something else.';

CREATE FUNCTION reporting.note_inserted_attributions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from new_rows where entry_id is not null;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_inserted_attributions() IS 'Notes that the entries of new attributions may have earned something else.';

CREATE FUNCTION reporting.note_inserted_entries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from new_rows where effect = 'referral' and state = 'accepted';
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_inserted_entries() IS 'Notes that entries which were accepted at once have earned something.';

CREATE FUNCTION reporting.note_told_rate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- An event that names no collaboration may be about each one of the deal.
  insert into reporting.changed_earnings (collab_id)
  select new.collab_id where new.collab_id is not null
  union
  select e.collab_id from ledger.entries e
  where new.collab_id is null and e.deal_id = new.deal_id and e.effect = 'referral' and e.collab_id is not null;
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_told_rate() IS 'Notes that the orders of a collaboration may have earned something else, because an event tells that its rate changed.';

CREATE FUNCTION reporting.note_updated_entries() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from new_rows where effect = 'referral' and state = 'accepted'
  union
  select entry_id from old_rows where effect = 'referral' and state = 'accepted';
  return null;
end $$;

COMMENT ON FUNCTION reporting.note_updated_entries() IS 'Notes that entries which are or were accepted may have earned something else.';

CREATE FUNCTION reporting.without_addresses(words text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (POSITION(('@'::text) IN (words)) = 0) THEN words ELSE regexp_replace(words, '([^\s@"''<>(),;:])[^\s@"''<>(),;:]{0,253}@[^\s@"''<>(),;:]{1,254}'::text, '\1***@***'::text, 'g'::text) END;

COMMENT ON FUNCTION reporting.without_addresses(words text) IS 'A text with each e-mail address cut to its first letter, as model/mask-addresses.ts does it; @handles stay.';

CREATE TABLE reporting.accruals (
    at_end_of date NOT NULL,
    standing text NOT NULL,
    month date,
    brand_id text,
    currency text,
    orders bigint NOT NULL,
    amount numeric(24,4),
    kept_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT accruals_standing_check CHECK ((standing = ANY (ARRAY['pending'::text, 'to_close'::text, 'closed'::text, 'in_payment'::text, 'paid_in_part'::text, 'unknown'::text, 'held'::text, 'nothing'::text]))),
    CONSTRAINT nothing_has_no_currency CHECK (((currency IS NULL) = (standing = 'nothing'::text))),
    CONSTRAINT only_the_unknown_has_no_amount CHECK (((amount IS NULL) = (standing = ANY (ARRAY['unknown'::text, 'held'::text]))))
);

COMMENT ON TABLE reporting.accruals IS 'What is earned and not paid at the end of a month, as the last run until the end of the next month knew it. Of the command `accruals`.';

COMMENT ON COLUMN reporting.accruals.at_end_of IS 'First day of the month.';

COMMENT ON COLUMN reporting.accruals.standing IS 'pending, to_close, closed, in_payment, paid_in_part, unknown or held; nothing, alone: there is none.';

COMMENT ON COLUMN reporting.accruals.month IS 'First day of the month of the order or fee; if it is closed, of the statement. Null: several.';

COMMENT ON COLUMN reporting.accruals.brand_id IS 'Brand. Null: unknown, or several.';

COMMENT ON COLUMN reporting.accruals.currency IS 'ISO 4217. Null: nothing.';

COMMENT ON COLUMN reporting.accruals.orders IS 'Orders; 0 where only amounts are known.';

COMMENT ON COLUMN reporting.accruals.amount IS 'In currency. Null: unknown.';

COMMENT ON COLUMN reporting.accruals.kept_at IS 'As of when it was computed.';

CREATE VIEW bi.accruals AS
 SELECT at_end_of AS month_local,
    standing AS state,
    month AS earned_month_local,
    brand_id,
    currency,
    orders,
    amount AS accrued_amount,
    kept_at AS refreshed_at
   FROM reporting.accruals;

COMMENT ON VIEW bi.accruals IS 'What creators have earned and were not paid at the end of a month, one row per month, state, month of the orders, brand and currency. Runs compute that of the last month again, at most once an hour; earlier months stay as the last run of the month after them knew them. Without statements.payments.from, closed statements are not in it. Answers: What was earned and not paid at the end of the month?';

COMMENT ON COLUMN bi.accruals.month_local IS 'First day of the month at whose end it was not paid, in the zone of the statements.';

COMMENT ON COLUMN bi.accruals.state IS 'pending (the return window is open), to_close (it counts, and is in no closed statement; corrections, too), closed (in no payment), in_payment (in a payment that is not paid), paid_in_part (what was paid of such payments, negative), unknown (what the orders earn is not known), held (the same, of orders that changed), nothing (the only row of its month: nothing was earned and not paid).';

COMMENT ON COLUMN bi.accruals.earned_month_local IS 'First day of the month of the orders or fees; of closed ones, of the statement. Null: several.';

COMMENT ON COLUMN bi.accruals.brand_id IS 'Brand, see bi.brands. Null: unknown, or several.';

COMMENT ON COLUMN bi.accruals.currency IS 'ISO 4217. Null: nothing. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.accruals.orders IS 'Number of orders; 0 where only amounts are known.';

COMMENT ON COLUMN bi.accruals.accrued_amount IS 'Earned and not paid, in currency. Null: unknown, so the sum of the others is the least that was accrued.';

COMMENT ON COLUMN bi.accruals.refreshed_at IS 'When it was computed.';

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
    is_elsewhere boolean DEFAULT false NOT NULL,
    is_decision boolean DEFAULT false NOT NULL,
    CONSTRAINT adjustments_kind_check CHECK ((kind = ANY (ARRAY['changed'::text, 'refunded'::text, 'cancelled'::text, 'excluded'::text, 'reattributed'::text, 'held'::text])))
);

COMMENT ON TABLE ledger.adjustments IS 'An order that changed after it was sent. Nothing is sent for it: the service has no operation to correct an order.';

COMMENT ON COLUMN ledger.adjustments.adjustment_id IS 'Counts up.';

COMMENT ON COLUMN ledger.adjustments.entry_id IS 'Entry that was sent.';

COMMENT ON COLUMN ledger.adjustments.order_version_id IS 'Version of the order that differs. Null: a person decided, in the currency that was sent.';

COMMENT ON COLUMN ledger.adjustments.kind IS 'changed (another amount), refunded, cancelled, excluded (no longer to be credited), reattributed (another influencer), held (the order is held, or states another currency, so what it comes to now is unknown).';

COMMENT ON COLUMN ledger.adjustments.old_amount IS 'As sent, in currency.';

COMMENT ON COLUMN ledger.adjustments.new_amount IS 'As it would be sent now, in currency; of a held order, as its export states it. Null when it would not be sent, or if it states another currency.';

COMMENT ON COLUMN ledger.adjustments.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.adjustments.old_body_hash IS 'Digest of what was sent.';

COMMENT ON COLUMN ledger.adjustments.new_body_hash IS 'Digest of what would be sent now.';

COMMENT ON COLUMN ledger.adjustments.detail IS 'What changed, in words.';

COMMENT ON COLUMN ledger.adjustments.run_id IS 'Run that noticed, also what a person then decided about.';

COMMENT ON COLUMN ledger.adjustments.noted_at IS 'When.';

COMMENT ON COLUMN ledger.adjustments.is_elsewhere IS 'Whether a source states it that is not responsible for the order. Then what the order earns does not change. Rows of earlier versions say so only in their detail.';

COMMENT ON COLUMN ledger.adjustments.is_decision IS 'Whether a person decided it (`statement restated`), and no run.';

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
    backfill_id bigint,
    details jsonb,
    doubted_at timestamp with time zone,
    order_key text,
    CONSTRAINT accepted_says_by_whom CHECK (((state <> 'accepted'::text) OR (deal_id IS NOT NULL) OR (collab_id IS NOT NULL) OR (state_reason IS NOT NULL))),
    CONSTRAINT entries_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT entries_check CHECK (((doubtful_attempt >= 1) AND (doubtful_attempt <= attempt))),
    CONSTRAINT entries_effect_check CHECK ((effect = ANY (ARRAY['referral'::text, 'click'::text, 'create_deal'::text, 'note'::text, 'task'::text, 'outreach'::text]))),
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

COMMENT ON COLUMN ledger.entries.effect IS 'Which operation: referral, click, create_deal, note, task, outreach.';

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

COMMENT ON COLUMN ledger.entries.body IS 'Frozen request body, exact JSON text. An attempt of a referral adds its reference as order_notes.';

COMMENT ON COLUMN ledger.entries.body_hash IS 'SHA-256 of body. It shows whether the desired request differs.';

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

COMMENT ON COLUMN ledger.entries.state_changed_at IS 'When it reached its state.';

COMMENT ON COLUMN ledger.entries.backfill_id IS 'Backfill that alone may post it; null: the runs of its job.';

COMMENT ON COLUMN ledger.entries.details IS 'What is no part of the body, or special to the effect: of a referral the note of the shop that is sent with it, and whether without the reference; of a click target, period, from and clicks; of a deal handle, platform and dealflow; of an outreach the ids of its influencers.';

COMMENT ON COLUMN ledger.entries.doubted_at IS 'When doubtful_attempt was claimed. Null for doubts of a process of the previous version: then state_changed_at is the nearest.';

COMMENT ON COLUMN ledger.entries.order_key IS 'Of referrals that were made under another spelling of their key by an earlier version: ledger.order_key of the order, by which the entry is found. Null if key is that already.';

CREATE VIEW bi.adjustments AS
 SELECT d.adjustment_id,
    d.entry_id,
    e.job,
    e.source,
    e.order_platform,
    e.order_id,
    d.kind,
    d.old_amount AS sent_amount,
    d.new_amount,
        CASE
            WHEN ((d.kind <> 'held'::text) AND (NOT d.is_elsewhere)) THEN (COALESCE(d.new_amount, (0)::numeric) - d.old_amount)
            ELSE NULL::numeric
        END AS difference_amount,
    d.currency,
    e.brand_id,
    reporting.deal_id_of(COALESCE(e.deal_id, ((e.body)::json ->> 'deal_id'::text))) AS deal_id,
    COALESCE(e.collab_id, ((e.body)::json ->> 'collab_id'::text)) AS collab_id,
    reporting.without_addresses(((e.body)::json ->> 'influencer_handle'::text)) AS influencer_handle,
    (NOT (EXISTS ( SELECT
           FROM ledger.adjustments l
          WHERE ((l.entry_id = d.entry_id) AND (l.adjustment_id > d.adjustment_id) AND (l.is_elsewhere = d.is_elsewhere))))) AS is_latest,
    d.noted_at,
    ((d.noted_at AT TIME ZONE 'UTC'::text))::date AS day_utc,
    d.run_id,
    d.is_elsewhere,
    d.is_decision
   FROM (ledger.adjustments d
     JOIN ledger.entries e ON ((e.entry_id = d.entry_id)));

COMMENT ON VIEW bi.adjustments IS 'Orders that changed after they were sent, one row per change. The service cannot correct an order: settle the difference with the influencer. Live. Answers: Which differences must be settled with influencers?';

COMMENT ON COLUMN bi.adjustments.adjustment_id IS 'Key of the row. Counts up.';

COMMENT ON COLUMN bi.adjustments.entry_id IS 'Entry that was sent, see bi.orders_attributed.';

COMMENT ON COLUMN bi.adjustments.job IS 'Job that sent the order.';

COMMENT ON COLUMN bi.adjustments.source IS 'Source of the order.';

COMMENT ON COLUMN bi.adjustments.order_platform IS 'Shop platform as sent.';

COMMENT ON COLUMN bi.adjustments.order_id IS 'Order as sent.';

COMMENT ON COLUMN bi.adjustments.kind IS 'changed (a different amount), refunded, cancelled, excluded (no longer to be credited), reattributed (to another influencer), held (it is unknown what it comes to now, or for whom).';

COMMENT ON COLUMN bi.adjustments.sent_amount IS 'As sent, in currency.';

COMMENT ON COLUMN bi.adjustments.new_amount IS 'As it would be sent now, in currency; of a held order, as its export states it. Null if it would not be sent, or states another currency.';

COMMENT ON COLUMN bi.adjustments.difference_amount IS 'new_amount (0 if it would not be sent) less sent_amount, in currency. Null: unknown, because the order is held, or no difference, because is_elsewhere.';

COMMENT ON COLUMN bi.adjustments.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.adjustments.brand_id IS 'Brand.';

COMMENT ON COLUMN bi.adjustments.deal_id IS 'Deal that was credited.';

COMMENT ON COLUMN bi.adjustments.collab_id IS 'Collaboration that was credited.';

COMMENT ON COLUMN bi.adjustments.influencer_handle IS 'Influencer, if the order was sent for a handle.';

COMMENT ON COLUMN bi.adjustments.is_latest IS 'Whether it is the latest adjustment of this order: add up only these.';

COMMENT ON COLUMN bi.adjustments.noted_at IS 'When it was recorded.';

COMMENT ON COLUMN bi.adjustments.day_utc IS 'Day of noted_at in UTC.';

COMMENT ON COLUMN bi.adjustments.run_id IS 'Run that recorded it, or what a person then decided about, see bi.runs.';

COMMENT ON COLUMN bi.adjustments.is_elsewhere IS 'Whether a source states it that is not responsible for the order. It changes nothing.';

COMMENT ON COLUMN bi.adjustments.is_decision IS 'Whether a person decided it (the command `statement restated`), and no run.';

CREATE TABLE reporting.funnel_days (
    day_utc date NOT NULL,
    job text NOT NULL,
    source text NOT NULL,
    currency text NOT NULL,
    disposition text CONSTRAINT funnel_days_standing_not_null NOT NULL,
    disposition_reason text,
    orders bigint NOT NULL,
    amount numeric(24,4),
    without_amount bigint DEFAULT 0 NOT NULL,
    CONSTRAINT funnel_days_orders_check CHECK ((orders > 0)),
    CONSTRAINT unknown_without_any_amount CHECK ((((without_amount >= 0) AND (without_amount <= orders)) AND ((amount IS NULL) = (without_amount = orders))))
);

COMMENT ON TABLE reporting.funnel_days IS 'order_dispositions added up by day, job, source, currency, disposition and reason.';

COMMENT ON COLUMN reporting.funnel_days.day_utc IS 'Day in UTC.';

COMMENT ON COLUMN reporting.funnel_days.job IS 'Job.';

COMMENT ON COLUMN reporting.funnel_days.source IS 'Source.';

COMMENT ON COLUMN reporting.funnel_days.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.funnel_days.disposition IS 'As in order_dispositions.';

COMMENT ON COLUMN reporting.funnel_days.disposition_reason IS 'As in order_dispositions.';

COMMENT ON COLUMN reporting.funnel_days.orders IS 'How many.';

COMMENT ON COLUMN reporting.funnel_days.amount IS 'Revenue of those whose amount is known, in currency. Null: none is.';

COMMENT ON COLUMN reporting.funnel_days.without_amount IS 'How many of these orders have no known amount.';

CREATE VIEW bi.attribution_funnel_daily AS
 SELECT day_utc,
    job,
    source,
    currency,
    (sum(orders))::bigint AS orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'excluded'::text)), (0)::numeric))::bigint AS excluded_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'organic'::text)), (0)::numeric))::bigint AS organic_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'unattributed'::text)), (0)::numeric))::bigint AS unattributed_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'held'::text)), (0)::numeric))::bigint AS held_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'ready'::text)), (0)::numeric))::bigint AS ready_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'rejected'::text)), (0)::numeric))::bigint AS rejected_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'in_doubt'::text)), (0)::numeric))::bigint AS in_doubt_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'accepted'::text)), (0)::numeric))::bigint AS accepted_orders,
    (COALESCE(sum(orders) FILTER (WHERE (disposition = 'unaccounted'::text)), (0)::numeric))::bigint AS unaccounted_orders,
    sum(amount) AS orders_amount,
        CASE
            WHEN (count(*) FILTER (WHERE (disposition = 'excluded'::text)) = 0) THEN (0)::numeric
            ELSE sum(amount) FILTER (WHERE (disposition = 'excluded'::text))
        END AS excluded_amount,
        CASE
            WHEN (count(*) FILTER (WHERE (disposition = 'organic'::text)) = 0) THEN (0)::numeric
            ELSE sum(amount) FILTER (WHERE (disposition = 'organic'::text))
        END AS organic_amount,
        CASE
            WHEN (count(*) FILTER (WHERE (disposition = 'unattributed'::text)) = 0) THEN (0)::numeric
            ELSE sum(amount) FILTER (WHERE (disposition = 'unattributed'::text))
        END AS unattributed_amount,
        CASE
            WHEN (count(*) FILTER (WHERE (disposition = 'held'::text)) = 0) THEN (0)::numeric
            ELSE sum(amount) FILTER (WHERE (disposition = 'held'::text))
        END AS held_amount,
    COALESCE(sum(amount) FILTER (WHERE (disposition = 'ready'::text)), (0)::numeric) AS ready_amount,
    COALESCE(sum(amount) FILTER (WHERE (disposition = 'rejected'::text)), (0)::numeric) AS rejected_amount,
    COALESCE(sum(amount) FILTER (WHERE (disposition = 'in_doubt'::text)), (0)::numeric) AS in_doubt_amount,
    COALESCE(sum(amount) FILTER (WHERE (disposition = 'accepted'::text)), (0)::numeric) AS accepted_amount,
    (sum(without_amount))::bigint AS unvalued_orders,
    (COALESCE(sum(without_amount) FILTER (WHERE (disposition = 'excluded'::text)), (0)::numeric))::bigint AS unvalued_excluded_orders,
    (COALESCE(sum(without_amount) FILTER (WHERE (disposition = 'organic'::text)), (0)::numeric))::bigint AS unvalued_organic_orders,
    (COALESCE(sum(without_amount) FILTER (WHERE (disposition = 'unattributed'::text)), (0)::numeric))::bigint AS unvalued_unattributed_orders,
    (COALESCE(sum(without_amount) FILTER (WHERE (disposition = 'held'::text)), (0)::numeric))::bigint AS unvalued_held_orders
   FROM reporting.funnel_days
  GROUP BY day_utc, job, source, currency;

COMMENT ON VIEW bi.attribution_funnel_daily IS 'Dispositions of the orders of a day, one row per day, job, source and currency. Each order counts once: orders is the sum of the counts of the dispositions. Answers: How many orders are credited, and why are the others not? Do all orders add up?';

COMMENT ON COLUMN bi.attribution_funnel_daily.day_utc IS 'Day of the orders in UTC.';

COMMENT ON COLUMN bi.attribution_funnel_daily.job IS 'Job. Two jobs may read the same shop: add up one job at a time.';

COMMENT ON COLUMN bi.attribution_funnel_daily.source IS 'Source in the configuration.';

COMMENT ON COLUMN bi.attribution_funnel_daily.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.attribution_funnel_daily.orders IS 'All orders.';

COMMENT ON COLUMN bi.attribution_funnel_daily.excluded_orders IS 'Never credited: test, cancelled, not paid, …';

COMMENT ON COLUMN bi.attribution_funnel_daily.organic_orders IS 'Without any code, link or handle.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unattributed_orders IS 'With a code, link or handle that has no owner: see bi.unattributed_revenue.';

COMMENT ON COLUMN bi.attribution_funnel_daily.held_orders IS 'Waiting for a decision of a person, or written off by one.';

COMMENT ON COLUMN bi.attribution_funnel_daily.ready_orders IS 'Ready to be sent.';

COMMENT ON COLUMN bi.attribution_funnel_daily.rejected_orders IS 'Refused by the service.';

COMMENT ON COLUMN bi.attribution_funnel_daily.in_doubt_orders IS 'Sent, but the answer was lost: see bi.doubts.';

COMMENT ON COLUMN bi.attribution_funnel_daily.accepted_orders IS 'Credited by the service.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unaccounted_orders IS 'Always 0, except after a bug.';

COMMENT ON COLUMN bi.attribution_funnel_daily.orders_amount IS 'Revenue of all orders, as far as it is known, in currency. Null: no amount is known.';

COMMENT ON COLUMN bi.attribution_funnel_daily.excluded_amount IS 'Revenue of the excluded orders, as far as it is known, in currency. Null: there are some, and no amount is known.';

COMMENT ON COLUMN bi.attribution_funnel_daily.organic_amount IS 'Revenue of the organic orders, as far as it is known, in currency. Null: there are some, and no amount is known.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unattributed_amount IS 'Revenue of the unattributed orders, as far as it is known, in currency. Null: there are some, and no amount is known.';

COMMENT ON COLUMN bi.attribution_funnel_daily.held_amount IS 'Revenue of the held orders, as far as it is known, in currency. Null: there are some, and no amount is known.';

COMMENT ON COLUMN bi.attribution_funnel_daily.ready_amount IS 'Revenue of the ready orders, in currency.';

COMMENT ON COLUMN bi.attribution_funnel_daily.rejected_amount IS 'Revenue of the rejected orders, in currency.';

COMMENT ON COLUMN bi.attribution_funnel_daily.in_doubt_amount IS 'Revenue of the orders in doubt, in currency.';

COMMENT ON COLUMN bi.attribution_funnel_daily.accepted_amount IS 'Revenue of the accepted orders, in currency.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unvalued_orders IS 'Orders without a known amount, which no amount of the row includes. Those that are sent have one.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unvalued_excluded_orders IS 'Of those: excluded.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unvalued_organic_orders IS 'Of those: organic.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unvalued_unattributed_orders IS 'Of those: unattributed.';

COMMENT ON COLUMN bi.attribution_funnel_daily.unvalued_held_orders IS 'Of those: held.';

CREATE TABLE mirror.brand_versions (
    brand_id text NOT NULL,
    name text,
    raw jsonb NOT NULL,
    row_hash text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    is_current boolean GENERATED ALWAYS AS ((valid_to IS NULL)) STORED NOT NULL,
    is_latest boolean DEFAULT true NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    CONSTRAINT brand_versions_last_a_while CHECK ((valid_to > valid_from))
);

COMMENT ON TABLE mirror.brand_versions IS 'History of brands: one row each time a brand was first seen or had changed.';

COMMENT ON COLUMN mirror.brand_versions.brand_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.brand_versions.name IS 'Name of the brand.';

COMMENT ON COLUMN mirror.brand_versions.raw IS 'All that the service sent, unknown fields included.';

COMMENT ON COLUMN mirror.brand_versions.row_hash IS 'Digest of raw: equal hash, no new version.';

COMMENT ON COLUMN mirror.brand_versions.valid_from IS 'When it was first seen in this form: the time before the request.';

COMMENT ON COLUMN mirror.brand_versions.valid_to IS 'When it was first seen otherwise, or missing from a complete listing; null while it is in force.';

COMMENT ON COLUMN mirror.brand_versions.is_current IS 'In force: valid_to is null. A brand that is gone has none.';

COMMENT ON COLUMN mirror.brand_versions.is_latest IS 'Newest version of its brand, in force or not. Exactly one a brand.';

COMMENT ON COLUMN mirror.brand_versions.first_seen_at IS 'When the brand was first seen at all.';

COMMENT ON COLUMN mirror.brand_versions.seen_at IS 'When it was last seen so.';

COMMENT ON COLUMN mirror.brand_versions.run_id IS 'Run that published this version.';

CREATE TABLE reporting.brand_days (
    day_utc date NOT NULL,
    brand_id text NOT NULL,
    currency text NOT NULL,
    deals bigint NOT NULL,
    attributed_orders bigint NOT NULL,
    accepted_orders bigint NOT NULL,
    ready_orders bigint NOT NULL,
    in_doubt_orders bigint NOT NULL,
    held_orders bigint NOT NULL,
    rejected_orders bigint NOT NULL,
    attributed_amount numeric(24,4) NOT NULL,
    accepted_amount numeric(24,4) NOT NULL,
    in_doubt_amount numeric(24,4) NOT NULL
);

COMMENT ON TABLE reporting.brand_days IS 'deal_days added up by day, brand and currency.';

COMMENT ON COLUMN reporting.brand_days.day_utc IS 'Day in UTC.';

COMMENT ON COLUMN reporting.brand_days.brand_id IS 'Brand.';

COMMENT ON COLUMN reporting.brand_days.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.brand_days.deals IS 'Deals (collaborations, handles) with an order on the day.';

COMMENT ON COLUMN reporting.brand_days.attributed_orders IS 'All orders that are somebody''s.';

COMMENT ON COLUMN reporting.brand_days.accepted_orders IS 'Accepted by the service.';

COMMENT ON COLUMN reporting.brand_days.ready_orders IS 'Orders that wait to be posted, or are in flight.';

COMMENT ON COLUMN reporting.brand_days.in_doubt_orders IS 'In doubt.';

COMMENT ON COLUMN reporting.brand_days.held_orders IS 'Held, or written off.';

COMMENT ON COLUMN reporting.brand_days.rejected_orders IS 'Refused by the service.';

COMMENT ON COLUMN reporting.brand_days.attributed_amount IS 'Revenue of all of them, in currency.';

COMMENT ON COLUMN reporting.brand_days.accepted_amount IS 'Revenue of the accepted ones, in currency.';

COMMENT ON COLUMN reporting.brand_days.in_doubt_amount IS 'Revenue of those in doubt, in currency.';

CREATE VIEW bi.brand_performance_daily AS
 SELECT d.day_utc,
    d.brand_id,
    b.name AS brand_name,
    d.currency,
    d.deals,
    d.attributed_orders,
    d.accepted_orders,
    d.ready_orders,
    d.in_doubt_orders,
    d.held_orders,
    d.rejected_orders,
    d.attributed_amount,
    d.accepted_amount,
    d.in_doubt_amount
   FROM (reporting.brand_days d
     LEFT JOIN mirror.brand_versions b ON (((b.brand_id = d.brand_id) AND b.is_latest)));

COMMENT ON VIEW bi.brand_performance_daily IS 'What influencers earned for a brand on a day, one row per day, brand and currency. Answers: How does each brand perform month by month?';

COMMENT ON COLUMN bi.brand_performance_daily.day_utc IS 'Day of the orders in UTC.';

COMMENT ON COLUMN bi.brand_performance_daily.brand_id IS 'Brand, see bi.brands. With day_utc and currency, the key of the row.';

COMMENT ON COLUMN bi.brand_performance_daily.brand_name IS 'Name of the brand, if it is mirrored.';

COMMENT ON COLUMN bi.brand_performance_daily.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.brand_performance_daily.deals IS 'Deals with an order on that day. Do not add them up over days: a deal may have orders on many days.';

COMMENT ON COLUMN bi.brand_performance_daily.attributed_orders IS 'Orders that are attributed to an influencer, with any disposition.';

COMMENT ON COLUMN bi.brand_performance_daily.accepted_orders IS 'Of those: credited by the service.';

COMMENT ON COLUMN bi.brand_performance_daily.ready_orders IS 'Of those: ready to be sent.';

COMMENT ON COLUMN bi.brand_performance_daily.in_doubt_orders IS 'Of those: sent, but the answer was lost.';

COMMENT ON COLUMN bi.brand_performance_daily.held_orders IS 'Of those: waiting for a decision of a person, or written off by one.';

COMMENT ON COLUMN bi.brand_performance_daily.rejected_orders IS 'Of those: refused by the service.';

COMMENT ON COLUMN bi.brand_performance_daily.attributed_amount IS 'Revenue of the attributed orders, in currency.';

COMMENT ON COLUMN bi.brand_performance_daily.accepted_amount IS 'Revenue of the accepted orders, in currency.';

COMMENT ON COLUMN bi.brand_performance_daily.in_doubt_amount IS 'Revenue of the orders in doubt, in currency.';

CREATE VIEW bi.brands AS
 SELECT brand_id,
    name AS brand_name,
    (NOT is_current) AS is_deleted,
    valid_to AS deleted_at,
    first_seen_at,
    valid_from AS changed_at,
    seen_at AS synced_at,
    run_id
   FROM mirror.brand_versions
  WHERE is_latest;

COMMENT ON VIEW bi.brands IS 'Brands of the account, one row per brand, as last read. Answers: Which brands are there, and since when?';

COMMENT ON COLUMN bi.brands.brand_id IS 'Key of the row: identity at the service.';

COMMENT ON COLUMN bi.brands.brand_name IS 'Name of the brand.';

COMMENT ON COLUMN bi.brands.is_deleted IS 'Whether it is gone: a complete listing does not contain it.';

COMMENT ON COLUMN bi.brands.deleted_at IS 'When it was found to be gone; null if it is not.';

COMMENT ON COLUMN bi.brands.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN bi.brands.changed_at IS 'When its present state was first read.';

COMMENT ON COLUMN bi.brands.synced_at IS 'When it was last read.';

COMMENT ON COLUMN bi.brands.run_id IS 'Run that published its last change, see bi.runs.';

CREATE TABLE intake.clicks (
    click_id bigint NOT NULL,
    source text NOT NULL,
    subject text NOT NULL,
    day date NOT NULL,
    country text NOT NULL,
    clicks bigint NOT NULL,
    written text NOT NULL,
    references_folded text[] NOT NULL,
    influencer_handle text,
    deal_id text,
    collab_id text,
    source_file_id bigint NOT NULL,
    line_no bigint NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    stated_at timestamp with time zone DEFAULT now() NOT NULL,
    job text,
    outcome text,
    reason text,
    matched_by text,
    target text,
    owner_handle text,
    owner_deal_id text,
    owner_collab_id text,
    decided_at timestamp with time zone,
    also_stated_by bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    contradicted_by bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT attributed_clicks_have_an_owner CHECK (((outcome <> 'attributed'::text) OR (target IS NOT NULL))),
    CONSTRAINT clicks_clicks_check CHECK ((clicks >= 0)),
    CONSTRAINT clicks_outcome_check CHECK ((outcome = ANY (ARRAY['attributed'::text, 'unattributed'::text, 'held'::text, 'excluded'::text]))),
    CONSTRAINT what_is_not_attributed_says_why CHECK (((outcome IS NULL) OR ((outcome = 'attributed'::text) = (reason IS NULL)) OR ((outcome = 'attributed'::text) AND (reason = 'source_removed'::text))))
);

COMMENT ON TABLE intake.clicks IS 'One row for each link, code or influencer, day and country of a source: the clicks that the file read last states for it, and whose they are.';

COMMENT ON COLUMN intake.clicks.click_id IS 'Counts up.';

COMMENT ON COLUMN intake.clicks.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.clicks.subject IS 'What was clicked, in a form that all spellings share.';

COMMENT ON COLUMN intake.clicks.day IS 'Day of the clicks, as the export counts days.';

COMMENT ON COLUMN intake.clicks.country IS 'ISO 3166-1 alpha-2; empty where the export does not say.';

COMMENT ON COLUMN intake.clicks.clicks IS 'Clicks of that day, as the newest file states; rows of one file are added up.';

COMMENT ON COLUMN intake.clicks.written IS 'What was clicked, for people: the address without its other parameters, the code or the handle.';

COMMENT ON COLUMN intake.clicks.references_folded IS 'Texts in it that may name an influencer, folded as codes are.';

COMMENT ON COLUMN intake.clicks.influencer_handle IS 'Influencer whom the export itself names.';

COMMENT ON COLUMN intake.clicks.deal_id IS 'Deal that the export itself names.';

COMMENT ON COLUMN intake.clicks.collab_id IS 'Collaboration that the export itself names.';

COMMENT ON COLUMN intake.clicks.source_file_id IS 'File that states it.';

COMMENT ON COLUMN intake.clicks.line_no IS 'Physical line of its first row in that file.';

COMMENT ON COLUMN intake.clicks.first_seen_at IS 'When a file first stated it.';

COMMENT ON COLUMN intake.clicks.stated_at IS 'When a file last stated another number.';

COMMENT ON COLUMN intake.clicks.job IS 'Job that decided whose it is; null before the first decision.';

COMMENT ON COLUMN intake.clicks.outcome IS 'attributed; unattributed (nobody owns it); held (several own it; link_and_code or named_and_code: its code, its link and the influencer whom it names are of different ones; deal_of_another: the deal that it names belongs to another influencer; conflicting_states: a file that is held states another number, and nothing says which is newer; after_export: the day is after the export); excluded.';

COMMENT ON COLUMN intake.clicks.reason IS 'Why it is not attributed; source_removed on attributed clicks: the job no longer reads their source, so nothing more of them is proposed.';

COMMENT ON COLUMN intake.clicks.matched_by IS 'explicit (the export names the influencer), code, handle or link.';

COMMENT ON COLUMN intake.clicks.target IS 'Whose it is: deal:…, collab:… or handle:….';

COMMENT ON COLUMN intake.clicks.owner_handle IS 'Influencer that the request names.';

COMMENT ON COLUMN intake.clicks.owner_deal_id IS 'Deal that the request names.';

COMMENT ON COLUMN intake.clicks.owner_collab_id IS 'Collaboration that the request names.';

COMMENT ON COLUMN intake.clicks.decided_at IS 'When it was decided.';

COMMENT ON COLUMN intake.clicks.also_stated_by IS 'Other files that state the same, and of which nothing says whether they are older.';

COMMENT ON COLUMN intake.clicks.contradicted_by IS 'Files that state something else, and of which nothing says whether they are newer. While one of them is held, so are the clicks.';

CREATE VIEW bi.clicks AS
 SELECT click_id,
    source,
    day AS day_local,
    NULLIF(country, ''::text) AS country_code,
    reporting.without_addresses(written) AS clicked,
    clicks AS stated_clicks,
    outcome,
    reason AS outcome_reason,
    matched_by,
    reporting.deal_id_of(owner_deal_id) AS deal_id,
    owner_collab_id AS collab_id,
    reporting.without_addresses(owner_handle) AS influencer_handle,
    job,
    source_file_id,
    line_no,
    first_seen_at,
    stated_at AS changed_at
   FROM intake.clicks c;

COMMENT ON VIEW bi.clicks IS 'Clicks as the exports state them now, one row per link, code or influencer, day and country. Live. Answers: Which links and codes are clicked and belong to no influencer?';

COMMENT ON COLUMN bi.clicks.click_id IS 'Key of the row. Counts up.';

COMMENT ON COLUMN bi.clicks.source IS 'Source in the configuration, for example one link shortener.';

COMMENT ON COLUMN bi.clicks.day_local IS 'Day of the clicks, as the export counts days.';

COMMENT ON COLUMN bi.clicks.country_code IS 'ISO 3166-1 alpha-2; null if the export does not say.';

COMMENT ON COLUMN bi.clicks.clicked IS 'The link, code, handle or deal that was clicked. E-mail addresses are masked.';

COMMENT ON COLUMN bi.clicks.stated_clicks IS 'Clicks of that day, as the newest file states.';

COMMENT ON COLUMN bi.clicks.outcome IS 'attributed, unattributed (no owner), held (several owners, or conflicting_states: a held file states another number), excluded (before the first day of the job, or of a source that the job no longer reads); null: not decided yet.';

COMMENT ON COLUMN bi.clicks.outcome_reason IS 'Why it is not attributed; null if it is, or source_removed if the job no longer reads the source of attributed clicks: no more of them are posted.';

COMMENT ON COLUMN bi.clicks.matched_by IS 'explicit (the export names the influencer), code, link or handle.';

COMMENT ON COLUMN bi.clicks.deal_id IS 'Deal of the owner, if one is named.';

COMMENT ON COLUMN bi.clicks.collab_id IS 'Collaboration of the owner, if one is named.';

COMMENT ON COLUMN bi.clicks.influencer_handle IS 'Handle of the owner, if one is named.';

COMMENT ON COLUMN bi.clicks.job IS 'Job that decided.';

COMMENT ON COLUMN bi.clicks.source_file_id IS 'Export that states it.';

COMMENT ON COLUMN bi.clicks.line_no IS 'Line of its first row in that file.';

COMMENT ON COLUMN bi.clicks.first_seen_at IS 'When a file first stated it.';

COMMENT ON COLUMN bi.clicks.changed_at IS 'When a file last stated a different number.';

CREATE VIEW bi.clicks_posted AS
 SELECT entry_id,
    job,
    source,
    ((details ->> 'day'::text))::date AS day_local,
    NULLIF((details ->> 'country'::text), ''::text) AS country_code,
    brand_id,
    reporting.deal_id_of(COALESCE(deal_id, ((body)::json ->> 'deal_id'::text))) AS deal_id,
    COALESCE(collab_id, ((body)::json ->> 'collab_id'::text)) AS collab_id,
    reporting.without_addresses(((body)::json ->> 'influencer_handle'::text)) AS influencer_handle,
    ((details ->> 'clicks'::text))::bigint AS clicks,
    ((details ->> 'from'::text))::bigint AS posted_before,
        CASE state
            WHEN 'sending'::text THEN 'in_doubt'::text
            ELSE state
        END AS state,
    state_reason,
    state_changed_at,
    run_id
   FROM ledger.entries e
  WHERE ((effect = 'click'::text) AND (NOT ((state = 'held'::text) AND (attempt = not_sent))));

COMMENT ON VIEW bi.clicks_posted IS 'Requests that add clicks to a deal, one row each. If a newer export states more clicks of a day, another request adds the difference. Live. Answers: How many clicks were posted for each deal?';

COMMENT ON COLUMN bi.clicks_posted.entry_id IS 'Key of the row: entry of the ledger. Counts up.';

COMMENT ON COLUMN bi.clicks_posted.job IS 'Job that made the request.';

COMMENT ON COLUMN bi.clicks_posted.source IS 'Source of the clicks.';

COMMENT ON COLUMN bi.clicks_posted.day_local IS 'Day of the clicks, as the export counts days.';

COMMENT ON COLUMN bi.clicks_posted.country_code IS 'ISO 3166-1 alpha-2; null if the export does not say.';

COMMENT ON COLUMN bi.clicks_posted.brand_id IS 'Brand.';

COMMENT ON COLUMN bi.clicks_posted.deal_id IS 'Deal that the service credited, else the one that was named.';

COMMENT ON COLUMN bi.clicks_posted.collab_id IS 'Collaboration that the service credited, else the one that was named.';

COMMENT ON COLUMN bi.clicks_posted.influencer_handle IS 'Influencer, if the request names a handle.';

COMMENT ON COLUMN bi.clicks_posted.clicks IS 'Clicks that the request adds.';

COMMENT ON COLUMN bi.clicks_posted.posted_before IS 'Clicks of the same day that were posted before this request.';

COMMENT ON COLUMN bi.clicks_posted.state IS 'accepted, ready (to be posted), rejected, in_doubt, written_off.';

COMMENT ON COLUMN bi.clicks_posted.state_reason IS 'Why it is in its state, if that needs a reason.';

COMMENT ON COLUMN bi.clicks_posted.state_changed_at IS 'When it reached its state.';

COMMENT ON COLUMN bi.clicks_posted.run_id IS 'Run that made the request, see bi.runs.';

CREATE TABLE intake.codes (
    job text NOT NULL,
    code_folded text,
    code text,
    line_no integer NOT NULL,
    brand_id text,
    influencer_handle text,
    handle_folded text,
    deal_id text,
    collab_id text,
    target text NOT NULL,
    valid_from timestamp with time zone,
    valid_to timestamp with time zone,
    link text,
    link_folded text[],
    valid_from_text text,
    valid_to_text text,
    CONSTRAINT a_code_or_a_link CHECK ((((code IS NULL) = (code_folded IS NULL)) AND ((link IS NULL) = (link_folded IS NULL)) AND ((code IS NULL) <> (link IS NULL)) AND (cardinality(link_folded) > 0)))
);

COMMENT ON TABLE intake.codes IS 'Who owns which discount code, as codes.csv of each job says. Replaced as a whole when the file changes.';

COMMENT ON COLUMN intake.codes.job IS 'Job that reads the file.';

COMMENT ON COLUMN intake.codes.code_folded IS 'Code without blanks, case folded: what orders are matched by. Null where the row is a link.';

COMMENT ON COLUMN intake.codes.code IS 'Code as written; null where the row is a link.';

COMMENT ON COLUMN intake.codes.line_no IS 'Line in codes.csv; negative for an owner that was assigned in the console or comes from an event of the service.';

COMMENT ON COLUMN intake.codes.brand_id IS 'Brand the code belongs to; null: the job''s brand.';

COMMENT ON COLUMN intake.codes.influencer_handle IS 'Influencer who owns it.';

COMMENT ON COLUMN intake.codes.handle_folded IS 'Handle without blanks and @, case folded: what links are matched by.';

COMMENT ON COLUMN intake.codes.deal_id IS 'Deal it belongs to.';

COMMENT ON COLUMN intake.codes.collab_id IS 'Collaboration it belongs to.';

COMMENT ON COLUMN intake.codes.target IS 'What distinguishes two owners: deal, else collaboration, else handle.';

COMMENT ON COLUMN intake.codes.valid_from IS 'First instant at which it counts; null: always.';

COMMENT ON COLUMN intake.codes.valid_to IS 'First instant at which it no longer counts; null: never ends.';

COMMENT ON COLUMN intake.codes.link IS 'Custom link, or the name of its target, as the event wrote it; null where the row is a code.';

COMMENT ON COLUMN intake.codes.link_folded IS 'References in the link, folded like codes. An order is attributed by the link if its own links contain all of them.';

COMMENT ON COLUMN intake.codes.valid_from_text IS 'The first day or time as the person wrote it, for people to read; null with events, and until a run of this version has loaded it.';

COMMENT ON COLUMN intake.codes.valid_to_text IS 'The last day or time as the person wrote it, like valid_from_text; a day is included, so valid_to is the beginning of the next one.';

CREATE TABLE reporting.code_use_days (
    day_utc date NOT NULL,
    code_folded text NOT NULL,
    orders bigint NOT NULL,
    without_link bigint NOT NULL,
    CONSTRAINT code_use_days_check CHECK (((without_link >= 0) AND (without_link <= orders))),
    CONSTRAINT code_use_days_orders_check CHECK ((orders > 0))
);

COMMENT ON TABLE reporting.code_use_days IS 'Orders that carry a code, by day; cancelled orders and tests are left out, and so are codes that contain an e-mail address.';

COMMENT ON COLUMN reporting.code_use_days.day_utc IS 'Day of the orders, in UTC.';

COMMENT ON COLUMN reporting.code_use_days.code_folded IS 'The code without blanks, case folded: what it is matched by.';

COMMENT ON COLUMN reporting.code_use_days.orders IS 'Orders that carry it.';

COMMENT ON COLUMN reporting.code_use_days.without_link IS 'Of those: carry no link, so that only the code leads to a creator.';

CREATE VIEW bi.code_use_daily AS
 SELECT u.day_utc,
    u.code_folded AS code,
    o.deal_id,
    reporting.without_addresses(o.influencer_handle) AS influencer_handle,
    u.orders,
    u.without_link AS orders_without_link
   FROM (reporting.code_use_days u
     LEFT JOIN ( SELECT codes.code_folded,
            min(codes.deal_id) AS deal_id,
            min(codes.influencer_handle) AS influencer_handle
           FROM intake.codes
          GROUP BY codes.code_folded) o ON ((o.code_folded = u.code_folded)));

COMMENT ON VIEW bi.code_use_daily IS 'Orders that carry a code, one row per day and code. Cancelled orders, tests, and codes that contain an e-mail address are left out. The command `leaks` judges these figures. As of the last refresh. Answers: Which codes are used without a link more than before?';

COMMENT ON COLUMN bi.code_use_daily.day_utc IS 'Day of the orders, in UTC. With code, the key of the row.';

COMMENT ON COLUMN bi.code_use_daily.code IS 'The code in lower case and without blanks.';

COMMENT ON COLUMN bi.code_use_daily.deal_id IS 'Deal that owns the code, if any; of several owners the first by id.';

COMMENT ON COLUMN bi.code_use_daily.influencer_handle IS 'Influencer who owns the code, if known.';

COMMENT ON COLUMN bi.code_use_daily.orders IS 'Orders that carry the code.';

COMMENT ON COLUMN bi.code_use_daily.orders_without_link IS 'Of those: orders without a link, so that only the code leads to a creator. Many of them at once may mean that the code has leaked.';

CREATE TABLE intake.order_claims (
    job text NOT NULL,
    source text NOT NULL,
    order_id text NOT NULL,
    place integer NOT NULL,
    kind text NOT NULL,
    written text NOT NULL,
    target text NOT NULL,
    influencer_handle text,
    deal_id text,
    collab_id text,
    CONSTRAINT explicit_stands_first CHECK (((kind = 'explicit'::text) = (place = 0))),
    CONSTRAINT order_claims_kind_check CHECK ((kind = ANY (ARRAY['explicit'::text, 'link'::text, 'code'::text]))),
    CONSTRAINT order_claims_place_check CHECK ((place >= 0))
);

COMMENT ON TABLE intake.order_claims IS 'Owners whom the evidence of an order names, for orders that name more than one; replaced when the order is decided about again. Orders that are not credited to anybody are left out, unless because of it.';

COMMENT ON COLUMN intake.order_claims.job IS 'Job that decided.';

COMMENT ON COLUMN intake.order_claims.source IS 'Source of the order.';

COMMENT ON COLUMN intake.order_claims.order_id IS 'The order.';

COMMENT ON COLUMN intake.order_claims.place IS 'Where it stands: 0 what the export names, then links and then codes, in the order of the export. Of one code with two owners both have one place.';

COMMENT ON COLUMN intake.order_claims.kind IS 'explicit (columns of the export), link or code.';

COMMENT ON COLUMN intake.order_claims.written IS 'The name, link or code as the export writes it; e-mail addresses masked.';

COMMENT ON COLUMN intake.order_claims.target IS 'Deal, else collaboration, else handle, as in intake.attributions.';

COMMENT ON COLUMN intake.order_claims.influencer_handle IS 'Influencer, where codes.csv or the export says.';

COMMENT ON COLUMN intake.order_claims.deal_id IS 'Deal.';

COMMENT ON COLUMN intake.order_claims.collab_id IS 'Collaboration.';

CREATE TABLE reporting.conflicts (
    job text NOT NULL,
    source text NOT NULL,
    order_id text NOT NULL,
    ordered_at timestamp with time zone NOT NULL,
    day_utc date NOT NULL,
    conflict text NOT NULL,
    currency text NOT NULL,
    amount numeric(18,4),
    disposition text NOT NULL,
    target text,
    first_target text,
    last_target text,
    explicit_target text,
    CONSTRAINT conflicts_conflict_check CHECK ((conflict = ANY (ARRAY['named'::text, 'link_and_code'::text, 'codes'::text, 'links'::text]))),
    CONSTRAINT conflicts_disposition_check CHECK ((disposition = ANY (ARRAY['accepted'::text, 'ready'::text, 'rejected'::text, 'in_doubt'::text, 'held'::text])))
);

COMMENT ON TABLE reporting.conflicts IS 'Orders of intake.order_claims, one row each, as of the last refresh. Orders that are not credited to anybody are left out, unless they are held.';

COMMENT ON COLUMN reporting.conflicts.job IS 'Job that decided.';

COMMENT ON COLUMN reporting.conflicts.source IS 'Source of the order.';

COMMENT ON COLUMN reporting.conflicts.order_id IS 'The order.';

COMMENT ON COLUMN reporting.conflicts.ordered_at IS 'As in order_dispositions.';

COMMENT ON COLUMN reporting.conflicts.day_utc IS 'Day of ordered_at in UTC.';

COMMENT ON COLUMN reporting.conflicts.conflict IS 'named (the export names one owner, and a code or link another), link_and_code, codes or links.';

COMMENT ON COLUMN reporting.conflicts.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.conflicts.amount IS 'Revenue as sent, or else by the job''s rule, in currency. Null: unknown.';

COMMENT ON COLUMN reporting.conflicts.disposition IS 'As in order_dispositions.';

COMMENT ON COLUMN reporting.conflicts.target IS 'Who is credited, as in order_dispositions.';

COMMENT ON COLUMN reporting.conflicts.first_target IS 'Owner of the first link or code. Null: it has two owners.';

COMMENT ON COLUMN reporting.conflicts.last_target IS 'Owner of the last link or code. Null: it has two owners.';

COMMENT ON COLUMN reporting.conflicts.explicit_target IS 'Owner whom the export names. Null: it names nobody.';

CREATE TABLE reporting.order_dispositions (
    job text CONSTRAINT order_standings_job_not_null NOT NULL,
    source text CONSTRAINT order_standings_source_not_null NOT NULL,
    order_id text CONSTRAINT order_standings_order_id_not_null NOT NULL,
    order_version_id bigint CONSTRAINT order_standings_order_version_id_not_null NOT NULL,
    entry_id bigint,
    ordered_at timestamp with time zone CONSTRAINT order_standings_ordered_at_not_null NOT NULL,
    day_utc date CONSTRAINT order_standings_day_utc_not_null NOT NULL,
    disposition text CONSTRAINT order_standings_standing_not_null NOT NULL,
    disposition_reason text,
    disposition_at timestamp with time zone CONSTRAINT order_standings_standing_at_not_null NOT NULL,
    is_open boolean CONSTRAINT order_standings_is_open_not_null NOT NULL,
    matched_by text,
    matched_value text,
    target text,
    brand_id text,
    deal_id text,
    collab_id text,
    influencer_handle text,
    currency text CONSTRAINT order_standings_currency_not_null NOT NULL,
    amount numeric(18,4),
    CONSTRAINT order_dispositions_disposition_check CHECK ((disposition = ANY (ARRAY['accepted'::text, 'ready'::text, 'rejected'::text, 'in_doubt'::text, 'held'::text, 'excluded'::text, 'unattributed'::text, 'organic'::text, 'unaccounted'::text])))
)
WITH (fillfactor='90');

COMMENT ON TABLE reporting.order_dispositions IS 'The disposition of each order of each job, as of the last refresh.';

COMMENT ON COLUMN reporting.order_dispositions.job IS 'Job that decided about the order.';

COMMENT ON COLUMN reporting.order_dispositions.source IS 'Source of the order.';

COMMENT ON COLUMN reporting.order_dispositions.order_id IS 'Identity at the shop platform.';

COMMENT ON COLUMN reporting.order_dispositions.order_version_id IS 'Version of the order in force.';

COMMENT ON COLUMN reporting.order_dispositions.entry_id IS 'Entry of the ledger, if the disposition follows from it.';

COMMENT ON COLUMN reporting.order_dispositions.ordered_at IS 'When it was placed, else paid, else first read.';

COMMENT ON COLUMN reporting.order_dispositions.day_utc IS 'Day of ordered_at in UTC.';

COMMENT ON COLUMN reporting.order_dispositions.disposition IS 'accepted, ready, rejected, in_doubt, held, excluded, unattributed, organic, unaccounted (never, unless by a bug).';

COMMENT ON COLUMN reporting.order_dispositions.disposition_reason IS 'Why, for rejected, in_doubt, held, excluded, unattributed.';

COMMENT ON COLUMN reporting.order_dispositions.disposition_at IS 'Since when: the entry''s last change, else the decision of the job.';

COMMENT ON COLUMN reporting.order_dispositions.is_open IS 'May change without another decision about its file: each refresh checks it.';

COMMENT ON COLUMN reporting.order_dispositions.matched_by IS 'What named the influencer: explicit, code, link.';

COMMENT ON COLUMN reporting.order_dispositions.matched_value IS 'The code or link that matched, or those that did not; e-mail addresses masked.';

COMMENT ON COLUMN reporting.order_dispositions.target IS 'deal:, collab: or handle:, and the owner of the order; null without an owner.';

COMMENT ON COLUMN reporting.order_dispositions.brand_id IS 'Brand.';

COMMENT ON COLUMN reporting.order_dispositions.deal_id IS 'Deal that the service credited, else the one it is attributed to.';

COMMENT ON COLUMN reporting.order_dispositions.collab_id IS 'Collaboration, in the same order.';

COMMENT ON COLUMN reporting.order_dispositions.influencer_handle IS 'Influencer.';

COMMENT ON COLUMN reporting.order_dispositions.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.order_dispositions.amount IS 'Revenue as sent, or else by the job''s rule, in currency. Null: unknown.';

CREATE VIEW bi.conflicts AS
 SELECT k.job,
    k.source,
    k.order_id,
    k.ordered_at,
    k.day_utc,
    k.conflict,
    reporting.without_addresses(c.evidence) AS evidence,
    c.is_same_creator,
    k.currency,
    k.amount,
    k.disposition,
    s.disposition_reason,
    s.matched_by,
    k.target,
    reporting.without_addresses(COALESCE(s.influencer_handle, ( SELECT m.influencer_handle
           FROM mirror.deal_versions m
          WHERE ((m.deal_id = s.deal_id) AND m.is_latest)))) AS influencer_handle,
    k.first_target,
        CASE
            WHEN (k.first_target IS NOT NULL) THEN reporting.without_addresses(c.handles[(c.named + 1)])
            ELSE NULL::text
        END AS first_influencer_handle,
    k.last_target,
        CASE
            WHEN (k.last_target IS NOT NULL) THEN reporting.without_addresses(c.handles[c.claims])
            ELSE NULL::text
        END AS last_influencer_handle,
    k.explicit_target,
    reporting.without_addresses(c.explicit_handle) AS explicit_influencer_handle
   FROM ((reporting.conflicts k
     LEFT JOIN reporting.order_dispositions s ON (((s.job = k.job) AND (s.source = k.source) AND (s.order_id = k.order_id))))
     LEFT JOIN LATERAL ( SELECT string_agg(((claims.kind || ' '::text) || claims.written), ', '::text ORDER BY claims.place, claims.target) AS evidence,
                CASE
                    WHEN (count(*) = count(claims.handle)) THEN (min(ledger.fold_handle(claims.handle)) = max(ledger.fold_handle(claims.handle)))
                    ELSE NULL::boolean
                END AS is_same_creator,
            (count(*))::integer AS claims,
            (count(*) FILTER (WHERE (claims.place = 0)))::integer AS named,
            array_agg(claims.handle ORDER BY claims.place, claims.target) AS handles,
            min(claims.handle) FILTER (WHERE (claims.place = 0)) AS explicit_handle
           FROM ( SELECT c_1.job,
                    c_1.source,
                    c_1.order_id,
                    c_1.place,
                    c_1.kind,
                    c_1.written,
                    c_1.target,
                    c_1.influencer_handle,
                    c_1.deal_id,
                    c_1.collab_id,
                    COALESCE(c_1.influencer_handle, ( SELECT m.influencer_handle
                           FROM mirror.deal_versions m
                          WHERE ((m.deal_id = reporting.deal_id_of(c_1.deal_id)) AND m.is_latest))) AS handle
                   FROM intake.order_claims c_1
                  WHERE ((c_1.job = k.job) AND (c_1.source = k.source) AND (c_1.order_id = k.order_id))
                 OFFSET 0) claims) c ON (true));

COMMENT ON VIEW bi.conflicts IS 'Orders with evidence for more than one owner, one row per order: who is credited, and who would be credited by other rules. It changes no decision. As of the last refresh. Answers: Which orders carry evidence for two creators? How much revenue would other rules move?';

COMMENT ON COLUMN bi.conflicts.job IS 'Job that decided about the order.';

COMMENT ON COLUMN bi.conflicts.source IS 'Source in the configuration. With job and order_id, the key of the row.';

COMMENT ON COLUMN bi.conflicts.order_id IS 'Order, see bi.orders.';

COMMENT ON COLUMN bi.conflicts.ordered_at IS 'When it was ordered.';

COMMENT ON COLUMN bi.conflicts.day_utc IS 'Day of ordered_at in UTC.';

COMMENT ON COLUMN bi.conflicts.conflict IS 'Kind of conflict: named (the export names one owner, and a code or link another), link_and_code, codes or links.';

COMMENT ON COLUMN bi.conflicts.evidence IS 'The owned codes, links and names of the order, in the assumed order of time: names of the export, links, codes.';

COMMENT ON COLUMN bi.conflicts.is_same_creator IS 'Whether all the evidence belongs to deals of one creator. Null: the creator of one deal is unknown.';

COMMENT ON COLUMN bi.conflicts.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.conflicts.amount IS 'Revenue, in currency. Null: unknown, which is not 0.';

COMMENT ON COLUMN bi.conflicts.disposition IS 'Disposition of the order, see bi.orders_attributed.';

COMMENT ON COLUMN bi.conflicts.disposition_reason IS 'Why it is held, if it is.';

COMMENT ON COLUMN bi.conflicts.matched_by IS 'What decided who is credited: explicit, code or link. Null: nothing.';

COMMENT ON COLUMN bi.conflicts.target IS 'Who is credited: deal:<id>, collab:<id> or handle:<name>. Null: no one, because the order is held.';

COMMENT ON COLUMN bi.conflicts.influencer_handle IS 'Creator who is credited, if known.';

COMMENT ON COLUMN bi.conflicts.first_target IS 'Who would be credited if the first link or code counted. Links come before codes, because a visit comes before the checkout, and otherwise in the order of the export. Null: it has two owners.';

COMMENT ON COLUMN bi.conflicts.first_influencer_handle IS 'Creator of first_target, if known.';

COMMENT ON COLUMN bi.conflicts.last_target IS 'Who would be credited if the last link or code counted. Null: it has two owners.';

COMMENT ON COLUMN bi.conflicts.last_influencer_handle IS 'Creator of last_target, if known.';

COMMENT ON COLUMN bi.conflicts.explicit_target IS 'Who would be credited if only the name in the export counted. Null: it names no one.';

COMMENT ON COLUMN bi.conflicts.explicit_influencer_handle IS 'Creator of explicit_target, if known.';

CREATE TABLE intake.creators (
    creator_id bigint NOT NULL,
    source text NOT NULL,
    handle_folded text NOT NULL,
    platform text NOT NULL,
    brand_id text NOT NULL,
    dealflow_id text NOT NULL,
    influencer_handle text NOT NULL,
    stated_deal_id text,
    stage integer,
    is_active boolean,
    note text,
    code text,
    code_percent numeric,
    commission_percent numeric,
    custom_link text,
    custom_link_target text,
    source_file_id bigint NOT NULL,
    line_no bigint NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    stated_at timestamp with time zone DEFAULT now() NOT NULL,
    job text,
    outcome text,
    reason text,
    deal_id text,
    deal_key text,
    note_key text,
    differing_terms text[] DEFAULT '{}'::text[] NOT NULL,
    decided_at timestamp with time zone,
    looked_up_at timestamp with time zone,
    found_deal_id text,
    stage_taken integer,
    is_active_taken boolean,
    update_problem text,
    also_stated_by bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    contradicted_by bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT creators_code_percent_check CHECK (((code_percent >= (0)::numeric) AND (code_percent <= (100)::numeric))),
    CONSTRAINT creators_commission_percent_check CHECK (((commission_percent >= (0)::numeric) AND (commission_percent <= (100)::numeric))),
    CONSTRAINT creators_handle_folded_check CHECK ((handle_folded <> ''::text)),
    CONSTRAINT creators_outcome_check CHECK ((outcome = ANY (ARRAY['create'::text, 'known'::text, 'held'::text, 'superseded'::text]))),
    CONSTRAINT creators_that_create_nothing_say_why CHECK (((outcome IS NULL) OR ((outcome = ANY (ARRAY['held'::text, 'superseded'::text])) = (reason IS NOT NULL)))),
    CONSTRAINT known_creators_have_a_deal CHECK (((outcome <> 'known'::text) OR (deal_id IS NOT NULL)))
);

COMMENT ON TABLE intake.creators IS 'One row for each creator, platform, brand and dealflow of a source, with what the newest list states, and the result. Names, e-mail addresses, phone numbers and postal addresses are never read.';

COMMENT ON COLUMN intake.creators.creator_id IS 'Counts up.';

COMMENT ON COLUMN intake.creators.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.creators.handle_folded IS 'Handle in a form that all spellings share.';

COMMENT ON COLUMN intake.creators.platform IS 'instagram, tiktok, youtube, or another word of the list.';

COMMENT ON COLUMN intake.creators.brand_id IS 'Brand that the row names; empty: that of the job.';

COMMENT ON COLUMN intake.creators.dealflow_id IS 'Dealflow that the row names; empty: that of the job.';

COMMENT ON COLUMN intake.creators.influencer_handle IS 'Handle as written, without @.';

COMMENT ON COLUMN intake.creators.stated_deal_id IS 'Deal that the row itself names.';

COMMENT ON COLUMN intake.creators.stage IS 'Stage that the deal should be in.';

COMMENT ON COLUMN intake.creators.is_active IS 'Whether the deal should be active.';

COMMENT ON COLUMN intake.creators.note IS 'Note for the deal page. E-mail addresses in it are masked.';

COMMENT ON COLUMN intake.creators.code IS 'Discount code.';

COMMENT ON COLUMN intake.creators.code_percent IS 'Discount in percent.';

COMMENT ON COLUMN intake.creators.commission_percent IS 'Commission in percent.';

COMMENT ON COLUMN intake.creators.custom_link IS 'Affiliate link.';

COMMENT ON COLUMN intake.creators.custom_link_target IS 'Where the link leads.';

COMMENT ON COLUMN intake.creators.source_file_id IS 'File that states it.';

COMMENT ON COLUMN intake.creators.line_no IS 'Physical line of its last row in that file.';

COMMENT ON COLUMN intake.creators.first_seen_at IS 'When a file first stated it.';

COMMENT ON COLUMN intake.creators.stated_at IS 'When a file last stated it. Of two rows about one creator, the one stated last counts.';

COMMENT ON COLUMN intake.creators.job IS 'Job that decided; null before the first decision.';

COMMENT ON COLUMN intake.creators.outcome IS 'create (no deal was known, so one is created); known (has a deal); held; superseded (a newer row states the same creator).';

COMMENT ON COLUMN intake.creators.reason IS 'Why it is held or superseded.';

COMMENT ON COLUMN intake.creators.deal_id IS 'The creator''s deal, once it is known.';

COMMENT ON COLUMN intake.creators.deal_key IS 'Idempotency key of create_deal: handle, platform, brand, dealflow.';

COMMENT ON COLUMN intake.creators.note_key IS 'Idempotency key of the note: deal and digest of the text.';

COMMENT ON COLUMN intake.creators.differing_terms IS 'Terms that the service has otherwise, and that no operation changes: code, code_percent, commission_percent, custom_link, custom_link_target.';

COMMENT ON COLUMN intake.creators.decided_at IS 'When it was decided.';

COMMENT ON COLUMN intake.creators.looked_up_at IS 'When the service was asked for a deal of this handle; null: not yet.';

COMMENT ON COLUMN intake.creators.found_deal_id IS 'Deal that it then answered with, whatever its platform and brand.';

COMMENT ON COLUMN intake.creators.stage_taken IS 'Stage that the service took last for this deal.';

COMMENT ON COLUMN intake.creators.is_active_taken IS 'Active status that the service took last for this deal.';

COMMENT ON COLUMN intake.creators.update_problem IS 'Why the service refused the stage or the status last; null: it did not.';

COMMENT ON COLUMN intake.creators.also_stated_by IS 'Other files that state the same, and of which nothing says whether they are older.';

COMMENT ON COLUMN intake.creators.contradicted_by IS 'Files that state something else, and of which nothing says whether they are newer. While one of them is held, so is the creator.';

CREATE VIEW bi.creators_imported AS
 SELECT c.creator_id,
    c.source,
    c.influencer_handle,
    c.platform,
    COALESCE(e.brand_id, NULLIF(c.brand_id, ''::text)) AS brand_id,
    COALESCE((e.details ->> 'dealflow'::text), NULLIF(c.dealflow_id, ''::text)) AS dealflow_id,
        CASE
            WHEN (c.outcome <> 'create'::text) THEN c.outcome
            ELSE
            CASE e.state
                WHEN 'accepted'::text THEN 'created'::text
                WHEN 'sending'::text THEN 'in_doubt'::text
                WHEN 'rejected'::text THEN 'refused'::text
                WHEN 'ready'::text THEN 'to_create'::text
                ELSE COALESCE(e.state, 'to_create'::text)
            END
        END AS state,
    COALESCE(c.reason, e.state_reason) AS state_reason,
    reporting.deal_id_of(c.deal_id) AS deal_id,
    c.stage AS stated_stage,
    c.stage_taken,
    c.is_active AS is_stated_active,
    c.is_active_taken,
    c.code,
    c.code_percent,
    c.commission_percent,
    c.custom_link,
    c.custom_link_target,
    NULLIF(array_to_string(c.differing_terms, ', '::text), ''::text) AS differing_terms,
    c.update_problem,
    c.job,
    c.source_file_id,
    c.line_no,
    c.first_seen_at,
    c.stated_at
   FROM (intake.creators c
     LEFT JOIN ledger.entries e ON (((e.effect = 'create_deal'::text) AND (e.key = c.deal_key) AND (c.outcome = 'create'::text))));

COMMENT ON VIEW bi.creators_imported IS 'Creators as the lists state them now, one row per creator, platform, brand and dealflow, with their deals. Live. Answers: Which creators of the lists have no deal yet? Which deals have terms that differ from the list?';

COMMENT ON COLUMN bi.creators_imported.creator_id IS 'Key of the row. Counts up.';

COMMENT ON COLUMN bi.creators_imported.source IS 'Source in the configuration.';

COMMENT ON COLUMN bi.creators_imported.influencer_handle IS 'Handle as the list writes it, without @.';

COMMENT ON COLUMN bi.creators_imported.platform IS 'instagram, tiktok, youtube, or another word of the list.';

COMMENT ON COLUMN bi.creators_imported.brand_id IS 'Brand that the row or the request names; null: the one of the job.';

COMMENT ON COLUMN bi.creators_imported.dealflow_id IS 'Dealflow that the row or the request names; null: the one of the job.';

COMMENT ON COLUMN bi.creators_imported.state IS 'created, known (had a deal), to_create, refused, in_doubt, written_off, held, superseded (a newer row states the same creator); null: not decided yet.';

COMMENT ON COLUMN bi.creators_imported.state_reason IS 'Why, if that needs a reason.';

COMMENT ON COLUMN bi.creators_imported.deal_id IS 'Deal of the creator, once it is known.';

COMMENT ON COLUMN bi.creators_imported.stated_stage IS 'Stage that the list states.';

COMMENT ON COLUMN bi.creators_imported.stage_taken IS 'Stage that the service last accepted.';

COMMENT ON COLUMN bi.creators_imported.is_stated_active IS 'Whether the list states that the deal is active.';

COMMENT ON COLUMN bi.creators_imported.is_active_taken IS 'Active status that the service last accepted.';

COMMENT ON COLUMN bi.creators_imported.code IS 'Discount code that the list states.';

COMMENT ON COLUMN bi.creators_imported.code_percent IS 'Discount in percent.';

COMMENT ON COLUMN bi.creators_imported.commission_percent IS 'Commission in percent.';

COMMENT ON COLUMN bi.creators_imported.custom_link IS 'Affiliate link.';

COMMENT ON COLUMN bi.creators_imported.custom_link_target IS 'Where the link leads.';

COMMENT ON COLUMN bi.creators_imported.differing_terms IS 'Terms in which the deal differs, separated by commas.';

COMMENT ON COLUMN bi.creators_imported.update_problem IS 'Why the service last refused the stage or the status.';

COMMENT ON COLUMN bi.creators_imported.job IS 'Job that decided.';

COMMENT ON COLUMN bi.creators_imported.source_file_id IS 'List that states it.';

COMMENT ON COLUMN bi.creators_imported.line_no IS 'Line of its last row in that file.';

COMMENT ON COLUMN bi.creators_imported.first_seen_at IS 'When a list first stated it.';

COMMENT ON COLUMN bi.creators_imported.stated_at IS 'When a list last stated it.';

CREATE TABLE ops.credit_claims (
    claim_id bigint NOT NULL,
    claim_key text NOT NULL,
    creator text NOT NULL,
    creator_folded text NOT NULL,
    order_id text,
    amount numeric(18,4),
    currency text,
    claimed_on date,
    code text,
    deadline_on date,
    file_name text,
    line_no integer,
    state text DEFAULT 'open'::text NOT NULL,
    added_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    added_by text NOT NULL,
    answer text,
    explanation text,
    reply text,
    credited_amount numeric(18,4),
    credited_currency text,
    statement_month date,
    answered_at timestamp with time zone,
    answered_by text,
    closed_at timestamp with time zone,
    closed_by text,
    close_reason text,
    found_source text,
    found_order_id text,
    CONSTRAINT a_claim_names_an_order CHECK (((order_id IS NOT NULL) OR ((amount IS NOT NULL) AND (claimed_on IS NOT NULL)))),
    CONSTRAINT a_found_order_has_its_id CHECK (((found_source IS NULL) OR (found_order_id IS NOT NULL))),
    CONSTRAINT an_amount_has_its_currency CHECK ((((amount IS NULL) = (currency IS NULL)) AND ((credited_amount IS NULL) = (credited_currency IS NULL)))),
    CONSTRAINT an_answer_is_kept_once_given CHECK (
CASE state
    WHEN 'open'::text THEN (answer IS NULL)
    WHEN 'withdrawn'::text THEN true
    ELSE (answer IS NOT NULL)
END),
    CONSTRAINT an_answer_is_whole CHECK ((num_nulls(answer, explanation, reply, answered_at, answered_by) = ANY (ARRAY[0, 5]))),
    CONSTRAINT credit_claims_added_by_check CHECK ((added_by <> ''::text)),
    CONSTRAINT credit_claims_answer_check CHECK ((answer ~ '^[a-z][a-z_]{0,40}$'::text)),
    CONSTRAINT credit_claims_answered_by_check CHECK ((answered_by <> ''::text)),
    CONSTRAINT credit_claims_close_reason_check CHECK ((close_reason <> ''::text)),
    CONSTRAINT credit_claims_closed_by_check CHECK ((closed_by <> ''::text)),
    CONSTRAINT credit_claims_creator_check CHECK ((creator <> ''::text)),
    CONSTRAINT credit_claims_creator_folded_check CHECK ((creator_folded <> ''::text)),
    CONSTRAINT credit_claims_credited_currency_check CHECK ((credited_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT credit_claims_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT credit_claims_line_no_check CHECK ((line_no > 0)),
    CONSTRAINT credit_claims_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'upheld'::text, 'rejected'::text, 'withdrawn'::text]))),
    CONSTRAINT who_closed_it_says_why CHECK ((((state = ANY (ARRAY['upheld'::text, 'rejected'::text, 'withdrawn'::text])) = (closed_at IS NOT NULL)) AND (num_nulls(closed_at, closed_by, close_reason) = ANY (ARRAY[0, 3]))))
);

COMMENT ON TABLE ops.credit_claims IS 'Orders that creators and agencies say were not credited. A claim never credits an order: it is answered, and its answer names the act. Not the claims of the ledger, which are attempts to send an entry.';

COMMENT ON COLUMN ops.credit_claims.claim_id IS 'Counts up.';

COMMENT ON COLUMN ops.credit_claims.claim_key IS 'Equal for lines that are one claim: the creator and the order, else the amount, currency, day and code.';

COMMENT ON COLUMN ops.credit_claims.creator IS 'Handle or deal of the creator, as written.';

COMMENT ON COLUMN ops.credit_claims.creator_folded IS 'The same, folded for comparison.';

COMMENT ON COLUMN ops.credit_claims.order_id IS 'Order that is claimed, as written. Null: it is named by amount and day.';

COMMENT ON COLUMN ops.credit_claims.amount IS 'Amount of the order as claimed, in currency. Null: the claim does not say it.';

COMMENT ON COLUMN ops.credit_claims.currency IS 'ISO 4217. Null only without an amount.';

COMMENT ON COLUMN ops.credit_claims.claimed_on IS 'Day of the order as claimed, in the time zone of the statements.';

COMMENT ON COLUMN ops.credit_claims.code IS 'Discount code as claimed.';

COMMENT ON COLUMN ops.credit_claims.deadline_on IS 'Day by which an answer is due.';

COMMENT ON COLUMN ops.credit_claims.file_name IS 'File that the claim came in. Null: the form of the console.';

COMMENT ON COLUMN ops.credit_claims.line_no IS 'Line of the file.';

COMMENT ON COLUMN ops.credit_claims.state IS 'open: its answer is decided anew whenever it is read. answered: the answer is kept. upheld, rejected, withdrawn: closed by a person.';

COMMENT ON COLUMN ops.credit_claims.added_at IS 'When it was added.';

COMMENT ON COLUMN ops.credit_claims.added_by IS 'Who added it.';

COMMENT ON COLUMN ops.credit_claims.answer IS 'Machine name of the answer that was given, for example credited or held. Null while it is open.';

COMMENT ON COLUMN ops.credit_claims.explanation IS 'The answer with its proof, for people of the brand.';

COMMENT ON COLUMN ops.credit_claims.reply IS 'The answer for the creator: it names no other creator.';

COMMENT ON COLUMN ops.credit_claims.credited_amount IS 'Revenue that was credited to the creator for the order, in credited_currency.';

COMMENT ON COLUMN ops.credit_claims.credited_currency IS 'ISO 4217.';

COMMENT ON COLUMN ops.credit_claims.statement_month IS 'First day of the month of the first closed statement that counts the order. Null: none yet.';

COMMENT ON COLUMN ops.credit_claims.answered_at IS 'When the answer was given.';

COMMENT ON COLUMN ops.credit_claims.answered_by IS 'Who gave it.';

COMMENT ON COLUMN ops.credit_claims.closed_at IS 'When a person closed it.';

COMMENT ON COLUMN ops.credit_claims.closed_by IS 'Who closed it.';

COMMENT ON COLUMN ops.credit_claims.close_reason IS 'Why it was upheld, rejected or withdrawn.';

COMMENT ON COLUMN ops.credit_claims.found_source IS 'Source of the order that the answer is about. Null: the claim is open, none was found, or only the ledger knows it.';

COMMENT ON COLUMN ops.credit_claims.found_order_id IS 'Order that the answer is about, as its source names it. Null: the claim is open, none was found, or it was answered before this was kept.';

CREATE VIEW bi.credit_claims AS
 SELECT (claim_id)::text AS claim_id,
    reporting.without_addresses(creator) AS influencer_handle,
    order_id,
    amount,
    currency,
    claimed_on AS claimed_local,
    code,
    deadline_on AS deadline_local,
    state,
    answer,
    credited_amount,
    credited_currency,
    statement_month AS statement_month_local,
    added_at,
    answered_at,
    closed_at,
    ((found_order_id IS NOT NULL) AND (row_number() OVER (PARTITION BY answer, found_source, found_order_id ORDER BY credit_claims.claim_id) > 1)) AS is_repeated
   FROM ops.credit_claims;

COMMENT ON VIEW bi.credit_claims IS 'Orders that creators and agencies say were not credited, one row per claim, with the answer that was given. Live. Answers: Which claims of creators wait for an answer? What were claims answered?';

COMMENT ON COLUMN bi.credit_claims.claim_id IS 'Key of the row.';

COMMENT ON COLUMN bi.credit_claims.influencer_handle IS 'Handle or deal of the creator, as the claim writes it.';

COMMENT ON COLUMN bi.credit_claims.order_id IS 'Order as the claim writes it. Null: it is named by amount and day.';

COMMENT ON COLUMN bi.credit_claims.amount IS 'Amount of the order as claimed, in currency. Null: the claim does not say it.';

COMMENT ON COLUMN bi.credit_claims.currency IS 'ISO 4217. Null without an amount. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.credit_claims.claimed_local IS 'Day of the order as claimed, in the time zone of the statements.';

COMMENT ON COLUMN bi.credit_claims.code IS 'Discount code as claimed.';

COMMENT ON COLUMN bi.credit_claims.deadline_local IS 'Day by which an answer is due. Null: none was set.';

COMMENT ON COLUMN bi.credit_claims.state IS 'open, answered, upheld, rejected or withdrawn.';

COMMENT ON COLUMN bi.credit_claims.answer IS 'The answer that was given, for example credited or excluded. Null while the claim is open: its answer is decided whenever `claims` shows it.';

COMMENT ON COLUMN bi.credit_claims.credited_amount IS 'Revenue that is credited to the creator for the order, in credited_currency. Null: nothing, or the claim is open.';

COMMENT ON COLUMN bi.credit_claims.credited_currency IS 'ISO 4217.';

COMMENT ON COLUMN bi.credit_claims.statement_month_local IS 'First day of the month of the first closed statement that counts the order. Null: none, or the claim is open.';

COMMENT ON COLUMN bi.credit_claims.added_at IS 'When the claim was added.';

COMMENT ON COLUMN bi.credit_claims.answered_at IS 'When it was answered.';

COMMENT ON COLUMN bi.credit_claims.closed_at IS 'When a person upheld, rejected or withdrew it.';

COMMENT ON COLUMN bi.credit_claims.is_repeated IS 'True: an earlier claim of the same order, by another of its names or of its creator, got the same answer. Leave these rows out of sums.';

CREATE VIEW reporting.code_owners AS
 SELECT deal_id,
        CASE
            WHEN (min(handle_folded) = max(handle_folded)) THEN min(influencer_handle)
            ELSE NULL::text
        END AS influencer_handle
   FROM intake.codes
  WHERE ((deal_id IS NOT NULL) AND (handle_folded <> ''::text))
  GROUP BY deal_id;

COMMENT ON VIEW reporting.code_owners IS 'The creator whom the codes and links of a deal name. Live.';

COMMENT ON COLUMN reporting.code_owners.deal_id IS 'Deal that a code or link is assigned to.';

COMMENT ON COLUMN reporting.code_owners.influencer_handle IS 'Creator. Null: they name several.';

CREATE VIEW reporting.deal_owners AS
 SELECT d.deal_id,
    COALESCE(NULLIF(d.influencer_handle, ''::text), c.influencer_handle) AS influencer_handle
   FROM (mirror.deal_versions d
     LEFT JOIN reporting.code_owners c USING (deal_id))
  WHERE d.is_latest
UNION ALL
 SELECT c.deal_id,
    c.influencer_handle
   FROM reporting.code_owners c
  WHERE (NOT (EXISTS ( SELECT
           FROM mirror.deal_versions d
          WHERE ((d.deal_id = c.deal_id) AND d.is_latest))));

COMMENT ON VIEW reporting.deal_owners IS 'The creator who has a deal now: by the mirror, otherwise by the codes that are assigned to the deal. Live.';

COMMENT ON COLUMN reporting.deal_owners.deal_id IS 'Deal that the mirror has read or that a code or link is assigned to.';

COMMENT ON COLUMN reporting.deal_owners.influencer_handle IS 'Creator. Null: unknown, or its codes name several.';

CREATE TABLE reporting.return_months (
    month_utc date NOT NULL,
    deal_id text NOT NULL,
    brand_id text NOT NULL,
    currency text NOT NULL,
    influencer_handle text,
    orders bigint NOT NULL,
    sent_amount numeric(24,4) NOT NULL,
    net_amount numeric(24,4) NOT NULL,
    commission_amount numeric(24,4) NOT NULL,
    unrated_orders bigint NOT NULL,
    new_customers bigint NOT NULL,
    returning_orders bigint NOT NULL,
    unknown_orders bigint NOT NULL,
    repeat_customers bigint NOT NULL,
    net_30_amount numeric(24,4),
    net_90_amount numeric(24,4),
    net_365_amount numeric(24,4),
    last_won_at timestamp with time zone,
    fee_amount numeric(18,4) DEFAULT 0 NOT NULL,
    net_converted numeric DEFAULT 0 NOT NULL,
    commission_converted numeric DEFAULT 0 NOT NULL,
    fee_converted numeric,
    unconverted_orders bigint DEFAULT 0 NOT NULL,
    unlined_orders bigint DEFAULT 0 NOT NULL,
    unvalued_orders bigint DEFAULT 0 NOT NULL,
    CONSTRAINT return_months_orders_check CHECK ((orders > 0))
);

COMMENT ON TABLE reporting.return_months IS 'What accepted orders of a deal came to, and the customers whose first order they are, one row a month, deal, brand and currency.';

COMMENT ON COLUMN reporting.return_months.month_utc IS 'First day of the month of the orders, in UTC.';

COMMENT ON COLUMN reporting.return_months.deal_id IS 'Deal that the service credited.';

COMMENT ON COLUMN reporting.return_months.brand_id IS 'Brand; empty where it is unknown.';

COMMENT ON COLUMN reporting.return_months.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.return_months.influencer_handle IS 'Influencer, where an order names one.';

COMMENT ON COLUMN reporting.return_months.orders IS 'Orders that we posted and the service accepted.';

COMMENT ON COLUMN reporting.return_months.sent_amount IS 'Revenue as sent.';

COMMENT ON COLUMN reporting.return_months.net_amount IS 'Revenue net of refunds and cancellations.';

COMMENT ON COLUMN reporting.return_months.commission_amount IS 'Commission of orders whose rate is known, as in statements.';

COMMENT ON COLUMN reporting.return_months.unrated_orders IS 'Orders without a known rate: their commission is not in commission_amount.';

COMMENT ON COLUMN reporting.return_months.new_customers IS 'Orders that are the first known one of their customer.';

COMMENT ON COLUMN reporting.return_months.returning_orders IS 'Orders of customers who had ordered before.';

COMMENT ON COLUMN reporting.return_months.unknown_orders IS 'Orders of which it is unknown: without a key of the customer, or too soon after keys begin.';

COMMENT ON COLUMN reporting.return_months.repeat_customers IS 'Of new_customers: those who have ordered again since, whatever brought them.';

COMMENT ON COLUMN reporting.return_months.net_30_amount IS 'Net revenue of all orders of new_customers in this currency, in 30 days from the first. Null: there are none, or the amount of an order is unknown.';

COMMENT ON COLUMN reporting.return_months.net_90_amount IS 'The same, in 90 days.';

COMMENT ON COLUMN reporting.return_months.net_365_amount IS 'The same, in 365 days.';

COMMENT ON COLUMN reporting.return_months.last_won_at IS 'First order of the last of new_customers.';

COMMENT ON COLUMN reporting.return_months.fee_amount IS 'Fixed fees of the terms that begin in the month; of a deal with several brands, beside the first.';

COMMENT ON COLUMN reporting.return_months.net_converted IS 'net_amount in the reporting currency, each order at the rate of its day.';

COMMENT ON COLUMN reporting.return_months.commission_converted IS 'The same of commission_amount.';

COMMENT ON COLUMN reporting.return_months.fee_converted IS 'The same of fee_amount; null: unknown.';

COMMENT ON COLUMN reporting.return_months.unconverted_orders IS 'Orders in another currency for whose day no rate is known: they are in no converted amount.';

COMMENT ON COLUMN reporting.return_months.unlined_orders IS 'Orders whose terms exclude products, and of which it is unknown what was bought.';

COMMENT ON COLUMN reporting.return_months.unvalued_orders IS 'Orders whose net revenue is unknown, because what was refunded is: they are in no amount but sent_amount.';

CREATE VIEW bi.customer_cohorts AS
 SELECT r.month_utc,
    r.deal_id,
    COALESCE(reporting.without_addresses(w.influencer_handle), r.influencer_handle) AS influencer_handle,
    NULLIF(r.brand_id, ''::text) AS brand_id,
    r.currency,
    r.new_customers,
    r.repeat_customers,
        CASE
            WHEN ((r.last_won_at + '30 days'::interval) <= now()) THEN r.net_30_amount
            ELSE NULL::numeric
        END AS net_30_amount,
        CASE
            WHEN ((r.last_won_at + '90 days'::interval) <= now()) THEN r.net_90_amount
            ELSE NULL::numeric
        END AS net_90_amount,
        CASE
            WHEN ((r.last_won_at + '365 days'::interval) <= now()) THEN r.net_365_amount
            ELSE NULL::numeric
        END AS net_365_amount,
    r.unknown_orders
   FROM (reporting.return_months r
     LEFT JOIN reporting.deal_owners w ON ((w.deal_id = r.deal_id)))
  WHERE (r.new_customers > 0);

COMMENT ON VIEW bi.customer_cohorts IS 'Customers that a deal won in a month, and what they have ordered since, one row per month, deal, brand and currency. As of the last refresh. Answers: How much are the customers worth that a creator won? How many customers of a creator buy again?';

COMMENT ON COLUMN bi.customer_cohorts.month_utc IS 'First day of the month of their first orders, in UTC. With deal_id, brand_id and currency, the key of the row.';

COMMENT ON COLUMN bi.customer_cohorts.deal_id IS 'Deal to which the first order was credited.';

COMMENT ON COLUMN bi.customer_cohorts.influencer_handle IS 'Creator who has the deal, by the mirror or its codes, otherwise the one whom its orders name. Null: unknown, or several.';

COMMENT ON COLUMN bi.customer_cohorts.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.customer_cohorts.currency IS 'ISO 4217, of the first orders. Orders in other currencies are not added up.';

COMMENT ON COLUMN bi.customer_cohorts.new_customers IS 'Customers whose first known order was credited to the deal in the month.';

COMMENT ON COLUMN bi.customer_cohorts.repeat_customers IS 'Of those: customers who have ordered again, in any currency, with or without a creator.';

COMMENT ON COLUMN bi.customer_cohorts.net_30_amount IS 'Order totals less refunds in the 30 days from each first order, including that order, in currency. Null: the 30 days are not over for all customers, or the amount of an order is unknown.';

COMMENT ON COLUMN bi.customer_cohorts.net_90_amount IS 'The same, in 90 days.';

COMMENT ON COLUMN bi.customer_cohorts.net_365_amount IS 'The same, in 365 days.';

COMMENT ON COLUMN bi.customer_cohorts.unknown_orders IS 'Orders of the month for which it is unknown whether they won a customer.';

CREATE TABLE reporting.deal_days (
    day_utc date NOT NULL,
    target text NOT NULL,
    brand_id text,
    deal_id text,
    collab_id text,
    influencer_handle text,
    currency text NOT NULL,
    attributed_orders bigint NOT NULL,
    accepted_orders bigint NOT NULL,
    ready_orders bigint NOT NULL,
    in_doubt_orders bigint NOT NULL,
    held_orders bigint NOT NULL,
    rejected_orders bigint NOT NULL,
    attributed_amount numeric(24,4) NOT NULL,
    accepted_amount numeric(24,4) NOT NULL,
    in_doubt_amount numeric(24,4) NOT NULL
);

COMMENT ON TABLE reporting.deal_days IS 'Orders that are somebody''s, added up by day, deal (collaboration, handle), brand and currency.';

COMMENT ON COLUMN reporting.deal_days.day_utc IS 'Day in UTC.';

COMMENT ON COLUMN reporting.deal_days.target IS 'deal:, collab: or handle: and whose orders they are.';

COMMENT ON COLUMN reporting.deal_days.brand_id IS 'Brand.';

COMMENT ON COLUMN reporting.deal_days.deal_id IS 'Deal.';

COMMENT ON COLUMN reporting.deal_days.collab_id IS 'Collaboration, where the orders name one.';

COMMENT ON COLUMN reporting.deal_days.influencer_handle IS 'Influencer.';

COMMENT ON COLUMN reporting.deal_days.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.deal_days.attributed_orders IS 'All of them.';

COMMENT ON COLUMN reporting.deal_days.accepted_orders IS 'Accepted by the service.';

COMMENT ON COLUMN reporting.deal_days.ready_orders IS 'Orders that wait to be posted, or are in flight.';

COMMENT ON COLUMN reporting.deal_days.in_doubt_orders IS 'In doubt.';

COMMENT ON COLUMN reporting.deal_days.held_orders IS 'Held, or written off.';

COMMENT ON COLUMN reporting.deal_days.rejected_orders IS 'Refused by the service.';

COMMENT ON COLUMN reporting.deal_days.attributed_amount IS 'Revenue of all of them, in currency.';

COMMENT ON COLUMN reporting.deal_days.accepted_amount IS 'Revenue of the accepted ones, in currency.';

COMMENT ON COLUMN reporting.deal_days.in_doubt_amount IS 'Revenue of those in doubt, in currency.';

CREATE VIEW bi.deal_performance_daily AS
 SELECT d.day_utc,
    d.target,
    d.deal_id,
    d.collab_id,
    COALESCE(d.influencer_handle, m.influencer_handle) AS influencer_handle,
    m.platform,
    d.brand_id,
    d.currency,
    d.attributed_orders,
    d.accepted_orders,
    d.ready_orders,
    d.in_doubt_orders,
    d.held_orders,
    d.rejected_orders,
    d.attributed_amount,
    d.accepted_amount,
    d.in_doubt_amount
   FROM (reporting.deal_days d
     LEFT JOIN mirror.deal_versions m ON (((m.deal_id = d.deal_id) AND m.is_latest)));

COMMENT ON VIEW bi.deal_performance_daily IS 'What a deal earned on a day, one row per day, deal, brand and currency; days without orders have no row. Answers: Which deals earn the most? How did one deal perform day by day?';

COMMENT ON COLUMN bi.deal_performance_daily.day_utc IS 'Day of the orders in UTC.';

COMMENT ON COLUMN bi.deal_performance_daily.target IS 'Owner of the orders: deal:<id>, or else collab:<id> or handle:<name>. With day_utc, brand_id and currency, the key of the row.';

COMMENT ON COLUMN bi.deal_performance_daily.deal_id IS 'Deal, see bi.deals. Null for a handle whose deal only the service knows.';

COMMENT ON COLUMN bi.deal_performance_daily.collab_id IS 'Collaboration, if the orders name one.';

COMMENT ON COLUMN bi.deal_performance_daily.influencer_handle IS 'Influencer, according to the codes, or else the mirrored deal.';

COMMENT ON COLUMN bi.deal_performance_daily.platform IS 'Social platform of the influencer, if the deal is mirrored.';

COMMENT ON COLUMN bi.deal_performance_daily.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.deal_performance_daily.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.deal_performance_daily.attributed_orders IS 'Orders that are attributed to the deal, with any disposition.';

COMMENT ON COLUMN bi.deal_performance_daily.accepted_orders IS 'Of those: credited by the service.';

COMMENT ON COLUMN bi.deal_performance_daily.ready_orders IS 'Of those: ready to be sent.';

COMMENT ON COLUMN bi.deal_performance_daily.in_doubt_orders IS 'Of those: sent, but the answer was lost.';

COMMENT ON COLUMN bi.deal_performance_daily.held_orders IS 'Of those: waiting for a decision of a person, or written off by one.';

COMMENT ON COLUMN bi.deal_performance_daily.rejected_orders IS 'Of those: refused by the service.';

COMMENT ON COLUMN bi.deal_performance_daily.attributed_amount IS 'Revenue of the attributed orders, in currency.';

COMMENT ON COLUMN bi.deal_performance_daily.accepted_amount IS 'Revenue of the accepted orders, in currency.';

COMMENT ON COLUMN bi.deal_performance_daily.in_doubt_amount IS 'Revenue of the orders in doubt, in currency.';

CREATE TABLE mirror.dealflow_versions (
    dealflow_id text NOT NULL,
    brand_id text,
    name text,
    raw jsonb NOT NULL,
    row_hash text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    is_current boolean GENERATED ALWAYS AS ((valid_to IS NULL)) STORED NOT NULL,
    is_latest boolean DEFAULT true NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    CONSTRAINT dealflow_versions_last_a_while CHECK ((valid_to > valid_from))
);

COMMENT ON TABLE mirror.dealflow_versions IS 'History of dealflows: one row each time a dealflow was first seen or had changed.';

COMMENT ON COLUMN mirror.dealflow_versions.dealflow_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.dealflow_versions.brand_id IS 'Brand it belongs to, where the service says so.';

COMMENT ON COLUMN mirror.dealflow_versions.name IS 'Name of the dealflow.';

COMMENT ON COLUMN mirror.dealflow_versions.raw IS 'All that the service sent, unknown fields included.';

COMMENT ON COLUMN mirror.dealflow_versions.row_hash IS 'Digest of raw: equal hash, no new version.';

COMMENT ON COLUMN mirror.dealflow_versions.valid_from IS 'When it was first seen in this form: the time before the request.';

COMMENT ON COLUMN mirror.dealflow_versions.valid_to IS 'When it was first seen otherwise, or missing from a complete listing; null while it is in force.';

COMMENT ON COLUMN mirror.dealflow_versions.is_current IS 'In force: valid_to is null. A dealflow that is gone has none.';

COMMENT ON COLUMN mirror.dealflow_versions.is_latest IS 'Newest version of its dealflow, in force or not. Exactly one a dealflow.';

COMMENT ON COLUMN mirror.dealflow_versions.first_seen_at IS 'When the dealflow was first seen at all.';

COMMENT ON COLUMN mirror.dealflow_versions.seen_at IS 'When it was last seen so.';

COMMENT ON COLUMN mirror.dealflow_versions.run_id IS 'Run that published this version.';

CREATE VIEW bi.dealflows AS
 SELECT f.dealflow_id,
    f.name AS dealflow_name,
    f.brand_id,
    b.name AS brand_name,
    (NOT f.is_current) AS is_deleted,
    f.valid_to AS deleted_at,
    f.first_seen_at,
    f.valid_from AS changed_at,
    f.seen_at AS synced_at,
    f.run_id
   FROM (mirror.dealflow_versions f
     LEFT JOIN mirror.brand_versions b ON (((b.brand_id = f.brand_id) AND b.is_latest)))
  WHERE f.is_latest;

COMMENT ON VIEW bi.dealflows IS 'Dealflows of the account, one row per dealflow, as last read. Answers: How many deals does each dealflow have, and how many of them are active?';

COMMENT ON COLUMN bi.dealflows.dealflow_id IS 'Key of the row: identity at the service.';

COMMENT ON COLUMN bi.dealflows.dealflow_name IS 'Name of the dealflow.';

COMMENT ON COLUMN bi.dealflows.brand_id IS 'Brand to which it belongs, if the service says so.';

COMMENT ON COLUMN bi.dealflows.brand_name IS 'Name of that brand.';

COMMENT ON COLUMN bi.dealflows.is_deleted IS 'Whether it is gone: a complete listing does not contain it.';

COMMENT ON COLUMN bi.dealflows.deleted_at IS 'When it was found to be gone; null if it is not.';

COMMENT ON COLUMN bi.dealflows.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN bi.dealflows.changed_at IS 'When its present state was first read.';

COMMENT ON COLUMN bi.dealflows.synced_at IS 'When it was last read.';

COMMENT ON COLUMN bi.dealflows.run_id IS 'Run that published its last change, see bi.runs.';

CREATE TABLE mirror.known_deals (
    deal_id text NOT NULL,
    first_way text NOT NULL,
    ways text[] NOT NULL,
    first_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event_at timestamp with time zone,
    read_at timestamp with time zone,
    answer_hash text,
    not_found_at timestamp with time zone,
    deleted_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    last_error text,
    not_before timestamp with time zone,
    CONSTRAINT deleted_was_not_found CHECK (((deleted_at IS NULL) OR (not_found_at IS NOT NULL))),
    CONSTRAINT failures_say_why CHECK (((failures > 0) = (last_error IS NOT NULL))),
    CONSTRAINT known_deals_deal_id_check CHECK (((length(deal_id) >= 1) AND (length(deal_id) <= 200))),
    CONSTRAINT known_deals_failures_check CHECK ((failures >= 0)),
    CONSTRAINT ways_begin_with_the_first CHECK ((first_way = ways[1]))
)
WITH (fillfactor='70');

COMMENT ON TABLE mirror.known_deals IS 'Every deal that was discovered, how it was discovered, and how reading it went. The service has no list of deals.';

COMMENT ON COLUMN mirror.known_deals.deal_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.known_deals.first_way IS 'How it was first discovered: referral, click, create_deal, note, task (answers to what the ledger sent), event, codes, order, handle, autocomplete, deal (another deal''s answer).';

COMMENT ON COLUMN mirror.known_deals.ways IS 'Everything that it was discovered through, the first one first.';

COMMENT ON COLUMN mirror.known_deals.first_seen_at IS 'When it was first discovered.';

COMMENT ON COLUMN mirror.known_deals.event_at IS 'When an event last named it: read again then, however fresh.';

COMMENT ON COLUMN mirror.known_deals.read_at IS 'Time before the request that last read it; null: never read. Deals read longest ago are read next.';

COMMENT ON COLUMN mirror.known_deals.answer_hash IS 'Digest of that answer: an equal one only moves read_at.';

COMMENT ON COLUMN mirror.known_deals.not_found_at IS 'Since when the service says that there is no such deal; null: it does not.';

COMMENT ON COLUMN mirror.known_deals.deleted_at IS 'Set when a second run got the same answer: the deal is then gone as of not_found_at.';

COMMENT ON COLUMN mirror.known_deals.failures IS 'Runs in a row in which it could not be read.';

COMMENT ON COLUMN mirror.known_deals.last_error IS 'Why, without addresses and secrets; null when the last reading went well.';

COMMENT ON COLUMN mirror.known_deals.not_before IS 'Not read again before this instant, because it failed.';

CREATE VIEW bi.deals AS
 SELECT d.deal_id,
    d.influencer_handle,
    d.platform,
    d.brand_id,
    b.name AS brand_name,
    d.dealflow_id,
    f.name AS dealflow_name,
    d.is_active,
    d.funnel_step,
    d.total_clicks,
    d.total_referrals,
    d.total_sales AS total_sales_in_account_currency,
    d.total_payouts AS total_payouts_in_account_currency,
    d.total_commission_earned AS total_commission_in_account_currency,
    d.total_fixed_fee_earned AS total_fixed_fee_in_account_currency,
    (NOT d.is_current) AS is_deleted,
    d.valid_to AS deleted_at,
    k.first_way AS found_by,
    d.first_seen_at,
    d.valid_from AS changed_at,
    k.read_at AS synced_at,
    d.run_id
   FROM (((mirror.deal_versions d
     LEFT JOIN mirror.known_deals k ON ((k.deal_id = d.deal_id)))
     LEFT JOIN mirror.brand_versions b ON (((b.brand_id = d.brand_id) AND b.is_latest)))
     LEFT JOIN mirror.dealflow_versions f ON (((f.dealflow_id = d.dealflow_id) AND f.is_latest)))
  WHERE d.is_latest;

COMMENT ON VIEW bi.deals IS 'Deals that were discovered and read, one row per deal, as last read. Others may exist: see bi.mirror_coverage. Answers: Which deals are active and sell nothing? Which influencers have several deals?';

COMMENT ON COLUMN bi.deals.deal_id IS 'Key of the row: identity at the service.';

COMMENT ON COLUMN bi.deals.influencer_handle IS 'Influencer, as the service writes the handle.';

COMMENT ON COLUMN bi.deals.platform IS 'Social platform of the influencer.';

COMMENT ON COLUMN bi.deals.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.deals.brand_name IS 'Name of the brand.';

COMMENT ON COLUMN bi.deals.dealflow_id IS 'Dealflow, see bi.dealflows.';

COMMENT ON COLUMN bi.deals.dealflow_name IS 'Name of the dealflow.';

COMMENT ON COLUMN bi.deals.is_active IS 'Active, as the service says.';

COMMENT ON COLUMN bi.deals.funnel_step IS 'Stage in its dealflow. The service does not say what the numbers mean.';

COMMENT ON COLUMN bi.deals.total_clicks IS 'Clicks that the service has counted.';

COMMENT ON COLUMN bi.deals.total_referrals IS 'Orders that the service has counted, including those of its own shop integration.';

COMMENT ON COLUMN bi.deals.total_sales_in_account_currency IS 'Sales that the service has counted, in the currency of the account.';

COMMENT ON COLUMN bi.deals.total_payouts_in_account_currency IS 'Payouts made, in the currency of the account.';

COMMENT ON COLUMN bi.deals.total_commission_in_account_currency IS 'Commission earned, in the currency of the account.';

COMMENT ON COLUMN bi.deals.total_fixed_fee_in_account_currency IS 'Fixed fees earned, in the currency of the account.';

COMMENT ON COLUMN bi.deals.is_deleted IS 'Whether it is gone: the service said twice that there is no such deal.';

COMMENT ON COLUMN bi.deals.deleted_at IS 'When it was found to be gone; null if it is not.';

COMMENT ON COLUMN bi.deals.found_by IS 'How it was first discovered: referral, click, create_deal, note, task, event, codes, order, handle, autocomplete, deal.';

COMMENT ON COLUMN bi.deals.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN bi.deals.changed_at IS 'When its present state was first read.';

COMMENT ON COLUMN bi.deals.synced_at IS 'When it was last read.';

COMMENT ON COLUMN bi.deals.run_id IS 'Run that published its last change, see bi.runs.';

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
    likeness text,
    CONSTRAINT attributed_names_its_target CHECK (((outcome = 'attributed'::text) = (target IS NOT NULL))),
    CONSTRAINT attributions_matched_by_check CHECK ((matched_by = ANY (ARRAY['explicit'::text, 'code'::text, 'link'::text]))),
    CONSTRAINT attributions_outcome_check CHECK ((outcome = ANY (ARRAY['attributed'::text, 'unattributed'::text, 'organic'::text, 'excluded'::text, 'held'::text]))),
    CONSTRAINT not_attributed_says_why CHECK (((outcome = ANY (ARRAY['attributed'::text, 'organic'::text])) OR (reason IS NOT NULL)))
);

COMMENT ON TABLE intake.attributions IS 'The decision of each job about each order: who earned it, or why nobody did.';

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

COMMENT ON COLUMN intake.attributions.likeness IS 'Digest of brand, code, amount, currency and minute of an attributed order, to recognise it in another source of the brand. Null if the brand has one source, or the time is not known.';

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
    seed_id bigint,
    reason text,
    is_legible boolean DEFAULT true NOT NULL,
    CONSTRAINT evidence_kind_check CHECK ((kind = ANY (ARRAY['webhook_order'::text, 'webhook_other'::text, 'seeded'::text]))),
    CONSTRAINT seeded_names_its_seed CHECK (((kind = 'seeded'::text) = (seed_id IS NOT NULL)))
);

COMMENT ON TABLE ledger.evidence IS 'Append-only: what others say about an order, for example a signed event that carries its id.';

COMMENT ON COLUMN ledger.evidence.evidence_id IS 'Counts up.';

COMMENT ON COLUMN ledger.evidence.kind IS 'webhook_order (a signed event of the service that the order is credited), webhook_other (a signed event of another kind that names the order) or seeded (credited elsewhere before).';

COMMENT ON COLUMN ledger.evidence.order_platform IS 'Shop platform, if it says.';

COMMENT ON COLUMN ledger.evidence.order_id IS 'Order it is about.';

COMMENT ON COLUMN ledger.evidence.entry_id IS 'Entry of the same order when the evidence arrived; null if there was none yet.';

COMMENT ON COLUMN ledger.evidence.deal_id IS 'Deal it names.';

COMMENT ON COLUMN ledger.evidence.collab_id IS 'Collaboration it names.';

COMMENT ON COLUMN ledger.evidence.amount IS 'Revenue it names, in currency.';

COMMENT ON COLUMN ledger.evidence.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.evidence.body_sha256 IS 'Digest of its raw body: the same event counts once.';

COMMENT ON COLUMN ledger.evidence.received_at IS 'When.';

COMMENT ON COLUMN ledger.evidence.seed_id IS 'With kind seeded: the file that says so.';

COMMENT ON COLUMN ledger.evidence.reason IS 'With kind seeded: what the file gives as the reason of this order.';

COMMENT ON COLUMN ledger.evidence.is_legible IS 'False if an event states an amount, a currency, a platform, a deal or a collaboration in a form that cannot be read; it then settles no doubt.';

CREATE TABLE ops.leases (
    name text NOT NULL,
    owner uuid NOT NULL,
    fence bigint DEFAULT 1 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    acquired_at timestamp with time zone DEFAULT now() NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL
);

COMMENT ON TABLE ops.leases IS 'Which process works on what, by the clock of the database. After expires_at the lease is over, whichever process has it.';

COMMENT ON COLUMN ops.leases.name IS 'job:<job>, source:<source>, bulk:<bulk action>, or serve:<owner> of a process that runs jobs by their schedule.';

COMMENT ON COLUMN ops.leases.owner IS 'Random id of the process that holds it.';

COMMENT ON COLUMN ops.leases.fence IS 'Grows each time the lease changes hands.';

COMMENT ON COLUMN ops.leases.expires_at IS 'Pushed forward by heartbeats.';

COMMENT ON COLUMN ops.leases.acquired_at IS 'When this owner took it.';

COMMENT ON COLUMN ops.leases.host IS 'Name of the machine.';

COMMENT ON COLUMN ops.leases.pid IS 'Process id on that machine.';

CREATE VIEW bi.doubts AS
 SELECT e.entry_id,
    e.job,
    e.source,
    e.order_platform,
    e.order_id,
    e.amount,
    e.currency,
    e.brand_id,
    reporting.deal_id_of(COALESCE(e.deal_id, ((e.body)::json ->> 'deal_id'::text), a.deal_id)) AS deal_id,
    COALESCE(e.collab_id, ((e.body)::json ->> 'collab_id'::text), a.collab_id) AS collab_id,
    reporting.without_addresses(COALESCE(((e.body)::json ->> 'influencer_handle'::text), a.influencer_handle)) AS influencer_handle,
    COALESCE(e.state_reason, 'its process was gone before the answer was recorded'::text) AS reason,
    (e.attempt - e.not_sent) AS attempts,
    COALESCE(e.doubted_at, e.state_changed_at) AS doubted_at,
    round((EXTRACT(epoch FROM (now() - COALESCE(e.doubted_at, e.state_changed_at))) / (3600)::numeric), 1) AS age_hours,
    (EXISTS ( SELECT
           FROM ledger.evidence v
          WHERE ((v.kind = 'webhook_order'::text) AND (ledger.fold_order_id(v.order_id) = ledger.fold_order_id(e.order_id)) AND ledger.is_platform(v.order_platform, e.order_platform)))) AS is_evident
   FROM (ledger.entries e
     LEFT JOIN intake.attributions a ON (((a.entry_id = e.entry_id) AND (a.job = e.job) AND (a.source = e.source))))
  WHERE ((NOT e.is_settled) AND ((e.state = 'in_doubt'::text) OR ((e.state = 'sending'::text) AND (NOT (EXISTS ( SELECT
           FROM ops.leases l
          WHERE ((l.owner = e.owner) AND (l.expires_at > clock_timestamp()))))))));

COMMENT ON VIEW bi.doubts IS 'Orders that were sent and may have been credited although no answer says so, one row per order. Settle them with `review`. Live. Answers: How much money is in doubt, and since when?';

COMMENT ON COLUMN bi.doubts.entry_id IS 'Key of the row, and the number that `review` takes.';

COMMENT ON COLUMN bi.doubts.job IS 'Job that sent the order.';

COMMENT ON COLUMN bi.doubts.source IS 'Source of the order.';

COMMENT ON COLUMN bi.doubts.order_platform IS 'Shop platform as sent.';

COMMENT ON COLUMN bi.doubts.order_id IS 'Order as sent.';

COMMENT ON COLUMN bi.doubts.amount IS 'Revenue as sent, in currency.';

COMMENT ON COLUMN bi.doubts.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.doubts.brand_id IS 'Brand.';

COMMENT ON COLUMN bi.doubts.deal_id IS 'Deal it was sent for, or else the deal it is attributed to.';

COMMENT ON COLUMN bi.doubts.collab_id IS 'Collaboration, in the same way.';

COMMENT ON COLUMN bi.doubts.influencer_handle IS 'Influencer, in the same way.';

COMMENT ON COLUMN bi.doubts.reason IS 'Why it is in doubt.';

COMMENT ON COLUMN bi.doubts.attempts IS 'Attempts that may have reached the service.';

COMMENT ON COLUMN bi.doubts.doubted_at IS 'When the first of these attempts was made.';

COMMENT ON COLUMN bi.doubts.age_hours IS 'Hours since doubted_at.';

COMMENT ON COLUMN bi.doubts.is_evident IS 'Whether an event of the service names the order.';

CREATE TABLE intake.customers (
    customer_hash uuid CONSTRAINT contacts_contact_hash_not_null NOT NULL,
    brand_id text CONSTRAINT contacts_brand_id_not_null NOT NULL,
    source text CONSTRAINT contacts_source_not_null NOT NULL,
    staged_file_id bigint,
    batch_id bigint,
    orders_count integer,
    spent numeric(18,4),
    currency text,
    bought_with_code boolean,
    first_seen_at timestamp with time zone DEFAULT now() CONSTRAINT contacts_first_seen_at_not_null NOT NULL,
    is_unsubscribed boolean DEFAULT false CONSTRAINT contacts_is_unsubscribed_not_null NOT NULL,
    earlier_submissions integer DEFAULT 0 CONSTRAINT contacts_earlier_submissions_not_null NOT NULL,
    earlier_submitted_at timestamp with time zone,
    key_no smallint DEFAULT 1 NOT NULL,
    said_yes boolean DEFAULT false NOT NULL,
    consented_at timestamp with time zone,
    refused_at timestamp with time zone,
    consent text GENERATED ALWAYS AS (
CASE
    WHEN is_unsubscribed THEN 'no'::text
    WHEN said_yes THEN 'yes'::text
    ELSE 'unknown'::text
END) STORED,
    CONSTRAINT customers_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT customers_earlier_submissions_check CHECK ((earlier_submissions >= 0)),
    CONSTRAINT only_the_submitted_say_when CHECK (((earlier_submitted_at IS NULL) OR (earlier_submissions > 0)))
)
WITH (fillfactor='95');

COMMENT ON TABLE intake.customers IS 'One row for each customer and brand, without the address, and the last batch that it was put into. intake.customer_states shows the state that follows.';

COMMENT ON COLUMN intake.customers.customer_hash IS 'First half of HMAC-SHA256(brand and address) under customers.hash_key: tells customers apart, and cannot be turned back without the key.';

COMMENT ON COLUMN intake.customers.brand_id IS 'Brand that it is submitted for.';

COMMENT ON COLUMN intake.customers.source IS 'Source that stated it first; of an unsubscribed one, the source that said so.';

COMMENT ON COLUMN intake.customers.staged_file_id IS 'File with which it was put into that batch. Where the batch is in neither table, that file was never sealed, and the next one takes the customer over.';

COMMENT ON COLUMN intake.customers.batch_id IS 'Batch that it was put into last: in intake.waiting_batches while it waits, in intake.identify_batches once the service has answered; null: none, because it has unsubscribed.';

COMMENT ON COLUMN intake.customers.orders_count IS 'Orders of the customer, as the file that was read last says; null where exports don''t.';

COMMENT ON COLUMN intake.customers.spent IS 'What the customer has spent, in currency, as the file that was read last says; null where exports don''t.';

COMMENT ON COLUMN intake.customers.currency IS 'ISO 4217, of spent; null where neither the export nor its source says.';

COMMENT ON COLUMN intake.customers.bought_with_code IS 'Whether an order with a discount code was seen; null where only customer exports were read.';

COMMENT ON COLUMN intake.customers.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN intake.customers.is_unsubscribed IS 'Consent is no: not sent, or not again, whatever other exports say, until one has a yes with a date after refused_at.';

COMMENT ON COLUMN intake.customers.earlier_submissions IS 'How often the service took it before that batch.';

COMMENT ON COLUMN intake.customers.earlier_submitted_at IS 'When it last did before that batch.';

COMMENT ON COLUMN intake.customers.key_no IS 'Key that customer_hash was made with, as in intake.customer_key.';

COMMENT ON COLUMN intake.customers.said_yes IS 'Whether a file said that the customer agreed. False for customers who were read before this was recorded, until a file names them again.';

COMMENT ON COLUMN intake.customers.consented_at IS 'When the customer agreed, at the earliest; null: nobody said yes, or without a date.';

COMMENT ON COLUMN intake.customers.refused_at IS 'Until when a no is known to hold: its date, at the latest; without a date, when its file was stored. Null: no refusal is known, or a process of the previous version recorded it.';

COMMENT ON COLUMN intake.customers.consent IS 'yes: agreed. no: refused, unsubscribed, bounced, suppressed or contradictory, and no later date of a yes is known. unknown: neither; submitted only under a setting that says so.';

CREATE TABLE intake.identify_batches (
    batch_id bigint NOT NULL,
    split_from bigint,
    job text NOT NULL,
    brand_id text NOT NULL,
    source_type text,
    state text NOT NULL,
    customers integer CONSTRAINT identify_batches_contacts_not_null NOT NULL,
    http_status integer,
    message text,
    run_id bigint NOT NULL,
    staged_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT identify_batches_customers_check CHECK ((customers > 0)),
    CONSTRAINT identify_batches_state_check CHECK ((state = ANY (ARRAY['accepted'::text, 'split'::text, 'refused'::text]))),
    CONSTRAINT only_one_is_refused CHECK (((state <> 'refused'::text) OR (customers = 1)))
);

COMMENT ON TABLE intake.identify_batches IS 'Batches that the service has answered: the call to identify_influencers that took it, or refused it.';

COMMENT ON COLUMN intake.identify_batches.batch_id IS 'As in intake.waiting_batches, while it waited there.';

COMMENT ON COLUMN intake.identify_batches.split_from IS 'Refused batch of which this is a half.';

COMMENT ON COLUMN intake.identify_batches.job IS 'Job that sent it.';

COMMENT ON COLUMN intake.identify_batches.brand_id IS 'Brand it was submitted for.';

COMMENT ON COLUMN intake.identify_batches.source_type IS 'Label it was sent with.';

COMMENT ON COLUMN intake.identify_batches.state IS 'accepted (the service took it), split (refused, so each half was sent by itself), refused (a single address that the service does not take).';

COMMENT ON COLUMN intake.identify_batches.customers IS 'How many addresses.';

COMMENT ON COLUMN intake.identify_batches.http_status IS 'Status of the answer.';

COMMENT ON COLUMN intake.identify_batches.message IS 'What the service said to a refusal, addresses and secrets masked.';

COMMENT ON COLUMN intake.identify_batches.run_id IS 'Run that sent it.';

COMMENT ON COLUMN intake.identify_batches.staged_at IS 'When its addresses were stored.';

COMMENT ON COLUMN intake.identify_batches.settled_at IS 'When the answer was recorded, and the addresses deleted. Database clock.';

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
    read_for text DEFAULT 'orders'::text NOT NULL,
    customer_rows bigint DEFAULT 0 CONSTRAINT source_files_contact_rows_not_null NOT NULL,
    customers_new bigint DEFAULT 0 CONSTRAINT source_files_contacts_new_not_null NOT NULL,
    passed_over jsonb,
    consent_columns text[],
    consent_counts jsonb,
    released_at timestamp with time zone,
    released_by text,
    release_reason text,
    reread_at timestamp with time zone,
    reread_by text,
    superseded_by bigint,
    order_id_column text,
    other_rows bigint DEFAULT 0 NOT NULL,
    modified_at timestamp with time zone,
    aged_at timestamp with time zone,
    age_basis text,
    orders_older bigint DEFAULT 0 NOT NULL,
    orders_conflicting bigint DEFAULT 0 NOT NULL,
    rows_older bigint DEFAULT 0 NOT NULL,
    newest_since timestamp with time zone,
    newest_by text,
    footer jsonb,
    CONSTRAINT consent_is_counted_where_it_stands CHECK (((consent_columns IS NULL) = (consent_counts IS NULL))),
    CONSTRAINT duplicates_name_their_original CHECK (((state = 'duplicate'::text) = (duplicate_of IS NOT NULL))),
    CONSTRAINT held_files_say_why CHECK (((state = ANY (ARRAY['held'::text, 'released'::text])) = (hold_code IS NOT NULL))),
    CONSTRAINT only_a_reading_file_has_a_reader CHECK (((state = 'reading'::text) = (reader IS NOT NULL))),
    CONSTRAINT released_files_say_why CHECK ((((state = 'released'::text) = (released_at IS NOT NULL)) AND ((released_at IS NULL) = (release_reason IS NULL)) AND ((released_by IS NULL) OR (released_at IS NOT NULL)))),
    CONSTRAINT sealed_files_add_up CHECK (((state <> 'sealed'::text) OR ((sealed_at IS NOT NULL) AND (rows_read = (((order_rows + customer_rows) + other_rows) + rejected_rows))))),
    CONSTRAINT source_files_age_basis_check CHECK ((age_basis = ANY (ARRAY['date_in_name'::text, 'number_in_name'::text, 'modified'::text, 'column'::text]))),
    CONSTRAINT source_files_footer_check CHECK ((jsonb_typeof(footer) = 'array'::text)),
    CONSTRAINT source_files_read_for_check CHECK ((read_for = ANY (ARRAY['orders'::text, 'customers'::text, 'clicks'::text, 'creators'::text]))),
    CONSTRAINT source_files_rows_read_check CHECK ((rows_read >= 0)),
    CONSTRAINT source_files_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT source_files_state_check CHECK ((state = ANY (ARRAY['reading'::text, 'sealed'::text, 'held'::text, 'duplicate'::text, 'released'::text]))),
    CONSTRAINT who_says_that_a_file_is_newest_is_known CHECK (((newest_since IS NULL) = (newest_by IS NULL)))
);

COMMENT ON TABLE intake.source_files IS 'One row a version of an export file. Its orders count only once it is sealed.';

COMMENT ON COLUMN intake.source_files.source_file_id IS 'Counts up.';

COMMENT ON COLUMN intake.source_files.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.source_files.uri IS 'Where it was read.';

COMMENT ON COLUMN intake.source_files.version IS 'ETag or version id (S3) or digest of the content (folder). With source and uri the identity of the file.';

COMMENT ON COLUMN intake.source_files.size_bytes IS 'As stored, before decompression.';

COMMENT ON COLUMN intake.source_files.layout IS 'Layout it was read with.';

COMMENT ON COLUMN intake.source_files.layout_hash IS 'Digest of the layout and the source''s settings: a held file is read again when it changes.';

COMMENT ON COLUMN intake.source_files.state IS 'reading (not postable), sealed (read to its end, its rows add up), held (nothing in it counts, see hold_…), released (was held, and is not needed), duplicate (same content as another file).';

COMMENT ON COLUMN intake.source_files.reader IS 'Process that reads it now.';

COMMENT ON COLUMN intake.source_files.content_sha256 IS 'Digest of the decoded content.';

COMMENT ON COLUMN intake.source_files.duplicate_of IS 'The sealed file with the same content.';

COMMENT ON COLUMN intake.source_files.hold_code IS 'Machine name of the reason for holding it; it stays when the file is released.';

COMMENT ON COLUMN intake.source_files.hold_message IS 'What is wrong with it.';

COMMENT ON COLUMN intake.source_files.hold_help IS 'How to fix it.';

COMMENT ON COLUMN intake.source_files.hold_is_transient IS 'No person has to fix it: the next run reads the file again.';

COMMENT ON COLUMN intake.source_files.rows_read IS 'Records in the file, header excluded.';

COMMENT ON COLUMN intake.source_files.orders_new IS 'Orders first seen in this file.';

COMMENT ON COLUMN intake.source_files.orders_changed IS 'Orders known before, with other content here.';

COMMENT ON COLUMN intake.source_files.orders_unchanged IS 'Orders known before with the same content.';

COMMENT ON COLUMN intake.source_files.order_rows IS 'Records that became part of an order.';

COMMENT ON COLUMN intake.source_files.rejected_rows IS 'Records that could not be used.';

COMMENT ON COLUMN intake.source_files.run_id IS 'Run that read it last.';

COMMENT ON COLUMN intake.source_files.first_seen_at IS 'When it was first opened.';

COMMENT ON COLUMN intake.source_files.sealed_at IS 'When its orders began to count.';

COMMENT ON COLUMN intake.source_files.read_for IS 'orders, customers, clicks or creators: the same file may be read for each.';

COMMENT ON COLUMN intake.source_files.customer_rows IS 'Records that were read for their customer, those in passed_over included.';

COMMENT ON COLUMN intake.source_files.customers_new IS 'Customers first seen in this file.';

COMMENT ON COLUMN intake.source_files.passed_over IS 'Rows whose customer is not submitted, by reason: {"no_address": 3, "refused": 2, "contradicting": 1, "unknown": 4, "forgotten": 1}. Files that were read before 0082 have no_consent and unsubscribed instead of the three in the middle.';

COMMENT ON COLUMN intake.source_files.consent_columns IS 'Of a file that was read for its customers: the headers of the columns that say who has consented. Empty: it has none, and its source or job says that this is well.';

COMMENT ON COLUMN intake.source_files.consent_counts IS 'Of a file that was read for its customers: how many rows with an address say yes, no (refused, unsubscribed, blacklisted, contradictory) or neither: {"yes": 412, "no": 88, "blank": 3}.';

COMMENT ON COLUMN intake.source_files.released_at IS 'When its hold ended without the file being read.';

COMMENT ON COLUMN intake.source_files.released_by IS 'Who decided that it is not needed (files release); null: the program, because its source no longer covers it.';

COMMENT ON COLUMN intake.source_files.release_reason IS 'Why it is not needed.';

COMMENT ON COLUMN intake.source_files.reread_at IS 'When it was asked that the next run reads it again; null: it was not.';

COMMENT ON COLUMN intake.source_files.reread_by IS 'Who asked for it (files reread).';

COMMENT ON COLUMN intake.source_files.superseded_by IS 'The later reading of the same version. Orders of this one count until a later one states them otherwise; null: this is the last reading.';

COMMENT ON COLUMN intake.source_files.order_id_column IS 'Header of the column that names the orders of the file, lower case; null where it is not known: files read before it was kept, held files, files of customers.';

COMMENT ON COLUMN intake.source_files.other_rows IS 'Records that were read for clicks or creators, those in passed_over included.';

COMMENT ON COLUMN intake.source_files.modified_at IS 'When the file was put there, as its store says. Null: unknown, or read before this was stored; then first_seen_at stands in for it.';

COMMENT ON COLUMN intake.source_files.aged_at IS 'From when the file is: the date in its name, else modified_at. Null: unknown, or read before this was stored.';

COMMENT ON COLUMN intake.source_files.age_basis IS 'What says whether it is newer than another file: the date in its name, the number in its name, or modified_at. column: each of its rows says when its order last changed.';

COMMENT ON COLUMN intake.source_files.orders_older IS 'Orders of which a newer file states something else. They are kept as versions that were never in force.';

COMMENT ON COLUMN intake.source_files.orders_conflicting IS 'Orders of which another file states something else, and nothing says which of them is newer. They are held. Part of orders_changed.';

COMMENT ON COLUMN intake.source_files.rows_older IS 'Clicks or creators of which a newer file states something else. They changed nothing.';

COMMENT ON COLUMN intake.source_files.newest_since IS 'When a person said that the file is newer than all files known at that time; null if nobody did.';

COMMENT ON COLUMN intake.source_files.newest_by IS 'Who said that it is newer.';

COMMENT ON COLUMN intake.source_files.footer IS 'Rows at its end that are no records of it, such as totals: line, text of the first filled cell, and by what they are known (label, sum, count). They are not among rows_read. Null: none.';

CREATE TABLE intake.waiting_batches (
    batch_id bigint CONSTRAINT contacts_batch_id_not_null NOT NULL,
    job text CONSTRAINT contacts_job_not_null NOT NULL,
    brand_id text CONSTRAINT contacts_brand_id_not_null NOT NULL,
    source_file_id bigint CONSTRAINT contacts_source_file_id_not_null NOT NULL,
    purpose text CONSTRAINT contacts_purpose_not_null NOT NULL,
    influencer_list text CONSTRAINT contacts_influencer_list_not_null NOT NULL,
    customer_hashes uuid[] CONSTRAINT contacts_contact_hashes_not_null NOT NULL,
    split_from bigint,
    created_at timestamp with time zone DEFAULT now() CONSTRAINT contacts_created_at_not_null NOT NULL,
    customers integer GENERATED ALWAYS AS (cardinality(customer_hashes)) STORED CONSTRAINT contacts_contacts_not_null NOT NULL,
    key_no smallint DEFAULT 1 NOT NULL,
    CONSTRAINT waiting_batches_customer_hashes_check CHECK ((cardinality(customer_hashes) > 0)),
    CONSTRAINT waiting_batches_purpose_check CHECK ((purpose = ANY (ARRAY['submit'::text, 'lookup'::text])))
)
WITH (autovacuum_vacuum_threshold='20', autovacuum_vacuum_scale_factor='0');
ALTER TABLE ONLY intake.waiting_batches ALTER COLUMN influencer_list SET STORAGE EXTERNAL;
ALTER TABLE ONLY intake.waiting_batches ALTER COLUMN customer_hashes SET STORAGE EXTERNAL;

COMMENT ON TABLE intake.waiting_batches IS 'The only place of plain addresses: one row for each batch of customers that waits to be sent. Deleted as soon as the service has taken it.';

COMMENT ON COLUMN intake.waiting_batches.batch_id IS 'Counts up.';

COMMENT ON COLUMN intake.waiting_batches.job IS 'Job that read them.';

COMMENT ON COLUMN intake.waiting_batches.brand_id IS 'Brand that it is submitted for.';

COMMENT ON COLUMN intake.waiting_batches.source_file_id IS 'File that stated them. It counts once that file is sealed.';

COMMENT ON COLUMN intake.waiting_batches.purpose IS 'submit (to identify_influencers) or lookup (each to identify_influencers_real_time, within the budget of the run).';

COMMENT ON COLUMN intake.waiting_batches.influencer_list IS 'Addresses as a JSON array, exactly as they are sent.';

COMMENT ON COLUMN intake.waiting_batches.customer_hashes IS 'Each address'' customer_hash, in the same order.';

COMMENT ON COLUMN intake.waiting_batches.split_from IS 'Batch that was refused, of which this is a half.';

COMMENT ON COLUMN intake.waiting_batches.created_at IS 'When it was staged.';

COMMENT ON COLUMN intake.waiting_batches.customers IS 'How many addresses.';

COMMENT ON COLUMN intake.waiting_batches.key_no IS 'Key that customer_hashes were made with, as in intake.customer_key.';

CREATE VIEW intake.customer_states AS
 SELECT c.customer_hash,
    c.brand_id,
        CASE
            WHEN c.is_unsubscribed THEN 'unsubscribed'::text
            WHEN (b.state = 'accepted'::text) THEN 'submitted'::text
            WHEN (b.state = 'refused'::text) THEN 'refused'::text
            WHEN (c.earlier_submissions > 0) THEN 'submitted'::text
            ELSE 'staged'::text
        END AS state,
        CASE
            WHEN (b.state = 'refused'::text) THEN b.message
            ELSE NULL::text
        END AS state_reason,
    ((w.batch_id IS NOT NULL) AND (NOT c.is_unsubscribed)) AS is_waiting,
    c.source,
    c.batch_id,
    (c.earlier_submissions + COALESCE(((b.state = 'accepted'::text))::integer, 0)) AS submissions,
        CASE
            WHEN (b.state = 'accepted'::text) THEN b.settled_at
            ELSE c.earlier_submitted_at
        END AS submitted_at,
    b.run_id,
    b.source_type,
    c.orders_count,
    c.spent,
    c.currency,
    c.bought_with_code,
    c.first_seen_at,
    c.consent,
    c.consented_at,
    c.refused_at
   FROM ((intake.customers c
     LEFT JOIN intake.identify_batches b ON (((b.batch_id = c.batch_id) AND (b.state <> 'split'::text))))
     LEFT JOIN (intake.waiting_batches w
     JOIN intake.source_files f ON (((f.source_file_id = w.source_file_id) AND (f.state = 'sealed'::text)))) ON (((w.batch_id = c.batch_id) AND (w.purpose = 'submit'::text))))
  WHERE (c.is_unsubscribed OR (c.earlier_submissions > 0) OR (b.batch_id IS NOT NULL) OR (w.batch_id IS NOT NULL));

COMMENT ON VIEW intake.customer_states IS 'The state of each customer of a brand, without those of files that do not count yet.';

COMMENT ON COLUMN intake.customer_states.customer_hash IS 'As in intake.customers.';

COMMENT ON COLUMN intake.customer_states.brand_id IS 'Brand that it is submitted for.';

COMMENT ON COLUMN intake.customer_states.state IS 'staged (waits to be submitted), submitted (the service took it), refused (by the service), unsubscribed (consent is no: not sent, or not again).';

COMMENT ON COLUMN intake.customer_states.state_reason IS 'Why it was refused, in the service''s words, addresses masked.';

COMMENT ON COLUMN intake.customer_states.is_waiting IS 'Waits to be submitted, for the first time or again.';

COMMENT ON COLUMN intake.customer_states.source IS 'Source that stated it first; of an unsubscribed one, the source that said so.';

COMMENT ON COLUMN intake.customer_states.batch_id IS 'Batch that it was put into last.';

COMMENT ON COLUMN intake.customer_states.submissions IS 'How often the service took it.';

COMMENT ON COLUMN intake.customer_states.submitted_at IS 'When the service last took it.';

COMMENT ON COLUMN intake.customer_states.run_id IS 'Run that sent its last batch; null while it waits.';

COMMENT ON COLUMN intake.customer_states.source_type IS 'Label it was last sent with.';

COMMENT ON COLUMN intake.customer_states.orders_count IS 'Orders of the customer, as the file that was read last says; null where exports don''t.';

COMMENT ON COLUMN intake.customer_states.spent IS 'What the customer has spent, in currency, as the file that was read last says; null where exports don''t.';

COMMENT ON COLUMN intake.customer_states.currency IS 'ISO 4217, of spent; null where neither the export nor its source says.';

COMMENT ON COLUMN intake.customer_states.bought_with_code IS 'Whether an order with a discount code was seen; null where only customer exports were read.';

COMMENT ON COLUMN intake.customer_states.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN intake.customer_states.consent IS 'As in intake.customers.';

COMMENT ON COLUMN intake.customer_states.consented_at IS 'As in intake.customers.';

COMMENT ON COLUMN intake.customer_states.refused_at IS 'As in intake.customers.';

CREATE TABLE intake.lookups (
    customer_hash uuid CONSTRAINT lookups_contact_hash_not_null NOT NULL,
    brand_id text NOT NULL,
    outcome text NOT NULL,
    platform text,
    user_id text,
    username text,
    followers bigint,
    is_verified boolean,
    profile_url text,
    picture_url text,
    http_status integer,
    message text,
    run_id bigint NOT NULL,
    looked_up_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT a_name_only_of_influencers CHECK (((outcome = 'influencer'::text) OR (COALESCE(platform, user_id, username, profile_url) IS NULL))),
    CONSTRAINT a_refused_lookup_says_why CHECK (((outcome <> 'refused'::text) OR (message IS NOT NULL))),
    CONSTRAINT lookups_outcome_check CHECK ((outcome = ANY (ARRAY['influencer'::text, 'no_match'::text, 'refused'::text])))
);

COMMENT ON TABLE intake.lookups IS 'What identify_influencers_real_time said about a customer, the last time it was asked: the public profile, no name and no address.';

COMMENT ON COLUMN intake.lookups.customer_hash IS 'Customer, as in intake.customers.';

COMMENT ON COLUMN intake.lookups.brand_id IS 'Brand.';

COMMENT ON COLUMN intake.lookups.outcome IS 'influencer, no_match (in whichever form the service says so), refused (the service does not take the address).';

COMMENT ON COLUMN intake.lookups.platform IS 'instagram, tiktok, youtube or another word of the service.';

COMMENT ON COLUMN intake.lookups.user_id IS 'Id of the influencer on the platform.';

COMMENT ON COLUMN intake.lookups.username IS 'Handle on the platform.';

COMMENT ON COLUMN intake.lookups.followers IS 'Followers at that time.';

COMMENT ON COLUMN intake.lookups.is_verified IS 'Whether the platform has verified the account.';

COMMENT ON COLUMN intake.lookups.profile_url IS 'Address of the profile.';

COMMENT ON COLUMN intake.lookups.picture_url IS 'Address of the profile''s picture.';

COMMENT ON COLUMN intake.lookups.http_status IS 'Status of the answer.';

COMMENT ON COLUMN intake.lookups.message IS 'What the service said to a refusal, addresses and secrets masked.';

COMMENT ON COLUMN intake.lookups.run_id IS 'Run that asked.';

COMMENT ON COLUMN intake.lookups.looked_up_at IS 'When. Database clock.';

CREATE VIEW bi.influencers_among_customers AS
 SELECT l.brand_id,
    b.name AS brand_name,
    l.platform,
    l.user_id AS platform_user_id,
    l.username,
    l.followers,
    l.is_verified,
    l.profile_url,
    l.picture_url,
    c.orders_count,
    c.spent AS spent_amount,
    c.currency,
    c.bought_with_code AS is_code_user,
    d.deal_id,
    (d.deal_id IS NOT NULL) AS is_in_a_deal,
    c.source,
    c.submitted_at,
    l.looked_up_at,
    l.run_id
   FROM (((intake.lookups l
     LEFT JOIN intake.customer_states c ON ((c.customer_hash = l.customer_hash)))
     LEFT JOIN mirror.brand_versions b ON (((b.brand_id = l.brand_id) AND b.is_latest)))
     LEFT JOIN LATERAL ( SELECT v.deal_id
           FROM mirror.deal_versions v
          WHERE (v.is_latest AND v.is_current AND (ledger.fold_handle(v.influencer_handle) = ledger.fold_handle(l.username)))
          ORDER BY v.deal_id
         LIMIT 1) d ON (true))
  WHERE (l.outcome = 'influencer'::text);

COMMENT ON VIEW bi.influencers_among_customers IS 'Customers whom the service found to be influencers, one row per customer and brand; only those that were looked up in real time. Live. Answers: Which customers are influencers, and have no deal yet?';

COMMENT ON COLUMN bi.influencers_among_customers.brand_id IS 'Brand of the customer, see bi.brands.';

COMMENT ON COLUMN bi.influencers_among_customers.brand_name IS 'Name of the brand, if it is mirrored.';

COMMENT ON COLUMN bi.influencers_among_customers.platform IS 'instagram, tiktok, youtube or another word of the service.';

COMMENT ON COLUMN bi.influencers_among_customers.platform_user_id IS 'Id of the influencer on the platform.';

COMMENT ON COLUMN bi.influencers_among_customers.username IS 'Public handle on the platform.';

COMMENT ON COLUMN bi.influencers_among_customers.followers IS 'Followers when looked up.';

COMMENT ON COLUMN bi.influencers_among_customers.is_verified IS 'Whether the platform has verified the account.';

COMMENT ON COLUMN bi.influencers_among_customers.profile_url IS 'Address of the public profile.';

COMMENT ON COLUMN bi.influencers_among_customers.picture_url IS 'Address of the profile''s picture.';

COMMENT ON COLUMN bi.influencers_among_customers.orders_count IS 'Orders as a customer, according to the export that was read last; null if it does not say.';

COMMENT ON COLUMN bi.influencers_among_customers.spent_amount IS 'Spent as a customer, in currency, according to the export that was read last; null if it does not say.';

COMMENT ON COLUMN bi.influencers_among_customers.currency IS 'ISO 4217, of spent_amount. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.influencers_among_customers.is_code_user IS 'Whether the customer has used a discount code; null if only exports of customers were read.';

COMMENT ON COLUMN bi.influencers_among_customers.deal_id IS 'A deal with the same handle, on any platform and for any brand, see bi.deals; null: none is known.';

COMMENT ON COLUMN bi.influencers_among_customers.is_in_a_deal IS 'Whether there is such a deal.';

COMMENT ON COLUMN bi.influencers_among_customers.source IS 'Source that stated the customer first.';

COMMENT ON COLUMN bi.influencers_among_customers.submitted_at IS 'When the customer was last submitted to be identified; null: never.';

COMMENT ON COLUMN bi.influencers_among_customers.looked_up_at IS 'When the service was asked.';

COMMENT ON COLUMN bi.influencers_among_customers.run_id IS 'Run that asked, see bi.runs.';

CREATE TABLE mirror.coverage (
    run_id bigint NOT NULL,
    way text NOT NULL,
    known integer NOT NULL,
    also_known integer NOT NULL,
    fresh integer NOT NULL,
    stale integer NOT NULL,
    unread integer NOT NULL,
    failing integer NOT NULL,
    deleted integer NOT NULL,
    oldest_read_at timestamp with time zone,
    newest_read_at timestamp with time zone,
    CONSTRAINT coverage_adds_up CHECK ((known = ((((fresh + stale) + unread) + failing) + deleted)))
);

COMMENT ON TABLE mirror.coverage IS 'How many deals are known after each publication, how they were discovered, how fresh they are, and what could not be read. Never the number of existing deals: only the service knows it.';

COMMENT ON COLUMN mirror.coverage.run_id IS 'Publication.';

COMMENT ON COLUMN mirror.coverage.way IS 'As in known_deals.first_way; all: every deal, each once.';

COMMENT ON COLUMN mirror.coverage.known IS 'Deals first discovered this way. The rows add up to all.';

COMMENT ON COLUMN mirror.coverage.also_known IS 'Deals first discovered in another way, and in this one too.';

COMMENT ON COLUMN mirror.coverage.fresh IS 'Of known: read within refresh_after_hours.';

COMMENT ON COLUMN mirror.coverage.stale IS 'Of known: read longer ago.';

COMMENT ON COLUMN mirror.coverage.unread IS 'Of known: not read yet.';

COMMENT ON COLUMN mirror.coverage.failing IS 'Of known: could not be read the last time it was tried.';

COMMENT ON COLUMN mirror.coverage.deleted IS 'Of known: gone, the service said so.';

COMMENT ON COLUMN mirror.coverage.oldest_read_at IS 'Longest ago that one of them was last read, deleted ones left out.';

COMMENT ON COLUMN mirror.coverage.newest_read_at IS 'Most recent reading of one of them.';

CREATE TABLE mirror.publications (
    run_id bigint NOT NULL,
    published_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    counts jsonb NOT NULL
);

COMMENT ON TABLE mirror.publications IS 'One row a run that published. Brands, dealflows, deals and collaborations change only in the commit that adds a row here, so a reader sees all of a run or nothing of it.';

COMMENT ON COLUMN mirror.publications.run_id IS 'Run of the job that published.';

COMMENT ON COLUMN mirror.publications.published_at IS 'When what it had read became visible. Database clock.';

COMMENT ON COLUMN mirror.publications.counts IS 'By kind of record: {new, changed, unchanged, gone}.';

CREATE VIEW bi.mirror_coverage AS
 SELECT c.run_id,
    p.published_at,
    c.way,
    c.known AS known_deals,
    c.also_known AS also_known_deals,
    c.fresh AS fresh_deals,
    c.stale AS stale_deals,
    c.unread AS unread_deals,
    c.failing AS failing_deals,
    c.deleted AS deleted_deals,
    c.oldest_read_at,
    c.newest_read_at,
    (c.run_id = ( SELECT max(l.run_id) AS max
           FROM mirror.publications l)) AS is_latest
   FROM (mirror.coverage c
     JOIN mirror.publications p ON ((p.run_id = c.run_id)));

COMMENT ON VIEW bi.mirror_coverage IS 'How complete the mirror of deals is, one row per publication and way of discovery. It counts discovered deals only: the service has no list of deals. Answers: How many deals are known, how were they discovered, and how fresh are they?';

COMMENT ON COLUMN bi.mirror_coverage.run_id IS 'Run that made the publication, see bi.runs. With way, the key of the row.';

COMMENT ON COLUMN bi.mirror_coverage.published_at IS 'When the run published.';

COMMENT ON COLUMN bi.mirror_coverage.way IS 'How deals were first discovered: see bi.deals.found_by; all: every deal, each once.';

COMMENT ON COLUMN bi.mirror_coverage.known_deals IS 'Deals first discovered this way. The rows add up to all.';

COMMENT ON COLUMN bi.mirror_coverage.also_known_deals IS 'Deals first discovered in another way, and in this one too.';

COMMENT ON COLUMN bi.mirror_coverage.fresh_deals IS 'Of known_deals: read within refresh_after_hours of the job.';

COMMENT ON COLUMN bi.mirror_coverage.stale_deals IS 'Of known_deals: read longer ago.';

COMMENT ON COLUMN bi.mirror_coverage.unread_deals IS 'Of known_deals: not read yet.';

COMMENT ON COLUMN bi.mirror_coverage.failing_deals IS 'Of known_deals: could not be read when it was last tried.';

COMMENT ON COLUMN bi.mirror_coverage.deleted_deals IS 'Of known_deals: gone.';

COMMENT ON COLUMN bi.mirror_coverage.oldest_read_at IS 'When the one that was read longest ago was read, without those that are gone.';

COMMENT ON COLUMN bi.mirror_coverage.newest_read_at IS 'When the one that was read last was read.';

COMMENT ON COLUMN bi.mirror_coverage.is_latest IS 'Whether the row belongs to the last publication.';

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
    customer_key uuid,
    customer_key_no smallint,
    lines jsonb,
    similar_to text,
    doubt text,
    items jsonb,
    changed_at timestamp with time zone,
    other_ids text[] DEFAULT '{}'::text[] NOT NULL,
    note text,
    rejected_hash text,
    stated_hash text,
    stated_version_id bigint,
    CONSTRAINT only_of_outdated CHECK (((stated_hash IS NOT NULL) OR ((rejected_hash IS NULL) AND (stated_version_id IS NULL)))),
    CONSTRAINT orders_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT orders_customer_key_no_check CHECK ((customer_key_no > 1)),
    CONSTRAINT orders_doubt_check CHECK ((doubt ~ '^[a-z][a-z_]{0,40}$'::text)),
    CONSTRAINT orders_items_check CHECK ((jsonb_typeof(items) = 'array'::text)),
    CONSTRAINT orders_lines_check CHECK ((jsonb_typeof(lines) = 'array'::text)),
    CONSTRAINT orders_note_check CHECK ((char_length(note) <= 500)),
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

COMMENT ON COLUMN intake.orders.exclusion IS 'Set by a rule of the layout (test, draft, cancelled, …): never posted; a draft is where the job says drafts: credit.';

COMMENT ON COLUMN intake.orders.line_no IS 'Physical line of its first row.';

COMMENT ON COLUMN intake.orders.record_no IS 'Record number of its first row.';

COMMENT ON COLUMN intake.orders.row_count IS 'Rows of the file folded into it.';

COMMENT ON COLUMN intake.orders.conflicting_line_no IS 'Line where the same file states the order again, differently; such an order is rejected at sealing.';

COMMENT ON COLUMN intake.orders.replaces IS 'Version that was in force when this one was staged; null for the first one.';

COMMENT ON COLUMN intake.orders.first_seen_at IS 'When this version was stored.';

COMMENT ON COLUMN intake.orders.customer_key IS 'HMAC of brand and e-mail address, as intake.customers.customer_hash has it; null where the source does not ask for it (customer_key), the order was read before it did, or the export names nobody. No part of content_hash.';

COMMENT ON COLUMN intake.orders.customer_key_no IS 'Key that customer_key was made with, as in intake.customer_key; null: the first one, or no customer_key.';

COMMENT ON COLUMN intake.orders.lines IS 'What was bought: SKU (folded; empty where a line has none) and amount after the discounts of its lines, as [["gift-50", "25.00"]]. Null: unknown, because order_lines of the source was off when the order was read, the export does not say, a line cannot be read, or rows of the order are far apart. No part of content_hash.';

COMMENT ON COLUMN intake.orders.similar_to IS 'The order id without what tools write differently (case, #, blanks, leading zeros, separators of thousands), if that is another text; null: the id is plain. Orders of one source with an equal value may be one order.';

COMMENT ON COLUMN intake.orders.doubt IS 'Why what the export states may not be the whole order: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut), may_be_repeated (rows of it may occur twice), may_be_split (another file may have more of its rows), conflicting_states (another file states something else, and nothing says which is newer), newer_row_rejected (a row that may be newer could not be used), other_order_same_id (another order was stated with its id), refund_in_total (its total fell by just what was refunded). Null: nothing is in doubt. An order in doubt is held.';

COMMENT ON COLUMN intake.orders.items IS 'Items whose amounts add up to those of the order, as [["id", "total", "subtotal", "refunded"]]; null: an amount that is not added up. Null: amounts are not added up, or the export does not identify its items. No part of content_hash.';

COMMENT ON COLUMN intake.orders.changed_at IS 'When the order last changed, as the latest row that states this version says (age: column of the source). infinity: a row does not say it, so it may be newer than any other. Null: the source does not go by the column.';

COMMENT ON COLUMN intake.orders.other_ids IS 'Ids of orders at other channels that its tags and notes name, folded: it may be one of them.';

COMMENT ON COLUMN intake.orders.note IS 'What the notes of the shop say, with e-mail addresses and phone numbers masked, cut to 500 characters. Only for jobs that send it (order_notes); null otherwise. As first read: another note makes no other version.';

COMMENT ON COLUMN intake.orders.rejected_hash IS 'Digest of the rejected rows for which the version is in doubt (newer_row_rejected): the same rows again say nothing new. Null: none, or no longer.';

COMMENT ON COLUMN intake.orders.stated_hash IS 'The content_hash of what a file states, where that of the version is of its own, so that the next file that states the order decides. Null: the two are the same.';

COMMENT ON COLUMN intake.orders.stated_version_id IS 'The version, stated by a file, that this one only repeats. Its file says how old the state is. Null: this version is stated by its own file.';

CREATE VIEW bi.orders AS
 SELECT o.order_version_id,
    o.source,
    o.order_id,
    o.order_name,
    o.status,
    COALESCE(o.placed_at, o.paid_at, o.first_seen_at) AS ordered_at,
    ((COALESCE(o.placed_at, o.paid_at, o.first_seen_at) AT TIME ZONE 'UTC'::text))::date AS day_utc,
    o.placed_at,
    o.paid_at,
    o.cancelled_at,
    o.currency,
    o.total AS total_amount,
    o.subtotal AS subtotal_amount,
    o.refunded AS refunded_amount,
    reporting.without_addresses(array_to_string(o.codes, ', '::text)) AS discount_codes,
    (cardinality(o.codes) > 0) AS is_discounted,
    (o.cancelled_at IS NOT NULL) AS is_cancelled,
    (COALESCE(o.refunded, (0)::numeric) > (0)::numeric) AS is_refunded,
    (COALESCE(o.exclusion, 'renewal'::text) <> 'renewal'::text) AS is_excluded,
    split_part(o.exclusion, ':'::text, 1) AS exclusion_reason,
    o.source_file_id,
    o.line_no,
    o.first_seen_at AS changed_at,
    f.run_id,
    (o.customer_key)::text AS customer_key,
    o.doubt
   FROM (intake.orders o
     JOIN intake.source_files f ON (((f.source_file_id = o.source_file_id) AND (f.state = 'sealed'::text))))
  WHERE o.is_current;

COMMENT ON VIEW bi.orders IS 'Every order that an export states, one row per order, in the version that was stated last. Live. Answers: How much was ordered in each shop? What does the shop say about one order? How much was refunded?';

COMMENT ON COLUMN bi.orders.order_version_id IS 'Key of the row: the current version of the order. It changes when an export states the order differently.';

COMMENT ON COLUMN bi.orders.source IS 'Source in the configuration, for example one shop. With order_id, it identifies the order.';

COMMENT ON COLUMN bi.orders.order_id IS 'Identity at the shop platform. Text, never a number.';

COMMENT ON COLUMN bi.orders.order_name IS 'What people call the order, for example #1001.';

COMMENT ON COLUMN bi.orders.status IS 'The shop''s own status word, in lower case.';

COMMENT ON COLUMN bi.orders.ordered_at IS 'When it was placed, else paid, else first read. Indexed: use it to filter.';

COMMENT ON COLUMN bi.orders.day_utc IS 'Day of ordered_at in UTC.';

COMMENT ON COLUMN bi.orders.placed_at IS 'When the customer ordered.';

COMMENT ON COLUMN bi.orders.paid_at IS 'When it was paid.';

COMMENT ON COLUMN bi.orders.cancelled_at IS 'When it was cancelled; null: not cancelled, according to the export.';

COMMENT ON COLUMN bi.orders.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.orders.total_amount IS 'Order total, in currency; null if the export has none.';

COMMENT ON COLUMN bi.orders.subtotal_amount IS 'After discounts, before shipping, in currency; null if the export has none.';

COMMENT ON COLUMN bi.orders.refunded_amount IS 'Refunded so far, in currency; null if the export does not say.';

COMMENT ON COLUMN bi.orders.discount_codes IS 'Discount codes as written, separated by commas; empty without any. E-mail addresses are masked.';

COMMENT ON COLUMN bi.orders.is_discounted IS 'Whether it has a discount code.';

COMMENT ON COLUMN bi.orders.is_cancelled IS 'Whether the export has a time of cancellation. The status may also say that the order was cancelled.';

COMMENT ON COLUMN bi.orders.is_refunded IS 'Whether it was refunded, wholly or in part.';

COMMENT ON COLUMN bi.orders.is_excluded IS 'Whether a rule of the layout excludes it from being credited: test, cancelled, …; draft, unless the job has drafts: credit. A renewal of a subscription is not, since jobs credit it unless they have renewals: exclude.';

COMMENT ON COLUMN bi.orders.exclusion_reason IS 'The reason of that rule; null if it is not excluded.';

COMMENT ON COLUMN bi.orders.source_file_id IS 'Export that states it.';

COMMENT ON COLUMN bi.orders.line_no IS 'Line of that file on which the order begins.';

COMMENT ON COLUMN bi.orders.changed_at IS 'When this version was stored.';

COMMENT ON COLUMN bi.orders.run_id IS 'Run that read the file, see bi.runs.';

COMMENT ON COLUMN bi.orders.customer_key IS 'Tells customers of a brand apart without saying who they are. Null: unknown, because customer_key of the source is off, it was off when the order was read, or the export names no customer.';

COMMENT ON COLUMN bi.orders.doubt IS 'Why the export may not state the whole order, which is then held: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut), may_be_repeated (rows of it may occur twice), may_be_split (another file may have more of its rows), conflicting_states (another file states something else, and nothing says which is newer), newer_row_rejected (a row that may be newer could not be used), other_order_same_id (another order was stated with its id), refund_in_total (its total fell by just what was refunded). Null: nothing is in doubt.';

CREATE VIEW bi.orders_attributed AS
 SELECT s.job,
    s.source,
    s.order_id,
    s.order_version_id,
    o.order_name,
    s.ordered_at,
    s.day_utc,
    s.disposition,
    s.disposition_reason,
    s.disposition_at,
    (s.target IS NOT NULL) AS is_attributed,
    (s.disposition = 'accepted'::text) AS is_accepted,
    s.is_open,
    s.matched_by,
    s.matched_value,
    s.brand_id,
    s.deal_id,
    s.collab_id,
    s.influencer_handle,
    s.currency,
    s.amount,
    s.entry_id,
    s.disposition AS standing,
    s.disposition_reason AS standing_reason,
    s.disposition_at AS standing_at
   FROM (reporting.order_dispositions s
     LEFT JOIN intake.orders o ON ((o.order_version_id = s.order_version_id)));

COMMENT ON VIEW bi.orders_attributed IS 'Which influencer each order is credited to, or why none, one row per order and job; as of the last refresh (bi.run_health). Answers: Which orders did a deal earn? Why was an order not credited? Which orders are not final yet?';

COMMENT ON COLUMN bi.orders_attributed.job IS 'Job that decided about the order. Two jobs may read the same shop: count orders of one job at a time.';

COMMENT ON COLUMN bi.orders_attributed.source IS 'Source in the configuration. With job and order_id, the key of the row.';

COMMENT ON COLUMN bi.orders_attributed.order_id IS 'Identity at the shop platform. Text, never a number.';

COMMENT ON COLUMN bi.orders_attributed.order_version_id IS 'Version of the order that was decided about, see bi.orders.';

COMMENT ON COLUMN bi.orders_attributed.order_name IS 'What people call the order, for example #1001.';

COMMENT ON COLUMN bi.orders_attributed.ordered_at IS 'When it was placed, else paid, else first read.';

COMMENT ON COLUMN bi.orders_attributed.day_utc IS 'Day of ordered_at in UTC. Indexed: use it to filter.';

COMMENT ON COLUMN bi.orders_attributed.disposition IS 'accepted (by the service), ready (to be sent), in_doubt (sent, but the answer was lost), rejected (by the service), held (a person must decide), excluded (never sent), unattributed (its code, link or handle has no owner), organic (it has none), unaccounted (only after a bug).';

COMMENT ON COLUMN bi.orders_attributed.disposition_reason IS 'Why, for rejected, in_doubt, held, excluded and unattributed.';

COMMENT ON COLUMN bi.orders_attributed.disposition_at IS 'When it reached the disposition; for an accepted order, when it was accepted.';

COMMENT ON COLUMN bi.orders_attributed.is_attributed IS 'Whether it has an owner, and was or will be sent.';

COMMENT ON COLUMN bi.orders_attributed.is_accepted IS 'Whether the service has credited it.';

COMMENT ON COLUMN bi.orders_attributed.is_open IS 'Whether its disposition may change without a new export: it is ready, in doubt, rejected or held.';

COMMENT ON COLUMN bi.orders_attributed.matched_by IS 'What named the influencer: explicit (columns of the export), code, link.';

COMMENT ON COLUMN bi.orders_attributed.matched_value IS 'The code or link that matched, or those that matched nothing. E-mail addresses are masked.';

COMMENT ON COLUMN bi.orders_attributed.brand_id IS 'Brand that it is credited for, see bi.brands.';

COMMENT ON COLUMN bi.orders_attributed.deal_id IS 'Deal that the service credited, or else the deal it is attributed to, see bi.deals. Null for a handle whose deal only the service knows.';

COMMENT ON COLUMN bi.orders_attributed.collab_id IS 'Collaboration within the deal, if known.';

COMMENT ON COLUMN bi.orders_attributed.influencer_handle IS 'Influencer, if the codes or the export name one.';

COMMENT ON COLUMN bi.orders_attributed.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.orders_attributed.amount IS 'Revenue as it was sent, or else by the rule of the job, in currency. Null: unknown, which is not 0.';

COMMENT ON COLUMN bi.orders_attributed.entry_id IS 'Entry of the ledger, if there is one; see bi.adjustments and bi.doubts.';

COMMENT ON COLUMN bi.orders_attributed.standing IS 'The earlier name of disposition. It will be removed in 0.4.0.';

COMMENT ON COLUMN bi.orders_attributed.standing_reason IS 'The earlier name of disposition_reason. It will be removed in 0.4.0.';

COMMENT ON COLUMN bi.orders_attributed.standing_at IS 'The earlier name of disposition_at. It will be removed in 0.4.0.';

CREATE TABLE intake.outreach_candidates (
    job text NOT NULL,
    influencer text NOT NULL,
    outreach_id text NOT NULL,
    platform text,
    user_id text,
    username text,
    followers bigint,
    outcome text NOT NULL,
    reason text,
    entry_id bigint,
    run_id bigint NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT outreach_candidates_outcome_check CHECK ((outcome = ANY (ARRAY['in_batch'::text, 'waiting'::text, 'excluded'::text]))),
    CONSTRAINT who_is_in_a_batch_has_an_entry CHECK (((outcome = 'in_batch'::text) = (entry_id IS NOT NULL))),
    CONSTRAINT who_is_in_no_batch_says_why CHECK (((outcome = 'in_batch'::text) = (reason IS NULL)))
);

COMMENT ON TABLE intake.outreach_candidates IS 'One row for each job of the kind submit-outreach and influencer among the customers of its brand: the decision of the last run. The next run deletes forgotten customers.';

COMMENT ON COLUMN intake.outreach_candidates.job IS 'Job that decided.';

COMMENT ON COLUMN intake.outreach_candidates.influencer IS 'Platform and its user id, or what else is known where there is none.';

COMMENT ON COLUMN intake.outreach_candidates.outreach_id IS 'Outreach campaign of the job.';

COMMENT ON COLUMN intake.outreach_candidates.platform IS 'instagram, tiktok, youtube or another word of the service, in lower case.';

COMMENT ON COLUMN intake.outreach_candidates.user_id IS 'Id of the influencer on the platform.';

COMMENT ON COLUMN intake.outreach_candidates.username IS 'Public handle on the platform.';

COMMENT ON COLUMN intake.outreach_candidates.followers IS 'Followers when last looked up.';

COMMENT ON COLUMN intake.outreach_candidates.outcome IS 'in_batch (in an entry of the ledger), waiting (chosen, and beyond what the run may submit), excluded.';

COMMENT ON COLUMN intake.outreach_candidates.reason IS 'Why in no batch: credits, limit, approval; or unsubscribed, forgotten, no_user_id, other_platform, too_few_followers, …';

COMMENT ON COLUMN intake.outreach_candidates.entry_id IS 'Entry of the ledger whose batch holds the influencer.';

COMMENT ON COLUMN intake.outreach_candidates.run_id IS 'Run that decided so.';

COMMENT ON COLUMN intake.outreach_candidates.decided_at IS 'When that was decided.';

CREATE VIEW bi.outreach_submissions AS
 SELECT e.entry_id,
    e.job,
    (e.details ->> 'outreach'::text) AS outreach_id,
    e.brand_id,
    (e.details ->> 'platform'::text) AS platform,
    reporting.without_addresses(m.user_id) AS platform_user_id,
    reporting.without_addresses(l.username) AS username,
    l.followers,
    jsonb_array_length((e.details -> 'ids'::text)) AS influencers_in_request,
        CASE e.state
            WHEN 'sending'::text THEN 'in_doubt'::text
            ELSE e.state
        END AS state,
    e.state_reason,
    e.state_changed_at,
    d.deal_id,
    (d.deal_id IS NOT NULL) AS is_in_a_deal,
    e.run_id
   FROM (((ledger.entries e
     CROSS JOIN LATERAL jsonb_array_elements_text((e.details -> 'ids'::text)) m(user_id))
     LEFT JOIN LATERAL ( SELECT l_1.username,
            l_1.followers
           FROM intake.outreach_candidates l_1
          WHERE ((l_1.user_id = m.user_id) AND (l_1.platform = (e.details ->> 'platform'::text)))
          ORDER BY l_1.decided_at DESC
         LIMIT 1) l ON (true))
     LEFT JOIN ( SELECT ledger.fold_handle(deal_versions.influencer_handle) AS handle,
            lower(deal_versions.platform) AS platform,
            min(deal_versions.deal_id) AS deal_id
           FROM mirror.deal_versions
          WHERE (deal_versions.is_latest AND deal_versions.is_current AND (deal_versions.influencer_handle IS NOT NULL))
          GROUP BY (ledger.fold_handle(deal_versions.influencer_handle)), (lower(deal_versions.platform))) d ON (((d.handle = ledger.fold_handle(l.username)) AND (d.platform = (e.details ->> 'platform'::text)))))
  WHERE ((e.effect = 'outreach'::text) AND (NOT ((e.state = 'held'::text) AND (e.attempt = e.not_sent))));

COMMENT ON VIEW bi.outreach_submissions IS 'Influencers among the customers who were or will be submitted to an outreach campaign, one row per request and influencer. After a refused request, the next run sends smaller ones. Live. Answers: How many influencers were submitted to each outreach, and how many have a deal by now? Which submissions were refused or are in doubt?';

COMMENT ON COLUMN bi.outreach_submissions.entry_id IS 'Request: entry of the ledger. Counts up.';

COMMENT ON COLUMN bi.outreach_submissions.job IS 'Job that made the request.';

COMMENT ON COLUMN bi.outreach_submissions.outreach_id IS 'Outreach campaign.';

COMMENT ON COLUMN bi.outreach_submissions.brand_id IS 'Brand of the customer, see bi.brands.';

COMMENT ON COLUMN bi.outreach_submissions.platform IS 'instagram, tiktok or youtube.';

COMMENT ON COLUMN bi.outreach_submissions.platform_user_id IS 'Id of the influencer on the platform.';

COMMENT ON COLUMN bi.outreach_submissions.username IS 'Public handle; null if the customer was forgotten since.';

COMMENT ON COLUMN bi.outreach_submissions.followers IS 'Followers when last looked up; null if the customer was forgotten since.';

COMMENT ON COLUMN bi.outreach_submissions.influencers_in_request IS 'Number of influencers in the same request.';

COMMENT ON COLUMN bi.outreach_submissions.state IS 'State of the request: accepted, ready (to be sent), rejected, in_doubt, written_off.';

COMMENT ON COLUMN bi.outreach_submissions.state_reason IS 'Why it is in its state; for an accepted request, how many influencers the service added.';

COMMENT ON COLUMN bi.outreach_submissions.state_changed_at IS 'When it reached its state.';

COMMENT ON COLUMN bi.outreach_submissions.deal_id IS 'A deal with the same handle and platform, see bi.deals; null: none is known.';

COMMENT ON COLUMN bi.outreach_submissions.is_in_a_deal IS 'Whether there is such a deal.';

COMMENT ON COLUMN bi.outreach_submissions.run_id IS 'Run that made the request, see bi.runs.';

CREATE TABLE ops.payment_proposals (
    proposal_id bigint NOT NULL,
    month date NOT NULL,
    message_id text NOT NULL,
    proposed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    proposed_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT payment_proposals_message_id_check CHECK ((message_id ~ '^[A-Z0-9-]{1,35}$'::text)),
    CONSTRAINT payment_proposals_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT payment_proposals_proposed_by_check CHECK ((proposed_by <> ''::text)),
    CONSTRAINT payment_proposals_reason_check CHECK ((reason <> ''::text))
);

COMMENT ON TABLE ops.payment_proposals IS 'Decisions to pay what is unpaid of the statements up to a month. Their payments: ops.payments.';

COMMENT ON COLUMN ops.payment_proposals.proposal_id IS 'Counts up.';

COMMENT ON COLUMN ops.payment_proposals.month IS 'First day of the last closed month in it.';

COMMENT ON COLUMN ops.payment_proposals.message_id IS 'MsgId of its pain.001 file, a digest of its payments. It never changes, so that a bank can refuse the same file twice.';

COMMENT ON COLUMN ops.payment_proposals.proposed_at IS 'When it was made.';

COMMENT ON COLUMN ops.payment_proposals.proposed_by IS 'Who made it.';

COMMENT ON COLUMN ops.payment_proposals.reason IS 'Why, in the words of this person.';

CREATE TABLE ops.payments (
    payment_id bigint NOT NULL,
    proposal_id bigint NOT NULL,
    creator text NOT NULL,
    currency text NOT NULL,
    amount numeric(24,4) NOT NULL,
    reference text NOT NULL,
    state text DEFAULT 'proposed'::text NOT NULL,
    is_live boolean GENERATED ALWAYS AS ((state <> ALL (ARRAY['returned'::text, 'cancelled'::text]))) STORED NOT NULL,
    exported_as text,
    exported_at timestamp with time zone,
    exported_by text,
    account_mark text,
    paid_amount numeric(24,4) DEFAULT 0 NOT NULL,
    paid_on date,
    settled_by text,
    settle_reason text,
    elsewhere_amount numeric(24,4) DEFAULT 0 NOT NULL,
    elsewhere_on date,
    overpaid_amount numeric(24,4) DEFAULT 0 NOT NULL,
    CONSTRAINT a_negative_one_is_settled CHECK (((amount > (0)::numeric) OR ((amount < (0)::numeric) AND (state = 'paid'::text) AND (exported_at IS NULL) AND (elsewhere_amount = amount)))),
    CONSTRAINT an_export_is_whole CHECK (((num_nulls(exported_as, exported_at, exported_by) = ANY (ARRAY[0, 3])) AND ((exported_at IS NULL) OR (account_mark IS NOT NULL)))),
    CONSTRAINT no_more_is_paid_than_owed CHECK (((paid_amount = amount) OR ((paid_amount >= (0)::numeric) AND (paid_amount <= amount)))),
    CONSTRAINT payments_account_mark_check CHECK ((account_mark ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{4}$'::text)),
    CONSTRAINT payments_creator_check CHECK ((creator <> ''::text)),
    CONSTRAINT payments_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payments_exported_as_check CHECK ((exported_as = ANY (ARRAY['pain.001'::text, 'csv'::text]))),
    CONSTRAINT payments_exported_by_check CHECK ((exported_by <> ''::text)),
    CONSTRAINT payments_overpaid_amount_check CHECK ((overpaid_amount >= (0)::numeric)),
    CONSTRAINT payments_reference_check CHECK ((reference ~ '^[A-Z0-9-]{1,35}$'::text)),
    CONSTRAINT payments_settle_reason_check CHECK ((settle_reason <> ''::text)),
    CONSTRAINT payments_settled_by_check CHECK ((settled_by <> ''::text)),
    CONSTRAINT payments_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'exported'::text, 'partly_paid'::text, 'paid'::text, 'returned'::text, 'cancelled'::text]))),
    CONSTRAINT the_bank_pays_what_was_exported CHECK (
CASE state
    WHEN 'proposed'::text THEN (exported_at IS NULL)
    WHEN 'cancelled'::text THEN true
    WHEN 'paid'::text THEN ((exported_at IS NOT NULL) OR (settled_by IS NOT NULL))
    ELSE (exported_at IS NOT NULL)
END),
    CONSTRAINT the_state_says_what_was_paid CHECK ((
CASE state
    WHEN 'paid'::text THEN (paid_amount = amount)
    WHEN 'partly_paid'::text THEN ((paid_amount > (0)::numeric) AND (paid_amount < amount))
    ELSE (paid_amount = (0)::numeric)
END AND ((paid_on IS NULL) = (paid_amount = (0)::numeric)))),
    CONSTRAINT who_paid_elsewhere_says_so CHECK ((((elsewhere_amount <> (0)::numeric) = ((settled_by IS NOT NULL) AND (state <> 'cancelled'::text))) AND ((elsewhere_amount <> (0)::numeric) = (elsewhere_on IS NOT NULL)) AND ((elsewhere_amount = amount) OR ((elsewhere_amount >= (0)::numeric) AND (elsewhere_amount <= paid_amount))))),
    CONSTRAINT who_settles_it_says_why CHECK (((num_nulls(settled_by, settle_reason) = ANY (ARRAY[0, 2])) AND ((state <> 'cancelled'::text) OR (settled_by IS NOT NULL))))
);

COMMENT ON TABLE ops.payments IS 'One payment for each creator and currency of a proposal. While it is live, nothing else can pay its items.';

COMMENT ON COLUMN ops.payments.payment_id IS 'Counts up.';

COMMENT ON COLUMN ops.payments.proposal_id IS 'See ops.payment_proposals.';

COMMENT ON COLUMN ops.payments.creator IS 'Whom it pays: the handle, folded, or the deal, as payees.csv names it. The file has the bank data, which is read when it is exported and not stored.';

COMMENT ON COLUMN ops.payments.currency IS 'ISO 4217.';

COMMENT ON COLUMN ops.payments.amount IS 'Sum of its items, in currency. Negative: what the creator owed is settled, and no bank has it.';

COMMENT ON COLUMN ops.payments.reference IS 'EndToEndId, a digest of what it pays. It never changes, and comes back in the file of the bank.';

COMMENT ON COLUMN ops.payments.state IS 'proposed, exported (a file for the bank was written), partly_paid or paid (the bank says so, or a person paid it elsewhere), returned (the money came back), cancelled.';

COMMENT ON COLUMN ops.payments.is_live IS 'Whether its items are claimed by it. False if it was cancelled or returned: they can be proposed again.';

COMMENT ON COLUMN ops.payments.exported_as IS 'Kind of file: pain.001 or csv. It is in no file of the other kind, so that it is not sent twice. Null: not exported.';

COMMENT ON COLUMN ops.payments.exported_at IS 'When it was first exported, before the file was written.';

COMMENT ON COLUMN ops.payments.exported_by IS 'Who exported it.';

COMMENT ON COLUMN ops.payments.account_mark IS 'Country, check digits and last four characters of the IBAN when it was proposed, by which a change is noticed. Not the IBAN. Null: paid elsewhere, or proposed by an earlier version and not exported.';

COMMENT ON COLUMN ops.payments.paid_amount IS 'What the bank says was paid, less what came back, and what a person paid elsewhere, in currency.';

COMMENT ON COLUMN ops.payments.paid_on IS 'Day of the last booking that paid it.';

COMMENT ON COLUMN ops.payments.settled_by IS 'Who cancelled it, or paid it elsewhere.';

COMMENT ON COLUMN ops.payments.settle_reason IS 'Why, in the words of this person.';

COMMENT ON COLUMN ops.payments.elsewhere_amount IS 'Part of paid_amount that a person paid without the file for the bank, or agreed not to owe, in currency: the sum of ops.payments_elsewhere.';

COMMENT ON COLUMN ops.payments.elsewhere_on IS 'Day of the part that was recorded last. Null: nothing was paid elsewhere.';

COMMENT ON COLUMN ops.payments.overpaid_amount IS 'What the bank paid beyond amount and has not come back, in currency; not in paid_amount.';

CREATE VIEW bi.payments AS
 SELECT (p.payment_id)::text AS payment_id,
    (p.proposal_id)::text AS proposal_id,
    r.month AS month_local,
    reporting.without_addresses(p.creator) AS influencer_handle,
    p.currency,
    p.amount,
    p.state,
    GREATEST(p.paid_amount, (0)::numeric) AS paid_amount,
    p.paid_on AS paid_local,
    p.exported_as,
    p.exported_at,
    r.proposed_at,
    p.overpaid_amount
   FROM (ops.payments p
     JOIN ops.payment_proposals r USING (proposal_id));

COMMENT ON VIEW bi.payments IS 'Payments of closed statements, one row per payment; without bank data. Live. Answers: What was each creator paid? Which payments has the bank not confirmed?';

COMMENT ON COLUMN bi.payments.payment_id IS 'Key of the row.';

COMMENT ON COLUMN bi.payments.proposal_id IS 'Payments that were proposed together.';

COMMENT ON COLUMN bi.payments.month_local IS 'First day of the last month in it. It also has what earlier months carried forward.';

COMMENT ON COLUMN bi.payments.influencer_handle IS 'Creator, or the deal, as payees.csv names the account.';

COMMENT ON COLUMN bi.payments.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.payments.amount IS 'What is to be paid, in currency. Do not add up cancelled and returned payments: their amounts are proposed again. Negative: what the creator owed is settled; it was paid back, or is not taken back, and is set off against nothing.';

COMMENT ON COLUMN bi.payments.state IS 'proposed, exported, partly_paid, paid, returned or cancelled.';

COMMENT ON COLUMN bi.payments.paid_amount IS 'What the bank says was paid, less what came back, in currency; or what a person paid elsewhere. 0 if amount is negative: what a creator owed was not paid to anybody.';

COMMENT ON COLUMN bi.payments.paid_local IS 'Day of the last booking that paid it, or on which a person paid or settled it. Null: nothing is paid.';

COMMENT ON COLUMN bi.payments.exported_as IS 'Kind of file for the bank: pain.001 or csv. Null: none, it is not exported or was paid elsewhere.';

COMMENT ON COLUMN bi.payments.exported_at IS 'When the file was first written.';

COMMENT ON COLUMN bi.payments.proposed_at IS 'When it was proposed.';

COMMENT ON COLUMN bi.payments.overpaid_amount IS 'What the bank paid beyond amount and did not come back, in currency; not in paid_amount. It is of no statement, and set off against none.';

CREATE TABLE reporting.reconciliation (
    deal_id text NOT NULL,
    first_read_at timestamp with time zone,
    read_at timestamp with time zone,
    theirs numeric,
    ours bigint NOT NULL,
    before numeric,
    others bigint NOT NULL,
    doubts bigint NOT NULL,
    written_off bigint NOT NULL,
    late bigint NOT NULL,
    credited_twice bigint NOT NULL,
    afterwards bigint NOT NULL,
    unexplained numeric,
    account_currency text,
    theirs_amount numeric,
    ours_amount numeric(24,4),
    other_currency bigint NOT NULL,
    unexplained_amount numeric(24,4),
    paid_amount numeric,
    run_id bigint NOT NULL,
    unproven numeric,
    unproven_amount numeric(24,4),
    doubts_amount numeric(24,4),
    doubt_ids bigint[]
);

COMMENT ON TABLE reporting.reconciliation IS 'What we posted against what the service counts, one row a deal. Replaced whole each time the mirror publishes.';

COMMENT ON COLUMN reporting.reconciliation.deal_id IS 'Deal.';

COMMENT ON COLUMN reporting.reconciliation.first_read_at IS 'When the mirror first read a total of orders; null: never.';

COMMENT ON COLUMN reporting.reconciliation.read_at IS 'When it last did.';

COMMENT ON COLUMN reporting.reconciliation.theirs IS 'Orders that the service counts, of all channels; null where it does not say.';

COMMENT ON COLUMN reporting.reconciliation.ours IS 'Orders that we posted, and whose acceptance was recorded by read_at.';

COMMENT ON COLUMN reporting.reconciliation.before IS 'What the service counted beyond ours at first_read_at.';

COMMENT ON COLUMN reporting.reconciliation.others IS 'Orders posted by somebody else since, as events say.';

COMMENT ON COLUMN reporting.reconciliation.doubts IS 'In doubt: may be counted or not.';

COMMENT ON COLUMN reporting.reconciliation.written_off IS 'Written off: may be counted or not.';

COMMENT ON COLUMN reporting.reconciliation.late IS 'On their way while the deal was read: may be counted or not.';

COMMENT ON COLUMN reporting.reconciliation.credited_twice IS 'Further requests that the service accepted for an order: may be counted or not.';

COMMENT ON COLUMN reporting.reconciliation.afterwards IS 'Accepted after read_at: not counted yet.';

COMMENT ON COLUMN reporting.reconciliation.unexplained IS 'Orders that nothing else explains; above 0 the service counts more, below 0 fewer.';

COMMENT ON COLUMN reporting.reconciliation.account_currency IS 'ISO 4217, of the amounts; null: unknown.';

COMMENT ON COLUMN reporting.reconciliation.theirs_amount IS 'Sales that the service counts.';

COMMENT ON COLUMN reporting.reconciliation.ours_amount IS 'Revenue of ours; null where an order is in another currency.';

COMMENT ON COLUMN reporting.reconciliation.other_currency IS 'Orders in another currency whose amount in the currency of the account is unknown.';

COMMENT ON COLUMN reporting.reconciliation.unexplained_amount IS 'Amount that nothing else explains; null: cannot be compared.';

COMMENT ON COLUMN reporting.reconciliation.paid_amount IS 'Paid out in all, as the service says.';

COMMENT ON COLUMN reporting.reconciliation.run_id IS 'Run of the mirror that published the totals.';

COMMENT ON COLUMN reporting.reconciliation.unproven IS 'Growth of the total of orders beyond those that were certainly counted. Null: a total is unknown.';

COMMENT ON COLUMN reporting.reconciliation.unproven_amount IS 'The same for sales, in account_currency. Null: cannot be compared.';

COMMENT ON COLUMN reporting.reconciliation.doubts_amount IS 'Revenue of the orders in doubt, in account_currency. Null: none, or cannot be compared.';

COMMENT ON COLUMN reporting.reconciliation.doubt_ids IS 'Entries in doubt, see ledger.entries. Null: none, more than 20, or growth says nothing about them, as for orders that were sent twice.';

CREATE VIEW bi.reconciliation AS
 SELECT r.deal_id,
    reporting.without_addresses(d.influencer_handle) AS influencer_handle,
    d.brand_id,
    r.first_read_at,
    r.read_at,
    r.theirs AS counted_orders,
    r.ours AS posted_orders,
    r.before AS earlier_orders,
    r.others AS other_orders,
    (((r.doubts + r.written_off) + r.late) + r.credited_twice) AS possible_orders,
    r.afterwards AS later_orders,
    r.unexplained AS unexplained_orders,
    r.theirs_amount AS sales_in_account_currency,
    r.ours_amount AS posted_in_account_currency,
    r.other_currency AS other_currency_orders,
    r.unexplained_amount AS unexplained_in_account_currency,
    r.paid_amount AS paid_in_account_currency,
    r.account_currency,
    r.run_id
   FROM (reporting.reconciliation r
     LEFT JOIN mirror.deal_versions d ON (((d.deal_id = r.deal_id) AND d.is_latest)));

COMMENT ON VIEW bi.reconciliation IS 'Posted orders compared with those that the service counts, one row per deal, as of the last publication of the mirror. docs/money.md explains each number. Answers: For which deals does the service count more or fewer orders than were posted?';

COMMENT ON COLUMN bi.reconciliation.deal_id IS 'Key of the row: deal, see bi.deals.';

COMMENT ON COLUMN bi.reconciliation.influencer_handle IS 'Influencer, if the mirror knows it.';

COMMENT ON COLUMN bi.reconciliation.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.reconciliation.first_read_at IS 'When the mirror first read a total; null: never.';

COMMENT ON COLUMN bi.reconciliation.read_at IS 'When the mirror last read a total; null: never.';

COMMENT ON COLUMN bi.reconciliation.counted_orders IS 'Orders that the service counts, of all channels. Null: the service does not say.';

COMMENT ON COLUMN bi.reconciliation.posted_orders IS 'Orders that this tool posted and that were accepted by read_at.';

COMMENT ON COLUMN bi.reconciliation.earlier_orders IS 'Orders that the service counted at first_read_at beyond those that this tool had posted: from earlier times, or from other tools. Null: unknown.';

COMMENT ON COLUMN bi.reconciliation.other_orders IS 'Orders that another tool posted since then, according to events of the service.';

COMMENT ON COLUMN bi.reconciliation.possible_orders IS 'Orders that may be counted: in doubt, written off, accepted twice, or in flight while the deal was read.';

COMMENT ON COLUMN bi.reconciliation.later_orders IS 'Orders that were accepted after read_at, and are not counted yet.';

COMMENT ON COLUMN bi.reconciliation.unexplained_orders IS 'Unexplained difference: above 0, the service counts more orders, below 0, fewer. Null: unknown.';

COMMENT ON COLUMN bi.reconciliation.sales_in_account_currency IS 'Sales that the service counts. Null: the service does not say.';

COMMENT ON COLUMN bi.reconciliation.posted_in_account_currency IS 'Revenue of posted_orders. Null: an order has another currency, or the currency of the account is unknown.';

COMMENT ON COLUMN bi.reconciliation.other_currency_orders IS 'Orders in another currency, for which no event states the amount in the currency of the account.';

COMMENT ON COLUMN bi.reconciliation.unexplained_in_account_currency IS 'Unexplained amount. Null: amounts cannot be compared.';

COMMENT ON COLUMN bi.reconciliation.paid_in_account_currency IS 'Total paid out, according to the service.';

COMMENT ON COLUMN bi.reconciliation.account_currency IS 'Currency of the account (ISO 4217). Null: unknown.';

COMMENT ON COLUMN bi.reconciliation.run_id IS 'Run of the mirror that published the totals, see bi.runs.';

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
    order_id text,
    order_name text,
    changed_at timestamp with time zone,
    CONSTRAINT rejected_rows_row_count_check CHECK ((row_count > 0))
);

COMMENT ON TABLE intake.rejected_rows IS 'Rows that could not be used, each with its reason. The row itself stays in the file; `rejected --export` fetches it from there.';

COMMENT ON COLUMN intake.rejected_rows.source_file_id IS 'File that contains it.';

COMMENT ON COLUMN intake.rejected_rows.line_no IS 'Physical line on which the record begins, 1-based.';

COMMENT ON COLUMN intake.rejected_rows.record_no IS '1-based, header excluded.';

COMMENT ON COLUMN intake.rejected_rows.code IS 'Machine name of the problem.';

COMMENT ON COLUMN intake.rejected_rows.column_name IS 'Header of the column at fault.';

COMMENT ON COLUMN intake.rejected_rows.value IS 'The faulty value, cut, with e-mail addresses masked. In columns about people, and in totals without a label, only the first letter of each word is kept.';

COMMENT ON COLUMN intake.rejected_rows.reason IS 'What is wrong.';

COMMENT ON COLUMN intake.rejected_rows.help IS 'How to fix it.';

COMMENT ON COLUMN intake.rejected_rows.row_count IS 'Number of rows: more than one when a whole order is rejected.';

COMMENT ON COLUMN intake.rejected_rows.run_id IS 'Run that rejected it.';

COMMENT ON COLUMN intake.rejected_rows.first_seen_at IS 'When it was rejected.';

COMMENT ON COLUMN intake.rejected_rows.order_id IS 'Id of the order that the row states, if it can be read. A file that is read later and states the order settles the row. Null: unknown, or the file is not one of orders.';

COMMENT ON COLUMN intake.rejected_rows.order_name IS 'Name of that order for people, or what groups its rows, if the row says it and it is not the id.';

COMMENT ON COLUMN intake.rejected_rows.changed_at IS 'When the order last changed, as rows say that contradict each other about it. Infinity or null: not known. An order that changed later is not in doubt because of them.';

CREATE TABLE intake.restated_orders (
    source_file_id bigint NOT NULL,
    order_version_ids int8multirange NOT NULL
);

COMMENT ON TABLE intake.restated_orders IS 'Versions of orders that a later file states again, a few rows a file: so a file that is older than both does not replace them.';

COMMENT ON COLUMN intake.restated_orders.source_file_id IS 'File that states them again.';

COMMENT ON COLUMN intake.restated_orders.order_version_ids IS 'The versions, as ranges: most of them follow one another.';

CREATE VIEW bi.rejected_rows AS
 SELECT f.source,
    f.uri AS file,
    r.line_no,
    r.record_no,
    r.code,
    r.column_name,
    r.reason,
    r.row_count AS rows,
    r.order_id,
    r.order_name,
    r.first_seen_at AS rejected_at,
    ((r.first_seen_at AT TIME ZONE 'UTC'::text))::date AS day_utc,
    r.run_id,
    ((r.order_id IS NOT NULL) AND (EXISTS ( SELECT
           FROM ((intake.orders c
             CROSS JOIN LATERAL ( SELECT v_1.order_version_id,
                    v_1.source_file_id,
                    v_1.stated_hash
                   FROM intake.orders v_1
                  WHERE (v_1.order_version_id = COALESCE(c.stated_version_id, c.order_version_id))
                 LIMIT 1) v)
             JOIN intake.source_files stated ON (((stated.source_file_id = v.source_file_id) AND (stated.state = 'sealed'::text))))
          WHERE ((c.source = f.source) AND (c.order_id = r.order_id) AND c.is_current AND (((v.source_file_id > r.source_file_id) AND
                CASE
                    WHEN (v.stated_hash IS NOT NULL) THEN (stated.aged_at > f.aged_at)
                    ELSE COALESCE((stated.aged_at >= f.aged_at), ((stated.aged_at IS NULL) AND (f.aged_at IS NULL)))
                END) OR (EXISTS ( SELECT
                   FROM (intake.restated_orders s
                     JOIN intake.source_files again ON ((again.source_file_id = s.source_file_id)))
                  WHERE ((s.source_file_id > r.source_file_id) AND ((s.order_version_ids @> v.order_version_id) OR (s.order_version_ids @> c.order_version_id)) AND COALESCE((again.aged_at >= f.aged_at), ((again.aged_at IS NULL) AND (f.aged_at IS NULL))))))))))) AS is_settled
   FROM (intake.rejected_rows r
     JOIN intake.source_files f ON ((f.source_file_id = r.source_file_id)))
  WHERE ((f.state <> 'reading'::text) AND (NOT (EXISTS ( SELECT
           FROM intake.source_files later
          WHERE ((later.source_file_id = f.superseded_by) AND (later.state = 'sealed'::text))))));

COMMENT ON VIEW bi.rejected_rows IS 'Rows of files that could not be used, one row per rejection. Live. Answers: Which rows still wait for a correction?';

COMMENT ON COLUMN bi.rejected_rows.source IS 'Source in the configuration.';

COMMENT ON COLUMN bi.rejected_rows.file IS 'Address of the file. With record_no, the key of the row.';

COMMENT ON COLUMN bi.rejected_rows.line_no IS 'Physical line on which the row begins, 1-based.';

COMMENT ON COLUMN bi.rejected_rows.record_no IS 'Number of the record, header excluded, 1-based.';

COMMENT ON COLUMN bi.rejected_rows.code IS 'Kind of problem, for example bad_money.';

COMMENT ON COLUMN bi.rejected_rows.column_name IS 'Header of the column at fault; null if it is the whole row.';

COMMENT ON COLUMN bi.rejected_rows.reason IS 'What is wrong.';

COMMENT ON COLUMN bi.rejected_rows.rows IS 'Number of rows of the file: more than one if a whole order is rejected.';

COMMENT ON COLUMN bi.rejected_rows.order_id IS 'Order that the row states, see bi.orders; null if it is not known.';

COMMENT ON COLUMN bi.rejected_rows.order_name IS 'Name of that order for people, if the row says it.';

COMMENT ON COLUMN bi.rejected_rows.rejected_at IS 'When it was rejected.';

COMMENT ON COLUMN bi.rejected_rows.day_utc IS 'Day of rejected_at in UTC.';

COMMENT ON COLUMN bi.rejected_rows.run_id IS 'Run that rejected it, see bi.runs.';

COMMENT ON COLUMN bi.rejected_rows.is_settled IS 'Whether a file that was read later, and is not older, states the order.';

CREATE TABLE reporting.return_fees (
    month_utc date NOT NULL,
    deal_id text NOT NULL,
    currency text NOT NULL,
    fee_amount numeric(18,4) NOT NULL,
    fee_converted numeric
);

COMMENT ON TABLE reporting.return_fees IS 'Fixed fees of the terms. Replaced whole when the terms change.';

COMMENT ON COLUMN reporting.return_fees.month_utc IS 'First day of the month in which it is owed.';

COMMENT ON COLUMN reporting.return_fees.deal_id IS 'Deal; empty for the fee of a code.';

COMMENT ON COLUMN reporting.return_fees.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.return_fees.fee_amount IS 'Fee, in currency.';

COMMENT ON COLUMN reporting.return_fees.fee_converted IS 'Fee in the reporting currency, at the rate of valid_from; null: unknown.';

CREATE TABLE reporting.return_rules (
    only_row boolean DEFAULT true NOT NULL,
    rules_hash text NOT NULL,
    margin_percent numeric(7,4),
    reporting_currency text,
    CONSTRAINT return_rules_only_row_check CHECK (only_row)
);

COMMENT ON TABLE reporting.return_rules IS 'By what reporting.return_months was added up: with other rules all of it is added up anew.';

COMMENT ON COLUMN reporting.return_rules.only_row IS 'There is one row.';

COMMENT ON COLUMN reporting.return_rules.rules_hash IS 'Digest of terms, rates, time zone, and since when customers are known.';

COMMENT ON COLUMN reporting.return_rules.margin_percent IS 'statements.margin_percent; null: not configured.';

COMMENT ON COLUMN reporting.return_rules.reporting_currency IS 'statements.reporting_currency; null: not configured.';

CREATE VIEW bi.returns_monthly AS
 SELECT m.month_utc,
    m.deal_id,
    m.influencer_handle,
    m.brand_id,
    b.name AS brand_name,
    m.dealflow_id,
    f.name AS dealflow_name,
    m.currency,
    m.orders,
    m.sent_amount,
    m.net_amount,
    m.unrated_orders,
    m.commission_amount,
    m.fee_amount,
    m.cost_amount,
    m.margin_percent,
    round(((m.net_amount * ( SELECT (return_rules.margin_percent / (100)::numeric)
           FROM reporting.return_rules)) - m.cost_amount), 4) AS profit_amount,
    round(((((m.net_amount * ( SELECT (return_rules.margin_percent / (100)::numeric)
           FROM reporting.return_rules)) - m.cost_amount) * (100)::numeric) / NULLIF(m.cost_amount, (0)::numeric)), 2) AS roi_percent,
    round((m.net_amount / NULLIF(m.cost_amount, (0)::numeric)), 4) AS net_per_cost,
    m.new_customers,
    m.returning_orders,
    m.unknown_orders,
        CASE
            WHEN (m.unknown_orders = 0) THEN round((m.cost_amount / (NULLIF(m.new_customers, 0))::numeric), 4)
            ELSE NULL::numeric
        END AS cost_per_new_customer_amount,
    NULLIF(concat_ws(', '::text,
        CASE
            WHEN (m.unrated_orders > 0) THEN 'rate'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (m.unlined_orders > 0) THEN 'products'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (m.unvalued_orders > 0) THEN 'refunds'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (m.margin_percent IS NULL) THEN 'margin'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (m.unknown_orders > 0) THEN 'customers'::text
            ELSE NULL::text
        END,
        CASE
            WHEN ((m.unconverted_orders > 0) OR m.is_fee_unconverted) THEN 'exchange'::text
            ELSE NULL::text
        END), ''::text) AS unknown,
    m.reporting_currency,
    m.unconverted_orders,
    m.net_reporting_amount,
    m.cost_reporting_amount,
    ((m.net_reporting_amount * ( SELECT (return_rules.margin_percent * 0.01)
           FROM reporting.return_rules)) - m.cost_reporting_amount) AS profit_reporting_amount,
    m.unlined_orders,
    m.unvalued_orders,
    m.uncosted_orders,
    m.net_at_least_amount,
    m.cost_at_least_amount,
    m.net_reporting_at_least_amount,
    m.cost_reporting_at_least_amount
   FROM ((( SELECT r.month_utc,
            NULLIF(r.deal_id, ''::text) AS deal_id,
            COALESCE(reporting.without_addresses(COALESCE(NULLIF(d.influencer_handle, ''::text), c.influencer_handle)), r.influencer_handle) AS influencer_handle,
            COALESCE(NULLIF(r.brand_id, ''::text), d.brand_id) AS brand_id,
            d.dealflow_id,
            r.currency,
            r.orders,
            r.sent_amount,
                CASE
                    WHEN (r.unvalued_orders = 0) THEN r.net_amount
                    ELSE NULL::numeric
                END AS net_amount,
            r.unrated_orders,
            r.unlined_orders,
            r.unvalued_orders,
            u.uncosted_orders,
                CASE
                    WHEN (u.uncosted_orders = 0) THEN r.commission_amount
                    ELSE NULL::numeric
                END AS commission_amount,
            r.fee_amount,
                CASE
                    WHEN (u.uncosted_orders = 0) THEN (r.commission_amount + r.fee_amount)
                    ELSE NULL::numeric
                END AS cost_amount,
            r.net_amount AS net_at_least_amount,
            (r.commission_amount + r.fee_amount) AS cost_at_least_amount,
            rules.margin_percent,
            r.new_customers,
            r.returning_orders,
            r.unknown_orders,
            rules.reporting_currency,
                CASE
                    WHEN (rules.reporting_currency IS NOT NULL) THEN r.unconverted_orders
                    ELSE NULL::bigint
                END AS unconverted_orders,
            ((rules.reporting_currency IS NOT NULL) AND (r.fee_converted IS NULL)) AS is_fee_unconverted,
                CASE
                    WHEN (v.is_converted AND (r.unvalued_orders = 0)) THEN r.net_converted
                    ELSE NULL::numeric
                END AS net_reporting_amount,
                CASE
                    WHEN (v.is_converted AND (u.uncosted_orders = 0)) THEN (r.commission_converted + r.fee_converted)
                    ELSE NULL::numeric
                END AS cost_reporting_amount,
                CASE
                    WHEN v.is_converted THEN r.net_converted
                    ELSE NULL::numeric
                END AS net_reporting_at_least_amount,
                CASE
                    WHEN v.is_converted THEN (r.commission_converted + r.fee_converted)
                    ELSE NULL::numeric
                END AS cost_reporting_at_least_amount
           FROM (((((( SELECT return_months.month_utc,
                    return_months.deal_id,
                    return_months.brand_id,
                    return_months.currency,
                    return_months.influencer_handle,
                    return_months.orders,
                    return_months.sent_amount,
                    return_months.net_amount,
                    return_months.unrated_orders,
                    return_months.unlined_orders,
                    return_months.unvalued_orders,
                    return_months.commission_amount,
                    return_months.fee_amount,
                    return_months.new_customers,
                    return_months.returning_orders,
                    return_months.unknown_orders,
                    return_months.unconverted_orders,
                    return_months.net_converted,
                    return_months.commission_converted,
                    return_months.fee_converted
                   FROM reporting.return_months
                UNION ALL
                 SELECT e.month_utc,
                    e.deal_id,
                    ''::text,
                    e.currency,
                    NULL::text,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    e.fee_amount,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    e.fee_converted
                   FROM reporting.return_fees e
                  WHERE (NOT (EXISTS ( SELECT
                           FROM reporting.return_months r_1
                          WHERE ((r_1.deal_id = e.deal_id) AND (r_1.month_utc = e.month_utc) AND (r_1.currency = e.currency)))))) r
             LEFT JOIN mirror.deal_versions d ON (((d.deal_id = r.deal_id) AND d.is_latest)))
             LEFT JOIN reporting.code_owners c ON ((c.deal_id = NULLIF(r.deal_id, ''::text))))
             CROSS JOIN reporting.return_rules rules)
             CROSS JOIN LATERAL ( SELECT ((r.unrated_orders + r.unlined_orders) + r.unvalued_orders) AS uncosted_orders) u)
             CROSS JOIN LATERAL ( SELECT ((rules.reporting_currency IS NOT NULL) AND (r.unconverted_orders = 0)) AS is_converted) v)) m
     LEFT JOIN ( SELECT DISTINCT ON (brand_versions.brand_id) brand_versions.brand_id,
            brand_versions.name
           FROM mirror.brand_versions
          WHERE brand_versions.is_latest) b ON ((b.brand_id = m.brand_id)))
     LEFT JOIN ( SELECT DISTINCT ON (dealflow_versions.dealflow_id) dealflow_versions.dealflow_id,
            dealflow_versions.name
           FROM mirror.dealflow_versions
          WHERE dealflow_versions.is_latest) f ON ((f.dealflow_id = m.dealflow_id)));

COMMENT ON VIEW bi.returns_monthly IS 'What each deal brought and cost, one row per month, deal, brand and currency. Only orders that this tool posted and the service accepted; as of the last refresh (bi.run_health). It counts orders that carried a code or link, not orders that a creator caused. Answers: What did each deal bring and cost? Which creators pay off? Which campaigns pay off? What does a new customer cost for each brand?';

COMMENT ON COLUMN bi.returns_monthly.month_utc IS 'First day of the month of the orders, in UTC. With deal_id, brand_id and currency, the key of the row.';

COMMENT ON COLUMN bi.returns_monthly.deal_id IS 'Deal, see bi.deals. Null: a fixed fee of a code.';

COMMENT ON COLUMN bi.returns_monthly.influencer_handle IS 'Creator who has the deal, by the mirror or its codes, otherwise the one whom its orders name. Null: unknown, or several.';

COMMENT ON COLUMN bi.returns_monthly.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.returns_monthly.brand_name IS 'Name of the brand, if it is mirrored.';

COMMENT ON COLUMN bi.returns_monthly.dealflow_id IS 'Campaign: the dealflow of the deal, as last read. Null: not mirrored.';

COMMENT ON COLUMN bi.returns_monthly.dealflow_name IS 'Name of the dealflow.';

COMMENT ON COLUMN bi.returns_monthly.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.returns_monthly.orders IS 'Orders that this tool posted and the service accepted.';

COMMENT ON COLUMN bi.returns_monthly.sent_amount IS 'Revenue of these orders as sent, in currency.';

COMMENT ON COLUMN bi.returns_monthly.net_amount IS 'Revenue of these orders, net of refunds and cancellations so far, in currency. Null: what was refunded of an order is unknown; see net_at_least_amount.';

COMMENT ON COLUMN bi.returns_monthly.unrated_orders IS 'Orders of these whose rate neither the terms nor the service state.';

COMMENT ON COLUMN bi.returns_monthly.commission_amount IS 'Commission as in statements but without the return window, in currency. Null: a rate, or what was bought or refunded, is unknown.';

COMMENT ON COLUMN bi.returns_monthly.fee_amount IS 'Fixed fees in the terms whose period begins in the month, in currency.';

COMMENT ON COLUMN bi.returns_monthly.cost_amount IS 'Commission and fees, in currency. Null: a rate, or what was bought or refunded, is unknown; see cost_at_least_amount.';

COMMENT ON COLUMN bi.returns_monthly.margin_percent IS 'statements.margin_percent. Null: not configured.';

COMMENT ON COLUMN bi.returns_monthly.profit_amount IS 'net_amount × margin_percent / 100 less cost_amount, in currency. Null: margin or cost is unknown.';

COMMENT ON COLUMN bi.returns_monthly.roi_percent IS 'profit_amount as a percentage of cost_amount. Null: one of them is unknown, or the cost is 0.';

COMMENT ON COLUMN bi.returns_monthly.net_per_cost IS 'net_amount for each 1 of cost_amount. Null: the cost is unknown or 0.';

COMMENT ON COLUMN bi.returns_monthly.new_customers IS 'Customers whose first known order is one of these. A lower bound if unknown_orders is above 0.';

COMMENT ON COLUMN bi.returns_monthly.returning_orders IS 'Orders of customers who had ordered before, with or without a creator.';

COMMENT ON COLUMN bi.returns_monthly.unknown_orders IS 'Orders for which it is unknown whether the customer is new: without customer_key, or in the first 90 days for which customers are known.';

COMMENT ON COLUMN bi.returns_monthly.cost_per_new_customer_amount IS 'cost_amount for each of new_customers, in currency. Null: a rate or a customer is unknown, or there is no new customer.';

COMMENT ON COLUMN bi.returns_monthly.unknown IS 'What is unknown and makes numbers of this row null: rate, products, refunds, margin, customers, exchange. Null: nothing.';

COMMENT ON COLUMN bi.returns_monthly.reporting_currency IS 'Currency (ISO 4217) of the reporting amounts: statements.reporting_currency. Null: not configured.';

COMMENT ON COLUMN bi.returns_monthly.unconverted_orders IS 'Orders in another currency for whose day statements.fx has no rate. Null: no reporting currency.';

COMMENT ON COLUMN bi.returns_monthly.net_reporting_amount IS 'net_amount in reporting_currency, each order at the rate of its day. Null: a rate is unknown.';

COMMENT ON COLUMN bi.returns_monthly.cost_reporting_amount IS 'cost_amount in reporting_currency, each order at the rate of its day, and a fee at the rate of its first day. Null: a rate is unknown.';

COMMENT ON COLUMN bi.returns_monthly.profit_reporting_amount IS 'profit_amount in reporting_currency, from net_reporting_amount and cost_reporting_amount, and like them not rounded. Null: one of them or the margin is unknown.';

COMMENT ON COLUMN bi.returns_monthly.unlined_orders IS 'Orders of these whose terms exclude products, while it is unknown what was bought.';

COMMENT ON COLUMN bi.returns_monthly.unvalued_orders IS 'Orders of these of which a refund is out of range, so what is left of them is unknown.';

COMMENT ON COLUMN bi.returns_monthly.uncosted_orders IS 'Orders of these whose commission is unknown: unrated_orders, unlined_orders and unvalued_orders together.';

COMMENT ON COLUMN bi.returns_monthly.net_at_least_amount IS 'net_amount without unvalued_orders, in currency: a lower bound, and never null. Add it up together with unvalued_orders.';

COMMENT ON COLUMN bi.returns_monthly.cost_at_least_amount IS 'cost_amount without the commission of uncosted_orders, in currency: a lower bound, and never null. Add it up together with uncosted_orders.';

COMMENT ON COLUMN bi.returns_monthly.net_reporting_at_least_amount IS 'net_at_least_amount in reporting_currency. Null: an exchange rate is unknown.';

COMMENT ON COLUMN bi.returns_monthly.cost_reporting_at_least_amount IS 'cost_at_least_amount in reporting_currency. Null: an exchange rate is unknown.';

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
    service text,
    problem_code text,
    trace_id text,
    CONSTRAINT runs_check CHECK (((status = 'running'::text) = (finished_at IS NULL))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'ok'::text, 'issues'::text, 'failed'::text, 'interrupted'::text]))),
    CONSTRAINT runs_trace_id CHECK ((trace_id ~ '^[0-9a-f]{32}$'::text))
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

COMMENT ON COLUMN ops.runs.exit_code IS 'Exit code of the process.';

COMMENT ON COLUMN ops.runs.counts IS 'The counts of the run_finished event.';

COMMENT ON COLUMN ops.runs.amounts IS 'Accepted in this run, per currency: [{currency, accepted}].';

COMMENT ON COLUMN ops.runs.problem IS 'Why it failed, with no secrets, row values or addresses.';

COMMENT ON COLUMN ops.runs.service IS 'Base address of the service that it called. Null: a plan, or a run of a version that did not store it.';

COMMENT ON COLUMN ops.runs.problem_code IS 'Stable machine name of the problem, for example key_refused. Null: none, or a run of a version that did not store it.';

COMMENT ON COLUMN ops.runs.trace_id IS 'Trace of the run, 32 hex digits, where traces were sent (OTEL_EXPORTER_OTLP_ENDPOINT); null elsewhere.';

CREATE VIEW bi.run_amounts AS
 SELECT r.run_id,
    r.job,
    r.started_at,
    a.currency,
    a.accepted AS accepted_amount
   FROM (ops.runs r
     CROSS JOIN LATERAL jsonb_to_recordset(r.amounts) a(currency text, accepted numeric))
  WHERE (jsonb_typeof(r.amounts) = 'array'::text);

COMMENT ON VIEW bi.run_amounts IS 'What the service accepted in each run, one row per run and currency. Answers: How much was credited by each run?';

COMMENT ON COLUMN bi.run_amounts.run_id IS 'Run, see bi.runs. With currency, the key of the row.';

COMMENT ON COLUMN bi.run_amounts.job IS 'Job in the configuration.';

COMMENT ON COLUMN bi.run_amounts.started_at IS 'When the run began.';

COMMENT ON COLUMN bi.run_amounts.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.run_amounts.accepted_amount IS 'Revenue of the orders that were accepted, in currency.';

CREATE VIEW bi.runs AS
 SELECT run_id,
    job,
    kind,
        CASE
            WHEN ((status = 'running'::text) AND (NOT (EXISTS ( SELECT
               FROM ops.leases l
              WHERE ((l.name = ('job:'::text || r.job)) AND (l.expires_at > clock_timestamp()) AND (l.acquired_at <= (r.started_at + '00:01:00'::interval))))))) THEN 'lost'::text
            ELSE status
        END AS status,
    started_at,
    finished_at,
    ((started_at AT TIME ZONE 'UTC'::text))::date AS day_utc,
    round(EXTRACT(epoch FROM (finished_at - started_at)), 3) AS duration_seconds,
    exit_code,
    (status = 'ok'::text) AS is_ok,
    problem,
    ((counts ->> 'files'::text))::bigint AS files_read,
    ((counts ->> 'rows'::text))::bigint AS rows_read,
    ((counts ->> 'rejected_rows'::text))::bigint AS rejected_rows,
    (((counts -> 'entries'::text) ->> 'accepted'::text))::bigint AS accepted_orders,
    ((counts ->> 'submitted'::text))::bigint AS submitted_customers,
    (((counts -> 'lookups'::text) ->> 'influencers'::text))::bigint AS influencers_found,
    (((counts -> 'deals'::text) ->> 'asked'::text))::bigint AS deals_read
   FROM ops.runs r;

COMMENT ON VIEW bi.runs IS 'Every run of every job, one row per run. Live. Answers: What ran last night, and how did it end? How long do runs take?';

COMMENT ON COLUMN bi.runs.run_id IS 'Key of the row. Counts up.';

COMMENT ON COLUMN bi.runs.job IS 'Job in the configuration.';

COMMENT ON COLUMN bi.runs.kind IS 'Kind of the job, for example attribute-orders.';

COMMENT ON COLUMN bi.runs.status IS 'running, ok, issues (something was rejected, held or is in doubt), failed, interrupted, lost (its process does not respond).';

COMMENT ON COLUMN bi.runs.started_at IS 'When it began.';

COMMENT ON COLUMN bi.runs.finished_at IS 'When it ended; null while it runs, or when it is lost.';

COMMENT ON COLUMN bi.runs.day_utc IS 'Day of started_at in UTC.';

COMMENT ON COLUMN bi.runs.duration_seconds IS 'How long it took; null while it runs.';

COMMENT ON COLUMN bi.runs.exit_code IS 'Exit code of the process; 0 is success.';

COMMENT ON COLUMN bi.runs.is_ok IS 'Whether the run ended with status ok.';

COMMENT ON COLUMN bi.runs.problem IS 'Why it failed or stopped, without secrets and addresses.';

COMMENT ON COLUMN bi.runs.files_read IS 'Exports read; null for kinds that read none.';

COMMENT ON COLUMN bi.runs.rows_read IS 'Rows of these exports.';

COMMENT ON COLUMN bi.runs.rejected_rows IS 'Rows of these that could not be used.';

COMMENT ON COLUMN bi.runs.accepted_orders IS 'Orders that the service accepted in this run; null for kinds that send none.';

COMMENT ON COLUMN bi.runs.submitted_customers IS 'Customers that the service accepted for identification in this run; null for other kinds.';

COMMENT ON COLUMN bi.runs.influencers_found IS 'Customers whom a look-up in real time found to be influencers; null for other kinds.';

COMMENT ON COLUMN bi.runs.deals_read IS 'Deals that were read for the mirror; null for other kinds.';

CREATE TABLE ops.slots (
    job text NOT NULL,
    slot timestamp with time zone NOT NULL,
    state text NOT NULL,
    is_settled boolean GENERATED ALWAYS AS ((state = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text, 'missed'::text]))) STORED NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    losses integer DEFAULT 0 NOT NULL,
    owner uuid,
    run_id bigint,
    not_before timestamp with time zone,
    reason text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    settled_at timestamp with time zone,
    requested_by text,
    CONSTRAINT done_has_run CHECK (((state <> 'done'::text) OR ((attempts > 0) AND (run_id IS NOT NULL)))),
    CONSTRAINT not_done_says_why CHECK (((state <> ALL (ARRAY['failed'::text, 'skipped'::text, 'missed'::text])) OR (reason IS NOT NULL))),
    CONSTRAINT running_has_an_owner CHECK (((state = 'running'::text) = (owner IS NOT NULL))),
    CONSTRAINT running_was_claimed CHECK (((state <> 'running'::text) OR ((attempts > 0) AND (started_at IS NOT NULL)))),
    CONSTRAINT settled_says_when CHECK (((state = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text, 'missed'::text])) = (settled_at IS NOT NULL))),
    CONSTRAINT slots_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT slots_check CHECK (((losses >= 0) AND (losses <= attempts))),
    CONSTRAINT slots_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'due'::text, 'running'::text, 'done'::text, 'failed'::text, 'skipped'::text, 'missed'::text]))),
    CONSTRAINT what_did_not_run_was_not_claimed CHECK (((state <> ALL (ARRAY['waiting'::text, 'skipped'::text, 'missed'::text])) OR ((attempts = 0) AND (run_id IS NULL))))
);

COMMENT ON TABLE ops.slots IS 'One row for each time at which a job''s schedule says that it runs. Authoritative for scheduled runs: each slot runs once, however many processes poll.';

COMMENT ON COLUMN ops.slots.job IS 'Name of the job in pipeline.yaml.';

COMMENT ON COLUMN ops.slots.slot IS 'Its time. For a job that follows another: the time of that job''s slot.';

COMMENT ON COLUMN ops.slots.state IS 'waiting (for the job that it follows), due, running, done (its run ended), failed, skipped (the job was running, or the job before it failed), missed (nothing ran at its time, and it was not caught up).';

COMMENT ON COLUMN ops.slots.is_settled IS 'done, failed, skipped or missed: nothing is to be done.';

COMMENT ON COLUMN ops.slots.attempts IS 'How often it was begun: more than once when a process died or was stopped while it ran.';

COMMENT ON COLUMN ops.slots.losses IS 'How often its process, or the database, was gone while it ran.';

COMMENT ON COLUMN ops.slots.owner IS 'Process that runs it now, as its lease serve:<owner> names it.';

COMMENT ON COLUMN ops.slots.run_id IS 'Its latest run.';

COMMENT ON COLUMN ops.slots.not_before IS 'Not started again before this instant.';

COMMENT ON COLUMN ops.slots.reason IS 'Why it is where it is, in words.';

COMMENT ON COLUMN ops.slots.created_at IS 'When it was noticed. Database clock.';

COMMENT ON COLUMN ops.slots.started_at IS 'When it was begun last. Database clock.';

COMMENT ON COLUMN ops.slots.settled_at IS 'When it was settled. Database clock.';

COMMENT ON COLUMN ops.slots.requested_by IS 'Who asked for a run now, beside the schedule; null for a slot of the schedule.';

CREATE TABLE reporting.refresh (
    only_row boolean DEFAULT true NOT NULL,
    refreshed_at timestamp with time zone,
    counted_entry_id bigint DEFAULT 0 NOT NULL,
    totalled_at timestamp with time zone,
    conflicts_at timestamp with time zone,
    CONSTRAINT refresh_only_row_check CHECK (only_row)
);

COMMENT ON TABLE reporting.refresh IS 'When the tables of this schema were last brought up to date. Its one row is locked by each step, so that one refresh works at a time.';

COMMENT ON COLUMN reporting.refresh.only_row IS 'Always true: the table has one row.';

COMMENT ON COLUMN reporting.refresh.refreshed_at IS 'Database clock; null: never yet.';

COMMENT ON COLUMN reporting.refresh.counted_entry_id IS 'Up to this id, entries are in accepted_sums or in uncounted_entries.';

COMMENT ON COLUMN reporting.refresh.totalled_at IS 'Equals refreshed_at if deal_totals includes that refresh. Otherwise an older version refreshed the reports, and the totals must be added up again.';

COMMENT ON COLUMN reporting.refresh.conflicts_at IS 'Equals refreshed_at if conflicts includes that refresh. Otherwise an older version refreshed the reports, and all conflicts must be read again.';

CREATE VIEW bi.run_health AS
 WITH RECURSIVE jobs AS (
        ( SELECT runs.job
           FROM ops.runs
          ORDER BY runs.job
         LIMIT 1)
        UNION ALL
         SELECT ( SELECT r.job
                   FROM ops.runs r
                  WHERE (r.job > j_1.job)
                  ORDER BY r.job
                 LIMIT 1) AS job
           FROM jobs j_1
          WHERE (j_1.job IS NOT NULL)
        )
 SELECT j.job,
    l.kind,
    l.run_id AS last_run_id,
    l.status AS last_status,
    l.started_at AS last_started_at,
    l.finished_at AS last_finished_at,
    k.finished_at AS last_ok_at,
    round((EXTRACT(epoch FROM (now() - k.finished_at)) / (3600)::numeric), 1) AS hours_since_ok,
    ( SELECT count(*) AS count
           FROM ops.runs f
          WHERE ((f.job = j.job) AND (f.run_id > COALESCE(k.run_id, (0)::bigint)) AND (f.status = ANY (ARRAY['failed'::text, 'interrupted'::text])))) AS failures_since_ok,
    (l.status = 'running'::text) AS is_running,
    (l.status = 'lost'::text) AS is_lost,
    ( SELECT count(*) AS count
           FROM ledger.entries e
          WHERE ((e.job = j.job) AND (NOT e.is_settled) AND ((e.state = 'ready'::text) OR ((e.state = 'sending'::text) AND (EXISTS ( SELECT
                   FROM ops.leases o
                  WHERE ((o.owner = e.owner) AND (o.expires_at > statement_timestamp())))))))) AS ready_orders,
    ( SELECT count(*) AS count
           FROM ledger.entries e
          WHERE ((e.job = j.job) AND (NOT e.is_settled) AND ((e.state = 'in_doubt'::text) OR ((e.state = 'sending'::text) AND (NOT (EXISTS ( SELECT
                   FROM ops.leases o
                  WHERE ((o.owner = e.owner) AND (o.expires_at > statement_timestamp()))))))))) AS in_doubt_orders,
    ( SELECT count(*) AS count
           FROM ops.slots s
          WHERE ((s.job = j.job) AND (s.state = 'missed'::text) AND (s.slot >= (now() - '7 days'::interval)))) AS missed_slots,
    ( SELECT refresh.refreshed_at
           FROM reporting.refresh) AS refreshed_at
   FROM ((jobs j
     CROSS JOIN LATERAL ( SELECT r.run_id,
            r.job,
            r.kind,
            r.status,
            r.started_at,
            r.finished_at,
            r.day_utc,
            r.duration_seconds,
            r.exit_code,
            r.is_ok,
            r.problem,
            r.files_read,
            r.rows_read,
            r.rejected_rows,
            r.accepted_orders,
            r.submitted_customers,
            r.influencers_found,
            r.deals_read
           FROM bi.runs r
          WHERE (r.job = j.job)
          ORDER BY r.run_id DESC
         LIMIT 1) l)
     LEFT JOIN LATERAL ( SELECT r.run_id,
            r.finished_at
           FROM ops.runs r
          WHERE ((r.job = j.job) AND (r.status = ANY (ARRAY['ok'::text, 'issues'::text])))
          ORDER BY r.run_id DESC
         LIMIT 1) k ON (true));

COMMENT ON VIEW bi.run_health IS 'Health of each job, one row per job. Live. Answers: Does every job run as it should? When were the daily sums last refreshed?';

COMMENT ON COLUMN bi.run_health.job IS 'Key of the row: job in the configuration that has run at least once.';

COMMENT ON COLUMN bi.run_health.kind IS 'Kind of the job.';

COMMENT ON COLUMN bi.run_health.last_run_id IS 'Its last run, see bi.runs.';

COMMENT ON COLUMN bi.run_health.last_status IS 'How that run ended, as in bi.runs.status.';

COMMENT ON COLUMN bi.run_health.last_started_at IS 'When that run began.';

COMMENT ON COLUMN bi.run_health.last_finished_at IS 'When that run ended; null while it runs.';

COMMENT ON COLUMN bi.run_health.last_ok_at IS 'End of the last run that finished with status ok or issues. Null: none has.';

COMMENT ON COLUMN bi.run_health.hours_since_ok IS 'Hours since last_ok_at: alert on this.';

COMMENT ON COLUMN bi.run_health.failures_since_ok IS 'Runs since last_ok_at that failed or were interrupted.';

COMMENT ON COLUMN bi.run_health.is_running IS 'Whether the job runs now.';

COMMENT ON COLUMN bi.run_health.is_lost IS 'Whether the process of its running run does not respond.';

COMMENT ON COLUMN bi.run_health.ready_orders IS 'Orders that wait to be sent, or are in flight.';

COMMENT ON COLUMN bi.run_health.in_doubt_orders IS 'Orders in doubt, see bi.doubts.';

COMMENT ON COLUMN bi.run_health.missed_slots IS 'Slots of the last 7 days that no process ran.';

COMMENT ON COLUMN bi.run_health.refreshed_at IS 'When any job last refreshed the daily sums and bi.orders_attributed.';

CREATE VIEW bi.self_purchases AS
 SELECT s.job,
    s.source,
    s.order_id,
    s.ordered_at,
    s.day_utc,
    s.deal_id,
    reporting.without_addresses(l.username) AS influencer_handle,
    l.platform,
    s.currency,
    s.amount,
    s.disposition
   FROM (((intake.lookups l
     JOIN intake.orders o ON (((o.customer_key = l.customer_hash) AND o.is_current)))
     JOIN reporting.order_dispositions s ON ((s.order_version_id = o.order_version_id)))
     LEFT JOIN reporting.deal_owners w ON ((w.deal_id = s.deal_id)))
  WHERE ((l.outcome = 'influencer'::text) AND (ledger.fold_handle(l.username) = ledger.fold_handle(COALESCE(w.influencer_handle, s.influencer_handle))));

COMMENT ON VIEW bi.self_purchases IS 'Orders whose customer the service identified as the credited influencer, one row per order. For review only: such an order may be a gift, a test, or allowed. Needs customer_key and look-ups in real time. Live. Answers: Which influencers may have bought from themselves?';

COMMENT ON COLUMN bi.self_purchases.job IS 'Job that decided about the order.';

COMMENT ON COLUMN bi.self_purchases.source IS 'Source in the configuration. With job and order_id, the key of the row.';

COMMENT ON COLUMN bi.self_purchases.order_id IS 'Order, see bi.orders.';

COMMENT ON COLUMN bi.self_purchases.ordered_at IS 'When it was ordered.';

COMMENT ON COLUMN bi.self_purchases.day_utc IS 'Day of ordered_at in UTC.';

COMMENT ON COLUMN bi.self_purchases.deal_id IS 'Deal that was credited.';

COMMENT ON COLUMN bi.self_purchases.influencer_handle IS 'Public handle of the influencer.';

COMMENT ON COLUMN bi.self_purchases.platform IS 'Platform of the handle.';

COMMENT ON COLUMN bi.self_purchases.currency IS 'ISO 4217.';

COMMENT ON COLUMN bi.self_purchases.amount IS 'Revenue as sent, or else by the rule of the job, in currency. Null: unknown, which is not 0.';

COMMENT ON COLUMN bi.self_purchases.disposition IS 'Disposition of the order, see bi.orders_attributed.';

CREATE TABLE ops.statements (
    statement_id bigint NOT NULL,
    month date NOT NULL,
    time_zone text NOT NULL,
    return_window_days integer NOT NULL,
    lines bigint NOT NULL,
    closed_by text NOT NULL,
    reason text NOT NULL,
    closed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    previous_hash text NOT NULL,
    hash text NOT NULL,
    reporting_currency text,
    carried jsonb,
    CONSTRAINT statements_carried_check CHECK ((jsonb_typeof(carried) = 'array'::text)),
    CONSTRAINT statements_closed_by_check CHECK ((closed_by <> ''::text)),
    CONSTRAINT statements_lines_check CHECK ((lines >= 0)),
    CONSTRAINT statements_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT statements_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT statements_reporting_currency_check CHECK ((reporting_currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT statements_return_window_days_check CHECK ((return_window_days >= 0))
);

COMMENT ON TABLE ops.statements IS 'Closed statements of earnings, one row a month. Append-only: a trigger refuses any change.';

COMMENT ON COLUMN ops.statements.statement_id IS 'Counts up.';

COMMENT ON COLUMN ops.statements.month IS 'First day of the month.';

COMMENT ON COLUMN ops.statements.time_zone IS 'IANA zone by whose days it was made.';

COMMENT ON COLUMN ops.statements.return_window_days IS 'Days after which an order counts, as configured when it was closed.';

COMMENT ON COLUMN ops.statements.lines IS 'How many lines it has.';

COMMENT ON COLUMN ops.statements.closed_by IS 'Who closed it, as in ops.audit.';

COMMENT ON COLUMN ops.statements.reason IS 'Why, in the words of that person. E-mail addresses are masked.';

COMMENT ON COLUMN ops.statements.closed_at IS 'When. Database clock.';

COMMENT ON COLUMN ops.statements.previous_hash IS 'Hash of the statement closed before; empty for the first.';

COMMENT ON COLUMN ops.statements.hash IS 'SHA-256 over the month, previous_hash and all lines: `statement verify` computes it again.';

COMMENT ON COLUMN ops.statements.reporting_currency IS 'Currency of the total of all lines, as configured when it was closed; null: none.';

COMMENT ON COLUMN ops.statements.carried IS 'What deals had earned and did not reach their minimum payout: dealId, currency, amount, minimum. It is in no line. Null: nothing.';

CREATE TABLE reporting.statement_deals (
    statement_id bigint NOT NULL,
    deal_id text NOT NULL,
    currency text NOT NULL,
    orders bigint NOT NULL,
    commission_amount numeric(24,4) NOT NULL,
    correction_amount numeric(24,4) NOT NULL,
    fee_amount numeric(24,4) NOT NULL,
    paid_amount numeric(24,4) NOT NULL
);

COMMENT ON TABLE reporting.statement_deals IS 'Lines of closed statements (ops.statement_lines), added up by deal and currency in the transaction that writes them.';

COMMENT ON COLUMN reporting.statement_deals.statement_id IS 'Statement, see ops.statements.';

COMMENT ON COLUMN reporting.statement_deals.deal_id IS 'Deal; empty for lines without one.';

COMMENT ON COLUMN reporting.statement_deals.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.statement_deals.orders IS 'Orders that count for the first time.';

COMMENT ON COLUMN reporting.statement_deals.commission_amount IS 'Commission for these orders, in currency.';

COMMENT ON COLUMN reporting.statement_deals.correction_amount IS 'Corrections of earlier statements, in currency.';

COMMENT ON COLUMN reporting.statement_deals.fee_amount IS 'Fixed fees, in currency.';

COMMENT ON COLUMN reporting.statement_deals.paid_amount IS 'All three together, in currency.';

CREATE VIEW bi.statement_deals AS
 SELECT s.statement_id,
    s.month AS month_local,
    NULLIF(d.deal_id, ''::text) AS deal_id,
    d.currency,
    d.orders,
    d.commission_amount,
    d.correction_amount,
    d.fee_amount,
    d.paid_amount
   FROM (reporting.statement_deals d
     JOIN ops.statements s USING (statement_id));

COMMENT ON VIEW bi.statement_deals IS 'What closed statements pay, one row per statement, deal and currency: of all creators of a deal that changed hands (bi.statement_lines has the creator of each line). Live; a closed statement never changes. Answers: What was each deal paid in each month? What has each deal earned, and what was paid out?';

COMMENT ON COLUMN bi.statement_deals.statement_id IS 'Statement, see bi.statements.';

COMMENT ON COLUMN bi.statement_deals.month_local IS 'First day of the month of the statement.';

COMMENT ON COLUMN bi.statement_deals.deal_id IS 'Deal, see bi.deals. Null: fees of codes without a deal.';

COMMENT ON COLUMN bi.statement_deals.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.statement_deals.orders IS 'Number of orders that count for the first time.';

COMMENT ON COLUMN bi.statement_deals.commission_amount IS 'Commission for these orders, in currency.';

COMMENT ON COLUMN bi.statement_deals.correction_amount IS 'Corrections of earlier statements, for example after refunds, in currency.';

COMMENT ON COLUMN bi.statement_deals.fee_amount IS 'Fixed fees, in currency.';

COMMENT ON COLUMN bi.statement_deals.paid_amount IS 'What the deal earned in the month: commission, corrections and fees together, in currency. The service does not confirm that it was paid out.';

CREATE TABLE ops.statement_lines (
    statement_id bigint NOT NULL,
    line_no bigint NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    entry_id bigint,
    source text,
    order_platform text,
    order_id text,
    ordered_on date,
    due_on date NOT NULL,
    deal_id text,
    collab_id text,
    brand_id text,
    influencer_handle text,
    currency text NOT NULL,
    sent_amount numeric(18,4),
    net_amount numeric(18,4),
    rate_percent numeric,
    rate_from text,
    earned_amount numeric(18,4) NOT NULL,
    closed_before numeric(18,4) NOT NULL,
    amount numeric(18,4) NOT NULL,
    excluded_amount numeric(18,4),
    exchange_rate numeric(24,12),
    terms_lines integer[],
    terms_text text,
    CONSTRAINT a_line_is_what_is_new CHECK (((amount = (earned_amount - closed_before)) AND (amount <> (0)::numeric))),
    CONSTRAINT statement_lines_check CHECK (((excluded_amount > (0)::numeric) AND (excluded_amount <= net_amount))),
    CONSTRAINT statement_lines_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT statement_lines_exchange_rate_check CHECK ((exchange_rate > (0)::numeric)),
    CONSTRAINT statement_lines_kind_check CHECK ((kind = ANY (ARRAY['order'::text, 'correction'::text, 'fixed_fee'::text]))),
    CONSTRAINT statement_lines_terms_lines_check CHECK ((cardinality(terms_lines) > 0)),
    CONSTRAINT terms_are_lines_and_text CHECK (((terms_lines IS NULL) = (terms_text IS NULL)))
);

COMMENT ON TABLE ops.statement_lines IS 'Lines of closed statements. All lines of an order add up to what it had earned when the last of them was closed.';

COMMENT ON COLUMN ops.statement_lines.statement_id IS 'Statement, see ops.statements.';

COMMENT ON COLUMN ops.statement_lines.line_no IS 'Order within the statement, from 1.';

COMMENT ON COLUMN ops.statement_lines.kind IS 'order: counts for the first time; correction: what an earlier statement said is otherwise now, for example after a refund; fixed_fee.';

COMMENT ON COLUMN ops.statement_lines.subject IS 'What the line is about: order:<entry> or fee:<deal or code>:<first day>.';

COMMENT ON COLUMN ops.statement_lines.entry_id IS 'Entry of the ledger; null for a fee.';

COMMENT ON COLUMN ops.statement_lines.source IS 'Source of the order.';

COMMENT ON COLUMN ops.statement_lines.order_platform IS 'Shop platform of the order.';

COMMENT ON COLUMN ops.statement_lines.order_id IS 'Order.';

COMMENT ON COLUMN ops.statement_lines.ordered_on IS 'Day of the order.';

COMMENT ON COLUMN ops.statement_lines.due_on IS 'Day from which it counts: the day of the order plus the return window; for a fee, the first day of its terms.';

COMMENT ON COLUMN ops.statement_lines.deal_id IS 'Deal that the service credited.';

COMMENT ON COLUMN ops.statement_lines.collab_id IS 'Collaboration that the service credited.';

COMMENT ON COLUMN ops.statement_lines.brand_id IS 'Brand.';

COMMENT ON COLUMN ops.statement_lines.influencer_handle IS 'Influencer, where known.';

COMMENT ON COLUMN ops.statement_lines.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN ops.statement_lines.sent_amount IS 'Revenue that was sent to the service.';

COMMENT ON COLUMN ops.statement_lines.net_amount IS 'Revenue that counts now, net of refunds and cancellations.';

COMMENT ON COLUMN ops.statement_lines.rate_percent IS 'Commission in percent.';

COMMENT ON COLUMN ops.statement_lines.rate_from IS 'Where the rate is from: code or deal of the terms, or the service.';

COMMENT ON COLUMN ops.statement_lines.earned_amount IS 'What it has earned in all, when the statement was closed.';

COMMENT ON COLUMN ops.statement_lines.closed_before IS 'What earlier statements said of it.';

COMMENT ON COLUMN ops.statement_lines.amount IS 'What this statement adds: earned_amount less closed_before.';

COMMENT ON COLUMN ops.statement_lines.excluded_amount IS 'Part of net_amount that earns nothing, because the terms exclude the product; null: none.';

COMMENT ON COLUMN ops.statement_lines.exchange_rate IS 'What 1 of currency was worth on due_on, in reporting_currency of the statement, when it was closed; null: there was no rate, or no reporting currency.';

COMMENT ON COLUMN ops.statement_lines.terms_lines IS 'Lines of terms.csv by which it was earned, when it was closed; null: by the rate of the service, or closed before they were kept.';

COMMENT ON COLUMN ops.statement_lines.terms_text IS 'These lines and what they said: the filled cells with their columns.';

CREATE VIEW bi.statement_lines AS
 SELECT l.statement_id,
    l.line_no,
    s.month AS month_local,
    l.kind,
    l.subject,
    l.entry_id,
    l.source,
    l.order_platform,
    l.order_id,
    l.ordered_on AS ordered_local,
    l.due_on AS due_local,
    l.deal_id,
    l.collab_id,
    l.brand_id,
    reporting.without_addresses(l.influencer_handle) AS influencer_handle,
    l.currency,
    l.sent_amount,
    l.net_amount,
    l.rate_percent,
    l.rate_from,
    l.earned_amount,
    l.closed_before AS closed_before_amount,
    l.amount,
    l.excluded_amount,
    l.terms_text
   FROM (ops.statement_lines l
     JOIN ops.statements s USING (statement_id));

COMMENT ON VIEW bi.statement_lines IS 'Lines of closed statements, one row per line. The lines of an order add up to what it had earned when the last of these statements was closed. Live. Answers: Which orders did the last statement correct?';

COMMENT ON COLUMN bi.statement_lines.statement_id IS 'Statement, see bi.statements. With line_no, the key of the row.';

COMMENT ON COLUMN bi.statement_lines.line_no IS 'Position in the statement, from 1.';

COMMENT ON COLUMN bi.statement_lines.month_local IS 'First day of the month of the statement.';

COMMENT ON COLUMN bi.statement_lines.kind IS 'order (counts for the first time), correction (it differs from an earlier statement), fixed_fee.';

COMMENT ON COLUMN bi.statement_lines.subject IS 'What the line is about; the same for all lines about one order or fee.';

COMMENT ON COLUMN bi.statement_lines.entry_id IS 'Entry that was sent, see bi.orders_attributed; null for a fee.';

COMMENT ON COLUMN bi.statement_lines.source IS 'Source of the order.';

COMMENT ON COLUMN bi.statement_lines.order_platform IS 'Shop platform as sent.';

COMMENT ON COLUMN bi.statement_lines.order_id IS 'Order as sent.';

COMMENT ON COLUMN bi.statement_lines.ordered_local IS 'Day of the order, in the zone of the statement.';

COMMENT ON COLUMN bi.statement_lines.due_local IS 'Day from which it counts.';

COMMENT ON COLUMN bi.statement_lines.deal_id IS 'Deal, see bi.deals.';

COMMENT ON COLUMN bi.statement_lines.collab_id IS 'Collaboration within the deal.';

COMMENT ON COLUMN bi.statement_lines.brand_id IS 'Brand, see bi.brands.';

COMMENT ON COLUMN bi.statement_lines.influencer_handle IS 'Influencer, if known.';

COMMENT ON COLUMN bi.statement_lines.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.statement_lines.sent_amount IS 'Revenue as it was sent, in currency.';

COMMENT ON COLUMN bi.statement_lines.net_amount IS 'Revenue net of refunds and cancellations, in currency.';

COMMENT ON COLUMN bi.statement_lines.rate_percent IS 'Commission in percent.';

COMMENT ON COLUMN bi.statement_lines.rate_from IS 'Where the rate comes from: code or deal (of the terms), or service.';

COMMENT ON COLUMN bi.statement_lines.earned_amount IS 'Total that the order has earned, in currency.';

COMMENT ON COLUMN bi.statement_lines.closed_before_amount IS 'Total of the order in earlier statements, in currency.';

COMMENT ON COLUMN bi.statement_lines.amount IS 'What the statement adds, in currency; negative after a refund.';

COMMENT ON COLUMN bi.statement_lines.excluded_amount IS 'Part of net_amount that earns nothing, because the terms exclude the product, in currency. Null: none.';

COMMENT ON COLUMN bi.statement_lines.terms_text IS 'Lines of terms.csv by which it was earned, and what they said when it was closed. Null: by the rate of the service, or closed before they were kept.';

CREATE VIEW bi.statements AS
 SELECT statement_id,
    month AS month_local,
    to_char((month)::timestamp with time zone, 'YYYY-MM'::text) AS month_name,
    time_zone,
    return_window_days,
    lines,
    closed_by,
    closed_at,
    hash AS sha256
   FROM ops.statements;

COMMENT ON VIEW bi.statements IS 'Closed statements of earnings, one row per month. Live; a closed statement never changes.';

COMMENT ON COLUMN bi.statements.statement_id IS 'Key of the row. Counts up.';

COMMENT ON COLUMN bi.statements.month_local IS 'First day of the month.';

COMMENT ON COLUMN bi.statements.month_name IS 'The month, for example 2026-10.';

COMMENT ON COLUMN bi.statements.time_zone IS 'IANA zone of its days.';

COMMENT ON COLUMN bi.statements.return_window_days IS 'Days after which an order counts.';

COMMENT ON COLUMN bi.statements.lines IS 'Number of its lines.';

COMMENT ON COLUMN bi.statements.closed_by IS 'Who closed it.';

COMMENT ON COLUMN bi.statements.closed_at IS 'When it was closed.';

COMMENT ON COLUMN bi.statements.sha256 IS 'SHA-256 over the statement and the previous one; `statement verify` computes it again.';

CREATE TABLE reporting.code_days (
    day_utc date NOT NULL,
    job text NOT NULL,
    source text NOT NULL,
    code_folded text NOT NULL,
    code text NOT NULL,
    carried_as text NOT NULL,
    currency text NOT NULL,
    orders bigint NOT NULL,
    amount numeric(24,4),
    without_amount bigint DEFAULT 0 NOT NULL,
    CONSTRAINT code_days_carried_as_check CHECK ((carried_as = ANY (ARRAY['code'::text, 'link'::text, 'explicit'::text]))),
    CONSTRAINT unknown_without_any_amount CHECK ((((without_amount >= 0) AND (without_amount <= orders)) AND ((amount IS NULL) = (without_amount = orders))))
);

COMMENT ON TABLE reporting.code_days IS 'Unattributed orders added up by day, job, source and the code, link or handle without an owner. An order with two such codes counts for both.';

COMMENT ON COLUMN reporting.code_days.day_utc IS 'Day in UTC.';

COMMENT ON COLUMN reporting.code_days.job IS 'Job.';

COMMENT ON COLUMN reporting.code_days.source IS 'Source.';

COMMENT ON COLUMN reporting.code_days.code_folded IS 'The code without blanks, in capitals: what spellings have in common.';

COMMENT ON COLUMN reporting.code_days.code IS 'One spelling of it; e-mail addresses masked.';

COMMENT ON COLUMN reporting.code_days.carried_as IS 'code, link (an order without a code), explicit (the export names a deal or handle).';

COMMENT ON COLUMN reporting.code_days.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.code_days.orders IS 'Orders that carry it.';

COMMENT ON COLUMN reporting.code_days.amount IS 'Revenue of those whose amount is known, in currency. Null: none is.';

COMMENT ON COLUMN reporting.code_days.without_amount IS 'How many of these orders have no known amount.';

CREATE VIEW bi.unattributed_revenue AS
 SELECT day_utc,
    job,
    source,
    code_folded,
    code,
    carried_as,
    currency,
    orders,
    amount,
    without_amount AS unvalued_orders
   FROM reporting.code_days;

COMMENT ON VIEW bi.unattributed_revenue IS 'Orders whose code, link or handle has no owner, one row per day, job, source, code and currency. An order with two such codes counts for both, so codes do not add up to orders. Answers: How much would each code earn if codes.csv named its owner?';

COMMENT ON COLUMN bi.unattributed_revenue.day_utc IS 'Day of the orders in UTC.';

COMMENT ON COLUMN bi.unattributed_revenue.job IS 'Job.';

COMMENT ON COLUMN bi.unattributed_revenue.source IS 'Source in the configuration.';

COMMENT ON COLUMN bi.unattributed_revenue.code_folded IS 'The code without blanks, in upper case: group by this.';

COMMENT ON COLUMN bi.unattributed_revenue.code IS 'One spelling of the code. E-mail addresses are masked.';

COMMENT ON COLUMN bi.unattributed_revenue.carried_as IS 'code, link (of an order without a code), explicit (the export names a deal or handle).';

COMMENT ON COLUMN bi.unattributed_revenue.currency IS 'ISO 4217. Never add up amounts of different currencies.';

COMMENT ON COLUMN bi.unattributed_revenue.orders IS 'Orders that have the code.';

COMMENT ON COLUMN bi.unattributed_revenue.amount IS 'Revenue of these orders, as far as it is known, in currency: the amount that the owner would be credited for. Null: none is known.';

COMMENT ON COLUMN bi.unattributed_revenue.unvalued_orders IS 'How many of these orders have no known amount. It is not part of amount.';

CREATE TABLE intake.announced_files (
    source text NOT NULL,
    read_for text NOT NULL,
    uri text NOT NULL,
    announcement_id bigint NOT NULL,
    announced_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT announced_files_read_for_check CHECK ((read_for = ANY (ARRAY['orders'::text, 'customers'::text, 'clicks'::text, 'creators'::text])))
);

COMMENT ON TABLE intake.announced_files IS 'Files that the queue of a source has announced and that no run has read yet: one row for each file and purpose.';

COMMENT ON COLUMN intake.announced_files.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.announced_files.read_for IS 'orders, customers, clicks or creators, as in intake.source_files.';

COMMENT ON COLUMN intake.announced_files.uri IS 's3://bucket/key, as in intake.source_files. The object may have been replaced or removed since.';

COMMENT ON COLUMN intake.announced_files.announcement_id IS 'Differs with each announcement of the file, so that a run removes only those that it has seen.';

COMMENT ON COLUMN intake.announced_files.announced_at IS 'When the last announcement was received.';

ALTER TABLE intake.announced_files ALTER COLUMN announcement_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.announced_files_announcement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

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

CREATE TABLE intake.check_findings (
    finding_id bigint NOT NULL,
    source_file_id bigint NOT NULL,
    source text NOT NULL,
    check_name text NOT NULL,
    subject text,
    verdict text NOT NULL,
    seen text NOT NULL,
    expected text NOT NULL,
    message text NOT NULL,
    line_nos bigint[] NOT NULL,
    run_id bigint NOT NULL,
    found_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    acknowledged_at timestamp with time zone,
    acknowledged_by text,
    acknowledge_reason text,
    CONSTRAINT acknowledgements_say_who_and_why CHECK ((num_nulls(acknowledged_at, acknowledged_by, acknowledge_reason) = ANY (ARRAY[0, 3]))),
    CONSTRAINT check_findings_verdict_check CHECK ((verdict = ANY (ARRAY['warn'::text, 'held'::text])))
);

COMMENT ON TABLE intake.check_findings IS 'What the checks found unusual in files, until a person acknowledges it. One row a file, check and subject.';

COMMENT ON COLUMN intake.check_findings.finding_id IS 'Counts up.';

COMMENT ON COLUMN intake.check_findings.source_file_id IS 'File that was looked at.';

COMMENT ON COLUMN intake.check_findings.source IS 'Name of its source in pipeline.yaml.';

COMMENT ON COLUMN intake.check_findings.check_name IS 'Check, as under expect of a source.';

COMMENT ON COLUMN intake.check_findings.subject IS 'Currency, status or column that it is about; null: the file as a whole.';

COMMENT ON COLUMN intake.check_findings.verdict IS 'warn (the file counts), held (it does not).';

COMMENT ON COLUMN intake.check_findings.seen IS 'What the file has, for people.';

COMMENT ON COLUMN intake.check_findings.expected IS 'What is usual, for people.';

COMMENT ON COLUMN intake.check_findings.message IS 'What is unusual, in a sentence without row values.';

COMMENT ON COLUMN intake.check_findings.line_nos IS 'Physical lines of the first few rows that show it.';

COMMENT ON COLUMN intake.check_findings.run_id IS 'Run that found it.';

COMMENT ON COLUMN intake.check_findings.found_at IS 'When.';

COMMENT ON COLUMN intake.check_findings.acknowledged_at IS 'When a person said that the file is right.';

COMMENT ON COLUMN intake.check_findings.acknowledged_by IS 'Who.';

COMMENT ON COLUMN intake.check_findings.acknowledge_reason IS 'Why, in the words of the person.';

ALTER TABLE intake.check_findings ALTER COLUMN finding_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.check_findings_finding_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE intake.clicks ALTER COLUMN click_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.clicks_click_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE intake.code_assignments (
    assignment_id bigint NOT NULL,
    job text NOT NULL,
    code text NOT NULL,
    code_folded text NOT NULL,
    brand_id text,
    influencer_handle text,
    deal_id text,
    collab_id text,
    valid_from text,
    valid_to text,
    assigned_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    assigned_by text NOT NULL,
    withdrawn_at timestamp with time zone,
    CONSTRAINT code_assignments_check CHECK ((COALESCE(influencer_handle, deal_id, collab_id) IS NOT NULL)),
    CONSTRAINT code_assignments_code_folded_check CHECK ((code_folded <> ''::text))
);

COMMENT ON TABLE intake.code_assignments IS 'Owners of codes that a person assigned in the console. A row of codes.csv for the same code goes first. Rows are withdrawn, never deleted.';

COMMENT ON COLUMN intake.code_assignments.assignment_id IS 'Counts up.';

COMMENT ON COLUMN intake.code_assignments.job IS 'Job whose orders it counts for.';

COMMENT ON COLUMN intake.code_assignments.code IS 'Code as written.';

COMMENT ON COLUMN intake.code_assignments.code_folded IS 'Code without blanks, case folded: what orders are matched by.';

COMMENT ON COLUMN intake.code_assignments.brand_id IS 'Brand; null: that of the job.';

COMMENT ON COLUMN intake.code_assignments.influencer_handle IS 'Influencer, as codes.csv would name one.';

COMMENT ON COLUMN intake.code_assignments.deal_id IS 'Deal, in the same way.';

COMMENT ON COLUMN intake.code_assignments.collab_id IS 'Collaboration, in the same way.';

COMMENT ON COLUMN intake.code_assignments.valid_from IS 'As codes.csv would say it: a date or a time; null: always.';

COMMENT ON COLUMN intake.code_assignments.valid_to IS 'In the same way.';

COMMENT ON COLUMN intake.code_assignments.assigned_at IS 'When.';

COMMENT ON COLUMN intake.code_assignments.assigned_by IS 'Who; ops.audit says why.';

COMMENT ON COLUMN intake.code_assignments.withdrawn_at IS 'When it was withdrawn or replaced; null while it counts.';

ALTER TABLE intake.code_assignments ALTER COLUMN assignment_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.code_assignments_assignment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

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

ALTER TABLE intake.creators ALTER COLUMN creator_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.creators_creator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW intake.customer_counts AS
 SELECT c.brand_id,
    c.batch_id,
        CASE
            WHEN c.is_unsubscribed THEN 'unsubscribed'::text
            WHEN (b.state = 'accepted'::text) THEN 'submitted'::text
            WHEN (b.state = 'refused'::text) THEN 'refused'::text
            WHEN c.was_submitted THEN 'submitted'::text
            ELSE 'staged'::text
        END AS state,
    ((w.batch_id IS NOT NULL) AND (NOT c.is_unsubscribed)) AS is_waiting,
    b.run_id,
    c.customers,
    c.first_seen_at
   FROM ((( SELECT customers.brand_id,
            customers.batch_id,
            customers.is_unsubscribed,
            (customers.earlier_submissions > 0) AS was_submitted,
            count(*) AS customers,
            min(customers.first_seen_at) AS first_seen_at
           FROM intake.customers
          GROUP BY customers.brand_id, customers.batch_id, customers.is_unsubscribed, (customers.earlier_submissions > 0)) c
     LEFT JOIN intake.identify_batches b ON (((b.batch_id = c.batch_id) AND (b.state <> 'split'::text))))
     LEFT JOIN (intake.waiting_batches w
     JOIN intake.source_files f ON (((f.source_file_id = w.source_file_id) AND (f.state = 'sealed'::text)))) ON (((w.batch_id = c.batch_id) AND (w.purpose = 'submit'::text))))
  WHERE (c.is_unsubscribed OR c.was_submitted OR (b.batch_id IS NOT NULL) OR (w.batch_id IS NOT NULL));

COMMENT ON VIEW intake.customer_counts IS 'How many customers of each batch are in each state, without those of files that do not count yet, as in intake.customer_states.';

COMMENT ON COLUMN intake.customer_counts.brand_id IS 'Brand that they are submitted for.';

COMMENT ON COLUMN intake.customer_counts.batch_id IS 'Batch that they were put into last; null: none, because they have unsubscribed.';

COMMENT ON COLUMN intake.customer_counts.state IS 'As in intake.customer_states.';

COMMENT ON COLUMN intake.customer_counts.is_waiting IS 'They wait to be submitted, for the first time or again.';

COMMENT ON COLUMN intake.customer_counts.run_id IS 'Run that sent their batch; null while they wait.';

COMMENT ON COLUMN intake.customer_counts.customers IS 'How many they are.';

COMMENT ON COLUMN intake.customer_counts.first_seen_at IS 'When the first of them was first read.';

CREATE TABLE intake.customer_key (
    only_row boolean DEFAULT true CONSTRAINT contact_key_only_row_not_null NOT NULL,
    fingerprint text CONSTRAINT contact_key_fingerprint_not_null NOT NULL,
    bound_at timestamp with time zone DEFAULT now() CONSTRAINT contact_key_bound_at_not_null NOT NULL,
    key_no smallint DEFAULT 1 NOT NULL,
    previous_fingerprint text,
    rotated_at timestamp with time zone,
    CONSTRAINT customer_key_key_no_check CHECK ((key_no > 0)),
    CONSTRAINT customer_key_only_row_check CHECK (only_row),
    CONSTRAINT two_keys_differ CHECK ((previous_fingerprint <> fingerprint))
);

COMMENT ON TABLE intake.customer_key IS 'Which key customer_hash was made with. Another key would make every customer a new one, so it is refused.';

COMMENT ON COLUMN intake.customer_key.only_row IS 'Always true: the table has at most one row.';

COMMENT ON COLUMN intake.customer_key.fingerprint IS 'Tells keys apart and says nothing of them: an HMAC of a fixed text. Of the key in force.';

COMMENT ON COLUMN intake.customer_key.bound_at IS 'When the first run bound this database to the key.';

COMMENT ON COLUMN intake.customer_key.key_no IS 'Number of the key in force: 1 for the first one.';

COMMENT ON COLUMN intake.customer_key.previous_fingerprint IS 'Of the key before, while customers are still known under it; null once it is retired.';

COMMENT ON COLUMN intake.customer_key.rotated_at IS 'When the key in force took its place; null: it is the first one.';

CREATE TABLE intake.expected_dates (
    expected_date_id bigint NOT NULL,
    day date NOT NULL,
    source text,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text NOT NULL,
    CONSTRAINT expected_dates_name_check CHECK ((name <> ''::text))
);

COMMENT ON TABLE intake.expected_dates IS 'Dates on which a person expects unusual amounts of orders. Checks of amounts neither judge nor learn from files of such a date and the next one.';

COMMENT ON COLUMN intake.expected_dates.expected_date_id IS 'Counts up.';

COMMENT ON COLUMN intake.expected_dates.day IS 'The date, in the zone of the source.';

COMMENT ON COLUMN intake.expected_dates.source IS 'Source that it is about; null: all of them.';

COMMENT ON COLUMN intake.expected_dates.name IS 'Why, for example Black Friday.';

COMMENT ON COLUMN intake.expected_dates.created_at IS 'When it was given.';

COMMENT ON COLUMN intake.expected_dates.created_by IS 'Who gave it.';

ALTER TABLE intake.expected_dates ALTER COLUMN expected_date_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.expected_dates_expected_date_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE intake.file_statistics (
    source_file_id bigint NOT NULL,
    source text NOT NULL,
    read_for text NOT NULL,
    arrived_at timestamp with time zone NOT NULL,
    size_bytes bigint NOT NULL,
    rows_read bigint NOT NULL,
    rejected_rows bigint NOT NULL,
    header text[] NOT NULL,
    header_hash text NOT NULL,
    orders_new bigint,
    orders_known bigint,
    orders_judged bigint,
    blank_code_orders bigint,
    currencies jsonb,
    statuses jsonb,
    amounts jsonb,
    newest_order_at timestamp with time zone,
    customers bigint,
    customers_refused bigint,
    results jsonb NOT NULL,
    checked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    coded_orders bigint,
    unowned_code_orders bigint,
    CONSTRAINT customers_are_counted_whole CHECK (((customers IS NULL) = (customers_refused IS NULL))),
    CONSTRAINT file_statistics_check CHECK (((rejected_rows >= 0) AND (rejected_rows <= rows_read))),
    CONSTRAINT file_statistics_check1 CHECK (((blank_code_orders >= 0) AND (blank_code_orders <= orders_judged))),
    CONSTRAINT file_statistics_check2 CHECK (((customers_refused >= 0) AND (customers_refused <= customers))),
    CONSTRAINT file_statistics_rows_read_check CHECK ((rows_read >= 0)),
    CONSTRAINT file_statistics_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT orders_are_counted_whole CHECK ((num_nulls(orders_new, orders_known, orders_judged, blank_code_orders, currencies, statuses, amounts) = ANY (ARRAY[0, 7]))),
    CONSTRAINT unowned_codes_are_codes CHECK (((unowned_code_orders >= 0) AND (unowned_code_orders <= coded_orders)))
);

COMMENT ON TABLE intake.file_statistics IS 'Statistics of each file that was read to its end, and the results of its checks: counts and names of columns, no cell of a row. Later files are compared with the sealed ones.';

COMMENT ON COLUMN intake.file_statistics.source_file_id IS 'The file. Not a foreign key: a plan covers intake.source_files with a temporary table.';

COMMENT ON COLUMN intake.file_statistics.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.file_statistics.read_for IS 'What the file was read for.';

COMMENT ON COLUMN intake.file_statistics.arrived_at IS 'When it was put there, as the store says; else when it was read.';

COMMENT ON COLUMN intake.file_statistics.size_bytes IS 'As stored, before decompression.';

COMMENT ON COLUMN intake.file_statistics.rows_read IS 'Records in the file, header excluded.';

COMMENT ON COLUMN intake.file_statistics.rejected_rows IS 'Records that could not be used.';

COMMENT ON COLUMN intake.file_statistics.header IS 'Names of its columns as written, e-mail addresses masked.';

COMMENT ON COLUMN intake.file_statistics.header_hash IS 'Digest of the names of its columns.';

COMMENT ON COLUMN intake.file_statistics.orders_new IS 'Orders that no earlier file of the source has stated; null: it was not read for its orders.';

COMMENT ON COLUMN intake.file_statistics.orders_known IS 'Orders that earlier files of the source have stated, changed ones included.';

COMMENT ON COLUMN intake.file_statistics.orders_judged IS 'New and changed orders: the columns from here to newest_order_at are of these.';

COMMENT ON COLUMN intake.file_statistics.blank_code_orders IS 'Of these: without a code, link, handle or deal.';

COMMENT ON COLUMN intake.file_statistics.currencies IS 'Orders of each currency.';

COMMENT ON COLUMN intake.file_statistics.statuses IS 'Orders of each status word; words of few orders are counted together as (other).';

COMMENT ON COLUMN intake.file_statistics.amounts IS 'By currency: orders with an amount above 0, and the median of the amounts (of a sample of them in large files).';

COMMENT ON COLUMN intake.file_statistics.newest_order_at IS 'When the newest of the new orders was placed.';

COMMENT ON COLUMN intake.file_statistics.customers IS 'Customers with a usable address; null: it was not read for its customers.';

COMMENT ON COLUMN intake.file_statistics.customers_refused IS 'Of these: refused, unsubscribed or blacklisted.';

COMMENT ON COLUMN intake.file_statistics.results IS 'Result of each check: [{check, subject, verdict, seen, expected}].';

COMMENT ON COLUMN intake.file_statistics.checked_at IS 'When the checks looked at it.';

COMMENT ON COLUMN intake.file_statistics.coded_orders IS 'Of the new and changed orders: those with a code (of a sample of them in large files).';

COMMENT ON COLUMN intake.file_statistics.unowned_code_orders IS 'Of these: none of whose codes anybody owned in the codes of any job when the file was read.';

CREATE TABLE intake.forgotten_customers (
    tombstone uuid NOT NULL,
    key_fingerprint text NOT NULL,
    forgotten_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    searched_at timestamp with time zone
);

COMMENT ON TABLE intake.forgotten_customers IS 'Customers who were forgotten on request. No export submits them again, for any brand, and nothing else is known of them.';

COMMENT ON COLUMN intake.forgotten_customers.tombstone IS 'First half of HMAC-SHA256(address) under customers.hash_key, the same for all brands: tells whether an export names the customer, and cannot be turned back without the key.';

COMMENT ON COLUMN intake.forgotten_customers.key_fingerprint IS 'Key that the tombstone was made with, as in intake.customer_key.';

COMMENT ON COLUMN intake.forgotten_customers.forgotten_at IS 'When the customer was first forgotten.';

COMMENT ON COLUMN intake.forgotten_customers.searched_at IS 'When all tables were last searched for the address to the end; null: a search was cut short, and forget must be repeated.';

CREATE TABLE intake.listings (
    source text NOT NULL,
    read_for text NOT NULL,
    names_hash text NOT NULL,
    listed_at timestamp with time zone NOT NULL,
    CONSTRAINT listings_read_for_check CHECK ((read_for = ANY (ARRAY['orders'::text, 'customers'::text, 'clicks'::text, 'creators'::text])))
);

COMMENT ON TABLE intake.listings IS 'When a source with lookback_days was last listed and each file found was read or held: one row for each source and purpose.';

COMMENT ON COLUMN intake.listings.source IS 'Name of the source in pipeline.yaml.';

COMMENT ON COLUMN intake.listings.read_for IS 'orders, customers, clicks or creators, as in intake.source_files.';

COMMENT ON COLUMN intake.listings.names_hash IS 'Digest of the settings that say which files the source has. If they change, all names are listed again.';

COMMENT ON COLUMN intake.listings.listed_at IS 'When that listing began. The next one starts lookback_days before this day.';

CREATE TABLE intake.missing_rows (
    source_file_id bigint NOT NULL,
    group_key text,
    is_certain boolean NOT NULL,
    CONSTRAINT missing_rows_check CHECK (((group_key IS NOT NULL) OR (NOT is_certain)))
);

COMMENT ON TABLE intake.missing_rows IS 'Orders of a file being read that lack a row, because the row cannot be used. Settled and emptied when the file is sealed.';

COMMENT ON COLUMN intake.missing_rows.source_file_id IS 'File being read.';

COMMENT ON COLUMN intake.missing_rows.group_key IS 'The order that lacks the row, or may lack it. Null: any order of the file.';

COMMENT ON COLUMN intake.missing_rows.is_certain IS 'Whether the row itself names the order. False: the order is beside the row in the file, which names none.';

CREATE TABLE intake.order_continuations (
    source_file_id bigint NOT NULL,
    group_key text NOT NULL,
    line_no bigint NOT NULL,
    record_no bigint NOT NULL,
    row_count integer NOT NULL,
    CONSTRAINT order_continuations_row_count_check CHECK ((row_count > 0))
);

COMMENT ON TABLE intake.order_continuations IS 'Rows of a file being read that belong to an order whose first row is in another place. Settled and emptied when the file is sealed.';

COMMENT ON COLUMN intake.order_continuations.source_file_id IS 'File being read.';

COMMENT ON COLUMN intake.order_continuations.group_key IS 'The order they belong to.';

COMMENT ON COLUMN intake.order_continuations.line_no IS 'Physical line of the first of them.';

COMMENT ON COLUMN intake.order_continuations.record_no IS 'Record number of the first of them.';

COMMENT ON COLUMN intake.order_continuations.row_count IS 'How many rows.';

ALTER TABLE intake.orders ALTER COLUMN order_version_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.orders_order_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE intake.revenue_rules (
    job text NOT NULL,
    source text NOT NULL,
    revenue text NOT NULL,
    CONSTRAINT revenue_rules_revenue_check CHECK ((revenue = ANY (ARRAY['total'::text, 'subtotal'::text, 'total_less_refunds'::text])))
);

COMMENT ON TABLE intake.revenue_rules IS 'The rule by which each job last computed the amounts of the orders of a source. It says which refunds an amount already includes.';

COMMENT ON COLUMN intake.revenue_rules.job IS 'Job.';

COMMENT ON COLUMN intake.revenue_rules.source IS 'Source of the orders. Of a source that the job no longer reads, the rule stays as it was.';

COMMENT ON COLUMN intake.revenue_rules.revenue IS 'total, subtotal or total_less_refunds: `revenue` of the job in the configuration.';

CREATE TABLE intake.rulings (
    ruling_id bigint NOT NULL,
    source text NOT NULL,
    status text,
    order_id text,
    reason text NOT NULL,
    content_hash text,
    decision text NOT NULL,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    decided_by text NOT NULL,
    withdrawn_at timestamp with time zone,
    CONSTRAINT concerns_a_status_or_an_order CHECK (((status IS NULL) <> (order_id IS NULL))),
    CONSTRAINT of_a_status CHECK (((status IS NULL) OR ((reason = 'unknown_status'::text) AND (content_hash IS NULL)))),
    CONSTRAINT rulings_decided_by_check CHECK ((decided_by <> ''::text)),
    CONSTRAINT rulings_decision_check CHECK ((decision = ANY (ARRAY['credit'::text, 'exclude'::text]))),
    CONSTRAINT rulings_reason_check CHECK ((reason <> ''::text))
);

COMMENT ON TABLE intake.rulings IS 'What a person decided about a status or an order that was held. Rows are withdrawn, never deleted; ops.audit says why.';

COMMENT ON COLUMN intake.rulings.ruling_id IS 'Counts up.';

COMMENT ON COLUMN intake.rulings.source IS 'Source of the order, or of the orders with the status.';

COMMENT ON COLUMN intake.rulings.status IS 'Status that is decided, as in intake.orders; empty for orders without one. Null: one order is decided.';

COMMENT ON COLUMN intake.rulings.order_id IS 'Order that is decided; null: a status is.';

COMMENT ON COLUMN intake.rulings.reason IS 'Why it was held: the decision settles only this. For exclude, it is never credited, whatever holds it.';

COMMENT ON COLUMN intake.rulings.content_hash IS 'Version of the order for which the decision holds; null: every version.';

COMMENT ON COLUMN intake.rulings.decision IS 'credit: what was not known is settled, and the order may be credited. exclude: it is never credited.';

COMMENT ON COLUMN intake.rulings.decided_at IS 'When.';

COMMENT ON COLUMN intake.rulings.decided_by IS 'Who.';

COMMENT ON COLUMN intake.rulings.withdrawn_at IS 'When it was withdrawn or replaced; null while it counts.';

ALTER TABLE intake.rulings ALTER COLUMN ruling_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.rulings_ruling_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE intake.sent_revenue (
    entry_id bigint NOT NULL,
    revenue text NOT NULL,
    CONSTRAINT sent_revenue_revenue_check CHECK ((revenue = ANY (ARRAY['total'::text, 'subtotal'::text, 'total_less_refunds'::text])))
);

COMMENT ON TABLE intake.sent_revenue IS 'The rule by which the amount of a sent order was computed, if the rule of its job has changed since. Else it is that of intake.revenue_rules.';

COMMENT ON COLUMN intake.sent_revenue.entry_id IS 'Entry of the order in the ledger.';

COMMENT ON COLUMN intake.sent_revenue.revenue IS 'total, subtotal or total_less_refunds, as the job had it when the order was sent.';

ALTER TABLE intake.source_files ALTER COLUMN source_file_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.source_files_source_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE intake.staged_rows (
    source_file_id bigint NOT NULL,
    line_no bigint NOT NULL,
    record_no bigint NOT NULL,
    content jsonb NOT NULL
);

COMMENT ON TABLE intake.staged_rows IS 'Rows of a file of clicks or creators that is being read. Put in force and emptied when it is sealed.';

COMMENT ON COLUMN intake.staged_rows.source_file_id IS 'File being read. Not a foreign key; staging locks the file''s row instead.';

COMMENT ON COLUMN intake.staged_rows.line_no IS 'Physical line of the row.';

COMMENT ON COLUMN intake.staged_rows.record_no IS 'Record number of the row.';

COMMENT ON COLUMN intake.staged_rows.content IS 'What the row states.';

CREATE TABLE intake.unchanged_orders (
    source_file_id bigint CONSTRAINT order_sightings_source_file_id_not_null NOT NULL,
    order_version_ids bigint[] CONSTRAINT order_sightings_order_version_ids_not_null NOT NULL,
    line_nos bigint[] CONSTRAINT order_sightings_line_nos_not_null NOT NULL,
    record_nos bigint[] CONSTRAINT order_sightings_record_nos_not_null NOT NULL,
    row_counts bigint[] CONSTRAINT order_sightings_row_counts_not_null NOT NULL,
    cancelled bigint CONSTRAINT order_sightings_cancelled_not_null NOT NULL
);

COMMENT ON TABLE intake.unchanged_orders IS 'Unchanged orders of a file being read: orders that are known in the same form, one row for each batch. Settled and emptied when the file is sealed.';

COMMENT ON COLUMN intake.unchanged_orders.source_file_id IS 'File being read.';

COMMENT ON COLUMN intake.unchanged_orders.order_version_ids IS 'Current versions that the file repeats.';

COMMENT ON COLUMN intake.unchanged_orders.line_nos IS 'Physical line of each.';

COMMENT ON COLUMN intake.unchanged_orders.record_nos IS 'Record number of each.';

COMMENT ON COLUMN intake.unchanged_orders.row_counts IS 'Rows of each.';

COMMENT ON COLUMN intake.unchanged_orders.cancelled IS 'How many of them are cancelled.';

ALTER TABLE intake.waiting_batches ALTER COLUMN batch_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME intake.waiting_batches_batch_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

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
    CONSTRAINT answers_via_check CHECK ((via = ANY (ARRAY['direct'::text, 'spool'::text, 'reaper'::text, 'journal'::text, 'lost_claim'::text])))
);

COMMENT ON TABLE ledger.answers IS 'Append-only: the outcome of each attempt. A late answer is recorded too.';

COMMENT ON COLUMN ledger.answers.answer_id IS 'Counts up.';

COMMENT ON COLUMN ledger.answers.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.answers.attempt IS 'Attempt it answers.';

COMMENT ON COLUMN ledger.answers.kind IS 'accepted, rejected, not_written, throttled, in_doubt, lease_over.';

COMMENT ON COLUMN ledger.answers.http_status IS 'Status of the answer, if there was one.';

COMMENT ON COLUMN ledger.answers.message IS 'What the service said or what went wrong, cut, addresses and secrets masked.';

COMMENT ON COLUMN ledger.answers.deal_id IS 'Deal that the service named.';

COMMENT ON COLUMN ledger.answers.collab_id IS 'Collaboration that the service named.';

COMMENT ON COLUMN ledger.answers.retry_after_ms IS 'What a 429 asked for, in milliseconds.';

COMMENT ON COLUMN ledger.answers.via IS 'direct, spool (replayed after the database was away), reaper (its owner was gone), journal (read from the journal of a process that was gone) or lost_claim (from a claim that the database had lost; until 0.2 it is written journal).';

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

CREATE SEQUENCE ledger.claim_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

COMMENT ON SEQUENCE ledger.claim_numbers IS 'Numbers of claims: of the ledger, not of an entry.';

CREATE TABLE ledger.attempts (
    entry_id bigint NOT NULL,
    attempt integer NOT NULL,
    claim_id uuid NOT NULL,
    owner uuid NOT NULL,
    run_id bigint NOT NULL,
    body_hash text NOT NULL,
    claimed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    claim_no bigint DEFAULT nextval('ledger.claim_numbers'::regclass) NOT NULL
);

COMMENT ON TABLE ledger.attempts IS 'Append-only: one row a claim, committed before a byte of the request is written.';

COMMENT ON COLUMN ledger.attempts.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.attempts.attempt IS '1 for the first.';

COMMENT ON COLUMN ledger.attempts.claim_id IS 'Names the commit that made it, so that a commit of unknown outcome can be read back.';

COMMENT ON COLUMN ledger.attempts.owner IS 'Process that claimed it.';

COMMENT ON COLUMN ledger.attempts.run_id IS 'Run that claimed it.';

COMMENT ON COLUMN ledger.attempts.body_hash IS 'SHA-256 of the bytes that went out. Of attempts before version 0.2: of the body without its reference.';

COMMENT ON COLUMN ledger.attempts.claimed_at IS 'Database clock.';

COMMENT ON COLUMN ledger.attempts.claim_no IS 'Number of the claim in this ledger. Counts up, with gaps.';

CREATE TABLE ledger.changes (
    change_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    kind text NOT NULL,
    attempt integer NOT NULL,
    old_state text NOT NULL,
    reason text,
    old_body_hash text NOT NULL,
    new_body_hash text NOT NULL,
    run_id bigint NOT NULL,
    backfill_id bigint,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT changes_kind_check CHECK ((kind = ANY (ARRAY['held'::text, 'released'::text, 'replaced'::text, 'withdrawn'::text]))),
    CONSTRAINT held_says_why CHECK (((kind <> 'held'::text) OR (reason IS NOT NULL)))
);

COMMENT ON TABLE ledger.changes IS 'Append-only: what happened to an entry while no request was in flight. It was held, released again, its request was replaced, or it was not to be sent again.';

COMMENT ON COLUMN ledger.changes.change_id IS 'Counts up.';

COMMENT ON COLUMN ledger.changes.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.changes.kind IS 'held (not to be sent until something changes), released (ready again), replaced (another request body, ready), withdrawn (not to be sent again after a doubt, so in doubt as before).';

COMMENT ON COLUMN ledger.changes.attempt IS 'Claims before it.';

COMMENT ON COLUMN ledger.changes.old_state IS 'State before it.';

COMMENT ON COLUMN ledger.changes.reason IS 'Why it is held or withdrawn; of a release, why it was held.';

COMMENT ON COLUMN ledger.changes.old_body_hash IS 'Digest of the request body before it.';

COMMENT ON COLUMN ledger.changes.new_body_hash IS 'Digest of the request body after it.';

COMMENT ON COLUMN ledger.changes.run_id IS 'Run that last made or replaced the entry.';

COMMENT ON COLUMN ledger.changes.backfill_id IS 'Backfill that has taken the entry, if one has.';

COMMENT ON COLUMN ledger.changes.changed_at IS 'When.';

ALTER TABLE ledger.changes ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.changes_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.decisions (
    decision_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    decision text NOT NULL,
    attempt integer NOT NULL,
    decided_by text NOT NULL,
    reason text NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT decisions_decision_check CHECK ((decision = ANY (ARRAY['accept'::text, 'write_off'::text, 'resend'::text, 'acknowledge'::text]))),
    CONSTRAINT decisions_reason_check CHECK ((length(TRIM(BOTH FROM reason)) > 0))
);

COMMENT ON TABLE ledger.decisions IS 'Append-only: what a person, or a declared capability, decided about a doubt. Written before the entry changes.';

COMMENT ON COLUMN ledger.decisions.decision_id IS 'Counts up.';

COMMENT ON COLUMN ledger.decisions.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.decisions.decision IS 'accept (it was processed), write_off (given up), resend (send it once more), acknowledge (a known double credit was corrected outside).';

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

CREATE TABLE ledger.lost_claims (
    lost_claim_id bigint NOT NULL,
    recovery_id bigint,
    ledger_id uuid NOT NULL,
    claim_no bigint NOT NULL,
    claim_id uuid NOT NULL,
    account_id text NOT NULL,
    effect text NOT NULL,
    key_hash text NOT NULL,
    body_hash text NOT NULL,
    amount numeric(18,4),
    currency text,
    disposition text NOT NULL,
    http_status integer,
    deal_id text,
    collab_id text,
    message text,
    claimed_at timestamp with time zone,
    found_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT lost_claims_disposition_check CHECK ((disposition = ANY (ARRAY['accepted'::text, 'in_doubt'::text, 'not_processed'::text, 'disregarded'::text]))),
    CONSTRAINT lost_claims_effect_check CHECK ((effect = ANY (ARRAY['referral'::text, 'click'::text, 'create_deal'::text, 'note'::text, 'task'::text, 'outreach'::text])))
);

COMMENT ON TABLE ledger.lost_claims IS 'Append-only: claims that were made and that this database does not have, because it was restored, failed over or swapped. Read from journals and spools.';

COMMENT ON COLUMN ledger.lost_claims.lost_claim_id IS 'Counts up.';

COMMENT ON COLUMN ledger.lost_claims.recovery_id IS 'Decision that stored it; null when a run found it by itself.';

COMMENT ON COLUMN ledger.lost_claims.ledger_id IS 'Ledger in which it was made.';

COMMENT ON COLUMN ledger.lost_claims.claim_no IS 'Its number there.';

COMMENT ON COLUMN ledger.lost_claims.claim_id IS 'The commit that made it there.';

COMMENT ON COLUMN ledger.lost_claims.account_id IS 'Account of the service.';

COMMENT ON COLUMN ledger.lost_claims.effect IS 'Which operation.';

COMMENT ON COLUMN ledger.lost_claims.key_hash IS 'Digest of account, effect and idempotency key: names the entry without its order id.';

COMMENT ON COLUMN ledger.lost_claims.body_hash IS 'Digest of the body.';

COMMENT ON COLUMN ledger.lost_claims.amount IS 'Revenue as sent, in currency.';

COMMENT ON COLUMN ledger.lost_claims.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.lost_claims.disposition IS 'accepted (the service said so), in_doubt (it may have been processed), not_processed (proven), disregarded (`run --new-ledger`).';

COMMENT ON COLUMN ledger.lost_claims.http_status IS 'Status of the answer, if there was one.';

COMMENT ON COLUMN ledger.lost_claims.deal_id IS 'Deal that the service named.';

COMMENT ON COLUMN ledger.lost_claims.collab_id IS 'Collaboration that the service named.';

COMMENT ON COLUMN ledger.lost_claims.message IS 'What the service said or what went wrong, cut, addresses and secrets masked.';

COMMENT ON COLUMN ledger.lost_claims.claimed_at IS 'By the clock of the machine that made it.';

COMMENT ON COLUMN ledger.lost_claims.found_at IS 'When it was stored here.';

CREATE TABLE ledger.recovered_claims (
    lost_claim_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    attempt integer NOT NULL,
    recovered_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ledger.recovered_claims IS 'Append-only: which entry a lost claim was found to be about. Until then no file has stated its order to this database.';

COMMENT ON COLUMN ledger.recovered_claims.lost_claim_id IS 'Lost claim.';

COMMENT ON COLUMN ledger.recovered_claims.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.recovered_claims.attempt IS 'Attempt of the entry that represents it.';

COMMENT ON COLUMN ledger.recovered_claims.recovered_at IS 'When.';

CREATE VIEW ledger.double_credits AS
 WITH accepted AS (
         SELECT n.entry_id,
            (n.attempt)::text AS request,
            n.answered_at AS known_at
           FROM ledger.answers n
          WHERE ((n.kind = 'accepted'::text) AND (n.via <> 'lost_claim'::text) AND (n.entry_id IN ( SELECT late.entry_id
                   FROM ledger.answers late
                  WHERE ((late.kind = 'accepted'::text) AND (NOT late.applied))
                UNION
                 SELECT r.entry_id
                   FROM ledger.recovered_claims r)))
        UNION ALL
         SELECT r.entry_id,
            COALESCE((t.attempt)::text, ((l.claim_id || '/'::text) || l.claim_no)) AS "coalesce",
            r.recovered_at
           FROM ((ledger.recovered_claims r
             JOIN ledger.lost_claims l USING (lost_claim_id))
             LEFT JOIN ledger.attempts t ON (((t.entry_id = r.entry_id) AND (t.claim_id = l.claim_id))))
          WHERE (l.disposition = 'accepted'::text)
        ), requests AS (
         SELECT accepted.entry_id,
            accepted.request,
            min(accepted.known_at) AS known_at
           FROM accepted
          GROUP BY accepted.entry_id, accepted.request
        ), credits AS (
         SELECT requests.entry_id,
            count(*) AS credits,
            max(requests.known_at) AS known_at
           FROM requests
          GROUP BY requests.entry_id
         HAVING (count(*) > 1)
        )
 SELECT e.entry_id,
    e.job,
    e.order_platform,
    e.order_id,
    e.amount,
    e.currency,
    e.deal_id,
    e.collab_id,
    c.credits
   FROM (credits c
     JOIN ledger.entries e USING (entry_id))
  WHERE (NOT (EXISTS ( SELECT
           FROM ledger.decisions d
          WHERE ((d.entry_id = e.entry_id) AND (d.decision = 'acknowledge'::text) AND (d.decided_at >= c.known_at)))));

COMMENT ON VIEW ledger.double_credits IS 'Orders for which the service has accepted more than one request, until a person acknowledges it (`review ENTRY --acknowledge`); again if another one becomes known after that.';

COMMENT ON COLUMN ledger.double_credits.entry_id IS 'Entry.';

COMMENT ON COLUMN ledger.double_credits.job IS 'Job that made it.';

COMMENT ON COLUMN ledger.double_credits.order_platform IS 'Shop platform as sent.';

COMMENT ON COLUMN ledger.double_credits.order_id IS 'Order as sent.';

COMMENT ON COLUMN ledger.double_credits.amount IS 'Revenue as sent with each request, in currency.';

COMMENT ON COLUMN ledger.double_credits.currency IS 'ISO 4217.';

COMMENT ON COLUMN ledger.double_credits.deal_id IS 'Deal that the service credited.';

COMMENT ON COLUMN ledger.double_credits.collab_id IS 'Collaboration that the service credited.';

COMMENT ON COLUMN ledger.double_credits.credits IS 'Requests that the service accepted.';

ALTER TABLE ledger.entries ALTER COLUMN entry_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.entries_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ledger.evidence ALTER COLUMN evidence_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.evidence_evidence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.evidence_lock (
    only_row boolean DEFAULT true NOT NULL,
    CONSTRAINT evidence_lock_only_row_check CHECK (only_row)
);

COMMENT ON TABLE ledger.evidence_lock IS 'Always empty: the table itself is locked. Transactions that write evidence lock it in ROW EXCLUSIVE mode, a run that waits for them in SHARE mode.';

COMMENT ON COLUMN ledger.evidence_lock.only_row IS 'Not used.';

CREATE TABLE ledger.identity (
    only_row boolean DEFAULT true NOT NULL,
    ledger_id uuid DEFAULT gen_random_uuid() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    place text,
    CONSTRAINT identity_only_row_check CHECK (only_row)
);

COMMENT ON TABLE ledger.identity IS 'Which ledger this is. Made by the first run, and part of every backup.';

COMMENT ON COLUMN ledger.identity.only_row IS 'Always true: the table has at most one row.';

COMMENT ON COLUMN ledger.identity.ledger_id IS 'Random. The journals outside of the database carry it too.';

COMMENT ON COLUMN ledger.identity.created_at IS 'When the first run made it.';

COMMENT ON COLUMN ledger.identity.place IS 'Where the database was when it was last found complete: cluster, timeline, database and this table. Null if the server does not say.';

ALTER TABLE ledger.lost_claims ALTER COLUMN lost_claim_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.lost_claims_lost_claim_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.machines (
    machine_id uuid NOT NULL,
    host text NOT NULL,
    posted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    whole_at text
);

COMMENT ON TABLE ledger.machines IS 'Data folders that claims were made from. Each has journals that the others lack, unless they share a mark.';

COMMENT ON COLUMN ledger.machines.machine_id IS 'Random; the data folder has it too.';

COMMENT ON COLUMN ledger.machines.host IS 'Name of the machine, for people.';

COMMENT ON COLUMN ledger.machines.posted_at IS 'When it last began to post.';

COMMENT ON COLUMN ledger.machines.whole_at IS 'Place of the database at which every claim in its journals was found or recovered.';

CREATE TABLE ledger.recoveries (
    recovery_id bigint NOT NULL,
    kind text NOT NULL,
    decided_by text NOT NULL,
    reason text NOT NULL,
    lost_claims bigint DEFAULT 0 NOT NULL,
    ranges jsonb DEFAULT '[]'::jsonb NOT NULL,
    accepts_undescribed boolean DEFAULT false NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT recoveries_kind_check CHECK ((kind = ANY (ARRAY['recover'::text, 'new_ledger'::text]))),
    CONSTRAINT recoveries_lost_claims_check CHECK ((lost_claims >= 0)),
    CONSTRAINT recoveries_reason_check CHECK ((length(TRIM(BOTH FROM reason)) > 0))
);

COMMENT ON TABLE ledger.recoveries IS 'Append-only: decisions to go on with a database that lacks claims which were made.';

COMMENT ON COLUMN ledger.recoveries.recovery_id IS 'Counts up.';

COMMENT ON COLUMN ledger.recoveries.kind IS 'recover (`ledger recover`: what is known of the missing claims counts here) or new_ledger (`run --new-ledger`: what another ledger posted does not count here).';

COMMENT ON COLUMN ledger.recoveries.decided_by IS 'Login name of the person.';

COMMENT ON COLUMN ledger.recoveries.reason IS 'Why.';

COMMENT ON COLUMN ledger.recoveries.lost_claims IS 'Claims that were found outside of the database and stored with this decision.';

COMMENT ON COLUMN ledger.recoveries.ranges IS 'Numbers of claims that this database lost, each as {ledger_id, above, up_to}. Nothing is posted until each is described, or it is accepted that some are not.';

COMMENT ON COLUMN ledger.recoveries.accepts_undescribed IS 'The person accepts that orders behind numbers which nothing describes may be posted again.';

COMMENT ON COLUMN ledger.recoveries.decided_at IS 'When.';

ALTER TABLE ledger.recoveries ALTER COLUMN recovery_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.recoveries_recovery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ledger.seed_undos (
    seed_id bigint NOT NULL,
    reason text NOT NULL,
    undone_by text NOT NULL,
    undone_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT seed_undos_reason_check CHECK ((length(TRIM(BOTH FROM reason)) > 0))
);

COMMENT ON TABLE ledger.seed_undos IS 'Append-only: seeds that a person took back. What they say no longer counts.';

COMMENT ON COLUMN ledger.seed_undos.seed_id IS 'Seed.';

COMMENT ON COLUMN ledger.seed_undos.reason IS 'Why, in the words of who decided.';

COMMENT ON COLUMN ledger.seed_undos.undone_by IS 'Login name of the person.';

COMMENT ON COLUMN ledger.seed_undos.undone_at IS 'When.';

CREATE VIEW ledger.seeded_orders AS
 SELECT order_platform,
    order_id,
    seed_id
   FROM ledger.evidence v
  WHERE ((NOT (kind IS DISTINCT FROM 'seeded'::text)) AND (NOT (EXISTS ( SELECT
           FROM ledger.seed_undos u
          WHERE (u.seed_id = v.seed_id)))));

COMMENT ON VIEW ledger.seeded_orders IS 'Orders that were credited elsewhere before, according to seeds that are still in force.';

COMMENT ON COLUMN ledger.seeded_orders.order_platform IS 'Shop platform.';

COMMENT ON COLUMN ledger.seeded_orders.order_id IS 'Order.';

COMMENT ON COLUMN ledger.seeded_orders.seed_id IS 'File that says so.';

CREATE TABLE ledger.seeds (
    seed_id bigint NOT NULL,
    file_name text NOT NULL,
    file_sha256 text NOT NULL,
    orders bigint NOT NULL,
    reason text NOT NULL,
    seeded_by text NOT NULL,
    seeded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT seeds_reason_check CHECK ((length(TRIM(BOTH FROM reason)) > 0))
);

COMMENT ON TABLE ledger.seeds IS 'Append-only: files that said which orders were credited elsewhere before. Their orders: ledger.evidence.';

COMMENT ON COLUMN ledger.seeds.seed_id IS 'Counts up.';

COMMENT ON COLUMN ledger.seeds.file_name IS 'Name of the file, without its folder.';

COMMENT ON COLUMN ledger.seeds.file_sha256 IS 'Digest of its content.';

COMMENT ON COLUMN ledger.seeds.orders IS 'Orders that it names.';

COMMENT ON COLUMN ledger.seeds.reason IS 'Why, in the words of who decided.';

COMMENT ON COLUMN ledger.seeds.seeded_by IS 'Login name of the person.';

COMMENT ON COLUMN ledger.seeds.seeded_at IS 'When.';

ALTER TABLE ledger.seeds ALTER COLUMN seed_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger.seeds_seed_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW mirror.brands AS
 SELECT brand_id,
    name,
    raw,
    row_hash,
    (NOT is_current) AS is_deleted,
    valid_to AS deleted_at,
    first_seen_at,
    valid_from AS changed_at,
    seen_at,
    run_id
   FROM mirror.brand_versions
  WHERE is_latest;

COMMENT ON VIEW mirror.brands IS 'Brands of the account, each as it was last seen. Gone ones too: is_deleted.';

COMMENT ON COLUMN mirror.brands.brand_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.brands.name IS 'Name of the brand.';

COMMENT ON COLUMN mirror.brands.raw IS 'All that the service sent, unknown fields included.';

COMMENT ON COLUMN mirror.brands.row_hash IS 'Digest of raw.';

COMMENT ON COLUMN mirror.brands.is_deleted IS 'Missing from a complete listing.';

COMMENT ON COLUMN mirror.brands.deleted_at IS 'When that listing was asked for; null while the brand is there.';

COMMENT ON COLUMN mirror.brands.first_seen_at IS 'When it was first seen.';

COMMENT ON COLUMN mirror.brands.changed_at IS 'When it was first seen as it is now.';

COMMENT ON COLUMN mirror.brands.seen_at IS 'When it was last seen so.';

COMMENT ON COLUMN mirror.brands.run_id IS 'Run that published its last change.';

CREATE TABLE mirror.collaboration_versions (
    collab_id text NOT NULL,
    deal_id text NOT NULL,
    brand_id text,
    dealflow_id text,
    code text,
    code_perc numeric,
    commission_perc numeric,
    custom_url text,
    custom_url_target text,
    clicks numeric,
    referrals numeric,
    raw jsonb NOT NULL,
    row_hash text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    is_current boolean GENERATED ALWAYS AS ((valid_to IS NULL)) STORED NOT NULL,
    is_latest boolean DEFAULT true NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    CONSTRAINT collaboration_versions_last_a_while CHECK ((valid_to > valid_from))
);

COMMENT ON TABLE mirror.collaboration_versions IS 'History of collaborations: one row each time a collaboration was first read or had changed.';

COMMENT ON COLUMN mirror.collaboration_versions.collab_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.collaboration_versions.deal_id IS 'Deal it belongs to.';

COMMENT ON COLUMN mirror.collaboration_versions.brand_id IS 'Brand. Text, whatever the service sends.';

COMMENT ON COLUMN mirror.collaboration_versions.dealflow_id IS 'Dealflow it is in.';

COMMENT ON COLUMN mirror.collaboration_versions.code IS 'Discount code.';

COMMENT ON COLUMN mirror.collaboration_versions.code_perc IS 'Discount of the code in percent.';

COMMENT ON COLUMN mirror.collaboration_versions.commission_perc IS 'Commission in percent.';

COMMENT ON COLUMN mirror.collaboration_versions.custom_url IS 'Affiliate link.';

COMMENT ON COLUMN mirror.collaboration_versions.custom_url_target IS 'Where the link leads.';

COMMENT ON COLUMN mirror.collaboration_versions.clicks IS 'Clicks counted by the service.';

COMMENT ON COLUMN mirror.collaboration_versions.referrals IS 'Orders counted by the service.';

COMMENT ON COLUMN mirror.collaboration_versions.raw IS 'All that the service sent, sales included, unknown fields too. What is personal (name, e-mail, address, phone) reads [redacted].';

COMMENT ON COLUMN mirror.collaboration_versions.row_hash IS 'Digest of raw and deal: equal hash, no new version.';

COMMENT ON COLUMN mirror.collaboration_versions.valid_from IS 'When it was first read in this form: the time before the request.';

COMMENT ON COLUMN mirror.collaboration_versions.valid_to IS 'When it was first read otherwise, or missing from its deal''s list; null while it is in force.';

COMMENT ON COLUMN mirror.collaboration_versions.is_current IS 'In force: valid_to is null. A collaboration that is gone has none.';

COMMENT ON COLUMN mirror.collaboration_versions.is_latest IS 'Newest version of its collaboration, in force or not. Exactly one a collaboration.';

COMMENT ON COLUMN mirror.collaboration_versions.first_seen_at IS 'When the collaboration was first read at all.';

COMMENT ON COLUMN mirror.collaboration_versions.run_id IS 'Run that published this version.';

CREATE VIEW mirror.collaborations AS
 SELECT c.collab_id,
    c.deal_id,
    c.brand_id,
    c.dealflow_id,
    c.code,
    c.code_perc,
    c.commission_perc,
    c.custom_url,
    c.custom_url_target,
    c.clicks,
    c.referrals,
    c.raw,
    c.row_hash,
    (NOT c.is_current) AS is_deleted,
    c.valid_to AS deleted_at,
    c.first_seen_at,
    c.valid_from AS changed_at,
    k.read_at AS seen_at,
    c.run_id
   FROM (mirror.collaboration_versions c
     JOIN mirror.known_deals k USING (deal_id))
  WHERE c.is_latest;

COMMENT ON VIEW mirror.collaborations IS 'Collaborations of the deals that were read, each as it was last read. Gone ones too: is_deleted.';

COMMENT ON COLUMN mirror.collaborations.collab_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.collaborations.deal_id IS 'Deal it belongs to.';

COMMENT ON COLUMN mirror.collaborations.brand_id IS 'Brand.';

COMMENT ON COLUMN mirror.collaborations.dealflow_id IS 'Dealflow it is in.';

COMMENT ON COLUMN mirror.collaborations.code IS 'Discount code.';

COMMENT ON COLUMN mirror.collaborations.code_perc IS 'Discount of the code in percent.';

COMMENT ON COLUMN mirror.collaborations.commission_perc IS 'Commission in percent.';

COMMENT ON COLUMN mirror.collaborations.custom_url IS 'Affiliate link.';

COMMENT ON COLUMN mirror.collaborations.custom_url_target IS 'Where the link leads.';

COMMENT ON COLUMN mirror.collaborations.clicks IS 'Clicks counted by the service.';

COMMENT ON COLUMN mirror.collaborations.referrals IS 'Orders counted by the service.';

COMMENT ON COLUMN mirror.collaborations.raw IS 'All that the service sent, sales included; personal fields read [redacted].';

COMMENT ON COLUMN mirror.collaborations.row_hash IS 'Digest of raw and deal.';

COMMENT ON COLUMN mirror.collaborations.is_deleted IS 'Missing from its deal''s list, or its deal is gone.';

COMMENT ON COLUMN mirror.collaborations.deleted_at IS 'When that was first read; null while it is there.';

COMMENT ON COLUMN mirror.collaborations.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN mirror.collaborations.changed_at IS 'When it was first read as it is now.';

COMMENT ON COLUMN mirror.collaborations.seen_at IS 'When its deal was last read.';

COMMENT ON COLUMN mirror.collaborations.run_id IS 'Run that published its last change.';

CREATE VIEW mirror.dealflows AS
 SELECT dealflow_id,
    brand_id,
    name,
    raw,
    row_hash,
    (NOT is_current) AS is_deleted,
    valid_to AS deleted_at,
    first_seen_at,
    valid_from AS changed_at,
    seen_at,
    run_id
   FROM mirror.dealflow_versions
  WHERE is_latest;

COMMENT ON VIEW mirror.dealflows IS 'Dealflows of the account, each as it was last seen. Gone ones too: is_deleted.';

COMMENT ON COLUMN mirror.dealflows.dealflow_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.dealflows.brand_id IS 'Brand it belongs to, where the service says so.';

COMMENT ON COLUMN mirror.dealflows.name IS 'Name of the dealflow.';

COMMENT ON COLUMN mirror.dealflows.raw IS 'All that the service sent, unknown fields included.';

COMMENT ON COLUMN mirror.dealflows.row_hash IS 'Digest of raw.';

COMMENT ON COLUMN mirror.dealflows.is_deleted IS 'Missing from a complete listing.';

COMMENT ON COLUMN mirror.dealflows.deleted_at IS 'When that listing was asked for; null while the dealflow is there.';

COMMENT ON COLUMN mirror.dealflows.first_seen_at IS 'When it was first seen.';

COMMENT ON COLUMN mirror.dealflows.changed_at IS 'When it was first seen as it is now.';

COMMENT ON COLUMN mirror.dealflows.seen_at IS 'When it was last seen so.';

COMMENT ON COLUMN mirror.dealflows.run_id IS 'Run that published its last change.';

CREATE VIEW mirror.deals AS
 SELECT d.deal_id,
    d.influencer_handle,
    d.platform,
    d.brand_id,
    d.dealflow_id,
    d.is_active,
    d.funnel_step,
    d.total_clicks,
    d.total_referrals,
    d.total_sales,
    d.total_payouts,
    d.total_commission_earned,
    d.total_fixed_fee_earned,
    d.raw,
    d.row_hash,
    (NOT d.is_current) AS is_deleted,
    d.valid_to AS deleted_at,
    d.first_seen_at,
    d.valid_from AS changed_at,
    k.read_at AS seen_at,
    k.first_way,
    d.run_id
   FROM (mirror.deal_versions d
     JOIN mirror.known_deals k USING (deal_id))
  WHERE d.is_latest;

COMMENT ON VIEW mirror.deals IS 'Deals that were found and read, each as it was last read. Gone ones too: is_deleted. What is not here may still exist at the service: see mirror.coverage.';

COMMENT ON COLUMN mirror.deals.deal_id IS 'Identity at the service. Opaque text.';

COMMENT ON COLUMN mirror.deals.influencer_handle IS 'Influencer, as the service writes the handle.';

COMMENT ON COLUMN mirror.deals.platform IS 'Social platform of the handle.';

COMMENT ON COLUMN mirror.deals.brand_id IS 'Brand.';

COMMENT ON COLUMN mirror.deals.dealflow_id IS 'Dealflow it is in.';

COMMENT ON COLUMN mirror.deals.is_active IS 'Active status.';

COMMENT ON COLUMN mirror.deals.funnel_step IS 'Stage in its dealflow.';

COMMENT ON COLUMN mirror.deals.total_clicks IS 'Clicks counted by the service.';

COMMENT ON COLUMN mirror.deals.total_referrals IS 'Orders counted by the service.';

COMMENT ON COLUMN mirror.deals.total_sales IS 'Sales counted by the service; in which currency is not shown.';

COMMENT ON COLUMN mirror.deals.total_payouts IS 'Payouts made; in which currency is not shown.';

COMMENT ON COLUMN mirror.deals.total_commission_earned IS 'Commission earned; in which currency is not shown.';

COMMENT ON COLUMN mirror.deals.total_fixed_fee_earned IS 'Fixed fees earned; in which currency is not shown.';

COMMENT ON COLUMN mirror.deals.raw IS 'All that the service sent but the collaborations; personal fields read [redacted].';

COMMENT ON COLUMN mirror.deals.row_hash IS 'Digest of raw.';

COMMENT ON COLUMN mirror.deals.is_deleted IS 'The service said twice that there is no such deal.';

COMMENT ON COLUMN mirror.deals.deleted_at IS 'When it said so first; null while the deal is there.';

COMMENT ON COLUMN mirror.deals.first_seen_at IS 'When it was first read.';

COMMENT ON COLUMN mirror.deals.changed_at IS 'When it was first read as it is now.';

COMMENT ON COLUMN mirror.deals.seen_at IS 'When it was last read.';

COMMENT ON COLUMN mirror.deals.first_way IS 'How it was found: see known_deals.first_way.';

COMMENT ON COLUMN mirror.deals.run_id IS 'Run that published its last change.';

CREATE TABLE mirror.drift (
    drift_id bigint NOT NULL,
    run_id bigint NOT NULL,
    record_kind text NOT NULL,
    field text NOT NULL,
    kind text NOT NULL,
    expected text,
    found text,
    records integer NOT NULL,
    sample_id text,
    noted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT drift_kind_check CHECK ((kind = ANY (ARRAY['type_changed'::text, 'vanished'::text, 'missing'::text, 'unreadable'::text]))),
    CONSTRAINT drift_records_check CHECK ((records > 0))
);

COMMENT ON TABLE mirror.drift IS 'What the service sends otherwise than before, or than the contract says. The records themselves are kept, in raw.';

COMMENT ON COLUMN mirror.drift.drift_id IS 'Counts up.';

COMMENT ON COLUMN mirror.drift.run_id IS 'Run that noticed.';

COMMENT ON COLUMN mirror.drift.record_kind IS 'brand, dealflow, deal, collaboration, or the listing: brands, dealflows, autocomplete.';

COMMENT ON COLUMN mirror.drift.field IS 'Field of the record; of a listing, what was looked at.';

COMMENT ON COLUMN mirror.drift.kind IS 'type_changed (another JSON type than in the version before), vanished (no record that was read has it any more), missing (the contract promises it), unreadable (its column cannot take the value and is null).';

COMMENT ON COLUMN mirror.drift.expected IS 'Type before, or what the column takes.';

COMMENT ON COLUMN mirror.drift.found IS 'Type that was received.';

COMMENT ON COLUMN mirror.drift.records IS 'How many records.';

COMMENT ON COLUMN mirror.drift.sample_id IS 'One of them.';

COMMENT ON COLUMN mirror.drift.noted_at IS 'When.';

ALTER TABLE mirror.drift ALTER COLUMN drift_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME mirror.drift_drift_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE mirror.known_handles (
    handle_folded text NOT NULL,
    handle text NOT NULL,
    first_way text NOT NULL,
    ways text[] NOT NULL,
    first_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    asked_at timestamp with time zone,
    deals_found integer,
    last_error text,
    CONSTRAINT handle_ways_begin_with_the_first CHECK ((first_way = ways[1])),
    CONSTRAINT known_handles_handle_folded_check CHECK (((length(handle_folded) >= 1) AND (length(handle_folded) <= 200)))
);

COMMENT ON TABLE mirror.known_handles IS 'Handles of influencers that were discovered without a deal id: runs request their deals.';

COMMENT ON COLUMN mirror.known_handles.handle_folded IS 'Handle without blanks and @, lower case.';

COMMENT ON COLUMN mirror.known_handles.handle IS 'Handle as first discovered.';

COMMENT ON COLUMN mirror.known_handles.first_way IS 'How it was first discovered: codes, order, autocomplete.';

COMMENT ON COLUMN mirror.known_handles.ways IS 'Everything that it was discovered through, the first one first.';

COMMENT ON COLUMN mirror.known_handles.first_seen_at IS 'When it was first discovered.';

COMMENT ON COLUMN mirror.known_handles.asked_at IS 'When the service was last asked for its deals; null: never.';

COMMENT ON COLUMN mirror.known_handles.deals_found IS 'How many deals it named then.';

COMMENT ON COLUMN mirror.known_handles.last_error IS 'Why it could not be asked, without addresses and secrets; null when it went well.';

CREATE TABLE mirror.prefixes (
    prefix text NOT NULL,
    asked_at timestamp with time zone,
    results integer,
    answer_hash text,
    is_split boolean DEFAULT false NOT NULL,
    last_error text,
    says_more boolean DEFAULT false NOT NULL,
    CONSTRAINT prefixes_prefix_check CHECK (((length(prefix) >= 1) AND (length(prefix) <= 30)))
);

COMMENT ON TABLE mirror.prefixes IS 'Prefixes of handles to request from autocomplete. A prefix whose answer looks cut off is split into longer ones.';

COMMENT ON COLUMN mirror.prefixes.prefix IS 'The prefix.';

COMMENT ON COLUMN mirror.prefixes.asked_at IS 'When it was last requested; null: not yet.';

COMMENT ON COLUMN mirror.prefixes.results IS 'How many records the answer had.';

COMMENT ON COLUMN mirror.prefixes.answer_hash IS 'Digest of the ids in the answer: detects a service that ignores the prefix.';

COMMENT ON COLUMN mirror.prefixes.is_split IS 'Its answer looked cut off, and longer ones were added.';

COMMENT ON COLUMN mirror.prefixes.last_error IS 'Why it could not be requested, without addresses and secrets; null after a success.';

COMMENT ON COLUMN mirror.prefixes.says_more IS 'Whether the last answer said itself that it was cut off, for example by a larger total.';

CREATE UNLOGGED TABLE mirror.staged (
    record_kind text NOT NULL,
    record_id text NOT NULL,
    outcome text NOT NULL,
    fetched_at timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    answer_hash text,
    row_hash text,
    fields jsonb,
    raw jsonb,
    drift jsonb,
    problem text,
    CONSTRAINT failed_says_why CHECK (((outcome <> ALL (ARRAY['not_found'::text, 'failed'::text])) OR (problem IS NOT NULL))),
    CONSTRAINT read_has_content CHECK (((outcome <> 'read'::text) OR ((row_hash IS NOT NULL) AND (fields IS NOT NULL) AND (raw IS NOT NULL)))),
    CONSTRAINT staged_outcome_check CHECK ((outcome = ANY (ARRAY['read'::text, 'unchanged'::text, 'not_found'::text, 'failed'::text]))),
    CONSTRAINT staged_record_kind_check CHECK ((record_kind = ANY (ARRAY['brand'::text, 'dealflow'::text, 'deal'::text])))
);

COMMENT ON TABLE mirror.staged IS 'What was read since the last publication. Emptied by the next one; what a killed run leaves here is published by the run after it and not read again.';

COMMENT ON COLUMN mirror.staged.record_kind IS 'brand, dealflow or deal.';

COMMENT ON COLUMN mirror.staged.record_id IS 'Identity at the service.';

COMMENT ON COLUMN mirror.staged.outcome IS 'read, unchanged (as published: only seen), not_found (the service says that there is none), failed.';

COMMENT ON COLUMN mirror.staged.fetched_at IS 'The time before the request.';

COMMENT ON COLUMN mirror.staged.run_id IS 'Run that read it.';

COMMENT ON COLUMN mirror.staged.answer_hash IS 'Digest of the whole answer, collaborations included.';

COMMENT ON COLUMN mirror.staged.row_hash IS 'Digest of raw.';

COMMENT ON COLUMN mirror.staged.fields IS 'What goes into columns.';

COMMENT ON COLUMN mirror.staged.raw IS 'What the service sent, personal fields redacted.';

COMMENT ON COLUMN mirror.staged.drift IS 'What did not fit: [{field, kind, expected, found}].';

COMMENT ON COLUMN mirror.staged.problem IS 'Why it could not be read.';

CREATE UNLOGGED TABLE mirror.staged_collaborations (
    collab_id text NOT NULL,
    deal_id text NOT NULL,
    fetched_at timestamp with time zone NOT NULL,
    row_hash text NOT NULL,
    fields jsonb NOT NULL,
    raw jsonb NOT NULL,
    drift jsonb,
    is_newest boolean DEFAULT true NOT NULL
);

COMMENT ON TABLE mirror.staged_collaborations IS 'Collaborations of the answers in mirror.staged. One whose deal has since been answered otherwise is dropped by the publication.';

COMMENT ON COLUMN mirror.staged_collaborations.collab_id IS 'Identity at the service.';

COMMENT ON COLUMN mirror.staged_collaborations.deal_id IS 'Deal whose answer contained it.';

COMMENT ON COLUMN mirror.staged_collaborations.fetched_at IS 'The time before the request; with the deal it identifies the answer.';

COMMENT ON COLUMN mirror.staged_collaborations.row_hash IS 'Digest of raw and deal.';

COMMENT ON COLUMN mirror.staged_collaborations.fields IS 'What goes into columns.';

COMMENT ON COLUMN mirror.staged_collaborations.raw IS 'What the service sent, personal fields redacted.';

COMMENT ON COLUMN mirror.staged_collaborations.drift IS 'What did not fit: [{field, kind, expected, found}].';

COMMENT ON COLUMN mirror.staged_collaborations.is_newest IS 'Goes into the history. Of several deals that show it, the one that was asked for last: settled by the publication.';

CREATE UNLOGGED TABLE mirror.staged_listings (
    record_kind text NOT NULL,
    fetched_at timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    is_complete boolean NOT NULL,
    problem text,
    CONSTRAINT partial_says_why CHECK ((is_complete = (problem IS NULL))),
    CONSTRAINT staged_listings_record_kind_check CHECK ((record_kind = ANY (ARRAY['brand'::text, 'dealflow'::text])))
);

COMMENT ON TABLE mirror.staged_listings IS 'Listings of brands and dealflows that were read since the last publication.';

COMMENT ON COLUMN mirror.staged_listings.record_kind IS 'brand or dealflow.';

COMMENT ON COLUMN mirror.staged_listings.fetched_at IS 'The time before the request.';

COMMENT ON COLUMN mirror.staged_listings.run_id IS 'Run that read it.';

COMMENT ON COLUMN mirror.staged_listings.is_complete IS 'What is missing from it is gone. A partial listing deletes nothing.';

COMMENT ON COLUMN mirror.staged_listings.problem IS 'Why it is not complete.';

CREATE TABLE mirror.unreadable (
    record_kind text NOT NULL,
    record_hash text NOT NULL,
    raw jsonb NOT NULL,
    reason text NOT NULL,
    first_seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    run_id bigint NOT NULL
);

COMMENT ON TABLE mirror.unreadable IS 'Records and answers that could not be taken for what they should be, for example without an id. Kept so that none is lost.';

COMMENT ON COLUMN mirror.unreadable.record_kind IS 'What it should have been: brand, dealflow, deal, collaboration, or the listing: brands, dealflows, autocomplete.';

COMMENT ON COLUMN mirror.unreadable.record_hash IS 'Digest of raw.';

COMMENT ON COLUMN mirror.unreadable.raw IS 'What the service sent, personal fields redacted, cut to a text where it was no JSON.';

COMMENT ON COLUMN mirror.unreadable.reason IS 'Why.';

COMMENT ON COLUMN mirror.unreadable.first_seen_at IS 'When it was first received.';

COMMENT ON COLUMN mirror.unreadable.seen_at IS 'When it was last received.';

COMMENT ON COLUMN mirror.unreadable.run_id IS 'Last run that received it.';

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

CREATE TABLE ops.audit (
    audit_id bigint NOT NULL,
    occurred_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text NOT NULL,
    via text NOT NULL,
    action text NOT NULL,
    subject_kind text NOT NULL,
    subject text,
    summary text NOT NULL,
    reason text,
    before jsonb,
    after jsonb,
    filter jsonb,
    bulk_id bigint,
    CONSTRAINT audit_action_check CHECK ((action <> ''::text)),
    CONSTRAINT audit_actor_check CHECK ((actor <> ''::text)),
    CONSTRAINT audit_summary_check CHECK ((summary <> ''::text)),
    CONSTRAINT audit_via_check CHECK ((via = ANY (ARRAY['console'::text, 'command'::text])))
);

COMMENT ON TABLE ops.audit IS 'Append-only: every change that a person made, in the console or with a command. It is written in the transaction of the change.';

COMMENT ON COLUMN ops.audit.audit_id IS 'Counts up.';

COMMENT ON COLUMN ops.audit.occurred_at IS 'When.';

COMMENT ON COLUMN ops.audit.actor IS 'Who: login name on the machine, or the name that the console signed in.';

COMMENT ON COLUMN ops.audit.via IS 'console or command.';

COMMENT ON COLUMN ops.audit.action IS 'What was done, for example settle_doubt.';

COMMENT ON COLUMN ops.audit.subject_kind IS 'What it was done to: entry, file, code, job, backfill, bulk, check, statement, customer, table.';

COMMENT ON COLUMN ops.audit.subject IS 'Its id or name; null where the action concerned many.';

COMMENT ON COLUMN ops.audit.summary IS 'What was done, in a sentence.';

COMMENT ON COLUMN ops.audit.reason IS 'Why, in the words of the person. E-mail addresses are masked.';

COMMENT ON COLUMN ops.audit.before IS 'The fields that changed, as they were.';

COMMENT ON COLUMN ops.audit.after IS 'The same fields afterwards.';

COMMENT ON COLUMN ops.audit.filter IS 'For an action on many rows: the filter that chose them; null otherwise.';

COMMENT ON COLUMN ops.audit.bulk_id IS 'Bulk action that this one was a part of, in ops.bulk_actions; null otherwise.';

ALTER TABLE ops.audit ALTER COLUMN audit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.audit_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.backfill_orders (
    backfill_id bigint NOT NULL,
    key text NOT NULL,
    source text NOT NULL,
    order_id text NOT NULL,
    body_hash text NOT NULL,
    amount numeric(18,4) NOT NULL,
    currency text NOT NULL
);

COMMENT ON TABLE ops.backfill_orders IS 'What each plan says is to be posted, and nothing else is.';

COMMENT ON COLUMN ops.backfill_orders.backfill_id IS 'Plan.';

COMMENT ON COLUMN ops.backfill_orders.key IS 'Key of the ledger''s entry.';

COMMENT ON COLUMN ops.backfill_orders.source IS 'Source of the order.';

COMMENT ON COLUMN ops.backfill_orders.order_id IS 'Order.';

COMMENT ON COLUMN ops.backfill_orders.body_hash IS 'Digest of the request body.';

COMMENT ON COLUMN ops.backfill_orders.amount IS 'Revenue, in currency.';

COMMENT ON COLUMN ops.backfill_orders.currency IS 'ISO 4217.';

CREATE TABLE ops.backfill_turns (
    backfill_id bigint NOT NULL,
    next_turn_at timestamp with time zone NOT NULL
)
WITH (fillfactor='10');

COMMENT ON TABLE ops.backfill_turns IS 'The shared rate limiter of each backfill: all processes that post its orders reserve their requests here, so that together they keep its limit. A crash loses nothing.';

COMMENT ON COLUMN ops.backfill_turns.backfill_id IS 'Backfill, see ops.backfills.';

COMMENT ON COLUMN ops.backfill_turns.next_turn_at IS 'The first time that no process has reserved.';

CREATE TABLE ops.backfills (
    backfill_id bigint NOT NULL,
    job text NOT NULL,
    state text NOT NULL,
    from_day date NOT NULL,
    to_day date NOT NULL,
    time_zone text NOT NULL,
    plan_hash text NOT NULL,
    plan jsonb NOT NULL,
    run_id bigint NOT NULL,
    requests_per_second double precision,
    concurrency integer,
    planned_at timestamp with time zone DEFAULT now() NOT NULL,
    approved_by text,
    approved_at timestamp with time zone,
    state_changed_at timestamp with time zone DEFAULT now() NOT NULL,
    problem text,
    CONSTRAINT backfills_check CHECK ((from_day <= to_day)),
    CONSTRAINT backfills_state_check CHECK ((state = ANY (ARRAY['planned'::text, 'replaced'::text, 'running'::text, 'paused'::text, 'cancelled'::text, 'done'::text]))),
    CONSTRAINT what_began_was_approved CHECK (((state = ANY (ARRAY['planned'::text, 'replaced'::text, 'cancelled'::text])) OR ((approved_by IS NOT NULL) AND (approved_at IS NOT NULL))))
);

COMMENT ON TABLE ops.backfills IS 'Plans to credit the orders of a period, and their progress. Its orders: ops.backfill_orders.';

COMMENT ON COLUMN ops.backfills.backfill_id IS 'Counts up.';

COMMENT ON COLUMN ops.backfills.job IS 'Name of the job in pipeline.yaml.';

COMMENT ON COLUMN ops.backfills.state IS 'planned, replaced (by a newer plan), running (also when its process is gone: `backfill resume` goes on), paused, cancelled, done.';

COMMENT ON COLUMN ops.backfills.from_day IS 'First day of the period, in time_zone.';

COMMENT ON COLUMN ops.backfills.to_day IS 'Last day of the period, in time_zone.';

COMMENT ON COLUMN ops.backfills.time_zone IS 'IANA zone of the days: the time_zone of the job.';

COMMENT ON COLUMN ops.backfills.plan_hash IS 'Digest over the key and the body of every order to post: what differs in one of them is another plan.';

COMMENT ON COLUMN ops.backfills.plan IS 'The plan as it was shown: files, and orders by month, disposition, reason and currency.';

COMMENT ON COLUMN ops.backfills.run_id IS 'Run that planned it.';

COMMENT ON COLUMN ops.backfills.requests_per_second IS 'Its own limit; null: the share that the configuration leaves it.';

COMMENT ON COLUMN ops.backfills.concurrency IS 'Maximum number of concurrent requests of each process that posts its orders; null: the share that the configuration leaves it.';

COMMENT ON COLUMN ops.backfills.planned_at IS 'When.';

COMMENT ON COLUMN ops.backfills.approved_by IS 'Login name of who had it executed.';

COMMENT ON COLUMN ops.backfills.approved_at IS 'When.';

COMMENT ON COLUMN ops.backfills.state_changed_at IS 'When it reached its state.';

COMMENT ON COLUMN ops.backfills.problem IS 'Why it stopped before its end; null where it did not.';

ALTER TABLE ops.backfills ALTER COLUMN backfill_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.backfills_backfill_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.bank_entries (
    bank_entry_id bigint NOT NULL,
    entry_key text NOT NULL,
    payment_id bigint,
    matched_by text,
    kind text NOT NULL,
    booked_on date NOT NULL,
    amount numeric(24,4) NOT NULL,
    currency text NOT NULL,
    outcome text NOT NULL,
    hold_reason text,
    file_name text NOT NULL,
    read_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    read_by text NOT NULL,
    decided_by text,
    decided_reason text,
    CONSTRAINT a_match_says_by_what CHECK (((payment_id IS NULL) = (matched_by IS NULL))),
    CONSTRAINT an_account_is_confirmed CHECK (((matched_by <> 'account'::text) OR (outcome <> 'counted'::text) OR (decided_by IS NOT NULL))),
    CONSTRAINT bank_entries_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT bank_entries_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT bank_entries_decided_by_check CHECK ((decided_by <> ''::text)),
    CONSTRAINT bank_entries_decided_reason_check CHECK ((decided_reason <> ''::text)),
    CONSTRAINT bank_entries_entry_key_check CHECK ((entry_key ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT bank_entries_file_name_check CHECK ((file_name <> ''::text)),
    CONSTRAINT bank_entries_hold_reason_check CHECK ((hold_reason = ANY (ARRAY['to_confirm'::text, 'may_be_known'::text, 'unknown_reference'::text, 'other_currency'::text, 'too_much'::text, 'too_early'::text, 'not_exported'::text, 'nothing_to_return'::text]))),
    CONSTRAINT bank_entries_kind_check CHECK ((kind = ANY (ARRAY['paid'::text, 'returned'::text]))),
    CONSTRAINT bank_entries_matched_by_check CHECK ((matched_by = ANY (ARRAY['reference'::text, 'account'::text]))),
    CONSTRAINT bank_entries_outcome_check CHECK ((outcome = ANY (ARRAY['counted'::text, 'held'::text, 'dismissed'::text]))),
    CONSTRAINT bank_entries_read_by_check CHECK ((read_by <> ''::text)),
    CONSTRAINT counted_has_a_payment CHECK (((outcome <> 'counted'::text) OR (payment_id IS NOT NULL))),
    CONSTRAINT held_says_why CHECK (((outcome = 'held'::text) = (hold_reason IS NOT NULL))),
    CONSTRAINT who_decides_says_why CHECK (((num_nulls(decided_by, decided_reason) = ANY (ARRAY[0, 2])) AND ((outcome <> 'dismissed'::text) OR (decided_by IS NOT NULL))))
);

COMMENT ON TABLE ops.bank_entries IS 'Bookings in files of the bank that are about payments, once each. Other bookings are never stored.';

COMMENT ON COLUMN ops.bank_entries.bank_entry_id IS 'Counts up.';

COMMENT ON COLUMN ops.bank_entries.entry_key IS 'SHA-256 of the reference of the bank, day, amount, direction and EndToEndId, so that a booking in two files counts once.';

COMMENT ON COLUMN ops.bank_entries.payment_id IS 'Payment that it is about. Null: its EndToEndId is of no payment that is known.';

COMMENT ON COLUMN ops.bank_entries.matched_by IS 'reference: its EndToEndId. account: amount and account, which a person must confirm.';

COMMENT ON COLUMN ops.bank_entries.kind IS 'paid: money left the account. returned: money came back.';

COMMENT ON COLUMN ops.bank_entries.booked_on IS 'Day of the booking.';

COMMENT ON COLUMN ops.bank_entries.amount IS 'Amount of the booking, in currency.';

COMMENT ON COLUMN ops.bank_entries.currency IS 'ISO 4217.';

COMMENT ON COLUMN ops.bank_entries.outcome IS 'counted, held (it does not count; see hold_reason), dismissed (a person said that it is about something else).';

COMMENT ON COLUMN ops.bank_entries.hold_reason IS 'to_confirm, may_be_known (another one of the payment or account has this day and amount), unknown_reference, other_currency, too_much (more than the payment), too_early (before the end of the month that is paid), not_exported, nothing_to_return.';

COMMENT ON COLUMN ops.bank_entries.file_name IS 'File in which it was read first.';

COMMENT ON COLUMN ops.bank_entries.read_at IS 'When it was read.';

COMMENT ON COLUMN ops.bank_entries.read_by IS 'Who read the file.';

COMMENT ON COLUMN ops.bank_entries.decided_by IS 'Who confirmed or dismissed it.';

COMMENT ON COLUMN ops.bank_entries.decided_reason IS 'Why.';

ALTER TABLE ops.bank_entries ALTER COLUMN bank_entry_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.bank_entries_bank_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.bulk_actions (
    bulk_id bigint NOT NULL,
    state text DEFAULT 'preview'::text NOT NULL,
    decision text NOT NULL,
    deal_id text,
    collab_id text,
    chosen text NOT NULL,
    filter jsonb,
    reason text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    entries integer DEFAULT 0 NOT NULL,
    ineligible integer DEFAULT 0 NOT NULL,
    amounts jsonb DEFAULT '[]'::jsonb NOT NULL,
    confirmed_by text,
    confirmed_at timestamp with time zone,
    aborted_by text,
    aborted_at timestamp with time zone,
    ended_at timestamp with time zone,
    settled integer,
    changed integer,
    failed integer,
    via text DEFAULT 'console'::text NOT NULL,
    CONSTRAINT bulk_actions_aborted_by_check CHECK ((aborted_by <> ''::text)),
    CONSTRAINT bulk_actions_aborted_check CHECK ((((aborted_at IS NULL) = (aborted_by IS NULL)) AND ((aborted_at IS NOT NULL) = (state = 'aborted'::text)))),
    CONSTRAINT bulk_actions_chosen_check CHECK ((chosen <> ''::text)),
    CONSTRAINT bulk_actions_confirmed_by_check CHECK ((confirmed_by <> ''::text)),
    CONSTRAINT bulk_actions_confirmed_check CHECK ((((confirmed_at IS NULL) = (confirmed_by IS NULL)) AND ((confirmed_at IS NOT NULL) = (state = ANY (ARRAY['running'::text, 'finished'::text, 'aborted'::text]))))),
    CONSTRAINT bulk_actions_created_by_check CHECK ((created_by <> ''::text)),
    CONSTRAINT bulk_actions_deal_check CHECK (((decision = 'accepted'::text) OR ((deal_id IS NULL) AND (collab_id IS NULL)))),
    CONSTRAINT bulk_actions_decision_check CHECK ((decision = ANY (ARRAY['accepted'::text, 'write_off'::text, 'resend'::text, 'acknowledge'::text, 'release'::text, 'reread'::text]))),
    CONSTRAINT bulk_actions_ended_check CHECK ((((state <> 'finished'::text) OR (ended_at IS NOT NULL)) AND ((ended_at IS NULL) OR (state = ANY (ARRAY['finished'::text, 'aborted'::text]))) AND ((ended_at IS NULL) = (settled IS NULL)) AND ((ended_at IS NULL) = (changed IS NULL)) AND ((ended_at IS NULL) = (failed IS NULL)))),
    CONSTRAINT bulk_actions_entries_check CHECK ((entries >= 0)),
    CONSTRAINT bulk_actions_ineligible_check CHECK ((ineligible >= 0)),
    CONSTRAINT bulk_actions_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT bulk_actions_state_check CHECK ((state = ANY (ARRAY['preview'::text, 'running'::text, 'finished'::text, 'aborted'::text, 'expired'::text]))),
    CONSTRAINT bulk_actions_via_check CHECK ((via = ANY (ARRAY['console'::text, 'command'::text])))
);

COMMENT ON TABLE ops.bulk_actions IS 'One decision about many entries of the ledger, or about many files, as it was previewed and confirmed.';

COMMENT ON COLUMN ops.bulk_actions.bulk_id IS 'Counts up. Column bulk_id of ops.audit and ops.bulk_items names it.';

COMMENT ON COLUMN ops.bulk_actions.state IS 'preview (nothing is changed), running, finished, aborted by a person, or expired (never confirmed).';

COMMENT ON COLUMN ops.bulk_actions.decision IS 'What is decided about each: accepted, write_off, resend or acknowledge (entries), release or reread (files).';

COMMENT ON COLUMN ops.bulk_actions.deal_id IS 'With accepted: the deal of entries that name none; null where each must name its own.';

COMMENT ON COLUMN ops.bulk_actions.collab_id IS 'The same for the collaboration.';

COMMENT ON COLUMN ops.bulk_actions.chosen IS 'Which were chosen, in a sentence. Times are instants: an age was counted back from when it was asked for.';

COMMENT ON COLUMN ops.bulk_actions.filter IS 'The filter that chose them; null where a person picked each. It is a record: the entries are those of ops.bulk_items.';

COMMENT ON COLUMN ops.bulk_actions.reason IS 'Why, in the words of the person. E-mail addresses are masked.';

COMMENT ON COLUMN ops.bulk_actions.created_by IS 'Who made the preview.';

COMMENT ON COLUMN ops.bulk_actions.created_at IS 'When it was frozen. Database clock.';

COMMENT ON COLUMN ops.bulk_actions.expires_at IS 'A preview cannot be confirmed from this instant on.';

COMMENT ON COLUMN ops.bulk_actions.entries IS 'Entries, or files, that can be settled.';

COMMENT ON COLUMN ops.bulk_actions.ineligible IS 'Those that were chosen and cannot be settled so; ops.bulk_items says why.';

COMMENT ON COLUMN ops.bulk_actions.amounts IS 'Of those that can be settled: [{currency, amount}], one for each currency. Of double credits: what is too much.';

COMMENT ON COLUMN ops.bulk_actions.confirmed_by IS 'Who confirmed it; null for a preview.';

COMMENT ON COLUMN ops.bulk_actions.confirmed_at IS 'When.';

COMMENT ON COLUMN ops.bulk_actions.aborted_by IS 'Who aborted it. What was settled before stays so.';

COMMENT ON COLUMN ops.bulk_actions.aborted_at IS 'When. Nothing was settled afterwards.';

COMMENT ON COLUMN ops.bulk_actions.ended_at IS 'When the last of them was settled, and the reports were updated.';

COMMENT ON COLUMN ops.bulk_actions.settled IS 'How many it settled; null until it has ended, as the next two.';

COMMENT ON COLUMN ops.bulk_actions.changed IS 'How many were left alone, because they were no longer as the preview showed them.';

COMMENT ON COLUMN ops.bulk_actions.failed IS 'How many could not be settled because of an error, which the log names.';

COMMENT ON COLUMN ops.bulk_actions.via IS 'Where it was made: console or command. Column via of the audit records of its parts.';

ALTER TABLE ops.bulk_actions ALTER COLUMN bulk_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.bulk_actions_bulk_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.bulk_items (
    bulk_id bigint NOT NULL,
    subject_id bigint CONSTRAINT bulk_items_entry_id_not_null NOT NULL,
    job text,
    state text NOT NULL,
    attempt integer,
    amount numeric(18,4),
    currency text,
    deal_id text,
    collab_id text,
    is_eligible boolean NOT NULL,
    outcome text,
    outcome_at timestamp with time zone,
    credits integer,
    CONSTRAINT bulk_items_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT bulk_items_credits_check CHECK ((credits > 1)),
    CONSTRAINT bulk_items_eligible_check CHECK (
CASE
    WHEN is_eligible THEN ((outcome IS NULL) OR (outcome = ANY (ARRAY['settled'::text, 'changed'::text, 'failed'::text])))
    ELSE COALESCE((outcome = ANY (ARRAY['not_in_doubt'::text, 'deal_unknown'::text, 'has_evidence'::text, 'not_credited_twice'::text, 'not_held'::text, 'being_read'::text])), false)
END),
    CONSTRAINT bulk_items_outcome_at_check CHECK (((outcome_at IS NOT NULL) = (is_eligible AND (outcome IS NOT NULL)))),
    CONSTRAINT bulk_items_outcome_check CHECK ((outcome = ANY (ARRAY['settled'::text, 'changed'::text, 'failed'::text, 'not_in_doubt'::text, 'deal_unknown'::text, 'has_evidence'::text, 'not_credited_twice'::text, 'not_held'::text, 'being_read'::text]))),
    CONSTRAINT bulk_items_state_check CHECK ((state = ANY (ARRAY['held'::text, 'ready'::text, 'sending'::text, 'accepted'::text, 'rejected'::text, 'in_doubt'::text, 'written_off'::text, 'reading'::text, 'read'::text, 'duplicate'::text, 'released'::text])))
);

COMMENT ON TABLE ops.bulk_items IS 'Entries or files of a bulk action, as its preview froze them. Those of a preview that has expired are deleted.';

COMMENT ON COLUMN ops.bulk_items.bulk_id IS 'Bulk action, in ops.bulk_actions.';

COMMENT ON COLUMN ops.bulk_items.subject_id IS 'Entry, in ledger.entries; of a decision about files the file, in intake.source_files.';

COMMENT ON COLUMN ops.bulk_items.job IS 'Job of the entry; null for a file.';

COMMENT ON COLUMN ops.bulk_items.state IS 'Its state in the preview. What is in another state is left alone.';

COMMENT ON COLUMN ops.bulk_items.attempt IS 'Attempts of the entry in the preview. An entry with another number is left alone. Null for a file.';

COMMENT ON COLUMN ops.bulk_items.amount IS 'Its amount, in currency; with acknowledge what is too much; null for a file.';

COMMENT ON COLUMN ops.bulk_items.currency IS 'ISO 4217.';

COMMENT ON COLUMN ops.bulk_items.deal_id IS 'With accepted: the deal that the decision names. From the entry or its evidence, else from the bulk action.';

COMMENT ON COLUMN ops.bulk_items.collab_id IS 'The same for the collaboration.';

COMMENT ON COLUMN ops.bulk_items.is_eligible IS 'Whether the decision could be applied to it when it was frozen.';

COMMENT ON COLUMN ops.bulk_items.outcome IS 'settled, changed (left alone: it is no longer as shown) or failed; the reason if it is not eligible; null until then.';

COMMENT ON COLUMN ops.bulk_items.outcome_at IS 'When the outcome was recorded.';

COMMENT ON COLUMN ops.bulk_items.credits IS 'With acknowledge: requests that the service had accepted. With another number since, it is left alone.';

CREATE TABLE ops.console_sign_outs (
    session_id text NOT NULL,
    ends_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE ops.console_sign_outs IS 'Sessions of an OpenID Connect provider that were signed out, so that copies of their cookies are worth nothing.';

COMMENT ON COLUMN ops.console_sign_outs.session_id IS 'Random id in the cookie.';

COMMENT ON COLUMN ops.console_sign_outs.ends_at IS 'When the cookie would have ended; the row is deleted after that.';

ALTER TABLE ops.credit_claims ALTER COLUMN claim_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.credit_claims_claim_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.job_locks (
    job text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ops.job_locks IS 'One row per job, locked (FOR UPDATE) by the transaction that decides about the orders of the job.';

COMMENT ON COLUMN ops.job_locks.job IS 'Name of the job in the configuration.';

COMMENT ON COLUMN ops.job_locks.created_at IS 'When the job was first locked.';

CREATE TABLE ops.notice_deliveries (
    notice_id bigint NOT NULL,
    channel text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    not_before timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    leased_until timestamp with time zone,
    sent_at timestamp with time zone,
    last_error text,
    CONSTRAINT given_up_says_why CHECK (((state <> 'given_up'::text) OR (last_error IS NOT NULL))),
    CONSTRAINT notice_deliveries_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT notice_deliveries_channel_check CHECK ((channel <> ''::text)),
    CONSTRAINT notice_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sent'::text, 'given_up'::text]))),
    CONSTRAINT sent_says_when CHECK (((state = 'sent'::text) = (sent_at IS NOT NULL))),
    CONSTRAINT sent_was_tried CHECK (((state <> 'sent'::text) OR (attempts > 0)))
);

COMMENT ON TABLE ops.notice_deliveries IS 'One row for each notice and channel: the outbox of notices.';

COMMENT ON COLUMN ops.notice_deliveries.notice_id IS 'Notice, see ops.notices.';

COMMENT ON COLUMN ops.notice_deliveries.channel IS 'Channel in pipeline.yaml.';

COMMENT ON COLUMN ops.notice_deliveries.state IS 'pending, sent, given_up (not sent within a day).';

COMMENT ON COLUMN ops.notice_deliveries.attempts IS 'How often it was tried.';

COMMENT ON COLUMN ops.notice_deliveries.due_at IS 'When it was to be sent: at once, or at the end of the quiet hours.';

COMMENT ON COLUMN ops.notice_deliveries.not_before IS 'When it is tried next.';

COMMENT ON COLUMN ops.notice_deliveries.leased_until IS 'A process is sending it until then at most; null: none is.';

COMMENT ON COLUMN ops.notice_deliveries.sent_at IS 'When the channel took it. Database clock.';

COMMENT ON COLUMN ops.notice_deliveries.last_error IS 'Why it could not be sent: a status or a code, never an address.';

CREATE TABLE ops.notices (
    notice_id bigint NOT NULL,
    problem_id bigint,
    event text NOT NULL,
    reminder integer DEFAULT 0 NOT NULL,
    digest_day date,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT digest_has_a_day CHECK (((event = 'digest'::text) = (digest_day IS NOT NULL))),
    CONSTRAINT notices_event_check CHECK ((event = ANY (ARRAY['opened'::text, 'reminded'::text, 'resolved'::text, 'digest'::text]))),
    CONSTRAINT others_have_a_problem CHECK (((event = 'digest'::text) = (problem_id IS NULL))),
    CONSTRAINT reminders_count CHECK (((event = 'reminded'::text) = (reminder > 0)))
);

COMMENT ON TABLE ops.notices IS 'Append-only: one row for each change of a problem, and one for each daily digest.';

COMMENT ON COLUMN ops.notices.notice_id IS 'Counts up. Part of the webhook-id of its requests.';

COMMENT ON COLUMN ops.notices.problem_id IS 'Problem that it reports; null for a digest.';

COMMENT ON COLUMN ops.notices.event IS 'opened, reminded, resolved or digest.';

COMMENT ON COLUMN ops.notices.reminder IS 'Which reminder, from 1; 0 for other events.';

COMMENT ON COLUMN ops.notices.digest_day IS 'Day of a digest, in its time zone; null for other events.';

COMMENT ON COLUMN ops.notices.message IS 'Its content: {problem, title, job, severity, since, amounts, summary, command, page}.';

COMMENT ON COLUMN ops.notices.created_at IS 'When it was made. Database clock.';

ALTER TABLE ops.notices ALTER COLUMN notice_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.notices_notice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.paused_jobs (
    job text NOT NULL,
    paused_by text NOT NULL,
    reason text NOT NULL,
    paused_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT paused_jobs_paused_by_check CHECK ((paused_by <> ''::text)),
    CONSTRAINT paused_jobs_reason_check CHECK ((reason <> ''::text))
);

COMMENT ON TABLE ops.paused_jobs IS 'Jobs that are not run by their schedule for now: their slots are skipped. `run` still runs them.';

COMMENT ON COLUMN ops.paused_jobs.job IS 'Name of the job in pipeline.yaml.';

COMMENT ON COLUMN ops.paused_jobs.paused_by IS 'Who paused it, as in ops.audit.';

COMMENT ON COLUMN ops.paused_jobs.reason IS 'Why, in the words of that person. E-mail addresses are masked.';

COMMENT ON COLUMN ops.paused_jobs.paused_at IS 'When. Database clock.';

CREATE TABLE ops.payment_items (
    payment_id bigint NOT NULL,
    statement_id bigint NOT NULL,
    subject text NOT NULL,
    deal_id text,
    currency text NOT NULL,
    amount numeric(24,4) NOT NULL,
    is_live boolean DEFAULT true NOT NULL,
    CONSTRAINT payment_items_subject_check CHECK ((subject <> ''::text))
);

COMMENT ON TABLE ops.payment_items IS 'Amounts of closed statements that a payment pays: one of a statement, a deal and a currency. The unique index lets one live payment claim each.';

COMMENT ON COLUMN ops.payment_items.payment_id IS 'See ops.payments.';

COMMENT ON COLUMN ops.payment_items.statement_id IS 'The closed statement, which is never deleted, so no foreign key is needed.';

COMMENT ON COLUMN ops.payment_items.subject IS 'deal: and the deal, with the creator if the statement has lines of several; or for a fee of a code without a deal the subject of its lines.';

COMMENT ON COLUMN ops.payment_items.deal_id IS 'The deal; null: a fee of a code without one.';

COMMENT ON COLUMN ops.payment_items.currency IS 'ISO 4217, that of the payment.';

COMMENT ON COLUMN ops.payment_items.amount IS 'Sum of the lines of the statement, in currency; negative if corrections prevail.';

COMMENT ON COLUMN ops.payment_items.is_live IS 'Follows the payment. False: another payment may claim the amount.';

ALTER TABLE ops.payment_proposals ALTER COLUMN proposal_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.payment_proposals_proposal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.payments_elsewhere (
    payment_id bigint NOT NULL,
    paid_on date NOT NULL,
    amount numeric(24,4) CONSTRAINT payments_elsewhere_amount_not_null1 NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp(),
    recorded_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT payments_elsewhere_amount_check1 CHECK ((amount <> (0)::numeric)),
    CONSTRAINT payments_elsewhere_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT payments_elsewhere_recorded_by_check CHECK ((recorded_by <> ''::text))
);

COMMENT ON TABLE ops.payments_elsewhere IS 'Each part of a payment that a person paid without the file for the bank, or agreed not to owe. Written by a trigger; their sum is elsewhere_amount of the payment. Append-only: a trigger refuses any change.';

COMMENT ON COLUMN ops.payments_elsewhere.payment_id IS 'Payment, see ops.payments.';

COMMENT ON COLUMN ops.payments_elsewhere.paid_on IS 'Day on which the person paid it.';

COMMENT ON COLUMN ops.payments_elsewhere.amount IS 'In the currency of the payment. Negative: what the creator owed is settled.';

COMMENT ON COLUMN ops.payments_elsewhere.recorded_at IS 'When the person said so. Null: an earlier version recorded it, which kept no time.';

COMMENT ON COLUMN ops.payments_elsewhere.recorded_by IS 'Who said so.';

COMMENT ON COLUMN ops.payments_elsewhere.reason IS 'How it was paid.';

ALTER TABLE ops.payments ALTER COLUMN payment_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.payments_payment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.problems (
    problem_id bigint NOT NULL,
    kind text NOT NULL,
    job text,
    state text DEFAULT 'opened'::text NOT NULL,
    severity text NOT NULL,
    since timestamp with time zone NOT NULL,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    told_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    told_severity text NOT NULL,
    reminders integer DEFAULT 0 NOT NULL,
    came_back boolean DEFAULT false NOT NULL,
    absent_since timestamp with time zone,
    resolved_at timestamp with time zone,
    amounts jsonb DEFAULT '[]'::jsonb NOT NULL,
    summary text NOT NULL,
    command text NOT NULL,
    page text NOT NULL,
    CONSTRAINT problems_amounts_check CHECK ((jsonb_typeof(amounts) = 'array'::text)),
    CONSTRAINT problems_command_check CHECK ((command <> ''::text)),
    CONSTRAINT problems_job_check CHECK ((job <> ''::text)),
    CONSTRAINT problems_kind_check CHECK ((kind <> ''::text)),
    CONSTRAINT problems_reminders_check CHECK ((reminders >= 0)),
    CONSTRAINT problems_severity_check CHECK ((severity = ANY (ARRAY['error'::text, 'warning'::text]))),
    CONSTRAINT problems_state_check CHECK ((state = ANY (ARRAY['opened'::text, 'reminded'::text, 'resolved'::text]))),
    CONSTRAINT problems_summary_check CHECK ((summary <> ''::text)),
    CONSTRAINT problems_told_severity_check CHECK ((told_severity = ANY (ARRAY['error'::text, 'warning'::text]))),
    CONSTRAINT reminded_was_reminded CHECK (((state = 'resolved'::text) OR ((state = 'reminded'::text) = (reminders > 0)))),
    CONSTRAINT resolved_says_when CHECK (((state = 'resolved'::text) = (resolved_at IS NOT NULL)))
);

COMMENT ON TABLE ops.problems IS 'One row for each problem, from when it was noticed until it was over. The same problem that comes again is another row.';

COMMENT ON COLUMN ops.problems.problem_id IS 'Counts up.';

COMMENT ON COLUMN ops.problems.kind IS 'What is wrong, for example job_failed: docs/notices.md lists all kinds.';

COMMENT ON COLUMN ops.problems.job IS 'Job in pipeline.yaml; null where it concerns every job.';

COMMENT ON COLUMN ops.problems.state IS 'opened, reminded (another notice was made since), resolved.';

COMMENT ON COLUMN ops.problems.severity IS 'error (jobs do not do their work, or money is at risk) or warning.';

COMMENT ON COLUMN ops.problems.since IS 'When it began, as far as is known.';

COMMENT ON COLUMN ops.problems.opened_at IS 'When it was noticed. Database clock.';

COMMENT ON COLUMN ops.problems.observed_at IS 'When the observation began that was last applied to it; an older one has no effect. Database clock.';

COMMENT ON COLUMN ops.problems.told_at IS 'When the last notice of it was made. Clock of the database.';

COMMENT ON COLUMN ops.problems.told_severity IS 'Severity in that notice. If it has become an error since, another notice is made.';

COMMENT ON COLUMN ops.problems.reminders IS 'Number of further notices.';

COMMENT ON COLUMN ops.problems.came_back IS 'It was found again soon after it was resolved, so it is resolved only after it has been absent for a while.';

COMMENT ON COLUMN ops.problems.absent_since IS 'For a problem that was found again: since when it has not been found; null while it is.';

COMMENT ON COLUMN ops.problems.resolved_at IS 'When it was over; null while it is open. Database clock.';

COMMENT ON COLUMN ops.problems.amounts IS 'Money that is concerned: [{amount, currency}], amounts as text.';

COMMENT ON COLUMN ops.problems.summary IS 'What is wrong, without secrets, addresses and values of rows.';

COMMENT ON COLUMN ops.problems.command IS 'What to run next.';

COMMENT ON COLUMN ops.problems.page IS 'Page of the console that shows it.';

ALTER TABLE ops.problems ALTER COLUMN problem_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.problems_problem_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.request_turns (
    only_row boolean DEFAULT true NOT NULL,
    next_turn_at timestamp with time zone NOT NULL,
    run_turn_at timestamp with time zone,
    backfill_turn_at timestamp with time zone,
    CONSTRAINT request_turns_only_row_check CHECK (only_row)
)
WITH (fillfactor='10');

COMMENT ON TABLE ops.request_turns IS 'The shared rate limiter of the account: all processes reserve their requests here, so that together they keep the limit. A crash loses nothing.';

COMMENT ON COLUMN ops.request_turns.only_row IS 'Always true: the table has at most one row.';

COMMENT ON COLUMN ops.request_turns.next_turn_at IS 'The first time that no process has reserved.';

COMMENT ON COLUMN ops.request_turns.run_turn_at IS 'When a run last reserved a request: while runs do, backfills slow down.';

COMMENT ON COLUMN ops.request_turns.backfill_turn_at IS 'When a backfill last reserved a request.';

CREATE TABLE ops.run_messages (
    run_id bigint NOT NULL,
    message_no integer NOT NULL,
    at timestamp with time zone NOT NULL,
    message text NOT NULL
);

COMMENT ON TABLE ops.run_messages IS 'What each run said while it went on, the first 200 messages. No secrets, row values or addresses.';

COMMENT ON COLUMN ops.run_messages.run_id IS 'Run, see ops.runs.';

COMMENT ON COLUMN ops.run_messages.message_no IS 'Order, from 0.';

COMMENT ON COLUMN ops.run_messages.at IS 'When. Clock of the process.';

COMMENT ON COLUMN ops.run_messages.message IS 'A sentence for a person.';

CREATE TABLE ops.run_requests (
    run_id bigint NOT NULL,
    operation text NOT NULL,
    requests bigint NOT NULL,
    answered bigint NOT NULL,
    refused bigint NOT NULL,
    throttled bigint NOT NULL,
    failed bigint NOT NULL,
    median_ms numeric(12,1) NOT NULL,
    p95_ms numeric(12,1) NOT NULL,
    slowest_ms numeric(12,1) NOT NULL
);

COMMENT ON TABLE ops.run_requests IS 'Requests of each run to the service, one row an operation, with how long they took from the start to the complete answer.';

COMMENT ON COLUMN ops.run_requests.run_id IS 'Run, see ops.runs.';

COMMENT ON COLUMN ops.run_requests.operation IS 'Operation of the contract, for example new_influencer_referral.';

COMMENT ON COLUMN ops.run_requests.requests IS 'All of them: answered + refused + throttled + failed.';

COMMENT ON COLUMN ops.run_requests.answered IS 'Answers with a status of 200 to 299.';

COMMENT ON COLUMN ops.run_requests.refused IS 'Answers with a status of 400 to 499, except 429.';

COMMENT ON COLUMN ops.run_requests.throttled IS 'Answers with status 429.';

COMMENT ON COLUMN ops.run_requests.failed IS 'Any other status, and requests without a complete answer.';

COMMENT ON COLUMN ops.run_requests.median_ms IS 'Half of them took no longer, within 0.1 percent.';

COMMENT ON COLUMN ops.run_requests.p95_ms IS '95 of 100 took no longer.';

COMMENT ON COLUMN ops.run_requests.slowest_ms IS 'The longest.';

CREATE TABLE ops.run_steps (
    run_id bigint NOT NULL,
    step text NOT NULL,
    "position" integer NOT NULL,
    label text NOT NULL,
    times integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seconds numeric(12,3) NOT NULL,
    finished_at timestamp with time zone,
    unit text NOT NULL,
    done bigint NOT NULL,
    total bigint
);

COMMENT ON TABLE ops.run_steps IS 'Steps of each run, one row a kind of step: reading 20 files is one row. Written about once a second while the run goes on.';

COMMENT ON COLUMN ops.run_steps.run_id IS 'Run, see ops.runs.';

COMMENT ON COLUMN ops.run_steps.step IS 'Stable name: read, attribute, post.';

COMMENT ON COLUMN ops.run_steps."position" IS 'Order in which the run began them, from 0.';

COMMENT ON COLUMN ops.run_steps.label IS 'What the run shows a person, of the last time: Reading orders.csv.';

COMMENT ON COLUMN ops.run_steps.times IS 'How many times the run began it, for example once a file.';

COMMENT ON COLUMN ops.run_steps.started_at IS 'When it began for the first time. Clock of the process.';

COMMENT ON COLUMN ops.run_steps.seconds IS 'Time in it so far, all times together.';

COMMENT ON COLUMN ops.run_steps.finished_at IS 'When it last ended; null while the run is in it, or when its process died in it.';

COMMENT ON COLUMN ops.run_steps.unit IS 'What done and total count: bytes, orders, requests.';

COMMENT ON COLUMN ops.run_steps.done IS 'How much of it is done, all times together.';

COMMENT ON COLUMN ops.run_steps.total IS 'How much there was to do, all times together; null where that was unknown.';

ALTER TABLE ops.runs ALTER COLUMN run_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.runs_run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ops.schedules (
    job text NOT NULL,
    looked_until timestamp with time zone NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ops.schedules IS 'How far the schedule of each job has been looked at: its slots up to there are in ops.slots.';

COMMENT ON COLUMN ops.schedules.job IS 'Name of the job in pipeline.yaml.';

COMMENT ON COLUMN ops.schedules.looked_until IS 'Slots up to and including this instant are accounted for. Later ones are not due yet, or came due while nothing ran.';

COMMENT ON COLUMN ops.schedules.first_seen_at IS 'Since when its schedule counts.';

CREATE TABLE ops.statement_headings (
    statement_id bigint NOT NULL,
    deal_id text NOT NULL,
    influencer_handle text,
    brand_id text,
    brand_name text,
    CONSTRAINT statement_headings_brand_id_check CHECK ((brand_id <> ''::text)),
    CONSTRAINT statement_headings_deal_id_check CHECK ((deal_id <> ''::text)),
    CONSTRAINT statement_headings_influencer_handle_check CHECK ((influencer_handle <> ''::text))
);

COMMENT ON TABLE ops.statement_headings IS 'What is at the head of a closed statement for the creator of a deal, as it was when the statement was closed; of those closed before there was this table, when it was made. Append-only: a trigger refuses any change.';

COMMENT ON COLUMN ops.statement_headings.statement_id IS 'Statement, see ops.statements.';

COMMENT ON COLUMN ops.statement_headings.deal_id IS 'Deal with lines in it.';

COMMENT ON COLUMN ops.statement_headings.influencer_handle IS 'Influencer of the deal, by the mirror or by its codes. Null: not known.';

COMMENT ON COLUMN ops.statement_headings.brand_id IS 'Brand of the deal by the mirror. Null: not known.';

COMMENT ON COLUMN ops.statement_headings.brand_name IS 'Name of that brand in the account. Null: not known.';

CREATE TABLE ops.statement_mails (
    mail_id bigint NOT NULL,
    statement_id bigint NOT NULL,
    deal_id text NOT NULL,
    replaces bigint,
    channel text NOT NULL,
    language text NOT NULL,
    document_hash text NOT NULL,
    recipient text,
    message bytea,
    state text DEFAULT 'waiting'::text NOT NULL,
    failure text,
    requested_by text NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    claimed_at timestamp with time zone,
    settled_at timestamp with time zone,
    settled_by text,
    former_creator text,
    CONSTRAINT kept_until_sent CHECK ((((state = ANY (ARRAY['waiting'::text, 'sending'::text])) = (recipient IS NOT NULL)) AND ((recipient IS NULL) = (message IS NULL)))),
    CONSTRAINT sending_was_claimed CHECK (((state <> 'sending'::text) OR (claimed_at IS NOT NULL))),
    CONSTRAINT settled_says_when CHECK (((state = ANY (ARRAY['waiting'::text, 'sending'::text])) = (settled_at IS NULL))),
    CONSTRAINT statement_mails_channel_check CHECK ((channel <> ''::text)),
    CONSTRAINT statement_mails_deal_id_check CHECK ((deal_id <> ''::text)),
    CONSTRAINT statement_mails_document_hash_check CHECK ((document_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT statement_mails_former_creator_check CHECK ((former_creator <> ''::text)),
    CONSTRAINT statement_mails_language_check CHECK ((language <> ''::text)),
    CONSTRAINT statement_mails_requested_by_check CHECK ((requested_by <> ''::text)),
    CONSTRAINT statement_mails_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sending'::text, 'sent'::text, 'unclear'::text, 'failed'::text]))),
    CONSTRAINT trouble_says_why CHECK (((state <> ALL (ARRAY['unclear'::text, 'failed'::text])) OR (failure IS NOT NULL)))
);

COMMENT ON TABLE ops.statement_mails IS 'The outbox of statements for creators, a row for each mail. It is claimed before SMTP begins, and never sent again by itself.';

COMMENT ON COLUMN ops.statement_mails.mail_id IS 'Counts up.';

COMMENT ON COLUMN ops.statement_mails.statement_id IS 'The closed statement, which is never deleted, so no foreign key is needed.';

COMMENT ON COLUMN ops.statement_mails.deal_id IS 'The deal that the document is about.';

COMMENT ON COLUMN ops.statement_mails.replaces IS 'The mail before about the same statement, deal and creator, which the person saw who asked for this one. Two people cannot replace the same one.';

COMMENT ON COLUMN ops.statement_mails.channel IS 'Channel in pipeline.yaml by which it is sent.';

COMMENT ON COLUMN ops.statement_mails.language IS 'Language of the document: en, de, …';

COMMENT ON COLUMN ops.statement_mails.document_hash IS 'SHA-256 of the PDF that is attached.';

COMMENT ON COLUMN ops.statement_mails.recipient IS 'Address; deleted as soon as the mail is not to be sent any more.';

COMMENT ON COLUMN ops.statement_mails.message IS 'The whole mail; deleted with the recipient.';

COMMENT ON COLUMN ops.statement_mails.state IS 'waiting, sending (claimed), sent (the mail server took it), unclear (interrupted, or no answer: a person decides), failed (not taken).';

COMMENT ON COLUMN ops.statement_mails.failure IS 'Why it is unclear or failed: a code, never an address.';

COMMENT ON COLUMN ops.statement_mails.requested_by IS 'Who sent it.';

COMMENT ON COLUMN ops.statement_mails.requested_at IS 'When.';

COMMENT ON COLUMN ops.statement_mails.claimed_at IS 'When a process began to send it.';

COMMENT ON COLUMN ops.statement_mails.settled_at IS 'When it was sent, failed or became unclear, or a person decided.';

COMMENT ON COLUMN ops.statement_mails.settled_by IS 'Who decided what became of an unclear mail; null: nobody had to.';

COMMENT ON COLUMN ops.statement_mails.former_creator IS 'Handle, folded, of the former creator of the deal whose corrections the document has. Null: it is that of the creator who had the deal when the month was closed.';

ALTER TABLE ops.statement_mails ALTER COLUMN mail_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.statement_mails_mail_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ops.statements ALTER COLUMN statement_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ops.statements_statement_id_seq
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

COMMENT ON COLUMN ops.webhook_events.kind IS 'webhook_type of the specification; unknown if neither the body nor the address names it.';

COMMENT ON COLUMN ops.webhook_events.body IS 'What was sent: members with their values where those are ids, amounts, codes, links, dates or public; of all others only that they were there. A JSON text where it was no JSON object.';

COMMENT ON COLUMN ops.webhook_events.body_sha256 IS 'Digest of the raw body: the same body is an event once, whenever it is sent again.';

COMMENT ON COLUMN ops.webhook_events.deal_id IS 'Deal that it names, which may be discovered through it.';

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

CREATE TABLE ops.work_units (
    unit_id uuid DEFAULT gen_random_uuid() NOT NULL,
    run_id bigint NOT NULL,
    run_owner uuid NOT NULL,
    job text NOT NULL,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    is_wanted boolean DEFAULT true NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    worker_id uuid,
    done bigint DEFAULT 0 NOT NULL,
    result jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    begun_at timestamp with time zone,
    seen_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT work_units_kind_check CHECK ((kind = ANY (ARRAY['read-source'::text, 'post-share'::text, 'post-backfill'::text, 'fetch-deals'::text, 'submit-batches'::text]))),
    CONSTRAINT work_units_state_check CHECK ((state = ANY (ARRAY['open'::text, 'returned'::text, 'done'::text, 'failed'::text, 'given_up'::text, 'cancelled'::text])))
);

COMMENT ON TABLE ops.work_units IS 'Units of work that a run has queued for workers. Repeating one changes nothing: what it reads is sealed once, what it posts is claimed once, what it fetches is staged once, and a submitted batch no longer waits.';

COMMENT ON COLUMN ops.work_units.unit_id IS 'Id of the unit, also in the queue of pg-boss.';

COMMENT ON COLUMN ops.work_units.run_id IS 'Run that queued it, see ops.runs.';

COMMENT ON COLUMN ops.work_units.run_owner IS 'Process of that run, by its name in ops.leases. If no lease of that process is in force, its units are not done.';

COMMENT ON COLUMN ops.work_units.job IS 'Job of the run.';

COMMENT ON COLUMN ops.work_units.kind IS 'read-source: read the new files of a source. post-share: post a range of the ready entries of a job. post-backfill: the same for a backfill. fetch-deals: read a range of the deals that are due into the staging tables. submit-batches: submit a range of the waiting batches of customers of a brand.';

COMMENT ON COLUMN ops.work_units.payload IS 'What to do, by kind. No addresses, no values of rows.';

COMMENT ON COLUMN ops.work_units.state IS 'open: queued or in progress; returned: by a worker that stops; done; failed: with an error that the run reports; given_up: its worker died several times; cancelled: no longer needed.';

COMMENT ON COLUMN ops.work_units.is_wanted IS 'False if its run no longer needs it: its worker finishes the requests in flight and returns it.';

COMMENT ON COLUMN ops.work_units.attempt IS 'How often a worker began it. Only the last one may end it.';

COMMENT ON COLUMN ops.work_units.worker_id IS 'Worker that began it last, see ops.workers.';

COMMENT ON COLUMN ops.work_units.done IS 'How far it is: rows read, orders posted, deals read, or customers submitted.';

COMMENT ON COLUMN ops.work_units.result IS 'Its result, or for failed units the error (code, message, help). No addresses, no values of rows.';

COMMENT ON COLUMN ops.work_units.created_at IS 'When it was queued. Clock of the database.';

COMMENT ON COLUMN ops.work_units.begun_at IS 'When a worker began it last.';

COMMENT ON COLUMN ops.work_units.seen_at IS 'Last sign of life of the worker that does it, about one a second.';

COMMENT ON COLUMN ops.work_units.ended_at IS 'When it reached its state; null while it is open.';

CREATE TABLE ops.workers (
    worker_id uuid NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    kinds text[] NOT NULL,
    concurrency integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    draining_since timestamp with time zone
);

COMMENT ON TABLE ops.workers IS 'Processes that do units of work: `work`, and `serve` where the engine is pg-boss. A row goes when its process ends in order, or a day after it was last seen.';

COMMENT ON COLUMN ops.workers.worker_id IS 'Made when the process starts.';

COMMENT ON COLUMN ops.workers.host IS 'Host name of its machine.';

COMMENT ON COLUMN ops.workers.pid IS 'Process id there.';

COMMENT ON COLUMN ops.workers.version IS 'Version of influencer-sync. Workers of two versions may work side by side.';

COMMENT ON COLUMN ops.workers.kinds IS 'Kinds of units that it takes, see ops.work_units.kind.';

COMMENT ON COLUMN ops.workers.concurrency IS 'Units of each kind that it does at a time.';

COMMENT ON COLUMN ops.workers.started_at IS 'When it started. Clock of the database.';

COMMENT ON COLUMN ops.workers.seen_at IS 'Its last sign of life, one every 5 seconds. Clock of the database.';

COMMENT ON COLUMN ops.workers.draining_since IS 'When it was asked to stop: it finishes its requests in flight and begins no more units. Null for a worker that begins units. Clock of the database.';

CREATE TABLE reporting.accepted_sums (
    job text NOT NULL,
    currency text NOT NULL,
    entries bigint NOT NULL,
    amount numeric NOT NULL,
    oldest timestamp with time zone NOT NULL,
    CONSTRAINT accepted_sums_entries_check CHECK ((entries > 0))
);

COMMENT ON TABLE reporting.accepted_sums IS 'Accepted entries of the ledger, added up: those with an id up to refresh.counted_entry_id that are not in uncounted_entries.';

COMMENT ON COLUMN reporting.accepted_sums.job IS 'Job.';

COMMENT ON COLUMN reporting.accepted_sums.currency IS 'ISO 4217; empty for entries without an amount.';

COMMENT ON COLUMN reporting.accepted_sums.entries IS 'Number of entries.';

COMMENT ON COLUMN reporting.accepted_sums.amount IS 'Their revenue as sent, in currency.';

COMMENT ON COLUMN reporting.accepted_sums.oldest IS 'When the first of them was accepted.';

CREATE TABLE reporting.applied_views (
    only_row boolean DEFAULT true NOT NULL,
    content_hash text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT applied_views_only_row_check CHECK (only_row)
);

COMMENT ON TABLE reporting.applied_views IS 'Which sql/views this database has.';

COMMENT ON COLUMN reporting.applied_views.only_row IS 'Always true: the table has at most one row.';

COMMENT ON COLUMN reporting.applied_views.content_hash IS 'Digest of the files: another one, and they are applied again.';

COMMENT ON COLUMN reporting.applied_views.applied_at IS 'When.';

CREATE TABLE reporting.changed_days (
    day_utc date NOT NULL
);

COMMENT ON TABLE reporting.changed_days IS 'Days with orders whose disposition differs from the daily sums: the next step of a refresh adds them up.';

COMMENT ON COLUMN reporting.changed_days.day_utc IS 'Day in UTC.';

CREATE TABLE reporting.changed_deals (
    deal_id text NOT NULL,
    month_utc date NOT NULL
);

COMMENT ON TABLE reporting.changed_deals IS 'Deals and months with orders that stand otherwise than reporting.return_months says: the next step of a refresh adds them up.';

COMMENT ON COLUMN reporting.changed_deals.deal_id IS 'Deal.';

COMMENT ON COLUMN reporting.changed_deals.month_utc IS 'First day of the month.';

CREATE TABLE reporting.changed_earnings (
    change_no bigint NOT NULL,
    entry_id bigint,
    collab_id text,
    CONSTRAINT changed_earnings_name_one CHECK ((num_nonnulls(entry_id, collab_id) = 1))
);

COMMENT ON TABLE reporting.changed_earnings IS 'Entries and collaborations that have changed since order_earnings was last updated. Written by triggers, emptied by the update.';

COMMENT ON COLUMN reporting.changed_earnings.change_no IS 'Counts up.';

COMMENT ON COLUMN reporting.changed_earnings.entry_id IS 'Entry of the ledger that may earn something else now.';

COMMENT ON COLUMN reporting.changed_earnings.collab_id IS 'Collaboration whose rate has changed: all of its orders may earn something else now.';

ALTER TABLE reporting.changed_earnings ALTER COLUMN change_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reporting.changed_earnings_change_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE reporting.counted_files (
    job text NOT NULL,
    source_file_id bigint NOT NULL,
    attributed_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE reporting.counted_files IS 'Decisions that order_dispositions has taken note of, by file: what differs from intake.attributed_files is looked at by the next refresh.';

COMMENT ON COLUMN reporting.counted_files.job IS 'Job that decided.';

COMMENT ON COLUMN reporting.counted_files.source_file_id IS 'File whose orders it decided about.';

COMMENT ON COLUMN reporting.counted_files.attributed_at IS 'When it decided, as intake.attributed_files says.';

CREATE TABLE reporting.deal_earnings (
    currency text NOT NULL,
    deal_id text NOT NULL,
    standing text NOT NULL,
    ordered_month date NOT NULL,
    due_month date NOT NULL,
    influencer_handle text NOT NULL,
    orders bigint NOT NULL,
    net_amount numeric(24,4) NOT NULL,
    earned_amount numeric(24,4) NOT NULL,
    closed_amount numeric(24,4) NOT NULL
);

COMMENT ON TABLE reporting.deal_earnings IS 'order_earnings added up by deal, currency, standing, months and influencer, without settled orders.';

COMMENT ON COLUMN reporting.deal_earnings.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.deal_earnings.deal_id IS 'Deal; empty if unknown.';

COMMENT ON COLUMN reporting.deal_earnings.standing IS 'As in order_earnings.';

COMMENT ON COLUMN reporting.deal_earnings.ordered_month IS 'First day of the month of ordered_on.';

COMMENT ON COLUMN reporting.deal_earnings.due_month IS 'First day of the month of due_on.';

COMMENT ON COLUMN reporting.deal_earnings.influencer_handle IS 'Influencer; empty if unknown.';

COMMENT ON COLUMN reporting.deal_earnings.orders IS 'How many.';

COMMENT ON COLUMN reporting.deal_earnings.net_amount IS 'Revenue net of refunds and cancellations, in currency.';

COMMENT ON COLUMN reporting.deal_earnings.earned_amount IS 'What they have earned; 0 if unknown.';

COMMENT ON COLUMN reporting.deal_earnings.closed_amount IS 'Sum of their lines in closed statements.';

CREATE TABLE reporting.deal_totals (
    target text NOT NULL,
    currency text NOT NULL,
    deal_id text,
    influencer_handle text,
    orders bigint NOT NULL,
    amount numeric(24,4) NOT NULL
);

COMMENT ON TABLE reporting.deal_totals IS 'Accepted orders of deal_days added up over all days, one row for each influencer and currency.';

COMMENT ON COLUMN reporting.deal_totals.target IS 'As in deal_days.';

COMMENT ON COLUMN reporting.deal_totals.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.deal_totals.deal_id IS 'Deal, where an order names one.';

COMMENT ON COLUMN reporting.deal_totals.influencer_handle IS 'Influencer, where an order names one.';

COMMENT ON COLUMN reporting.deal_totals.orders IS 'How many; 0 if they were all credited to somebody else afterwards.';

COMMENT ON COLUMN reporting.deal_totals.amount IS 'Their revenue, in currency.';

CREATE TABLE reporting.earning_days (
    currency text NOT NULL,
    standing text NOT NULL,
    ordered_on date NOT NULL,
    due_on date NOT NULL,
    orders bigint NOT NULL,
    net_amount numeric(24,4) NOT NULL,
    earned_amount numeric(24,4) NOT NULL,
    closed_amount numeric(24,4) NOT NULL
);

COMMENT ON TABLE reporting.earning_days IS 'order_earnings added up by currency, standing and day, without settled orders.';

COMMENT ON COLUMN reporting.earning_days.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.earning_days.standing IS 'As in order_earnings.';

COMMENT ON COLUMN reporting.earning_days.ordered_on IS 'Day of the orders.';

COMMENT ON COLUMN reporting.earning_days.due_on IS 'Day from which they count.';

COMMENT ON COLUMN reporting.earning_days.orders IS 'How many.';

COMMENT ON COLUMN reporting.earning_days.net_amount IS 'Revenue net of refunds and cancellations, in currency.';

COMMENT ON COLUMN reporting.earning_days.earned_amount IS 'What they have earned; 0 if unknown.';

COMMENT ON COLUMN reporting.earning_days.closed_amount IS 'Sum of their lines in closed statements.';

CREATE TABLE reporting.earning_rules (
    only_row boolean DEFAULT true NOT NULL,
    rules_hash text NOT NULL,
    CONSTRAINT earning_rules_only_row_check CHECK (only_row)
);

COMMENT ON TABLE reporting.earning_rules IS 'The rules by which order_earnings was computed. A reader with other rules does not use it.';

COMMENT ON COLUMN reporting.earning_rules.only_row IS 'There is one row.';

COMMENT ON COLUMN reporting.earning_rules.rules_hash IS 'Digest of the terms, the return window and the time zone. Empty: never computed.';

CREATE TABLE reporting.exchange_rates (
    currency text NOT NULL,
    day_local date NOT NULL,
    rate numeric(24,12) NOT NULL,
    CONSTRAINT exchange_rates_rate_check CHECK ((rate > (0)::numeric))
);

COMMENT ON TABLE reporting.exchange_rates IS 'Rates of statements.fx into statements.reporting_currency. Replaced when the file changes.';

COMMENT ON COLUMN reporting.exchange_rates.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.exchange_rates.day_local IS 'Day, in statements.time_zone.';

COMMENT ON COLUMN reporting.exchange_rates.rate IS 'What 1 of currency was worth on the day, in statements.reporting_currency.';

CREATE TABLE reporting.order_earnings (
    entry_id bigint NOT NULL,
    source text,
    order_platform text,
    order_id text,
    ordered_on date NOT NULL,
    due_on date NOT NULL,
    deal_id text,
    collab_id text,
    brand_id text,
    influencer_handle text,
    currency text NOT NULL,
    sent_amount numeric(18,4) NOT NULL,
    net_amount numeric(18,4),
    excluded_amount numeric(18,4),
    rate_percent numeric,
    rate_from text,
    earned_amount numeric(18,4),
    closed_amount numeric(18,4),
    standing text NOT NULL,
    terms_lines integer[],
    CONSTRAINT only_an_unknown_net_is_null CHECK (((net_amount IS NULL) = (standing = 'unknown_net'::text))),
    CONSTRAINT order_earnings_standing_check CHECK ((standing = ANY (ARRAY['new'::text, 'nothing'::text, 'correction'::text, 'settled'::text, 'unknown_rate'::text, 'unknown_lines'::text, 'unknown_net'::text, 'unknown_customer'::text, 'unknown_start'::text, 'unknown_tier'::text, 'unknown_currency'::text, 'unknown_change'::text])))
);

COMMENT ON TABLE reporting.order_earnings IS 'What each accepted order has earned, one row per order that this tool posted. Orders in changed_earnings may earn something else by now.';

COMMENT ON COLUMN reporting.order_earnings.entry_id IS 'Entry of the ledger.';

COMMENT ON COLUMN reporting.order_earnings.source IS 'Source of the order.';

COMMENT ON COLUMN reporting.order_earnings.order_platform IS 'Shop platform as sent.';

COMMENT ON COLUMN reporting.order_earnings.order_id IS 'Order as sent.';

COMMENT ON COLUMN reporting.order_earnings.ordered_on IS 'Day of the order, in the time zone of the statements.';

COMMENT ON COLUMN reporting.order_earnings.due_on IS 'Day from which it counts.';

COMMENT ON COLUMN reporting.order_earnings.deal_id IS 'Deal that the service credited.';

COMMENT ON COLUMN reporting.order_earnings.collab_id IS 'Collaboration that the service credited.';

COMMENT ON COLUMN reporting.order_earnings.brand_id IS 'Brand.';

COMMENT ON COLUMN reporting.order_earnings.influencer_handle IS 'Influencer, if known.';

COMMENT ON COLUMN reporting.order_earnings.currency IS 'ISO 4217.';

COMMENT ON COLUMN reporting.order_earnings.sent_amount IS 'Revenue as it was sent, in currency.';

COMMENT ON COLUMN reporting.order_earnings.net_amount IS 'Revenue net of refunds and cancellations, in currency. Null: unknown, because what was refunded is.';

COMMENT ON COLUMN reporting.order_earnings.excluded_amount IS 'Part of net_amount that earns nothing, because the terms exclude the product. Null: unknown.';

COMMENT ON COLUMN reporting.order_earnings.rate_percent IS 'Commission in percent. Null: unknown.';

COMMENT ON COLUMN reporting.order_earnings.rate_from IS 'Where the rate comes from: code or deal (of the terms), or service.';

COMMENT ON COLUMN reporting.order_earnings.earned_amount IS 'What it has earned, in currency. Null: unknown.';

COMMENT ON COLUMN reporting.order_earnings.closed_amount IS 'Sum of its lines in closed statements. Null: it has none.';

COMMENT ON COLUMN reporting.order_earnings.standing IS 'new (it has earned something, and is in no closed statement), nothing (in none, and it has earned 0), correction (it has earned something else than its closed statements say), settled (the same); unknown_rate, unknown_lines, unknown_net, unknown_customer, unknown_start, unknown_tier, unknown_currency, unknown_change: why it is unknown.';

COMMENT ON COLUMN reporting.order_earnings.terms_lines IS 'Lines of terms.csv by which it earns. Null: by the rate of the service, or unknown.';

CREATE TABLE reporting.refresh_partitions (
    partition_no smallint NOT NULL
);

COMMENT ON TABLE reporting.refresh_partitions IS 'Halves of a large refresh, which two sessions work through at the same time. A step locks the row of its half, so that no other refresh writes there.';

COMMENT ON COLUMN reporting.refresh_partitions.partition_no IS '0 or 1: by the hash of an order id, or by the number of a day.';

CREATE TABLE reporting.uncounted_entries (
    entry_id bigint NOT NULL
);

COMMENT ON TABLE reporting.uncounted_entries IS 'Entries with an id up to refresh.counted_entry_id that were not accepted when they were last looked at.';

COMMENT ON COLUMN reporting.uncounted_entries.entry_id IS 'Entry.';

ALTER TABLE ONLY intake.announced_files
    ADD CONSTRAINT announced_files_pkey PRIMARY KEY (source, read_for, uri);

ALTER TABLE ONLY intake.attributed_files
    ADD CONSTRAINT attributed_files_pkey PRIMARY KEY (job, source_file_id);

ALTER TABLE ONLY intake.attributions
    ADD CONSTRAINT attributions_pkey PRIMARY KEY (job, source, order_id);

ALTER TABLE ONLY intake.check_findings
    ADD CONSTRAINT check_findings_pkey PRIMARY KEY (finding_id);

ALTER TABLE ONLY intake.clicks
    ADD CONSTRAINT clicks_pkey PRIMARY KEY (click_id);

ALTER TABLE ONLY intake.clicks
    ADD CONSTRAINT clicks_source_subject_day_country_key UNIQUE (source, subject, day, country);

ALTER TABLE ONLY intake.code_assignments
    ADD CONSTRAINT code_assignments_pkey PRIMARY KEY (assignment_id);

ALTER TABLE ONLY intake.code_changes
    ADD CONSTRAINT code_changes_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY intake.code_lists
    ADD CONSTRAINT code_lists_pkey PRIMARY KEY (job);

ALTER TABLE ONLY intake.codes
    ADD CONSTRAINT codes_pkey PRIMARY KEY (job, line_no);

ALTER TABLE ONLY intake.creators
    ADD CONSTRAINT creators_pkey PRIMARY KEY (creator_id);

ALTER TABLE ONLY intake.creators
    ADD CONSTRAINT creators_source_handle_folded_platform_brand_id_dealflow_id_key UNIQUE (source, handle_folded, platform, brand_id, dealflow_id);

ALTER TABLE ONLY intake.customer_key
    ADD CONSTRAINT customer_key_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY intake.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (customer_hash);

ALTER TABLE ONLY intake.expected_dates
    ADD CONSTRAINT expected_dates_pkey PRIMARY KEY (expected_date_id);

ALTER TABLE ONLY intake.file_statistics
    ADD CONSTRAINT file_statistics_pkey PRIMARY KEY (source_file_id);

ALTER TABLE ONLY intake.forgotten_customers
    ADD CONSTRAINT forgotten_customers_pkey PRIMARY KEY (tombstone);

ALTER TABLE ONLY intake.identify_batches
    ADD CONSTRAINT identify_batches_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY intake.listings
    ADD CONSTRAINT listings_pkey PRIMARY KEY (source, read_for);

ALTER TABLE ONLY intake.lookups
    ADD CONSTRAINT lookups_pkey PRIMARY KEY (customer_hash);

ALTER TABLE ONLY intake.order_claims
    ADD CONSTRAINT order_claims_pkey PRIMARY KEY (job, source, order_id, place, target);

ALTER TABLE ONLY intake.order_continuations
    ADD CONSTRAINT order_continuations_pkey PRIMARY KEY (source_file_id, line_no);

ALTER TABLE ONLY intake.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (order_version_id);

ALTER TABLE ONLY intake.outreach_candidates
    ADD CONSTRAINT outreach_candidates_pkey PRIMARY KEY (job, influencer);

ALTER TABLE ONLY intake.rejected_rows
    ADD CONSTRAINT rejected_rows_pkey PRIMARY KEY (source_file_id, record_no);

ALTER TABLE ONLY intake.revenue_rules
    ADD CONSTRAINT revenue_rules_pkey PRIMARY KEY (job, source);

ALTER TABLE ONLY intake.rulings
    ADD CONSTRAINT rulings_pkey PRIMARY KEY (ruling_id);

ALTER TABLE ONLY intake.sent_revenue
    ADD CONSTRAINT sent_revenue_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_pkey PRIMARY KEY (source_file_id);

ALTER TABLE ONLY intake.staged_rows
    ADD CONSTRAINT staged_rows_pkey PRIMARY KEY (source_file_id, record_no);

ALTER TABLE ONLY intake.waiting_batches
    ADD CONSTRAINT waiting_batches_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY ledger.adjustments
    ADD CONSTRAINT adjustments_pkey PRIMARY KEY (adjustment_id);

ALTER TABLE ONLY ledger.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (answer_id);

ALTER TABLE ONLY ledger.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (entry_id, attempt);

ALTER TABLE ONLY ledger.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (change_id);

ALTER TABLE ONLY ledger.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (decision_id);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_account_id_effect_key_key UNIQUE (account_id, effect, key);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_kind_body_sha256_key UNIQUE (kind, body_sha256);

ALTER TABLE ONLY ledger.evidence_lock
    ADD CONSTRAINT evidence_lock_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (evidence_id);

ALTER TABLE ONLY ledger.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY ledger.lost_claims
    ADD CONSTRAINT lost_claims_claim_id_claim_no_disposition_key UNIQUE (claim_id, claim_no, disposition);

ALTER TABLE ONLY ledger.lost_claims
    ADD CONSTRAINT lost_claims_pkey PRIMARY KEY (lost_claim_id);

ALTER TABLE ONLY ledger.machines
    ADD CONSTRAINT machines_pkey PRIMARY KEY (machine_id);

ALTER TABLE ONLY ledger.recovered_claims
    ADD CONSTRAINT recovered_claims_pkey PRIMARY KEY (lost_claim_id);

ALTER TABLE ONLY ledger.recoveries
    ADD CONSTRAINT recoveries_pkey PRIMARY KEY (recovery_id);

ALTER TABLE ONLY ledger.seed_undos
    ADD CONSTRAINT seed_undos_pkey PRIMARY KEY (seed_id);

ALTER TABLE ONLY ledger.seeds
    ADD CONSTRAINT seeds_pkey PRIMARY KEY (seed_id);

ALTER TABLE ONLY mirror.brand_versions
    ADD CONSTRAINT brand_versions_pkey PRIMARY KEY (brand_id, valid_from);

ALTER TABLE ONLY mirror.collaboration_versions
    ADD CONSTRAINT collaboration_versions_pkey PRIMARY KEY (collab_id, valid_from);

ALTER TABLE ONLY mirror.coverage
    ADD CONSTRAINT coverage_pkey PRIMARY KEY (run_id, way);

ALTER TABLE ONLY mirror.deal_versions
    ADD CONSTRAINT deal_versions_pkey PRIMARY KEY (deal_id, valid_from);

ALTER TABLE ONLY mirror.dealflow_versions
    ADD CONSTRAINT dealflow_versions_pkey PRIMARY KEY (dealflow_id, valid_from);

ALTER TABLE ONLY mirror.drift
    ADD CONSTRAINT drift_pkey PRIMARY KEY (drift_id);

ALTER TABLE ONLY mirror.known_deals
    ADD CONSTRAINT known_deals_pkey PRIMARY KEY (deal_id);

ALTER TABLE ONLY mirror.known_handles
    ADD CONSTRAINT known_handles_pkey PRIMARY KEY (handle_folded);

ALTER TABLE ONLY mirror.prefixes
    ADD CONSTRAINT prefixes_pkey PRIMARY KEY (prefix);

ALTER TABLE ONLY mirror.publications
    ADD CONSTRAINT publications_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY mirror.staged_collaborations
    ADD CONSTRAINT staged_collaborations_pkey PRIMARY KEY (deal_id, collab_id, fetched_at);

ALTER TABLE ONLY mirror.staged_listings
    ADD CONSTRAINT staged_listings_pkey PRIMARY KEY (record_kind);

ALTER TABLE ONLY mirror.staged
    ADD CONSTRAINT staged_pkey PRIMARY KEY (record_kind, record_id);

ALTER TABLE ONLY mirror.unreadable
    ADD CONSTRAINT unreadable_pkey PRIMARY KEY (record_kind, record_hash);

ALTER TABLE ONLY ops.statement_lines
    ADD CONSTRAINT a_subject_is_once_in_a_statement UNIQUE (statement_id, subject, currency);

ALTER TABLE ONLY ops.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY ops.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY ops.backfill_orders
    ADD CONSTRAINT backfill_orders_pkey PRIMARY KEY (backfill_id, key);

ALTER TABLE ONLY ops.backfill_turns
    ADD CONSTRAINT backfill_turns_pkey PRIMARY KEY (backfill_id);

ALTER TABLE ONLY ops.backfills
    ADD CONSTRAINT backfills_pkey PRIMARY KEY (backfill_id);

ALTER TABLE ONLY ops.bank_entries
    ADD CONSTRAINT bank_entries_entry_key_key UNIQUE (entry_key);

ALTER TABLE ONLY ops.bank_entries
    ADD CONSTRAINT bank_entries_pkey PRIMARY KEY (bank_entry_id);

ALTER TABLE ONLY ops.bulk_actions
    ADD CONSTRAINT bulk_actions_pkey PRIMARY KEY (bulk_id);

ALTER TABLE ONLY ops.bulk_items
    ADD CONSTRAINT bulk_items_pkey PRIMARY KEY (bulk_id, subject_id);

ALTER TABLE ONLY ops.console_sign_outs
    ADD CONSTRAINT console_sign_outs_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY ops.credit_claims
    ADD CONSTRAINT credit_claims_claim_key_key UNIQUE (claim_key);

ALTER TABLE ONLY ops.credit_claims
    ADD CONSTRAINT credit_claims_pkey PRIMARY KEY (claim_id);

ALTER TABLE ONLY ops.job_locks
    ADD CONSTRAINT job_locks_pkey PRIMARY KEY (job);

ALTER TABLE ONLY ops.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);

ALTER TABLE ONLY ops.notice_deliveries
    ADD CONSTRAINT notice_deliveries_pkey PRIMARY KEY (notice_id, channel);

ALTER TABLE ONLY ops.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (notice_id);

ALTER TABLE ONLY ops.notices
    ADD CONSTRAINT notices_problem_id_event_reminder_key UNIQUE (problem_id, event, reminder);

ALTER TABLE ONLY ops.paused_jobs
    ADD CONSTRAINT paused_jobs_pkey PRIMARY KEY (job);

ALTER TABLE ONLY ops.payment_items
    ADD CONSTRAINT payment_items_pkey PRIMARY KEY (payment_id, statement_id, subject);

ALTER TABLE ONLY ops.payment_proposals
    ADD CONSTRAINT payment_proposals_message_id_key UNIQUE (message_id);

ALTER TABLE ONLY ops.payment_proposals
    ADD CONSTRAINT payment_proposals_pkey PRIMARY KEY (proposal_id);

ALTER TABLE ONLY ops.payments
    ADD CONSTRAINT payments_payment_id_currency_is_live_key UNIQUE (payment_id, currency, is_live);

ALTER TABLE ONLY ops.payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (payment_id);

ALTER TABLE ONLY ops.payments
    ADD CONSTRAINT payments_proposal_id_creator_currency_key UNIQUE (proposal_id, creator, currency);

ALTER TABLE ONLY ops.payments
    ADD CONSTRAINT payments_reference_key UNIQUE (reference);

ALTER TABLE ONLY ops.problems
    ADD CONSTRAINT problems_pkey PRIMARY KEY (problem_id);

ALTER TABLE ONLY ops.request_turns
    ADD CONSTRAINT request_turns_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY ops.run_messages
    ADD CONSTRAINT run_messages_pkey PRIMARY KEY (run_id, message_no);

ALTER TABLE ONLY ops.run_requests
    ADD CONSTRAINT run_requests_pkey PRIMARY KEY (run_id, operation);

ALTER TABLE ONLY ops.run_steps
    ADD CONSTRAINT run_steps_pkey PRIMARY KEY (run_id, step);

ALTER TABLE ONLY ops.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY ops.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (job);

ALTER TABLE ONLY ops.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (job, slot);

ALTER TABLE ONLY ops.statement_headings
    ADD CONSTRAINT statement_headings_pkey PRIMARY KEY (statement_id, deal_id);

ALTER TABLE ONLY ops.statement_lines
    ADD CONSTRAINT statement_lines_pkey PRIMARY KEY (statement_id, line_no);

ALTER TABLE ONLY ops.statement_mails
    ADD CONSTRAINT statement_mails_one_each UNIQUE NULLS NOT DISTINCT (statement_id, deal_id, former_creator, replaces);

ALTER TABLE ONLY ops.statement_mails
    ADD CONSTRAINT statement_mails_pkey PRIMARY KEY (mail_id);

ALTER TABLE ONLY ops.statements
    ADD CONSTRAINT statements_month_key UNIQUE (month);

ALTER TABLE ONLY ops.statements
    ADD CONSTRAINT statements_pkey PRIMARY KEY (statement_id);

ALTER TABLE ONLY ops.webhook_events
    ADD CONSTRAINT webhook_events_body_sha256_key UNIQUE (body_sha256);

ALTER TABLE ONLY ops.webhook_events
    ADD CONSTRAINT webhook_events_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY ops.work_units
    ADD CONSTRAINT work_units_pkey PRIMARY KEY (unit_id);

ALTER TABLE ONLY ops.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (worker_id);

ALTER TABLE ONLY reporting.accepted_sums
    ADD CONSTRAINT accepted_sums_pkey PRIMARY KEY (job, currency);

ALTER TABLE ONLY reporting.accruals
    ADD CONSTRAINT accruals_at_end_of_standing_month_brand_id_currency_key UNIQUE NULLS NOT DISTINCT (at_end_of, standing, month, brand_id, currency);

ALTER TABLE ONLY reporting.applied_views
    ADD CONSTRAINT applied_views_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY reporting.brand_days
    ADD CONSTRAINT brand_days_pkey PRIMARY KEY (day_utc, brand_id, currency);

ALTER TABLE ONLY reporting.changed_days
    ADD CONSTRAINT changed_days_pkey PRIMARY KEY (day_utc);

ALTER TABLE ONLY reporting.changed_deals
    ADD CONSTRAINT changed_deals_pkey PRIMARY KEY (deal_id, month_utc);

ALTER TABLE ONLY reporting.changed_earnings
    ADD CONSTRAINT changed_earnings_pkey PRIMARY KEY (change_no);

ALTER TABLE ONLY reporting.conflicts
    ADD CONSTRAINT conflicts_pkey PRIMARY KEY (job, source, order_id);

ALTER TABLE ONLY reporting.counted_files
    ADD CONSTRAINT counted_files_pkey PRIMARY KEY (job, source_file_id);

ALTER TABLE ONLY reporting.deal_earnings
    ADD CONSTRAINT deal_earnings_pkey PRIMARY KEY (deal_id, currency, standing, ordered_month, due_month, influencer_handle);

ALTER TABLE ONLY reporting.deal_totals
    ADD CONSTRAINT deal_totals_pkey PRIMARY KEY (target, currency);

ALTER TABLE ONLY reporting.earning_days
    ADD CONSTRAINT earning_days_pkey PRIMARY KEY (currency, standing, ordered_on, due_on);

ALTER TABLE ONLY reporting.earning_rules
    ADD CONSTRAINT earning_rules_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY reporting.exchange_rates
    ADD CONSTRAINT exchange_rates_pkey PRIMARY KEY (currency, day_local);

ALTER TABLE ONLY reporting.order_dispositions
    ADD CONSTRAINT order_dispositions_pkey PRIMARY KEY (job, source, order_id);

ALTER TABLE ONLY reporting.order_earnings
    ADD CONSTRAINT order_earnings_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY reporting.reconciliation
    ADD CONSTRAINT reconciliation_pkey PRIMARY KEY (deal_id);

ALTER TABLE ONLY reporting.refresh_partitions
    ADD CONSTRAINT refresh_partitions_pkey PRIMARY KEY (partition_no);

ALTER TABLE ONLY reporting.refresh
    ADD CONSTRAINT refresh_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY reporting.return_fees
    ADD CONSTRAINT return_fees_pkey PRIMARY KEY (deal_id, month_utc, currency);

ALTER TABLE ONLY reporting.return_months
    ADD CONSTRAINT return_months_pkey PRIMARY KEY (deal_id, month_utc, brand_id, currency);

ALTER TABLE ONLY reporting.return_rules
    ADD CONSTRAINT return_rules_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY reporting.statement_deals
    ADD CONSTRAINT statement_deals_pkey PRIMARY KEY (statement_id, deal_id, currency);

ALTER TABLE ONLY reporting.uncounted_entries
    ADD CONSTRAINT uncounted_entries_pkey PRIMARY KEY (entry_id);

CREATE INDEX attributions_entry ON intake.attributions USING btree (entry_id) WHERE (entry_id IS NOT NULL);

CREATE INDEX attributions_held ON intake.attributions USING btree (source, reason) WHERE (outcome = 'held'::text);

CREATE INDEX attributions_likeness ON intake.attributions USING btree (likeness) WHERE (likeness IS NOT NULL);

CREATE INDEX attributions_pending ON intake.attributions USING btree (job) WHERE is_pending;

CREATE UNIQUE INDEX check_findings_once ON intake.check_findings USING btree (source_file_id, check_name, COALESCE(subject, ''::text));

CREATE INDEX check_findings_open ON intake.check_findings USING btree (found_at) WHERE (acknowledged_at IS NULL);

CREATE INDEX check_findings_run ON intake.check_findings USING btree (run_id);

CREATE INDEX clicks_target ON intake.clicks USING btree (target, day);

CREATE UNIQUE INDEX code_assignments_one_at_a_time ON intake.code_assignments USING btree (job, code_folded) WHERE (withdrawn_at IS NULL);

CREATE INDEX code_changes_deal ON intake.code_changes USING btree (deal_id, event_id);

CREATE INDEX codes_by_code ON intake.codes USING btree (job, code_folded);

CREATE INDEX creators_deal ON intake.creators USING btree (deal_id);

CREATE INDEX creators_handle ON intake.creators USING btree (handle_folded);

CREATE INDEX customers_unsubscribed ON intake.customers USING btree (batch_id) WHERE (is_unsubscribed AND (batch_id IS NOT NULL));

CREATE UNIQUE INDEX expected_dates_once ON intake.expected_dates USING btree (day, COALESCE(source, ''::text));

CREATE INDEX file_statistics_source ON intake.file_statistics USING btree (source, read_for, arrived_at DESC);

CREATE INDEX identify_batches_run ON intake.identify_batches USING btree (run_id);

CREATE INDEX lookups_followers ON intake.lookups USING btree (((- COALESCE(followers, ('-1'::integer)::bigint))), COALESCE(platform, ''::text), COALESCE(user_id, username, ''::text), brand_id) WHERE (outcome = 'influencer'::text);

CREATE INDEX lookups_influencers ON intake.lookups USING btree (brand_id, looked_up_at) WHERE (outcome = 'influencer'::text);

CREATE INDEX lookups_run ON intake.lookups USING btree (run_id);

CREATE INDEX missing_rows_source_file_id ON intake.missing_rows USING btree (source_file_id);

CREATE UNIQUE INDEX orders_current ON intake.orders USING btree (source, order_id) WHERE is_current;

CREATE INDEX orders_customer ON intake.orders USING btree (customer_key, COALESCE(placed_at, paid_at, first_seen_at)) WHERE (customer_key IS NOT NULL);

CREATE INDEX orders_customer_since ON intake.orders USING btree (source, COALESCE(placed_at, paid_at, first_seen_at)) WHERE (customer_key IS NOT NULL);

CREATE UNIQUE INDEX orders_in_file ON intake.orders USING btree (source_file_id, order_id COLLATE "C");

CREATE INDEX orders_ordered ON intake.orders USING brin (COALESCE(placed_at, paid_at, first_seen_at)) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX orders_other_ids ON intake.orders USING gin (other_ids) WHERE (is_current AND (other_ids <> '{}'::text[]));

CREATE INDEX orders_similar ON intake.orders USING btree (source, similar_to) WHERE ((similar_to IS NOT NULL) AND is_current);

CREATE INDEX outreach_candidates_user ON intake.outreach_candidates USING btree (user_id);

CREATE INDEX rejected_rows_order ON intake.rejected_rows USING btree (order_id) WHERE (order_id IS NOT NULL);

CREATE INDEX rejected_rows_order_name ON intake.rejected_rows USING btree (order_name) WHERE (order_name IS NOT NULL);

CREATE INDEX restated_orders_file ON intake.restated_orders USING btree (source_file_id);

CREATE UNIQUE INDEX rulings_of_orders ON intake.rulings USING btree (source, order_id, reason) WHERE ((order_id IS NOT NULL) AND (withdrawn_at IS NULL));

CREATE UNIQUE INDEX rulings_of_statuses ON intake.rulings USING btree (source, status) WHERE ((status IS NOT NULL) AND (withdrawn_at IS NULL));

CREATE INDEX source_files_content ON intake.source_files USING btree (source, content_sha256) WHERE (state = 'sealed'::text);

CREATE INDEX source_files_held ON intake.source_files USING btree (source) WHERE (state = 'held'::text);

CREATE UNIQUE INDEX source_files_identity ON intake.source_files USING btree (source, read_for, uri, version) WHERE (superseded_by IS NULL);

CREATE INDEX source_files_order_id_column ON intake.source_files USING btree (source, order_id_column) WHERE ((state = 'sealed'::text) AND (read_for = 'orders'::text));

CREATE INDEX source_files_pending ON intake.source_files USING btree (source, read_for) WHERE ((superseded_by IS NULL) AND ((state = ANY (ARRAY['reading'::text, 'held'::text])) OR (reread_at IS NOT NULL)));

CREATE INDEX source_files_run ON intake.source_files USING btree (run_id);

CREATE INDEX source_files_superseding ON intake.source_files USING btree (superseded_by) WHERE (superseded_by IS NOT NULL);

CREATE INDEX unchanged_orders_file ON intake.unchanged_orders USING btree (source_file_id);

CREATE INDEX waiting_batches_file ON intake.waiting_batches USING btree (source_file_id);

CREATE INDEX waiting_batches_order ON intake.waiting_batches USING btree (brand_id, purpose, batch_id);

CREATE INDEX adjustments_entry ON ledger.adjustments USING btree (entry_id);

CREATE INDEX adjustments_held ON ledger.adjustments USING btree (entry_id) WHERE (kind = 'held'::text);

CREATE INDEX adjustments_run ON ledger.adjustments USING btree (run_id);

CREATE INDEX answers_accepted_late ON ledger.answers USING btree (entry_id) WHERE ((kind = 'accepted'::text) AND (NOT applied));

CREATE INDEX answers_entry ON ledger.answers USING btree (entry_id, attempt);

CREATE INDEX attempts_recent ON ledger.attempts USING brin (run_id, claimed_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX changes_entry ON ledger.changes USING btree (entry_id);

CREATE INDEX decisions_entry ON ledger.decisions USING btree (entry_id);

CREATE INDEX entries_backfill ON ledger.entries USING btree (backfill_id) WHERE (backfill_id IS NOT NULL);

CREATE INDEX entries_deal ON ledger.entries USING btree (deal_id, collab_id) WHERE ((effect = 'referral'::text) AND (deal_id IS NOT NULL));

CREATE INDEX entries_in_doubt ON ledger.entries USING btree (((COALESCE(doubted_at, state_changed_at))::timestamp(3) with time zone), entry_id) WHERE (state = 'in_doubt'::text);

CREATE INDEX entries_open ON ledger.entries USING btree (job, backfill_id, state, entry_id) INCLUDE (currency, amount, state_changed_at, owner) WHERE (NOT is_settled);

CREATE INDEX entries_order ON ledger.entries USING btree (ledger.fold_order_id(order_id));

CREATE INDEX entries_outreach ON ledger.entries USING btree (entry_id) WHERE (effect = 'outreach'::text);

CREATE INDEX entries_rejected ON ledger.entries USING btree (job) WHERE (state = 'rejected'::text);

CREATE INDEX entries_respelled ON ledger.entries USING btree (account_id, effect, order_key) WHERE (order_key IS NOT NULL);

CREATE INDEX entries_written_off ON ledger.entries USING btree (job) WHERE (state = 'written_off'::text);

CREATE INDEX evidence_deal ON ledger.evidence USING btree (deal_id) WHERE (kind = 'webhook_order'::text);

CREATE INDEX evidence_entry ON ledger.evidence USING btree (entry_id);

CREATE INDEX evidence_order ON ledger.evidence USING btree (ledger.fold_order_id(order_id));

CREATE INDEX evidence_seed ON ledger.evidence USING btree (seed_id) WHERE (seed_id IS NOT NULL);

CREATE INDEX recovered_claims_entry ON ledger.recovered_claims USING btree (entry_id);

CREATE UNIQUE INDEX brand_versions_latest ON mirror.brand_versions USING btree (brand_id) WHERE is_latest;

CREATE INDEX collaboration_versions_deal ON mirror.collaboration_versions USING btree (deal_id) WHERE is_latest;

CREATE UNIQUE INDEX collaboration_versions_latest ON mirror.collaboration_versions USING btree (collab_id) WHERE is_latest;

CREATE INDEX deal_versions_folded_handle ON mirror.deal_versions USING btree (ledger.fold_handle(influencer_handle), deal_id) WHERE (is_latest AND is_current);

CREATE INDEX deal_versions_handle ON mirror.deal_versions USING btree (lower(ltrim(influencer_handle, '@'::text)), deal_id) WHERE (is_latest AND is_current);

CREATE UNIQUE INDEX deal_versions_latest ON mirror.deal_versions USING btree (deal_id) WHERE is_latest;

CREATE UNIQUE INDEX dealflow_versions_latest ON mirror.dealflow_versions USING btree (dealflow_id) WHERE is_latest;

CREATE INDEX drift_run ON mirror.drift USING btree (run_id);

CREATE INDEX audit_bulk ON ops.audit USING btree (bulk_id) WHERE (bulk_id IS NOT NULL);

CREATE INDEX audit_subject ON ops.audit USING btree (subject_kind, subject, audit_id DESC);

CREATE INDEX audit_without_bulk ON ops.audit USING btree (audit_id DESC) WHERE (bulk_id IS NULL);

CREATE INDEX backfills_job ON ops.backfills USING btree (job, backfill_id DESC);

CREATE UNIQUE INDEX backfills_one_at_work ON ops.backfills USING btree (job) WHERE (state = ANY (ARRAY['running'::text, 'paused'::text]));

CREATE INDEX bank_entries_payment ON ops.bank_entries USING btree (payment_id);

CREATE INDEX bulk_actions_open ON ops.bulk_actions USING btree (bulk_id) WHERE ((ended_at IS NULL) AND (state <> 'expired'::text));

CREATE INDEX bulk_items_open ON ops.bulk_items USING btree (bulk_id, subject_id) WHERE (outcome IS NULL);

CREATE INDEX credit_claims_creator ON ops.credit_claims USING btree (creator_folded);

CREATE INDEX credit_claims_open ON ops.credit_claims USING btree (deadline_on, claim_id) WHERE (state = 'open'::text);

CREATE INDEX leases_owner ON ops.leases USING btree (owner);

CREATE INDEX notice_deliveries_pending ON ops.notice_deliveries USING btree (not_before) WHERE (state = 'pending'::text);

CREATE UNIQUE INDEX notices_digest ON ops.notices USING btree (digest_day) WHERE (event = 'digest'::text);

CREATE UNIQUE INDEX payment_items_claimed_once ON ops.payment_items USING btree (statement_id, subject, currency) WHERE is_live;

CREATE INDEX payment_items_deal ON ops.payment_items USING btree (deal_id, statement_id);

CREATE INDEX payments_elsewhere_payment ON ops.payments_elsewhere USING btree (payment_id);

CREATE INDEX payments_open ON ops.payments USING btree (state) WHERE (state = ANY (ARRAY['proposed'::text, 'exported'::text, 'partly_paid'::text]));

CREATE INDEX problems_last ON ops.problems USING btree (kind, COALESCE(job, ''::text), problem_id DESC);

CREATE UNIQUE INDEX problems_open ON ops.problems USING btree (kind, COALESCE(job, ''::text)) WHERE (resolved_at IS NULL);

CREATE INDEX runs_job ON ops.runs USING btree (job, run_id DESC);

CREATE UNIQUE INDEX slots_requested ON ops.slots USING btree (job) WHERE ((requested_by IS NOT NULL) AND (NOT is_settled));

CREATE INDEX slots_run ON ops.slots USING btree (run_id) WHERE (run_id IS NOT NULL);

CREATE UNIQUE INDEX slots_running ON ops.slots USING btree (job) WHERE (state = 'running'::text);

CREATE INDEX slots_time ON ops.slots USING btree (slot, job);

CREATE INDEX slots_unsettled ON ops.slots USING btree (job, slot) WHERE (NOT is_settled);

CREATE INDEX statement_headings_handle ON ops.statement_headings USING btree (ledger.fold_handle(influencer_handle), deal_id);

CREATE INDEX statement_lines_deal ON ops.statement_lines USING btree (statement_id, currency, deal_id);

CREATE INDEX statement_lines_fees ON ops.statement_lines USING btree (subject) WHERE (entry_id IS NULL);

CREATE INDEX statement_lines_subject ON ops.statement_lines USING btree (subject);

CREATE INDEX statement_mails_open ON ops.statement_mails USING btree (state) WHERE (state = ANY (ARRAY['waiting'::text, 'sending'::text, 'unclear'::text]));

CREATE INDEX webhook_events_deal ON ops.webhook_events USING btree (deal_id) WHERE (deal_id IS NOT NULL);

CREATE INDEX webhook_events_kind ON ops.webhook_events USING btree (kind, event_id);

CREATE INDEX work_units_failed ON ops.work_units USING btree (ended_at) WHERE (state = ANY (ARRAY['failed'::text, 'given_up'::text]));

CREATE INDEX work_units_open ON ops.work_units USING btree (unit_id) WHERE (state = ANY (ARRAY['open'::text, 'returned'::text]));

CREATE INDEX work_units_run ON ops.work_units USING btree (run_id);

CREATE INDEX code_days_day ON reporting.code_days USING btree (day_utc);

CREATE INDEX code_use_days_code ON reporting.code_use_days USING btree (code_folded, day_utc);

CREATE INDEX code_use_days_day ON reporting.code_use_days USING btree (day_utc);

CREATE INDEX conflicts_day ON reporting.conflicts USING btree (day_utc DESC, job, source, order_id);

CREATE INDEX deal_days_day ON reporting.deal_days USING btree (day_utc);

CREATE INDEX deal_days_deal ON reporting.deal_days USING btree (deal_id, day_utc) WHERE (deal_id IS NOT NULL);

CREATE INDEX deal_earnings_empty ON reporting.deal_earnings USING btree (deal_id) WHERE (orders = 0);

CREATE INDEX deal_earnings_lines ON reporting.deal_earnings USING btree (currency, deal_id) WHERE (standing = ANY (ARRAY['new'::text, 'correction'::text]));

CREATE INDEX deal_earnings_ordered ON reporting.deal_earnings USING btree (ordered_month) WHERE (standing = ANY (ARRAY['new'::text, 'nothing'::text]));

CREATE INDEX deal_earnings_unknown ON reporting.deal_earnings USING btree (standing, deal_id) WHERE (standing = ANY (ARRAY['unknown_rate'::text, 'unknown_lines'::text, 'unknown_net'::text]));

CREATE INDEX deal_earnings_why ON reporting.deal_earnings USING btree (standing, deal_id) WHERE (standing ~~ 'unknown%'::text);

CREATE INDEX deal_totals_rank ON reporting.deal_totals USING btree (currency, amount DESC, target) WHERE (orders > 0);

CREATE INDEX funnel_days_day ON reporting.funnel_days USING btree (day_utc);

CREATE INDEX order_dispositions_accepted ON reporting.order_dispositions USING btree (job, disposition_at) WHERE (disposition = 'accepted'::text);

CREATE INDEX order_dispositions_creator ON reporting.order_dispositions USING btree (influencer_handle, day_utc) WHERE (influencer_handle IS NOT NULL);

CREATE INDEX order_dispositions_day ON reporting.order_dispositions USING btree (day_utc);

CREATE INDEX order_dispositions_deal ON reporting.order_dispositions USING btree (deal_id, day_utc) WHERE (deal_id IS NOT NULL);

CREATE INDEX order_dispositions_held ON reporting.order_dispositions USING btree (day_utc) WHERE (disposition = 'held'::text);

CREATE INDEX order_dispositions_open ON reporting.order_dispositions USING btree (job, source, order_id) WHERE is_open;

CREATE INDEX order_earnings_collab ON reporting.order_earnings USING btree (collab_id) WHERE (collab_id IS NOT NULL);

CREATE INDEX order_earnings_deal ON reporting.order_earnings USING btree (deal_id) WHERE (standing <> 'settled'::text);

CREATE INDEX return_months_deal ON reporting.return_months USING btree (NULLIF(deal_id, ''::text));

CREATE INDEX return_months_month ON reporting.return_months USING btree (month_utc);

CREATE INDEX statement_deals_deal ON reporting.statement_deals USING btree (deal_id);

CREATE TRIGGER note_earnings AFTER INSERT OR UPDATE ON intake.revenue_rules FOR EACH ROW EXECUTE FUNCTION reporting.note_changed_revenue();

CREATE TRIGGER note_earnings_deleted AFTER DELETE ON intake.attributions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_deleted_attributions();

CREATE TRIGGER note_earnings_inserted AFTER INSERT ON intake.attributions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_inserted_attributions();

CREATE TRIGGER note_earnings_updated AFTER UPDATE ON intake.attributions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_changed_attribution();

CREATE TRIGGER record_actor BEFORE UPDATE OF acknowledged_by ON intake.check_findings FOR EACH ROW EXECUTE FUNCTION ops.record_actor('acknowledged_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF assigned_by ON intake.code_assignments FOR EACH ROW EXECUTE FUNCTION ops.record_actor('assigned_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF created_by ON intake.expected_dates FOR EACH ROW EXECUTE FUNCTION ops.record_actor('created_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF decided_by ON intake.rulings FOR EACH ROW EXECUTE FUNCTION ops.record_actor('decided_by');

CREATE TRIGGER record_actor BEFORE UPDATE OF released_by, reread_by, newest_by ON intake.source_files FOR EACH ROW EXECUTE FUNCTION ops.record_actor('released_by', 'reread_by', 'newest_by');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.adjustments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.answers FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.attempts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.changes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.decisions FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.evidence FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.lost_claims FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.recovered_claims FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.recoveries FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.seed_undos FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger.seeds FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER key_is_folded BEFORE INSERT ON ledger.entries FOR EACH ROW WHEN (((new.effect = 'referral'::text) AND (new.order_key IS NULL) AND (new.key = ledger.written_key(new.order_platform, new.order_id)) AND (new.key <> ledger.order_key(new.order_platform, new.order_id)))) EXECUTE FUNCTION ledger.refuse_written_key();

CREATE TRIGGER note_change AFTER UPDATE ON ledger.entries FOR EACH ROW WHEN (((old.body_hash IS DISTINCT FROM new.body_hash) OR ((old.state = 'held'::text) IS DISTINCT FROM (new.state = 'held'::text)) OR ((new.state = 'held'::text) AND (old.state_reason IS DISTINCT FROM new.state_reason)) OR ((old.state = 'ready'::text) AND (new.state = 'in_doubt'::text) AND (old.attempt = new.attempt)))) EXECUTE FUNCTION ledger.note_change();

CREATE TRIGGER note_earnings AFTER INSERT ON ledger.adjustments FOR EACH ROW EXECUTE FUNCTION reporting.note_changed_entry();

CREATE TRIGGER note_earnings_inserted AFTER INSERT ON ledger.entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_inserted_entries();

CREATE TRIGGER note_earnings_updated AFTER UPDATE ON ledger.entries REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_updated_entries();

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF decided_by ON ledger.recoveries FOR EACH ROW EXECUTE FUNCTION ops.record_actor('decided_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF undone_by ON ledger.seed_undos FOR EACH ROW EXECUTE FUNCTION ops.record_actor('undone_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF seeded_by ON ledger.seeds FOR EACH ROW EXECUTE FUNCTION ops.record_actor('seeded_by');

CREATE TRIGGER note_confirmed_rates AFTER UPDATE ON mirror.known_deals REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_confirmed_rates();

CREATE TRIGGER note_earnings_deleted AFTER DELETE ON mirror.collaboration_versions FOR EACH ROW WHEN ((old.commission_perc IS NOT NULL)) EXECUTE FUNCTION reporting.note_changed_rate();

CREATE TRIGGER note_earnings_inserted AFTER INSERT ON mirror.collaboration_versions FOR EACH ROW WHEN ((new.commission_perc IS NOT NULL)) EXECUTE FUNCTION reporting.note_changed_rate();

CREATE TRIGGER note_earnings_updated AFTER UPDATE OF collab_id, commission_perc, valid_from ON mirror.collaboration_versions FOR EACH ROW WHEN ((((old.collab_id IS DISTINCT FROM new.collab_id) OR (old.commission_perc IS DISTINCT FROM new.commission_perc)) OR (old.valid_from IS DISTINCT FROM new.valid_from))) EXECUTE FUNCTION reporting.note_changed_rate();

CREATE TRIGGER add_up AFTER INSERT ON ops.statement_lines REFERENCING NEW TABLE AS closed_lines FOR EACH STATEMENT EXECUTE FUNCTION reporting.add_closed_lines();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ops.payments_elsewhere FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE TRIGGER audit_is_append_only BEFORE DELETE OR UPDATE ON ops.audit FOR EACH ROW EXECUTE FUNCTION ops.refuse_audit_change();

CREATE TRIGGER note_earnings AFTER INSERT ON ops.statement_lines REFERENCING NEW TABLE AS closed_lines FOR EACH STATEMENT EXECUTE FUNCTION reporting.note_closed_lines();

CREATE TRIGGER note_earnings AFTER INSERT ON ops.webhook_events FOR EACH ROW WHEN ((new.kind = 'update_commission'::text)) EXECUTE FUNCTION reporting.note_told_rate();

CREATE TRIGGER note_paid_elsewhere_inserted AFTER INSERT ON ops.payments FOR EACH ROW WHEN ((new.elsewhere_amount <> (0)::numeric)) EXECUTE FUNCTION ops.note_paid_elsewhere();

CREATE TRIGGER note_paid_elsewhere_updated AFTER UPDATE ON ops.payments FOR EACH ROW WHEN ((new.elsewhere_amount <> old.elsewhere_amount)) EXECUTE FUNCTION ops.note_paid_elsewhere();

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF approved_by ON ops.backfills FOR EACH ROW EXECUTE FUNCTION ops.record_actor('approved_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF read_by, decided_by ON ops.bank_entries FOR EACH ROW EXECUTE FUNCTION ops.record_actor('read_by', 'decided_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF created_by, confirmed_by, aborted_by ON ops.bulk_actions FOR EACH ROW EXECUTE FUNCTION ops.record_actor('created_by', 'confirmed_by', 'aborted_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF added_by, answered_by, closed_by ON ops.credit_claims FOR EACH ROW EXECUTE FUNCTION ops.record_actor('added_by', 'answered_by', 'closed_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF paused_by ON ops.paused_jobs FOR EACH ROW EXECUTE FUNCTION ops.record_actor('paused_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF proposed_by ON ops.payment_proposals FOR EACH ROW EXECUTE FUNCTION ops.record_actor('proposed_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF exported_by, settled_by ON ops.payments FOR EACH ROW EXECUTE FUNCTION ops.record_actor('exported_by', 'settled_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF requested_by ON ops.slots FOR EACH ROW EXECUTE FUNCTION ops.record_actor('requested_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF requested_by, settled_by ON ops.statement_mails FOR EACH ROW EXECUTE FUNCTION ops.record_actor('requested_by', 'settled_by');

CREATE TRIGGER record_actor BEFORE INSERT OR UPDATE OF closed_by ON ops.statements FOR EACH ROW EXECUTE FUNCTION ops.record_actor('closed_by');

CREATE TRIGGER statement_headings_are_closed BEFORE DELETE OR UPDATE OR TRUNCATE ON ops.statement_headings FOR EACH STATEMENT EXECUTE FUNCTION ops.refuse_change();

CREATE TRIGGER statement_lines_are_closed BEFORE DELETE OR UPDATE OR TRUNCATE ON ops.statement_lines FOR EACH STATEMENT EXECUTE FUNCTION ops.refuse_change();

CREATE TRIGGER statements_are_closed BEFORE DELETE OR UPDATE OR TRUNCATE ON ops.statements FOR EACH STATEMENT EXECUTE FUNCTION ops.refuse_change();

ALTER TABLE ONLY intake.attributed_files
    ADD CONSTRAINT attributed_files_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.code_changes
    ADD CONSTRAINT code_changes_event_id_fkey FOREIGN KEY (event_id) REFERENCES ops.webhook_events(event_id);

ALTER TABLE ONLY intake.identify_batches
    ADD CONSTRAINT identify_batches_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY intake.lookups
    ADD CONSTRAINT lookups_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY intake.missing_rows
    ADD CONSTRAINT missing_rows_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.order_continuations
    ADD CONSTRAINT order_continuations_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.rejected_rows
    ADD CONSTRAINT rejected_rows_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY intake.rejected_rows
    ADD CONSTRAINT rejected_rows_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.restated_orders
    ADD CONSTRAINT restated_orders_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_duplicate_of_fkey FOREIGN KEY (duplicate_of) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY intake.source_files
    ADD CONSTRAINT source_files_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.unchanged_orders
    ADD CONSTRAINT unchanged_orders_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY intake.waiting_batches
    ADD CONSTRAINT waiting_batches_source_file_id_fkey FOREIGN KEY (source_file_id) REFERENCES intake.source_files(source_file_id);

ALTER TABLE ONLY ledger.adjustments
    ADD CONSTRAINT adjustments_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

ALTER TABLE ONLY ledger.adjustments
    ADD CONSTRAINT adjustments_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ledger.decisions
    ADD CONSTRAINT decisions_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_backfill_id_fkey FOREIGN KEY (backfill_id) REFERENCES ops.backfills(backfill_id);

ALTER TABLE ONLY ledger.entries
    ADD CONSTRAINT entries_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

ALTER TABLE ONLY ledger.evidence
    ADD CONSTRAINT evidence_seed_id_fkey FOREIGN KEY (seed_id) REFERENCES ledger.seeds(seed_id);

ALTER TABLE ONLY ledger.lost_claims
    ADD CONSTRAINT lost_claims_recovery_id_fkey FOREIGN KEY (recovery_id) REFERENCES ledger.recoveries(recovery_id);

ALTER TABLE ONLY ledger.recovered_claims
    ADD CONSTRAINT recovered_claims_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES ledger.entries(entry_id);

ALTER TABLE ONLY ledger.recovered_claims
    ADD CONSTRAINT recovered_claims_lost_claim_id_fkey FOREIGN KEY (lost_claim_id) REFERENCES ledger.lost_claims(lost_claim_id);

ALTER TABLE ONLY ledger.seed_undos
    ADD CONSTRAINT seed_undos_seed_id_fkey FOREIGN KEY (seed_id) REFERENCES ledger.seeds(seed_id);

ALTER TABLE ONLY mirror.brand_versions
    ADD CONSTRAINT brand_versions_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY mirror.collaboration_versions
    ADD CONSTRAINT collaboration_versions_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY mirror.coverage
    ADD CONSTRAINT coverage_run_id_fkey FOREIGN KEY (run_id) REFERENCES mirror.publications(run_id);

ALTER TABLE ONLY mirror.deal_versions
    ADD CONSTRAINT deal_versions_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY mirror.dealflow_versions
    ADD CONSTRAINT dealflow_versions_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY mirror.drift
    ADD CONSTRAINT drift_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY mirror.publications
    ADD CONSTRAINT publications_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY mirror.unreadable
    ADD CONSTRAINT unreadable_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ops.backfill_orders
    ADD CONSTRAINT backfill_orders_backfill_id_fkey FOREIGN KEY (backfill_id) REFERENCES ops.backfills(backfill_id);

ALTER TABLE ONLY ops.backfill_turns
    ADD CONSTRAINT backfill_turns_backfill_id_fkey FOREIGN KEY (backfill_id) REFERENCES ops.backfills(backfill_id) ON DELETE CASCADE;

ALTER TABLE ONLY ops.backfills
    ADD CONSTRAINT backfills_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ops.bank_entries
    ADD CONSTRAINT bank_entries_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES ops.payments(payment_id);

ALTER TABLE ONLY ops.notice_deliveries
    ADD CONSTRAINT notice_deliveries_notice_id_fkey FOREIGN KEY (notice_id) REFERENCES ops.notices(notice_id);

ALTER TABLE ONLY ops.notices
    ADD CONSTRAINT notices_problem_id_fkey FOREIGN KEY (problem_id) REFERENCES ops.problems(problem_id);

ALTER TABLE ONLY ops.payment_items
    ADD CONSTRAINT payment_items_payment_id_currency_is_live_fkey FOREIGN KEY (payment_id, currency, is_live) REFERENCES ops.payments(payment_id, currency, is_live) ON UPDATE CASCADE;

ALTER TABLE ONLY ops.payments_elsewhere
    ADD CONSTRAINT payments_elsewhere_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES ops.payments(payment_id);

ALTER TABLE ONLY ops.payments
    ADD CONSTRAINT payments_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES ops.payment_proposals(proposal_id);

ALTER TABLE ONLY ops.slots
    ADD CONSTRAINT slots_run_id_fkey FOREIGN KEY (run_id) REFERENCES ops.runs(run_id);

ALTER TABLE ONLY ops.statement_mails
    ADD CONSTRAINT statement_mails_replaces_fkey FOREIGN KEY (replaces) REFERENCES ops.statement_mails(mail_id);

REVOKE ALL ON FUNCTION ledger.acknowledge_double_credit(p_entry_id bigint, p_credits bigint, p_decided_by text, p_reason text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ledger.decide(p_entry_id bigint, p_decision text, p_shown_state text, p_shown_attempt integer, p_decided_by text, p_reason text, p_deal_id text, p_collab_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ledger.raise_claim_numbers(above bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ledger.reap_lost() FROM PUBLIC;

REVOKE ALL ON FUNCTION ops.analyze_table(wanted regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION ops.record_audit(p_record jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION ops.rename_job(p_old text, p_new text) FROM PUBLIC;

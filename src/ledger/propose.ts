import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Effect } from '../core/ledger.ts';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { moneyText } from '../db/money-text.ts';
import { type Database, execute, rowsOf } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { respelledBody } from './effects/referral.ts';

/*
 * The deciding code passes what should be sent in a temporary table, `desired_entries`: one row for each effect that it
 * has decided again. `propose` then changes the ledger to match, as far as that is safe:
 *
 *   no entry yet                        → creates an entry that is ready
 *   not sent yet, other body            → replaces the body
 *   rejected, other body                → ready again, because the service did not process what it rejected
 *   not sent yet, no longer desired     → held; it may be desired again
 *   to be sent again, no longer desired → in doubt, as it was before a person or a setting had it sent again
 *   sent, or perhaps sent               → unchanged; records an adjustment if it differs from what was sent
 *
 * Call these in one transaction with the decisions: `createDesiredEntries`, fill the table, `analyze`, `propose`. Then
 * read `compared_entries` if a decision depends on the earlier state of the ledger.
 */

export type ProposeOptions = {
  readonly effect: Effect;
  readonly job: string;
  readonly runId: string;
  /** The account that the database is bound to. */
  readonly accountId: string;
  /**
   * The sources that the job reads. If another source stated an entry that the service refused, the one that
   * states it now may correct it. If omitted, each entry stays with the source that stated it first.
   */
  readonly sourcesOfJob?: readonly string[];
};

export type Proposed = {
  /** New entries. */
  readonly created: number;
  /**
   * Entries that get another body because they were not sent yet or were rejected, and held entries that are
   * desired again.
   */
  readonly replaced: number;
  /** Entries to be sent, perhaps again, that are no longer desired. */
  readonly withdrawn: number;
  /** Adjustments: recorded differences from what was sent. */
  readonly adjustments: number;
};

/** Columns of `desired_entries` and `compared_entries`. */
const COLUMNS = sql`
  -- The idempotency key, and the request as it would be sent now; a null body: it is not to be sent.
  key text, body text, body_hash text,
  source text, brand_id text, amount numeric(18,4), currency text, details jsonb,
  -- Of a referral.
  order_platform text, order_id text,
  -- What decided it: entries are made in this order, and adjustments name it.
  version_id bigint,
  -- The entry that the decision was linked to before; null: none.
  linked_id bigint,
  -- What an adjustment is called where it was sent and is no longer desired (null: none is made), and why in words; and
  -- where only the amount is less.
  undesired_as text, undesired_because text, lowered_as text`;

/**
 * Creates an empty `desired_entries` and drops `compared_entries` of an earlier proposal in this transaction.
 */
export async function createDesiredEntries(trx: Transaction<DB>): Promise<void> {
  await execute(trx)`drop table if exists pg_temp.desired_entries, pg_temp.compared_entries`;
  await execute(trx)`create temporary table desired_entries (${COLUMNS}) on commit drop`;
}

/**
 * Changes the ledger to match `desired_entries`. Also fills `compared_entries` with those desired entries
 * whose ledger entry differs or whose state matters, with `entry_id`, `is_own` (same job and source,
 * or refused for a source that the job no longer reads), `is_same_job`, `is_withdrawn` and `is_successor` (the job no
 * longer reads the source of the entry, so nobody else can say what became of the order).
 */
export async function propose(trx: Transaction<DB>, options: ProposeOptions): Promise<Proposed> {
  await adoptKeys(trx, { ...options, table: 'desired_entries' });
  const created = await createEntries(trx, options);
  await compare(trx, options);
  const adjustments = await noteAdjustments(trx, options);
  const replaced = await replaceUnsent(trx, options);
  const withdrawn = (await withdrawUnsent(trx)) + (await withdrawResent(trx));
  return { created, replaced, withdrawn, adjustments };
}

/**
 * Gives desired entries the key of the existing entry of their order, if that was made under another spelling of the
 * key (`order_key`). So no order has a second entry. If the ledger has entries under several spellings, that of the same
 * platform name counts, else the folded one.
 *
 * @param options.table a temporary table with `key, order_platform`.
 */
export async function adoptKeys(
  trx: Transaction<DB>,
  { table, effect, accountId }: Pick<ProposeOptions, 'effect' | 'accountId'> & { readonly table: string },
): Promise<void> {
  const respelled = sql`ledger.entries e where e.account_id = ${accountId} and e.effect = ${effect} and e.order_key`;
  const rows = await rowsOf(trx)`select from ${respelled} is not null limit 1`;
  if (rows.length === 0) return;
  await execute(trx)`
    with kept as (
      select w.ctid as place, e.key
      from ${sql.table(table)} w
      cross join lateral (
        select e.* from ${respelled} = w.key
        order by (e.order_platform = w.order_platform) desc nulls last, e.entry_id limit 1) e
      where e.order_platform is not distinct from w.order_platform or not exists (
        select from ledger.entries k
        where k.account_id = ${accountId} and k.effect = ${effect} and k.key = w.key)
    )
    update ${sql.table(table)} w set key = k.key from kept k where w.ctid = k.place`;
}

/**
 * Creates entries in the order of their versions. If two sources desire the same effect, the first one gets
 * the entry.
 */
async function createEntries(
  trx: Transaction<DB>,
  { effect, job, runId, accountId }: ProposeOptions,
): Promise<number> {
  return execute(trx)`
    insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, source, order_platform,
      order_id, brand_id, amount, currency, details, run_id)
    select ${effect}, ${accountId}, w.key, 'ready', w.body, w.body_hash, ${job}, w.source, w.order_platform,
      w.order_id, w.brand_id, w.amount, w.currency, w.details, ${runId}::bigint
    from desired_entries w
    where w.body is not null and (
      select true
      from ledger.entries e
      where e.account_id = ${accountId} and e.effect = ${effect} and e.key = w.key
      limit 1) is null
    order by w.version_id
    on conflict (account_id, effect, key) do nothing`;
}

async function compare(
  trx: Transaction<DB>,
  { effect, job, accountId, sourcesOfJob = [] }: ProposeOptions,
): Promise<void> {
  await execute(trx)`
    create temporary table compared_entries (${COLUMNS}, entry_id bigint, is_own boolean, is_same_job boolean,
      is_withdrawn boolean, is_successor boolean)
    on commit drop`;
  const isSuccessor = sql`e.job = ${job} and ${sourcesOfJob.length > 0} and coalesce(e.source <> all(${[...sourcesOfJob]}::text[]), false)`;
  await execute(trx)`
    insert into compared_entries
    select w.*, e.entry_id,
      e.job = ${job}
        and (e.source is not distinct from w.source or (e.state = 'rejected' and ${isSuccessor})),
      e.job = ${job},
      e.state = 'held' and e.state_reason = 'no_longer_attributed',
      ${isSuccessor}
    from desired_entries w
    cross join lateral (
      select e.entry_id, e.body_hash, e.state, e.state_reason, e.job, e.source from ledger.entries e
      where e.account_id = ${accountId} and e.effect = ${effect} and e.key = w.key limit 1) e
    where e.body_hash is distinct from w.body_hash or e.state = 'held' or e.job <> ${job}
      or e.source is distinct from w.source
      or (select true from ledger.adjustments d where d.entry_id = e.entry_id limit 1)`;
  await execute(trx)`analyze compared_entries`;
  await keepSpellings(trx);
}

/**
 * Gives bodies the spelling of the order that the entry has: another spelling of one order, or of its owner, is no
 * adjustment.
 */
async function keepSpellings(trx: Transaction<DB>): Promise<void> {
  await execute(trx)`
    with kept as (
      select c.ctid as place,
        case when r.body::jsonb - ${OWNER}::text[] = e.body::jsonb - ${OWNER}::text[] and not ${isOtherTarget}
          then e.body else r.body end as body
      from compared_entries c
      cross join lateral (select e.* from ledger.entries e where e.entry_id = c.entry_id limit 1) e
      cross join lateral (select ${respelledBody('c', 'e.body')} as body) r
      where c.body_hash <> e.body_hash
    )
    update compared_entries c
    set body = k.body, body_hash = encode(sha256(convert_to(k.body, 'UTF8')), 'hex')
    from kept k where c.ctid = k.place and k.body <> c.body`;
}

/**
 * Replaces the body of entries that were never sent or were refused. Entries that had been withdrawn become
 * ready again.
 */
async function replaceUnsent(trx: Transaction<DB>, { job, runId }: ProposeOptions): Promise<number> {
  return execute(trx)`
    update ledger.entries e
    set body = c.body, body_hash = c.body_hash, job = ${job}, source = c.source, brand_id = c.brand_id,
      amount = c.amount,
        currency = c.currency, details = c.details, run_id = ${runId}::bigint, not_before = null,
        -- A backfill posts what its plan says: another body waits for another plan.
        state = case
          when (e.backfill_id is not null and e.body_hash <> c.body_hash)
            or (e.state = 'held' and not c.is_withdrawn)
          then 'held' else 'ready' end,
        state_reason = case
          when e.backfill_id is not null and e.body_hash <> c.body_hash then 'changed_since_the_plan'
          when e.state = 'held' and not c.is_withdrawn then e.state_reason end,
        -- What was refused was not processed, so the next attempt needs no approval.
        not_sent = e.not_sent + (e.state = 'rejected')::integer,
        state_changed_at = clock_timestamp()
    from compared_entries c
    where e.entry_id = c.entry_id and e.entry_id = any (array(select entry_id from compared_entries))
      and c.body is not null
      and ((c.is_own and c.body_hash <> e.body_hash and (${neverSent} or e.state = 'rejected'))
        or c.is_withdrawn)`;
}

async function withdrawUnsent(trx: Transaction<DB>): Promise<number> {
  return execute(trx)`
    update ledger.entries e
    set state = 'held', state_reason = 'no_longer_attributed', state_changed_at = clock_timestamp()
    ${fromUndesired} and ${neverSent}`;
}

/** An entry that was to be sent again may have been processed, so it is in doubt as before. */
async function withdrawResent(trx: Transaction<DB>): Promise<number> {
  return execute(trx)`
    update ledger.entries e
    set state = 'in_doubt',
      state_reason = 'not sent again, because '
        || case when c.undesired_as is not null then 'it is no longer credited: ' else '' end
        || c.undesired_because,
      doubtful_attempt = coalesce(e.doubtful_attempt, e.attempt),
      doubted_at = coalesce(e.doubted_at, e.state_changed_at), state_changed_at = clock_timestamp()
    ${fromUndesired} and not ${neverSent}`;
}

/** SQL for the entries `e` that would be sent, but are no longer desired. */
const fromUndesired = sql`
  from compared_entries c
  where e.entry_id = c.entry_id and e.entry_id = any (array(select entry_id from compared_entries))
    and (c.is_own or c.is_successor) and c.body is null and e.state = 'ready'`;

/**
 * SQL that is true if the source that is responsible for the order states adjustment `row`. Earlier versions recorded
 * what other sources state only in the words of the detail; that counts if it is less.
 */
export function isOwnAdjustment(row: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return sql<boolean>`(not ${column('is_elsewhere')} and (${column('detail')} is null
    or ${column('detail')} not like 'Source % states the order otherwise.'
    or ${column('new_amount')} < ${column('old_amount')}))`;
}

/**
 * SQL that is true if adjustment `row`, which is not `held`, says what the order comes to in the currency that was sent. What
 * is credited no longer, or was returned, comes to nothing in each currency.
 */
export function isInSentCurrency(row: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return sql<boolean>`(${column('new_amount')} = 0
    or coalesce(${column('new_amount')}::text, ${column('new_body_hash')}) is null
    or coalesce((select v.currency from intake.orders v
        where v.order_version_id = ${column('order_version_id')}),
      ${column('currency')}) = ${column('currency')})`;
}

/** SQL: the amount of an order after adjustment `row`, which is not `held`. */
export function amountAfter(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return sql<string>`
    case ${column('kind')} when 'reattributed' then coalesce(${column('new_amount')}, ${column('old_amount')})
      else coalesce(${column('new_amount')}, 0) end`;
}

/**
 * Records how an order now differs from what was sent, or may have been sent. Nothing is sent, because the
 * service has no operation to correct an order. Each adjustment states the current difference and replaces
 * the one before it. An adjustment that would repeat the previous one is not stored.
 */
async function noteAdjustments(trx: Transaction<DB>, { runId }: ProposeOptions): Promise<number> {
  const isResponsible = sql<boolean>`(c.is_own or c.is_successor)`;
  return execute(trx)`
    insert into ledger.adjustments
      (entry_id, order_version_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash,
        detail, is_elsewhere, run_id)
    select c.entry_id, c.version_id, ${kind}, e.amount, ${newAmount}, e.currency,
      e.body_hash, c.body_hash, ${detailOf(isResponsible)}, not ${isResponsible}, ${runId}::bigint
    from compared_entries c
    cross join lateral (select e.* from ledger.entries e where e.entry_id = c.entry_id limit 1) e
    -- By the entry's index and not, newest first, by that of all adjustments: hence the 0.
    left join lateral (
      select d.new_body_hash, d.kind, d.new_amount, d.is_decision, true as is_noted from ledger.adjustments d
      where d.entry_id = c.entry_id and d.is_elsewhere <> ${isResponsible}
      order by d.adjustment_id + 0 desc
      limit 1
    ) last on true
    left join lateral (
      select d.is_decision, d.new_amount from ledger.adjustments d
      where d.entry_id = c.entry_id and d.kind <> 'held' and not d.is_elsewhere
      order by d.adjustment_id + 0 desc
      limit 1
    ) counted on true
    where not c.is_withdrawn and (c.body is not null or c.undesired_as is not null)
      and case
        when c.is_own or (c.is_successor and c.body is null) then not ${neverSent} and e.state <> 'rejected'
        else c.body is not null
      end
      and (coalesce(c.body_hash,
          '') <> (case when last.is_noted then coalesce(last.new_body_hash, '') else e.body_hash end)
        -- Held and withdrawn have no body both, but one keeps what was earned, up to its amount, and the other does not.
        or (c.body is null and last.is_noted
          and row(last.kind = 'held', last.new_amount) is distinct from row(c.undesired_as = 'held',
            ${newAmount}))
        -- A person decided about what was refunded then.
        or (last.is_decision and ${isOtherCurrency} and (
          select coalesce(n.refunded, 0) <> coalesce(o.refunded, 0)
          from ledger.adjustments d
          join intake.orders o on o.order_version_id = d.order_version_id
          join intake.orders n on n.order_version_id = c.version_id
          where d.entry_id = c.entry_id and not d.is_elsewhere
          order by d.adjustment_id + 0 desc
          limit 1)))
    -- Where two sources succeed the one of an entry, the least counts.
    order by c.body is null, c.amount desc`;
}

/**
 * SQL that is true if entry `e` was sent for another owner than that of `owner`. No other owner are, for an accepted entry, the
 * deal that the service credited for a handle, the handle for its deal, or the same in other letters.
 *
 * @param owner SQL for one row with `deal_id, collab_id, influencer_handle`, as a body names the owner.
 */
export function isOtherOwner(owner: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(
  select row(n.deal_id, n.collab_id, n.influencer_handle) is distinct from row(s.deal_id, s.collab_id, s.influencer_handle)
    and (e.state = 'accepted' and case
      when n.deal_id is not null
        then reporting.deal_id_of(n.deal_id) = e.deal_id and coalesce(n.collab_id = e.collab_id, true)
      when n.collab_id is not null then n.collab_id = e.collab_id
      else ledger.fold_handle(n.influencer_handle) = ledger.fold_handle(s.influencer_handle)
        or ledger.fold_handle(n.influencer_handle) = (
          select ledger.fold_handle(w.influencer_handle) from reporting.deal_owners w where w.deal_id = e.deal_id)
    end) is not true
  from (${owner}) n cross join (${ownerIn('e')}) s)`;
}

/** The members of a body that name the owner. */
const OWNER = ['deal_id', 'collab_id', 'influencer_handle'];

/** SQL for the owner whom the body of `row` names. */
function ownerIn(row: string): RawBuilder<unknown> {
  const body = sql.ref(`${row}.body`);
  return sql`select ${sql.join(OWNER.map((name) => sql`${body}::json ->> ${sql.lit(name)} as ${sql.ref(name)}`))}`;
}

const isOtherTarget = isOtherOwner(ownerIn('c'));

/** SQL that is true if body `c` names an influencer, and it is unknown who has the deal for which the entry was sent. */
const isOwnerUnknown = sql`(
  c.body::json ->> 'influencer_handle' is not null and e.body::json ->> 'influencer_handle' is null
  and not exists (select from reporting.deal_owners w where w.deal_id = e.deal_id and w.influencer_handle is not null))`;

/** SQL that is true if the order states another currency than was sent. No difference can be computed then. */
const isOtherCurrency = sql`c.currency is distinct from e.currency and c.amount is not null`;

/** SQL that is true if a person decided that nothing is left of what the source states again. */
const isDecidedOtherwise = sql`counted.is_decision and counted.new_amount = 0 and c.amount is distinct from 0`;

const newAmount = sql`
  case when ${isOtherCurrency} then null when c.body is not null or c.undesired_as = 'held' then c.amount end`;

const kind = sql`
  case
    when c.body is null then c.undesired_as
    when ${isOtherCurrency} or ${isDecidedOtherwise} then 'held'
    when ${isOtherTarget} then case when ${isOwnerUnknown} then 'held' else 'reattributed' end
    when c.amount < e.amount then coalesce(c.lowered_as, 'changed')
    else 'changed'
  end`;

const detailOf = (isResponsible: RawBuilder<boolean>) => sql`
  case
    when c.body is null then
      case c.undesired_as when 'held' then 'Held: ' else 'No longer credited: ' end || c.undesired_because || '.'
    when ${isOtherCurrency}
      then 'Source ' || c.source || ' states ' || ${moneyText(sql`c.amount`, sql`c.currency`)}
        || '; it was sent in ' || e.currency || '.'
    when ${isDecidedOtherwise}
      then 'Source ' || c.source || ' states ' || ${moneyText(sql`c.amount`, sql`c.currency`)}
        || '; a person decided that it comes to nothing.'
    when not ${isResponsible} then 'Source ' || c.source || ' states the order otherwise.'
    when ${isOtherTarget} and ${isOwnerUnknown}
      then 'It names ' || (c.body::json ->> 'influencer_handle') || ' instead of ' || coalesce('deal ' || e.deal_id, 'what was sent')
        || '; who has it is not known. Name both in one row of codes.csv.'
    when not c.is_own then 'Source ' || c.source || ' states the order in place of ' || e.source || '.'
    when c.body_hash = e.body_hash then 'As it was sent, again.'
  end`;

/**
 * True if the service provably never processed row `e` of `ledger.entries`: every attempt was throttled or
 * never written, or was refused and then replaced. The code that decides what should be sent also uses this
 * condition.
 */
export const neverSent = sql<boolean>`(e.state in ('ready', 'held') and e.attempt = e.not_sent and e.doubtful_attempt is null)`;

/**
 * Runs the decisions about a job in one transaction for large statements. Another transaction that decides about the job
 * waits (`lockJobs`).
 *
 * @param jobs the job, and others whose decisions these depend on.
 */
export function inDecision<Result>(
  db: Database,
  jobs: readonly string[],
  decide: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await suitLargeStatements(trx);
    await lockJobs(trx, jobs);
    return decide(trx);
  });
}

/**
 * Locks jobs until the transaction ends, so that only one transaction at a time decides about their orders. A
 * run holds the lease of its job, but the start and the end of a backfill do not wait for a run that posts, and jobs
 * whose decisions depend on each other run at the same time. All take these locks in the same order.
 *
 * The lock is a row lock for two reasons. It belongs to the transaction and not to the session, so it works
 * behind a connection pooler. And only a role that may write to schema `ops` can take it, whereas any role
 * can take an advisory lock.
 */
export async function lockJobs(trx: Transaction<DB>, jobs: Iterable<string>): Promise<void> {
  for (const job of [...new Set(jobs)].toSorted()) {
    // Waits if another transaction has just inserted the row.
    const locks = trx.insertInto('ops.job_locks').values({ job });
    await locks.onConflict((known) => known.doNothing()).execute();
    await trx.selectFrom('ops.job_locks').where('job', '=', job).forUpdate().execute();
  }
}

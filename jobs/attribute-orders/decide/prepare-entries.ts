import { type RawBuilder, sql, type Transaction } from 'kysely';
import { HELD_REASONS } from '../../../src/core/held/held-order.ts';
import { configurationError, type KnownError } from '../../../src/core/known-error.ts';
import { plural } from '../../../src/core/text/plural.ts';
import { inTransaction } from '../../../src/db/in-transaction.ts';
import { type Database, execute, finds, rowOf, toJsonParameter } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import {
  type OrderNotes,
  referralBody,
  referralDetails,
  referralKey,
} from '../../../src/ledger/effects/referral.ts';
import { createDesiredEntries, inDecision, propose } from '../../../src/ledger/propose.ts';
import { DOUBTS_OF_PARTS } from './gate.ts';
import { type Reversals, readReversals } from './reversals.ts';

export type PrepareEntriesOptions = {
  readonly job: string;
  readonly runId: string;
  /** The account that the database is bound to. */
  readonly accountId: string;
  readonly brandId: string;
  /** `order_platform` of each of the job's sources. */
  readonly orderPlatformBySource: Readonly<Record<string, string>>;
  readonly orderNotes: OrderNotes;
};

/**
 * Proposes the decisions of `decideOrders` that are new to the ledger, in one transaction
 * (ledger/propose.ts). Before the entries are posted, `holdCreditedElsewhere` must hold those that another
 * system has credited.
 *
 * @throws KnownError `order_platform_changed` (exit 2) because under another platform name the same orders
 * would be sent a second time; `brand_changed` (exit 2) because all that was credited would be taken back.
 */
export async function prepareEntries(db: Database, options: PrepareEntriesOptions): Promise<void> {
  await inDecision(db, [options.job], async (trx) => {
    await compareResent(trx, options);
    if ((await gatherDesired(trx, options)) === 0) return;
    await refuseOtherPlatform(trx);
    await refuseOtherBrand(trx, options);
    const sourcesOfJob = Object.keys(options.orderPlatformBySource);
    await propose(trx, { ...options, effect: 'referral', sourcesOfJob });
    await settleAttributions(trx, options);
  });
  if (!db.isTransaction) await passSettled(db, options.job);
}

/**
 * Reads the index of pending decisions once more. It lists decisions that were settled until a scan finds that
 * their rows are gone, or until a vacuum. After a first load these are hundreds of thousands, and the next run
 * would wait for that scan.
 */
async function passSettled(db: Database, job: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    // Other scans of the table leave the index as it is.
    await execute(trx)`
      select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`;
    await execute(trx)`select count(*) from intake.attributions a where a.job = ${job} and a.is_pending`;
  });
}

/**
 * Has entries that are to be sent again compared with what is known of their orders by now: they may be cancelled. One that
 * is still credited, and whose source has another platform now, is sent under the platform that it had.
 */
async function compareResent(trx: Transaction<DB>, { job, orderPlatformBySource }: PrepareEntriesOptions) {
  await execute(trx)`
    with resent as materialized (
      select e.entry_id, e.order_platform
      from ledger.entries e
      where e.job = ${job} and not e.is_settled and e.state = 'ready' and e.attempt > 0
        and e.effect = 'referral'
    )
    update intake.attributions a set is_pending = true
    from resent e, ${platformsOf(orderPlatformBySource)}
    where a.entry_id = any (array(select entry_id from resent)) and a.entry_id = e.entry_id
      and a.job = ${job} and a.source = p.source and not a.is_pending
      and (a.outcome is distinct from 'attributed' or ledger.is_platform(e.order_platform, p.platform))`;
}

/** SQL for rows `p` of the sources of a job, each with its platform. */
function platformsOf(platformBySource: PrepareEntriesOptions['orderPlatformBySource']): RawBuilder<unknown> {
  const rows = Object.entries(platformBySource).map(([source, platform]) => ({ source, platform }));
  return sql`jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as p (source text, platform text)`;
}

/**
 * Fills `desired_entries` with the decisions that are new to the ledger, with the request that each order
 * would need now.
 */
async function gatherDesired(trx: Transaction<DB>, options: PrepareEntriesOptions): Promise<number> {
  await createDesiredEntries(trx);
  const reversals = await readReversals(
    trx,
    sql`intake.attributions a where a.job = ${options.job} and a.is_pending`,
  );
  const desired = await execute(trx)`
    insert into desired_entries (key, body, body_hash, source, brand_id, amount, currency, order_platform,
      order_id, version_id, linked_id, details, undesired_as, undesired_because, lowered_as)
    select b.key, b.body, encode(sha256(convert_to(b.body, 'UTF8')), 'hex'), b.source, b.brand_id, b.amount,
      b.currency, b.order_platform, b.order_id, b.order_version_id, b.linked_id,
      ${referralDetails(sql`b.note`, options.orderNotes)}, ${undesiredAs(reversals)},
      ${undesiredBecause},
      case when b.refunded > 0 then 'refunded' end
    from (
      select w.*, ${referralKey('w')} as key,
        case when w.outcome = 'attributed' then ${referralBody('w')} end as body
      from (
        select a.source, a.order_id, a.order_version_id, a.outcome, a.reason, a.currency,
          case when a.outcome = 'held' and a.reason = any(${[...DOUBTS_OF_PARTS]}::text[]) then null
            else a.amount end as amount,
          a.brand_id, a.deal_id, a.collab_id,
          a.influencer_handle, a.entry_id as linked_id, p.platform as order_platform, o.codes, o.refunded,
          o.cancelled_at, o.note
        from intake.attributions a
        join ${platformsOf(options.orderPlatformBySource)} on p.source = a.source
        cross join lateral (
          select o.codes, o.refunded, o.cancelled_at, o.note
          from intake.orders o
          where o.order_version_id = a.order_version_id
          limit 1) o
        where a.job = ${options.job} and a.is_pending
      ) w
    ) b`;
  await execute(trx)`analyze desired_entries`;
  return desired;
}

/** SQL for the kind of the adjustment if a sent order must no longer be credited. */
const undesiredAs = ({ cancelled, refunded }: Reversals) => sql`
  case
    when b.outcome = 'held' then 'held'
    when b.cancelled_at is not null or b.reason = any(${[...cancelled]}::text[]) then 'cancelled'
    when b.reason = any(${[...refunded]}::text[]) then 'refunded'
    else 'excluded'
  end`;

const heldBecause = toJsonParameter(
  Object.fromEntries(Object.entries(HELD_REASONS).map(([reason, { what }]) => [reason, what])),
);

/** SQL for why it must not, in words: for an order that is held, those of every list of such orders. */
const undesiredBecause = sql`
  coalesce(case b.outcome when 'held' then ${heldBecause}::jsonb ->> b.reason end,
    replace(coalesce(b.reason, b.outcome), '_', ' '))`;

async function refuseOtherPlatform(trx: Transaction<DB>): Promise<void> {
  const row = await rowOf<{ source: string; before: string | null; now: string }>(trx)`
    select d.source, min(e.order_platform) as before, min(d.order_platform) as now
    from desired_entries d
    cross join lateral (select e.order_platform from ledger.entries e where e.entry_id = d.linked_id
      limit 1) e
    where ledger.fold_platform(e.order_platform) is distinct from ledger.fold_platform(d.order_platform)
    group by d.source
    limit 1`;
  if (row !== undefined) throw orderPlatformChanged(row);
}

async function refuseOtherBrand(
  trx: Transaction<DB>,
  job: Pick<PrepareEntriesOptions, 'job' | 'brandId'>,
): Promise<void> {
  const isOther = await finds(trx)`
    select from desired_entries d join ledger.entries e on e.entry_id = d.linked_id
    where e.brand_id <> ${job.brandId} limit 1`;
  const change = isOther ? await findOtherBrand(trx, job) : null;
  if (change === null) return;
  throw configurationError({
    code: 'brand_changed',
    ...change,
    safe: 'Nothing was sent, and what was credited still counts.',
  });
}

/**
 * Finds the brand for which a job has posted orders, if it has posted none for its brand of now. All of them would be taken
 * back, because their codes belong to another brand.
 */
export async function findOtherBrand(
  db: Database,
  { job, brandId }: Pick<PrepareEntriesOptions, 'job' | 'brandId'>,
): Promise<{ readonly message: string; readonly help: string } | null> {
  const ofJob = sql`e.job = ${job} and e.effect = 'referral' and e.state = 'accepted'`;
  const before = await rowOf<{ brandId: string; orders: number }>(db)`
    select e.brand_id as "brandId", count(*)::float8 as orders from ledger.entries e
    where ${ofJob} and e.brand_id <> ${brandId}
      and not exists (select from ledger.entries e where ${ofJob} and e.brand_id = ${brandId})
    group by 1 order by 2 desc limit 1`;
  if (before === undefined) return null;
  return {
    message: `${job} has posted ${plural(before.orders, 'order')} for brand ${before.brandId}; its brand_id is now ${brandId}.`,
    help: `Set it back to ${before.brandId}. For orders of another brand, add another job with a source of its own.`,
  };
}

/** Returns the error of a run for a source under whose platform of now nothing is posted, but under another one; else null. */
export async function findOtherPlatform(
  db: Database,
  { job, source, now }: { job: string; source: string; now: string },
): Promise<KnownError | null> {
  const ofSource = sql`
    e.job = ${job} and e.source = ${source} and e.effect = 'referral' and e.state = 'accepted'`;
  const change = await rowOf<{ before: string | null }>(db)`
    select e.order_platform as before from ledger.entries e
    where ${ofSource} and not exists (
      select from ledger.entries e where ${ofSource} and ledger.is_platform(e.order_platform, ${now}))
    limit 1`;
  return change === undefined ? null : orderPlatformChanged({ ...change, source, now });
}

/**
 * Links each decision to its entry. An order for which another source or job is responsible is marked as
 * excluded, so that it is counted once.
 */
async function settleAttributions(
  trx: Transaction<DB>,
  { job, accountId }: PrepareEntriesOptions,
): Promise<void> {
  await execute(trx)`
    update intake.attributions a
    set outcome = 'excluded',
      reason = case when c.is_same_job then 'known_from_another_source' else 'known_from_another_job' end,
      matched_by = null, target = null, is_pending = false
    from compared_entries c
    where a.job = ${job} and a.source = c.source and a.order_id = c.order_id
      and a.source = any (array(select distinct source from compared_entries))
      and a.order_id = any (array(select order_id from compared_entries))
      and c.body is not null and not c.is_own and not c.is_withdrawn`;
  await execute(trx)`
    update intake.attributions a
    set entry_id = coalesce(a.entry_id, (
          select e.entry_id from ledger.entries e
          where e.account_id = ${accountId} and e.effect = 'referral' and e.key = d.key
            and d.body is not null)),
        is_pending = false
    from desired_entries d
    where a.job = ${job} and a.source = d.source and a.order_id = d.order_id and a.is_pending`;
  await followSuccessors(trx, job);
  // An order that another source has taken over counts there alone.
  await execute(trx)`
    update intake.attributions a set entry_id = null
    from compared_entries c
    where a.entry_id = c.entry_id and a.entry_id = any (array(select entry_id from compared_entries))
      and c.body is not null and (c.is_own or c.is_withdrawn) and a.outcome <> 'attributed'
      and (a.job <> ${job} or a.source is distinct from c.source)`;
}

/**
 * Lets what was sent for a source that the job no longer reads follow what another source of the job states about the
 * order: its refunds lower what it earned. The sums compare the files of these orders again.
 */
async function followSuccessors(trx: Transaction<DB>, job: string): Promise<void> {
  const state = (alias: string) =>
    sql`row(${sql.join(
      [
        'status',
        'currency',
        'total',
        'subtotal',
        'refunded',
        'cancelled_at',
        'exclusion',
        'doubt',
        'lines',
      ].map((column) => sql.ref(`${alias}.${column}`)),
    )})`;
  await execute(trx)`
    with moved as (
      update intake.attributions a set order_version_id = c.version_id
      from (
        -- Of two that succeed it, the one that states the least, as in the adjustments.
        select distinct on (entry_id) entry_id, source, version_id from compared_entries
        where is_successor and not is_own order by entry_id, body is not null, amount) c
      cross join lateral (select n.* from intake.orders n where n.order_version_id = c.version_id limit 1) n
      where a.entry_id = c.entry_id
        and a.entry_id = any (array(select entry_id from compared_entries where is_successor))
        and a.job = ${job} and a.source is distinct from c.source
        and ${state('n')} is distinct from (select ${state('v')} from intake.orders v
          where v.order_version_id = a.order_version_id)
      returning a.source, a.order_id
    )
    update intake.attributed_files d set attributed_at = now()
    where d.job = ${job} and d.source_file_id in (
      select o.source_file_id from moved m
      cross join lateral (
        select o.source_file_id from intake.orders o
        where o.source = m.source and o.order_id = m.order_id and o.is_current limit 1) o)`;
}

/**
 * Creates the error for a changed platform name. The name is part of an order's identity: under another name,
 * every posted order would be posted again.
 */
export function orderPlatformChanged(change: {
  readonly source: string;
  readonly before: string | null;
  readonly now: string;
}): KnownError {
  const { source, before, now } = change;
  return configurationError({
    code: 'order_platform_changed',
    message: `The ledger knows orders of source ${source} with order_platform ${before ?? 'blank'}; it is now ${now}.`,
    help: `Set it back to ${before ?? 'its previous value'}. For another shop, add another source.`,
    safe: 'Nothing was sent under the new name, because the service would credit the orders again.',
  });
}

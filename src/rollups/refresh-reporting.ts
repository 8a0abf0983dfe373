import { type RawBuilder, sql, type Transaction } from 'kysely';
import { errorCode } from '../core/error-code.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { countAccepted } from './count-accepted.ts';
import { dispositionOfOrders } from './disposition.ts';
import { keepConflicts, type OrderKey, ordersWithClaims, rebuildConflicts } from './keep-conflicts.ts';
import {
  type ChangedFile,
  countFiles,
  inSteps,
  listChangedFiles,
  type Orders,
  openOrders,
  ordersOfFile,
  ordersOfFiles,
} from './orders-to-refresh.ts';
import { inPartitions, isDayOf, type Partition } from './partitions.ts';

type RefreshOptions = {
  readonly job: string;
  /** Orders per step; a step is one commit. */
  readonly stepOrders?: number;
  /**
   * Called after each step with the number of orders that it compared. If it throws, the refresh ends between
   * two steps.
   */
  readonly onStep?: (orders: number) => void;
};

type Refreshed = {
  /** Number of orders whose disposition changed. */
  readonly orders: number;
  /** Number of days whose sums were recalculated. */
  readonly days: number;
};

/** A step of this size takes a second or less. */
const STEP_ORDERS = 20_000;
const STEP_DAYS = 31;

/**
 * Updates schema `reporting` with the decisions of one job and the records of the ledger. It works in bounded
 * steps: first it updates dispositions and marks their days, then it recalculates the sums of those days. Two
 * sessions share the orders of a large file, and many days (partitions.ts). Every other step runs alone.
 *
 * It finds changes by comparison, not by time: files whose decisions differ from those it has counted, and
 * orders that were open at the last refresh. A file counts once it was compared completely, and a day stays
 * marked until it was summed. So a refresh can be interrupted anywhere, and the next one does the rest. Until
 * then, `order_dispositions` may be ahead of the sums.
 */
export async function refreshReporting(db: Database, options: RefreshOptions): Promise<Refreshed> {
  const { onStep = () => {} } = options;
  const orders = await refreshOrders(db, { stepOrders: STEP_ORDERS, ...options, onStep });
  const days = await refreshDays(db, onStep);
  // A plan is a single transaction. It posts nothing, so it has nothing to count.
  if (!db.isTransaction) await countAccepted(db);
  return { orders, days };
}

/** @returns how many dispositions changed. */
async function refreshOrders(
  db: Database,
  { job, stepOrders, onStep }: Required<RefreshOptions>,
): Promise<number> {
  let changed = 0;
  function note(page: Page): void {
    changed += page.changed;
    onStep(page.seen);
  }
  for (let after = { source: '', orderId: '' }, isOver = false; !isOver; ) {
    const page = await inStep(db, (trx) =>
      refreshPage(trx, { job, limit: stepOrders, orders: openOrders(job, after) }),
    );
    note(page);
    isOver = page.isLast;
    after = { source: page.lastSource, orderId: page.lastId };
  }
  for (const files of inSteps(await listChangedFiles(db, job), stepOrders)) {
    const [file] = files;
    if (file.orders >= stepOrders) {
      await refreshFile(db, { job, file, stepOrders, onPage: note });
      await inStep(db, (trx) => countFiles(trx, { job, files }));
      continue;
    }
    const page = await inStep(db, async (trx) => {
      await countFiles(trx, { job, files });
      return refreshPage(trx, { job, limit: null, orders: ordersOfFiles(files) });
    });
    note(page);
  }
  return changed;
}

/** Compares the orders of a large file. Both partitions read the same pages, and each compares its half of them. */
async function refreshFile(
  db: Database,
  options: {
    readonly job: string;
    readonly file: ChangedFile;
    readonly stepOrders: number;
    readonly onPage: (page: Page) => void;
  },
): Promise<void> {
  const { job, file, stepOrders, onPage } = options;
  const lastIds: Record<Partition, string> = { 0: '', 1: '' };
  await inPartitions(db, async (partition) => {
    const page = await inPartitionStep(db, partition, (trx) =>
      refreshPage(trx, {
        job,
        limit: 2 * stepOrders,
        orders: ordersOfFile(file.sourceFileId, lastIds[partition], partition),
      }),
    );
    lastIds[partition] = page.lastId;
    onPage(page);
    return page.isLast;
  });
}

/**
 * Recalculates the sums of all marked days.
 *
 * @returns how many there were.
 */
async function refreshDays(db: Database, onStep: (orders: number) => void): Promise<number> {
  let days = 0;
  function note(done: number): boolean {
    days += done;
    if (done > 0) onStep(0);
    return done === 0;
  }
  if (await hasManyMarkedDays(db))
    await inPartitions(db, async (partition) =>
      note(
        await inPartitionStep(db, partition, (trx) => refreshMarked(trx, isDayOf(partition, sql`day_utc`))),
      ),
    );
  while (!note(await inStep(db, (trx) => refreshMarked(trx, sql`true`))));
  return days;
}

/** @returns true if one step cannot recalculate all marked days. */
async function hasManyMarkedDays(db: Database): Promise<boolean> {
  const more = db.selectFrom('reporting.changed_days').offset(STEP_DAYS).limit(1);
  return (await more.executeTakeFirst()) !== undefined;
}

/**
 * Recalculates the sums of the next marked days.
 *
 * @param isMeant condition for `day_utc`.
 * @returns how many there were.
 */
async function refreshMarked(trx: Transaction<DB>, isMeant: RawBuilder<boolean>): Promise<number> {
  const rows = await rowsOf<{ day: string }>(trx)`
    delete from reporting.changed_days
    where day_utc in (select day_utc from reporting.changed_days where ${isMeant} order by day_utc
      limit ${STEP_DAYS}::integer)
    returning day_utc::text as day`;
  if (rows.length > 0)
    await addUpDays(
      trx,
      rows.map(({ day }) => day),
    );
  return rows.length;
}

/** Runs one step in one commit, alone. */
function inStep<Result>(db: Database, work: (trx: Transaction<DB>) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await beginStep(trx);
    return work(trx);
  });
}

/** Runs one step of a partition in one commit. */
function inPartitionStep<Result>(
  db: Database,
  partition: Partition,
  work: (trx: Transaction<DB>) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await beginPartitionStep(trx, partition);
    return work(trx);
  });
}

/** SQLSTATE classes whose messages may quote values of rows: 22 data exception, 23 constraint. */
const QUOTING_STATES = /^2[23]/;

/** Explains to a person that the refresh failed, and the consequences. Contains no row values. */
export function explainStale(error: unknown): string {
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const reason =
    code === null ? message : QUOTING_STATES.test(code) ? `database error ${code}` : `${message} (${code})`;
  return `The reports (schema bi) could not be updated: ${reason}. All records are kept; the next run updates the reports.`;
}

type Page = {
  /** Number of orders that were compared, or left to the step of a later file. */
  readonly seen: number;
  /** Number of orders whose disposition changed. */
  readonly changed: number;
  /** True if no order comes after this page. */
  readonly isLast: boolean;
  readonly lastSource: string;
  readonly lastId: string;
};

/** A deal, and the first day of a month. */
type DealMonth = { readonly dealId: string; readonly month: string };

/**
 * Compares some orders (up to `limit` if given) with `order_dispositions`, updates those that differ, and
 * marks their days before and after the change. No other refresh writes there at the same time, so a plain
 * insert suffices, which takes half the time of an upsert. Then it updates the conflicts of these orders.
 *
 * An order is looked up only if `order_dispositions` has one between the least and the greatest id of the page, which
 * is not so for the newest part of a sorted export.
 *
 * Call it in a step (`beginStep`), and nothing after it that another step could wait for.
 */
export async function refreshPage(
  trx: Transaction<DB>,
  { job, orders, limit }: { job: string; orders: Orders; limit: number | null },
): Promise<Page> {
  const row = await rowOf<{
    read: string;
    seen: string;
    changed: string;
    days: readonly string[] | null;
    deals: readonly DealMonth[] | null;
    disputed: readonly OrderKey[] | null;
    last_source: string | null;
    last_id: string | null;
  }>(trx)`
    with page as materialized (${orders.inOrder} limit ${limit}::bigint),
    own as not materialized (select * from page where is_current and is_own),
    known as (
      select exists (
        select from (select source, min(order_id) as least, max(order_id) as greatest from own group by source) p
        cross join lateral (
          select true from reporting.order_dispositions s
          where s.job = ${job} and s.source = p.source
            and s.order_id between p.least and p.greatest and ${orders.isOwn(sql`s.order_id`)}
          limit 1) s) as is_any
    ),
    compared as materialized (
      select n.*, s.day_before is null as is_new, s.day_before,
        case when (s.before).disposition = 'accepted' then (s.before).deal_id end as deal_before
      from (${dispositionOfOrders({ job, orders: sql`own` })}) n
      left join lateral (
        select s as before, s.day_utc as day_before from reporting.order_dispositions s
        where (select is_any from known) and s.job = ${job} and s.source = n.source
          and s.order_id = n.order_id
        limit 1) s
          on true
      where s.day_before is null or row(n.*) is distinct from row((s.before).*)
    ),
    changed_deals as (
      select distinct deal_id, date_trunc('month', day)::date as month_utc from (
        select deal_id, day_utc as day from compared where disposition = 'accepted'
        union select deal_before, day_before from compared
        -- What is a first order depends on the customer's others.
        union select s.deal_id, s.day_utc
        from (
          select distinct p.customer_key from own p join compared c using (order_version_id)
          where p.customer_key is not null) k
        cross join lateral (
          select o.source, o.order_id
          from intake.orders o
          where o.customer_key = k.customer_key and o.is_current offset 0) o
        cross join lateral (
          select s.deal_id, s.day_utc, s.disposition from reporting.order_dispositions s
          where s.job = any (array(select distinct job from reporting.counted_files)) and s.source = o.source
            and s.order_id = o.order_id offset 0) s
        where s.disposition = 'accepted'
      ) d where deal_id is not null
    ),
    updated as (
      update reporting.order_dispositions s
      set order_version_id = n.order_version_id, entry_id = n.entry_id, ordered_at = n.ordered_at,
        day_utc = n.day_utc,
          disposition = n.disposition, disposition_reason = n.disposition_reason,
          disposition_at = n.disposition_at, is_open = n.is_open,
          matched_by = n.matched_by, matched_value = n.matched_value, target = n.target,
          brand_id = n.brand_id, deal_id = n.deal_id,
          collab_id = n.collab_id, influencer_handle = n.influencer_handle, currency = n.currency,
          amount = n.amount
      from compared n
      where not n.is_new and s.job = ${job} and s.source = n.source and s.order_id = n.order_id
        and s.source = any (array(select distinct source from compared where not is_new))
        and s.order_id = any (array(select order_id from compared where not is_new))
    ),
    inserted as (
      insert into reporting.order_dispositions (job, source, order_id, order_version_id, entry_id, ordered_at,
        day_utc, disposition,
        disposition_reason, disposition_at, is_open, matched_by, matched_value, target, brand_id, deal_id,
        collab_id, influencer_handle, currency, amount)
      select job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition,
        disposition_reason, disposition_at, is_open,
        matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle, currency, amount
      from compared where is_new order by day_utc, order_version_id
    )
    select (select count(*) from page) as read, (select count(*) from page where is_own) as seen,
      (select count(*) from compared) as changed,
      (select json_agg(day) from (
        select day_utc as day
        from compared
        union select day_before
        from compared
        where not is_new) d) as days,
      (select json_agg(json_build_object('dealId', deal_id, 'month', month_utc)) from changed_deals) as deals,
      (select json_agg(json_build_object('source', source, 'orderId', order_id))
        from (${ordersWithClaims(job, sql`own`)}) d) as disputed,
      last.source as last_source, last.order_id as last_id
    from (select 1) one
    left join lateral (select source, order_id from page order by ${orders.lastFirst} limit 1) last on true`;
  await keepConflicts(trx, { job, orders: row?.disputed ?? [] });
  await markDays(trx, row?.days ?? []);
  await markDeals(trx, row?.deals ?? []);
  return {
    seen: Number(row?.seen ?? 0),
    changed: Number(row?.changed ?? 0),
    isLast: limit === null || Number(row?.read ?? 0) < limit,
    lastSource: row?.last_source ?? '',
    lastId: row?.last_id ?? '',
  };
}

/**
 * Marks days whose sums must be recalculated. The mark of a day stays locked until this transaction ends, even if it
 * existed before. Otherwise a step that adds up the day could remove the mark without seeing these orders.
 */
async function markDays(trx: Transaction<DB>, days: readonly string[]): Promise<void> {
  if (days.length === 0) return;
  await execute(trx)`
    insert into reporting.changed_days (day_utc)
    select day
    from jsonb_array_elements_text(${toJsonParameter(days)}::jsonb) as d(text), cast(text as date) as day
    order by day
    on conflict (day_utc) do update set day_utc = excluded.day_utc`;
}

/** Marks deals whose returns of a month must be recalculated. Locks marks as `markDays` does. */
async function markDeals(trx: Transaction<DB>, deals: readonly DealMonth[]): Promise<void> {
  if (deals.length === 0) return;
  await execute(trx)`
    insert into reporting.changed_deals (deal_id, month_utc)
    select "dealId", month
    from jsonb_to_recordset(${toJsonParameter(deals)}::jsonb) as d ("dealId" text, month date)
    order by 1, 2
    on conflict (deal_id, month_utc) do update set month_utc = excluded.month_utc`;
}

/**
 * Recalculates all sums of some days from their orders. A sum that is always recalculated from its parts
 * cannot drift away from them.
 *
 * @param dates days in UTC, YYYY-MM-DD.
 */
async function addUpDays(trx: Transaction<DB>, dates: readonly string[]): Promise<void> {
  const days = sql`unnest(string_to_array(${dates.join(',')}::text, ',')::date[])`;
  const deals = ofDays('reporting.deal_days', days);
  await noteDealsBefore(trx, deals);
  for (const table of ['funnel_days', 'deal_days', 'brand_days', 'code_days', 'code_use_days'])
    await execute(trx)`
      delete from ${sql.table(`reporting.${table}`)} where day_utc = any (array(select ${days}))`;
  const orders = ofDays('reporting.order_dispositions', days);
  // Forces the index on days, even if the planner expects each day to contain many of the orders.
  await execute(trx)`select set_config('enable_seqscan', 'off', true)`;
  await execute(trx)`
    insert into reporting.funnel_days (day_utc, job, source, currency, disposition, disposition_reason,
      orders, amount, without_amount)
    select day_utc, job, source, currency, disposition, disposition_reason, count(*), sum(amount),
      count(*) - count(amount)
    from ${orders}
    group by 1, 2, 3, 4, 5, 6 order by 1`;
  await addUpDeals(trx, orders);
  await addUpBrands(trx, deals);
  await addUpCodes(trx, orders);
  // Last, because the other partition may wait for these rows until this step ends.
  await addToDealTotals(trx, deals);
  await execute(trx)`select set_config('enable_seqscan', 'on', true)`;
}

/**
 * Rows `s` of a table, read day by day. Without the lateral join, the planner might read the whole table in
 * the order of the grouping.
 */
function ofDays(table: string, days: RawBuilder<unknown>): Rows {
  return sql`${days} as d(day) cross join lateral (select s.* from ${sql.table(table)} s where s.day_utc = d.day offset 0) s`;
}

type Rows = RawBuilder<unknown>;

async function addUpDeals(trx: Transaction<DB>, orders: Rows): Promise<void> {
  await execute(trx)`
    insert into reporting.deal_days (day_utc, target, brand_id, deal_id, collab_id, influencer_handle,
      currency, attributed_orders,
      accepted_orders, ready_orders, in_doubt_orders, held_orders, rejected_orders, attributed_amount,
      accepted_amount, in_doubt_amount)
    select day_utc, target, brand_id, max(deal_id), max(collab_id), max(influencer_handle), currency,
      count(*),
      count(*) filter (where disposition = 'accepted'), count(*) filter (where disposition = 'ready'),
      count(*) filter (where disposition = 'in_doubt'), count(*) filter (where disposition = 'held'),
      count(*) filter (where disposition = 'rejected'), sum(amount),
      coalesce(sum(amount) filter (where disposition = 'accepted'), 0),
      coalesce(sum(amount) filter (where disposition = 'in_doubt'), 0)
    from ${orders}
    where target is not null
    group by day_utc, target, brand_id, currency order by day_utc`;
}

async function addUpBrands(trx: Transaction<DB>, deals: Rows): Promise<void> {
  await execute(trx)`
    insert into reporting.brand_days (day_utc, brand_id, currency, deals, attributed_orders, accepted_orders,
      ready_orders,
      in_doubt_orders, held_orders, rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
    select day_utc, brand_id, currency, count(*), sum(attributed_orders), sum(accepted_orders),
      sum(ready_orders), sum(in_doubt_orders), sum(held_orders), sum(rejected_orders), sum(attributed_amount),
      sum(accepted_amount), sum(in_doubt_amount)
    from ${deals}
    where brand_id is not null
    group by 1, 2, 3 order by 1`;
}

/**
 * Adds up the codes without an owner, and the use of all codes, with one look-up of each order. For an unattributed
 * order without a code, its links count, and without links the deal or handle in the export. The use of a code
 * counts an order once, even if several jobs decide about it or several sources state it.
 */
async function addUpCodes(trx: Transaction<DB>, orders: Rows): Promise<void> {
  await execute(trx)`
    with carrying as materialized (
      select s.day_utc, s.job, s.source, s.order_id, s.currency, s.amount,
        cardinality(o.links) > 0 as has_link,
        case when cardinality(o.codes) > 0 then 'code' when cardinality(o.links) > 0 then 'link'
          else 'explicit' end as carried_as,
        case when s.disposition <> 'unattributed' then null
          when cardinality(o.codes) > 0 then o.codes
          when cardinality(o.links) > 0 then o.links
          else array_remove(array[coalesce(o.influencer_handle, o.deal_id, o.collab_id)],
            null) end as unowned,
        case when o.exclusion is null and o.cancelled_at is null
          and s.disposition_reason is distinct from 'known_from_another_source'
          and s.disposition_reason is distinct from 'source_removed'
          then o.codes_folded end as used
      from ${orders}
      cross join lateral (select o.* from intake.orders o where o.order_version_id = s.order_version_id
        limit 1) o
      where s.disposition = 'unattributed' or cardinality(o.codes_folded) > 0
    ),
    noted as (
      insert into reporting.code_days (day_utc, job, source, code_folded, code, carried_as, currency, orders,
        amount, without_amount)
      select k.day_utc, k.job, k.source, c.folded, min(c.code), max(k.carried_as), k.currency, sum(k.orders),
        sum(k.amount), sum(k.without_amount)
      from (
        select day_utc, job, source, currency, unowned, carried_as, count(*) as orders, sum(amount) as amount,
          count(*) - count(amount) as without_amount
        from carrying where cardinality(unowned) > 0 group by 1, 2, 3, 4, 5, 6) k
      cross join lateral (
        select upper(regexp_replace(code, '\\s', '', 'g')) as folded, min(code) as code
        from (select reporting.without_addresses(carried) as code from unnest(k.unowned) as carried) masked
        group by 1
      ) c
      group by k.day_utc, k.job, k.source, c.folded, k.currency order by k.day_utc
    )
    insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
    select day_utc, code, count(*), count(*) filter (where not has_link)
    from (
      select distinct k.day_utc, c.code, k.source, k.order_id, k.has_link
      from carrying k
      join (
        select u.used, c.code from (select distinct used from carrying where cardinality(used) > 0) u
        cross join lateral unnest(u.used) as c(code)
        where c.code = reporting.without_addresses(c.code)) c on c.used = k.used
    ) used
    group by 1, 2 order by 1`;
}

/**
 * Begins a step of a refresh. Locks the row of `reporting.refresh`, so that later statements see what another
 * refresh has just written, and no other step runs until this transaction ends.
 *
 * The commit does not wait for the disk. What a crash of the server takes back is a step as a whole, with the record
 * of what it did, so the next refresh does it again.
 *
 * A process of an older version does not keep `reporting.deal_totals` or `reporting.conflicts`. If one has
 * refreshed since, they are made again.
 */
export async function beginStep(trx: Transaction<DB>): Promise<void> {
  await suitLargeStatements(trx);
  const state = await rowOf<{ lacks_totals: boolean; lacks_conflicts: boolean }>(trx)`
    select set_config('synchronous_commit', 'off', true),
      refreshed_at is distinct from totalled_at as lacks_totals,
      refreshed_at is distinct from conflicts_at as lacks_conflicts
    from reporting.refresh for update`;
  if (state?.lacks_totals === true) await rebuildDealTotals(trx);
  if (state?.lacks_conflicts === true) await rebuildConflicts(trx);
  await execute(trx)`
    update reporting.refresh
    set refreshed_at = n.at, totalled_at = n.at, conflicts_at = n.at
    from (select clock_timestamp() as at) n`;
}

/**
 * Begins a step that writes only to its partition. A step of the other partition may run at the same time, but none of the
 * same partition, and none that `beginStep` has begun. It leaves the columns of `reporting.refresh` as they are, because
 * two steps cannot both write them: a step of `beginStep` follows.
 */
export async function beginPartitionStep(trx: Transaction<DB>, partition: Partition): Promise<void> {
  await suitLargeStatements(trx);
  await execute(trx)`select set_config('synchronous_commit', 'off', true) from reporting.refresh for share`;
  const own = trx.selectFrom('reporting.refresh_partitions').where('partition_no', '=', partition);
  await own.forUpdate().execute();
}

/*
 * `reporting.deal_totals` contains the accepted orders of `reporting.deal_days`, added up over all days. Its
 * rows change by the difference between a day's old and new sums, so a refresh reads only the days that it
 * recalculates.
 */

/** Keeps the current sums of some days in a temporary table, before they are recalculated. */
async function noteDealsBefore(trx: Transaction<DB>, deals: RawBuilder<unknown>): Promise<void> {
  await execute(trx)`
    create temporary table if not exists deal_days_before (target text, currency text, influencer_handle text,
      orders bigint, amount numeric)
      on commit drop`;
  await execute(trx)`truncate pg_temp.deal_days_before`;
  await execute(trx)`
    insert into pg_temp.deal_days_before (target, currency, influencer_handle, orders, amount)
    select target, currency, influencer_handle, accepted_orders, accepted_amount
    from ${deals} where accepted_orders > 0`;
}

/** Adds the differences between the sums that `noteDealsBefore` has kept and the current ones, and a handle that is new. */
async function addToDealTotals(trx: Transaction<DB>, deals: RawBuilder<unknown>): Promise<void> {
  await execute(trx)`
    insert into reporting.deal_totals as t (target, currency, deal_id, influencer_handle, orders, amount)
    select target, currency, max(deal_id), max(influencer_handle), sum(orders), sum(amount)
    from (
      select target, currency, deal_id, influencer_handle, null as handle_before, accepted_orders as orders,
        accepted_amount as amount
      from ${deals} where accepted_orders > 0
      union all
      select target, currency, null, null, influencer_handle, -orders, -amount from pg_temp.deal_days_before
    ) d
    group by target, currency
    having sum(orders) <> 0 or sum(amount) <> 0 or max(influencer_handle) is distinct from max(handle_before)
    order by target, currency
    on conflict (target, currency) do update set orders = t.orders + excluded.orders,
    amount = t.amount + excluded.amount,
      deal_id = coalesce(excluded.deal_id, t.deal_id),
      influencer_handle = coalesce(excluded.influencer_handle, t.influencer_handle)`;
}

async function rebuildDealTotals(trx: Transaction<DB>): Promise<void> {
  await trx.deleteFrom('reporting.deal_totals').execute();
  await execute(trx)`
    insert into reporting.deal_totals (target, currency, deal_id, influencer_handle, orders, amount)
    select target, currency, max(deal_id), max(influencer_handle), sum(accepted_orders), sum(accepted_amount)
    from reporting.deal_days where accepted_orders > 0 group by target, currency`;
}

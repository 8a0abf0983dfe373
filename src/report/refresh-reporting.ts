import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { DB } from '../db/tables.ts';
import { dispositionOfOrders } from './disposition.ts';
import { addUpDays } from './refresh/add-up-days.ts';
import { beginStep } from './refresh/begin-step.ts';
import { countAccepted } from './refresh/count-accepted.ts';
import { keepConflicts, type OrderKey, ordersWithClaims } from './refresh/keep-conflicts.ts';
import {
  countFiles,
  inSteps,
  listChangedFiles,
  type Orders,
  openOrders,
  ordersOfFile,
  ordersOfFiles,
} from './refresh/orders-to-refresh.ts';

export type RefreshOptions = {
  readonly job: string;
  /** Orders per step; a step is one commit. */
  readonly stepOrders?: number;
  /**
   * Called after each step with the number of orders that it compared. If it throws, the refresh ends between
   * two steps.
   */
  readonly onStep?: (orders: number) => void;
};

export type Refreshed = {
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
 * steps, one step of one refresh at a time: first it updates dispositions and marks their days, then it
 * recalculates the sums of those days.
 *
 * It finds changes by comparison, not by time: files whose decisions differ from those it has counted, and
 * orders that were open at the last refresh. A file counts once it was compared completely, and a day stays
 * marked until it was summed. So a refresh can be interrupted anywhere, and the next one does the rest. Until
 * then, `order_dispositions` may be ahead of the sums.
 */
export async function refreshReporting(db: Database, options: RefreshOptions): Promise<Refreshed> {
  const { onStep = () => {} } = options;
  let orders = 0;
  for await (const step of stepsOf(db, options)) {
    orders += step.changed;
    onStep(step.seen);
  }
  let days = 0;
  for (let done = await refreshDays(db); done > 0; done = await refreshDays(db)) {
    days += done;
    onStep(0);
  }
  // A plan is a single transaction. It posts nothing, so it has nothing to count.
  if (!db.isTransaction) await countAccepted(db);
  return { orders, days };
}

type Step = { readonly seen: number; readonly changed: number };

async function* stepsOf(
  db: Database,
  { job, stepOrders = STEP_ORDERS }: RefreshOptions,
): AsyncGenerator<Step> {
  let source = '';
  let orderId = '';
  for (let isOver = false; !isOver; ) {
    const page = await inStep(db, (trx) =>
      refreshPage(trx, { job, limit: stepOrders, orders: openOrders(job, { source, orderId }) }),
    );
    yield page;
    isOver = page.seen < stepOrders;
    source = page.lastSource;
    orderId = page.lastId;
  }
  for (const files of inSteps(await listChangedFiles(db, job), stepOrders)) {
    const [file] = files;
    if (files.length > 1) {
      yield await inStep(db, async (trx) => {
        const refreshed = await refreshPage(trx, { job, limit: null, orders: ordersOfFiles(files) });
        await countFiles(trx, { job, files });
        return refreshed;
      });
      continue;
    }
    orderId = '';
    for (let isOver = false; !isOver; ) {
      const orders = ordersOfFile(file.sourceFileId, orderId);
      const page = await inStep(db, async (trx) => {
        const refreshed = await refreshPage(trx, { job, limit: stepOrders, orders });
        if (refreshed.seen < stepOrders) await countFiles(trx, { job, files });
        return refreshed;
      });
      yield page;
      isOver = page.seen < stepOrders;
      orderId = page.lastId;
    }
  }
}

/** Runs one step in one commit. */
function inStep<Result>(db: Database, work: (trx: Transaction<DB>) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await beginStep(trx);
    return work(trx);
  });
}

type Page = Step & { readonly lastSource: string; readonly lastId: string };

/**
 * Compares some orders (up to `limit` if given) with `order_dispositions`, updates those that differ, and
 * marks their days before and after the change. No other refresh writes there at the same time, so a plain
 * insert suffices, which takes half the time of an upsert. Then it updates the conflicts of these orders.
 */
async function refreshPage(
  trx: Transaction<DB>,
  { job, orders, limit }: { readonly job: string; readonly orders: Orders; readonly limit: number | null },
): Promise<Page> {
  const { rows } = await sql<{
    seen: string;
    changed: string;
    disputed: readonly OrderKey[] | null;
    last_source: string;
    last_id: string;
  }>`
    with page as materialized (${orders.inOrder} limit ${limit}::bigint),
    compared as materialized (
      select n.*, s.day_before is null as is_new, s.day_before, case when (s.before).disposition = 'accepted' then (s.before).deal_id end as deal_before
      from (${dispositionOfOrders({ job, orders: sql`(select * from page where is_current)` })}) n
      left join lateral (
        select s as before, s.day_utc as day_before from reporting.order_dispositions s
        where s.job = n.job and s.source = n.source and s.order_id = n.order_id limit 1) s on true
      where s.day_before is null or row(n.*) is distinct from row((s.before).*)
    ),
    noted as (
      insert into reporting.changed_days (day_utc)
      select day_utc from compared union select day_before from compared where not is_new
      on conflict do nothing
    ),
    noted_deals as (
      insert into reporting.changed_deals (deal_id, month_utc)
      select deal_id, date_trunc('month', day)::date from (
        select deal_id, day_utc as day from compared where disposition = 'accepted'
        union select deal_before, day_before from compared
        -- What is a first order depends on the customer's others.
        union select s.deal_id, s.day_utc
        from (
          select distinct p.customer_key from page p join compared c using (order_version_id)
          where p.is_current and p.customer_key is not null) k
        cross join lateral (
          select o.source, o.order_id from intake.orders o where o.customer_key = k.customer_key and o.is_current offset 0) o
        cross join lateral (
          select s.deal_id, s.day_utc, s.disposition from reporting.order_dispositions s
          where s.job = any (array(select distinct job from reporting.counted_files)) and s.source = o.source and s.order_id = o.order_id offset 0) s
        where s.disposition = 'accepted'
      ) d where deal_id is not null
      on conflict do nothing
    ),
    updated as (
      update reporting.order_dispositions s
      set order_version_id = n.order_version_id, entry_id = n.entry_id, ordered_at = n.ordered_at, day_utc = n.day_utc,
          disposition = n.disposition, disposition_reason = n.disposition_reason, disposition_at = n.disposition_at, is_open = n.is_open,
          matched_by = n.matched_by, matched_value = n.matched_value, target = n.target, brand_id = n.brand_id, deal_id = n.deal_id,
          collab_id = n.collab_id, influencer_handle = n.influencer_handle, currency = n.currency, amount = n.amount
      from compared n
      where not n.is_new and s.job = ${job} and s.source = n.source and s.order_id = n.order_id
        and s.source = any (array(select distinct source from compared where not is_new))
        and s.order_id = any (array(select order_id from compared where not is_new))
    ),
    inserted as (
      insert into reporting.order_dispositions (job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition,
        disposition_reason, disposition_at, is_open, matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle,
        currency, amount)
      select job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition, disposition_reason, disposition_at, is_open,
        matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle, currency, amount
      from compared where is_new order by day_utc, order_version_id
    )
    select (select count(*) from page) as seen, (select count(*) from compared) as changed,
      (select json_agg(json_build_object('source', source, 'orderId', order_id)) from (${ordersWithClaims(job, sql`page`)}) d) as disputed,
      last.source as last_source, last.order_id as last_id
    from (select 1) one
    left join lateral (select source, order_id from page order by ${orders.lastFirst} limit 1) last on true`.execute(
    trx,
  );
  const [row] = rows;
  await keepConflicts(trx, { job, orders: row?.disputed ?? [] });
  return {
    seen: Number(row?.seen ?? 0),
    changed: Number(row?.changed ?? 0),
    lastSource: row?.last_source ?? '',
    lastId: row?.last_id ?? '',
  };
}

/**
 * Recalculates the sums of the next marked days.
 * @returns how many there were.
 */
function refreshDays(db: Database): Promise<number> {
  return inStep(db, async (trx) => {
    const { rows } = await sql<{ day: string }>`
      delete from reporting.changed_days
      where day_utc in (select day_utc from reporting.changed_days order by day_utc limit ${STEP_DAYS}::integer)
      returning day_utc::text as day`.execute(trx);
    if (rows.length > 0)
      await addUpDays(
        trx,
        rows.map(({ day }) => day),
      );
    return rows.length;
  });
}

/** SQLSTATE classes whose messages may quote values of rows: 22 data exception, 23 constraint. */
const QUOTING_STATES = /^2[23]/;

/** Explains to a person that the refresh failed, and the consequences. Contains no row values. */
export function explainStale(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  const message = error instanceof Error ? error.message : String(error);
  const reason =
    code === null ? message : QUOTING_STATES.test(code) ? `database error ${code}` : `${message} (${code})`;
  return `The reports (schema bi) could not be updated: ${reason}. All records are kept; the next run updates the reports.`;
}

import { sql } from 'kysely';
import { type Database, rowsOf } from '../db/statement.ts';

/** A deal to read, with the digest of its published answer. The digest is null if no answer is published. */
export type DueDeal = { readonly dealId: string; readonly answerHash: string | null };

/**
 * Every page scans all known deals, so pages are large. A page of this size takes 5 MB, and hours to read at
 * the rate limit of the service.
 */
const PAGE_SIZE = 25_000;

const MS_PER_HOUR = 3_600_000;

export type DueOptions = {
  /** The start of the run, by the clock of the database. */
  readonly now: Date;
  readonly refreshAfterHours: number;
  /** Restricts the deals. All deals if omitted. */
  readonly range?: DueRange | undefined;
};

/** A range in reading order: the deals after one place, up to and including the other. */
export type DueRange = { readonly after: ReadCursor; readonly upTo: ReadCursor };

/** The place of a deal in reading order. */
export type ReadCursor = { readonly readAt: string; readonly dealId: string };

/**
 * Lists deals to read: those never read first, then those read longest ago. Skips deals that an earlier run
 * has read but could not publish.
 */
export async function* dueDeals(db: Database, options: DueOptions): AsyncGenerator<DueDeal> {
  let page = await readPage(db, options, BEGINNING);
  while (page.next !== null) {
    // Read the next page from the database while the deals of this page are read from the service.
    const next = readPage(db, options, page.next);
    next.catch(() => {});
    yield* page.deals;
    page = await next;
  }
  yield* page.deals;
}

const BEGINNING: ReadCursor = { readAt: '-infinity', dealId: '' };

async function readPage(
  db: Database,
  options: DueOptions,
  after: ReadCursor,
): Promise<{ readonly deals: readonly DueDeal[]; readonly next: ReadCursor | null }> {
  const rows = await rowsOf<{ deal_id: string; answer_hash: string | null; read_at: string }>(db)`
    select deal_id, answer_hash, read_at from (
      select deal_id, answer_hash, coalesce(read_at, '-infinity')::text as read_at,
        coalesce(read_at, '-infinity') as order_at
      from mirror.known_deals where ${isDue(options)}) d
    where (order_at, deal_id) > (${after.readAt}::timestamptz, ${after.dealId})
    order by order_at, deal_id limit ${PAGE_SIZE}`;
  const last = rows.at(-1);
  return {
    deals: rows.map((row) => ({ dealId: row.deal_id, answerHash: row.answer_hash })),
    next:
      last === undefined || rows.length < PAGE_SIZE ? null : { readAt: last.read_at, dealId: last.deal_id },
  };
}

/**
 * Divides the deals that are to be read first into ranges of at most `size` deals.
 *
 * @param options.limit maximum number of deals in all ranges together.
 */
export async function dueRanges(
  db: Database,
  options: DueOptions & { readonly limit: number; readonly size: number },
): Promise<readonly (DueRange & { readonly deals: number })[]> {
  const rows = await rowsOf<{ read_at: string; deal_id: string; deals: number }>(db)`
    select distinct
      on (share) order_at::text as read_at, deal_id, (count(*) over (partition by share))::float8 as deals
    from (
      select order_at, deal_id,
        (row_number() over (order by order_at, deal_id) - 1) / ${options.size}::bigint as share
      from (select coalesce(read_at, '-infinity') as order_at, deal_id from mirror.known_deals
        where ${isDue(options)}) d
      order by order_at, deal_id limit ${options.limit}) numbered
    order by share, order_at desc, deal_id desc`;
  const ends = rows.map((row): ReadCursor => ({ readAt: row.read_at, dealId: row.deal_id }));
  return rows.map(({ deals }, index) => ({
    after: ends[index - 1] ?? BEGINNING,
    upTo: ends[index] ?? BEGINNING,
    deals,
  }));
}

/** Number of deals that are due, by how they were first discovered. */
export async function countDueDeals(
  db: Database,
  options: DueOptions,
): Promise<Readonly<Record<string, number>>> {
  const rows = await rowsOf<{ first_way: string; deals: number }>(db)`
    select first_way, count(*)::float8 as deals from mirror.known_deals where ${isDue(options)}
    group by first_way order by first_way`;
  return Object.fromEntries(rows.map((row) => [row.first_way, row.deals]));
}

/** Number of deals that are due. */
export async function countAllDue(db: Database, options: DueOptions): Promise<number> {
  const byWay = await countDueDeals(db, options);
  return Object.values(byWay).reduce((sum, deals) => sum + deals, 0);
}

/**
 * SQL condition: a deal is due if it was never read, was read too long ago, was named by an event since it
 * was read, or was not found and needs a second request. A deal that is gone or failed waits until
 * `not_before`, unless an event names it.
 *
 * Uses `not in` because Postgres then looks the id up in a hash, whatever the planner assumes about a table
 * that was just empty.
 */
function isDue({ now, refreshAfterHours, range }: DueOptions) {
  const at = sql`${now.toISOString()}::timestamptz`;
  const staleAt = sql`${new Date(now.getTime() - refreshAfterHours * MS_PER_HOUR).toISOString()}::timestamptz`;
  const isInRange =
    range === undefined ? sql`` : sql`and ${placed('>', range.after)} and ${placed('<=', range.upTo)}`;
  return sql`(
    (event_at > greatest(read_at, not_found_at)
      or (not_before is not null and not_before <= ${at})
      or (not_before is null and (read_at is null or read_at <= ${staleAt} or not_found_at is not null)))
    and deal_id not in (
      select record_id from mirror.staged where record_kind = 'deal' and fetched_at > ${staleAt})
    ${isInRange})`;
}

function placed(compare: '>' | '<=', { readAt, dealId }: ReadCursor) {
  return sql`(coalesce(read_at, '-infinity'), deal_id) ${sql.raw(compare)} (${readAt}::timestamptz, ${dealId})`;
}

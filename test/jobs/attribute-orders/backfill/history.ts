import { sql } from 'kysely';
import { reapLost } from '../../../../src/ledger/reap.ts';
import { decideEntry } from '../../../../src/ledger/resolve.ts';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../../../runs/workshop.ts';
import { type CliProcess, type CliResult, readEvents } from '../../../support/run-cli.ts';
import { countBlocked, waitFor } from '../../../support/wait-for.ts';

/** The job's runs credit orders from this day on. */
const START_DATE = '2025-01-01';

/** The period of most tests: two years. */
export const PERIOD = ['--from', '2023-01-01', '--to', '2024-12-31'] as const;

export const HISTORY_FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders:
    kind: attribute-orders
    source: shop
    brand_id: 4819
    codes: ./codes.csv
    time_zone: Europe/Amsterdam
    start_date: '${START_DATE}'
`;

/** Opens a deployment whose job ignores orders placed before 2025. */
export function openHistory(options: WorkshopOptions = {}): Promise<Workshop> {
  return openWorkshop({ flow: HISTORY_FLOW, ...options });
}

export type HistoricOrder = {
  readonly id: string;
  /** ISO 8601, with an offset. */
  readonly placedAt: string;
  readonly revenue?: string;
  readonly currency?: string;
  readonly code?: string;
  readonly status?: string;
};

export function toHistory(orders: readonly HistoricOrder[]): string {
  const lines = orders.map(
    ({ id, placedAt, revenue = '10.00', currency = 'EUR', code = 'MIA10', status = 'paid' }) =>
      `${id},${revenue},${currency},${code},${placedAt},${status}`,
  );
  return `order_id,order_revenue,currency,discount_codes,placed_at,status\n${lines.join('\n')}\n`;
}

const DAY_MS = 86_400_000;

/**
 * Returns orders spread evenly over the two years of PERIOD, with ids from `h1`. Some are in dollars, some
 * have a code without an owner, and some are cancelled.
 */
export function twoYears(count: number): readonly HistoricOrder[] {
  const firstMs = Date.parse('2023-01-01T12:00:00Z');
  return Array.from({ length: count }, (_, index) => ({
    id: `h${index + 1}`,
    placedAt: new Date(firstMs + Math.floor((index / count) * 730) * DAY_MS).toISOString(),
    revenue: `${Math.floor(index / 7) + 1}.${String(index % 100).padStart(2, '0')}`,
    currency: index % 5 === 0 ? 'USD' : 'EUR',
    code: index % 10 === 9 ? 'NOBODY' : index % 3 === 0 ? 'BEN15' : 'MIA10',
    status: index % 25 === 24 ? 'cancelled' : 'paid',
  }));
}

/** Returns the orders that are credited. */
export function credited(orders: readonly HistoricOrder[]): readonly HistoricOrder[] {
  return orders.filter(({ code, status }) => code !== 'NOBODY' && status !== 'cancelled');
}

export type BackfillEnded = CliResult & { readonly events: readonly Record<string, unknown>[] };

/** Runs `backfill … --json` to its end in the process of the test. */
export async function backfill(workshop: Workshop, ...args: string[]): Promise<BackfillEnded> {
  return withEvents(await workshop.cli('backfill', ...args, '--json'));
}

export async function ended(process: CliProcess): Promise<BackfillEnded> {
  return withEvents(await process.ended);
}

function withEvents(result: CliResult): BackfillEnded {
  return { ...result, events: readEvents(result) };
}

export type Group = {
  month: string;
  standing: string;
  reason: string | null;
  currency: string;
  orders: number;
  amount: string;
};

/** Returns the plan that was printed. */
export function planIn({ events, stderr }: BackfillEnded): {
  backfill_id: string;
  plan_hash: string;
  groups: readonly Group[];
  files: readonly { uri: string; orders: number }[];
  of_the_runs: number;
  undated: number;
} {
  const event = events.find((candidate) => candidate.event === 'backfill_plan');
  if (event === undefined) throw new Error(`no plan was shown: ${stderr}`);
  return event as ReturnType<typeof planIn>;
}

export function eventOf({ events }: BackfillEnded, name: string): Record<string, unknown> | undefined {
  return events.find(({ event }) => event === name);
}

/** Counts the orders of a plan by disposition and reason. */
export function ordersBy(groups: readonly Group[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { standing, reason, orders } of groups) {
    const key = reason === null ? standing : `${standing} ${reason}`;
    counts[key] = (counts[key] ?? 0) + orders;
  }
  return counts;
}

/** Returns the `to_post` amounts per currency, in cents. */
export function centsToPost(groups: readonly Group[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { standing, currency, amount } of groups)
    if (standing === 'to_post') sums[currency] = (sums[currency] ?? 0) + Math.round(Number(amount) * 100);
  return sums;
}

/**
 * Returns the state of every order in the ledger: order, state, amount, currency, backfill that still owns
 * it, outcome.
 */
export async function endState({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', e.order_id, e.state, e.amount, e.currency, coalesce(e.backfill_id::text, '-'), a.outcome) as said
    from ledger.entries e left join intake.attributions a on a.entry_id = e.entry_id`.execute(db);
  return rows.map(({ said }) => said).sort();
}

/** Returns the state that an undisturbed backfill leaves: each credited order is accepted with its amount. */
export function wholeState(orders: readonly HistoricOrder[]): readonly string[] {
  return credited(orders)
    .map(({ id, revenue, currency }) => `${id} accepted ${revenue}00 ${currency} - attributed`)
    .sort();
}

/** Takes a lock that blocks writes to a table until the returned function is called. */
export async function blockWrites({ db }: Workshop, table: string): Promise<() => Promise<void>> {
  const trx = await db.startTransaction().execute();
  await sql`lock table ${sql.table(table)} in share mode`.execute(trx);
  return async () => {
    await trx.rollback().execute();
  };
}

/** Returns true if any session is waiting for a lock. */
export async function isAnyoneBlocked({ db }: Workshop): Promise<boolean> {
  return (await countBlocked(db)) > 0;
}

/** Counts the orders that the ledger records as accepted. */
export async function countPosted({ db }: Workshop): Promise<number> {
  const { rows } = await sql<{ posted: string }>`
    select count(*) as posted from ledger.entries where state = 'accepted'`.execute(db);
  return Number(rows[0]?.posted);
}

/** Expires the leases that a process leaves behind after SIGKILL. */
export async function letLeasesEnd({ db }: Workshop): Promise<void> {
  await sql`update ops.leases set expires_at = to_timestamp(0)`.execute(db);
}

/**
 * Returns the orders that the service has processed, after it has handled everything that a killed process
 * left in its sockets.
 */
async function waitForPosted(workshop: Workshop): Promise<ReadonlySet<string>> {
  let posted = await workshop.posted();
  let unchanged = 0;
  await waitFor(async () => {
    const now = await workshop.posted();
    unchanged = now.length === posted.length ? unchanged + 1 : 0;
    posted = now;
    return unchanged >= UNCHANGED_READS;
  });
  return new Set(posted);
}

/** Each read is an exchange with the service, which handles pending socket data in between. */
const UNCHANGED_READS = 20;

/**
 * Settles each doubt as an operator does: an entry is accepted if the service has it, and is sent again
 * otherwise.
 * @returns the number of doubts.
 */
export async function settleDoubts(workshop: Workshop): Promise<number> {
  const posted = await waitForPosted(workshop);
  await reapLost(workshop.db);
  const { rows } = await sql<{ entry_id: string; order_id: string }>`
    select entry_id, order_id from ledger.entries where state = 'in_doubt'`.execute(workshop.db);
  for (const { entry_id: entryId, order_id: orderId } of rows) {
    const resolution = { entryId, reason: 'looked up', decidedBy: 'a person' };
    if (posted.has(orderId))
      await decideEntry(workshop.db, {
        decision: 'accept',
        ...resolution,
        dealId: 'DEALMIA',
        collabId: null,
      });
    else await decideEntry(workshop.db, { decision: 'resend', ...resolution });
  }
  return rows.length;
}

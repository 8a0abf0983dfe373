/**
 * Measures the statement of a month that is not closed, from kept earnings and computed from all orders, and what
 * it costs a run to keep the earnings.
 *
 *     node bench/open-month.ts 1000000
 */
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { inTransaction } from '../src/db/in-transaction.ts';
import { migrate } from '../src/db/migrate.ts';
import { keepEarnings } from '../src/money/kept-earnings.ts';
import { listDealLines, sumStatement } from '../src/money/sum-statement.ts';
import { keepAccruals } from '../src/reports/payments/accruals.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { rulesOf, termsOf } from '../test/support/terms.ts';
import { fillReporting } from './fill-reporting.ts';
import { median } from './measure.ts';

const DEALS = 50_000;
const ROUNDS = 9;

/** Rows of terms for a tenth of the deals, and for a third of the codes. */
const TERMS = [
  ...Array.from({ length: DEALS / 10 }, (_, index) => ({ dealId: `DEAL${index * 10}`, codeFolded: null })),
  ...Array.from({ length: 1_000 }, (_, index) => ({ dealId: null, codeFolded: `CODE${index * 3}` })),
].map((of, index) => termsOf({ ...of, line: index + 2, ratePercent: '12.5' }));
/** No statement is paid. */
const PAYMENTS = { from: '2025-01', payees: null, minimum: {}, name: null, iban: null, bic: null };
const RULES = rulesOf(TERMS, { returnWindowDays: 30 });

async function timed(name: string, work: () => Promise<unknown>, rounds = 1): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  process.stdout.write(`${name}: ${median(times).toFixed(0)} ms\n`);
}

async function measurePages(db: Database, state: string): Promise<void> {
  const month = new Date().toISOString().slice(0, 7);
  const page = { month, rules: RULES, limit: 51 };
  await timed(`${state}: page of the month`, () => sumStatement(db, page), ROUNDS);
  await timed(`${state}: page of a deal`, () => sumStatement(db, { ...page, dealId: 'DEAL10' }), ROUNDS);
  await timed(`${state}: lines of a deal`, () => listDealLines(db, { ...page, dealId: 'DEAL10' }), ROUNDS);
}

async function refund(db: Database, orders: number): Promise<void> {
  await sql`
    insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash, run_id)
    select entry_id, 'refunded', amount, amount / 3, currency, 'h', 'n', 1 from ledger.entries
    where state = 'accepted' order by entry_id desc limit ${orders}`.execute(db);
}

const server = await startPostgresServer();
const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 2, sortMemoryMb: 32 });
try {
  await migrate(db);
  await fillReporting(db, { orders: Number(process.argv[2] ?? 1_000_000), deals: DEALS });
  await timed('keeping all orders, once', () => keepEarnings(db, { rules: RULES }));
  await sql`vacuum analyze`.execute(db);
  const { rows } = await sql<{ name: string; bytes: string }>`
    select relname as name, pg_total_relation_size(oid) as bytes from pg_class
    where relname in ('order_earnings', 'deal_earnings', 'earning_days')`.execute(db);
  for (const { name, bytes } of rows) process.stdout.write(`reporting.${name}: ${bytes} bytes\n`);
  await measurePages(db, 'kept');
  await timed('keeping the accruals', () => keepAccruals(db, { rules: RULES, payments: PAYMENTS }), ROUNDS);
  const month = new Date().toISOString().slice(0, 7);
  await timed('computed from all orders: page of the month', () =>
    inTransaction(db, (trx) => sumStatement(trx, { month, rules: RULES, limit: 51 })),
  );
  await refund(db, 5_000);
  await measurePages(db, '5,000 changes');
  await timed('keeping 5,000 changed orders', () => keepEarnings(db, { rules: RULES }));
  await timed('keeping none', () => keepEarnings(db, { rules: RULES }), ROUNDS);
} finally {
  await db.destroy();
  await server.stop();
}

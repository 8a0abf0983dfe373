import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { fillReporting, JOB } from '../../../bench/fill-reporting.ts';
import { reportOrders } from '../../../jobs/attribute-orders/report.ts';
import type { Database } from '../../../src/db/connect.ts';
import { refreshReporting } from '../../../src/rollups/refresh-reporting.ts';
import { rowsRead } from '../../support/rows-read.ts';
import { setup } from '../../support/setup.ts';

const DEALS = 20;
const sources = ['shop-0', 'shop-1'];

it('the end of a run reads the orders of the run, not all earlier ones', async () => {
  const { db } = await setup();
  await fillReporting(db, { orders: 20_000, deals: DEALS });
  await refreshReporting(db, { job: JOB });
  await sql`vacuum analyze`.execute(db);
  const runId = await beginRun(db);
  const { rows } = await sql`
    update ledger.entries set state = 'accepted', state_changed_at = now(), state_reason = null, deal_id = 'DEAL1'
    where state = 'in_doubt' returning entry_id`.execute(db);
  expect(rows).toHaveLength(8);

  // It compares the orders that are waiting or refused, too, and adds up all orders of each changed day.
  const refresh = await rowsRead(db, (trx) => refreshReporting(trx, { job: JOB }));
  expect(refresh.result).toMatchObject({ orders: rows.length });
  expect(refresh.of('reporting.order_dispositions')).toBeLessThanOrEqual(10 * rows.length * (20_000 / 400));

  const report = await rowsRead(db, (trx) =>
    reportOrders(trx, {
      runId,
      job: JOB,
      sources,
      codeProblems: [],
      areOwnersChecked: true,
      areReportsStale: false,
    }),
  );
  expect(report.result.counts.orders).toBe(20_000);
  expect(report.result.counts.entries).toMatchObject({ accepted: rows.length, in_doubt: 0 });
  const { creditsTotal } = report.result.details;
  expect(creditsTotal).toBeGreaterThanOrEqual(DEALS);
  expect(report.result.details.credits[0]?.ordersSoFar).toBeGreaterThan(50);
  expect(report.of('reporting.deal_days')).toBe(0);
  expect(report.of('reporting.deal_totals')).toBeLessThanOrEqual(3 * creditsTotal);
  expect(report.of('reporting.order_dispositions')).toBeLessThanOrEqual(5 * 24);
  for (const table of ['intake.orders', 'intake.attributions', 'ledger.adjustments'])
    expect(report.of(table), table).toBeLessThanOrEqual(24);
});

async function beginRun(db: Database): Promise<string> {
  const { rows } = await sql<{ run_id: string }>`
    insert into ops.runs (job, kind, status, host, pid) values (${JOB}, 'attribute-orders', 'running', 'host', 1) returning run_id`.execute(
    db,
  );
  return rows[0]?.run_id ?? '';
}
